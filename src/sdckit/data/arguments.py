"""Validation of arguments: one function per kind of argument; errors name the argument.

Invalid column names raise `ColumnError`, invalid scenarios `ScenarioError`, all others `DataError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeGuard, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data.columns import as_real, is_number
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError

Seed = int | np.random.Generator | None
Word = TypeVar("Word", bound=str)
SMALL_SEED = 2**32  # scikit-learn's own limit
MOST = 2**53  # of what is counted: beyond, machines do not tell whole numbers apart


def is_whole(value: object) -> TypeGuard[int]:
    """Whether this is an integer; bools do not count.

    >>> is_whole(3), is_whole(True), is_whole(3.0), is_whole("3")
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_column(value: object) -> bool:
    """Whether this is a column of a frame, where names of columns are asked for: its values are those of records.

    >>> import polars as pl
    >>> is_column(pl.Series(["Island"])), is_column(["sex", "age"])
    (True, False)
    """
    if value is None or isinstance(value, str | list | tuple | dict | set | frozenset):  # at once: narwhals takes 5 µs
        return False
    return bool(nw.dependencies.is_into_series(value))


def _refused(name: str, says: str, give: str) -> DataError:
    return DataError(f"{name} {says}; give {give}", argument=name)


# --- random numbers -----------------------------------------------------------------------------------


def seed(value: object) -> np.random.Generator:
    """A random generator for a seed; freshly seeded where none is given.

    Raises `DataError`: no whole number of 0 or more, nor a generator.

    >>> seed(1).random() == seed(1).random()
    True
    """
    if value is None or isinstance(value, np.random.Generator):
        return np.random.default_rng(value)
    if is_whole(value) and value >= 0:
        return np.random.default_rng(int(value))
    raise DataError("seed= takes a whole number of 0 or more, or a numpy.random.Generator", argument="seed")


def seed_number(value: object) -> int | None:
    """A seed for libraries that take 32-bit integers only; drawn from a generator where needed.

    Raises `DataError`: as `seed`.

    >>> seed_number(7), seed_number(None)
    (7, None)
    """
    rng = seed(value)
    if value is None:
        return None
    return int(value) if is_whole(value) and value < SMALL_SEED else int(rng.integers(2**31))


# --- numbers ------------------------------------------------------------------------------------------


def count(value: object, name: str, says: str = "is a count", *, at_least: int = 1, at_most: int | None = None) -> int:
    """An integer from `at_least` to `at_most`, if given.

    `says` describes the argument: the message is "``name says``; give a whole number of ... or more".

    >>> count(3, "k", "counts records")
    3
    """
    if at_most is None and is_whole(value) and value > MOST:
        at_most = MOST
    if is_whole(value) and value >= at_least and (at_most is None or value <= at_most):
        return int(value)
    bounds = f"of {at_least} or more" if at_most is None else f"from {at_least} to {at_most:,}"
    raise _refused(name, says, f"a whole number {bounds}")


def release(value: object, m: int) -> int:
    """The place, from 0 on, of one of `m` releases, given its number."""
    if is_whole(value) and 1 <= value <= m:
        return int(value) - 1
    raise DataError(f"release is a number from 1 to {m}", argument="release")


def counts(value: object, name: str, says: str = "is a count", *, at_least: int = 1) -> tuple[int, ...]:
    """One or several integers (or none), sorted and without duplicates.

    Raises `DataError`: one of them is not an integer, or below `at_least`.

    >>> counts((3, 2, 3), "k", "counts records"), counts(5, "k", "counts records")
    ((2, 3), (5,))
    """
    entries = _listed(value)
    whole = [int(entry) for entry in entries if is_whole(entry) and at_least <= entry]
    if len(whole) < len(entries):
        raise _refused(name, says, f"whole numbers of {at_least} or more")
    if whole:
        count(max(whole), name, says, at_least=at_least)
    return tuple(sorted(set(whole)))


def number(value: object, name: str, says: str = "is a number") -> float:
    """A finite number."""
    return within(value, name, says, -math.inf, math.inf, "()", "a finite number")


def amount(value: object, name: str, says: str = "is an amount") -> float:
    """A finite number of 0 or more."""
    return within(value, name, says, 0, math.inf, "[)", "a number of 0 or more")


def amount_above(value: object, name: str, says: str = "is an amount") -> float:
    """A finite number above 0."""
    return within(value, name, says, 0, math.inf, "()", "a number above 0")


def amounts_above(value: object, name: str, says: str) -> tuple[float, ...]:
    """One or several finite numbers above 0 (or none), sorted and without duplicates.

    >>> amounts_above([0.2, 0.1], "limits", "are distances")
    (0.1, 0.2)
    """
    entries = _listed(value)
    if not all(0 < as_real(entry) < math.inf for entry in entries):
        raise _refused(name, says, "numbers above 0")
    return tuple(sorted({as_real(entry) for entry in entries}))


def share(value: object, name: str, says: str = "is a share") -> float:
    """A number from 0 to 1."""
    return within(value, name, says, 0, 1, "[]", "a number from 0 to 1")


def share_above(value: object, name: str, says: str = "is a share") -> float:
    """A number above 0, at most 1."""
    return within(value, name, says, 0, 1, "(]")


def sampling_fraction_or_none(value: object) -> float | None:
    """A sampling fraction, above 0 and at most 1; None where it is not given."""
    says = "is the share of the population in the file"
    return None if value is None else share_above(value, "sampling_fraction", says)


def level(value: object, name: str = "level", says: str = "is the confidence of the intervals") -> float:
    """A confidence level: a number strictly between 0 and 1.

    >>> level(0.95)
    0.95
    """
    return within(value, name, says, 0, 1, "()", "a number between 0 and 1, such as 0.95")


def within(value: object, name: str, says: str, low: float, high: float, ends: str = "[]", give: str = "") -> float:
    """A number in an interval.

    `ends` says which ends are included: "[]", "[)", "(]" or "()"; `give` is the interval in words.

    >>> within(0, "swap_rate", "is a share of the households", 0, 1, "[)")
    0.0
    """
    real = as_real(value)
    above = real >= low if ends[0] == "[" else real > low
    below = real <= high if ends[1] == "]" else real < high
    if not (above and below):
        raise _refused(name, says, give or f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}")
    return real


def _listed(value: Any) -> tuple[Any, ...]:
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return tuple(value) if several else (value,)


# --- words --------------------------------------------------------------------------------------------


def flag(value: object, name: str, says: str = "is True or False") -> bool:
    """A bool; truthy or falsy values of other types are refused."""
    if not isinstance(value, bool | np.bool_):
        raise DataError(f"{name} {says}; it is neither", argument=name)
    return bool(value)


def choice(value: Word, name: str, allowed: Sequence[Word]) -> Word:
    """One of the allowed words.

    Raises `DataError`: any other value; the message suggests the nearest.

    >>> choice("mdav", "method", ("mdav", "rmd"))
    'mdav'
    """
    if isinstance(value, str) and value in allowed:
        return value
    words = ", ".join(repr(word) for word in allowed)
    if not isinstance(value, str):
        raise DataError(f"{name} is one of {words}, not {type(value).__name__}", argument=name)
    raise DataError(f"{name} {value!r} is unknown; {did_you_mean(value, allowed)}", argument=name)


def choices(value: Word | Iterable[Word], name: str, allowed: Sequence[Word]) -> tuple[Word, ...]:
    """One or several of the allowed words.

    Raises `DataError`: the list is empty, or holds another value.
    """
    words = _listed(value)
    if not words:
        raise DataError(f"{name} is empty; give some of {', '.join(allowed)}", argument=name)
    return tuple(choice(word, name, allowed) for word in words)


def text(value: object, name: str) -> str:
    """A string, possibly empty."""
    if not isinstance(value, str):
        raise DataError(f"{name} is text, not {type(value).__name__}", argument=name)
    return value


def texts(value: object, name: str) -> tuple[str, ...]:
    """One or several strings; numbers are converted by `str`.

    >>> texts(["NA", -9], "missing"), texts("", "missing")
    (('NA', '-9'), ('',))
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise DataError(f"{name} is a list of texts, not {type(value).__name__}", argument=name)
    entries = tuple(value)
    if not all(isinstance(entry, str) or is_number(entry) for entry in entries):
        raise DataError(f"{name} is a list of texts; one of them is none", argument=name)
    return tuple(str(entry) for entry in entries)


def mapping(value: object, name: str, says: str) -> dict[Any, Any]:
    """A mapping, as a dict."""
    if not isinstance(value, Mapping):
        raise DataError(f"{name} {says}; give a dict, not {type(value).__name__}", argument=name)
    return dict(value)


def several(value: object, name: str, says: str) -> tuple[Any, ...]:
    """An iterable other than a string, as a tuple."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise DataError(f"{name} {says}; give a list, not {type(value).__name__}", argument=name)
    return tuple(value)


# --- columns ------------------------------------------------------------------------------------------


def column(value: object, name: str) -> str:
    """The name of one column."""
    if not isinstance(value, str):
        raise ColumnError(f"{name} is the name of one column, not {type(value).__name__}", argument=name)
    return value


def column_or_none(value: object, name: str) -> str | None:
    """The name of one column, or None."""
    return None if value is None else column(value, name)


def names(value: object, name: str, *, single: bool = False) -> tuple[str, ...] | None:
    """Column names as a tuple, or None.

    `single`: whether a single name may be given as a string. Raises `ColumnError`: a string instead of a list, a
    list of something else, or a name listed twice.

    >>> names(["sex", "age"], "keys"), names("sex", "by", single=True)
    (('sex', 'age'), ('sex',))
    """
    if value is None:
        return None
    if isinstance(value, str):
        if single:
            return (value,)
        raise ColumnError(f"{name} must be a list of column names; write {name}=[{value!r}]", argument=name)
    if is_column(value):  # what is wrong with its values is said by none of them
        given = getattr(value, "name", None)
        write = f"the name of the column; write {name}=[{given!r}]" if isinstance(given, str) and given else "names"
        raise ColumnError(f"{name} must be a list of column names, not a column: give {write}", argument=name)
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise ColumnError(f"{name} must be a list of column names, not {type(value).__name__}", argument=name)
    listed = tuple(value)
    for entry in listed:  # pandas numbers columns, too
        if not isinstance(entry, str) and not is_whole(entry):
            raise ColumnError(f"{name}: column names are text, got {type(entry).__name__}", argument=name)
    if twice := sorted({str(entry) for entry in listed if listed.count(entry) > 1}):
        which = repr(twice[0]) if isinstance(value, list | tuple) else "a name"  # or of records
        raise ColumnError(f"{name}: {which} is listed more than once", argument=name)
    return listed


def present(
    names: Iterable[object], columns: Sequence[object], role: str, *, argument: str | None = None,
    within: str = "the data",
) -> None:  # fmt: skip
    """Check that columns of these names exist.

    Raises `ColumnError`: the first absent name, with its role and the nearest existing name.

    >>> present(["sex"], ["sex", "age"], "keys")
    """
    for name in names:
        if name not in columns:
            hint = did_you_mean(name, columns)
            raise ColumnError(f"{role}: no column {name!r} in {within}; {hint}", argument=argument)


# --- scenario -----------------------------------------------------------------------------------------


def weights(value: Any, names: Sequence[str], name: str = "weights") -> dict[str, float]:
    """The weight of each column: by name, 1 unless given, or one for each in their order; 1 for None.

    Raises `ColumnError`: a name is none of theirs; `DataError`: no such numbers, or none above 0.

    >>> weights({"age": 2}, ["age", "sex"]), weights([0, 1], ["age", "sex"])
    ({'age': 2.0, 'sex': 1.0}, {'age': 0.0, 'sex': 1.0})
    """
    if value is None:
        return dict.fromkeys(names, 1.0)
    says = "gives a number of 0 or more for each column, one of them above 0"
    if isinstance(value, Mapping):
        if unknown := [str(entry) for entry in value if entry not in names]:
            words = f"{name}: {unknown[0]!r} is none of the columns; {did_you_mean(unknown[0], names)}"
            raise ColumnError(words, argument=name)
        given = {**dict.fromkeys(names, 1.0), **value}
    else:
        listed = several(value, name, says)
        if len(listed) != len(names):
            raise DataError(f"{name}= needs one number per column: {len(names)}, in their order", argument=name)
        given = dict(zip(names, listed, strict=True))
    if not all(is_number(entry) and entry >= 0 for entry in given.values()) or not any(given.values()):
        raise DataError(f"{name}= {says}", argument=name)
    return {entry: float(number) for entry, number in given.items()}


def scenario_or_none(value: object) -> Scenario | None:
    """A scenario, or None.

    Raises `ScenarioError`: something else.
    """
    if value is not None and not isinstance(value, Scenario):
        says = "scenario= takes a Scenario; read one from a file by Scenario.from_toml(path)"
        raise ScenarioError(says, argument="scenario")
    return value
