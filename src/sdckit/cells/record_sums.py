"""Figures as sums over records: of a whole file, of its subgroups, of records drawn anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats
from sdckit.numerics.resampling import merge_equal, percentile_ends, resampled_sums
from sdckit.result import FileFigure

Told = Callable[[str], NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a figure is the sum, or the sum over a sum, of; a row for each release."""

    over: Floats
    under: Floats


def told_figures(figures: Sequence[FileFigure]) -> tuple[FileFigure, ...]:
    """Those that follow from what is told of each record."""
    return tuple(one for one in figures if one.column)


def leading(figures: Sequence[FileFigure]) -> FileFigure:
    """The figure that subgroups are sorted by: the first that says something of the risk."""
    return next((one for one in figures if one.higher != "reference"), figures[0])


def _values(figure: FileFigure, told: Told) -> Floats:
    """What is told, a row for each release; 1 and 0 where records are counted by a limit."""
    values = np.atleast_2d(np.asarray(told(figure.column), np.float64))
    if figure.below is None and figure.above is None:
        return values
    with np.errstate(invalid="ignore"):
        hit = values < figure.below if figure.below is not None else values > (figure.above or 0.0)
    return np.where(np.isnan(values), np.nan, hit)


def _sums(figure: FileFigure, told: Told) -> _Sums:
    values = _values(figure, told)
    known = ~np.isnan(values)
    weight = known.astype(np.float64)
    if figure.among:
        weight = weight * np.atleast_2d(np.asarray(told(figure.among), np.float64))
    over = np.where(known, values, 0.0) * weight
    return _Sums(over, weight)


def _figure(figure: FileFigure, over: Floats, under: Floats) -> Floats:
    """A figure from both sums: NaN where nothing is known."""
    return _ratio(over, under) if figure.how == "mean" else np.where(under > 0, over, np.nan)


def figures_of_groups(
    figures: Sequence[FileFigure], told: Told, of_row: NDArray[np.integer], n_groups: int
) -> dict[str, Floats]:
    """Figures of each group of records, by name; the mean over the releases where one is defined.

    Examples
    --------
    >>> risk = {"risk": np.array([1.0, 0.5, 0.5])}
    >>> found = figures_of_groups([FileFigure("global_risk", "risk")], risk.get, np.array([0, 0, 1]), 2)
    >>> found["global_risk"].tolist()
    [0.75, 0.5]
    """
    told = cache(told)
    known: dict[Any, tuple[Floats, Floats]] = {}
    found = {}
    for one in figures:
        if one.how in ("min", "max"):
            found[one.name] = _extremes(one, told, of_row, n_groups)
            continue
        at = (one.column, one.below, one.above, one.among)
        if at not in known:
            sums = _sums(one, told)
            known[at] = _by_group(sums.over, of_row, n_groups), _by_group(sums.under, of_row, n_groups)
        found[one.name] = _mean(_figure(one, *known[at]))
    return found


def _extremes(figure: FileFigure, told: Told, of_row: NDArray[np.integer], n_groups: int) -> Floats:
    out = []
    for row in _values(figure, told):
        found = np.full(n_groups, np.nan)
        (np.fmin if figure.how == "min" else np.fmax).at(found, of_row, row)
        out.append(found)
    return _mean(np.stack(out))


def _by_group(rows: Floats, of_row: NDArray[np.integer], n_groups: int) -> Floats:
    return np.stack([np.bincount(of_row, row, n_groups) for row in rows])


def _ratio(over: Floats, under: Floats) -> Floats:
    out = np.full(over.shape, np.nan)
    np.divide(over, under, out=out, where=under > 0)
    return out


def _mean(rows: Floats) -> Floats:
    """The mean over the releases (first axis) where a figure is defined."""
    known = ~np.isnan(rows)
    return _ratio(np.where(known, rows, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def bootstrap_intervals(
    figures: Sequence[FileFigure], told: Told, size: NDArray[np.int64], rng: np.random.Generator,
    cluster: tuple[NDArray[np.integer], int] | None = None,
) -> dict[str, tuple[float, float]]:  # fmt: skip
    """95 % percentile intervals of means and sums, the units of a file drawn anew with replacement.

    `size`: records that stand behind each value told. `cluster`: number of the household of each record, and how many
    there are; then whole households are drawn.
    """
    told = cache(told)
    parts = [(one, _sums(one, told)) for one in figures if one.how in ("mean", "sum")]
    rows: list[Floats] = []
    places: dict[bytes, int] = {}  # a mean and its sum need the same sums: each is drawn once

    def place(row: Floats) -> int:
        at = places.setdefault(row.tobytes(), len(rows))
        if at == len(rows):
            rows.append(row)
        return at

    at = [([*map(place, sums.over)], [*map(place, sums.under)]) for _, sums in parts]
    if not rows:
        return {}
    if cluster is not None:
        of_row, n_units = cluster
        values, units = _by_group(np.stack(rows), of_row, n_units), np.ones(n_units, np.int64)
    else:
        values, units = np.stack(rows), size
    drawn = resampled_sums(*merge_equal(values, units), rng).T
    return {
        one.name: percentile_ends(_mean(_figure(one, drawn[over], drawn[under])))
        for (one, _), (over, under) in zip(parts, at, strict=True)
    }
