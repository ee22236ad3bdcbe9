"""Record linkage of people drawn, where the original is too large to be brought: it passes by in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import Pair, check_present
from sdckit.cells.plans.pair_cells import check_ids
from sdckit.cells.record_result import group_columns
from sdckit.cells.shared_coding import share_coding
from sdckit.data.columns import code_column, first_rows, float_values
from sdckit.data.drawn_rows import draw_rows
from sdckit.data.frames import blocks, column_names, is_lazy, rows_among
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.coding import Encoded, differences, gower
from sdckit.numerics.search.neighbours import Neighbours, paired, prepare

BLOCK = 1_000_000  # records of the original at a time


@dataclass(frozen=True, eq=False)
class Compared:
    """How records are compared: numbers and categories, their weights in this order, and the power; None is Gower's."""

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    weights: Sequence[float] | None
    power: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """All variables, the numbers first."""
        return (*self.numbers, *self.categories)

    def encode(self, known: Any, masked: Any, ends: Floats) -> tuple[Encoded, Encoded]:
        """Two frames on the scale of the whole files; `ends` (2, p): the least and the largest value of each number."""
        values = [
            (float_values(known[name], "numeric"), np.append(float_values(masked[name], "numeric"), ends[:, j]))
            for j, name in enumerate(self.numbers)
        ]
        codes = []
        for name in self.categories:
            sides = [(column, column.codes()) for column in (code_column(known[name]), code_column(masked[name]))]
            mine, theirs = share_coding(name, sides, ("the original", "the release")).codes
            codes.append((mine, np.append(theirs, [0] * len(ends))))
        if self.power is None:
            first, second = gower(values, codes, weights=self.weights)
        else:
            first, second = differences(values, codes, power=self.power, weights=self.weights)
        return first, second.take(np.arange(len(masked)))


@dataclass(frozen=True, eq=False)
class PeopleDrawn:
    """People drawn with their rows in original and releases, in one order; how many are of the whole file.

    `rows`: their places in the original as its ids came; `n_original`: its records.
    """

    pair: Pair
    rows: Ints
    n: int
    n_original: int
    ends: Floats

    def links(self, j: int, plan: Any, compared: Compared, k: int) -> tuple[Neighbours, Floats]:
        """The k nearest originals of the people's records in release j, and the distance to their own."""
        masked = self.pair.released[j]
        own = paired(*reversed(compared.encode(self.pair.original, masked, self.ends)))
        nearest, start = None, 0
        for block in blocks(plan, compared.names, BLOCK):
            known, query = compared.encode(block, masked, self.ends)
            part = prepare(known).nearest(query, min(k, known.n))
            part = Neighbours(part.distance, part.index + start, part.n_closer, part.n_tied, part.tolerance)
            nearest = part if nearest is None else merged(nearest, part, k)
            start += known.n
        assert nearest is not None  # there are records
        return nearest, own


def merged(a: Neighbours, b: Neighbours, k: int) -> Neighbours:
    """The nearest rows of two parts of a file together, from the nearest of each: k of them, or all it has.

    >>> one = Neighbours(np.array([[0.0, 2.0]]), np.array([3]), np.array([1]), np.array([4]), 1e-12)
    >>> two = Neighbours(np.array([[1.0, 2.0]]), np.array([9]), np.array([1]), np.array([2]), 1e-12)
    >>> both = merged(one, two, 2)
    >>> both.distance.tolist(), both.index.tolist(), both.n_closer.tolist(), both.n_tied.tolist()
    ([[0.0, 1.0]], [3], [1], [1])
    """
    distance = np.sort(np.concatenate([a.distance, b.distance], axis=1), axis=1)[:, :k]
    last, tolerance = distance[:, -1:], a.tolerance
    closer, tied = np.zeros(len(distance), np.int64), np.zeros(len(distance), np.int64)
    for part in (a, b):
        listed = part.distance
        # all of its rows up to there are listed, or it has no others
        all_listed = (listed[:, -1] > last[:, 0] + tolerance) | (part.k < k)
        closer += np.where(all_listed, (listed < last - tolerance).sum(axis=1), part.n_closer)
        tied += np.where(all_listed, (np.abs(listed - last) <= tolerance).sum(axis=1), part.n_tied)
    index = np.where(a.distance[:, 0] <= b.distance[:, 0] + tolerance, a.index, b.index)
    return Neighbours(distance, index, closer, tied, tolerance)


def draw_people(
    opened: Pair, compared: Compared, k: int, key: bytes, by: Sequence[str], also: Sequence[str]
) -> PeopleDrawn:
    """Draw people by the hash of their id, and read their rows and the ends of the numbers; ids alone are brought."""
    id = str(opened.id)
    labels, names = opened.names, compared.names
    wanted_of = {"variables": names, "id": (id,)}
    check_present([(frame, wanted_of, label) for frame, label in zip(opened.frames, labels, strict=True)])
    plans: list[Any] = [frame for frame in opened.frames if is_lazy(frame)]
    check_ids(plans, id, [label for frame, label in zip(opened.frames, labels, strict=True) if is_lazy(frame)])
    ids, _ = columns_in_memory(opened.original, {"id": (id,), "by": by})
    rows, n = draw_rows(ids.get_column(id), k, key, group_columns(ids, by)[1] if by else None)
    wanted = ids.get_column(id)[rows.tolist()].to_list()
    n_original = len(ids)
    del ids
    ends = np.full((2, len(compared.numbers)), np.nan)
    files = []
    for number, (frame, label) in enumerate(zip(opened.frames, labels, strict=True)):
        more = tuple(name for name in also if name not in (*names, id)) if not number else ()
        read, size = _rows(frame, (id, *names, *more), id, wanted, compared.numbers, ends, label)
        if len(read) != len(wanted) or size != n_original:
            raise DataError(f"{label} has not the ids of the original; an id names the same rows in every file")
        files.append(read)
    pair = Pair(files[0], tuple(files[1:]), True, id, True, (None,) * opened.m, plans=opened.frames)
    return PeopleDrawn(pair, rows, n, n_original, ends)


def _rows(
    frame: Any, columns: Sequence[str], id: str, wanted: Sequence[Any], numbers: Sequence[str], ends: Floats, label: str
) -> tuple[Any, int]:
    """The rows of some ids in their order, and the number of all; the ends of the numbers are widened in place."""
    size, empty = 0, set(numbers)

    def passing() -> Iterator[Any]:
        nonlocal size
        for block in blocks(frame, columns, BLOCK):
            size += len(block)
            for j, name in enumerate(numbers):
                values = float_values(block[name], "numeric")
                if np.isinf(values).any():
                    raise DataError(f"{label}: numeric {name!r} is infinite in {first_rows(np.isinf(values))}")
                if not np.isnan(values).all():
                    empty.discard(name)
                ends[0, j] = np.fmin.reduce(values, initial=ends[0, j])
                ends[1, j] = np.fmax.reduce(values, initial=ends[1, j])
            yield block

    together = rows_among(passing(), id, wanted)
    if empty:
        raise DataError(f"{label}: numeric {next(name for name in numbers if name in empty)!r} has no value at all")
    place = {value: number for number, value in enumerate(wanted)}
    return together[np.argsort([place[value] for value in together[id].to_list()]).tolist()], size


def are_numbers(opened: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that the original stores as numbers."""
    kinds = opened.original.collect_schema()
    return tuple(name for name in names if name in column_names(opened.original) and kinds[name].is_numeric())
