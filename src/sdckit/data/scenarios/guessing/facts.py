"""Descriptive statistics of each column: distinct values, range, and formats of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import pl
from sdckit.data.scenarios.guessing.topics import VOCABULARY
from sdckit.numerics.array_types import Floats
from sdckit.numerics.outlying import deviation

# Direct identifiers recognised by the format of texts; tested on a sample, never shown.


_ENOUGH = 0.8  # share of the texts that must match
_WORDS_OF_TEXT = 5  # least mean number of words of free text
_LONG_TEXT = 30  # least mean length of free text
NAME = "a person's name"

_PATTERNS: dict[str, re.Pattern[str]] = {
    name: re.compile("|".join(forms)) for name, forms in VOCABULARY["written"].items()
}
_STAMP, _FIRST = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d"), 100  # a time of a day in text; texts that show it
_NAME = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau)\.? )?[^\W\d_][\w'’.-]+(?:, | )(?:(?:van|von|de|der|la|di|da) ){0,2}"
    r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}"
)


def written_like(texts: Sequence[str]) -> str | None:
    """Recognise the format of a sample of distinct texts; None if unknown.

    >>> written_like(["ann@example.org", "bob.x@example.com"])
    'an e-mail address'
    >>> written_like(["married", "single"])
    """
    bare = [text.strip() for text in texts if text.strip()]
    if not bare:
        return None
    for name, pattern in _PATTERNS.items():
        if len([*filter(pattern.fullmatch, bare)]) / len(bare) >= _ENOUGH:
            return name
    if sum(map(len, bare)) >= _LONG_TEXT * len(bare) and (
        sum(text.count(" ") + 1 for text in bare) >= _WORDS_OF_TEXT * len(bare)
    ):
        return "free text"
    if len([*filter(_is_name, bare)]) / len(bare) >= 0.9:
        return NAME
    return None


def _is_name(text: str) -> bool:
    """Whether a text looks like a name: a few capitalised words."""
    if _NAME.fullmatch(text) is None:
        return False
    words = [word for word in re.split(r"[ ,]+", text) if len(word) > 3]
    return bool(words) and all(word[0].isupper() and not word.isupper() for word in words)


_FEW = 10  # with fewer records, distinct values in every record are no evidence
_CATEGORIES = 400  # more distinct texts are not categories
_TESTED = 500  # distinct texts whose format is tested
_OTHER_TEXTS = 3  # distinct codes such as "N" allowed in a numeric text column
_DENSE = 4  # record numbers: range at most this many times the number of distinct values
MEASURED = 30  # numbers with more distinct values may be measurements
_DOMINATING = 5  # times their share that the largest 1 % of the records hold: 5.6 where values fall off exponentially
_LOSSES = 0.05  # largest share of amounts below 0
_DIGITS = 5  # numbers of equal length with at least this many digits are codes


@dataclass(frozen=True)
class Facts:
    """Descriptive statistics of a column; its texts are used here only and never reach a guess."""

    name: str
    records: int
    n: int  # values that are not missing
    levels: int
    number: bool  # including texts that are numbers but for a few codes
    whole: bool  # integers
    text: bool
    date: bool
    minimum: float = np.nan
    maximum: float = np.nan
    mean: float = np.nan
    deviation: float = np.nan
    decimals: int = 0  # most decimals written, up to 4
    numbered: bool = False  # looks like record numbers: dense, non-decreasing or of equal length
    categories: tuple[str, ...] = ()  # value labels, or the distinct texts if there are few
    written: str | None = None  # recognised format of the texts
    top_share: float = np.nan  # what the largest 1 % of the amounts hold of the total, by the even share

    @property
    def unique(self) -> bool:
        """Whether all non-missing values are distinct."""
        return self.n >= _FEW and self.levels == self.n

    @property
    def fraction(self) -> bool:
        """Whether it has decimals."""
        return self.number and not self.whole

    @property
    def measurable(self) -> bool:
        """Whether it is of a numeric type; numeric texts must first be read with their codes as missing."""
        return self.number and not self.text

    @property
    def positive(self) -> bool:
        """Whether all numbers are above 0."""
        return self.number and self.n > 0 and self.minimum > 0

    @property
    def skewed(self) -> bool:
        """Whether few records hold much of it: the largest 1 % hold five times their share; few are losses."""
        return self.measurable and self.levels > MEASURED and self.top_share >= _DOMINATING

    @property
    def counted(self) -> str:
        """The number of distinct values, in words."""
        return f"{self.levels:,} {'value' if self.levels == 1 else 'values'}"


def facts_of(series: pl.Series, labels: Sequence[str] = ()) -> Facts:
    """Compute the statistics of a column; `labels` are its value labels, if any.

    >>> import polars as pl
    >>> facts = facts_of(pl.Series("age", [30, 41, None]))
    >>> facts.n, facts.levels, facts.whole, facts.maximum
    (2, 2, True, 41.0)
    """
    name, records, kind = series.name, len(series), series.dtype
    series = _unnamed(series)
    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        return Facts(name, records, 0, 0, number=False, whole=False, text=False, date=False)
    values = (series.fill_nan(None) if kind.is_float() else series).drop_nulls()
    levels = values.n_unique()
    date = kind in (pl.Date, pl.Datetime) or isinstance(kind, pl.Datetime)
    text = kind in (pl.String, pl.Categorical, pl.Enum) or isinstance(kind, pl.Enum | pl.Categorical)
    date = date or (text and levels > 0 and all(map(_STAMP.match, values.head(_FIRST).cast(pl.String))))
    texts: tuple[str, ...] = ()
    if text and levels <= _CATEGORIES:
        texts = tuple(str(value) for value in values.unique(maintain_order=False).cast(pl.String).sort())
    doubles = numbers_of(series)
    facts: dict[str, Any] = {
        "name": name, "records": records, "n": len(values), "levels": levels, "text": text, "date": date,
        "categories": tuple(labels) or texts, "written": _written(values, levels) if text else None,
    }  # fmt: skip
    if doubles is None:
        return Facts(**facts, number=False, whole=False)
    return Facts(**facts, **_moments(doubles, levels))


def _unnamed(series: pl.Series) -> pl.Series:
    """The series under a plain name: Polars methods read some names as patterns."""
    return series.alias("values")


def _moments(doubles: Floats, levels: int) -> dict[str, Any]:
    known = doubles[~np.isnan(doubles)]
    known = known[np.isfinite(known)]
    if len(known) == 0:
        return {"number": True, "whole": True}
    whole = bool((known == np.floor(known)).all())
    low, high = float(known.min()), float(known.max())
    rising = bool((np.diff(known) >= 0).all())
    lengths = np.floor(np.log10(np.maximum(np.abs(known), 1))) + 1
    alike = low > 0 and lengths.min() == lengths.max() and lengths.min() >= _DIGITS
    dense = high - low + 1 <= _DENSE * levels
    return {
        "number": True, "whole": whole, "minimum": low, "maximum": high, "mean": float(known.mean()),
        "deviation": float(deviation(known, ddof=0)), "numbered": whole and bool(dense or rising or alike),
        "decimals": 0 if whole else _decimals(known), "top_share": _top_share(known),
    }  # fmt: skip


def _top_share(known: Floats) -> float:
    """What the largest 1 % of the amounts, at least one, hold of their sum, over their share of the values.

    Losses count by their amount; NaN where they are no exceptions.

    >>> _top_share(np.ones(200)), _top_share(np.array([96.0, 1.0, 1.0, 1.0, 1.0])), _top_share(np.array([-1.0, 9.0]))
    (1.0, 4.8, nan)
    """
    if np.mean(known < 0) > _LOSSES or not known.any():
        return np.nan
    known = np.abs(known)
    largest = -(-len(known) // 100)
    top = np.partition(known, len(known) - largest)[-largest:]
    return float(top.mean() / known.mean())


def _decimals(known: Floats) -> int:
    """Number of decimals of the values (on a sample), at most 4."""
    sample = known[:: max(1, len(known) // 2000)]
    for digits in (1, 2, 3):
        if np.allclose(sample * 10**digits, np.round(sample * 10**digits), rtol=0, atol=1e-6):
            return digits
    return 4


def _written(values: pl.Series, levels: int) -> str | None:
    if levels <= _FEW:
        return None
    texts = values.head(20 * _TESTED).unique(maintain_order=True).head(_TESTED).cast(pl.String).to_list()
    return written_like(texts)


def numbers_of(series: pl.Series) -> Floats | None:
    """A column as float64, NaN for missing; None if it is not numeric.

    Texts count as numeric if all but a few codes are: "12" and "N"; labels "9" and "10 or more".

    >>> import polars as pl
    >>> numbers_of(pl.Series(["1", "2", "N", "1", "3", "2"])).tolist()
    [1.0, 2.0, nan, 1.0, 3.0, 2.0]
    """
    kind, series = series.dtype, _unnamed(series)
    if kind == pl.Boolean or kind.is_nested() or kind in (pl.Object, pl.Binary) or kind.is_temporal():
        return None
    if kind.is_numeric():
        return series.cast(pl.Float64).fill_null(np.nan).to_numpy()
    if kind != pl.String:
        return _leading(series)
    head = series.head(2000).drop_nulls()
    parsed = head.str.strip_chars().cast(pl.Float64, strict=False)
    codes = head.str.contains(r"^\s*0\d").any()  # leading zeros
    if len(head) == 0 or codes or parsed.null_count() * 2 > len(head):
        return None
    doubles = series.str.strip_chars().cast(pl.Float64, strict=False)
    odd = series.filter(doubles.is_null() & series.is_not_null())
    return None if odd.n_unique() > _OTHER_TEXTS else doubles.fill_null(np.nan).to_numpy()


def _leading(series: pl.Series) -> Floats | None:
    """Leading numbers of labels: "3", "10 or more"; None unless half of the labels are plain numbers."""
    labels = series.cast(pl.String)
    distinct = labels.drop_nulls().unique()
    plain = distinct.str.contains(r"^\s*-?\d+(\.\d+)?\s*$").sum()
    if len(distinct) == 0 or plain * 2 < len(distinct):
        return None
    return labels.str.extract(r"^\s*(-?\d+(?:\.\d+)?)").cast(pl.Float64).fill_null(np.nan).to_numpy()


def same_values(series: pl.Series) -> Floats:
    """Code a column as float64, equal for equal values; missing is a value of its own.

    >>> import polars as pl
    >>> codes = same_values(pl.Series(["a", None, "a"]))
    >>> bool(codes[0] == codes[2]), bool(codes[0] == codes[1])
    (True, False)
    """
    kind, series = series.dtype, _unnamed(series)
    if kind == pl.String:
        series = series.cast(pl.Categorical)
    if not kind.is_float():
        series = series.to_physical()
    doubles = series.cast(pl.Float64).fill_nan(None)
    beyond = doubles.min()
    lowest = -1.0 if beyond is None else float(str(beyond)) - 1
    return doubles.fill_null(lowest).to_numpy()
