"""Identifiers that change between waves, and what stays the same about a person and leads from one to the next."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data.columns import code_column, days_values
from sdckit.numerics.array_types import Bools, Codes, Ints
from sdckit.numerics.grouping import extremes_of

FEW = 10  # records of a value on average, above which numbers are too common to lead to each other
NEARLY = 0.9  # share of the people of whom a column is the same; the others were mistaken for once, or have changed


def changed_ids(person: Codes, owner: Codes | None, n_original: int) -> bool:
    """Whether people have several identifiers: by whose rows they are, else by more identifiers than people.

    `person` (n,): identifier of each row, numbered from 0. `owner` (n,): person of the original.

    >>> changed_ids(np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1]), 5), changed_ids(np.array([0, 1]), None, 2)
    (True, False)
    """
    if owner is None:
        return len(np.unique(person)) > n_original
    return len(group_codes([person, owner], len(person)).size) > len(np.unique(owner))


def joined_ids(
    released: Any, original: Any, person: Codes, of_original: Codes, owner: Codes | None, *, id: str, time: str,
    by_values: bool = False,
) -> tuple[Codes, tuple[str, ...]]:  # fmt: skip
    """People as whoever has the release can follow them, numbered from 0, and the columns that lead to them.

    What is the same in all rows of a person of the original, and in all rows of an identifier of the release, of 90 %
    of these or more, is taken to be of the person; so is a number that moves with the time, as age does. Identifiers
    that agree in what is the same of everybody are one person where no two of them have the same time, else those that
    agree in what is the same of nearly all, too; where `owner`, the person of the original by row, is known, only those
    that are. What is missing of some identifiers keeps nobody from following them by the rest.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> rows = {"who": [1, 1, 2, 2], "year": [1, 2, 1, 2], "born": [50, 50, 60, 60], "job": ["a", "b", "b", "b"]}
    >>> before, after = (open_frame(pl.DataFrame(rows | {"who": who})) for who in ([1, 1, 2, 2], [7, 8, 9, 6]))
    >>> joined_ids(after, before, np.array([1, 2, 3, 0]), np.array([0, 0, 1, 1]), None, id="who", time="year")
    (array([0, 0, 1, 1], dtype=int32), ('born',))
    """
    profile: list[_Column] = []
    for name in released.columns:
        if name in (id, time) or name not in original.columns:
            continue
        codings = zip(_codings(released, name, time), _codings(original, name, time), strict=False)
        same = [
            _Column(name, _of_person(codes, person), min(_constant(theirs, of_original), _constant(codes, person)))
            for codes, theirs in codings
        ]
        profile += [column for column in (max(same, key=lambda column: column.constant),) if column.constant >= NEARLY]
    # what is the same of all, and known of most, leads to most; then what is the same of nearly all, one by one
    profile.sort(key=lambda column: (-column.constant, -np.count_nonzero(column.codes)))
    n, codes = len(person), [column.codes for column in profile]
    same_for_all = [column.codes for column in profile if column.constant == 1]
    same_for_all += [] if owner is None else [owner.astype(np.int64) + 1]
    waves, number = code_column(released[time]).codes().astype(np.int64), n + person.astype(np.int64)
    free, led = np.ones(n, np.bool_), {column.name for column in profile if column.constant == 1}
    for k in range(1, len(profile) + 1):
        if not free.any() or (k < len(profile) and profile[k].constant == 1 and (codes[k] > 0).all()):
            continue
        there = free & (np.logical_and.reduce([own > 0 for own in codes[:k]]) | (k == len(profile)))
        group = np.where(there, group_codes(codes[:k], n).of_row, n + person)
        joined = there & _one_at_a_time(group, person, waves)
        for own in same_for_all:
            joined &= _agree(group, own)[group]
        if not _agree(group, person.astype(np.int64) + 1)[group[joined]].all():  # some have several identifiers
            led.add(profile[k - 1].name)
        number = np.where(joined, 2 * n * k + group, number)
        free &= ~joined
    people = np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int32)
    if by_values and owner is not None:
        stable = [column.codes for column in profile if column.constant == 1]
        others = [name for name in released.columns if name not in (id, time, *(column.name for column in profile))]
        people, more = _led_by_values(released, others, stable, people, owner, waves)
        led |= more
    return people, tuple(name for name in released.columns if name in led)


def _led_by_values(
    released: Any, names: Sequence[str], stable: Sequence[Ints], people: Codes, owner: Codes, waves: Ints
) -> tuple[Codes, set[str]]:
    """People with those joined to one who alone share a value, or a number of one column with one of another.

    Such as an exact wage of two years, or this year's wage and last year's of the next. A column leads on where most of
    those that it joins, within what is the same of everybody (`stable`), are one person; the others stay apart. What is
    missing of some keeps nobody from being led by the value alone.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, led = len(people), set[str]()
    numeric = {name: days_values(released[name], file=name) for name in names if released[name].dtype.is_numeric()}
    rare = [name for name, values in numeric.items() if FEW * len(np.unique(values)) > n]
    whole = [own for own in stable if (own > 0).all()]
    within = (stable, whole) if len(whole) < len(stable) else (stable,)
    for columns, same in product([*((name,) for name in names), *combinations(rare, 2)], within):
        rows = np.tile(np.arange(n), len(columns))
        if len(columns) == 1:
            codes = next(_codings(released, columns[0], columns[0]))
        else:
            numbers = np.concatenate([numeric[name] for name in columns])
            codes = np.where(np.isnan(numbers), -1, np.unique(numbers, return_inverse=True)[1].reshape(-1))
        number, of_whom = people[rows], owner[rows].astype(np.int64) + 1
        group = group_codes([codes + 1, *(own[rows] for own in same)], len(rows)).of_row.astype(np.int64)
        joined = (codes >= 0) & _one_at_a_time(group, number, waves[rows])
        joined &= ~_agree(group, number.astype(np.int64) + 1)[group]  # of several identifiers
        joined &= np.logical_and.reduce([_agree(group, own[rows])[group] for own in stable])
        right = joined & _agree(group, of_whom)[group]
        if 2 * np.count_nonzero(right) > np.count_nonzero(joined):
            ends = number[right], n + group[right]
            graph = coo_array((np.ones(len(ends[0])), ends), shape=(n + len(rows), n + len(rows)))
            label = connected_components(graph, directed=False)[1]
            people = np.unique(label[people], return_inverse=True)[1].reshape(-1).astype(np.int32)
            led |= {*columns}
    return people, led


class _Column(NamedTuple):
    """What is the same of people: `codes` (n,) from 1, 0 where not known; `constant`: of which share of them."""

    name: str
    codes: Ints
    constant: float


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
    """The known code of the person of each row, from 1; 0 where none is known of them, or several."""
    known = np.zeros(int(person.max()) + 1, np.int64)
    there = codes >= 0
    known[person[there]] = codes[there] + 1
    known[~_agree(person, codes + 1)] = 0
    return known[person]


def _constant(codes: Ints, person: Codes) -> float:
    """Share of the people with several known codes of whom all are equal; 0 where all are equal in the file."""
    there = codes >= 0
    if len(np.unique(codes[there])) < 2:
        return 0.0
    several = np.bincount(person[there], minlength=int(person.max()) + 1) > 1
    return float(_agree(person, codes + 1)[several].mean()) if several.any() else 1.0


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
