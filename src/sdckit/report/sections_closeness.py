"""How close the groups of a key are to the whole file: records beyond each limit as typed figures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sdckit.report.figures import Holds, Share, Tree
from sdckit.report.sections_identity import Setting, notes_tree

__all__ = ["CLOSENESS", "closeness_tree"]

CLOSENESS = ("t_closeness", "beta_likeness", "delta_disclosure", "alpha_k")


def closeness_tree(result: Any, setting: Setting) -> dict[str, Tree]:
    """Give the records in groups beyond each tested limit, by variable and kind; no largest value.

    Parameters
    ----------
    result
        Of `t_closeness`, `beta_likeness`, `delta_disclosure` or `alpha_k`.
    setting
        Where figures are entered.
    """
    return {
        "variables": {
            variable: {
                kind: _limits(f"{result.measure}.{variable}.{kind}", counts, setting)
                for kind, counts in by_kind(result.violations[variable], result.measure).items()
            }
            for variable in result.variables
        },
        "notes": notes_tree(result),
    }


def by_kind(violations: Mapping[Any, Any], measure: str) -> Mapping[str, Mapping[float, int]]:
    """The violations by kind; a measure of one kind is its own.

    Examples
    --------
    >>> by_kind({0.1: 5}, "t_closeness"), by_kind({"basic": {1.0: 2}}, "beta_likeness")
    ({'t_closeness': {0.1: 5}}, {'basic': {1.0: 2}})
    """
    nested = any(isinstance(part, Mapping) for part in violations.values())
    return violations if nested else {measure: violations}


def _limits(name: str, counts: Mapping[float, int], setting: Setting) -> dict[str, Tree]:
    """Records beyond each limit; those beyond a wider one are beyond a narrower one, too."""
    leaves = {limit: setting.count(f"{name}.{limit:g}", n, name) for limit, n in sorted(counts.items())}
    for leaf in leaves.values():
        setting.ledger.nested("n", leaf.name)
    for narrow, wide in pairwise(leaves.values()):
        setting.ledger.nested(narrow.name, wide.name)
    return {
        f"{limit:g}": {"holds": Holds(counts[limit] == 0), "n": leaf, "rate": Share(leaf.name, "n")}
        for limit, leaf in leaves.items()
    }
