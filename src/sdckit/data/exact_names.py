"""Columns of Polars by their names, none of which is read as a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def is_pattern(name: str) -> bool:
    """Whether Polars takes a name for a pattern: ``*`` for all columns, ``^...$`` for all that fit.

    Examples
    --------
    >>> [name for name in ("*", "^age.*$", "age", "^age", "a*", "") if is_pattern(name)]
    ['*', '^age.*$']
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def exactly(name: str) -> pl.Expr:
    """The one column of this name.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"^a.*$": [1], "age": [2]})
    >>> frame.select(pl.col("^a.*$")).columns, frame.select(exactly("^a.*$")).columns
    (['age'], ['^a.*$'])
    """
    import polars as pl

    return pl.selectors.by_name(name).as_expr() if is_pattern(name) else pl.col(name)
