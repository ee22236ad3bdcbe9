"""Linked suppression: in all members of a household, and in columns that disclose each other.

A bundle is a set of columns that are suppressed together; one that holds a household variable applies to all members of
the household. Suppressions are extended to whole bundles, by which no match is lost where missing values match in full,
and whole bundles that are not needed are restored.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import arguments, households
from sdckit.data.columns import Coded
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Bools, Ints, Words
from sdckit.numerics.compiling import njit, sparing
from sdckit.numerics.grouping import places_among
from sdckit.protect.suppression.suppression_choices import TINY, Choices, Situation, WorkingFile
from sdckit.protect.suppression.suppression_mend import others_of, packed_words

COMPARISONS = 1 << 32  # pairs of records: less than a minute
BLOCK = 64  # records that are compared at once


@dataclass(frozen=True, eq=False)
class Bonds:
    """Which values are suppressed together."""

    columns: tuple[str, ...]  # the keys first, then other columns linked to them
    bundles: tuple[tuple[int, ...], ...]  # columns by place; every key is in one
    shared: tuple[bool, ...]  # by bundle: whether it reaches all members of a household
    present: Bools  # columns x records
    homes: households.Homes | None

    @property
    def bind(self) -> bool:
        """Whether any values are linked at all."""
        return any(self.shared) or any(len(bundle) > 1 for bundle in self.bundles)

    def linked(self, keys: Sequence[int]) -> Bools:
        """Which of some keys lose their values together, in pairs; each with itself."""
        linked = np.eye(len(keys), dtype=np.bool_)
        for bundle in self.bundles:
            some = [i for i, j in enumerate(keys) if j in bundle]
            linked[np.ix_(some, some)] = True
        return linked

    def alone(self, n_keys: int) -> tuple[int, ...]:
        """Keys that are suppressed independently of other values."""
        bundles = zip(self.bundles, self.shared, strict=True)
        return tuple(bundle[0] for bundle, reach in bundles if len(bundle) == 1 and not reach and bundle[0] < n_keys)


def read_together(together: Any, keys: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Read `together=`: groups of columns that are suppressed together.

    Raises `ColumnError`: no list of lists, a group of fewer than two columns or without a key.

    >>> read_together([["region", "district"]], ["region", "age"])
    (('region', 'district'),)
    """
    says = "together= is a list of groups of columns: together=[['region', 'district']]"
    if isinstance(together, str):
        raise ColumnError(says, argument="together")
    groups = tuple(arguments.names(group, "together") or () for group in arguments.several(together, "together", says))
    for group in groups:
        if len(group) < 2 or not set(group) & set(keys):
            raise ColumnError(f"{says}; each of two or more, at least one of them a key", argument="together")
    return groups


def bonds_of(
    coded: Sequence[Coded], groups: Sequence[Sequence[str]], homes: households.Homes | None, shared: Sequence[str]
) -> Bonds:
    """Merge groups of columns that overlap to bundles, and find those that apply to whole households."""
    columns = tuple(column.name for column in coded)
    bundles: list[set[int]] = [{j} for j in range(len(columns))]
    for group in groups:
        joined = {columns.index(name) for name in group}
        touching = [bundle for bundle in bundles if bundle & joined]
        bundles = [bundle for bundle in bundles if not bundle & joined] + [joined.union(*touching)]
    ordered = sorted(tuple(sorted(bundle)) for bundle in bundles)
    present = np.ones((len(columns), len(coded[0].values)), np.bool_)
    for j, column in enumerate(coded):
        if len(column.valid):
            present[j] = column.valid != 0
    reach = tuple(any(columns[j] in shared for j in bundle) for bundle in ordered)
    return Bonds(columns, tuple(ordered), reach, present, homes)


def widen(file: WorkingFile, bonds: Bonds) -> Bools:
    """Extend the suppressions to whole bundles; return a mask of the suppressed values, columns x records."""
    gone = np.zeros(bonds.present.shape, np.bool_)
    n_keys = len(file.gone)
    for bundle, reach in zip(bonds.bundles, bonds.shared, strict=True):
        hit = np.zeros(file.n, np.bool_)
        for j in bundle:
            if j < n_keys:
                hit |= file.gone[j] & bonds.present[j]
        if reach and bonds.homes is not None:
            hit = bonds.homes.some(hit)
        for j in bundle:
            gone[j] = hit & bonds.present[j]
    file.gone[:] = gone[:n_keys]
    return gone


def weighed(choices: Choices, bonds: Bonds, keys: Sequence[int]) -> Choices:
    """The choices at their full cost: the number of linked values, in a household of average size."""
    homes = bonds.homes
    members = 1.0 if homes is None else float((homes.size**2).sum() / homes.size.sum())
    price = {}
    for bundle, reach in zip(bonds.bundles, bonds.shared, strict=True):
        mask = sum(1 << i for i, j in enumerate(keys) if j in bundle)
        if mask:
            price[mask] = max(1, round(len(bundle) * (members if reach else 1.0)))
    masks, which = np.unique(choices.masks, return_inverse=True)
    costs = [sum(cost for mask, cost in price.items() if mask & taken) for taken in masks.tolist()]
    return Choices(**{**vars(choices), "costs": np.array(costs, np.int64)[which.reshape(-1)]})


@njit(cache=True, nogil=True, inline="always")
def _counts(r, x, words, mine, other, several):  # type: ignore[no-untyped-def]
    """Whether record r matches x (1 or 0) if they keep the bits `mine` and `other`.

    A record without any key counts only for others without any: `several` has the bits of all keys, or none for one
    key.
    """
    if (words[r] ^ words[x]) & mine & other != 0:
        return 0
    return 1 if several == 0 or other & several != 0 or mine & several == 0 else 0


@njit(cache=True, nogil=True)
def _note(record, change, noted, hit, n):  # type: ignore[no-untyped-def]
    """Add a change of frequency of a record to `noted`, new ones also to `hit`; return the number of records in it."""
    if change != 0.0:
        if noted[1, record] == 0.0:
            noted[1, record] = 1.0
            hit[n] = record
            n += 1
        noted[0, record] += change
    return n


@njit(cache=True, nogil=True)
def _matches(word, held, words, kept):  # type: ignore[no-untyped-def]
    """How many records match one on the bits that it `held`, counted without a branch."""
    n = np.uint64(0)
    for x in range(len(words)):
        n += np.uint64(1) if (word ^ words[x]) & held & kept[x] == 0 else np.uint64(0)
    return n


@njit(cache=True, nogil=True)
def _needed(mine, words, kept, back, size, frequency, several, k, noted, hit):  # type: ignore[no-untyped-def]
    """Whether restoring the records `mine` puts one below k; and the number of records whose frequency changes."""
    n, wakes = 0, False
    for r in mine:
        wakes = wakes or (several != 0 and kept[r] & several == 0)
    for r in mine:
        then, word, held = kept[r] | back[r], words[r], kept[r]
        for start in range(0, len(words), BLOCK):  # most have no match, now or then
            stop = min(start + BLOCK, len(words))
            if not _matches(word, held, words[start:stop], kept[start:stop]):
                continue
            for x in range(start, stop):
                if x == r or (word ^ words[x]) & held & kept[x] != 0:
                    continue
                other = kept[x] | back[x]
                change = _counts(r, x, words, then, other, several) - _counts(r, x, words, held, kept[x], several)
                n = _note(r, change * size[x], noted, hit, n)
                if not wakes and frequency[r] + noted[0, r] < k and noted[0, r] < 0:
                    return True, n
                if back[x] == 0:  # another of the unit counts its own
                    change = _counts(x, r, words, kept[x], then, several)
                    change -= _counts(x, r, words, kept[x], held, several)
                    n = _note(x, float(change), noted, hit, n)
                    if not wakes and frequency[x] + noted[0, x] < k and noted[0, x] < 0:
                        return True, n
    for i in range(n):  # a record that has values again counts for others again
        if noted[0, hit[i]] < 0 and frequency[hit[i]] + noted[0, hit[i]] < k:
            return True, n
    return False, n


@njit(cache=True, nogil=True)
def _give_back(words, there, kept, size, frequency, edges, rows, fields, k, given):  # type: ignore[no-untyped-def]
    """Restore whole units where all records keep their k; `given` says which.

    Unit u has the records `rows[edges[u] : edges[u + 1]]` and the bits `fields[u]`; other arrays as in `_restore`.
    Records match when their words agree on what both kept; `back`: bits that a record of the unit looked at would have
    again. The last of the `fields` has the bits of all keys, none where there is one key: a record that kept none of
    them counts only for those that kept none either.
    """
    several = fields[len(given)]
    noted, hit = (np.zeros((2, len(words))), np.empty(len(words), np.int64))  # changes, and whether there is one
    back = np.zeros(len(words), np.uint64)
    again = True
    while again:
        again = False
        for u in range(len(given)):
            if given[u]:
                continue
            mine, wakes = rows[edges[u] : edges[u + 1]], False
            for r in mine:
                back[r] = fields[u] & there[r] & ~kept[r]
                wakes = wakes or (several != 0 and kept[r] & several == 0)
            needed, n = _needed(mine, words, kept, back, size, frequency, several, k, noted, hit)
            given[u] = not needed
            for i in range(n):
                frequency[hit[i]] += 0.0 if needed else noted[0, hit[i]]
                noted[0, hit[i]] = noted[1, hit[i]] = 0.0
            for r in mine:
                kept[r] |= np.uint64(0) if needed else back[r]
                back[r] = 0
            again = again or (wakes and not needed)  # what counts again may spare another


def give_back(file: WorkingFile, bonds: Bonds, keys: Sequence[int], k: int, start: Situation) -> None:
    """Restore bundles that are not needed, those of most values first; where a match counts in full (alpha = 1).

    `start`: the situation before any suppression. Nothing is restored where the search would be long or the keys do not
    fit into a word.
    """
    now = file.situation(keys)
    touched = np.any(file.gone, axis=0)
    risky = np.isin(start.of_row, start.at_risk(k))
    single = np.concatenate([np.flatnonzero(risky), np.flatnonzero(touched & ~risky)])
    rest, left, counted = others_of(file, start, now, ~touched & ~risky)
    packed = packed_words([*start.codes.T, start.stratum], np.concatenate([start.of_row[single], rest]))
    if packed is None or int(touched.sum()) * (len(single) + len(rest)) > COMPARISONS:
        return
    words, there, fields = packed
    place = places_among(single, file.n)
    kept = there.copy()
    for i, j in enumerate(keys):
        kept[: len(single)] &= ~np.where(file.gone[j, single], fields[i], np.uint64(0))
    units = _units(file, bonds, keys, fields)
    if not units:
        return
    size = np.concatenate([np.ones(len(single)), left])
    frequency = np.concatenate([now.frequency[now.of_row[single]], counted])
    edges = np.concatenate([[0], np.cumsum([len(rows) for _, rows, _ in units])]).astype(np.int64)
    given = np.zeros(len(units), np.bool_)
    several = sum(int(fields[i]) for i in range(len(keys))) if len(keys) > 1 else 0
    put_back = sparing(_give_back, 4 * int(edges[-1]) * len(words))
    put_back(
        words, there, kept, size, frequency, edges,
        place[np.concatenate([rows for _, rows, _ in units])],
        np.array([*(field for _, _, field in units), several], np.uint64), k - TINY, given,
    )  # fmt: skip
    for (bundle, rows, _), back in zip(units, given, strict=True):
        for j in bundle:
            if back and j < len(file.gone):
                file.gone[j, rows] = False


def _units(
    file: WorkingFile, bonds: Bonds, keys: Sequence[int], fields: Words
) -> list[tuple[tuple[int, ...], Ints, int]]:
    """What can be restored as a whole: bundle, records, bit mask of the keys; most values first."""
    units: list[tuple[int, int, tuple[int, ...], Ints, int]] = []
    for bundle, reach in zip(bonds.bundles, bonds.shared, strict=True):
        own = [j for j in bundle if j < len(file.gone)]
        field = sum(int(fields[i]) for i, j in enumerate(keys) if j in own)
        rows = np.flatnonzero(file.gone[own].any(axis=0)) if own else np.empty(0, np.int64)
        if len(rows) == 0 or not set(own) <= set(keys):
            continue
        homes = bonds.homes.of_row[rows] if reach and bonds.homes is not None else rows
        order = np.argsort(homes, kind="stable")
        cuts = np.flatnonzero(np.diff(homes[order])) + 1
        for part in np.split(rows[order], cuts):
            values = sum(int(bonds.present[j, part].sum()) for j in bundle)
            units.append((-values, int(part[0]), bundle, part, field))
    return [(bundle, part, field) for _, _, bundle, part, field in sorted(units, key=lambda unit: unit[:3])]
