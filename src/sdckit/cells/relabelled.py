"""Columns whose values are spelt in several ways, or otherwise than in the original, so that figures tell nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.data.frames import Frame, collect

TEXTS = (nw.String, nw.Categorical, nw.Enum)
OUTSIDE = 0.5  # of the numbers beyond those of the original: noise and rounding move fewer there
MOST = 100_000  # different texts that are brought from an engine


def relabelled(original: Frame, released: Frame, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns with a text that the original does not have, or most of whose numbers lie beyond its own.

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
    return tuple(
        name for name, own in spelt.items() if len({" ".join(text.casefold().split()) for text in own}) < len(own)
    )


def _differs(original: Frame, released: Frame, name: str, kinds: Sequence[Any]) -> bool:
    if all(kind.is_numeric() for kind in kinds):
        column = nw.col(name)
        before, after = original.filter(_is_there(name, kinds[0])), released.filter(_is_there(name, kinds[1]))
        ((low, high),) = _rows(before, column.min().alias("low"), column.max().alias("high"))
        if low is None:
            return False
        ((share,),) = _rows(after, ((column < low) | (column > high)).cast(nw.Float64).mean().alias("share"))
        return share is not None and bool(share > OUTSIDE)
    if all(kind in TEXTS for kind in kinds):
        return bool(_texts(released, name) - _texts(original, name))
    return False


def _is_there(name: str, kind: Any) -> Any:
    there = ~nw.col(name).is_null()
    return there & nw.col(name).is_finite() if kind.is_float() else there


def _texts(frame: Frame, name: str) -> set[str]:
    return {
        text for (text,) in _rows(frame.select(nw.col(name).cast(nw.String)).unique().head(MOST)) if text is not None
    }


def _rows(frame: Frame, *expressions: Any) -> list[tuple[Any, ...]]:
    made = frame.select(*expressions) if expressions else frame
    return (collect(made) if isinstance(made, nw.LazyFrame) else made).rows()
