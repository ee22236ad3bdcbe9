"""The columns of a release as an intruder reads them: categories, and the numbers that each value may stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.band_labels import range_of_label
from sdckit.data.columns import Coded, code_column, days_values, float_values
from sdckit.errors import DataError
from sdckit.numerics.array_types import Codes, Floats
from sdckit.numerics.grouping import group

LARGEST = 2.0**53  # whole numbers from here on are read as ids
MOST_LABELS = 2_000  # of a column of texts that may be ranges of numbers


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """One column: `codes` (n,) from 1 on, 0 where missing; `low` and `high` (n,) where its values are numbers.

    The two are equal where a value is one number, NaN where it is missing; None where values are no numbers.
    """

    name: str
    codes: Codes
    n_levels: int
    low: Floats | None
    high: Floats | None
    coded: Coded
    words: NDArray[np.uint64]  # the code of `coded` behind each of ours

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where it has no value."""
        return np.asarray(self.codes == 0)

    @cached_property
    def numbers(self) -> Floats | None:
        """The numbers, NaN where there is none or a range of them."""
        if self.low is None or self.high is None:
            return None
        return np.where(self.low == self.high, self.low, np.nan)

    @cached_property
    def whole(self) -> bool:
        """Whether all its numbers are whole."""
        if self.low is None or self.high is None:
            return False
        ends = np.concatenate([self.low, self.high])
        ends = ends[np.isfinite(ends)]
        return bool((ends == np.round(ends)).all())

    @property
    def from_labels(self) -> bool:
        """Whether its numbers are read from labels ("30-39")."""
        return self.low is not None and self.coded.kind in ("text", "category")

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each code, those of a missing value first."""
        return np.bincount(self.codes, minlength=self.n_levels + 1)

    def labels(self) -> list[str]:
        """How each level is printed, in the order of the codes."""
        return self.coded.labels(self.words.astype(np.int64))


def read_columns(frame: Any, names: Sequence[str]) -> dict[str, ReleasedColumn]:
    """Read columns; those that are not there or hold no plain values (lists, mixed types) are left out."""
    found = {}
    for name in names:
        if name not in frame.columns:
            continue
        try:
            found[name] = _read(frame.get_column(name))
        except DataError:
            continue
    return found


def _read(series: Any) -> ReleasedColumn:
    coded = code_column(series)
    raw = coded.codes()
    groups = group(raw.astype(np.uint64))
    absent = groups.words == np.uint64(coded.span)
    number = np.cumsum(~absent) * ~absent
    codes = number[groups.of_row].astype(np.int32)
    words = groups.words[~absent]
    low = high = None
    if series.dtype.is_numeric():
        low = high = _numbers(series)
    elif coded.kind == "date":
        low = high = days_values(series, file="the release")
    elif coded.kind in ("text", "category") and 0 < len(words) <= MOST_LABELS:
        ranges = _ranges(coded.labels(words.astype(np.int64)))
        if ranges is not None:
            ends = np.vstack([[np.nan, np.nan], ranges])
            low, high = ends[codes, 0], ends[codes, 1]
    return ReleasedColumn(series.name, codes, len(words), low, high, coded, words)


def _numbers(series: Any) -> Floats | None:
    """The numbers of a column, NaN where one is infinite; None where whole ones are too large to be told apart."""
    values = float_values(series, "column")
    if np.abs(values[np.isfinite(values)]).max(initial=0.0) >= LARGEST and series.dtype.is_integer():
        return None
    return np.where(np.isfinite(values), values, np.nan)


def _ranges(labels: Sequence[str]) -> Floats | None:
    """What each label stands for, where all of them are numbers or ranges of numbers."""
    found = [range_of_label(label, whole=False) for label in labels]
    if any(one is None for one in found):
        return None
    ends = np.array(found, np.float64)
    if (ends[np.isfinite(ends)] % 1 != 0).any():
        return ends
    return np.array([range_of_label(label) or (math.nan, math.nan) for label in labels], np.float64)
