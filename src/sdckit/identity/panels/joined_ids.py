"""Identifiers that change between waves, and what stays the same about a person and leads from one to the next."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column, days_values
from sdckit.numerics.array_types import Bools, Codes, Ints
from sdckit.numerics.grouping import extremes_of


def changed_ids(person: Codes, owner: Codes | None, n_original: int) -> bool:
    """Whether people have several identifiers: by whose rows they are, else by more identifiers than people.

    `person` (n,): identifier of each row, numbered from 0. `owner` (n,): person of the original.

    >>> changed_ids(np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1]), 5), changed_ids(np.array([0, 1]), None, 2)
    (True, False)
    """
    n_ids = len(np.unique(person))
    if owner is None:
        return n_ids > n_original
    return len(group_codes([person, owner], len(person)).size) > len(np.unique(owner))


def joined_ids(
    released: Any, original: Any, person: Codes, of_original: Codes, owner: Codes | None, *, id: str, time: str
) -> tuple[Codes, tuple[str, ...]]:
    """People as whoever has the release can follow them, numbered from 0, and the columns that lead to them.

    What is the same in all rows of a person of the original, and in all rows of an identifier of the release, is taken
    to be of the person; so is a number that moves with the time, as age does. Identifiers that agree in all of this
    are one person where no two of them have the same time; where `owner`, the person of the original by row, is known,
    only those that are. What is missing of some identifiers keeps nobody from following them by the rest.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rows = {"who": [1, 1, 2, 2], "year": [1, 2, 1, 2], "born": [50, 50, 60, 60], "job": ["a", "b", "b", "b"]}
    >>> before, after = (open_frame(pl.DataFrame(rows | {"who": who})) for who in ([1, 1, 2, 2], [7, 8, 9, 6]))
    >>> joined_ids(after, before, np.array([1, 2, 3, 0]), np.array([0, 0, 1, 1]), None, id="who", time="year")
    (array([0, 0, 1, 1], dtype=int32), ('born',))
    """
    profile: list[Ints] = []
    names: list[str] = []
    for name in released.columns:
        if name in (id, time) or name not in original.columns:
            continue
        for codes, theirs in zip(_codings(released, name, time), _codings(original, name, time), strict=False):
            if _constant(theirs, of_original) and _constant(codes, person):
                profile.append(_of_person(codes, person))
                names.append(name)
                break
    if not profile:
        return person, ()
    n, same_for_all = len(person), profile if owner is None else [*profile, owner.astype(np.int64) + 1]
    profile.sort(key=lambda codes: -np.count_nonzero(codes))  # what is known of most leads to most
    waves, number = code_column(released[time]).codes().astype(np.int64), n + person.astype(np.int64)
    free = np.ones(n, np.bool_)
    for k in range(1, len(profile) + 1):
        if k < len(profile) and (profile[k] > 0).all():
            continue
        there = free & (np.logical_and.reduce([codes > 0 for codes in profile[:k]]) | (k == len(profile)))
        group = np.where(there, group_codes(profile[:k], n).of_row, n + person)
        joined = there & _one_at_a_time(group, person, waves)
        for codes in same_for_all:
            joined &= _agree(group, codes)[group]
        number = np.where(joined, 2 * n * k + group, number)
        free &= ~joined
    return np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int32), tuple(names)


def _codings(frame: Any, name: str, time: str) -> Iterator[Ints]:
    """Codes of a column, -1 where missing; then those of its distance from the time, where both are numbers."""
    column, wave = code_column(frame[name]), code_column(frame[time])
    codes = column.codes().astype(np.int64)
    yield np.where(codes == column.span, -1, codes)
    if {column.kind, wave.kind} <= {"integer", "number"}:
        apart = np.round(days_values(frame[name], file=name) - days_values(frame[time], file=time), 6)
        codes = np.unique(apart, return_inverse=True)[1].reshape(-1)
        yield np.where(np.isnan(apart), -1, codes)


def _of_person(codes: Ints, person: Codes) -> Ints:
    """The known code of the person of each row, from 1; 0 where nothing is known of them."""
    known = np.zeros(int(person.max()) + 1, np.int64)
    there = codes >= 0
    known[person[there]] = codes[there] + 1
    return known[person]


def _constant(codes: Ints, person: Codes) -> bool:
    """Whether all known codes of each person are equal, and they are not all equal in the file."""
    there = codes >= 0
    same = (_of_person(codes, person) == codes + 1)[there].all()
    return bool(same) and len(np.unique(codes[there])) > 1


def _one_at_a_time(group: Ints, person: Codes, time: Ints) -> Bools:
    """Whether no two identifiers of the group of a row have a row at the same time."""
    moment = group_codes([group, time], len(person)).of_row
    single = np.ones(int(group.max()) + 1, np.bool_)
    single[group[~_agree(moment, person.astype(np.int64) + 1)[moment]]] = False
    return single[group]


def _agree(group: Ints | Codes, codes: Ints) -> Bools:
    """Whether all known codes of the rows of each group, from 1, are equal."""
    known = np.where(codes > 0, codes.astype(np.float64), np.nan)
    low, high, _ = extremes_of(group.astype(np.int32, copy=False), known, int(group.max()) + 1)
    return low >= high
