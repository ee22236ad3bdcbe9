"""View of k-anonymity: records in equivalence classes of fewer than k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Facts, TableBlock
from sdckit.report.common_blocks import bars, below, by_rule, figure, of_rule, of_whole, share_head, texts
from sdckit.report.gate import figures, relations
from sdckit.report.setting import TESTED_ALWAYS, Setting, notes_tree, rule_of
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.k_anonymity import KAnonymity

TONES = {"wildcard": "light", "category": "middle", "": "middle"}
HELD = "Largest k that holds"
RESTING = "Further records, held only by others' missing values"


def tree(result: KAnonymity, setting: Setting) -> Mapping[str, figures.Tree]:
    """Enter the records below every tested k; the largest k that holds is confidential."""
    ledger, prefix = setting.ledger, setting.prefix
    name = f"violations{setting.suffix}"
    rule = rule_of(result)
    counts = {
        k: setting.count(f"{name}.{k}", n, "violations", of=setting.quantity(below(k), rule))
        for k, n in sorted(result.violations.items())
    }
    for k in sorted(counts.keys() - set(TESTED_ALWAYS)):
        ledger.ask(counts[k].name)
    relations.link_levels(ledger, [count.name for count in counts.values()])
    for count in counts.values():
        ledger.nested("n", count.name)
    if setting.own_cells_known(result):
        for k, count in counts.items():
            relations.link_records(ledger, setting.sizes, count.name, 1, k - 1)
    _link_uniques(setting, result)
    resting = _resting(result, setting, counts)
    if not setting.variant:
        # A wildcard only adds matches, so it never adds violations.
        for k in counts:
            ledger.nested(f"{prefix}.violations.category.{k}", f"{prefix}.violations.{k}")
    return {
        "counted": setting.counted,
        "rule": rule,
        "holds": {str(k): figures.Holds(result.violations[k] == 0, none=(count.name,)) for k, count in counts.items()},
        "violations": {str(k): count for k, count in counts.items()},
        "violation_rates": {str(k): figures.Share(count.name, "n") for k, count in counts.items()},
        **({"resting_on_missing": resting} if resting else {}),
        "level": figures.InternalOnly(result.level),
        "notes": notes_tree(result),
    }


def _resting(result: KAnonymity, setting: Setting, below: Mapping[int, figures.Count]) -> dict[str, figures.Tree]:
    """Enter the records that reach k only because other records' missing values match as wildcards."""
    if setting.variant or setting.cells_known or setting.persons:
        return {}
    leaves: dict[str, figures.Tree] = {}
    for k, n in sorted(result.resting_on_missing.items()):
        name = f"{setting.prefix}.resting.{k}"
        known = setting.ledger.variables.get(name)
        # the uniques that others' missing values hide stand beside the cells already
        leaves[str(k)] = figures.Count(name) if known else setting.count(f"resting.{k}", n, "violations")
        if k not in TESTED_ALWAYS:
            setting.ledger.ask(name)
        relations.link_resting(setting.ledger, setting.prefix, below[k].name, name, k)
    return leaves


def _link_uniques(setting: Setting, result: KAnonymity) -> None:
    ledger, prefix = setting.ledger, setting.prefix
    uniques, below_two = f"{prefix}.sample_uniques{setting.suffix}", f"{prefix}.violations{setting.suffix}.2"
    if 2 not in result.violations or uniques not in ledger.variables:
        return
    whole_frequencies = setting.cells_known or setting.alpha in {0.0, 1.0} or bool(setting.variant)
    if whole_frequencies and ledger.variables[uniques].true == result.violations[2]:
        ledger.equal(uniques, below_two)
    else:
        ledger.nested(below_two, uniques)


def blocks(plain: Plain, place: str) -> list[Block]:
    """Table and chart of every tested k, under each rule for missing values where they differ."""
    lenient = plain[place]
    rules = [(rule, plain[at]) for rule, at in by_rule(plain, place)]
    rows, drawn, rates, resting = [], [], [], "resting_on_missing" in lenient
    for k in lenient["violations"]:
        for rule, tree in rules:
            count, rate = tree["violations"][k], tree["violation_rates"][k]
            rates.append(rate)
            label = f"k = {k}" + (f", missing as {rule}" if rule else "")
            more = [tree["resting_on_missing"][k]["text"] if tree is lenient else "–"] if resting else []
            rows.append((label, tree["holds"][k]["text"], *texts(count, rate), *more))
            drawn.append((label, {**count, "text": of_whole(count, rate)}, TONES[rule]))
    more = [RESTING] if resting else []
    columns = ("Tested", "Result", "Records in violation", share_head(rates), *more)
    fewer = "k persons" if lenient["counted"] == "persons" else "k"
    held = tuple(
        (HELD + (f", missing as {rule}" if rule else ""), f"{tree['level']:,}")
        for rule, tree in rules
        if "level" in tree
    )
    only = of_rule(lenient) if len(rules) == 1 else ""
    caption = f"Records in groups of fewer than {fewer} with the same keys{only}"
    table = TableBlock(caption, columns, tuple(rows), (2, 3, 4) if resting else (2, 3))
    chart = bars(f"Records in violation of k-anonymity{only}", "records", drawn, aside=resting)
    # What rests on missing values is in the table alone.
    return [*([table, chart] if resting else figure(chart, table)), *([Facts(held)] if held else [])]


def _figures(plain: Plain, place: str) -> Mapping[str, Plain]:
    tree = plain[place]
    leaves = {below(k): leaf for k, leaf in tree["violations"].items()}
    return leaves | ({HELD: {"text": f"{tree['level']:,}", "value": tree["level"]}} if "level" in tree else {})


VIEW = View("k-anonymity", tree, blocks, noted("k_anonymity", "missing_keys"), _figures)
