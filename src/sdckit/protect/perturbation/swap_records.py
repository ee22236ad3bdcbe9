"""E7: targeted record swapping: households that are rare in their area swap places with similar ones elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data import arguments, columns, households, replace, seeds
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.search.count_boxes import order_by_group
from sdckit.protect.change import Change, Protected, chosen

# Households to swap: how rare each is in its area, and a similar partner in another area.


@njit(cache=True, nogil=True)
def _pair(unpaired, group, area, pair, order, edges, at, partner):  # type: ignore[no-untyped-def]
    """Pair each unpaired household with the first free one of its group in another area; return how many find none.

    `group`, `area`, `pair`: group, area, and combination of both, of each household. `order`, `edges`: households group
    by group, and where groups begin. `at`: place in `order` reached so far, by combination. `partner`: -1 where free;
    filled.
    """
    left = 0
    for i in unpaired:
        if partner[i] >= 0:
            continue
        p, end = at[pair[i]], edges[group[i] + 1]
        # one passed over was swapped or is in the same area, and stays so: the place only moves on
        while p < end and (partner[order[p]] >= 0 or area[order[p]] == area[i]):
            p += 1
        at[pair[i]] = p
        if p < end:
            partner[i], partner[order[p]] = order[p], i
        else:
            left += 1
    return left


def draw_order(weight: Floats, rng: np.random.Generator) -> Ints:
    """Random order in which each next one is drawn with probability proportional to its weight.

    Efraimidis, P. S. and Spirakis, P. G. (2006). Weighted random sampling with a reservoir. Information
    Processing Letters 97, 181-185.

    >>> draw_order(np.array([1e-9, 1.0]), np.random.default_rng(0)).tolist()
    [1, 0]
    """
    return np.argsort(rng.standard_exponential(len(weight)) / weight, kind="stable")


def draw_partners(
    unpaired: Ints, groupings: Sequence[Sequence[Ints]], area: Ints, weight: Floats, partner: Ints,
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Draw partners for households, and write them into `partner`.

    `unpaired`: households that need a partner, in the order in which they are served. `groupings`: codes in which
    partners agree; where nobody is left, the next grouping is tried. Partners are in different areas and drawn with
    probability proportional to `weight`; `partner` is -1 where free. Returns the number of households left without a
    partner.

    >>> partner, size, area = np.full(3, -1), np.array([1, 2, 1]), np.array([0, 1, 1])
    >>> draw_partners(np.array([0]), [[size]], area, np.ones(3), partner, np.random.default_rng(0))
    0
    >>> partner.tolist()
    [2, -1, 0]
    """
    by_rank = draw_order(weight, rng)
    left = 0
    for codes in groupings:
        groups = group_codes(list(codes), len(area))
        group = groups.of_row.astype(np.int64)
        in_order, edges = order_by_group(group[by_rank], len(groups.size))
        pairs = group_codes([group, area], len(area))
        pair = pairs.of_row.astype(np.int64)
        at = np.empty(len(pairs.size), np.int64)
        at[pair] = edges[group]
        left = int(_pair(unpaired, group, area, pair, by_rank[in_order], edges, at, partner))
        if left == 0:
            break
    return left


@dataclass(frozen=True, eq=False)
class Households(households.Homes):
    """The households of a file, with their areas."""

    # per level, the largest areas first: the area of each, part of the one above it
    areas: tuple[Ints, ...]
    # per level: the fewest records of its area that share the keys of one of its members
    rarest: tuple[Ints, ...]


def read_households(frame: Any, household: str | None, hierarchy: Sequence[str], keys: Sequence[str]) -> Households:
    """Read the households, and count the key combinations area by area.

    Raises `DataError`: a household without a number, or whose members live in different areas.
    """
    n = len(frame)
    codes, missing = np.arange(n), n
    if household is not None:
        coded = columns.code_column(frame[household])
        codes, missing = coded.codes(), coded.span
        if coded.n_missing:
            raise DataError(
                f"household {household!r} is missing for {counted(coded.n_missing, 'record')} "
                f"({columns.first_rows(codes == missing)}); give every record one"
            )
    homes = households.homes_of(codes, missing)
    of_row, first = homes.of_row, homes.first
    combination = group_codes([columns.code_column(frame[name]).codes() for name in keys], n).of_row.astype(np.int64)
    area, areas, rarest = np.zeros(n, np.int64), [], []
    for name in hierarchy:
        own = one_per_household(frame, name, of_row, first)
        area = group_codes([area, own[of_row]], n).of_row.astype(np.int64)
        cells = group_codes([area, combination], n)
        fewest = np.full(len(first), n, np.int64)
        np.minimum.at(fewest, of_row, cells.size[cells.of_row])
        areas.append(area[first])
        rarest.append(fewest)
    return Households(of_row, first, homes.size, tuple(areas), tuple(rarest))


def one_per_household(frame: Any, name: str, of_row: Ints, first: Ints) -> Ints:
    """Codes of a household variable, one per household.

    Raises `DataError`: members that differ.
    """
    codes = columns.code_column(frame[name]).codes()
    bad = codes != codes[first][of_row]
    if bad.any():
        raise DataError(
            f"column {name!r} differs within {counted(len(np.unique(of_row[bad])), 'household')} "
            f"({columns.first_rows(bad)}); a household is swapped as a whole, give its members one value"
        )
    return np.asarray(codes[first], np.int64)


def swap_records(
    data: Any,
    *,
    hierarchy: Sequence[str],
    keys: Sequence[str],
    household: str | None = None,
    k: int = 3,
    swap_rate: float = 0.05,
    similar: Sequence[Sequence[str]] = (),
    same_size: bool = True,
    carry_along: Sequence[str] = (),
    seed: arguments.Seed = None,
) -> Protected:
    """Let households that are rare in their area change places with similar households of other areas.

    Parameters
    ----------
    data : data frame
        One record per person, or per household.
    hierarchy : sequence of str
        Geography, the largest areas first: ``["region", "district", "town"]``. Its values are what is swapped.
    keys : sequence of str
        Variables that make a person rare; a missing value is a level.
    household : str, optional
        Column that numbers the households; default each record is one.
    k : int
        A household is swapped where fewer than k records of its area share the keys of one of its members.
    swap_rate : float
        Least share of the households to be swapped, 0 to below 1; a swap counts two.
    similar : sequence of sequences of str
        Profiles: variables in which partners agree, the best first; the next is tried where nobody is left.
    same_size : bool
        Whether partners also have as many members, in every profile.
    carry_along : sequence of str
        Other variables of the household that are swapped with the geography (coordinates, say).
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. ``change.notes`` says how many households found no partner. Seed, swap rate and
        numbers of swaps are in ``change.secret`` only.

    Raises
    ------
    ColumnError
        A column that the data does not have, or a key that is swapped.
    DataError
        A household without a number, or whose members differ in what is swapped or compared; options out of
        range.

    Notes
    -----
    From the largest areas to the smallest, the households not yet swapped that have fewer than k records like
    them in their area at that level get a partner from another area of the level, of the same area one level
    up where there is one, drawn with chances in proportion to its own risk: 1 over the number of records like
    the rarest of its members. At the last level further households, drawn by their risk too, are swapped up to
    `swap_rate`. Nobody is swapped twice. Every area keeps its number of households, and with `same_size` its
    number of persons; counts over the whole file do not change at all.

    References
    ----------
    Eurostat (2023). Recommendations for the protection of hypercubes and grid data: targeted record swapping,
    in: Statistical disclosure control for the European census 2021.
    Shlomo, N., Tudor, C. and Groom, P. (2010). Data swapping for protecting census tables. In: Privacy in
    Statistical Databases, LNCS 6344, 41-51.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"town": ["a"] * 4 + ["b"] * 4, "job": ["x", "x", "x", "y"] + ["x"] * 4})
    >>> found = swap_records(people, hierarchy=["town"], keys=["job"], k=2, swap_rate=0, seed=1)
    >>> found.data["town"].to_list(), found.change.changed
    (['a', 'a', 'a', 'b', 'b', 'b', 'b', 'a'], {'town': 2})
    """
    levels, key_names = chosen(hierarchy, "hierarchy"), chosen(keys, "keys")
    profiles = _profiles(similar)
    carried = arguments.names(carry_along, "carry_along") or ()
    arguments.count(k, "k", "counts records")
    arguments.within(swap_rate, "swap_rate", "is a share of the households", 0, 1, "[)")
    arguments.flag(same_size, "same_size")
    arguments.column_or_none(household, "household")
    if both := {*levels, *carried} & {*key_names, *sum(profiles, ()), *([household] if household else [])}:
        raise ColumnError(f"{sorted(both)[0]!r} is swapped: it cannot be a key, in similar or the household")
    roles = {"hierarchy": levels, "keys": key_names, "carry_along": carried, "similar": sum(profiles, ())}
    frame = replace.open_eager(data, {**roles, "household": (household,) if household else ()})
    homes = read_households(frame, household, levels, key_names)
    for name in carried:
        one_per_household(frame, name, homes.of_row, homes.first)
    compared = {name: one_per_household(frame, name, homes.of_row, homes.first) for name in roles["similar"]}
    alike = [[compared[name] for name in profile] + [homes.size] * same_size for profile in profiles]
    rng, secret = seeds.open_rng(seed)
    partner, failed, forced = _swap(homes, alike, k, swap_rate, rng)
    source = _sources(homes, partner)
    changed = {}
    for name in (*levels, *carried):
        codes = columns.code_column(frame[name]).codes()
        changed[name] = int(np.count_nonzero(codes[source] != codes))
    swapped = int(np.count_nonzero(partner >= 0))
    change = Change(
        "swap_records", len(frame), changed,
        parameters={
            "hierarchy": list(levels), "keys": list(key_names), "household": household, "k": int(k),
            "similar": [list(profile) for profile in profiles], "same_size": same_size, "carry_along": list(carried),
        },
        secret={
            "seed": secret, "swap_rate": float(swap_rate), "households": len(homes.first), "swapped": swapped,
            "forced": dict(zip(levels, forced, strict=True)),
        },
        notes=_notes(failed, levels, swapped, swap_rate, len(homes.first)),
    )  # fmt: skip
    return Protected(replace.take_rows(frame, dict.fromkeys((*levels, *carried), source)), change)


def _swap(
    homes: Households, alike: list[list[Ints]], k: int, rate: float, rng: np.random.Generator
) -> tuple[Ints, list[int], list[int]]:
    """Partner of each household (-1: none), and by level how many have none and how many needed one."""
    n = len(homes.first)
    partner, failed, forced = np.full(n, -1, np.int64), [], []
    above = np.zeros(n, np.int64)
    for area, rarest in zip(homes.areas, homes.rarest, strict=True):
        risk = 1.0 / rarest
        groupings = [[*codes, above] for codes in alike] + ([] if not above.any() else alike)
        needs = draw_order(risk, rng)
        needs = needs[(rarest[needs] < k) & (partner[needs] < 0)]
        forced.append(len(needs))
        failed.append(draw_partners(needs, groupings, area, risk, partner, rng))
        above = area
    area, risk = homes.areas[-1], 1.0 / homes.rarest[-1]
    parent = homes.areas[-2] if len(homes.areas) > 1 else np.zeros(n, np.int64)
    groupings = [[*codes, parent] for codes in alike] + ([] if not parent.any() else alike)
    free = draw_order(risk, rng)
    free = free[partner[free] < 0]
    while (missing := math.ceil(rate * n - 1e-9) - int(np.count_nonzero(partner >= 0))) > 0 and len(free):
        part, free = free[: (missing + 1) // 2], free[(missing + 1) // 2 :]
        draw_partners(part, groupings, area, risk, partner, rng)
    return partner, failed, forced


def _sources(homes: Households, partner: Ints) -> Ints:
    """The record from which each record takes its geography."""
    whose = np.where(partner >= 0, partner, np.arange(len(partner)))[homes.of_row]
    own = np.arange(len(homes.of_row))
    return np.where(partner[homes.of_row] >= 0, homes.first[whose], own)


def _notes(failed: list[int], levels: Sequence[str], swapped: int, rate: float, n: int) -> dict[str, str]:
    notes = {}
    if any(failed):
        counts = ", ".join(f"{count} by {name}" for count, name in zip(failed, levels, strict=True) if count)
        notes["not swapped"] = (
            f"households below k without a similar one elsewhere: {counts}; add a wider profile to similar="
        )
    if swapped < rate * n - 1e-9:
        notes["swap rate"] = "fewer households than asked for have a similar one in another area"
    return notes


def _profiles(similar: Any) -> list[tuple[str, ...]]:
    if isinstance(similar, str) or not isinstance(similar, Iterable) or any(isinstance(part, str) for part in similar):
        raise ColumnError(
            'similar= is a list of profiles, each a list of columns: similar=[["tenure", "rooms"], ["rooms"]]',
            argument="similar",
        )
    return [arguments.names(profile, "similar") or () for profile in similar] or [()]
