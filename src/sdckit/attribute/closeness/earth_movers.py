"""How much of a class must be moved, and how far, until its values spread as in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.closeness.cell_classes import Spread
from sdckit.cells.crosstab import Levels
from sdckit.errors import DataError
from sdckit.numerics.compiling import njit

SHORT = 16  # stretches of the order up to this length are added up, longer ones looked up


# --- kernels ------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _by_branches(edges, level, count, nodes, share, height, out):  # type: ignore[no-untyped-def]
    """Mean over the heights of the tree of what a class has too much of."""
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
    """Sum over positions a to b - 1 of step times the gap between c and the file's share up to there."""
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
        place, held, moved = 0, 0.0, 0.0
        for e in range(edges[cell], edges[cell + 1]):
            if rank[e] <= last:
                moved += _stretch(place, rank[e], held / mine, below, step, at, weighed)
                place = rank[e]
                held += count[e]
        moved += _stretch(place, last, 1.0, below, step, at, weighed)
        share = mine / total
        out[cell] = abs(share - known) + min(share, known) * moved


def distance_by_branches(
    spread: Spread, nodes: NDArray[np.int64], height: int | None = None
) -> NDArray[np.float64]:
    """Earth mover's distance (K,), 0 to 1, of each class from the file where levels lie in a tree.

    `nodes` (H, M) are the nodes of each level at heights 0 to H - 1 below the root, every height with its own
    numbers; `height` is that of the root, default H. Two levels are as far apart as their lowest common node is
    high, the root being at 1. A missing value is a branch of its own.

    An edge of the tree is half a step, and what is to be moved along it is what the class has too much or
    too little of below it: the distance is the mean over the heights of half the sum of differences.
    """
    if len(spread.share) > nodes.shape[1]:
        nodes = np.column_stack([nodes, nodes.max(initial=-1) + 1 + np.arange(len(nodes))])
    weights = np.broadcast_to(spread.share, nodes.shape).ravel()
    share = np.bincount(nodes.ravel(), weights)
    out = np.empty(spread.n_cells)
    _by_branches(
        spread.edges, spread.level, spread.count, np.ascontiguousarray(nodes), share,
        float(height or len(nodes)), out,
    )  # fmt: skip
    return out


def distance_by_order(
    spread: Spread, rank: NDArray[np.int64], step: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Earth mover's distance (K,), 0 to 1, of each class from the file where levels lie on a line.

    `rank` (M,) is the place of each level on the line, from 0; `step` (M - 1,) the distance between neighbours,
    the sum being 1. A missing value is at distance 1 from every level, and what is moved to and from missing
    values is taken from the levels in proportion.
    """
    n_levels = len(rank)
    places = np.append(rank, n_levels)[spread.level]
    count = spread.count
    if (rank[1:] < rank[:-1]).any():  # entries stand in the order of codes, not of ranks
        cell = np.repeat(np.arange(spread.n_cells), np.diff(spread.edges))
        order = np.lexsort((places, cell))
        places, count = places[order], count[order]
    share = np.empty(n_levels)
    share[rank] = spread.share[:n_levels]
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
    """Place of each level in its order: as listed, else of numbers and dates, else as declared."""
    if listed is not None:
        return _places(levels, listed)
    if levels.numbers is None:
        if not levels.declared:
            raise DataError(
                f"the values of {levels.name!r} ({levels.kind}) have no order: make it an ordered category, or "
                "list its levels from lowest to highest, distance=[...]"
            )
        return np.arange(len(levels.codes))
    rank = np.empty(len(levels.codes), np.int64)
    rank[np.argsort(levels.numbers, kind="stable")] = np.arange(len(rank))
    return rank


def _places(levels: Levels, listed: Sequence[Any]) -> NDArray[np.int64]:
    texts = [printed(one) for one in listed]
    if len(set(texts)) < len(texts):
        raise DataError(f"distance: a level of {levels.name!r} is listed more than once", argument="distance")
    place = {text: i for i, text in enumerate(texts)}
    found = [place.get(label, -1) for label in levels.labels()]
    _refuse_absent(found.count(-1), levels.name, "list")
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(found)] = np.arange(len(found))  # levels that do not occur have no place
    return rank


def steps_of(levels: Levels, rank: NDArray[np.int64], *, numeric: bool) -> NDArray[np.float64]:
    """Distances between neighbours in the order: equal, or those of the numbers, over the range."""
    n_steps = len(rank) - 1
    if not numeric:
        return np.full(n_steps, 1.0 / max(1, n_steps))
    if levels.numbers is None or not np.isfinite(levels.numbers).all():
        held = levels.kind + (" with infinite ones" if levels.numbers is not None else "")
        raise DataError(f"distance='numeric' needs finite numbers; {levels.name!r} holds {held}")
    line = np.empty(len(rank))
    line[rank] = levels.numbers
    gaps: NDArray[np.float64] = np.diff(line) / (line[-1] - line[0])
    return gaps


def branches_of(levels: Levels, hierarchy: Mapping[Any, Sequence[Any]]) -> NDArray[np.int64]:
    """Nodes of each level at every height below the root of a hierarchy."""
    name = levels.name
    if any(isinstance(parents, str) or not isinstance(parents, Sequence) for parents in hierarchy.values()):
        raise DataError(f"the hierarchy of {name!r} names the parents of each level in a list, nearest first")
    chains = {printed(level): [printed(one) for one in parents] for level, parents in hierarchy.items()}
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


def printed(value: Any) -> str:
    """A level as labels print it: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refuse_absent(n: int, name: str, where: str) -> None:
    if n:
        words = f"distance: {n} levels of {name!r} are not in the {where}; add them"
        raise DataError(words, argument="distance")
