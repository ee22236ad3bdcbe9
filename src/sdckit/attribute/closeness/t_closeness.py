"""C2: t-closeness, earth mover's distance of the sensitive values in a class from those of the whole file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import VIOLATED, ClassResult, Spread, open_classes
from sdckit.cells.crosstab import Levels
from sdckit.cells.record_result import IntervalKind
from sdckit.data import arguments
from sdckit.data.files.file_labels import code_text
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import in_place, places_among

# Earth mover's distance of a class from the file: on a tree of levels, and on a line.


SHORT = 16  # intervals of ranks up to this length are summed directly, longer ones by cumulative sums


# --- kernels ------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _by_branches(edges, level, count, nodes, share, height, out):  # type: ignore[no-untyped-def]
    """Sum over the heights of the excess shares of each class, divided by `height`, into `out` (K,).

    `edges` (K + 1,): the entries of each class in `level` and `count`; `nodes` (H, M): node of each level at each
    height; `share`: of each node in the file.
    """
    own = np.zeros(len(share))
    for cell in range(len(edges) - 1):
        start, stop = edges[cell], edges[cell + 1]
        total = 0.0
        for e in range(start, stop):
            total += count[e]
        moved = 0.0
        for h in range(nodes.shape[0]):
            for e in range(start, stop):
                own[nodes[h, level[e]]] += count[e] / total
            for e in range(start, stop):
                node = nodes[h, level[e]]
                if own[node] > share[node]:
                    moved += own[node] - share[node]
                own[node] = 0.0
        out[cell] = moved / height


@njit(cache=True, nogil=True)
def _stretch(a, b, c, below, step, at, weighed):  # type: ignore[no-untyped-def]
    """Sum of step[j] * |c - below[j]| for a <= j < b; `at`, `weighed`: cumulative sums of step and step * below."""
    if b - a <= SHORT:
        moved = 0.0
        for j in range(a, b):
            moved += step[j] * abs(c - below[j])
        return moved
    low, high = a, b
    while low < high:  # the first position where the file's share exceeds c
        middle = (low + high) // 2
        if below[middle] > c:
            high = middle
        else:
            low = middle + 1
    under = c * (at[low] - at[a]) - (weighed[low] - weighed[a])
    over = (weighed[b] - weighed[low]) - c * (at[b] - at[low])
    return max(0.0, under) + max(0.0, over)


@njit(cache=True, nogil=True)
def _by_order(edges, rank, count, below, step, at, weighed, known, out):  # type: ignore[no-untyped-def]
    """Distance of each class from the file along the order of levels, into `out` (K,).

    `edges` (K + 1,): the entries of each class in `rank` (ascending) and `count`; `below`: cumulative shares in the
    file; `step`: distances of neighbours; `at`, `weighed`: see `_stretch`; `known`: share of known values in the file.
    """
    last = len(step)  # the highest rank; a missing value has a higher one
    for cell in range(len(edges) - 1):
        total, mine = 0.0, 0.0
        for e in range(edges[cell], edges[cell + 1]):
            total += count[e]
            if rank[e] <= last:
                mine += count[e]
        if mine == 0.0:
            out[cell] = known
            continue
        place, held, moved = np.int64(0), 0.0, 0.0
        for e in range(edges[cell], edges[cell + 1]):
            if rank[e] <= last:
                moved += _stretch(place, rank[e], held / mine, below, step, at, weighed)
                place = rank[e]
                held += count[e]
        moved += _stretch(place, last, 1.0, below, step, at, weighed)
        share = mine / total
        out[cell] = abs(share - known) + min(share, known) * moved


def distance_by_branches(spread: Spread, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Earth mover's distance (K,), 0 to 1, of each class from the file where levels lie in a tree.

    `nodes` (H, M) are the nodes of each level at heights 0 to H - 1 below the root, every height with its own
    numbers; the root is at height H. Two levels are as far apart as their lowest common node is high, the root being
    at 1. A missing value is a branch of its own.

    An edge of the tree is half a step, and what is to be moved along it is what the class has too much or
    too little of below it: the distance is the mean over the heights of half the sum of differences.
    """
    if len(spread.share) > nodes.shape[1]:
        nodes = np.column_stack([nodes, nodes.max(initial=-1) + 1 + np.arange(len(nodes))])
    weights = np.broadcast_to(spread.share, nodes.shape).ravel()
    share = np.bincount(nodes.ravel(), weights)
    out = np.empty(spread.n_cells)
    _by_branches(spread.edges, spread.level, spread.count, np.ascontiguousarray(nodes), share, float(len(nodes)), out)
    return out


def distance_by_order(spread: Spread, rank: NDArray[np.int64], step: NDArray[np.float64]) -> NDArray[np.float64]:
    """Earth mover's distance (K,), 0 to 1, of each class from the file where levels lie on a line.

    `rank` (M,) is the place of each level on the line, from 0; `step` (M - 1,) the distance between neighbours,
    the sum being 1. A missing value is at distance 1 from every level, and what is moved to and from missing
    values is taken from the levels in proportion.
    """
    n_levels = len(rank)
    places = np.append(rank, n_levels)[spread.level]
    count = spread.count
    if (rank[1:] < rank[:-1]).any():  # entries are sorted by code, not by rank
        cell = np.repeat(np.arange(spread.n_cells), np.diff(spread.edges))
        order = np.lexsort((places, cell))
        places, count = places[order], count[order]
    share = in_place(spread.share[:n_levels], rank)
    known = float(share.sum())
    below = np.cumsum(share)[:-1] / known
    at = np.concatenate([[0.0], np.cumsum(step)])
    weighed = np.concatenate([[0.0], np.cumsum(step * below)])
    out = np.empty(spread.n_cells)
    known = 1.0 if len(spread.share) == n_levels else known
    _by_order(spread.edges, places, count, below, step, at, weighed, known, out)
    return out


# --- from what the caller says to places and nodes ------------------------------------------------------


def order_of(levels: Levels, listed: Sequence[Any] | None = None) -> NDArray[np.int64]:
    """Rank of each level: as listed, otherwise of numbers and dates, otherwise as declared."""
    if listed is not None:
        return _places(levels, listed)
    if levels.numbers is None:
        if not levels.declared:
            raise DataError(
                f"the values of {levels.name!r} ({levels.kind}) have no order: make it an ordered category, or "
                "list its levels from lowest to highest, distance=[...]"
            )
        return np.arange(len(levels.codes))
    return places_among(np.argsort(levels.numbers, kind="stable"), len(levels.codes))


def _places(levels: Levels, listed: Sequence[Any]) -> NDArray[np.int64]:
    texts = [code_text(level) for level in listed]
    if len(set(texts)) < len(texts):
        raise DataError(f"distance: a level of {levels.name!r} is listed more than once", argument="distance")
    place = {text: i for i, text in enumerate(texts)}
    places = [place.get(label, -1) for label in levels.labels()]
    _refuse_absent(places.count(-1), levels.name, "list")
    return places_among(np.argsort(places), len(places))  # listed levels that do not occur get no rank


def steps_of(levels: Levels, rank: NDArray[np.int64], *, numeric: bool) -> NDArray[np.float64]:
    """Distances between neighbouring ranks: equal, or differences of the numbers, divided by the range."""
    n_steps = len(rank) - 1
    if not numeric:
        return np.full(n_steps, 1.0 / max(1, n_steps))
    if levels.numbers is None or not np.isfinite(levels.numbers).all():
        held = f"is of kind {levels.kind}" if levels.numbers is None else "holds infinite ones"
        raise DataError(f"distance='numeric' needs finite numbers; {levels.name!r} {held}")
    line = in_place(levels.numbers, rank)
    gaps: NDArray[np.float64] = np.diff(line) / (line[-1] - line[0])
    return gaps


def branches_of(levels: Levels, hierarchy: Mapping[Any, Sequence[Any]]) -> NDArray[np.int64]:
    """Node of each level at every height below the root of a hierarchy."""
    name = levels.name
    if any(isinstance(parents, str) or not isinstance(parents, Sequence) for parents in hierarchy.values()):
        raise DataError(f"the hierarchy of {name!r} names the parents of each level in a list, nearest first")
    chains = {code_text(level): [code_text(parent) for parent in parents] for level, parents in hierarchy.items()}
    depths = {len(chain) for chain in chains.values()}
    if len(depths) != 1 or 0 in depths:
        words = f"in the hierarchy of {name!r} levels have different numbers of parents"
        raise DataError(f"{words}: give all the same, 1 or more")
    depth = depths.pop()
    for h in range(depth - 1):
        parent: dict[str, str] = {}
        for chain in chains.values():
            if parent.setdefault(chain[h], chain[h + 1]) != chain[h + 1]:
                words = f"the group {chain[h]!r} belongs to two larger groups"
                raise DataError(f"in the hierarchy of {name!r} {words}")
    labels = levels.labels()
    _refuse_absent(sum(label not in chains for label in labels), name, "hierarchy")
    heights = depth if len({chain[-1] for chain in chains.values()}) == 1 else depth + 1
    rows, first = [np.arange(len(labels), dtype=np.int64)], len(labels)
    for h in range(heights - 1):
        number = {text: i for i, text in enumerate(dict.fromkeys(chains[label][h] for label in labels))}
        rows.append(np.array([first + number[chains[label][h]] for label in labels], np.int64))
        first += len(number)
    return np.array(rows)


def _refuse_absent(n: int, name: str, where: str) -> None:
    if n:
        raise DataError(
            f"distance: the {where} lacks {counted(n, 'level')} of {name!r}; complete it", argument="distance"
        )


# "equal", "ordered", "numeric", a list of levels in order, or a hierarchy {level: [parents, ...]}
Distance: TypeAlias = "str | Sequence[Any] | Mapping[Any, Sequence[Any]]"
NAMES = ("equal", "ordered", "numeric")


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def closeness(spread: Spread, distance: Distance) -> NDArray[np.float64]:
    """Earth mover's distance of each class from the file."""
    levels = spread.levels
    if distance == "equal":
        return distance_by_branches(spread, np.arange(len(levels.codes), dtype=np.int64)[None, :])
    if isinstance(distance, Mapping):
        return distance_by_branches(spread, branches_of(levels, distance))
    rank = order_of(levels, None if isinstance(distance, str) else distance)
    return distance_by_order(spread, rank, steps_of(levels, rank, numeric=distance == "numeric"))


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TCloseness(ClassResult):
    """t-closeness of each sensitive variable.

    Attributes
    ----------
    n : int
        Records.
    variables : tuple of str
        The sensitive variables.
    distances : dict of str to str
        The distance between values of each: "equal", "ordered", "numeric" or "hierarchy".
    level : dict of str to float
        The largest distance of a class from the file, 0 to 1: the t that the file satisfies.
    quartiles : dict of str to tuple of float
        Lower quartile, median and upper quartile over the records.
    violations : dict
        ``violations[variable][t]``: records in a class that is farther than t.
    records : frame
        ``t_<variable>``, the distance of a record's class.
    table : frame
        A row per cell, the worst first; for the session only.
    """

    measure: ClassVar[str] = "t_closeness"
    figures: ClassVar[tuple[str, ...]] = ("n", "level", "quartiles", *VIOLATED)
    largest: ClassVar[dict[str, str]] = {"level": "t"}
    judged: ClassVar[dict[str, str]] = {"": "t"}
    distances: dict[str, str] = field(default_factory=dict)

    @cached_property
    def level(self) -> dict[str, float]:
        """Largest distance of a class from the file, by variable."""
        return self._largest("level")

    @cached_property
    def quartiles(self) -> dict[str, tuple[float, ...]]:
        """Quartiles over the records, by variable."""
        shares = [0.25, 0.5, 0.75]
        return {name: tuple(self._figure("t", name).quantiles(shares)) for name in self.variables}


# --- measure ------------------------------------------------------------------------------------------


def t_closeness(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    distance: Distance | Mapping[str, Distance] = "equal",
    limits: Sequence[float] | float = (0.1, 0.2),
    missing: MissingRule | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> TCloseness:
    """Measure how far the values of a sensitive variable among the records of one key are from the whole file.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    sensitive : str or sequence of str
        Variables that they would learn.
    distance : {"equal", "ordered", "numeric"}, list, hierarchy, or a dict of these by variable
        How far two values are apart, 0 to 1. "equal": any two are at distance 1. "ordered": places between
        them in the order of the values, over the number of values less one; for numbers, dates and ordered
        categories, or a list of the levels from lowest to highest. "numeric": difference over the range. A
        hierarchy ``{level: [parent, its parent, ...]}`` with the same number of parents for all: height of
        the lowest common group over the height of the tree (a root above all is added where the last
        parents differ).
    limits : float or sequence of float
        Values t to count violations of, above 0.
    missing : {"category", "wildcard", "error"} or dict, optional
        What a missing *key* value is; default a category. As a wildcard, the class of a record is all
        records that match it: classes grow and come closer to the file.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its class less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    TCloseness
        ``level``, ``quartiles``, ``violations``, ``records``, ``table``.

    Raises
    ------
    ColumnError
        As `key_frequencies`; a sensitive variable that is a key.
    DataError
        As `key_frequencies`; a sensitive variable without any value; "ordered" for text without an order;
        "numeric" for what is no finite number; a list or hierarchy that does not cover the values of the file or
        contradicts itself; a limit not above 0.
    ScenarioError
        No sensitive variable.

    Notes
    -----
    A missing sensitive value is one more value, at distance 1 from every other; under "ordered" and
    "numeric" what is moved to and from it is taken from the others in proportion, which may cost more than
    the cheapest way. One value only in the file: 0. Levels listed that no record has take no place in the
    order.

    References
    ----------
    Li, N., Li, T. and Venkatasubramanian, S. (2007). t-closeness: privacy beyond k-anonymity and
    l-diversity. ICDE 2007.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "m"], "income": [3, 5, 9, 11]})
    >>> result = t_closeness(survey, keys=["sex"], sensitive="income", distance="ordered")
    >>> result.level["income"], result.violations["income"]
    (0.3333333333333333, {0.1: 4, 0.2: 4})
    """
    classes = open_classes(
        TCloseness, data, keys=keys, sensitive=sensitive, limits=limits, limit="t", missing=missing, by=by,
        interval=interval, seed=seed, scenario=scenario, id=id, prefix=prefix,
    )  # fmt: skip
    chosen = {name: _distance_of(name, distance, classes.variables) for name in classes.variables}
    classes, _ = classes.measured(lambda name, spread: ({f"t_{name}": closeness(spread, chosen[name])}, None))
    return classes.result(["t"], distances={name: _name_of(ground) for name, ground in chosen.items()})


def _distance_of(name: str, distance: Any, variables: Sequence[str]) -> Distance:
    """The distance of one variable, where several may be given by name."""
    if isinstance(distance, Mapping) and (
        set(distance) == set(variables) or any(isinstance(value, (str, Mapping)) for value in distance.values())
    ):
        if set(distance) != set(variables):
            words = "distance by variable names every sensitive variable once, and no other"
            raise DataError(words, argument="distance")
        distance = distance[name]
    if isinstance(distance, str) and distance not in NAMES:
        words = f"distance {distance!r} is unknown; use {', '.join(NAMES)}, a list or a hierarchy"
        raise DataError(words, argument="distance")
    if not isinstance(distance, (str, Mapping, list, tuple)) or len(distance) == 0:
        words = "distance is a name, a list of levels in their order, or a hierarchy of them"
        raise DataError(words, argument="distance")
    return distance


def _name_of(distance: Distance) -> str:
    if isinstance(distance, str):
        return distance
    return "hierarchy" if isinstance(distance, Mapping) else "ordered"
