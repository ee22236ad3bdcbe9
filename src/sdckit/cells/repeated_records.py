"""Copies of some records in a file by itself: records that agree in one column more, whatever column that is."""

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.data.columns import code_column
from sdckit.data.frames import Frame
from sdckit.errors import SdcError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import refines

ENOUGH = 50  # pairs that agree in all columns but one: of fewer the share that agrees in that one is not known
AGREEING = 0.8  # of these pairs, in every column; of people in public files at most 0.6 did in the one they differ in
FEWEST = 4  # columns
LARGE, SHARE, FIRST = 200_000, 1 / 16, 1_000  # records; of larger files that share has to look copied first
PER_VALUE = 5  # records that a value stands for which says what another column has


def holds_copies(frame: Frame) -> bool:
    """Whether some records of a file in memory look like copies of others; of a plan nobody looks.

    Two people who are alike in all columns but one, and of whom there are no more, differ in that one more or less
    often, as it depends on the others; copies do in none. A column that follows from another tells nothing.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rng = np.random.default_rng(1)
    >>> people = pl.DataFrame({name: rng.integers(0, 50, 600) for name in "abcd"})
    >>> [holds_copies(open_frame(file)) for file in (people, pl.concat([people, people[:200]]))]
    [False, True]
    """
    if isinstance(frame, nw.LazyFrame):
        return False
    return _looks_copied(_some_of(frame)) and (len(frame) <= LARGE or _looks_copied(frame))


def _some_of(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Of a large file the records with some of the values of one column: pairs that agree in it stay together."""
    if len(frame) <= LARGE:
        return frame
    first = frame.head(FIRST)
    plain = [name for name, kind in frame.schema.items() if not (kind.is_nested() or kind == nw.Object)]
    telling = max(plain, key=lambda name: first.get_column(name).n_unique(), default=None)
    codes = None if telling is None else _codes(frame, telling)
    if codes is None:
        return frame.head(0)
    chosen = np.random.default_rng(0).random(int(codes.max()) + 1) < SHARE
    return frame[np.flatnonzero(chosen[codes]).tolist()]


def _looks_copied(frame: nw.DataFrame[Any]) -> bool:
    columns = [codes for name in frame.columns if (codes := _codes(frame, name)) is not None]
    columns.sort(key=lambda codes: -int(codes.max()))  # people differ soonest where there are many values
    return _twins_agree(columns) and _twins_agree(_not_following(columns))


def _codes(frame: nw.DataFrame[Any], name: str) -> Ints | None:
    """A column as codes; None where it holds no plain values, or a single one."""
    try:
        coded = code_column(frame.get_column(name))
    except SdcError:
        return None
    codes = coded.codes()
    if coded.span > len(codes):  # so that what a code stands for fits into memory
        codes = np.unique(codes, return_inverse=True)[1]
    return codes if len(codes) and codes.min() < codes.max() else None


def _twins_agree(columns: Sequence[Ints]) -> bool:
    """Whether pairs that agree in all columns but one agree in that one, too, whichever it is."""
    if len(columns) < FEWEST:
        return False
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 1 << 64, int(codes.max()) + 1, np.uint64) for codes in columns]
    whole = np.zeros(len(columns[0]), np.uint64)
    for part, codes in zip(parts, columns, strict=True):
        whole += part[codes]  # a sum that wraps around: equal for equal records, and hardly for others
    return all(_share_agreeing(whole, whole - part[codes]) for part, codes in zip(parts, columns, strict=True))


def _share_agreeing(whole: Any, rest: Any) -> bool:
    """Whether of the records that share their `rest` with one other nearly all share the `whole` with it."""
    order = np.argsort(rest)
    ascending = rest[order]
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1], [True]]))
    firsts = starts[:-1][np.diff(starts) == 2]
    return len(firsts) >= ENOUGH and float((whole[order[firsts]] == whole[order[firsts + 1]]).mean()) >= AGREEING


def _not_following(columns: Sequence[Ints]) -> list[Ints]:
    """The columns without those that another one, of which each value has several records, determines."""
    kept = [*columns]
    for own in reversed(columns):
        others = [other for other in kept if other is not own and (int(other.max()) + 1) * PER_VALUE <= len(own)]
        if any(refines(other, own) for other in others):
            kept = [other for other in kept if other is not own]
    return kept
