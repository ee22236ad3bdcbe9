"""View of ℓ-diversity: records in equivalence classes with too few different sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.common_blocks import bars, figure, of_whole, share_head, texts, with_rule
from sdckit.report.gate import figures, relations
from sdckit.report.setting import Setting
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.attribute.l_diversity import LDiversity

FAILING = "Records in groups that are not l-diverse"


def tree(result: LDiversity, setting: Setting) -> Mapping[str, figures.Tree]:
    """Enter the records below every tested l, by variable and kind."""
    return {variable: _variable(variable, result, setting) for variable in result.variables}


def _variable(variable: str, result: LDiversity, setting: Setting) -> dict[str, figures.Tree]:
    ledger, name = setting.ledger, f"l{setting.suffix}.{variable}"
    kinds = {
        kind: {k: setting.count(f"{name}.{kind}.{k}", n, name) for k, n in sorted(levels.items())}
        for kind, levels in result.violations[variable].items()
    }
    homogeneous = setting.count(f"{name}.homogeneous", int(result.homogeneous.get(variable, 0)), name)
    _link_kinds(setting, kinds)
    if "distinct" in kinds and setting.own_cells_known(result):
        _link_cells(setting, kinds["distinct"], homogeneous)
    for count in kinds.get("distinct", {}).values() if setting.variant else ():
        # A wildcard only adds records to a group, so it adds values.
        ledger.nested(count.name.replace(f".l{setting.suffix}.", ".l.", 1), count.name)
    return {
        "holds": {
            kind: {
                str(level): figures.Holds(result.violations[variable][kind][level] == 0, none=(count.name,))
                for level, count in counts.items()
            }
            for kind, counts in kinds.items()
        },
        "violations": {k: {str(level): c for level, c in counts.items()} for k, counts in kinds.items()},
        "violation_rates": {
            k: {str(level): figures.Share(c.name, "n") for level, c in counts.items()} for k, counts in kinds.items()
        },
        "level": figures.InternalOnly(dict(result.level[variable])),
        # Of few values, and so figures of single records: they stay inside.
        "spread": figures.InternalOnly(_spread(result, variable)),
        "homogeneous": homogeneous,
    }


def _spread(result: LDiversity, variable: str) -> dict[str, figures.Tree]:
    """Mean and quartiles of the diversity over the records, by kind."""
    return {
        kind: {"mean": mean, "quartiles": tuple(result.quartiles[variable][kind])}
        for kind, mean in result.mean[variable].items()
    }


def _link_kinds(setting: Setting, kinds: Mapping[str, Mapping[int, figures.Count]]) -> None:
    """Relations between kinds: a class that is not distinct l-diverse is neither entropy nor recursively l-diverse."""
    ledger = setting.ledger
    for counts in kinds.values():
        names = [count.name for count in counts.values()]
        relations.link_levels(ledger, names)
        for name in names:
            ledger.nested("n", name)
    for level, distinct in kinds.get("distinct", {}).items():
        for kind in ("entropy", "recursive"):
            if level in kinds.get(kind, {}):
                ledger.nested(kinds[kind][level].name, distinct.name)


def _link_cells(setting: Setting, distinct: Mapping[int, figures.Count], homogeneous: figures.Count) -> None:
    """Relations to cells: fewer than l records cannot have l values; a homogeneous cell violates l = 2."""
    ledger, prefix = setting.ledger, setting.prefix
    for level, count in distinct.items():
        for name in (f"{prefix}.violations.category.{level}", f"{prefix}.violations.{level}"):
            if name in ledger.variables:
                ledger.nested(count.name, name)
                break
    ones = setting.sizes.cells((1, 1))
    if 2 in distinct:
        ledger.bounded(distinct[2].name, {ones: (1.0, 1.0), homogeneous.name: (2.0, 2.0)}, upper=False)


def blocks(plain: Plain, place: str) -> list[Block]:
    """Tables and chart of every variable, kind and l, under each rule for missing values where they differ."""
    other = plain.get(f"{place}_wildcard")
    rules = {"category": plain[place], "wildcard": other} if other else {"": plain[place]}
    main = next(iter(rules))
    homogeneous = tuple((variable, tree["homogeneous"]["text"]) for variable, tree in plain[place].items())
    drawn = [
        (label, {**count, "text": of_whole(count, rate)}, "middle" if level == "2" else "light")
        for label, level, count, rate, _ in _tests(plain[place])
    ]
    tables = (_table(with_rule(FAILING, rule), tree) for rule, tree in rules.items())
    return [
        *figure(bars(with_rule("Records in groups with too few values", main), "records", drawn), *tables),
        TableBlock(
            with_rule("Groups of two or more records with one single value", main),
            ("Sensitive variable", "Groups"), homogeneous, (1,),
        ),
        *_spread_table(rules),
    ]  # fmt: skip


def _tests(by_variable: Plain) -> Iterator[tuple[str, str, Plain, Plain, tuple[str, ...]]]:
    """Every test of every variable: label, l, records in violation, their share, and (result, smallest l)."""
    for variable, tree in by_variable.items():
        for kind, counts in tree["violations"].items():
            smallest = (f"{tree['level'][kind]:.4g}",) if "level" in tree else ()
            for level, count in counts.items():
                outcome = (tree["holds"][kind][level]["text"], *smallest)
                yield (f"{variable}, {kind}, l = {level}", level, count, tree["violation_rates"][kind][level], outcome)


def _table(caption: str, by_variable: Plain) -> TableBlock:
    tests = list(_tests(by_variable))
    heads = ("Sensitive variable and test", "Result", "Records in violation")
    inside = ("Smallest",) if any(smallest for *_, (_, *smallest) in tests) else ()
    columns = (*heads, share_head(rate for _, _, _, rate, _ in tests), *inside)
    rows = tuple(
        (label, result, *texts(count, rate), *smallest) for label, _, count, rate, (result, *smallest) in tests
    )
    return TableBlock(caption, columns, rows, tuple(range(2, len(columns))))


def _spread_table(rules: Mapping[str, Plain]) -> list[Block]:
    """Table of mean and quartiles of the diversity, for a confidential document."""
    rows = tuple(
        (
            f"{variable}, {kind}, missing as {rule}" if rule else f"{variable}, {kind}",
            *(f"{quartile:.4g}" for quartile in (spread["mean"], *spread["quartiles"])),
        )
        for rule, by_variable in rules.items()
        for variable, tree in by_variable.items()
        for kind, spread in tree.get("spread", {}).items()
    )
    heads = ("Sensitive variable and test", "Mean", "Lower quartile", "Median", "Upper quartile")
    return [TableBlock("Values in the groups of the records", heads, rows, (1, 2, 3, 4))] if rows else []


def _figures(plain: Plain, place: str) -> Mapping[str, Plain]:
    return {
        f"Records in groups of fewer than {level} values of {variable}": leaf
        for variable, tree in plain[place].items()
        for level, leaf in tree["violations"].get("distinct", {}).items()
    }


def _answer(plain: Plain, place: str, _n: Plain) -> str:
    sentences = []
    for variable, tree in plain[place].items():
        alone = tree["violations"].get("distinct", {}).get("2")
        if alone is None:
            continue
        if alone["text"] == "0":
            sentences.append(f"No group of equal keys discloses {variable} by itself.")
        else:
            rate = tree["violation_rates"]["distinct"]["2"]["text"]
            whom = f"1 record ({rate})" if alone["text"] == "1" else f"{alone['text']} records ({rate})"
            if alone["text"] == "withheld":
                whom = "some records (how many is withheld)"
            of = with_rule("", "category" if plain.get(f"{place}_wildcard") else "")
            sentences.append(f"For {whom} the keys alone disclose {variable}{of}.")
    return " ".join(sentences)


VIEW = View("What would be learnt: l-diversity", tree, blocks, noted("l_diversity"), _figures, _answer)
