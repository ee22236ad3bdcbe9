"""The types of CSV columns: numbers or dates where every value is one, else text exactly as written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from sdckit.data.exact_names import exactly
from sdckit.data.missing_values.missing_codes import Found

if TYPE_CHECKING:
    import polars as pl


Kind = Literal["integer", "point", "comma", "comma or text", "date", "text"]

_SAMPLE = 10_000
# A leading zero is part of a code (postcodes), and doubles cannot hold 16 digits or more.
_NOT_A_NUMBER = r"^[+-]?(?:0[0-9]|[0-9]{16,}$)"
_LEADING_ZERO = r"^[+-]?0[0-9]"
# Written back as it was read; other orders of day, month and year cannot be told apart.
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
# 1,234 may be a thousand as well as a little more than one.
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+$"


def kinds_to_try(delimiter: str, decimal: str | None) -> tuple[Kind, ...]:
    """Give the kinds of column to try, in order; the first that fits every value is taken.

    >>> kinds_to_try(";", None)
    ('integer', 'point', 'comma', 'date', 'text')
    """
    if decimal == ",":
        return ("integer", "comma", "date", "text")
    if decimal == "." or delimiter == ",":
        return ("integer", "point", "date", "text")
    return ("integer", "point", "comma" if delimiter == ";" else "comma or text", "date", "text")


def typed(
    scan: pl.LazyFrame, names: Sequence[str], kinds: Sequence[Kind], codes: Sequence[str] = ()
) -> tuple[pl.DataFrame, tuple[Found, ...]]:
    """Collect text columns as the types their values allow, codes and empty fields as missing.

    A sample proposes each column's kind; the whole column then confirms it, or the next kind is tried
    on that column alone. The codes that were there are counted on the way.
    """
    import polars as pl

    raw = scan.select(exactly(name).alias(f"r{i}") for i, name in enumerate(names))  # r: as written
    sample = raw.head(_SAMPLE).collect()
    if sample.height < _SAMPLE:
        raw = sample.lazy()
    held, clean = _without_codes(len(names), codes)
    choice = _choice(sample, held, clean, kinds)
    done: dict[int, pl.Series] = {}
    found: list[Found] = []
    while len(done) < len(names):
        waiting = [i for i in range(len(names)) if i not in done]
        wanted = [_convert(f"c{i}", choice[i]).alias(f"v{i}") for i in waiting]
        doubts = [_misfit(f"c{i}", choice[i]).any().alias(f"b{i}") for i in waiting]
        counts = [_counts(i).alias(f"n{i}") for i in waiting if not done and not found]
        marked = raw.with_columns(held[i] for i in waiting).with_columns(clean[i] for i in waiting)
        frame = marked.select(wanted + doubts + counts).collect()
        first = frame.head(1)
        for i in waiting:
            if counts and frame.height:
                codes_here = [(one[f"r{i}"], one["count"]) for one in first.item(0, f"n{i}")]
                found += [Found(names[i], code, int(n)) for code, n in codes_here if code]
            if frame.height and first.item(0, f"b{i}"):
                choice[i] = kinds[kinds.index(choice[i]) + 1]
            else:
                done[i] = frame[f"v{i}"].alias(names[i])
    series = [one.cast(pl.String) if one.null_count() == len(one) else one for _, one in sorted(done.items())]
    return pl.DataFrame(series), tuple(found)


def streamed(
    scans: Sequence[pl.LazyFrame], names: Sequence[str], kinds: Sequence[Kind], codes: Sequence[str] = ()
) -> pl.LazyFrame:
    """Do the same with files that are one, as a plan: nothing but what says that a kind fits is collected."""
    import polars as pl

    raw = pl.concat(
        [one.select(exactly(name).alias(f"r{i}") for i, name in enumerate(names)) for one in scans]
    )
    held, clean = _without_codes(len(names), codes)
    choice = _choice(raw.head(_SAMPLE).collect(), held, clean, kinds)
    marked = raw.with_columns(held).with_columns(clean)
    waiting = list(range(len(names)))
    while waiting:
        doubts = [_misfit(f"c{i}", choice[i]).any().alias(f"b{i}") for i in waiting]
        empty = [pl.col(f"c{i}").is_null().all().alias(f"e{i}") for i in waiting]
        found = marked.select(doubts + empty).collect(engine="streaming").row(0, named=True)
        for i in waiting:
            if found[f"b{i}"]:
                choice[i] = kinds[kinds.index(choice[i]) + 1]
            elif found[f"e{i}"]:
                choice[i] = "text"
        waiting = [i for i in waiting if found[f"b{i}"]]
    return marked.select(_convert(f"c{i}", choice[i]).alias(name) for i, name in enumerate(names))


def _without_codes(n: int, codes: Sequence[str]) -> tuple[list[pl.Expr], list[pl.Expr]]:
    """Of each column whether a field holds a code, and the fields without those."""
    import polars as pl

    texts = ["", *codes]
    held = [pl.col(f"r{i}").is_in(texts).alias(f"h{i}") for i in range(n)]  # h: holds a code
    clean = [pl.when(~pl.col(f"h{i}")).then(pl.col(f"r{i}")).alias(f"c{i}") for i in range(n)]
    return held, clean


def _choice(
    sample: pl.DataFrame, held: Sequence[pl.Expr], clean: Sequence[pl.Expr], kinds: Sequence[Kind]
) -> list[Kind]:
    """The kind of each column that a sample proposes."""
    head = sample.with_columns(held).select(clean)
    return [_first_fit(head, f"c{i}", kinds) for i in range(len(clean))]


def _counts(i: int) -> pl.Expr:
    import polars as pl

    return pl.col(f"r{i}").filter(pl.col(f"h{i}")).value_counts(sort=True).implode()


def other_decimals(frame: pl.DataFrame, kinds: Sequence[Kind]) -> tuple[list[str], Literal[".", ","]]:
    """Find text columns that would be numbers under the decimal mark that was not tried, and that mark.

    >>> import polars as pl
    >>> other_decimals(pl.DataFrame({"w": ["3,5", "2"], "t": ["a", "b"]}), kinds_to_try(",", None))
    (['w'], ',')
    """
    import polars as pl

    mark: Literal[".", ","] = "," if "comma" not in kinds else "."
    kind: Kind = "comma" if mark == "," else "point"
    found = []
    for name, dtype in frame.schema.items():
        if dtype != pl.String or frame[name].null_count() == frame.height:
            continue
        column = frame.select(exactly(name))
        parts = (column.head(_SAMPLE), column)
        fits = all(not part.select(_misfit(name, kind).any()).item() for part in parts)
        if fits and column.to_series().str.contains(mark, literal=True).any():
            found.append(name)
    return found, mark


def _first_fit(sample: pl.DataFrame, name: str, kinds: Sequence[Kind]) -> Kind:
    return next(kind for kind in kinds if not sample.select(_misfit(name, kind).any()).item())


def _convert(name: str, kind: Kind) -> pl.Expr:
    import polars as pl

    column = exactly(name)
    if kind == "text":
        return column
    if kind == "date":
        return column.str.to_date("%Y-%m-%d", strict=False)
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
    if kind == "date":
        wrong = _convert(name, kind).is_null() | ~exactly(name).str.contains(_DATE)
        return (wrong & exactly(name).is_not_null()).fill_null(False)
    bare = exactly(name).str.strip_chars(" ")
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
    return (wrong & exactly(name).is_not_null()).fill_null(False)
