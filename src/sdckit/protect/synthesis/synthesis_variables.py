"""Variables of a synthesis: the distinct values (levels) of each column, and the level of each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import columns, replace, rule_conditions
from sdckit.data.frames import open_frame
from sdckit.data.rule_conditions import COMPARE, HOW, EditRule, read_edit_rules
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.grouping import first_of_groups, places_among
from sdckit.protect.change import check_squares

MISSING, NEW = -1, -2  # levels of a missing value, and of a number that no record of the original holds
MOST_LEVELS = 500  # categories of a variable that models take
MOST_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Values:
    """Values of some records in one variable."""

    # shape (n,); place among the variable's distinct values; `MISSING`, or `NEW` for a number not among them
    level: Ints
    # shape (n,), NaN where missing, None for categories; of dates: days or parts of them since 1970
    number: Floats | None

    def take(self, rows: NDArray[Any]) -> Values:
        """The values of some records."""
        return Values(self.level[rows], None if self.number is None else self.number[rows])


@dataclass(frozen=True, eq=False)
class Variable:
    """One column."""

    name: str
    kind: str  # "number", "date", "category", "empty"
    # shape (n_levels,); a record of each distinct value: numbers ascend, categories as declared, else by their text
    first: Ints
    texts: tuple[str, ...]  # the distinct values of categories, printed
    amounts: Floats | None  # shape (n_levels,); the distinct values of numbers and dates
    held: Values  # what each record holds
    n_missing: int
    # decimal places that suffice for all numbers; None where there is no such limit
    decimals: int | None
    ends: tuple[float, float] = (-np.inf, np.inf)  # the least and the largest number that its type holds

    @property
    def n_levels(self) -> int:
        """Distinct values."""
        return len(self.first)

    @property
    def labels(self) -> tuple[str, ...]:
        """The distinct values in text."""
        return self.texts if self.amounts is None else tuple(number_label(amount) for amount in self.amounts)

    def of_numbers(self, numbers: Floats) -> Values:
        """Values from new numbers, rounded and limited to what the variable holds; `NEW` where they are no level."""
        amounts = sure(self.amounts)
        made = np.clip(numbers if self.decimals is None else np.round(numbers, self.decimals) + 0.0, *self.ends)
        place = np.minimum(np.searchsorted(amounts, made), self.n_levels - 1)
        level = np.where(amounts[place] == made, place, NEW)
        return Values(np.where(np.isnan(made), MISSING, level), made)

    def of_levels(self, level: Ints) -> Values:
        """Values from levels of the variable."""
        if self.amounts is None:
            return Values(level, None)
        return Values(level, np.where(level >= 0, self.amounts[np.maximum(level, 0)], np.nan))


def number_label(number: float) -> str:
    """A number in text, the same whatever type its column has.

    >>> number_label(3.0), number_label(0.5)
    ('3', '0.5')
    """
    return str(int(number)) if float(number).is_integer() else str(float(number))


def read_variable(series: Any) -> Variable:
    """Read a column of an opened frame.

    Raises `DataError`: infinite numbers, or a column that mixes types.
    """
    coded = columns.code_column(series)
    codes = coded.codes()
    seen, first, level = _distinct(codes, coded.span)
    known = seen < coded.span
    if not known.any():
        nothing = Values(np.full_like(level, MISSING), None)
        return Variable(series.name, "empty", seen[:0], (), None, nothing, len(codes), None)
    amounts: Floats | None = None
    texts: tuple[str, ...] = ()
    if coded.kind in {"integer", "number", "date"}:
        if coded.kind == "date":
            kind, amounts = "date", _date_numbers(coded, seen[known])
        else:
            kind, numbers = "number", columns.float_values(series, "column")
            check_squares(series.name, numbers)
            amounts = numbers[first[known]]
        order = np.argsort(amounts, kind="stable")
        amounts = amounts[order]
    else:
        kind, labels = "category", coded.labels(seen[known])
        order = np.array(columns.places_in_order(labels, columns.categories_of(coded)), np.int64)
        texts = tuple(labels[at] for at in order)
    level = places_among(order, len(seen))[level]  # the code of a missing value is the last one
    held = Values(level, None)
    decimals = _decimals(amounts) if kind == "number" and amounts is not None else None
    made = Variable(
        series.name, kind, first[known][order].astype(np.int64), texts, amounts, held,
        int(np.count_nonzero(level < 0)), decimals, _ends(series.dtype),
    )  # fmt: skip
    return Variable(**{**vars(made), "held": made.of_levels(level)})


def _distinct(codes: Ints, top: int) -> tuple[Ints, Ints, Ints]:
    """Codes in use of those up to `top`, the first record of each, and the index of each record's code among them.

    Without sorting, where there are not many more codes than records.

    >>> [array.tolist() for array in _distinct(np.array([4, 0, 4]), 4)]
    [[0, 4], [1, 0], [1, 0, 1]]
    """
    if top > 4 * len(codes):
        present, at, place = np.unique(codes, return_index=True, return_inverse=True)
        return present, at, place.astype(np.int64).reshape(-1)
    first = first_of_groups(codes, top + 1)
    present = np.flatnonzero(first >= 0)
    return present, first[present], places_among(present, top + 1)[codes]


def _date_numbers(coded: Any, codes: Ints) -> Floats:
    """Dates as numbers; in wide ranges codes are indices of levels, which hold the time."""
    if coded.levels is None:
        return np.asarray(codes + np.float64(coded.low), np.float64)
    levels = coded.levels() if callable(coded.levels) else coded.levels
    storage = "int32" if levels.type.bit_width == 32 else "int64"
    return np.asarray(levels.view(storage).to_numpy(zero_copy_only=False)[codes], np.float64)


def _decimals(amounts: Floats) -> int | None:
    return next((digits for digits in range(MOST_DECIMALS + 1) if (np.round(amounts, digits) == amounts).all()), None)


def _ends(dtype: Any) -> tuple[float, float]:
    """The least and the largest number of a type, as floats."""
    if not dtype.is_integer():
        return -np.inf, np.inf
    bits = int("".join(filter(str.isdigit, str(dtype))))
    unsigned = dtype.is_unsigned_integer()
    size = bits if unsigned else bits - 1
    top = 2.0**size - (1 if size <= 53 else 2.0 ** (size - 53))  # floats are that far apart there
    return 0.0 if unsigned else -(2.0**size), top


def is_usable(variable: Variable, n: int) -> bool:
    """Whether a column can predict others: it varies, and is no list of names.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> frame = open_frame(pl.DataFrame({"one": ["a"] * 30, "name": [f"n{i}" for i in range(30)], "x": [1, 2] * 15}))
    >>> [is_usable(read_variable(frame[name]), 30) for name in frame.columns]
    [False, False, True]
    """
    return variable.n_levels + (variable.n_missing > 0) > 1 and not _names_people(variable, n)


def _names_people(variable: Variable, n: int) -> bool:
    """Whether nearly all texts of a column differ, as names do."""
    many = variable.n_levels > MOST_LEVELS or (n >= 20 and variable.n_levels > n / 2)
    return variable.kind == "category" and many


def refuse_unfit(variables: Sequence[Variable], n: int) -> None:
    """Refuse columns that cannot be synthesised.

    Raises `DataError`: no value at all, equal values, or texts that are nearly as many as the records.
    """
    for variable in variables:
        if variable.kind == "empty":
            raise DataError(f"column {variable.name!r} has no value at all; leave it out of columns")
        if _names_people(variable, n):
            raise DataError(
                f"column {variable.name!r} has {variable.n_levels:,} different texts in {n:,} records: synthesis would "
                "hand real ones out; take it off by drop_identifiers, recode it, or leave it out of columns"
            )
        if variable.n_levels + (variable.n_missing > 0) < 2:
            raise DataError(f"column {variable.name!r} is constant, there is nothing to draw; leave it out")


# Drawn values as a data frame of the caller's engine.


def written(
    frame: Any, variables: Mapping[str, Variable], rows: Ints, made: Mapping[str, Values], n_made: int | None = None
) -> Any:  # fmt: skip
    """One file as a data frame of the caller's engine.

    `rows`: those that get the values made. `n_made`: records of a file of another length, all of them made.
    """
    sources, new = {}, {}
    n, into = len(frame), frame
    if n_made is not None:  # the columns that are not drawn hold one value
        n, rows = n_made, np.arange(n_made)
        into = replace.open_eager(open_frame(replace.pick_rows(frame, rows % len(frame))), {})
    for name, values in made.items():
        source, fresh = np.arange(n), values.level == NEW
        source[rows] = np.where(values.level >= 0, variables[name].first[np.maximum(values.level, 0)], -1)
        source[rows[fresh]] = rows[fresh] % len(frame)
        sources[name] = source
        if fresh.any() and values.number is not None:
            where = np.zeros(n, np.bool_)
            where[rows[fresh]] = True
            new[name] = (where, values.number[fresh])
    out = replace.lend_rows(into, frame, sources)
    return replace.with_some_numbers(replace.open_eager(open_frame(out), {}), new) if new else out


# Rules of synthesis: where a condition on other variables holds, a value is set instead of drawn.


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition on one variable, whose values are levels of it."""

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
        with np.errstate(invalid="ignore"):
            return np.asarray(COMPARE[self.how](sure(values.number), self.limit), np.bool_)


@dataclass(frozen=True, eq=False)
class Rule:
    """Conditions that must all hold, and the value that a variable then has."""

    tests: tuple[Condition, ...]
    value: Values

    def holds(self, held: Mapping[str, Values], n: int) -> NDArray[np.bool_]:
        """Whether all conditions hold for each record."""
        satisfied = np.ones(n, np.bool_)
        for test in self.tests:
            satisfied &= test.holds(held[test.column])
        return satisfied


def read_rules(given: Any, variables: Mapping[str, Variable], before: Mapping[str, set[str]]) -> dict[str, list[Rule]]:
    """Read rules as a caller writes them.

    `before`: by column that is synthesised, the columns whose new values are known when it is drawn. Raises
    `ColumnError`: a column that is not synthesised, or a condition on one that is drawn later; `DataError`: a
    rule in another form, or a value that the column does not hold.
    """
    if not isinstance(given, Mapping):
        raise DataError(f"rules= is given by column; {HOW}", argument="rules")
    if other := [column for column in given if column not in before]:
        raise ColumnError(f"rules: {other[0]!r} is not among the columns to synthesise", argument="rules")
    by_column: dict[str, list[Rule]] = {column: [] for column in given}
    for rule in read_edit_rules(given):
        by_column[rule.column].append(_rule(rule, variables, before[rule.column]))
    return by_column


def _rule(rule: EditRule, variables: Mapping[str, Variable], before: set[str]) -> Rule:
    target, tests = variables[rule.column], []
    for condition in rule.when:
        if condition.column not in before:
            raise ColumnError(
                f"rules of {target.name!r}: {condition.column!r} is not known when {target.name!r} is drawn; "
                "put it before in order=, or name another column of the data"
            )
        tests.append(_test(variables[condition.column], condition, target.name))
    (then, *further) = rule.then
    absent = then.how == "missing" and then.values[0]
    if further or len(then.values) > 1 or not (absent or then.how == "is"):
        raise DataError(f"rules of {target.name!r}: synthesis sets one value, or None; {HOW}", argument="rules")
    return Rule(tuple(tests), _value(target, None if absent else then.values[0]))


def _test(variable: Variable, condition: rule_conditions.Condition, target: str) -> Condition:
    if condition.how == "is":
        levels = np.array([_level(variable, value) for value in condition.values], np.int64)
        return Condition(variable.name, condition.how, 0.0, levels)
    if condition.how in COMPARE and variable.kind != "number":
        raise DataError(f"rules of {target!r}: {variable.name!r} is no number and has no {condition.how!r}")
    return Condition(variable.name, condition.how, float(condition.values[0]), np.zeros(0, np.int64))


def _level(variable: Variable, value: Any) -> int:
    """The level of a value; -9 where no record has it."""
    absent = -9
    if variable.kind == "date":
        raise DataError(f"rules compare numbers and categories; {variable.name!r} holds dates")
    if variable.amounts is not None:
        if not columns.is_number(value):
            raise DataError(f"rules: {variable.name!r} holds numbers; give one", argument="rules")
        place = int(np.searchsorted(variable.amounts, value))
        return place if place < variable.n_levels and variable.amounts[place] == value else absent
    return variable.texts.index(str(value)) if str(value) in variable.texts else absent


def _value(target: Variable, value: Any) -> Values:
    """What a rule sets, as the values of one record."""
    if value is None:
        return target.of_levels(np.array([MISSING]))
    level = _level(target, value)
    if target.amounts is not None:
        return target.of_levels(np.array([level])) if level >= 0 else target.of_numbers(np.array([float(value)]))
    if level < 0:
        raise DataError(f"rules of {target.name!r}: no record holds the value to set; give one of the data's")
    return target.of_levels(np.array([level]))
