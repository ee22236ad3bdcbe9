"""E7: targeted record swapping: households that stand out in their area change places with similar ones elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import code_column
from sdckit.data.replace import open_eager, take_rows
from sdckit.data.seeds import open_rng
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Ints
from sdckit.protect.change import Change, Protected
from sdckit.protect.numeric_columns import chosen
from sdckit.protect.perturbation.swapping import (
    Households,
    draw_order,
    draw_partners,
    one_per_household,
    read_households,
)


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
    asked = {"hierarchy": levels, "keys": key_names, "carry_along": carried, "similar": sum(profiles, ())}
    frame = open_eager(data, {**asked, "household": (household,) if household else ()})
    homes = read_households(frame, household, levels, key_names)
    for name in carried:
        one_per_household(frame, name, homes.of_row, homes.first)
    compared = {name: one_per_household(frame, name, homes.of_row, homes.first) for name in asked["similar"]}
    alike = [[compared[name] for name in one] + [homes.size] * same_size for one in profiles]
    rng, secret = open_rng(seed)
    partner, failed, forced = _swap(homes, alike, k, swap_rate, rng)
    source = _sources(homes, partner)
    changed = {}
    for name in (*levels, *carried):
        codes = code_column(frame[name]).codes()
        changed[name] = int(np.count_nonzero(codes[source] != codes))
    swapped = int(np.count_nonzero(partner >= 0))
    change = Change(
        "swap_records", len(frame), changed,
        parameters={
            "hierarchy": list(levels), "keys": list(key_names), "household": household, "k": int(k),
            "similar": [list(one) for one in profiles], "same_size": same_size, "carry_along": list(carried),
        },
        secret={
            "seed": secret, "swap_rate": float(swap_rate), "households": len(homes.first), "swapped": swapped,
            "forced": dict(zip(levels, forced, strict=True)),
        },
        notes=_notes(failed, levels, swapped, swap_rate, len(homes.first)),
    )  # fmt: skip
    return Protected(take_rows(frame, dict.fromkeys((*levels, *carried), source)), change)


def _swap(
    homes: Households, alike: list[list[Ints]], k: int, rate: float, rng: np.random.Generator
) -> tuple[Ints, list[int], list[int]]:
    """Partner of each household (-1: none), and per level those without one and those that needed one."""
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
    missing = math.ceil(rate * n - 1e-9) - int(np.count_nonzero(partner >= 0))
    area, risk = homes.areas[-1], 1.0 / homes.rarest[-1]
    parent = homes.areas[-2] if len(homes.areas) > 1 else np.zeros(n, np.int64)
    groupings = [[*codes, parent] for codes in alike] + ([] if not parent.any() else alike)
    free = draw_order(risk, rng)
    free = free[partner[free] < 0]
    while missing > 0 and len(free):
        part, free = free[: (missing + 1) // 2], free[(missing + 1) // 2 :]
        draw_partners(part, groupings, area, risk, partner, rng)
        missing = math.ceil(rate * n - 1e-9) - int(np.count_nonzero(partner >= 0))
    return partner, failed, forced


def _sources(homes: Households, partner: Ints) -> Ints:
    """The record that lends each record its geography."""
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
    if (
        isinstance(similar, str)
        or not isinstance(similar, Iterable)
        or any(isinstance(one, str) for one in similar)
    ):
        raise ColumnError(
            'similar= is a list of profiles, each a list of columns: similar=[["tenure", "rooms"], ["rooms"]]',
            argument="similar",
        )
    return [arguments.names(one, "similar") or () for one in similar] or [()]
