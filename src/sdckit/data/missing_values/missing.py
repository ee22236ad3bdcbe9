"""What a missing key value means, key by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, ScenarioError

Rule: TypeAlias = Literal["wildcard", "category", "error"]
MissingRule: TypeAlias = "Rule | Mapping[str, Rule]"
RULES = ("wildcard", "category", "error")


def missing_rule(
    keys: Sequence[str], missing: MissingRule, *, default: Rule, strict: bool = True
) -> tuple[Rule, ...]:
    """The rule of each key.

    `missing` is one rule for all keys, or a rule per key; keys that a dict leaves out follow `default`.
    `strict`: whether a dict may only name keys (a scenario's dict may name those of another intruder). Raises
    `ScenarioError`: an unknown rule; `ColumnError`: a dict names a column that is no key.

    >>> missing_rule(["sex", "job"], {"job": "category"}, default="wildcard")
    ('wildcard', 'category')
    """
    if not isinstance(missing, (str, Mapping)):
        raise ScenarioError(
            f"missing is a rule or a dict of rules per key, not {type(missing).__name__}", argument="missing"
        )
    rules = {missing} if isinstance(missing, str) else set(missing.values())
    if bad := sorted(str(rule) for rule in rules if rule not in RULES):
        words = ", ".join(RULES)
        raise ScenarioError(f"missing: {bad[0]!r} is no rule; use one of {words}", argument="missing")
    if isinstance(missing, str):
        return (missing,) * len(keys)
    if strict and (unknown := [name for name in missing if name not in keys]):
        says = f"missing: {unknown[0]!r} is not one of the keys; {did_you_mean(unknown[0], keys)}"
        raise ColumnError(says, argument="missing")
    return tuple(missing.get(key, default) for key in keys)


def describe_rule(keys: Sequence[str], rules: Sequence[Rule], alpha: float) -> str:
    """The rule in words, printed with every result."""
    wild = [key for key, rule in zip(keys, rules, strict=True) if rule == "wildcard"]
    if not wild:
        return "a missing key value is a category of its own"
    which = "a missing key value" if len(wild) == len(keys) else f"a missing value of {', '.join(wild)}"
    weight = "" if alpha == 1 else f"; a match through another record's missing value counts {alpha:g}"
    rest = "" if len(wild) == len(keys) else "; of the other keys it is a category"
    return f"{which} may stand for any value{weight}{rest}"
