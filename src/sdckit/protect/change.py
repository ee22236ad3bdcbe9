"""What a protection method gives back: the changed data, and the record of the change."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.cells.plans.lazy import COLLECT_LIMIT
from sdckit.data import arguments
from sdckit.data.columns import code_column, first_rows, float_values
from sdckit.data.frames import open_frame
from sdckit.data.memory import PER_VALUE, bytes_here, what_opens
from sdckit.data.outgoing.only_records import records_of_step
from sdckit.display import Displayed, exact_shown
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.numerics.threads import run
from sdckit.result import SCHEMA_VERSION, json_ready

if TYPE_CHECKING:
    from sdckit.cells.plans.changed_plan import Brought, Changing

# Methods on a lazy frame: the columns needed are collected, and what is made of them is joined to the plan.


NONE: Mapping[str, str] = MappingProxyType({})


def check_room(n: int, columns: Sequence[str], plan: Any = None) -> None:
    """Refuse to collect more values of a lazy frame than `COLLECT_LIMIT`, or `memory=`, allow; called before any comes.

    Raises DataError: they are more.
    """
    here = bytes_here(plan)
    most = COLLECT_LIMIT if here is None else min(COLLECT_LIMIT, here // PER_VALUE)
    if n * len(columns) > most:
        bounded = most < COLLECT_LIMIT
        opens = what_opens(plan, n * len(columns) / most) if bounded else "or bring the columns into memory yourself"
        raise DataError(
            f"it brings {len(columns)} columns of {n:,} records here, and from a plan at most {most:,} values come; "
            f"treat parts of the file, {opens}"
        )


def check_made(m: int, n: int, n_columns: int) -> None:
    """Refuse to make more than `COLLECT_LIMIT` values in memory.

    Raises DataError: they are more.
    """
    if m * n * n_columns > COLLECT_LIMIT:
        raise DataError(
            f"it makes {n_columns} columns of {n:,} records for each of {m:,} files here, and for a plan at most "
            f"{COLLECT_LIMIT:,} values are made; ask for fewer files or records, or leave columns out"
        )


def with_files(plan: Changing, brought: Brought, made: Any, like: Mapping[str, str] = NONE) -> list[Changing]:
    """The plan with the columns that a method made of those collected: one plan for each table.

    `brought`: the columns collected. `like`: for each new column the one it was made from. A table with another number
    of records replaces all columns.
    """
    files = made if isinstance(made, list) else [made]
    return [plan.with_records(brought, file, like) if len(file) == plan.n else plan.with_others(brought, file)
            for file in files]  # fmt: skip


# Numeric columns: reading and checking them, counting what changed.


def chosen(given: Sequence[str], role: str = "columns") -> tuple[str, ...]:
    """The columns named, one at least.

    Raises `ColumnError`: none, one text instead of a list, or a name twice.

    >>> chosen(["income"])
    ('income',)
    """
    names = arguments.names(given, role) or ()
    if not names:
        raise ColumnError(f"{role}= names no column; name those that shall be changed", argument=role)
    return names


LARGEST = 1e150  # number whose square a floating number holds


def check_squares(name: str, values: Floats) -> None:
    """Raise a `DataError` where a number is infinite, or so large that no squared distance would be finite."""
    if (bad := np.abs(values) > LARGEST).any():
        raise DataError(
            f"column {name!r} holds infinite values ({first_rows(bad)}), or numbers beyond 1e150; "
            "make them missing or limit them"
        )


def numbers(frame: Any, names: Sequence[str], *, constant: str | None = None) -> dict[str, Floats]:
    """Read columns of numbers, NaN where missing.

    `constant`: why a constant column is refused, for the message; None where it is not. Raises `DataError`: text,
    infinite values, no value at all, or equal values where these are refused.
    """
    columns = {name: float_values(frame[name], "column") for name in names}
    for name, values in columns.items():
        check_squares(name, values)
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if np.isnan(low):
            raise DataError(f"column {name!r} has no value at all; leave it out")
        if constant is not None and low == high:
            raise DataError(f"column {name!r} is constant, {constant}; leave it out")
    return columns


def count_changed(before: Mapping[str, Floats], after: Mapping[str, Floats]) -> dict[str, int]:
    """Number of values that differ from before, by column.

    >>> count_changed({"x": np.array([1.0, np.nan, 3.0])}, {"x": np.array([1.0, np.nan, 4.0])})
    {'x': 1}
    """
    return {
        name: int(np.count_nonzero(after[name] != values) - np.count_nonzero(np.isnan(values)))
        for name, values in before.items()
    }


def became_fractions(frame: Any, data: Any, names: Sequence[str]) -> dict[str, str]:
    """A note naming the columns whose data type changed because not all new numbers are whole."""
    made = open_frame(data)
    pairs = [(name, frame[name].dtype, made[name].dtype) for name in names]
    moved = [f"{name} was {before}, is {after}" for name, before, after in pairs if before != after]
    return {"type": "; ".join(moved)} if moved else {}


def no_longer_whole(series: Any, new: Floats, why: str) -> dict[str, str]:
    """The note that a column of whole numbers became one of floats, as some new values are not whole."""
    if series.dtype.is_integer() and not (new == np.round(new)).all():
        return {"type": f"{series.name}: whole numbers became floats, {why}"}
    return {}


# Random numbers: the same from the same generator, on any number of threads.


PIECE = 1 << 18  # numbers drawn by one generator: fixed, so that the draw is the same on every machine


def draw(rng: np.random.Generator, n: int, fill: Callable[[np.random.Generator, Floats], object]) -> Floats:
    """Draw n numbers in pieces, each by a generator of its own, on threads.

    `fill`: ``fill(generator, piece)`` writes the numbers of a piece.

    >>> numbers = draw(np.random.default_rng(1), 3, lambda generator, piece: generator.random(out=piece))
    >>> numbers.shape
    (3,)
    """
    out = np.empty(n)
    starts = range(0, n, PIECE)
    work = list(zip(rng.spawn(len(starts)), starts, strict=True))
    run(lambda part: fill(part[0], out[part[1] : part[1] + PIECE]), work)
    return out


def key(rng: np.random.Generator) -> np.uint64:
    """A random start value for the counter-based random numbers of a kernel."""
    return np.uint64(rng.integers(2**64, dtype=np.uint64))


# Strata: records with equal values in some columns; methods treat each stratum separately.


def strata_rows(frame: Any, names: Sequence[str]) -> list[Ints]:
    """The rows of each stratum, ascending; a missing value is a level of its own.

    The strata stand in the order of their first records.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> [rows.tolist() for rows in strata_rows(open_frame(pl.DataFrame({"s": ["b", "a", "b"]})), ["s"])]
    [[0, 2], [1]]
    """
    if not names:
        return [np.arange(len(frame))]
    groups = group_codes([code_column(frame[name]).codes() for name in names], len(frame))
    rows, edges = order_by_group(groups.of_row, len(groups.size))
    return sorted([rows[a:b] for a, b in itertools.pairwise(edges)], key=lambda part: int(part[0]))


def at_least(k: int, strata: Sequence[Ints], names: Sequence[str], n: int) -> None:
    """Refuse strata with fewer than k records; the error says how many there are, and where."""
    if n < k:
        raise DataError(f"k = {k} records to a group, and the data has {n} in all; lower k")
    if small := [rows for rows in strata if len(rows) < k]:
        where = np.zeros(n, np.bool_)
        where[np.concatenate(small)] = True
        if not names:
            raise DataError(f"k = {k} records to a group, and only {len(small[0])} have a value; lower k")
        raise DataError(
            f"{len(small)} of {len(strata)} strata of {', '.join(names)} have fewer than k = {k} records "
            f"({first_rows(where)}); merge strata or lower k"
        )


COMPLETED = ("parameters", "notes")


@dataclass(frozen=True)
class Change(Displayed):
    """What was changed, and how.

    Attributes
    ----------
    method : str
        The protection method.
    n : int
        Records of the data.
    changed : dict of str to int
        Values changed, by variable.
    parameters : dict
        How the method was called, and what it counted on the way, exactly: for the session and the internal log.
    secret : dict
        What would help to undo it (seed, transition matrices, keys); for the internal log only.
    notes : dict of str to str
        What else a reader must know.
    """

    instead_of_a_frame = "protection methods return data and change: give .data of what was returned"

    method: str
    n: int
    changed: dict[str, int]
    parameters: dict[str, Any] = field(default_factory=dict)
    secret: dict[str, Any] = field(default_factory=dict, repr=False)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def n_changed(self) -> int:
        """Values changed over all variables."""
        return sum(self.changed.values())

    @property
    def given(self) -> dict[str, Any]:
        """Parameters that are arguments of the method, without what it counted."""
        method = getattr(import_module("sdckit"), self.method, None)
        arguments_of = () if method is None else signature(method).parameters
        return {name: value for name, value in self.parameters.items() if name in arguments_of}

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """The change ready for JSON; exact and with what is secret only for an internal log.

        Else counts are rounded and small ones hidden, as in every document: ``{"text": "<5", "value": None, ...}``, and
        of the parameters those are left that are arguments: what the method counted is exact.
        """
        exact = {"n": self.n, "changed": dict(self.changed), "notes": dict(self.notes)}
        parameters = self.parameters if internal else self.given
        document = {"schema_version": SCHEMA_VERSION, "method": self.method, "parameters": json_ready(parameters)}
        if internal:
            return {**document, **exact, "secret": json_ready(self.secret)}
        from sdckit.report.notebook import protected_change

        return {**document, **protected_change(self.n, self.changed, self.notes)}

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import change_html

        return change_html(self.to_dict(internal=exact_shown.get()), exact=exact_shown.get())

    def completed_by(self, count: Callable[[], tuple[dict[str, Any], dict[str, str]]]) -> Change:
        """The same change, with further parameters and notes that are counted when either is read first."""
        change = object.__new__(Change)
        known = {name: value for name, value in self.__dict__.items() if name not in COMPLETED}
        change.__dict__.update(known, _complete=lambda: self._with(*count()))
        return change

    def _with(self, parameters: dict[str, Any], notes: dict[str, str]) -> dict[str, Any]:
        return {"parameters": self.parameters | parameters, "notes": self.notes | notes}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compute the pending parameters and notes on first access."""
            complete = self.__dict__.get("_complete")
            if name not in COMPLETED or complete is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self.__dict__.update(complete())
            self.__dict__.pop("_complete", None)  # another thread may have been as fast
            return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is secret: a pickle travels, and the log is where secrets are kept."""
        return {**{attribute.name: getattr(self, attribute.name) for attribute in fields(self)}, "secret": {}}


class _Pair(NamedTuple):
    data: Any
    change: Change


class Protected(Displayed, _Pair):
    """What every protection method gives back; it unpacks as ``data, change``.

    Given as the released file of a measure it stands for its ``data``.

    Attributes
    ----------
    data : frame
        The changed data, of the caller's engine; a list of frames where several were made. It holds nothing but its
        records: categories in use only, no metadata, nothing beneath missing values.
    change : Change
        What was changed, and how.
    """

    __slots__ = ()
    is_protected: ClassVar[bool] = True  # a measure that takes a released file takes this as its `data`

    def __new__(cls, data: Any, change: Change) -> Protected:
        """Whatever a method made, only its records go on: an unused category tells what was taken out."""
        return super().__new__(cls, records_of_step(data), change)

    @classmethod
    def declared(cls, data: Any, change: Change) -> Protected:
        """For a frame decoded from a declared domain: its categories are the declared ones, whether in use or not."""
        return super().__new__(cls, data, change)

    def _repr_html_(self) -> str:
        return self.change._repr_html_()

    @property
    def instead_of_a_frame(self) -> str:
        """What to give where a frame is asked for."""
        return "give its .data"
