"""Two files by one key: what the second says of a household, put beside each of its persons."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sdckit.data.files.file_checks import FileHeader, pick_columns
from sdckit.errors import ColumnError, DataError, SdcWarning

if TYPE_CHECKING:
    import polars as pl


Parts = tuple[tuple[str, ...], tuple[str, ...]]


def joined_header(file: FileHeader, other: FileHeader, key: str, *, names: tuple[Path, Path]) -> FileHeader:
    """Give the header of two files joined: the columns of the first, then those that only the second has.

    Raises `ColumnError`: a file has no such key.
    """
    for header, path in zip((file, other), names, strict=True):
        pick_columns(path, header.columns, [key], certain=header.certain)
    more = tuple(name for name in other.columns if name not in file.columns)
    return replace(file, columns=(*file.columns, *more), certain=file.certain and other.certain)


def parts_of(
    file: FileHeader,
    other: FileHeader,
    key: str,
    *,
    columns: Sequence[str] | None,
    identifiers: Sequence[str],
) -> Parts:
    """Give the columns to read of either file: the key in both, and in both what both have."""
    wanted = [
        name
        for name in (dict.fromkeys([*file.columns, *other.columns]) if columns is None else columns)
        if name not in identifiers and name != key
    ]
    first, second = set(file.columns), set(other.columns)
    return (
        (key, *(name for name in wanted if name in first or name not in second)),
        (key, *(name for name in wanted if name in second)),
    )


def join_frames(
    frame: pl.DataFrame, other: pl.DataFrame, key: str, *, names: tuple[str, str], whole: bool = True
) -> pl.DataFrame:
    """Put the columns of `other` beside the records of `frame`, whose order stays.

    `whole`: whether `frame` holds all records of its file.

    Raises
    ------
    DataError
        The key is not of one kind, repeated in `other`, or a record has none there; a column of both differs.

    Warns
    -----
    SdcWarning
        Records of `other` that nobody in `frame` belongs to; they are left out.
    """
    import polars as pl

    places = _places(_key_of(frame, other, key, names), names, key)
    left_out = other.height - places.n_unique()
    if left_out and whole:
        warnings.warn(
            f"{left_out:,} of the {other.height:,} records of {names[1]} belong to no record of {names[0]}; "
            "they are left out",
            SdcWarning,
            stacklevel=2,
        )
    # By another name meanwhile: Polars takes some for a pattern.
    beside = [other[name].alias("x").gather(places).alias(name) for name in other.columns if name != key]
    for one in beside:
        if one.name in frame.columns:
            _check_equal(frame[one.name], one, names)
    return pl.DataFrame([*frame.get_columns(), *(one for one in beside if one.name not in frame.columns)])


def _key_of(
    frame: pl.DataFrame, other: pl.DataFrame, key: str, names: tuple[str, str]
) -> tuple[pl.Series, pl.Series]:

    mine, theirs = frame[key].alias("key"), other[key].alias("key")
    if mine.dtype.is_numeric() != theirs.dtype.is_numeric():
        text, number = names if theirs.dtype.is_numeric() else names[::-1]
        raise DataError(
            f"the key {key!r} is a number in {number} and none in {text}; write it alike in both",
            argument="join_key",
        )
    if mine.dtype == theirs.dtype:
        return mine, theirs
    return mine.cast(kind := _common(mine, theirs)), theirs.cast(kind)


def _common(mine: pl.Series, theirs: pl.Series) -> pl.DataType:
    """A type for the values of both; whole numbers stay whole, since floats join long ids that differ."""
    import polars as pl

    if mine.dtype.is_integer() and theirs.dtype.is_integer():
        return pl.Int128()
    return pl.Float64() if mine.dtype.is_numeric() and theirs.dtype.is_numeric() else pl.String()


def _places(keys: tuple[pl.Series, pl.Series], names: tuple[str, str], key: str) -> pl.Series:
    """The row of the second file for each record of the first."""
    mine, theirs = (one.to_frame() for one in keys)
    known = theirs.with_row_index("row").drop_nulls("key")
    repeated = known.height - known["key"].n_unique()
    if repeated:
        raise DataError(
            f"{names[1]} has the key {key!r} more than once in {repeated:,} records beyond the first; "
            "it needs one record for each (is it the file of persons? that one comes first)",
            argument="join_key",
        )
    places: pl.Series = mine.join(known, on="key", how="left", maintain_order="left")["row"]
    if absent := places.null_count():
        raise DataError(
            f"{absent:,} of the {len(places):,} records of {names[0]} have no record in {names[1]} by {key!r}; "
            "complete it, or take these records out",
            argument="join_key",
        )
    return places


def _check_equal(mine: pl.Series, theirs: pl.Series, names: tuple[str, str]) -> None:
    name, mine, theirs = mine.name, mine.alias("x"), theirs.alias("x")
    if mine.dtype != theirs.dtype:
        kind = _common(mine, theirs)
        mine, theirs = mine.cast(kind), theirs.cast(kind)
    if differ := int(mine.ne_missing(theirs).sum()):
        raise ColumnError(
            f"{names[0]} and {names[1]} both have a column {name!r}, which differs in {differ:,} records; rename "
            "it in one of them"
        )
