"""The types of CSV columns: numbers where every value is one, else text exactly as written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Kind", "kinds_to_try", "typed"]

Kind = Literal["integer", "point", "comma", "comma or text", "text"]

_SAMPLE = 10_000
# A leading zero is part of a code (postcodes), and doubles cannot hold 16 digits or more.
_NOT_A_NUMBER = r"^[+-]?(?:0[0-9]|[0-9]{16,}$)"
_LEADING_ZERO = r"^[+-]?0[0-9]"
# 1,234 may be a thousand as well as a little more than one.
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+$"


def kinds_to_try(delimiter: str, decimal: str | None) -> tuple[Kind, ...]:
    """Give the kinds of column to try, in order; the first that fits every value is taken.

    Examples
    --------
    >>> kinds_to_try(";", None)
    ('integer', 'point', 'comma', 'text')
    """
    if decimal == ",":
        return ("integer", "comma", "text")
    if decimal == "." or delimiter == ",":
        return ("integer", "point", "text")
    return ("integer", "point", "comma" if delimiter == ";" else "comma or text", "text")


def typed(scan: pl.LazyFrame, names: Sequence[str], kinds: Sequence[Kind]) -> pl.DataFrame:
    """Collect text columns as the types their values allow.

    A sample proposes each column's kind; the whole column then confirms it, or the next kind is tried
    on that column alone.
    """
    import polars as pl

    sample = scan.select(names).head(_SAMPLE).collect()
    if sample.height < _SAMPLE:
        scan = sample.lazy()
    choice = {name: _first_fit(sample, name, kinds) for name in names}
    done: dict[str, pl.Series] = {}
    while len(done) < len(names):
        waiting = [name for name in names if name not in done]
        wanted = [_convert(name, choice[name]).alias(f"v{i}") for i, name in enumerate(waiting)]
        doubts = [_misfit(name, choice[name]).alias(f"b{i}") for i, name in enumerate(waiting)]
        frame = scan.select(wanted + doubts).collect()
        for i, name in enumerate(waiting):
            if frame[f"b{i}"].any():
                choice[name] = kinds[kinds.index(choice[name]) + 1]
            else:
                done[name] = frame[f"v{i}"].alias(name)
    series = [done[name].cast(pl.String) if done[name].null_count() == len(done[name]) else done[name]
              for name in names]  # fmt: skip
    return pl.DataFrame(series)


def _first_fit(sample: pl.DataFrame, name: str, kinds: Sequence[Kind]) -> Kind:
    return next(kind for kind in kinds if not sample.select(_misfit(name, kind).any()).item())


def _convert(name: str, kind: Kind) -> pl.Expr:
    import polars as pl

    column = pl.col(name)
    if kind == "text":
        return column
    bare = column.str.strip_chars(" ")
    if kind == "integer":
        return bare.cast(pl.Int64, strict=False)
    if kind == "point":
        return bare.cast(pl.Float64, strict=False)
    return bare.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)


def _misfit(name: str, kind: Kind) -> pl.Expr:
    """Say which values are lost or changed under a kind."""
    import polars as pl

    if kind == "text":
        return pl.lit(False)
    bare = pl.col(name).str.strip_chars(" ")
    lost = _convert(name, kind).is_null()
    if kind == "integer":
        wrong = lost | bare.str.contains(_LEADING_ZERO)
    elif kind == "point":
        wrong = lost | bare.str.contains(_NOT_A_NUMBER)
    else:
        wrong = lost | bare.str.contains(_NOT_A_NUMBER) | bare.str.contains(".", literal=True)
    if kind == "comma or text":
        ambiguous = bare.str.contains(_THOUSANDS) | ~bare.str.contains(",", literal=True)
        wrong = wrong | ambiguous.all()
    return (wrong & pl.col(name).is_not_null()).fill_null(False)
