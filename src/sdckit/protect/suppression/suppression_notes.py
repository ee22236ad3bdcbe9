"""What else a reader must know of a local suppression."""

from __future__ import annotations

from typing import Any

from sdckit.data.missing_values.missing import describe_rule
from sdckit.data.scenarios.roles import Roles


def notes_of(roles: Roles, *, untouched: bool, bound: bool) -> dict[str, str]:
    """What was counted, by which rule, what the bound is a bound of, and who rests on other records."""
    rules: Any = ("wildcard",) * len(roles.keys)
    notes = {
        "check": "every set of keys asked for was counted anew in the data handed back, and reaches its k",
        "missing_rule": describe_rule(roles.keys, rules, roles.alpha),
        "lower_bound": "values that no solution could keep that changes only records below k"
        + (", none more than it would need alone" if roles.alpha == 1 else ""),
    }
    if bound:
        notes["lower_bound"] = (
            "values of the keys that no solution could keep, whoever loses them; lower_bound_alone is that of records "
            "treated one by one, where only those below k lose values"
        )
    if untouched:
        notes["at_risk_unchanged"] = (
            "some records below k keep all their values: they match records that lost theirs; an intruder who "
            "sets those aside finds them as before (alpha=0 counts no such match)"
        )
    return notes


def implied_notes(n_implied: int | None, *, bound: bool) -> dict[str, str]:
    """What n_implied means, where it is not zero for all values."""
    if n_implied is None:
        return {"n_implied": "not counted: the keys have too many patterns of missing values"}
    told = []
    if n_implied:
        told.append(
            "some of the values taken out follow from the release for whoever knows that nothing goes without need; "
            "hide_implied=True takes out more until none does"
        )
    if bound:
        told.append("values that go together are not among those counted")
    return {"n_implied": "; ".join(told)} if told else {}
