"""A release beside its original: the same columns, one coding, rows brought into one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.collect import columns_in_memory
from sdckit.cells.packing import group_codes
from sdckit.cells.shared_coding import SharedCoding, share_coding
from sdckit.data import arguments
from sdckit.data.columns import code_column, first_rows, float_values
from sdckit.data.frames import frame_of, open_frame, result_frame
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError, SdcError

__all__ = ["Pair", "SharedGroups", "open_pair"]

Order = NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class SharedGroups:
    """Records of all files grouped by some columns, with one numbering.

    Attributes
    ----------
    of_row : tuple of ndarray, int32
        Group of each record, file by file, the original first.
    size : tuple of ndarray, int64, shape (K,)
        Records of each file in each group; 0 where a file has none.
    """

    of_row: tuple[NDArray[np.int32], ...]
    size: tuple[NDArray[np.int64], ...]

    @property
    def n_groups(self) -> int:
        """Groups over all files."""
        return len(self.size[0])


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
    """

    original: nw.DataFrame[Any]
    released: tuple[nw.DataFrame[Any], ...]
    aligned: bool
    id: str | None
    brought: bool
    orders: tuple[Order, ...]
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Records of the original."""
        return len(self.original)

    @property
    def m(self) -> int:
        """Releases."""
        return len(self.released)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Records of each release."""
        return tuple(len(frame) for frame in self.released)

    @property
    def names(self) -> tuple[str, ...]:
        """What the files are called in messages, the original first."""
        if self.m == 1:
            return ("the original", "the release")
        return ("the original", *(f"release {j + 1}" for j in range(self.m)))

    def codes(self, name: str) -> SharedCoding:
        """A column as categories, coded alike in every file.

        Raises
        ------
        ColumnError
            Its values cannot be compared (text in one file, numbers in another).
        DataError
            A file holds mixed types or lists in it.
        """
        if ("codes", name) not in self.memo:
            coded = [code_column(frame.get_column(name)) for frame in (self.original, *self.released)]
            shared = share_coding(name, [(one, one.codes()) for one in coded], self.names)
            codes = tuple(
                values if order is None else values[order]
                for values, order in zip(shared.codes, (None, *self.orders), strict=True)
            )
            self.memo["codes", name] = replace(shared, codes=codes)
        found: SharedCoding = self.memo["codes", name]
        return found

    def numbers(self, name: str, role: str = "numeric") -> tuple[NDArray[np.float64], ...]:
        """A column as numbers in every file, NaN where missing.

        Raises
        ------
        DataError
            A file holds no numbers in it; or nothing but missing values.
        """
        if ("numbers", name) not in self.memo:
            found = []
            for label, frame, order in zip(
                self.names, (self.original, *self.released), (None, *self.orders), strict=True
            ):
                try:
                    values = float_values(frame.get_column(name), role)
                except DataError as error:
                    raise DataError(f"{label}: {error}") from None
                if np.isnan(values).all():
                    raise DataError(f"{label}: {role} {name!r} has no value at all")
                if np.isinf(values).any():
                    raise DataError(f"{label}: {role} {name!r} is infinite in {first_rows(np.isinf(values))}")
                found.append(values if order is None else values[order])
            self.memo["numbers", name] = tuple(found)
        numbers: tuple[NDArray[np.float64], ...] = self.memo["numbers", name]
        return numbers

    def groups(self, names: Sequence[str]) -> SharedGroups:
        """Records of all files by some columns as categories; no column puts all into one group."""
        key = ("groups", tuple(names))
        if key not in self.memo:
            ends = np.cumsum([self.n, *self.sizes])
            columns = [np.concatenate(self.codes(name).codes) for name in names]
            groups = group_codes(columns, int(ends[-1]))
            parts = tuple(np.split(groups.of_row, ends[:-1]))
            k = len(groups.size)
            self.memo[key] = SharedGroups(parts, tuple(np.bincount(part, minlength=k) for part in parts))
        found: SharedGroups = self.memo[key]
        return found

    def identical(self, names: Sequence[str]) -> tuple[bool, ...]:
        """For each release whether it has the values of the original, row by row, in some columns."""
        first, *others = zip(*(self.codes(name).codes for name in names), strict=True)
        return tuple(
            len(other[0]) == self.n and all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
            for other in others
        )

    def records(
        self, columns: Mapping[str, Any], *, rows: NDArray[np.int64] | None = None, prefix: str = ""
    ) -> Any:
        """Arrays as a frame of the original's engine, one row per record (or per record in `rows`).

        Raises
        ------
        ColumnError
            A result column has the name of the id.
        """
        named = {prefix + name: values for name, values in columns.items()}
        if self.id is not None and self.id.casefold() in {name.casefold() for name in named}:
            raise ColumnError(f"id {self.id!r} has the name of a result column; give prefix='...'")
        source = self.original if rows is None else self.original[rows.tolist()]
        return result_frame(named, source, carry=self.id)

    def table(self, columns: Mapping[str, Any]) -> Any:
        """Plain values as a frame of the original's engine."""
        return frame_of(columns, self.original.implementation)


def open_pair(
    original: Any,
    released: Any = None,
    *,
    categories: Mapping[str, Sequence[str]],
    numeric: Mapping[str, Sequence[str]] | None = None,
    aligned: bool = False,
    id: str | None = None,
) -> Pair:
    """Open an original and its releases, and check both before any work starts.

    Parameters
    ----------
    original : data frame or Pair
        A pair opened before is used again (`released` is left out then).
    released : data frame or sequence of data frames
        One release, or m of them.
    categories : dict of str to sequence of str
        Columns compared for equality, by role (the role is named in messages).
    numeric : dict of str to sequence of str, optional
        Columns read as numbers, by role.
    aligned : bool
        Whether the measure needs row i of a release to be made from row i of the original.
    id : str, optional
        Column that says which rows belong together, instead of their position; carried along in `.records`.

    Returns
    -------
    Pair

    Raises
    ------
    ColumnError, DataError
        Everything in which the files do not fit, at once: absent columns, values that cannot be compared,
        different numbers of rows, an id that is missing, repeated or not the same in both.

    Examples
    --------
    >>> import polars as pl
    >>> pair = open_pair(pl.DataFrame({"x": ["a", "b"]}), pl.DataFrame({"x": ["b", "b"]}), categories={"keys": ["x"]})
    >>> [codes.tolist() for codes in pair.codes("x").codes], pair.identical(["x"])
    ([[1, 2], [2, 2]], (False,))
    """
    columns: dict[str, Sequence[str]] = {**categories, **(numeric or {})}
    arguments.column_or_none(id, "id")
    if isinstance(original, Pair):
        pair = _reopened(original, released, columns, aligned, id)
    else:
        pair = _opened(original, released, columns, aligned, id)
    faults = []
    for role, names in columns.items():
        for name in names:
            try:
                if role in categories:
                    pair.codes(name)
                else:
                    pair.numbers(name, role)
            except SdcError as error:
                faults.append(error)
    if faults:
        messages = "; ".join(dict.fromkeys(str(fault) for fault in faults))
        raise (ColumnError if isinstance(faults[0], ColumnError) else DataError)(messages) from None
    return pair


def _reopened(
    pair: Pair, released: Any, columns: Mapping[str, Sequence[str]], aligned: bool, id: str | None
) -> Pair:
    if released is not None or (id is not None and id != pair.id):
        raise DataError("the files and the id are fixed by the pair given; leave them out")
    _check_present(pair, columns)
    if aligned and not pair.aligned:
        return _aligned(pair)
    return pair


def _opened(
    original: Any, released: Any, columns: Mapping[str, Sequence[str]], aligned: bool, id: str | None
) -> Pair:
    if released is None:
        raise DataError(
            "released= is missing: give the released file, or a list of them", argument="released"
        )
    files = list(released) if isinstance(released, (list, tuple)) else [released]
    if not files:
        raise DataError("released= is an empty list; give at least one released file", argument="released")
    frames = [open_frame(file) for file in (original, *files)]
    shell = Pair(frames[0], tuple(frames[1:]), aligned, id, False, (None,) * len(files))  # type: ignore[arg-type]
    wanted = {**columns, **({"id": (id,)} if id is not None else {})}
    _check_present(shell, wanted)
    read = [_in_memory(frame, wanted, name) for frame, name in zip(frames, shell.names, strict=True)]
    pair = replace(
        shell, original=read[0][0], released=tuple(frame for frame, _ in read[1:]), brought=read[0][1]
    )
    if aligned and id is None and any(brought for _, brought in read):
        raise DataError(
            "rows of a plan have no order: give id=, the column that says which rows belong together"
        )
    return _aligned(pair) if aligned else pair


def _in_memory(frame: Any, wanted: Mapping[str, Sequence[str]], name: str) -> tuple[nw.DataFrame[Any], bool]:
    try:
        return columns_in_memory(frame, dict(wanted))
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _check_present(pair: Pair, columns: Mapping[str, Sequence[str]]) -> None:
    """Name every absent column of every file at once."""
    faults = []
    for label, frame in zip(pair.names, (pair.original, *pair.released), strict=True):
        present = frame.collect_schema().names()
        faults += [
            f"{label} has no column {name!r} ({role}); {did_you_mean(str(name), present)}"
            for role, names in columns.items()
            for name in dict.fromkeys(names)
            if name not in present
        ]
    if faults:
        raise ColumnError("; ".join(faults))


def _aligned(pair: Pair) -> Pair:
    if pair.id is not None:
        return replace(pair, aligned=True, orders=_orders(pair), memo={})
    wrong = [
        f"{label} has {size} rows"
        for label, size in zip(pair.names[1:], pair.sizes, strict=True)
        if size != pair.n
    ]
    if wrong:
        raise DataError(
            f"{'; '.join(wrong)}, the original {pair.n}: rows must belong together one by one; give files of equal "
            "length, or id=, the column that says which rows belong together"
        )
    return replace(pair, aligned=True)


def _orders(pair: Pair) -> tuple[Order, ...]:
    """For each release its rows in the order of the original, by the id."""
    id = str(pair.id)
    bare = replace(pair, orders=(None,) * pair.m, memo={})
    shared = bare.codes(id)
    faults, orders = [], []
    for label, codes in zip(pair.names, shared.codes, strict=True):
        counts = np.bincount(codes, minlength=shared.n_levels + 1)
        if counts[0]:
            faults.append(f"{label}: id {id!r} is missing in {counts[0]} rows")
        elif counts.max(initial=0) > 1:
            faults.append(f"{label}: {int((counts > 1).sum())} values of id {id!r} occur more than once")
        elif (absent := int((counts[1:] == 0).sum())) > 0:
            faults.append(f"{label}: {absent} values of id {id!r} that another file has are not there")
    if faults:
        raise DataError(f"{'; '.join(faults)}; an id names each row once, and the same rows in every file")
    for codes in shared.codes[1:]:
        row = np.empty(shared.n_levels + 1, np.int64)
        row[codes] = np.arange(len(codes))
        orders.append(row[shared.codes[0]])
    return tuple(orders)
