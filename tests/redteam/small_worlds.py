"""Small files one after the other, of a kind, with the counts of few records in each: all of them are replayed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

Row = tuple[str, ...]
N = 50


@dataclass(frozen=True)
class World:
    """A file, the counts in it that nobody may know, and whether worlds beyond the range tried may look like it."""

    columns: Mapping[str, Sequence[Any]]
    counts: Mapping[str, int]
    at_the_edge: bool

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(dict(self.columns))


@dataclass(frozen=True)
class Kind:
    """Worlds of a kind, the keys of the intruder, and the measures that are asked for."""

    worlds: Callable[[], Iterator[World]]
    keys: tuple[str, ...]
    measures: tuple[str, ...] = ()
    household: str | None = None
    share_safe: float = 0.0


def small_counts(rows: Sequence[Row]) -> dict[str, int]:
    """Cells of one to four records, and records in cells of fewer than 2 to 7, by every set of the columns."""
    found: dict[str, int] = {}
    for size in range(1, len(rows[0]) + 1):
        for places in itertools.combinations(range(len(rows[0])), size):
            cells = Counter(tuple(row[at] for at in places) for row in rows)
            sizes = Counter(cells.values())
            for few in range(1, 5):
                found[f"{places} cells of {few}"] = sizes[few]
            for k in (2, 3, 4, 5, 7):
                found[f"{places} below {k}"] = sum(few * n for few, n in sizes.items() if few < k)
    return found


def _partitions(total: int, most: int = 4) -> Iterator[tuple[int, ...]]:
    if total == 0:
        yield ()
    for first in range(min(most, total), 0, -1):
        for rest in _partitions(total - first, first):
            yield (first, *rest)


def _of_counts(names: Sequence[str], counts: dict[Row, int], *, edge: bool, **more: Any) -> World:
    rows = [row for row, n in counts.items() for _ in range(n)]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return World(columns | more, small_counts(rows), edge)


def one_key(most: int, large: int = 1) -> Iterator[World]:
    """One key: a level or two of many records, and any number of levels of one to four records."""
    for few in range(most + 1):
        for sizes in _partitions(few):
            left = N - few
            for first in range(5, left // 2 + 1) if large == 2 else [left]:
                bigs = [left - first, first] if large == 2 else [left]
                counts = {(f"level {at:02}",): n for at, n in enumerate([*bigs, *sizes])}
                edge = few > most - 4 or (large == 2 and min(first, left // 2 - first) < 3)
                yield _of_counts(["key"], counts, edge=edge)


def two_rare(most: int, *, both: bool) -> Iterator[World]:
    """Two keys, a cell of many records and any number of one to four: each with a rare level of its own, or two."""
    for few in range(most + 1):
        for sizes in _partitions(few):
            rare = [f"level {at:02}" for at in range(1, len(sizes) + 1)]
            cells = {(one if both else "common", one): n for one, n in zip(rare, sizes, strict=True)}
            yield _of_counts(["first", "second"], {("common", "common"): N - few, **cells}, edge=few > most - 4)


def two_keys(most: int = 2) -> Iterator[World]:
    """Two keys: one cell of many records, and up to `most` cells of one to four anywhere else.

    Levels that are rare have no name in a document: worlds that differ in their names only are tried once.
    """
    rare = "bcdef"[:most]
    levels = "a" + rare
    places = [place for place in itertools.product(levels, levels) if place != ("a", "a")]
    renamed = [dict(zip(rare, order, strict=True)) | {"a": "a"} for order in itertools.permutations(rare)]
    for number in range(most + 1):
        done = {
            min(
                tuple(sorted(((one[x], other[y]), n) for (x, y), n in zip(cells, sizes, strict=True)))
                for one in renamed
                for other in renamed
            )
            for cells in itertools.combinations(places, number)
            for sizes in itertools.product(range(1, 5), repeat=number)
        }
        for cells in sorted(done):
            counts = {("a", "a"): N - sum(n for _, n in cells), **dict(cells)}
            yield _of_counts(["first", "second"], counts, edge=number == most)


def households(most: int = 4, sizes: Sequence[int] = (2, 3, 4)) -> Iterator[World]:
    """Households of one person, and up to `most` of each of some other sizes; one key, the same in all of them."""
    for numbers in itertools.product(range(most + 1), repeat=len(sizes)):
        alone = N - sum(size * number for size, number in zip(sizes, numbers, strict=True))
        if alone < 0:
            continue
        homes = [1] * alone + [size for size, n in zip(sizes, numbers, strict=True) for _ in range(n)]
        home = [at for at, size in enumerate(homes) for _ in range(size)]
        counts = {f"homes of {size}": n for size, n in zip(sizes, numbers, strict=True)}
        yield World({"key": ["same"] * N, "home": home}, counts, all(numbers))


TWO = ("first", "second")
KINDS = {
    "one key": Kind(lambda: one_key(13), ("key",), share_safe=0.8),
    "two keys, one with rare levels": Kind(lambda: two_rare(5, both=False), TWO),
    "two keys, both with rare levels": Kind(lambda: two_rare(7, both=True), TWO, share_safe=0.3),
    "cells at risk": Kind(lambda: two_rare(4, both=True), TWO, ("risky_cells",)),
    "special uniques": Kind(lambda: two_rare(4, both=False), TWO, ("suda",)),
    "households": Kind(households, ("key",), household="home", share_safe=1.0),
}
# More of them, for a run that takes its time.
MANY = {
    "one key": Kind(lambda: one_key(45), ("key",)),
    "one key, two large levels": Kind(lambda: one_key(6, 2), ("key",)),
    "two keys, one with rare levels": Kind(lambda: two_rare(30, both=False), TWO),
    "two keys, both with rare levels": Kind(lambda: two_rare(30, both=True), TWO),
    "two keys": Kind(lambda: two_keys(3), TWO),
    "cells at risk": Kind(lambda: two_keys(3), TWO, ("risky_cells",)),
    "special uniques": Kind(lambda: two_keys(3), TWO, ("suda",)),
    "households": Kind(lambda: households(4, (2, 3, 4, 5)), ("key",), household="home"),
}
