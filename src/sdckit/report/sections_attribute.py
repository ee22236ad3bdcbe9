"""What would be learnt: l-diversity of every sensitive variable as typed figures."""

from __future__ import annotations

from collections.abc import Mapping

from sdckit.report.figures import Count, Holds, Share, Tree
from sdckit.report.protocols import LDiversityLike
from sdckit.report.relations import link_levels
from sdckit.report.sections_identity import Setting

__all__ = ["l_diversity_tree"]


def l_diversity_tree(
    result: LDiversityLike, setting: Setting, *, suffix: str = "", cells_known: bool
) -> dict[str, Tree]:
    """Give the records below every tested l, by variable and kind."""
    return {
        variable: _variable_tree(variable, result, setting, suffix, cells_known=cells_known)
        for variable in result.variables
    }


def _variable_tree(
    variable: str, result: LDiversityLike, setting: Setting, suffix: str, *, cells_known: bool
) -> dict[str, Tree]:
    violations = result.violations[variable]
    name = f"l{suffix}.{variable}"
    kinds = {
        kind: {k: setting.count(f"{name}.{kind}.{k}", n, name) for k, n in sorted(levels.items())}
        for kind, levels in violations.items()
    }
    homogeneous = setting.count(f"{name}.homogeneous", int(result.homogeneous.get(variable, 0)), name)
    _link_kinds(setting, kinds)
    if cells_known and "distinct" in kinds:
        _link_cells(setting, kinds["distinct"], homogeneous)
    return {
        "holds": {k: _holds(levels) for k, levels in violations.items()},
        "violations": {k: {str(level): c for level, c in counts.items()} for k, counts in kinds.items()},
        "violation_rates": {
            k: {str(level): Share(c.name, "n") for level, c in counts.items()} for k, counts in kinds.items()
        },
        "homogeneous": homogeneous,
    }


def _holds(levels: Mapping[int, int]) -> dict[str, Tree]:
    return {str(level): Holds(n == 0) for level, n in sorted(levels.items())}


def _link_kinds(setting: Setting, kinds: Mapping[str, Mapping[int, Count]]) -> None:
    """A class with fewer than l values is neither entropy nor recursively l-diverse."""
    ledger = setting.ledger
    for counts in kinds.values():
        names = [count.name for count in counts.values()]
        link_levels(ledger, names)
        for name in names:
            ledger.nested("n", name)
    for level, distinct in kinds.get("distinct", {}).items():
        for kind in ("entropy", "recursive"):
            if level in kinds.get(kind, {}):
                ledger.nested(kinds[kind][level].name, distinct.name)


def _link_cells(setting: Setting, distinct: Mapping[int, Count], homogeneous: Count) -> None:
    """A cell of fewer than l records cannot hold l values; one with a single value violates l = 2."""
    ledger, prefix = setting.ledger, setting.prefix
    for level, count in distinct.items():
        for name in (f"{prefix}.violations.category.{level}", f"{prefix}.violations.{level}"):
            if name in ledger.variables:
                ledger.nested(count.name, name)
                break
    ones = setting.sizes.cells((1, 1))
    if 2 in distinct:
        ledger.bounded(distinct[2].name, {ones: (1.0, 1.0), homogeneous.name: (2.0, 2.0)}, upper=False)
