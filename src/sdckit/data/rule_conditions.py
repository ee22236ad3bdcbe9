"""Edit rules: where some columns have certain values, another has one of some; their grammar, and who breaks them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from decimal import Decimal
from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data.columns import MIDNIGHT, code_column, float_values, is_number
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Ints

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
    return tuple(_rule(number, column, rule) for number, (column, rule) in enumerate(_by_column(given), 1))


def _by_column(given: Any) -> list[tuple[str, Any]]:
    if isinstance(given, Mapping):
        listed = {column: rules if isinstance(rules, (list, tuple)) else [rules] for column, rules in given.items()}
        return [(column, rule) for column, rules in listed.items() for rule in rules]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DataError(f"rules= is given by column; {HOW}", argument="rules")
    pairs = []
    for number, rule in enumerate(given, 1):
        if not isinstance(rule, Mapping) or not isinstance(rule.get("column"), str):
            raise DataError(f'rule {number}: a rule of a list names its column ("column"); {HOW}', argument="rules")
        pairs.append((rule["column"], {name: entry for name, entry in rule.items() if name != "column"}))
    return pairs


def _rule(number: int, column: Any, given: Any) -> EditRule:
    place = f"rule {number}, of {column!r}"
    if not isinstance(column, str) or not isinstance(given, Mapping) or set(given) != {"when", "value"}:
        raise DataError(f"{place}: {HOW}", argument="rules")
    if not isinstance(given["when"], Mapping):
        raise DataError(f"{place}: {HOW}", argument="rules")
    when = [one for name, condition in given["when"].items() for one in _conditions(name, condition, place)]
    if not when:
        raise DataError(f"{place}: no condition; {HOW}", argument="rules")
    value = {"missing": True} if given["value"] is None else given["value"]
    then = _conditions(column, value, place)
    return EditRule(column, tuple(when), tuple(then), {"when": dict(given["when"]), "value": value})


def _conditions(column: str, given: Any, place: str) -> list[Condition]:
    """What stands for a column in the rule at `place`; two bounds are two conditions."""
    if not isinstance(given, Mapping):
        values = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        if not values or not all(map(_is_plain, values)):
            raise DataError(f"{place}, condition on {column!r}: {HOW}", argument="rules")
        return [Condition(column, "is", values)]
    for how, limit in given.items():
        missing = how == "missing" and isinstance(limit, bool)
        if not missing and not (how in COMPARE and is_number(limit)):
            raise DataError(f"{place}, condition on {column!r}: {HOW}", argument="rules")
    if not given:
        raise DataError(f"{place}, condition on {column!r}: {HOW}", argument="rules")
    return [Condition(column, how, (limit,)) for how, limit in given.items()]


def _is_plain(value: Any) -> bool:
    """Whether a scenario can say it, and a value of a column can be equal to it: NaN is equal to nothing."""
    return value is not None and not isinstance(value, (Mapping, list, tuple, Decimal, time)) and value == value  # noqa: PLR0124


# Who breaks a rule.


def breaking(rule: EditRule, frame: Any) -> Bools | None:
    """Whether each record of an opened frame in memory breaks a rule.

    None where that cannot be judged: a column is not there, holds no numbers any more where some are compared, or
    values of another kind than those of the rule (numbers, yes and no, moments with a time zone). A missing value
    fulfils no condition but one on missing values, and breaks no rule but one on missing values.

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
    numeric = series.dtype.is_numeric()
    if condition.how in COMPARE and not numeric:
        return None
    if numeric and condition.how != "missing":
        unknown, narrow = np.isnan(floats := float_values(series, "rules")), series.dtype == nw.Float32
        values = series.fill_null(0).to_numpy() if series.dtype.is_integer() else floats  # exact beyond 2**53, too
        given = [np.float32(value) if narrow else value for value in condition.values if is_number(value)]
        if not given:
            return None
        compare: Callable[[Any, Any], Any] = COMPARE.get(condition.how, operator.eq)
        hit = reduce(operator.or_, (compare(values, value) for value in given))
        return np.where(unknown, missing, hit)
    coded = code_column(series)
    codes = coded.codes()
    unknown = codes == coded.span
    if condition.how == "missing":
        return np.asarray(unknown == condition.values[0], np.bool_)
    texts, used = {str(value) for value in condition.values}, _used(coded, codes)
    texts |= {str(kind(v)) for v in condition.values if is_number(v) and v == int(v) for kind in (int, float)}
    texts |= {text + MIDNIGHT for text in texts}  # a day where the column holds moments, as pandas has all days
    known = np.array([text in texts for text in coded.labels(used)], np.bool_)
    zoned = getattr(series.dtype, "time_zone", None) is not None  # a rule may say no offset, or another
    if (zoned and not known.any()) or (series.dtype == nw.Boolean and not texts & {"True", "False"}):
        return None
    hit = np.isin(codes, used[known])
    return np.asarray(hit | (unknown & missing), np.bool_)


def _used(coded: Any, codes: Ints) -> Ints:
    """The codes that a record has, missing ones apart; there may be billions of others between two days."""
    if coded.span > len(codes):
        return np.unique(codes[codes < coded.span])
    return np.flatnonzero(np.bincount(codes, minlength=coded.span + 1)[: coded.span])


class RuleBreakers:
    """The records of an opened frame in memory that break edit rules; each rule is evaluated once, when it is asked.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rule, = read_edit_rules({"marital": {"when": {"age": {"below": 16}}, "value": "single"}})
    >>> before = RuleBreakers(open_frame(pl.DataFrame({"age": [12, 40], "marital": ["single", "married"]})))
    >>> after = RuleBreakers(open_frame(pl.DataFrame({"age": [12, 40], "marital": ["married", "married"]})))
    >>> [flags.tolist() for flags in before.beside(after, rule)]
    [[False, False], [True, False]]
    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._flags: dict[str, Bools | None] = {}
        self._texts: dict[str, set[str]] = {}

    def flags(self, rule: EditRule) -> Bools | None:
        """Whether each record breaks a rule, as `breaking`."""
        name = repr((rule.when, rule.then))
        if name not in self._flags:
            self._flags[name] = breaking(rule, self.frame)
        return self._flags[name]

    def beside(self, after: RuleBreakers, rule: EditRule) -> tuple[Bools, Bools] | None:
        """Whether the records of this file, and of another made from it, break a rule.

        None where it cannot be judged in either, as `breaking`; or where a column of the rule has been recoded: it has
        no text in common with the file before.
        """
        before, later = self.flags(rule), after.flags(rule)
        if before is None or later is None:
            return None
        compared = {condition.column for condition in (*rule.when, *rule.then) if condition.how == "is"}
        return None if any(self._apart(after, name) for name in compared) else (before, later)

    def _apart(self, after: RuleBreakers, name: str) -> bool:
        """Whether a column has no text in common with that of another file, though both have some."""
        if all(held.frame.get_column(name).dtype.is_numeric() for held in (self, after)):
            return False
        return not (self._texts_of(name) & after._texts_of(name)) and len(self.frame) > 0 and len(after.frame) > 0

    def _texts_of(self, name: str) -> set[str]:
        if name not in self._texts:
            series, texts = self.frame.get_column(name), set[str]()
            if not series.dtype.is_numeric():
                coded = code_column(series)
                texts = set(coded.labels(_used(coded, coded.codes())))
            self._texts[name] = texts
        return self._texts[name]
