"""View of the contribution of each key: the risk left when it is removed or recoded, and the relations between counts.

Fewer or coarser keys only merge cells, so every count is bounded by that of the finer keys; records counted below one
k but not below a smaller one are in cells of the sizes between; and without weights the expected re-identifications
follow from the cells by size. Rows are in a fixed order, and neither the information lost nor the number of levels is
printed: together with the printed levels of a key they would disclose the rare ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Code, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.common_blocks import ALONE, bars, of_rule, texts
from sdckit.report.gate.figures import DIFFERENCE, Count, Difference, InternalOnly, Ledger, Ratio, Relation, Tree
from sdckit.report.gate.relations import link_by_key, link_risk_by_key, pairs_of_levels, risk_of_size
from sdckit.report.setting import TESTED_ALWAYS, Setting, notes_tree, rule_of
from sdckit.report.view import Plain, View, noted

if TYPE_CHECKING:
    from sdckit.identity.contributions.key_contributions import KeyContributions


# Bounds on the remaining risk after a key is removed or recoded.


def cells_between(fewer: str, more: str) -> str:
    """Name of the number of cells counted below a tested k (`more`) but not below a smaller one (`fewer`)."""
    return f"{more}{DIFFERENCE}{fewer}: cells"


def bound_risk_left(ledger: Ledger, name: str, counts: Mapping[int, str], fraction: float) -> None:
    """Bound the expected re-identifications `name` from both sides by the counts of cells up to each size."""
    alone = (counts[1], risk_of_size(1, fraction))
    low, high = [alone], [alone]
    for (least, fewer), (most, more) in pairwise(sorted(counts.items())):
        cells = cells_between(fewer, more)
        low.append((cells, most * risk_of_size(most, fraction)))
        high.append((cells, (least + 1) * risk_of_size(least + 1, fraction)))
    last = max(counts)
    rest = risk_of_size(last + 1, fraction)
    upper = [("n", rest), (counts[last], -rest), *high]
    ledger.relations.append(Relation(((name, 1.0), *((term, -share) for term, share in low)), upper=math.inf))
    ledger.relations.append(Relation(((name, 1.0), *((term, -share) for term, share in upper)), lower=-math.inf))


TABLE = "contributions"
COARSER = "contributions.coarser"
STEPS = (
    "Coarsening a key loses less than leaving it out. One step: numbers in bands with round edges, dates by year or "
    "month, ordered categories in pairs, codes one level up their hierarchy; of other codes, the rarest as one."
)
SHORT = {
    "neighbouring levels in pairs": "in pairs",
    "the rarest levels as one": "rarest as one",
    "bands with round edges": "round bands",
}
PASTE = "Steps for a recipe: each does what its row of the table says"
UNSTEPPED = {
    "codes": "codes whose order says nothing, and no hierarchy: group those that belong together by their meaning",
    "unknown": "whole numbers that may be codes: group those that belong together, or declare them numeric or ordered",
    "ordered": "ordered categories: name the neighbours that become one",
    "date": "dates of one month, or times of a day: no step makes them longer periods",
    "number": "a number: cut it into bands",
    "rare": "nearly each of its values is that of few records: recode it before, or leave it out of the release",
}
SUGGESTED = ("uniques_saved", "risk_saved", "entropy_lost", "saved_per_bit", "sentence")
ACTIONS = {"coarsen": "coarsen", "drop": "leave out"}


def tree(result: KeyContributions, setting: Setting) -> Mapping[str, Tree]:
    """Enter uniques, violations and risk after each key is removed, and after it is recoded by a step."""
    whole = {1: _whole_uniques(result, setting)}
    whole |= {k - 1: _whole_violations(setting, k, result.violations[k]) for k in sorted(result.violations) if k > 2}
    singles: dict[str, dict[int, str]] = {}
    rows: list[Tree] = []
    # Not in the order of what they save: exact ranks would tell which of two hidden counts is larger.
    for row in sorted(result.table, key=lambda row: (len(row.variables), tuple(row.variables))):
        names = tuple(row.variables)
        counts = _counts(row, names, TABLE, setting)
        last = _last_key(result, names, setting)
        for most, name in counts.items() if last else ():
            link_by_key(setting.ledger, last, name, most)
        for name in names:
            if name in singles and _monotone(setting, result, names):
                setting.ledger.bounded(singles[name][1], {counts[1]: (1.0, 1.0)}, upper=False)
        shared = whole if _monotone(setting, result, names) else {}
        rows.append(_row(row, names, counts, shared, setting) | _risk(row, counts, setting, names, TABLE, last))
        if len(names) == 1:
            singles[names[0]] = counts
    return {
        "rule": rule_of(result),
        "uniques": Count(whole[1]),
        "table": tuple(rows),
        "coarsenings": _coarsenings(result, setting, whole, singles),
        "suggestions": InternalOnly(
            tuple(
                {"action": suggestion.action, "variables": tuple(suggestion.variables)}
                | {name: getattr(suggestion, name) for name in SUGGESTED}
                for suggestion in result.suggestions
            )
        ),
        "notes": notes_tree(result),
    }


def _monotone(setting: Setting, result: KeyContributions, dropped: Sequence[str]) -> bool:
    """Whether removing keys only adds matches; it may not where a record can lack all the remaining keys."""
    return setting.cells_known or sum(len(row.variables) == 1 for row in result.table) - len(dropped) < 2


def _coarsenings(
    result: KeyContributions, setting: Setting, whole: dict[int, str], singles: dict[str, dict[int, str]]
) -> tuple[Tree, ...]:
    """Enter the figures after each key is recoded by a step: bounded by those with the key and those without it."""
    rows: list[Tree] = []
    for key, step in sorted(result.coarsenings.items()):
        if not step.listed:
            continue
        counts = _counts(step, (key,), COARSER, setting)
        left_out = singles.get(key, {}) if _monotone(setting, result, (key,)) else {}
        for size, name in left_out.items():
            setting.ledger.nested(counts[size], name)
        rows.append(
            _row(step, (key,), counts, whole, setting)
            | {
                "rule": step.plain_rule,
                "scale": step.scale,
                "step": step.step if step.step_is_public else "",
                "step_with_values": InternalOnly("" if step.step_is_public else step.step),
                "levels_before": InternalOnly(step.levels_before),
                "levels_after": InternalOnly(step.levels_after),
            }
            | _risk(step, counts, setting, (key,), COARSER)
        )
    return tuple(rows)


def _whole_uniques(result: KeyContributions, setting: Setting) -> str:
    alone = setting.quantity(ALONE, rule_of(result))
    with_all = setting.count("contributions.uniques", result.uniques, TABLE, of=alone)
    known = f"{setting.prefix}.sample_uniques"
    variables = setting.ledger.variables
    if known in variables and variables[known].true == result.uniques:
        setting.ledger.equal(known, with_all.name)
    return with_all.name


def _whole_violations(setting: Setting, k: int, count: int) -> str:
    """Name of the violations with all keys: that of the printed count of k-anonymity, or a latent one."""
    name, variables = f"{setting.prefix}.violations.{k}", setting.ledger.variables
    if name in variables and variables[name].true == count:
        return name
    return setting.ledger.latent(f"{setting.prefix}.contributions.violations.{k}")


def _counts(row: Any, names: Sequence[str], table: str, setting: Setting) -> dict[int, str]:
    """Enter the records in cells up to each size (1, and k - 1 for each tested k); returns their names by size."""
    label, ledger = ", ".join(names), setting.ledger
    counts = {1: setting.count(f"{table}.without.{label}", row.uniques_without, table).name}
    if len(names) == 1:
        for k, count in sorted(row.violations_without.items()):
            if k > 2:
                counts[k - 1] = setting.count(f"{table}.violations.{k}.{label}", count, table).name
                if k not in TESTED_ALWAYS:
                    ledger.ask(counts[k - 1])
    sizes = {name: size for size, name in sorted(counts.items())}
    for fewer, more in pairs_of_levels(ledger, list(sizes)):
        ledger.nested(more, fewer)
        if setting.cells_known:
            cells = ledger.latent(cells_between(fewer, more))
            ledger.bounded(f"{more}{DIFFERENCE}{fewer}", {cells: (sizes[fewer] + 1, sizes[more])})
    return counts


def _last_key(result: KeyContributions, left_out: Sequence[str], setting: Setting) -> str:
    """Name of the only remaining key, whose levels are then the cells; "" where more remain."""
    keys = sorted({row.variables[0] for row in result.table if len(row.variables) == 1} - set(left_out))
    return keys[0] if setting.cells_known and len(keys) == 1 else ""


def _row(
    row: Any, names: Sequence[str], counts: Mapping[int, str], whole: Mapping[int, str], setting: Setting
) -> dict[str, Tree]:
    for size in sorted(counts.keys() & whole.keys()):
        setting.ledger.nested(whole[size], counts[size])
        if row.entropy_lost == 0:
            # Whoever sees that a key has one value knows that without it the groups are the same.
            setting.ledger.equal(whole[size], counts[size])
    with_all, below = f"{setting.prefix}.contributions.uniques", row.violations_without
    return {
        "variables": tuple(names),
        "uniques_without": Count(counts[1]),
        "uniques_saved": Difference(with_all, counts[1]),
        "violations_without": {str(size + 1): Count(name) for size, name in counts.items() if size > 1}
        or {str(k): InternalOnly({"text": f"{n:,}", "value": n}) for k, n in below.items() if k > 2},
        "decides_alone": InternalOnly(row.decides_alone),
        "entropy_lost": InternalOnly(row.entropy_lost),
    }


def _risk(
    row: Any, counts: Mapping[int, str], setting: Setting, names: Sequence[str], table: str, last: str = ""
) -> dict[str, Tree]:
    """Enter the expected re-identifications: a cell of f records contributes f times its risk."""
    risk = row.risk_without
    if risk is None or math.isnan(risk):
        return {"risk_without": None}
    ledger = setting.ledger
    name = f"{setting.prefix}.{table}.expected.{', '.join(names)}"
    census = setting.weights == "census"
    fraction = setting.fraction_known if setting.cells_known else None
    # With weights it does not follow from the cells: it is printed where the counts it could disclose are 0 or large.
    alone = f"{setting.prefix}.contributions.uniques"
    guard = () if census or fraction is not None else (alone, counts[1], counts[max(counts)])
    group = f"{setting.prefix}.{table}.value"
    ledger.value(name, risk * setting.n, group, kind="sum" if census else "value", guard=guard)
    whole = f"{setting.prefix}.expected"
    if row.entropy_lost == 0 and whole in ledger.variables and setting.cells_known:
        ledger.equal(whole, name)
    if fraction is not None:
        common = {size: variable for size, variable in counts.items() if not ledger.variables[variable].late}
        for known in [common, counts][: 1 if len(common) == len(counts) else 2]:
            bound_risk_left(ledger, name, known, fraction)
        if last:
            link_risk_by_key(ledger, last, name, fraction)
    return {"risk_without": Ratio(name, "n")}


def blocks(plain: Plain, place: str) -> list[Block]:
    """What each key contributes, which to recode first, and what recoding by a step would change."""
    tree = plain[place]
    uniques = tree["uniques"]
    singles = _by_saving([row for row in tree["table"] if len(row["variables"]) == 1])
    pairs = _by_saving([row for row in tree["table"] if len(row["variables"]) == 2])
    steps = _by_saving(tree["coarsenings"])
    share = " The share saved is what a key decides alone." if singles else ""
    drawn = ((f"without {', '.join(row['variables'])}", row["uniques_without"]) for row in singles)
    alone = "1 record is" if uniques["text"] == "1" else f"{uniques['text']} records are"
    if uniques["text"] == "withheld":
        alone = "some records (how many is withheld) are"
    of = of_rule(tree)
    laid: list[Block] = [
        Paragraph(f"With all keys {alone} alone with their combination{of}.{most_saving(tree)}{share}"),
        bars(f"Uniques left when one key is dropped{of}", "uniques", drawn, aside=True),
        *([_saved_table(f"One key left out{of}", singles, uniques)] if singles else []),
    ]
    if steps:
        laid += [
            Paragraph(f"{STEPS}{_first_step(tree, steps)}"),
            _saved_table(f"One key coarser by a step{of}", steps, uniques),
            *_to_paste(steps),
        ]
    if tree.get("suggestions") and uniques["text"] != "0":
        laid.append(_suggestions(tree["suggestions"]))
    if pairs:
        laid.append(_saved_table(f"Two keys left out (the five pairs that save most){of}", pairs[:5], uniques))
    return laid


def _first_step(tree: Plain, steps: Sequence[Plain]) -> str:
    """Sentence naming the recoding steps that save most, by the printed figures."""
    left = _left(steps[0])
    if math.isinf(left) or steps[0]["uniques_without"]["text"] == tree["uniques"]["text"]:
        return ""
    names = listed([row["variables"][0] for row in steps if _left(row) == left], "or")
    return f" Of these steps, {names} first: {steps[0]['uniques_without']['text']} unique records would be left."


def _to_paste(steps: Sequence[Plain]) -> list[Block]:
    """The steps as text for a recipe, and advice for keys that have none."""
    blocks: list[Block] = []
    for column, caption in (("step", PASTE), ("step_with_values", f"{PASTE}; these name values of the file")):
        if texts := [row[column] for row in steps if row.get(column)]:
            blocks.append(Code(caption, "\n\n".join(texts), screen=column == "step"))
    unnamed = [row for row in steps if not row.get("step") and not row.get("step_with_values")]
    rest = [row for row in steps if row in unnamed or row["scale"] == "unknown"]
    for scale in dict.fromkeys(row["scale"] for row in rest):
        names = listed(sorted(row["variables"][0] for row in rest if row["scale"] == scale))
        blocks.append(Paragraph(f"{names}: {UNSTEPPED[scale]}."))
    return blocks


def _suggestions(rows: Sequence[Plain]) -> TableBlock:
    """Table of suggested actions with exact figures, for a confidential document only."""
    return TableBlock(
        "What to do first: by uniques saved per bit of information lost",
        ("Action", "Uniques saved", "Bits lost per record", "Saved per bit"),
        tuple(
            (
                f"{ACTIONS[row['action']]} {listed(row['variables'])}",
                f"{row['uniques_saved']:,}",
                f"{row['entropy_lost']:.2f}",
                "undefined" if row["saved_per_bit"] is None else f"{row['saved_per_bit']:,.0f}",
            )
            for row in rows
        ),
        (1, 2, 3),
    )


def most_saving(tree: Plain) -> str:
    """Sentence naming the keys whose recoding would save most, by the printed figures."""
    singles = [row for row in tree["table"] if len(row["variables"]) == 1]
    if not singles or tree["uniques"]["text"] == "0":
        return ""
    left = min(map(_left, singles))
    best = [row for row in singles if _left(row) == left]
    if math.isinf(left):  # withheld
        return ""
    if best[0]["uniques_without"]["text"] == tree["uniques"]["text"]:
        return " No key makes many of them unique by itself."
    names = listed([row["variables"][0] for row in best], "or")
    return f" Recoding {names} would save most: without it, {best[0]['uniques_without']['text']} are left."


def _left(row: Plain) -> float:
    without = row["uniques_without"]
    return float(without["value"] if without["value"] is not None else without.get("below", math.inf) / 2)


def _by_saving(rows: Sequence[Plain]) -> list[Plain]:
    """Order by printed figures: an order by exact ones would tell which is larger."""
    return sorted(rows, key=lambda row: (_left(row), listed(row["variables"])))


def _saved_table(caption: str, rows: Sequence[Plain], uniques: Plain) -> TableBlock:
    """Table of keys removed or recoded by a step; a confidential one has the numbers of levels."""
    ks = list(rows[0]["violations_without"]) if rows else []
    steps = any("rule" in row for row in rows)
    inside = any("levels_before" in row for row in rows)
    first = ("Key", "Step", *(("Levels",) if inside else ())) if steps else ("Left out",)
    groups = (f"Below k = {k}" for k in ks)
    columns = (*first, "Uniques without", "Uniques saved", "Share saved", *groups, "Global risk without")
    return TableBlock(
        caption,
        columns,
        tuple(
            (
                listed(row["variables"]),
                *([SHORT.get(str(row["rule"]), str(row["rule"]))] if steps else []),
                *([f"{row['levels_before']:,} to {row['levels_after']:,}"] if inside else []),
                *texts(row["uniques_without"], row["uniques_saved"]),
                share_saved(row["uniques_without"], uniques),
                *texts(*(row["violations_without"][k] for k in ks)),
                row["risk_without"]["text"] if row["risk_without"] else "not computed",
            )
            for row in rows
        ),
        tuple(range(len(first), len(columns))),
    )


def share_saved(left: Plain, whole: Plain) -> str:
    """Share of the uniques that are gone, from the printed counts."""
    if not whole["value"]:
        return "undefined" if whole["text"] == "0" else "withheld"
    if left["value"] is not None:
        return f"{max(0, round(100 * (1 - left['value'] / whole['value'])))} %"
    if "below" not in left:
        return "withheld"
    return f"over {max(0, math.floor(100 * (1 - left['below'] / whole['value'])))} %"


VIEW = View("Which keys contribute most", tree, blocks, noted("key_contributions"))
