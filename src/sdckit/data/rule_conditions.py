"""Edit rules: where some columns have certain values, another has one of some; their grammar, and who breaks them."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import code_column, float_values, kind_of_value
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "below": operator.lt, "at_most": operator.le, "above": operator.gt, "at_least": operator.ge,
}  # fmt: skip
WORDS = {"below": "below", "at_most": "at most", "above": "above", "at_least": "at least"}
HOW = (
    'a rule is {"when": {column: condition}, "value": value}; a condition is a value, a list of values, '
    '{"below": number} (at_most, above, at_least) or {"missing": True}'
)


@dataclass(frozen=True)
class Condition:
    """A condition on one column: `how` is "is" (one of the `values`), "missing" (or not), or a name of `COMPARE`."""

    column: str
    how: str
    values: tuple[Any, ...]

    @property
    def words(self) -> str:
        """The condition in words.

        >>> Condition("age", "below", (16,)).words, Condition("job", "is", ("cook", "smith")).words
        ('age below 16', 'job is cook or smith')
        """
        if self.how == "missing":
            return f"{self.column} is {'' if self.values[0] else 'not '}missing"
        listed = " or ".join(map(str, self.values))
        return f"{self.column} is {listed}" if self.how == "is" else f"{self.column} {WORDS[self.how]} {listed}"


@dataclass(frozen=True)
class EditRule:
    """Where all of the conditions `when` hold, all of `then` hold of `column`; `entries`: both as they were written."""

    column: str
    when: tuple[Condition, ...]
    then: tuple[Condition, ...]
    entries: Mapping[str, Any]

    @property
    def value(self) -> Any:
        """What the column has, as it was written."""
        return self.entries["value"]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the conditions, and the one that the rule is about."""
        return tuple(dict.fromkeys([*(condition.column for condition in self.when), self.column]))

    @property
    def words(self) -> str:
        """The rule in words.

        >>> read_edit_rules({"marital": {"when": {"age": {"below": 16}}, "value": "single"}})[0].words
        'where age below 16: marital is single'
        """
        when, then = (" and ".join(condition.words for condition in part) for part in (self.when, self.then))
        return f"where {when}: {then}"


def read_edit_rules(given: Any) -> tuple[EditRule, ...]:
    """Read rules as a caller or a scenario writes them.

    A dict by column, each a rule or a list of rules; or a list of rules, each with its ``column``. Raises `DataError`:
    in another form.

    >>> rules = read_edit_rules([{"column": "job", "when": {"age": {"below": 16}}, "value": {"missing": True}}])
    >>> rules[0].words
    'where age below 16: job is missing'
    """
    return tuple(_rule(column, rule) for column, rule in _by_column(given))


def _by_column(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        listed = {column: rules if isinstance(rules, (list, tuple)) else [rules] for column, rules in given.items()}
        return [(column, rule) for column, rules in listed.items() for rule in rules]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DataError(f"rules= is given by column; {HOW}", argument="rules")
    pairs = []
    for rule in given:
        if not isinstance(rule, Mapping) or not isinstance(rule.get("column"), str):
            raise DataError(f'a rule of a list names its column ("column"); {HOW}', argument="rules")
        pairs.append((rule["column"], {name: entry for name, entry in rule.items() if name != "column"}))
    return pairs


def _rule(column: Any, given: Any) -> EditRule:
    if not isinstance(column, str) or not isinstance(given, Mapping) or set(given) != {"when", "value"}:
        raise DataError(f"rules of {column!r}: {HOW}", argument="rules")
    if not isinstance(given["when"], Mapping):
        raise DataError(f"rules of {column!r}: {HOW}", argument="rules")
    when = [one for name, condition in given["when"].items() for one in read_condition(name, condition, column)]
    if not when:
        raise DataError(f"rules of {column!r}: no condition; {HOW}", argument="rules")
    value = {"missing": True} if given["value"] is None else given["value"]
    then = read_condition(column, value, column)
    return EditRule(column, tuple(when), tuple(then), {"when": dict(given["when"]), "value": value})


def read_condition(column: str, given: Any, target: str) -> list[Condition]:
    """Read what stands for a column in a rule of `target`; two bounds are two conditions.

    Raises `DataError`: in another form.
    """
    if not isinstance(given, Mapping):
        values = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        if not values or any(value is None or isinstance(value, (Mapping, list, tuple)) for value in values):
            raise DataError(f"rules of {target!r}, condition on {column!r}: {HOW}", argument="rules")
        return [Condition(column, "is", values)]
    for how, limit in given.items():
        missing = how == "missing" and isinstance(limit, bool)
        if not missing and not (how in COMPARE and _is_number(limit)):
            raise DataError(f"rules of {target!r}, condition on {column!r}: {HOW}", argument="rules")
    if not given:
        raise DataError(f"rules of {target!r}, condition on {column!r}: {HOW}", argument="rules")
    return [Condition(column, how, (limit,)) for how, limit in given.items()]


def _is_number(value: Any) -> bool:
    return kind_of_value(value) == "number" and bool(abs(value) <= sys.float_info.max)


# Who breaks a rule.


def breaking(rule: EditRule, frame: Any) -> Bools | None:
    """Whether each record of an opened frame in memory breaks a rule.

    None where that cannot be judged: a column is not there, or holds no numbers any more where some are compared. A
    missing value fulfils no condition but one on missing values, and breaks no rule but one on missing values.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> people = open_frame(pl.DataFrame({"age": [12, 12, 12], "marital": ["single", "married", None]}))
    >>> rule, = read_edit_rules({"marital": {"when": {"age": {"below": 16}}, "value": "single"}})
    >>> breaking(rule, people).tolist()
    [False, True, False]
    """
    if not set(rule.columns) <= set(frame.columns):
        return None
    concerned, kept = np.ones(len(frame), np.bool_), np.ones(len(frame), np.bool_)
    for conditions, flags in ((rule.when, concerned), (rule.then, kept)):
        for condition in conditions:
            hit = _holds(condition, frame.get_column(condition.column), missing=conditions is rule.then)
            if hit is None:
                return None
            np.logical_and(flags, hit, out=flags)
    return concerned & ~kept


def _holds(condition: Condition, series: Any, *, missing: bool) -> Bools | None:
    """Whether a condition holds for each record, and for those without a value where `missing`; None as `breaking`."""
    if condition.how in COMPARE:
        if not series.dtype.is_numeric():
            return None
        values = float_values(series, "rules")
        with np.errstate(invalid="ignore"):
            hit = COMPARE[condition.how](values, condition.values[0])
        return np.asarray(hit | (np.isnan(values) & missing), np.bool_)
    coded = code_column(series)
    codes = coded.codes()
    unknown = codes == coded.span
    if condition.how == "missing":
        return np.asarray(unknown == condition.values[0], np.bool_)
    if series.dtype.is_numeric():
        numbers = [float(value) for value in condition.values if _is_number(value)]
        hit = np.isin(float_values(series, "rules"), numbers)
    else:
        hit = np.isin(codes, _levels(coded, codes, {str(value) for value in condition.values}))
    return np.asarray(hit | (unknown & missing), np.bool_)


def _levels(coded: Any, codes: NDArray[Any], texts: set[str]) -> NDArray[np.int64]:
    """The codes of those values in use whose text is among some."""
    used = np.unique(codes[codes < coded.span])
    named = [text in texts for text in coded.labels(used)] if len(used) else []
    return np.asarray(used[np.array(named, np.bool_)], np.int64)


def both_breaking(rule: EditRule, before: Any, after: Any) -> tuple[Bools, Bools] | None:
    """Whether the records of a file, and of another made from it, break a rule; both are opened and in memory.

    None where it cannot be judged in either, as `breaking`; or where a column of the rule has been recoded: it has no
    text in common with the file before.
    """
    flags = tuple(breaking(rule, frame) for frame in (before, after))
    if flags[0] is None or flags[1] is None:
        return None
    compared = {condition.column for condition in (*rule.when, *rule.then) if condition.how == "is"}
    if any(_apart(before.get_column(name), after.get_column(name)) for name in compared):
        return None
    return flags[0], flags[1]


def _apart(before: Any, after: Any) -> bool:
    """Whether two columns have no text in common, though both have some."""
    if before.dtype.is_numeric() and after.dtype.is_numeric():
        return False
    texts = [set() if series.dtype.is_numeric() else _texts(series) for series in (before, after)]
    return not (texts[0] & texts[1]) and len(before) > 0 and len(after) > 0


def _texts(series: Any) -> set[str]:
    coded = code_column(series)
    codes = np.unique(coded.codes())
    return set(coded.labels(codes[codes < coded.span]))
