"""Households that are to change places: how rare each is in its area, and a partner elsewhere that is alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column, first_rows
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.count_boxes import order_by_group


@njit(cache=True, nogil=True)
def _pair(asked, group, area, pair, order, edges, at, partner):  # type: ignore[no-untyped-def]
    """Give each household asked for the first free one of its group in another area."""
    left = 0
    for i in asked:
        if partner[i] >= 0:
            continue
        p, end = at[pair[i]], edges[group[i] + 1]
        # what was passed over was swapped or of this same area, and stays so: the place only moves on
        while p < end and (partner[order[p]] >= 0 or area[order[p]] == area[i]):
            p += 1
        at[pair[i]] = p
        if p < end:
            partner[i], partner[order[p]] = order[p], i
        else:
            left += 1
    return left


def draw_order(weight: Floats, rng: np.random.Generator) -> Ints:
    """An order in which each next one is drawn from those left with probability in proportion to its weight.

    Efraimidis, P. S. and Spirakis, P. G. (2006). Weighted random sampling with a reservoir. Information
    Processing Letters 97, 181-185.

    >>> draw_order(np.array([1e-9, 1.0]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    return np.argsort(rng.standard_exponential(len(weight)) / weight, kind="stable")


def draw_partners(
    asked: Ints, groupings: Sequence[Sequence[Ints]], area: Ints, weight: Floats, partner: Ints,
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Pair households, and write it into `partner`.

    `asked`: households that need a partner, in the order in which they are served. `groupings`: codes that
    partners have in common; where nobody is left, the next ones count. Partners are of different areas, the
    chances of being one are in proportion to `weight`, and `partner` is -1 where free. Returns households left
    without a partner.

    >>> partner, size, area = np.full(3, -1), np.array([1, 2, 1]), np.array([0, 1, 1])
    >>> draw_partners(np.array([0]), [[size]], area, np.ones(3), partner, np.random.default_rng(0))
    0
    >>> partner.tolist()
    [2, -1, 0]
    """
    rank = np.empty(len(area), np.int64)
    rank[draw_order(weight, rng)] = np.arange(len(area))
    by_rank = np.argsort(rank)
    left = 0
    for codes in groupings:
        groups = group_codes(list(codes), len(area))
        group = groups.of_row.astype(np.int64)
        in_order, edges = order_by_group(group[by_rank], len(groups.size))
        pairs = group_codes([group, area], len(area))
        pair = pairs.of_row.astype(np.int64)
        at = np.empty(len(pairs.size), np.int64)
        at[pair] = edges[group]
        left = int(_pair(asked, group, area, pair, by_rank[in_order], edges, at, partner))
        if left == 0:
            break
    return left


@dataclass(frozen=True, eq=False)
class Households:
    """The households of a file, numbered by their first record."""

    of_row: Ints  # shape (n,)
    first: Ints  # shape (n_households,); first record of each
    size: Ints  # shape (n_households,)
    # per level, the largest areas first: the area of each, part of the one above it
    areas: tuple[Ints, ...]
    # per level: the fewest records of its area that share the keys of one of its members
    rarest: tuple[Ints, ...]


def read_households(
    frame: Any, household: str | None, hierarchy: Sequence[str], keys: Sequence[str]
) -> Households:
    """Read the households, and count the key combinations area by area.

    Raises `DataError`: a household without a number, or whose members live in different areas.
    """
    n = len(frame)
    of_row = np.arange(n)
    if household is not None:
        coded = code_column(frame[household])
        codes = coded.codes()
        if coded.n_missing:
            raise DataError(
                f"household {household!r} is missing for {coded.n_missing} records "
                f"({first_rows(codes == coded.span)}); give every record one"
            )
        found, begin, inverse = np.unique(codes, return_index=True, return_inverse=True)
        rank = np.empty(len(found), np.int64)
        rank[np.argsort(begin)] = np.arange(len(found))
        of_row = rank[inverse.reshape(-1)]
    first = np.unique(of_row, return_index=True)[1].astype(np.int64)
    combination = group_codes([code_column(frame[name]).codes() for name in keys], n).of_row.astype(np.int64)
    area, areas, rarest = np.zeros(n, np.int64), [], []
    for name in hierarchy:
        own = one_per_household(frame, name, of_row, first)
        area = group_codes([area, own[of_row]], n).of_row.astype(np.int64)
        cells = group_codes([area, combination], n)
        fewest = np.full(len(first), n, np.int64)
        np.minimum.at(fewest, of_row, cells.size[cells.of_row])
        areas.append(area[first])
        rarest.append(fewest)
    return Households(of_row, first, np.bincount(of_row), tuple(areas), tuple(rarest))


def one_per_household(frame: Any, name: str, of_row: Ints, first: Ints) -> Ints:
    """Codes of a variable that all members of a household share.

    Raises `DataError`: members that differ.
    """
    codes = code_column(frame[name]).codes()
    bad = codes != codes[first][of_row]
    if bad.any():
        raise DataError(
            f"column {name!r} differs within {len(np.unique(of_row[bad])):,} households ({first_rows(bad)}); "
            "a household is swapped as a whole, give its members one value"
        )
    return np.asarray(codes[first], np.int64)
