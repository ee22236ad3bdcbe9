"""Original, releases and a control file of people never in them: opened together, one coding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.shared_coding import EXACT, NANOSECONDS, SharedCoding
from sdckit.data import arguments
from sdckit.data.columns import first_rows, to_arrow
from sdckit.data.frames import open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError, SdcError

__all__ = ["WithControl", "is_ordered", "open_with_control", "ordered_values", "shared_columns"]

ORDERED = {"numbers", "dates", "times", "durations"}
DAY = 86_400 * 10**9
DAYS_BITS = 32  # a date of 32 bits counts days, one of 64 milliseconds


@dataclass(frozen=True, eq=False)
class WithControl:
    """The files of an attack.

    Attributes
    ----------
    pair : Pair
        Original and releases; the control file, where there is one, stands behind the releases.
    has_control : bool
        Whether there is one.
    overlap : int
        Records of it equal to one of the original, where that was found to be more than coincidence.
    """

    pair: Pair
    has_control: bool
    overlap: int = 0

    @property
    def m(self) -> int:
        """Releases."""
        return self.pair.m - self.has_control

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.pair.n

    @property
    def n_control(self) -> int:
        """Records of the control file; 0 without one."""
        return self.pair.sizes[-1] if self.has_control else 0

    @property
    def names(self) -> tuple[str, ...]:
        """What the files are called in messages, in their order."""
        releases = ("the release",) if self.m == 1 else tuple(f"release {j + 1}" for j in range(self.m))
        return ("the original", *releases, *(("the control file",) if self.has_control else ()))

    def codes(self, name: str) -> SharedCoding:
        """A column as categories, coded alike in every file."""
        return self.pair.codes(name)

    def ordered(self, name: str) -> bool:
        """Whether a column holds numbers, dates or times with exact differences: no whole numbers of 16 digits."""
        return is_ordered(self.codes(name)) and not self._too_long(name)

    def _too_long(self, name: str) -> bool:
        columns = [frame.get_column(name) for frame in (self.pair.original, *self.pair.released)]
        ends = [(one.min(), one.max()) for one in columns if one.dtype.is_integer() and one.count()]
        return any(abs(int(end)) > EXACT for pair in ends for end in pair)

    def numbers(self, name: str) -> tuple[NDArray[np.float64], ...]:
        """A column of numbers, dates or times (in days) as floats in every file, NaN where missing.

        Raises
        ------
        DataError
            An infinite value.
        """
        if ("floats", name) not in self.pair.memo:
            frames = (self.pair.original, *self.pair.released)
            found = tuple(
                ordered_values(frame.get_column(name), file=label)
                for label, frame in zip(self.names, frames, strict=True)
            )
            self.pair.memo["floats", name] = found
        numbers: tuple[NDArray[np.float64], ...] = self.pair.memo["floats", name]
        return numbers


def is_ordered(coding: SharedCoding) -> bool:
    """Whether values have distances: numbers, dates, times; not text, not true and false."""
    return coding.kind.partition(" with ")[0] in ORDERED


def shared_columns(
    original: Any, released: Any, control: Any = None, *, without: Sequence[str | None] = ()
) -> tuple[list[str], list[str]]:
    """Columns of the original that every release has, and the names in some of the files only; but for `without`.

    Raises
    ------
    ColumnError
        The control file lacks a shared column; or nothing is shared.
    DataError
        No release.

    Examples
    --------
    >>> import polars as pl
    >>> shared_columns(pl.DataFrame({"a": [1], "b": [2]}), pl.DataFrame({"b": [1]}))
    (['b'], ['a'])
    """
    if isinstance(original, Pair):
        files: list[Any] = [original.original, *original.released]
    else:
        releases = released if isinstance(released, (list, tuple)) else [released]
        if len(releases) == 0 or releases[0] is None:
            raise DataError(
                "released= is missing: give the released file, or a list of them", argument="released"
            )
        files = [open_frame(file) for file in (original, *releases)]
    names = [[name for name in frame.collect_schema().names() if name not in without] for frame in files]
    both = [name for name in names[0] if all(name in other for other in names[1:])]
    if not both:
        raise ColumnError("original and release have no column in common")
    if control is not None:
        present = open_frame(control).collect_schema().names()
        if absent := [name for name in both if name not in present]:
            raise ColumnError(
                f"the control file has no column {absent[0]!r}; {did_you_mean(str(absent[0]), present)}"
            )
    every = dict.fromkeys(name for one in names for name in one)
    return both, [name for name in every if name not in both]


def open_with_control(
    original: Any,
    released: Any,
    control: Any,
    *,
    categories: Mapping[str, Sequence[str]],
    id: str | None = None,
    least: int = 2,
) -> WithControl:
    """Open all files, and check them before any work starts.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        None where a pair is given.
    control : data frame or None
        Records of the same kind that were never used to make a release.
    categories : dict of str to sequence of str
        Columns by role.
    id : str, optional
        Column of the original carried along in records.
    least : int
        Records a file must have.

    Raises
    ------
    ColumnError, DataError
        As `open_pair`, the control file named as such; fewer than `least` records in a file.
    """
    arguments.column_or_none(id, "id")
    if isinstance(original, Pair):
        id = id or original.id
        if released is not None:
            raise DataError("the files are fixed by the pair given; leave released= out")
    elif id is not None:
        _check_id(original, id)
    files: Any = released
    if control is not None:
        releases = original.released if isinstance(original, Pair) else released
        files = [*releases, control] if isinstance(releases, (list, tuple)) else [releases, control]
        if files[0] is None or len(files) == 1:
            raise DataError(
                "released= is missing: give the released file, or a list of them", argument="released"
            )
    try:
        pair = _open(original, files, control, categories, id)
    except SdcError as error:
        renamed = _renamed(str(error), files, control is not None)
        raise type(error)(renamed, argument=error.argument) from None
    found = WithControl(pair, control is not None)
    sizes = (pair.n, *pair.sizes)
    if few := [
        f"{label} has {size} record{'s' * (size != 1)}"
        for label, size in zip(found.names, sizes, strict=True)
        if size < least
    ]:
        raise DataError(f"{'; '.join(few)}: an attack needs two or more in each file")
    return found


def _open(
    original: Any, files: Any, control: Any, wanted: Mapping[str, Sequence[str]], id: str | None
) -> Pair:
    """Open without asking the releases for the id: rows of an attack need not belong together."""
    if isinstance(original, Pair):
        if control is None:
            return open_pair(original, files, categories=wanted)
        pair = _behind(original, files, wanted)
        return pair if id is None else replace(pair, id=id, brought=original.brought)
    pair = open_pair(original, files, categories=wanted)
    if id is None:
        return pair
    carried = open_pair(original, [original], categories={**wanted, "id": [id]})
    return replace(pair, original=carried.original, brought=carried.brought, id=id)


def _behind(pair: Pair, files: Sequence[Any], wanted: Mapping[str, Sequence[str]]) -> Pair:
    """The control file behind the releases of a pair; kept with it, so that one attack after the other codes once.

    Only of a file that is opened already: the caller's own frame may have changed since.
    """
    if not isinstance(files[-1], nw.DataFrame):
        return open_pair(pair.original, files, categories=wanted)
    held = pair.memo.get("with control")
    names = {name for some in wanted.values() for name in some}
    if held is not None and held[0] is files[-1] and names <= set(held[1].released[-1].columns):
        return open_pair(held[1], categories=wanted)
    opened = open_pair(pair.original, files, categories=wanted)
    pair.memo["with control"] = (files[-1], opened)
    return opened


def _check_id(original: Any, id: str) -> None:
    present = open_frame(original).collect_schema().names()
    if id not in present:
        raise ColumnError(f"the original has no column {id!r} (id); {did_you_mean(id, present)}")


def _renamed(message: str, released: Any, has_control: bool) -> str:
    """The control file is the last of the releases to those who opened it."""
    if not has_control:
        return message
    m = len(released) - 1
    message = re.sub(rf"(?<!')\brelease {m + 1}\b(?!')", "the control file", message)
    return re.sub(r"(?<!')\brelease 1\b(?!')", "the release", message) if m == 1 else message


def ordered_values(series: nw.Series[Any], *, file: str) -> NDArray[np.float64]:
    """Numbers, dates or times (in days) as floats, NaN where missing.

    Raises
    ------
    DataError
        An infinite value; the message names the file.
    """
    import pyarrow as pa
    import pyarrow.types as t

    array = to_arrow(series)
    if t.is_dictionary(array.type):
        array = array.dictionary_decode()
    if t.is_temporal(array.type):
        kind = array.type
        unit = getattr(kind, "unit", None) or ("day" if kind.bit_width == DAYS_BITS else "ms")
        stored = array.view(pa.int32() if kind.bit_width == DAYS_BITS else pa.int64())
        return np.asarray(_filled(stored) * (NANOSECONDS[unit] / DAY))
    values = _filled(array)
    if np.isinf(values).any():
        raise DataError(f"{file}: {series.name!r} is infinite in {first_rows(np.isinf(values))}")
    return values


def _filled(array: Any) -> NDArray[np.float64]:
    """Floats with NaN where missing."""
    import pyarrow as pa

    values: NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values
