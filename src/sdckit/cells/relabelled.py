"""Columns whose values are spelt in several ways, or otherwise than in the original, so that figures tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import Frame, collect

TEXTS = (nw.String, nw.Categorical, nw.Enum)
UNKNOWN = 0.05  # of the records with a text that the original does not have: a made file may have some of its domain
OUTSIDE = 0.5  # of the numbers beyond those of the original: noise and rounding move fewer there
MOST = 100_000  # different texts that are brought from an engine


def relabelled(original: Frame, released: Frame, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns with texts that the original spells otherwise, or whose texts or numbers are not its own.

    Whoever compares them finds nobody, though a reader knows that `White` is `white`. Missing values tell nothing.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> before = open_frame(pl.DataFrame({"race": ["white", "black"], "age": [30, 40], "sex": ["f", "m"]}))
    >>> after = open_frame(pl.DataFrame({"race": ["White", "black"], "age": [130, 140], "sex": ["m", "m"]}))
    >>> relabelled(before, after, ["race", "age", "sex"])
    ('race', 'age')
    """
    kinds = [frame.collect_schema() for frame in (original, released)]
    shared = [name for name in names if all(name in known for known in kinds)]
    return tuple(name for name in shared if _differs(original, released, name, [known[name] for known in kinds]))


def spelt_twice(frame: Frame, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns with texts that differ in capitals or blanks alone, which count as different values.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> spelt_twice(open_frame(pl.DataFrame({"ill": ["yes", "Yes "], "job": ["a", "b"]})), ["ill", "job"])
    ('ill',)
    """
    kinds = frame.collect_schema()
    spelt = {name: _texts(frame, name) for name in names if kinds.get(name) in TEXTS}
    return tuple(name for name, own in spelt.items() if len({*map(_bare, own)}) < len(own))


def _differs(original: Frame, released: Frame, name: str, kinds: Sequence[Any]) -> bool:
    if all(kind.is_numeric() for kind in kinds):
        column = nw.col(name)
        before, after = original.filter(_is_there(name, kinds[0])), released.filter(_is_there(name, kinds[1]))
        ((low, high),) = _rows(before, column.min().alias("low"), column.max().alias("high"))
        if low is None:
            return False
        beyond = ((column < low) | (column > high)).cast(nw.Float64).mean().alias("share")
        ((share, least, most),) = _rows(after, beyond, column.min().alias("least"), column.max().alias("most"))
        return share is not None and bool(share > OUTSIDE and least < most)  # a constant tells nothing of anybody
    if all(kind in TEXTS for kind in kinds):
        known = _texts(original, name)
        unknown = _texts(released, name) - known
        if not unknown or {*map(_bare, unknown)} & {*map(_bare, known)}:
            return bool(unknown)
        text = nw.col(name).cast(nw.String)
        ((share,),) = _rows(
            released.filter(~text.is_null()), text.is_in(sorted(unknown)).cast(nw.Float64).mean().alias("share")
        )
        return share is not None and bool(share > UNKNOWN)
    return False


def _bare(text: str) -> str:
    """A text without capitals and needless blanks."""
    return " ".join(text.casefold().split())


def _is_there(name: str, kind: Any) -> Any:
    there = ~nw.col(name).is_null()
    return there & nw.col(name).is_finite() if kind.is_float() else there


def _texts(frame: Frame, name: str) -> set[str]:
    there = frame.filter(~nw.col(name).is_null()).select(nw.col(name).cast(nw.String))
    return {text for (text,) in _rows(there.unique().head(MOST))}


def _rows(frame: Frame, *expressions: Any) -> list[tuple[Any, ...]]:
    made = frame.select(*expressions) if expressions else frame
    return (collect(made) if isinstance(made, nw.LazyFrame) else made).rows()
