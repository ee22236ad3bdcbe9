"""What a variable looks like before and after a step: its records by value, or by bins with round edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import code_column, float_values
from sdckit.data.replace import open_eager
from sdckit.errors import ColumnError
from sdckit.identity.contributions.coarsening import round_edges as inner_edges
from sdckit.utility.tables.compare_distributions import counts_between, round_edges

if TYPE_CHECKING:
    from numpy.typing import NDArray


BINS = 20


@dataclass(frozen=True)
class VariableCounts:
    """The records of one file by the values of a variable: exact, so nothing that is shown as it is.

    Attributes
    ----------
    counts : tuple of (str, int)
        The values with their records, in the order of the variable; or the bins, where there are `edges`.
    n, n_missing : int
        Records, and those without a value.
    edges : tuple of float
        Between the bins, of which the first and the last are open. Empty where values are counted.
    whole : bool
        Whether the numbers are whole.
    """

    counts: tuple[tuple[str, int], ...]
    n: int
    n_missing: int
    edges: tuple[float, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Picture:
    """A variable before and after; `after` is empty where the step left it out.

    Attributes
    ----------
    variable : str
    before, after : VariableCounts or None
    flows : tuple of (int, int, int)
        Which records went where: places among the counts before and after, -1 for missing, and how many they are. Only
        where the step leads each of the former to few of the latter, so that a reader can tell where records went.
    """

    variable: str
    before: VariableCounts | None
    after: VariableCounts | None
    flows: tuple[tuple[int, int, int], ...] = ()


_Side = tuple[VariableCounts, "NDArray[np.intp]"]


def picture_of(before: Any, after: Any, variable: str, *, levels: bool = False) -> Picture:
    """Count a variable in two files: numbers in the same bins, unless `levels` are asked for.

    Examples
    --------
    >>> import polars as pl
    >>> files = pl.DataFrame({"job": ["cook", "cook", "smith"]}), pl.DataFrame({"job": ["cook", "cook", None]})
    >>> found = picture_of(*files, "job")
    >>> found.before.counts, found.after.counts, found.after.n_missing
    ((('cook', 2), ('smith', 1)), (('cook', 2),), 1)
    """
    files = [None if one is None else open_eager(one, {}) for one in (before, after)]
    there = [one for one in files if one is not None and variable in one.columns]
    if not there:
        raise ColumnError(f"neither file has a column {arguments.column(variable, 'variable')!r}")
    numbers = [float_values(one[variable], "bins:") for one in there if one.schema[variable].is_numeric()]
    known = [one for one in numbers if not np.isnan(one).all()]
    edges = round_edges(known, BINS) if known and not levels else None
    sides = [
        _counted(one, variable, edges) if one is not None and variable in one.columns else None
        for one in files
    ]
    counted = [None if one is None else one[0] for one in sides]
    return Picture(variable, counted[0], counted[1], _flows(sides[0], sides[1]))


def _flows(before: _Side | None, after: _Side | None) -> tuple[tuple[int, int, int], ...]:
    """Where the records went; nothing where they went from everywhere to everywhere, as random changes have it."""
    if before is None or after is None or len(before[1]) != len(after[1]):
        return ()
    pairs, sizes = np.unique(np.column_stack([before[1], after[1]]), axis=0, return_counts=True)
    if len(pairs) > len(before[0].counts) + len(after[0].counts) + 1:
        return ()
    return tuple((int(one), int(other), int(n)) for (one, other), n in zip(pairs, sizes, strict=True))


def _counted(frame: Any, variable: str, edges: Any) -> _Side:
    """The counts, and at which of them each record is."""
    n = len(frame)
    if edges is not None and frame.schema[variable].is_numeric():
        values = float_values(frame[variable], "bins:")
        known = values[~np.isnan(values)]
        whole = bool((known == np.floor(known)).all())
        ends = edges.tolist()
        counts = counts_between(values, edges).tolist()
        names = _named(ends, whole=whole)
        found = VariableCounts(
            tuple(zip(names, counts, strict=True)), n, n - len(known), tuple(ends), whole=whole
        )
        return found, np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right"))
    coded = code_column(frame[variable])
    tally = np.bincount(coded.codes(), minlength=coded.n_codes)
    used = np.flatnonzero(tally[: coded.span])
    labels = coded.labels(used)
    counts = [(label, int(tally[code])) for label, code in zip(labels, used, strict=True)]
    ordered = tuple(_in_order(counts, coded.categories))
    places = {label: at for at, (label, _) in enumerate(ordered)}
    place = np.full(coded.n_codes, -1)
    place[used] = [places[label] for label in labels]
    return VariableCounts(ordered, n, int(coded.n_missing)), place[coded.codes()]


def _in_order(counts: Sequence[tuple[str, int]], categories: Any) -> list[tuple[str, int]]:
    """Levels in the order that their column brings; else by their names."""
    if categories is None:
        return sorted(counts)
    place = {str(one): at for at, one in enumerate(categories)}
    return sorted(counts, key=lambda row: place.get(row[0], len(place)))


def _named(edges: Sequence[float], *, whole: bool) -> list[str]:
    """Names of the bins below, between and above edges.

    >>> _named([0.0, 10.0, 20.0], whole=True)
    ['under 0', '0 to 9', '10 to 19', '20 and over']
    >>> _named([0.0, 0.5], whole=False), _named([1.0, 2.0], whole=True)[1]
    (['under 0', '0 to 0.5', '0.5 and over'], '1')
    """
    names = [f"under {edges[0]:g}"]
    for low, high in pairwise(edges):
        last = high - 1 if whole else high
        names.append(f"{low:g}" if last == low else f"{low:g} to {last:g}")
    return [*names, f"{edges[-1]:g} and over"]


def bands_for(data: Any, variable: str) -> list[float]:
    """Inner edges of bands to start from: round ones, on which neither the smallest nor the largest value decides.

    Examples
    --------
    >>> import polars as pl
    >>> bands_for(pl.DataFrame({"age": [18 + i % 67 for i in range(300)]}), "age")
    [20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0]
    """
    values = float_values(open_eager(data, {"column": [variable]})[variable], "bands:")
    found, size = np.unique(values[~np.isnan(values)], return_counts=True)
    if not len(found):
        return []
    edges: list[float] = inner_edges(found, size).tolist()
    return edges
