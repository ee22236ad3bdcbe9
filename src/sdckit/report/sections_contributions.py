"""What leaving keys out, or coarsening them, would save: typed figures and all that links them.

Fewer or coarser keys only merge cells, so every count lies within that of the finer keys; the records between
two counts are in cells of sizes that lie between; and without weights the expected re-identifications follow
from the cells by size. The order of the rows tells nothing, and neither the information lost nor a number of
levels is printed: with the printed levels of a key they would give the rare ones away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sdckit.report.figures import (
    DIFFERENCE,
    Count,
    Difference,
    InternalOnly,
    Ratio,
    Relation,
    Tree,
)
from sdckit.report.protocols import ContributionsLike
from sdckit.report.relations import risk_of_size

if TYPE_CHECKING:
    from sdckit.report.sections_identity import Setting

__all__ = ["saved_tree"]

TABLE = "contributions"
COARSER = "contributions.coarser"


def saved_tree(
    result: ContributionsLike, n: int, setting: Setting, *, fraction: float | None
) -> dict[str, Tree]:
    """Give uniques, violations and risk when a key is left out, and when it is coarser.

    Parameters
    ----------
    result
        What `key_contributions` returned.
    n
        Records.
    setting
        Where figures are entered.
    fraction
        Sampling fraction everybody knows, 1 for a census, where a record's risk follows from its cell.
    """
    whole = {1: _whole_uniques(result, setting)}
    whole |= {k - 1: _whole_violations(setting, k, count) for k, count in _tested(result).items()}
    tree: dict[str, Tree] = {"uniques": Count(whole[1])}
    singles: dict[str, dict[int, str]] = {}
    rows: list[Tree] = []
    # Not in the order of what they save: exact ranks would tell which of two hidden counts is larger.
    for row in sorted(result.table, key=lambda row: (len(row.variables), tuple(row.variables))):
        names = tuple(row.variables)
        counts = _counts(row, names, TABLE, setting, pair=len(names) > 1)
        for name in names:
            if name in singles:
                setting.ledger.bounded(singles[name][1], {counts[1]: (1.0, 1.0)}, upper=False)
        plain = _row(row, names, counts, whole, setting)
        rows.append(
            plain | {"risk_without": _risk(row.risk_without, n, counts, setting, fraction, names, TABLE)}
        )
        if len(names) == 1:
            singles[names[0]] = counts
    tree["table"] = tuple(rows)
    return tree | _coarser_tree(result, n, setting, fraction, (whole, singles))


def _coarser_tree(
    result: ContributionsLike,
    n: int,
    setting: Setting,
    fraction: float | None,
    known: tuple[dict[int, str], dict[str, dict[int, str]]],
) -> dict[str, Tree]:
    """Give the same for one step to a coarser key: between the key itself and no key."""
    steps: Mapping[str, Any] = getattr(result, "coarsenings", {})
    rows: list[Tree] = []
    whole, singles = known
    for key, step in sorted(steps.items()):
        counts = _counts(step, (key,), COARSER, setting)
        for size, name in singles.get(key, {}).items():
            setting.ledger.nested(counts[size], name)
        plain = _row(step, (key,), counts, whole, setting)
        rows.append(
            plain
            | {
                "rule": step.plain_rule,
                "levels_before": InternalOnly(step.levels_before),
                "levels_after": InternalOnly(step.levels_after),
                "risk_without": _risk(step.risk_without, n, counts, setting, fraction, (key,), COARSER),
            }
        )
    ranked = tuple(
        {
            "action": one.action,
            "variables": tuple(one.variables),
            "uniques_saved": one.uniques_saved,
            "risk_saved": one.risk_saved,
            "entropy_lost": one.entropy_lost,
            "saved_per_bit": one.saved_per_bit,
            "sentence": one.sentence,
        }
        for one in getattr(result, "suggestions", ())
    )
    return {"coarsenings": tuple(rows), "suggestions": InternalOnly(ranked)}


def _tested(result: ContributionsLike) -> dict[int, int]:
    """Records that violate each k above 2 with all keys; below 2 they are the uniques."""
    violations: Mapping[int, int] = getattr(result, "violations", {})
    return {k: violations[k] for k in sorted(violations) if k > 2}


def _whole_uniques(result: ContributionsLike, setting: Setting) -> str:
    with_all = setting.count("contributions.uniques", result.uniques, TABLE)
    known = f"{setting.prefix}.sample_uniques"
    variables = setting.ledger.variables
    if known in variables and variables[known].true == result.uniques:
        setting.ledger.equal(known, with_all.name)
    return with_all.name


def _whole_violations(setting: Setting, k: int, count: int) -> str:
    """Name the violations with all keys: printed already beside k-anonymity, or entered but not printed."""
    name, variables = f"{setting.prefix}.violations.{k}", setting.ledger.variables
    if name in variables and variables[name].true == count:
        return name
    return setting.ledger.latent(f"{setting.prefix}.contributions.violations.{k}")


def _counts(
    row: Any, names: Sequence[str], table: str, setting: Setting, *, pair: bool = False
) -> dict[int, str]:
    """Enter the records in cells of at most each size: unique ones, and those below each tested k."""
    label, ledger = ", ".join(names), setting.ledger
    found = {1: setting.count(f"{table}.without.{label}", row.uniques_without, table).name}
    if not pair:
        for k, count in sorted(row.violations_without.items()):
            if k > 2:
                found[k - 1] = setting.count(f"{table}.violations.{k}.{label}", count, table).name
    for (least, fewer), (most, more) in pairwise(sorted(found.items())):
        ledger.nested(more, fewer)
        if setting.cells_known:
            cells = ledger.latent(_cells(more))
            ledger.bounded(f"{more}{DIFFERENCE}{fewer}", {cells: (least + 1, most)})
    return found


def _cells(violations: str) -> str:
    """Name the cells that a tested k adds to those of the k before it."""
    return f"{violations}: cells"


def _row(
    row: Any, names: Sequence[str], counts: Mapping[int, str], whole: Mapping[int, str], setting: Setting
) -> dict[str, Tree]:
    for size in sorted(counts.keys() & whole.keys()):
        setting.ledger.nested(whole[size], counts[size])
    with_all = f"{setting.prefix}.contributions.uniques"
    return {
        "variables": tuple(names),
        "uniques_without": Count(counts[1]),
        "uniques_saved": Difference(with_all, counts[1]),
        "violations_without": {str(size + 1): Count(name) for size, name in counts.items() if size > 1},
        "decides_alone": InternalOnly(getattr(row, "decides_alone", None)),
        "entropy_lost": InternalOnly(getattr(row, "entropy_lost", None)),
    }


def _risk(
    risk: float | None,
    n: int,
    counts: Mapping[int, str],
    setting: Setting,
    fraction: float | None,
    names: Sequence[str],
    table: str,
) -> Tree:
    """Give the expected re-identifications by record; a cell of f records is expected to lose f x its risk."""
    if risk is None or math.isnan(risk):
        return None
    ledger = setting.ledger
    name = f"{setting.prefix}.{table}.expected.{', '.join(names)}"
    census = setting.weights == "census"
    ledger.value(name, risk * n, f"{setting.prefix}.{table}.value", kind="sum" if census else "value")
    if fraction is not None:
        low, high = [(counts[1], risk_of_size(1, fraction))], [(counts[1], risk_of_size(1, fraction))]
        for (least, _), (most, more) in pairwise(sorted(counts.items())):
            low.append((_cells(more), most * risk_of_size(most, fraction)))
            high.append((_cells(more), (least + 1) * risk_of_size(least + 1, fraction)))
        last = max(counts)
        rest = risk_of_size(last + 1, fraction)
        upper = [("n", rest), (counts[last], -rest), *high]
        ledger.relations.append(
            Relation(((name, 1.0), *((one, -share) for one, share in low)), upper=math.inf)
        )
        ledger.relations.append(
            Relation(((name, 1.0), *((one, -share) for one, share in upper)), lower=-math.inf)
        )
    return Ratio(name, "n")
