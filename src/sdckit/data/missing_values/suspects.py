"""Values that may mean missing though nobody said so: far-off numbers of nines, and words of refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdckit.data.missing_values.missing_codes import Found, found_texts

if TYPE_CHECKING:
    import polars as pl

__all__ = ["suspects"]

_BELOW = (-9999, -999, -99, -9, -8, -7)
_ABOVE = (9999, 999, 99)
_FAR = 3  # a code stands at least so many usual steps from the next value
_SAMPLE = 100_000  # records that say what a usual step is
_WORDS = (
    "refused", "refusal", "refuses", "don't know", "don’t know", "dont know", "do not know", "doesn't know",
    "not asked", "not answered", "no answer", "no response", "not stated", "missing",
    "keine angabe", "weiß nicht", "weiss nicht", "verweigert", "ne sait pas", "sans réponse", "pas de réponse",
    "refus", "no sabe", "no contesta", "sin respuesta", "non so", "non risponde", "rifiuta",
)  # fmt: skip
_PHRASES = tuple(
    dict.fromkeys(form for word in _WORDS for form in (word, word.capitalize(), word.title(), word.upper()))
)


def suspects(frame: pl.DataFrame) -> tuple[Found, ...]:
    """Find what may mean missing: numbers by their least and greatest value, texts by their words.

    A number is suspected where it stands far from all others, or is negative where all others are not.
    Columns whose extremes are none of the usual codes cost no more than finding those extremes.

    >>> import polars as pl
    >>> suspects(pl.DataFrame({"educ": [1, 2, 3, 2, -999], "job": ["a", "b", "Refused", "a", "b"]}))
    (Found(column='educ', code='-999', records=1), Found(column='job', code='Refused', records=1))
    """
    import polars as pl

    numbers = [name for name, dtype in frame.schema.items() if dtype.is_integer() or dtype.is_float()]
    extremes = frame.select(
        *(pl.col(name).min().alias(f"min {i}") for i, name in enumerate(numbers)),
        *(pl.col(name).max().alias(f"max {i}") for i, name in enumerate(numbers)),
    )
    texts = found_texts(frame, _PHRASES)
    by_name = {name: [one for one in texts if one.column == name] for name in frame.columns}
    for i, name in enumerate(numbers):
        low, high = extremes.item(0, f"min {i}"), extremes.item(0, f"max {i}")
        if low in _BELOW or high in _ABOVE:
            by_name[name] = _far_off(frame[name])
    return tuple(one for name in frame.columns for one in by_name[name])


def _far_off(series: pl.Series) -> list[Found]:
    """Take codes off both ends of a column for as long as they stand apart from what is left."""
    import polars as pl

    values = series.cast(pl.Float64).drop_nans().drop_nulls()
    codes = [code for code in _BELOW if bool((values == code).any())]
    body = values.filter(~values.is_in([float(code) for code in codes]))
    if codes and len(body) and _least(body) >= 0:
        found = codes
    else:
        found, body = [], values
        while (code := _end(body, least=True)) is not None:
            found, body = [*found, code], body.filter(body != code)
    while (code := _end(body, least=False)) is not None:
        found, body = [*found, code], body.filter(body != code)
    return [Found(series.name, str(code), int((values == code).sum())) for code in found]


def _end(values: pl.Series, *, least: bool) -> int | None:
    """Give the code at one end, if it stands far from the next value; a single large number may be real."""
    end = _least(values) if least else -_least(-values)
    if end not in (_BELOW if least else _ABOVE):
        return None
    others = values.filter(values != end)
    if len(others) == 0 or (not least and len(values) - len(others) < 2):
        return None
    gap = _least(others) - end if least else end + _least(-others)
    steps = others.head(_SAMPLE).unique().sort().diff().drop_nulls()
    usual = steps.median() if len(steps) else 0.0
    return int(end) if isinstance(usual, float) and gap >= _FAR * usual else None


def _least(values: pl.Series) -> float:
    least = values.min()
    return float(least) if isinstance(least, float) else float("nan")
