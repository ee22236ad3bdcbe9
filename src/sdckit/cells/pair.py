"""`Pair`: original, releases, control and population, each opened once, with a joint coding of each column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.as_cells import columns_in_memory, with_plain_numbers
from sdckit.cells.packing import SharedGroups, group_codes, group_files, made_once
from sdckit.cells.plans.count_cells import Beside, TooManyCellsError, bytes_of_cells, sizes_of
from sdckit.cells.plans.lazy import ROWS, LazyCells, PlanCells, TooMuchError, check_collected
from sdckit.cells.plans.pair_cells import are_joined, can_count, check_ids, check_records, count_file, count_together
from sdckit.cells.plans.spark_words import WordsHere, words_once
from sdckit.cells.shared_coding import SharedCoding, share_coding
from sdckit.data import arguments, frames as data_frames, nearest
from sdckit.data.columns import code_column, days_values, first_rows, float_values
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.grouping import places_among

# How a column of the original was recoded before it is compared with a release.


Of = TypeVar("Of")
Wanted: TypeAlias = "Mapping[str, Sequence[str]]"  # columns by what they are asked for
Source: TypeAlias = Literal["recipe", "log", "recognised"]
IN_BANDS = "numbers in bands"  # a kind of recoding
IN_STEPS = f"{IN_BANDS} cut in equal steps"  # from the smallest to the largest: who has two edges reckons both


@dataclass(frozen=True)
class Recoded:
    """A column of the original that was recoded in the same way as in the release.

    `kind`: the recoding in words, without values; `source`: how it is known (from the recipe, from its log, or
    recognised from the two files).
    """

    column: str
    kind: str
    source: Source


Order = Ints | None
CONTROL = "the control file"  # in messages
ROW = "row of the original"  # column: the place of the row, from 0, where a log tells it; it does not go out
WAS = "sdckit__was_"  # before the name of a column: its values before they were recoded, on an engine
FIXED = "the files and the id are fixed by the pair given; leave them out"


@dataclass(frozen=True, eq=False)
class Pair:
    """An original and one or more releases of it, opened once and measured many times.

    Attributes
    ----------
    original : narwhals.DataFrame
    released : tuple of narwhals.DataFrame
    aligned : bool
        Whether row i of each release was made from row i of the original (`codes` and `numbers` are in
        the original's order then).
    id : str or None
        The column that says which row belongs to which.
    brought : bool
        Whether the original came from a plan: `records` are a PyArrow table then.
    control : narwhals.DataFrame or None
        People of the same kind who were never used to make a release; only attacks look at them.
    population : narwhals.DataFrame, narwhals.LazyFrame or None
        The people that the original is a part of.
    raw : narwhals.DataFrame or None
        The original before it was recoded as the release is, in the same order of rows; None where nothing was.
    recoded : tuple of Recoded
        What was done to which of its columns.
    times : tuple of ndarray, int64, or None
        Of files that an engine counted: records of each row of each file, since equal records are one row here; None
        where every row is a record.
    """

    original: nw.DataFrame[Any]
    released: tuple[nw.DataFrame[Any], ...]
    aligned: bool
    id: str | None
    brought: bool
    orders: tuple[Order, ...]
    control: nw.DataFrame[Any] | None = None
    population: data_frames.Frame | None = None
    raw: nw.DataFrame[Any] | None = None
    recoded: tuple[Recoded, ...] = ()
    times: tuple[Ints, ...] | None = field(default=None, repr=False)
    beside: nw.LazyFrame[Any] | None = field(default=None, repr=False)  # a recoded plan, old values under WAS
    source: Pair | None = field(default=None, repr=False)  # of a recoded plan: the pair before any column was read
    plans: tuple[data_frames.Frame, ...] = field(default=(), repr=False)  # what was brought, with all of its columns
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    with_control: dict[Any, Any] = field(default_factory=dict, repr=False)  # where the control file counts

    @property
    def frames(self) -> tuple[nw.DataFrame[Any], ...]:
        """Original and releases."""
        return (self.original, *self.released)

    @property
    def n(self) -> int:
        """Records of the original."""
        return self._sizes[0]

    @property
    def m(self) -> int:
        """Releases."""
        return len(self.released)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Records of each release."""
        return self._sizes[1:]

    @property
    def _sizes(self) -> tuple[int, ...]:
        if self.times is not None:
            return tuple(int(times.sum()) for times in self.times)
        if not any(map(data_frames.is_lazy, self.frames)):
            return tuple(map(len, self.frames))
        return made_once(self.memo, ("sizes",), lambda: tuple(map(data_frames.count_records, self.frames)))

    def mean(self, values: Values, among: Bools | None = None) -> float:
        """The mean over the records of the original, or `among` some, of what its rows have; NaN where there is none.

        >>> import polars as pl
        >>> pair = replace(open_files(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [1]})), times=(np.array([3, 1]),))
        >>> pair.mean(np.array([1.0, 0.0]))
        0.75
        """
        times = None if self.times is None else self.times[0]
        if among is not None:
            values, times = values[among], None if times is None else times[among]
        if len(values) == 0:
            return math.nan
        return float(values.mean()) if times is None else float(values @ times) / float(times.sum())

    def by_record(self, values: Values) -> Values:
        """What the rows of the original have, for each of its records; in no order where an engine counted them."""
        return values if self.times is None else np.repeat(values, self.times[0], axis=-1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files in messages, the original first."""
        if self.m == 1:
            return ("the original", "the release")
        return ("the original", *(f"release {j + 1}" for j in range(self.m)))

    def shared_columns(self, without: Sequence[str | None] = ()) -> tuple[list[str], list[str]]:
        """Columns that original and all releases have, in the original's order; and columns of only some of them."""
        names = [
            [name for name in data_frames.column_names(frame) if name not in (self.id, *without)]
            for frame in self.frames
        ]
        both = [name for name in names[0] if all(name in other for other in names[1:])]
        return both, list(dict.fromkeys(name for columns in names for name in columns if name not in both))

    def column(self, name: str, file: int = 0) -> nw.Series[Any]:
        """A column of a file, 0 being the original, as it is stored."""
        return self.frames[file].get_column(name)

    def codes(self, name: str, *, control: bool = False) -> SharedCoding:
        """A column as categories with a joint coding of all files; with `control`, the control file comes last.

        Raises
        ------
        ColumnError
            Its values cannot be compared (text in one file, numbers in another).
        DataError
            A file holds mixed types or lists in it.
        """
        if ("codes", name) not in self.memo:
            coded = [code_column(self.column(name, file)) for file in range(self.m + 1)]
            shared = share_coding(name, [(column, column.codes()) for column in coded], self.names)
            self.memo["codes", name] = replace(shared, codes=self._ordered(shared.codes), times=self.times)
        coding: SharedCoding = self.memo["codes", name]
        if not control or self.control is None:
            return coding
        if ("codes", name) not in self.with_control:
            own = code_column(self.control.get_column(name))
            self.with_control["codes", name] = coding.with_file(own, (*self.names, CONTROL))
        joint: SharedCoding = self.with_control["codes", name]
        return joint

    def numbers(self, name: str, role: str = "numeric") -> tuple[Floats, ...]:
        """A column as numbers in original and releases, NaN where missing.

        Raises
        ------
        DataError
            A file holds no numbers in it; or nothing but missing values.
        """

        def read(series: nw.Series[Any], label: str) -> Floats:
            try:
                values = float_values(series, role)
            except DataError as error:
                raise DataError(f"{label}: {error}") from None
            if np.isnan(values).all():
                raise DataError(f"{label}: {role} {name!r} has no value at all")
            if np.isinf(values).any():
                where = first_rows(np.isinf(values)) if self.times is None else "some records"
                raise DataError(f"{label}: {role} {name!r} is infinite in {where}")
            return values

        return self._floats("numbers", name, read)

    def days(self, name: str) -> tuple[Floats, ...]:
        """A column of numbers, dates or times (in days) in every file, the control last; NaN where missing."""
        kind = "numbers" if ("numbers", name) in self.memo else "days"
        per_file = self._floats(kind, name, lambda series, label: days_values(series, file=label))
        if self.control is None:
            return per_file
        if ("days", name) not in self.with_control:
            self.with_control["days", name] = days_values(self.control.get_column(name), file=CONTROL)
        return (*per_file, self.with_control["days", name])

    def _floats(self, kind: str, name: str, read: Callable[[nw.Series[Any], str], Floats]) -> tuple[Floats, ...]:
        files = (read(self.column(name, file), label) for file, label in enumerate(self.names))
        return made_once(self.memo, (kind, name), lambda: self._ordered(list(files)))

    def _ordered(self, files: Sequence[Values]) -> tuple[Values, ...]:
        """Values of original and releases, the rows in the original's order if they are matched by an id."""
        orders = zip(files, (None, *self.orders), strict=True)
        return tuple(values if order is None else values[order] for values, order in orders)

    def groups(self, names: Sequence[str], *, control: bool = False) -> SharedGroups:
        """Records of all files grouped by some columns as categories; without columns all are in one group."""
        sizes = [len(frame) for frame in self.frames]
        memo = self.memo
        if control and self.control is not None:
            sizes.append(len(self.control))
            memo = self.with_control
        codes = (self.codes(name, control=control).codes for name in names)
        return made_once(memo, ("groups", tuple(names)), lambda: group_files(list(codes), sizes, self.times))

    def known_groups(self, names: Sequence[str]) -> SharedGroups | None:
        """What `groups` gives where it takes little: it was made before."""
        return self.memo.get(("groups", tuple(names)))

    def once(self, mark: tuple[Any, ...], make: Callable[[], Of]) -> Of:
        """What was made of these files under a mark before; else it is made and kept."""
        return made_once(self.memo, mark, make)

    def records_by_id(self, plans: Sequence[nw.LazyFrame[Any]]) -> list[int]:
        """The records of each file, which is on an engine; looked at once whether the id names each row once in it.

        `plans`: the files, or others with the same ids. Raises DataError: an id that is missing or repeated.
        """
        return self.once(("ids",), lambda: check_ids(plans, str(self.id), self.names))

    def parts(self) -> Iterator[Pair]:
        """Files whose equal keys are together: this pair by itself, or one after the other where cells are in parts."""
        yield self

    def group_labels(self, names: Sequence[str], *, control: bool = False) -> dict[int, tuple[str, ...]]:
        """Labels of each group of `groups` that occurs in the original, by its number."""
        numbers, first = np.unique(self.groups(names, control=control).of_row[0], return_index=True)
        columns = []
        for name in names:
            coding = self.codes(name, control=control)
            labels = coding.labels()
            columns.append([labels[code] for code in coding.codes[0][first].tolist()])
        return dict(zip(numbers.tolist(), zip(*columns, strict=True), strict=True))

    def identical(self, names: Sequence[str]) -> tuple[bool, ...]:
        """For each release whether some columns are identical to those of the original, row by row.

        Rows of files that an engine counted one by one are in no order, so none is.
        """
        if self.times is not None and not self.aligned:
            return (False,) * self.m
        first, *others = zip(*(self.codes(name).codes for name in names), strict=True)
        return tuple(
            len(other[0]) == len(first[0]) and all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
            for other in others
        )

    def records(
        self, columns: Mapping[str, Any], *, rows: Ints | None = None, prefix: str = "",
        show: Sequence[str] = (),
    ) -> Any:  # fmt: skip
        """Arrays as a frame of the original's engine, one row per record (or per record in `rows`).

        `show`: columns of the original to put before them, after the id.

        Raises
        ------
        ColumnError
            A result column has the name of the id, or of a column to show.
        """
        if self.times is not None:
            here, cell = self.records_here()
            return here.records({name: values[cell] for name, values in columns.items()}, prefix=prefix, show=show)
        named = {prefix + name: values for name, values in columns.items()}
        if self.id is not None and self.id.casefold() in {name.casefold() for name in named}:
            raise ColumnError(f"id {self.id!r} has the name of a result column; give prefix='...'")
        if clash := [name for name in show if name in named]:
            raise ColumnError(f"{clash[0]!r} is a column and a result; give prefix='...'")
        source = self.original if rows is None else self.original[rows.tolist()]
        first = [*([] if self.id is None else [self.id]), *(name for name in show if name != self.id)]
        return data_frames.result_frame(named, source, carry=first)

    def records_here(self) -> tuple[Pair, Ints]:
        """Of files that an engine counted: the same with the records themselves here, and the row here of each.

        Raises DataError: more values than may be brought.
        """
        if ("records",) not in self.memo:
            names = tuple(self.original.columns)
            here = read_pair(replace(self, times=None, memo={}), {"variables": names}, aligned=self.aligned, again=True)
            columns = []
            for name in names:
                for j, label in enumerate(self.names if self.aligned else self.names[:1]):
                    both = [code_column(pair.frames[j].get_column(name)) for pair in (self, here)]
                    sides = [(column, column.codes()) for column in both]
                    mine, theirs = share_coding(name, sides, (label, label)).codes
                    order = None if j == 0 else here.orders[j - 1]
                    columns.append(np.concatenate([mine, theirs if order is None else theirs[order]]))
            k = len(self.original)
            group = group_codes(columns, k + len(here.original)).of_row
            self.memo["records",] = here, places_among(group[:k], int(group.max()) + 1)[group[k:]]
        return self.memo["records",]  # type: ignore[no-any-return]

    def table(self, columns: Mapping[str, Any]) -> Any:
        """Plain values as a frame of the original's engine."""
        return data_frames.frame_of(columns, self.backend)

    @property
    def backend(self) -> Any:
        """The library of small frames about these files: the original's, of plans PyArrow."""
        return "pyarrow" if data_frames.is_lazy(self.original) else self.original.implementation


def released_files(released: Any) -> list[Any]:
    """The released files as a list; of what a protection method returned (`Protected`) the files it made.

    >>> released_files("a"), released_files(("a", "b"))
    (['a'], ['a', 'b'])
    """
    several = isinstance(released, (list, tuple)) and not _is_protected(released)
    files: list[Any] = []
    for part in released if several else [released]:
        made = part.data if _is_protected(part) else part
        files += made if made is not part and isinstance(made, list) else [made]
    return files


def _is_protected(file: Any) -> bool:
    return bool(getattr(type(file), "is_protected", False))  # of the class: a frame may have a column of this name


def open_files(
    original: Any, released: Any = None, control: Any = None, population: Any = None, *, id: str | None = None
) -> Pair:
    """Open each file of a run; lazy frames are not collected yet, which `open_pair` does for the columns needed.

    A pair given as the original is returned, with the control file added if it had none.
    """
    arguments.column_or_none(id, "id")
    if isinstance(original, Pair):
        if released is not None or population is not None or (id is not None and id != original.id):
            raise DataError(FIXED)
        if control is None:
            return original
        if original.control is not None:
            raise DataError(FIXED)
        return replace(original, control=_open_file(control, id), with_control={})  # type: ignore[arg-type]
    files = released_files(released)
    if not files:
        raise DataError("released= is an empty list; give at least one released file", argument="released")
    if files[0] is None:
        raise DataError("released= is missing: give the released file, or a list of them", argument="released")
    first, *others = [_open_file(file, id) for file in (original, *files)]
    control, population = (None if file is None else _open_file(file, id) for file in (control, population))
    return Pair(first, tuple(others), False, id, False, (None,) * len(files), control, population)  # type: ignore[arg-type]


def _open_file(file: Any, id: str | None) -> data_frames.Frame:
    return with_plain_numbers(data_frames.open_frame(file), () if id is None else (id,))  # type: ignore[no-any-return]


def open_pair(
    original: Any, released: Any = None, control: Any = None, population: Any = None, *, categories: Wanted,
    numeric: Wanted | None = None, unread: Wanted | None = None, also: Sequence[str] = (), aligned: bool = False,
    id: str | None = None, attack: bool = False, counted: bool = False,
) -> Pair:  # fmt: skip
    """Open an original and its releases, and check both before any work starts.

    `original`: a pair opened before is used again (`released`, one file or m, is left out then). `control`: records
    of the same kind that were never used to make a release, for the attacks on this pair. `population`: the people
    that the original is a part of. `categories`: columns compared for equality, by role (the role is named in
    messages). `numeric`: columns read as numbers, by role. `unread`: columns of which it is not known yet what they
    are compared as: only brought into memory. `also`: columns of the original alone.
    `aligned`: whether the measure needs row i of a release
    to be made from row i of the original. `id`: column that says which rows belong together, instead of their
    position; carried along in `.records`. `attack`: whether the control file is compared too; unless `aligned`, the
    id is asked of the original alone then. `counted`: whether the measure takes equal records as one row with the
    number of them (`Pair.times`), so that files on an engine are counted there and only their cells come here; where
    that cannot be, the records come. Raises ColumnError, DataError: everything in which the files do not fit,
    at once: absent columns, values that cannot be compared, different numbers of rows, an id that is missing,
    repeated or not the same in both.

    >>> import polars as pl
    >>> pair = open_pair(pl.DataFrame({"x": ["a", "b"]}), pl.DataFrame({"x": ["b", "b"]}), categories={"keys": ["x"]})
    >>> [codes.tolist() for codes in pair.codes("x").codes], pair.identical(["x"])
    ([[1, 2], [2, 2]], (False,))
    """
    columns: dict[str, Sequence[str]] = {**(unread or {}), **categories, **(numeric or {})}
    opened = open_files(original, released, control, population, id=id)
    pair = count_pair(opened, columns, aligned=aligned) if counted and not also else None
    if pair is None:
        pair = read_pair(
            opened, columns, also=also, aligned=aligned, control=attack or control is not None, attack=attack
        )
    faults = []
    for role in (*categories, *(numeric or {})):
        for name in columns[role]:
            try:
                if role in categories:
                    pair.codes(name, control=attack)
                else:
                    pair.numbers(name, role)
            except SdcError as error:
                faults.append(error)
    if faults:
        messages = "; ".join(dict.fromkeys(str(fault) for fault in faults))
        raise (ColumnError if isinstance(faults[0], ColumnError) else DataError)(messages) from None
    return pair


def count_pair(opened: Pair, columns: Wanted, *, aligned: bool) -> Pair | None:
    """The pair as the cells that engines have counted of its files; None where no file is on one, or it cannot be.

    Rows that belong together are joined by the id on the one engine that has them all; other files are counted one by
    one, and a file in memory stays as it is. Raises ColumnError: a column that a file has not; DataError: no records,
    an id that does not name each row once.
    """
    lazy: list[Any] = [frame for frame in opened.frames if data_frames.is_lazy(frame)]
    names = tuple(dict.fromkeys(name for some in columns.values() for name in some))
    if not lazy or not names or opened.aligned or (aligned and (opened.id is None or len(lazy) <= opened.m)):
        return None
    own = {**columns, "id": (str(opened.id),)} if aligned else columns
    check_present([(frame, own, label) for frame, label in zip(opened.frames, opened.names, strict=True)])
    plans: list[Any] = list(opened.frames)
    for frame in lazy:
        data_frames.check_plan_names(frame, names)
    known: list[Pair] = opened.memo.setdefault(("counted", aligned), [])
    joined: list[Pair] = [] if aligned else opened.memo.get(("counted", True), [])
    if (pair := _counted_before(known, joined, names)) is not None:
        if pair.control is opened.control and pair.population is opened.population:
            return pair
        return replace(pair, control=opened.control, population=opened.population, with_control={})
    if not can_count(lazy, names) or (aligned and not are_joined(plans, str(opened.id))):
        return None
    refused: set[tuple[str, ...]] = opened.memo.setdefault(("refused", aligned), set())
    try:
        if names in refused:  # counting them again would take another pass
            raise TooManyCellsError
        frames, times = _together(opened, plans, names) if aligned else _one_by_one(opened, names)
    except TooManyCellsError:
        refused.add(names)
        for size in opened._sizes:
            check_collected(size, len(names), lazy[0], len(opened.frames))
        return None
    pair = replace(
        opened, original=frames[0], released=tuple(frames[1:]), aligned=aligned, brought=True, times=times,
        plans=opened.plans or opened.frames, memo={}, with_control={},
    )  # fmt: skip
    known.append(pair)
    return pair


def _counted_before(known: list[Pair], joined: list[Pair], names: Sequence[str]) -> Pair | None:
    """A pair counted by these columns, or the smallest one counted by more of them; its cells added up, if it can be.

    Rows that belong together stay as they are: few measures ask for them, and most of them for all columns. `joined`:
    pairs of such rows, of which each file by itself follows.
    """
    finer = [pair for pair in (*known, *joined) if set(names) <= set(pair.original.columns)]
    if not finer:
        return None
    pair = min(finer, key=lambda pair: len(pair.original.columns))
    if pair in known and (pair.aligned or len(pair.original.columns) == len(names)):
        return pair
    try:
        # with more combinations than cells, adding these up would hardly spare any
        if pair in known and math.prod(pair.codes(name).n_levels + 1 for name in names) > max(map(len, pair.frames)):
            return pair
        known.append(_coarser(pair, names))
    except SdcError:
        return pair  # values that do not compare: all of them are told of at once by `open_pair`
    return known[-1]


def _coarser(finer: Pair, names: Sequence[str]) -> Pair:
    """The cells of fewer columns, added up from those of more; neither counted nor coded again."""
    groups = finer.groups(names)
    present = [np.flatnonzero(size) for size in groups.size]
    rows = [places_among(of_row, groups.n_groups)[own] for of_row, own in zip(groups.of_row, present, strict=True)]
    times = tuple(size[own] for size, own in zip(groups.size, present, strict=True))

    def of(per_file: Sequence[Codes]) -> tuple[Codes, ...]:
        return tuple(values[own] for values, own in zip(per_file, rows, strict=True))

    memo: dict[Any, Any] = {}
    for name in names:
        coding = finer.codes(name)
        memo["codes", name] = replace(coding, codes=of(coding.codes), times=times)
    for key, value in finer.memo.items():
        if key[0] == "groups" and set(key[1]) <= set(names):
            memo[key] = SharedGroups(of(value.of_row), value.size, times)
    frames = [frame.select(*names)[own] for frame, own in zip(finer.frames, rows, strict=True)]
    return replace(
        finer, original=frames[0], released=tuple(frames[1:]), aligned=False, times=times, memo=memo, with_control={}
    )


def _together(opened: Pair, plans: list[Any], names: Sequence[str]) -> tuple[Sequence[nw.DataFrame[Any]], Any]:
    beside = Beside(1, _held(opened))
    words = words_once(opened.memo, plans, names, str(opened.id), lambda: opened._sizes, beside)
    if words is not None:
        files, times = words.together(names, plans[0], beside)
    else:
        sizes = opened.records_by_id(plans)
        check_records(sizes, opened.names)
        files, times = count_together(plans, names, str(opened.id), opened.names, sizes, beside)
    return files, (times,) * len(files)


def _one_by_one(opened: Pair, names: Sequence[str]) -> tuple[Sequence[nw.DataFrame[Any]], Any]:
    sizes, beside = opened._sizes, Beside(len(opened.frames), _held(opened))
    check_records(sizes, opened.names)
    words: list[WordsHere] = [own for own in opened.memo.get(("words",), []) if own.has(names)]
    counted = []
    for file, (frame, size) in enumerate(zip(opened.frames, sizes, strict=True)):
        if not isinstance(frame, nw.LazyFrame):
            counted.append((frame.select(*names), np.ones(size, np.int64)))
            continue
        if words:
            counted.append(words[0].alone(file, names, frame, beside))
            continue
        rows = next((rows.frame for rows in opened.memo.get((ROWS, file), []) if set(rows.by) == set(names)), None)
        counted.append(
            count_file(frame, names, size, beside) if rows is None else (rows.select(*names), sizes_of(rows))
        )
    files, times = zip(*counted, strict=True)
    return files, times


def keep_rows(opened: Pair, file: int, cells: Any) -> None:
    """Keep what an engine counted of a file by itself, the original being 0, for the cells of all files.

    What does not fit by itself fits no better beside others.
    """
    # Spark brings rows as words.
    if isinstance(cells, PlanCells) and cells.too_many and not data_frames.on_spark(cells.frame):
        opened.memo.setdefault(("refused", False), set()).add(cells.too_many)
    if isinstance(cells, LazyCells):
        opened.memo.setdefault((ROWS, file), []).append(cells.counted)


def _held(opened: Pair) -> int:
    """Bytes of the cells of these files that have been counted before, and stay."""
    known: list[Pair] = [pair for aligned in (False, True) for pair in opened.memo.get(("counted", aligned), ())]
    return sum(bytes_of_cells(len(frame), len(frame.columns)) for pair in known for frame in pair.frames)


def rows_belong(opened: Pair, aligned: bool | None, scenario: Scenario | None) -> bool:
    """Whether rows of the files belong together: by an id, as the pair says, as `aligned` does, else the scenario."""
    declared = scenario is not None and scenario.aligned
    return opened.aligned or opened.id is not None or (declared if aligned is None else aligned)


def read_pair(
    opened: Pair, columns: Wanted, *, also: Sequence[str] = (), aligned: bool,
    control: bool = False, attack: bool = False, again: bool = False,
) -> Pair:  # fmt: skip
    """The first half of `open_pair`: columns in memory and rows aligned, values not checked yet.

    `again`: the records of a pair that an engine counted are read from its plans.
    """
    if again:
        original, *released = opened.plans
        opened = replace(opened, original=original, released=tuple(released), aligned=False)  # type: ignore[arg-type]
    pair = _read(opened, columns, also=also, aligned=aligned, control=control, attack=attack)
    return _aligned(pair) if aligned and not pair.aligned else pair


def _read(pair: Pair, columns: Wanted, *, also: Sequence[str], aligned: bool, control: bool, attack: bool) -> Pair:
    """The pair with these columns in memory; itself if there is nothing to read."""
    own = {**columns, **({"id": (pair.id,)} if pair.id is not None and pair.times is None else {})}
    files: list[tuple[Any, Wanted, str]] = [
        (frame, columns if attack and j and not aligned else own, label)
        for j, (frame, label) in enumerate(zip(pair.frames, pair.names, strict=True))
    ]
    if also:
        files[0] = (pair.original, {**own, "by": also}, pair.names[0])
    if control and pair.control is not None:
        files.append((pair.control, columns, CONTROL))
    check_present(files)
    raw, beside = pair.raw, pair.beside
    first: Any = pair.original if raw is None or not data_frames.is_lazy(raw) else raw
    if beside is None or not data_frames.is_lazy(pair.original):
        read = [_in_memory(*file, len(files)) for file in files]
    else:  # in one reading, so that the rows are in one order
        wanted = list(dict.fromkeys(name for some in files[0][1].values() for name in some))
        gone = [name for name in wanted if WAS + name in data_frames.column_names(beside)]
        named = [*wanted, *(WAS + name for name in gone)]
        whole, _ = _in_memory(beside, {"variables": named}, pair.names[0], len(files))
        raw = whole.select(*(nw.col(WAS + name if name in gone else name).alias(name) for name in wanted))
        read = [(whole.select(*wanted), True), *(_in_memory(*file, len(files)) for file in files[1:])]
    from_plan = pair.brought or any(brought for _, brought in read)
    if aligned and not pair.aligned and pair.id is None and from_plan:
        raise DataError("rows of a plan have no order: give id=, the column that says which rows belong together")
    if all(frame is file[0] for (frame, _), file in zip(read, files, strict=True)):
        return pair
    frames = [frame for frame, _ in read]
    return replace(
        pair, original=frames[0], released=tuple(frames[1 : pair.m + 1]), brought=pair.brought or read[0][1],
        raw=raw, beside=None if read[0][1] else beside,
        source=pair.source or (pair if beside is not None else None),
        plans=pair.plans or ((first, *pair.released) if any(come for _, come in read) else ()),
        control=frames[-1] if len(frames) > pair.m + 1 else pair.control,
        # of what is read again from a plan the rows may come in another order
        memo={} if any(brought for _, brought in read[: pair.m + 1]) else pair.memo,
    )  # fmt: skip


def _in_memory(frame: Any, wanted: Wanted, label: str, files: int) -> tuple[nw.DataFrame[Any], bool]:
    try:
        return columns_in_memory(frame, dict(wanted), files)
    except DataError as error:
        raise (TooMuchError if isinstance(error, TooMuchError) else DataError)(f"{label}: {error}") from None


def check_present(files: Sequence[tuple[Any, Wanted, str]]) -> None:
    """Raise one error for all absent columns of all files."""
    faults = []
    for frame, columns, label in files:
        present = data_frames.column_names(frame)
        faults += [
            f"{label} has no column {name!r} ({role}); {nearest.did_you_mean(str(name), present)}"
            for role, names in columns.items()
            for name in dict.fromkeys(names)
            if name not in present
        ]
    if faults:
        raise ColumnError("; ".join(faults))


def _aligned(pair: Pair) -> Pair:
    if pair.id is not None:
        return replace(pair, aligned=True, orders=_orders(pair), memo={}, with_control={})
    if wrong := [
        f"{label} has {size} rows" for label, size in zip(pair.names[1:], pair.sizes, strict=True) if size != pair.n
    ]:
        raise DataError(
            f"{'; '.join(wrong)}, the original {pair.n}: rows must belong together one by one; give files of equal "
            "length, or id=, the column that says which rows belong together"
        )
    return replace(pair, aligned=True)


def _orders(pair: Pair) -> tuple[Order, ...]:
    """For each release the index array that puts its rows into the order of the original, by the id."""
    id = str(pair.id)
    shared = replace(pair, orders=(None,) * pair.m, memo={}).codes(id)
    faults = []
    for label, codes in zip(pair.names, shared.codes, strict=True):
        counts = np.bincount(codes, minlength=shared.n_levels + 1)
        if counts[0]:
            faults.append(f"{label}: id {id!r} is missing in {counted(int(counts[0]), 'row')}")
        elif counts.max(initial=0) > 1:
            faults.append(f"{label}: {counted(int((counts > 1).sum()), 'value')} of id {id!r} more than once")
        elif (absent := int((counts[1:] == 0).sum())) > 0:
            faults.append(f"{label}: without {counted(absent, 'value')} of id {id!r} that another file has")
    if faults:
        raise DataError(f"{'; '.join(faults)}; an id names each row once, and the same rows in every file")
    return tuple(places_among(codes, shared.n_levels + 1)[shared.codes[0]] for codes in shared.codes[1:])
