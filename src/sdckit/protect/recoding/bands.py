"""Bands of numbers: given by edges or ranges, or cut from the data, and their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.data.columns import is_number
from sdckit.data.replace import Records
from sdckit.errors import DataError

Closed: TypeAlias = Literal["left", "right", "both"]
Method: TypeAlias = Literal["equal_width", "log", "equal_frequency"]
MOST = 10_000
WIDE = 100  # bands of fractions that are wider have whole edges


@dataclass(frozen=True, eq=False)
class Bands:
    """Ascending ranges that do not overlap."""

    low: NDArray[np.float64]  # shape (B,); minus infinity where it is open
    high: NDArray[np.float64]  # shape (B,); infinite where it is open
    has_low: NDArray[np.bool_]  # shape (B,); whether the end belongs to the band
    has_high: NDArray[np.bool_]  # shape (B,)
    labels: tuple[str, ...]

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Band of each number from 0 on; -1 where it is missing or in none."""
        codes = np.full(len(values), -1, np.int64)
        # the two bands that a number can be in: the last one that starts below it or on it, and the one before
        place = np.searchsorted(self.low, values, side="right") - 1
        for back in (0, 1):
            band = np.maximum(place - back, 0)
            low, high = self.low[band], self.high[band]
            above = (values > low) | ((values == low) & self.has_low[band])
            below = (values < high) | ((values == high) & self.has_high[band])
            codes = np.where((codes < 0) & above & below, band, codes)
        return codes


def given_bands(
    bands: Sequence[Any] | Mapping[str, Any], *, closed: Closed | None, labels: Sequence[str] | None,
    whole: bool,
) -> Bands:  # fmt: skip
    """Bands between edges, or of ``{label: (low, high)}``.

    `bands`: None, or an infinite number, at the outer ends leaves them open. `closed`: which end belongs to a
    band; default the left one between edges, both in a mapping. `labels`: names of the bands between edges.
    `whole`: whether the numbers are all whole, for the labels. Raises `DataError`: fewer than two edges,
    edges that do not ascend, ranges that overlap, labels of another number.
    """
    if closed is not None:
        arguments.choice(closed, "closed", get_args(Closed))
    if isinstance(bands, Mapping):
        if labels is not None:
            says = "labels= goes with a list of edges; {label: (low, high)} names the bands itself"
            raise DataError(says, argument="labels")
        return _ranges(bands, closed or "both")
    edges = [_edge(edge, -math.inf if i == 0 else math.inf) for i, edge in enumerate(bands)]
    if len(edges) < 2:
        raise DataError("bands= needs two edges or more; n + 1 of them make n bands", argument="bands")
    if any(a >= b for a, b in pairwise(edges)):
        raise DataError("bands: the edges must ascend, each greater than the one before", argument="bands")
    return _between(np.array(edges), closed or "left", labels, whole=whole)


def cut_bands(
    values: NDArray[np.float64], n: int, *, how: Method, closed: Closed | None,
    labels: Sequence[str] | None, whole: bool, records: Records | None = None,
) -> Bands:  # fmt: skip
    """Cut numbers into `n` bands, the outer ones open.

    `values`: NaN is missing. `n`: bands asked for; equal quantiles make fewer. `how` (one of
    "equal_width", "log", "equal_frequency"): edges in equal steps of the numbers or of their logarithms, one
    unit beyond the smallest and the largest, or at the quantiles (type 7). `closed`, `labels`, `whole`: as in
    `given_bands`. `records`: what the values stand for, one each by default.
    Raises `DataError`: not a number of bands, no value, one single value, infinite ones;
    numbers below or at zero with "log"; labels of another number.

    Edges in equal steps are rounded to whole ones where the numbers are whole or the bands wider than 100,
    else, without the room of one unit, to a hundredth of the power of ten that the narrowest band has.
    Quantiles are rounded to three digits where that keeps them apart: no edge need be somebody's exact value.
    """
    if closed is not None:
        arguments.choice(closed, "closed", get_args(Closed))
    arguments.count(n, "bands", "as a number says how many", at_least=2, at_most=MOST)
    arguments.choice(how, "how", get_args(Method))
    if closed == "both":
        raise DataError('closed="both" is for {label: (low, high)}: edges share no end', argument="closed")
    known = values[~np.isnan(values)]
    if len(known) == 0 or not np.isfinite(known).all():
        raise DataError("bands: there is no value to cut, or some are infinite; give edges", argument="bands")
    low, high = float(known.min()), float(known.max())
    if low == high:
        raise DataError("bands: all values are the same; there is nothing to cut", argument="bands")
    if how == "log" and low <= 0:
        says = 'how="log" takes the logarithm; some values are zero or negative, give the edges'
        raise DataError(says, argument="how")
    if how == "equal_frequency":
        edges = (records or Records(len(values), None)).quantiles(values, np.arange(1, n) / n)
        rounded = np.array([float(f"{edge:.3g}") for edge in edges])
        edges = rounded if len(np.unique(rounded)) == len(np.unique(edges)) else edges
        edges = np.unique(edges)
        # an edge at the very end would leave an empty band
        inside = (edges > low) & (edges <= high) if closed != "right" else (edges >= low) & (edges < high)
        edges = edges[inside]
    else:
        edges = _steps(low, high, n, log=how == "log", whole=whole)
    return _between(np.array([-math.inf, *edges, math.inf]), closed or "left", labels, whole=whole)


def _steps(low: float, high: float, n: int, *, log: bool, whole: bool) -> NDArray[np.float64]:
    a, b = (math.log(low), math.log(high)) if log else (low, high)
    # one unit of room at either end, and whole edges: unless the bands are too narrow for that
    grid = np.linspace(a - 1, b + 1, n + 1)
    edges = np.round(np.exp(grid) if log else grid)
    if np.diff(edges).min() >= (1 if whole else WIDE):
        return edges[1:-1]
    grid = np.linspace(a, b, n + 1)
    edges = np.exp(grid) if log else grid
    digits = 2 - math.floor(math.log10(float(np.diff(edges).min())))
    return np.round(edges[1:-1], digits)


def _edge(edge: object, open_end: float) -> float:
    if edge is None:
        return open_end
    if edge in (-math.inf, math.inf):
        return float(edge)
    if not is_number(edge):
        raise DataError("bands: an edge is not a number", argument="bands")
    return float(edge)


def _ranges(bands: Mapping[str, Any], closed: Closed) -> Bands:
    ranges = []
    for label, ends in bands.items():
        if not isinstance(label, str) or not label:
            raise DataError("bands: the name of a band is a text that is not empty", argument="bands")
        if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
            raise DataError(f"bands: {label!r} needs two ends, (low, high)", argument="bands")
        low, high = _edge(ends[0], -math.inf), _edge(ends[1], math.inf)
        if low > high or (low == high and closed != "both"):
            raise DataError(f"bands: {label!r} ends before it starts, or holds no number", argument="bands")
        ranges.append((low, high, label))
    if not ranges:
        raise DataError("bands= is empty; give edges, or {label: (low, high)}", argument="bands")
    ranges.sort(key=lambda band: band[:2])
    for (_, end, lower), (start, _, upper) in pairwise(ranges):
        if start < end or (start == end and closed == "both"):
            raise DataError(
                f"bands: {lower!r} and {upper!r} overlap"
                + ('; closed="left" or "right" says to which a shared end belongs' if start == end else "")
            )
    lows, highs = (np.array([band[i] for band in ranges], np.float64) for i in (0, 1))
    has_low, has_high = np.full(len(ranges), closed != "right"), np.full(len(ranges), closed != "left")
    return Bands(lows, highs, has_low, has_high, tuple(label for _, _, label in ranges))


def _between(edges: NDArray[np.float64], closed: Closed, labels: Sequence[str] | None, *, whole: bool) -> Bands:
    if closed == "both":
        raise DataError('closed="both" is for {label: (low, high)}: edges share no end', argument="closed")
    n = len(edges) - 1
    has_low, has_high = np.full(n, closed == "left"), np.full(n, closed == "right")
    has_low[0] = has_high[-1] = True  # the outermost edges belong to the outermost bands
    whole = whole and bool((edges == np.round(edges)).all())
    named = zip(edges[:-1].tolist(), edges[1:].tolist(), has_low.tolist(), has_high.tolist(), strict=True)
    names = tuple((_whole_label if whole else _label)(*band) for band in named)
    return Bands(edges[:-1], edges[1:], has_low, has_high, _labels(labels, n) or names)


def _labels(labels: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if labels is None:
        return ()
    names = arguments.several(labels, "labels", "are the names of the bands")
    if not all(isinstance(label, str) and label for label in names):
        raise DataError("labels= is a list of texts, one for each band", argument="labels")
    if len(names) != n or len(set(names)) != n:
        says = f"labels= needs {n} different texts, one for each band; it has {len(set(names))}"
        raise DataError(says, argument="labels")
    return names


def _whole_label(low: float, high: float, has_low: bool, has_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "any"
    if low == -math.inf:
        return f"up to {int(high) - (not has_high)}"
    first = int(low) + (not has_low)
    if high == math.inf:
        return f"{first}+"
    last = int(high) - (not has_high)
    if first == last:
        return str(first)
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def _label(low: float, high: float, has_low: bool, has_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "any"
    if low == -math.inf:
        return f"{'up to' if has_high else 'under'} {_number(high)}"
    if high == math.inf:
        return f"{_number(low)} and over" if has_low else f"over {_number(low)}"
    return f"{'[' if has_low else '('}{_number(low)}, {_number(high)}{']' if has_high else ')'}"


def _number(value: float) -> str:
    return str(int(value)) if value == round(value) and abs(value) < 1e16 else f"{value:.12g}"
