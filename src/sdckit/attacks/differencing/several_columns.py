"""Columns that lead from one file to another of the same people together, although none does alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.attacks.differencing import crossing_bands, linked_releases, release_ledger
from sdckit.data.ledger.digests import Levels
from sdckit.numerics.array_types import Floats, Ints, Words
from sdckit.numerics.coding import hash_words


def shared_codes(here: Levels, there: Levels) -> tuple[Ints, Ints] | None:
    """Codes of a column in two files that are equal where values are, in the coarser of two codings; None if neither.

    >>> shared_codes(Levels("age", np.array([1, 2, 0]), ("31", "45")), Levels("age", np.array([1]), ("30-39",)))
    (array([1, 2, 0]), array([1]))
    """
    first, second = here.codes.astype(np.int64), linked_releases.codes_in(here, there)[there.codes]
    common = [np.isin(own, other[other > 0])[own > 0] for own, other in ((first, second), (second, first))]
    if all(len(shared) and shared.mean() >= release_ledger.ALIKE for shared in common):
        return first, second
    bands = [ends for levels in (here, there) if (ends := crossing_bands.ends_of_bands(levels)) is not None]
    if len(bands) < 2:
        return None
    whole = all((ends[:, :2] == np.rint(ends[:, :2])).all() for ends in bands)
    spans = [crossing_bands.spans_of(ends, whole=whole) for ends in bands]
    at = _within(spans[0], spans[1])
    if at is not None:
        return at[here.codes], there.codes.astype(np.int64)
    at = _within(spans[1], spans[0])
    return None if at is None else (here.codes.astype(np.int64), at[there.codes])


def _within(fine: Floats, coarse: Floats) -> Ints | None:
    """For each code of finer levels, from 0 on, that of the range they are in; None where many are in none."""
    order = np.argsort(coarse[:, 0])
    if (coarse[order[1:], 0] <= coarse[order[:-1], 1]).any():
        return None
    at = order[np.maximum(np.searchsorted(coarse[order, 0], fine[:, 0], "right") - 1, 0)]
    inside = (coarse[at, 0] <= fine[:, 0]) & (fine[:, 1] <= coarse[at, 1])
    if inside.mean() < release_ledger.ALIKE or len(np.unique(at[inside])) == len(fine):
        return None
    return np.concatenate([[0], np.where(inside, at + 1, len(coarse) + 1)])


# The search.

LEAST_RIGHT = 0.5  # of the links, by estimate: with fewer nobody could tell a right one from a wrong one
SURE = 5.0  # standard errors that right links are above those of chance
FEWEST = 25  # pairs from which a share of agreement is taken
SAMPLE = 18  # binary digits of the rows that are put in order while columns are tried
WORK = 1 << 24  # rows looked at to find where to begin
FEWEST_STARTS, MOST_STARTS, MOST_DRAWN, CLIMBED = 32, 400, 12, 2
ROUNDS = 4  # searches, each without the column that the links of the one before disagree with most
SEED = 1


@dataclass(frozen=True, eq=False)
class LinkedTogether:
    """People that are alone in both files with their values of some columns, but for one that a file hides.

    `columns`: numbers of the columns; `here`, `there`: the rows of each pair; `right`: share of the pairs that are the
    same person's, by estimate; `hidden`: the column that a file hides of a pair, -1 for none. `homes`: whether the
    pairs are members of households that are alone with what all of their members are.
    """

    columns: tuple[int, ...]
    here: Ints
    there: Ints
    right: float
    hidden: Ints
    homes: bool = False


def link_by_several(here: Sequence[Ints], there: Sequence[Ints]) -> tuple[LinkedTogether | None, bool]:
    """Find columns whose joint values link most people rightly; and whether the answer is sure.

    `here` (n,) and `there` (m,) have the codes of each column, equal where the values are, 0 for none. People of two
    files who agree on some columns, and with nobody else, are the same ones or alike by chance. By chance two of one
    file agree as often: with A and B such pairs within the files there are at most 2 √(A·B) across them, whatever the
    files are samples of. What is beyond that, less what is not, is made as large as it can be by putting columns in and
    out. Then columns that did not link, or are left out of those that do, must agree beyond what they agree for
    different people of one file.
    """
    words = [scattered(codes, at) for at, codes in enumerate(zip(here, there, strict=True))]
    return _searched(words, here, there, None)


def link_households(
    here: Sequence[Ints], there: Sequence[Ints], homes: tuple[Ints, Ints]
) -> tuple[LinkedTogether | None, bool]:
    """As `link_by_several`, of households: those alone in both files with what all of their members are together.

    `homes`: the household of each row of either file, numbered from 0. A household's value of a column are those of
    its members in any order, hidden where one of them is. Members are paired by the columns that link, those who are
    alike in these by the others.

    >>> sex, home = np.array([1, 2] * 30), np.arange(60) // 2
    >>> traits = np.random.default_rng(1).integers(1, 9, (3, 60))
    >>> linked, _ = link_households([sex, *traits], [column[::-1] for column in (sex, *traits)], (home, home))
    >>> bool((linked.there == 59 - linked.here).all()), len(linked.here) > 50
    (True, True)
    """
    n, n_homes = len(homes[0]), int(homes[0].max()) + 1
    of_row = np.concatenate([homes[0], homes[1] + n_homes])
    order = np.argsort(of_row, kind="stable")
    first = np.flatnonzero(np.diff(of_row[order], prepend=-1))
    words = [scattered(codes, at)[order] for at, codes in enumerate(zip(here, there, strict=True))]
    codes = [np.concatenate(pair)[order] for pair in zip(here, there, strict=True)]
    of_homes = []
    for column, word in zip(codes, words, strict=True):
        whole = np.minimum.reduceat(column, first) > 0
        of_homes.append((np.unique(_of_households(word, first), return_inverse=True)[1] + 1) * whole)
    found, sure = _searched(
        words, [column[:n_homes] for column in of_homes], [column[n_homes:] for column in of_homes], first
    )
    if found is None:
        return None, sure
    pair = np.full(len(first), -1, np.int64)
    pair[found.here] = pair[found.there + n_homes] = np.arange(len(found.here))
    pair = pair[of_row[order]]
    alike = np.zeros(len(order), np.uint64)
    for at in found.columns:
        alike += np.where(found.hidden[pair] == at, 0, words[at])
    members = np.lexsort((*codes, alike, pair))
    members = members[pair[members] >= 0]
    rows = order[members]
    rows = rows[rows < n], rows[rows >= n] - n
    return LinkedTogether(found.columns, *rows, found.right, found.hidden[pair[members[members < n]]], homes=True), sure


def _searched(
    words: Sequence[Words], here: Sequence[Ints], there: Sequence[Ints], first: Ints | None
) -> tuple[LinkedTogether | None, bool]:
    """The pairs of the best columns, if others confirm them; `first`: where each household begins in the words."""
    files = [np.zeros(len(here[0]), np.uint64), np.ones(len(there[0]), np.uint64)] if here else []
    columns, sure = list(range(len(words))), True
    for _ in range(ROUNDS if len(words) > 1 else 0):
        search = Search(words, np.concatenate(files), first)
        chosen = search.best(columns)
        if not enough(search.pairs(chosen, every=True)):
            break
        confirmed, worst = _confirmed(search, chosen, here, there)
        if confirmed:
            return _with_hidden(search, chosen, here, there), True
        sure = False
        if worst is None:
            break
        columns.remove(worst)
    return None, sure


def _with_hidden(search: Search, chosen: frozenset[int], here: Sequence[Ints], there: Sequence[Ints]) -> LinkedTogether:
    """The people linked; and those of whom one file hides a value of one column, by all of the others."""
    first, second = search.linked(chosen)
    right, without = len(first) * search.right(chosen), np.full(len(first), -1, np.int64)
    taken = np.zeros(len(search.file), np.bool_)
    for column in sorted(chosen):
        hidden = np.concatenate([here[column], there[column]]) == 0
        rest = chosen - {column}
        if not hidden.any() or not enough(search.pairs(rest, every=True)):
            continue
        taken[first] = taken[second] = True
        pairs = search.linked(rest)
        some = (hidden[pairs[0]] != hidden[pairs[1]]) & ~taken[pairs[0]] & ~taken[pairs[1]]
        right += some.sum() * search.right(rest)
        first, second = (np.concatenate([rows, more[some]]) for rows, more in zip((first, second), pairs, strict=True))
        without = np.concatenate([without, np.full(some.sum(), column)])
    return LinkedTogether(tuple(sorted(chosen)), first, second - len(here[0]), float(right / len(first)), without)


def scattered(codes: tuple[Ints, Ints], at: int) -> Words:
    """A random number for each value of a column, of both files in a row: sums of them tell combinations apart."""
    both = np.concatenate(codes)
    return np.random.default_rng((SEED, at)).integers(0, 1 << 63, int(both.max(initial=0)) + 1, np.uint64)[both]


def _of_households(words: Words, first: Ints) -> Words:
    """A number for each household, of the numbers of its members in any order; without columns of how many they are."""
    return np.add.reduceat(hash_words(words + np.uint64(1)), first)


def _by_chance(within: float, other: float) -> float:
    """Most pairs across two files that chance explains, by those within each."""
    return float(2 * np.sqrt((within + 0.5) * (other + 0.5)))


def enough(pairs: Sequence[int]) -> bool:
    """Whether most pairs across two files are right beyond chance; `pairs` within the first, across, in the second."""
    within, across, other = pairs
    right = across - _by_chance(within, other)
    return bool(right >= LEAST_RIGHT * across and right >= SURE * np.sqrt(sum(pairs)))


class Search:
    """Sets of columns, by the pairs that agree on them; of many rows those whose values a random number draws."""

    def __init__(self, words: Sequence[Words], file: Words, first: Ints | None) -> None:
        self.words, self.file, self.first = words, file, first
        self.drawn = max(0, len(file).bit_length() - SAMPLE)  # one in two to the power of this
        self.memo: dict[frozenset[int], tuple[int, int, int]] = {}
        self.nothing = frozenset[int](), np.zeros(len(words[0]), np.uint64)
        self.base: tuple[frozenset[int], Words] = self.nothing

    def total(self, columns: frozenset[int]) -> Words:
        """A number for each row, of its values of the columns."""
        near, total = self.base if len(columns ^ self.base[0]) <= 1 else self.nothing
        for column in columns - near:
            total = total + self.words[column]
        for column in near - columns:
            total = total - self.words[column]
        return total

    def key(self, columns: frozenset[int]) -> Words:
        """A number for each row, or household, of its values of the columns; the lowest bit is the file."""
        total = self.total(columns)
        return ((total if self.first is None else _of_households(total, self.first)) << np.uint64(1)) | self.file

    def in_order(self, columns: frozenset[int]) -> tuple[Ints, Words]:
        """Some rows, by their values of the columns, whose first file comes first; and their numbers."""
        key = self.key(columns)
        rows = np.flatnonzero(key >> np.uint64(64 - self.drawn) == 0) if self.drawn else np.arange(len(key))
        order = rows[np.argsort(key[rows])]
        return order, key[order]

    def pairs(self, columns: frozenset[int], *, every: bool = False) -> tuple[int, int, int]:
        """Pairs of rows that agree with each other alone: within the first file, across, within the second."""
        if columns not in self.memo or every:
            key = self.key(columns)
            key = np.sort(key[key >> np.uint64(64 - self.drawn) == 0] if self.drawn and not every else key)
            at = _twos(key)
            files = (key[at] & np.uint64(1)) + (key[at + 1] & np.uint64(1))
            within, across, other = np.bincount(files.astype(np.int64), minlength=3).tolist()
            self.memo[columns] = (within, across, other)
        return self.memo[columns]

    def score(self, columns: frozenset[int]) -> float:
        """Right links less wrong ones, by estimate; of sets that are alike in this the smallest."""
        within, across, other = self.pairs(columns)
        return across - 2 * _by_chance(within, other) - len(columns) / 1000

    def right(self, columns: frozenset[int]) -> float:
        """Share of the pairs across the files that are the same person's, by estimate."""
        within, across, other = self.pairs(columns)
        return 1 - _by_chance(within, other) / across

    def best(self, columns: Sequence[int]) -> frozenset[int]:
        """The set of the best score that putting columns in and out leads to, from the best of some drawn ones."""
        rng, every = np.random.default_rng(SEED), frozenset(columns)
        starts = {every: None, **{every - {column}: None for column in columns}}
        for _ in range(min(MOST_STARTS, max(FEWEST_STARTS, WORK // len(self.file)))):
            size = int(rng.integers(1, min(len(columns), MOST_DRAWN) + 1))
            starts[frozenset(rng.choice(columns, size, replace=False).tolist())] = None
        ranked = sorted(starts, key=self.score, reverse=True)[:CLIMBED]
        return max((self._climbed(start, columns) for start in ranked), key=self.score)

    def _climbed(self, chosen: frozenset[int], columns: Sequence[int]) -> frozenset[int]:
        still = 0
        self.base = (chosen, self.total(chosen))
        while still < len(columns):
            for column in columns:
                other, still = chosen ^ {column}, still + 1
                if self.score(other) > self.score(chosen):
                    chosen, still = other, 0
                    self.base = (chosen, self.total(chosen))
        return chosen

    def linked(self, columns: frozenset[int]) -> tuple[Ints, Ints]:
        """The rows of each pair across the files."""
        key = self.key(columns)
        order = np.argsort(key)
        at = _twos(key[order])
        first, second = order[at], order[at + 1]
        across = self.file[first] != self.file[second]
        return first[across], second[across]


def _twos(key: Words) -> Ints:
    """Where two rows in order agree with each other alone, but for the lowest bit."""
    new = np.ones(len(key) + 1, np.bool_)
    new[1:-1] = (key[1:] ^ key[:-1]) > 1
    return np.flatnonzero(new[:-2] & ~new[1:-1] & new[2:])


# What else the pairs of a set of columns agree on.


def _confirmed(
    search: Search, chosen: frozenset[int], here: Sequence[Ints], there: Sequence[Ints]
) -> tuple[bool, int | None]:
    """Whether linked people agree beyond chance on most columns that do not link them; the linking one they do least.

    Chance is how often different people of one file agree who share all columns that link, or all but one. A column
    that links is left out, and what the others link is looked at. Columns that nearly all people agree on say nothing.
    """
    codes = [np.concatenate(pair) for pair in zip(here, there, strict=True)]
    n, every = len(here[0]), range(len(codes))
    chance: dict[int, list[tuple[float, int]]] = {column: [] for column in every}
    agreed: dict[int, tuple[float, int]] = {}
    for less in (None, *sorted(chosen)):
        order, key = search.in_order(chosen - {less})
        at = _twos(key)
        across = at[search.file[order[at]] != search.file[order[at + 1]]]
        within = np.flatnonzero(key[1:] == key[:-1])
        for column in every:
            if column == less or (less is None and column not in chosen):
                agreed[column] = _agreement(codes[column], order, across)
            if column == less or column not in chosen:
                chance[column].append(_agreement(codes[column], order, within))
    beyond = {}
    for column, (share, pairs) in agreed.items():
        some = [(other, number) for other, number in chance[column] if number >= FEWEST]
        by_chance, number = max(some, default=(_random_agreement(codes[column], n), n))
        if pairs >= FEWEST and by_chance < linked_releases.MOST_CHANCE:
            beyond[column] = beyond_chance((share, pairs), (by_chance, number), errors=3)
    linking = {column: beyond[column] for column in chosen & beyond.keys()}
    worst = min(linking, key=lambda column: linking[column], default=None)
    return linked_releases.mostly_beyond(beyond.values()), worst


def beyond_chance(agreed: tuple[float, int], by_chance: tuple[float, int], *, errors: float) -> float:
    """How much more often linked people agree than by chance, less some standard errors, as a share of what can be.

    Both are the share that agrees, and of how many pairs.
    """
    (share, pairs), (chance, number) = agreed, by_chance
    error = np.sqrt(max(chance * (1 - chance), 1 / pairs) * (1 / pairs + 1 / number))
    return float((share - chance - errors * error) / (1 - chance))


def _agreement(codes: Ints, order: Ints, at: Ints) -> tuple[float, int]:
    """Share of pairs of neighbours in order that have the same value, and how many pairs there are."""
    return float((codes[order[at]] == codes[order[at + 1]]).mean()) if len(at) else 0.0, len(at)


def _random_agreement(codes: Ints, n: int) -> float:
    width = int(codes.max(initial=0)) + 1
    return float(
        (np.bincount(codes[:n], minlength=width) / n) @ (np.bincount(codes[n:], minlength=width) / (len(codes) - n))
    )
