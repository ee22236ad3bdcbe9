"""Rules of synthesis: where a condition on other variables holds, a value is set instead of drawn."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "below": operator.lt, "at_most": operator.le, "above": operator.gt, "at_least": operator.ge,
}  # fmt: skip
HOW = (
    'a rule is {"when": {column: condition}, "value": value}; a condition is a value, a list of values, '
    '{"below": number} (at_most, above, at_least) or {"missing": True}'
)


@dataclass(frozen=True, eq=False)
class Condition:
    """One condition on one variable."""

    column: str
    how: str
    limit: float
    levels: NDArray[np.int64]

    def holds(self, values: Values) -> NDArray[np.bool_]:
        """Whether it holds for each record."""
        if self.how == "missing":
            return np.asarray((values.level == MISSING) == bool(self.limit), np.bool_)
        if self.how == "is":
            return np.isin(values.level, self.levels)
        assert values.number is not None
        with np.errstate(invalid="ignore"):
            return np.asarray(COMPARE[self.how](values.number, self.limit), np.bool_)


@dataclass(frozen=True, eq=False)
class Rule:
    """Conditions that hold together, and what a variable is then."""

    tests: tuple[Condition, ...]
    value: Values

    def holds(self, held: Mapping[str, Values], n: int) -> NDArray[np.bool_]:
        """Whether all conditions hold for each record."""
        found = np.ones(n, np.bool_)
        for test in self.tests:
            found &= test.holds(held[test.column])
        return found


def read_rules(
    given: Any, variables: Mapping[str, Variable], before: Mapping[str, set[str]]
) -> dict[str, list[Rule]]:
    """Read rules as a caller writes them.

    `before`: by column that is synthesised, the columns whose new values are known when it is drawn. Raises
    `ColumnError`: a column that is not synthesised, or a condition on one that is drawn later; `DataError`: a
    rule in another form, or a value that the column does not hold.
    """
    if not isinstance(given, Mapping):
        raise DataError(f"rules= is given by column; {HOW}", argument="rules")
    found: dict[str, list[Rule]] = {}
    for column, rules in given.items():
        if column not in before:
            raise ColumnError(f"rules: {column!r} is not among the columns to synthesise", argument="rules")
        several = rules if isinstance(rules, (list, tuple)) else [rules]
        found[column] = [_rule(one, variables[column], variables, before[column]) for one in several]
    return found


def _rule(given: Any, target: Variable, variables: Mapping[str, Variable], before: set[str]) -> Rule:
    if (
        not isinstance(given, Mapping)
        or set(given) != {"when", "value"}
        or not isinstance(given["when"], Mapping)
    ):
        raise DataError(f"rules of {target.name!r}: {HOW}")
    tests = []
    for column, condition in given["when"].items():
        if column not in before:
            raise ColumnError(
                f"rules of {target.name!r}: {column!r} is not known when {target.name!r} is drawn; "
                "put it before in order=, or name another column of the data"
            )
        tests += _tests(variables[column], condition, target.name)
    if not tests:
        raise DataError(f"rules of {target.name!r}: no condition; {HOW}")
    return Rule(tuple(tests), _value(target, given["value"]))


def _tests(one: Variable, condition: Any, target: str) -> list[Condition]:
    none = np.zeros(0, np.int64)
    if not isinstance(condition, Mapping):
        values = condition if isinstance(condition, (list, tuple)) else [condition]
        return [Condition(one.name, "is", 0.0, np.array([_level(one, value) for value in values], np.int64))]
    found = []
    for how, limit in condition.items():
        if how == "missing" and isinstance(limit, bool):
            found.append(Condition(one.name, how, float(limit), none))
        elif how in COMPARE and arguments.is_number(limit):
            if one.kind != "number":
                raise DataError(f"rules of {target!r}: {one.name!r} is no number and has no {how!r}")
            found.append(Condition(one.name, how, float(limit), none))
        else:
            raise DataError(f"rules of {target!r}, condition on {one.name!r}: {HOW}")
    return found


def _level(one: Variable, value: Any) -> int:
    """The level of a value; one that nobody has is at no level."""
    absent = -9
    if one.kind == "date":
        raise DataError(f"rules compare numbers and categories; {one.name!r} holds dates")
    if one.amounts is not None:
        if not arguments.is_number(value):
            raise DataError(f"rules: {one.name!r} holds numbers; give one", argument="rules")
        place = int(np.searchsorted(one.amounts, value))
        return place if place < one.n_levels and one.amounts[place] == value else absent
    return one.texts.index(str(value)) if str(value) in one.texts else absent


def _value(target: Variable, value: Any) -> Values:
    """What a rule sets, as the values of one record."""
    if value is None:
        return target.of_levels(np.array([MISSING]))
    level = _level(target, value)
    if target.amounts is not None:
        return (
            target.of_levels(np.array([level])) if level >= 0 else target.of_numbers(np.array([float(value)]))
        )
    if level < 0:
        raise DataError(f"rules of {target.name!r}: no record holds the value to set; give one of the data's")
    return target.of_levels(np.array([level]))
