"""Code tables, digests, first characters of texts; what is missing, told by the values that no record shows."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

import numpy as np

from sdckit.attacks.recovery.judged_relations import HITS, OF_THE_REST
from sdckit.data import pa, pc
from sdckit.numerics.array_types import Codes, Floats, Ints, Words
from sdckit.numerics.grouping import first_of_groups, group, look_up, pair_counts, uniform_ranges

BORNE = 5  # records of the half that is fitted to, by which a pair of values is borne
MOSTLY = 0.8  # of the records of either value that the pair must have
NEARLY = 0.99  # of those of a code, where several stand for one value

MOST_PATTERNS, FEWEST = 12, 2  # sets of columns that records lost, and records that lost them
FIRST_ROWS, MOST_TOGETHER = 10_000, 62  # that decide most; columns that records may have lost together
CLEAR = 2 / 3  # of the combinations that no record shows, which have the same value

MOST_BESIDE = 3 * 10**7  # combinations that are looked at, of all sets of columns that records lost
FEWEST_LAST = 5  # right guesses by what is shown beside the others

LONGEST_START = 6  # characters

DIGESTS = {8: "CRC-32", 32: "MD5", 40: "SHA1", 64: "SHA256"}  # by their length in hexadecimal digits
DIGITS = frozenset("0123456789abcdef")
MOST_DIGESTED = 3  # columns
SEPARATORS = ("", "-", "|", "_", ";", ",")

Numbered = tuple[Floats, Ints]
Starts = tuple[tuple[Codes, int], ...]


def numbered_values(truth: Floats) -> Numbered:
    """The distinct values, ascending, and which of them each record has, -1 where it has none."""
    values, of = np.unique(truth, return_inverse=True)
    values = values[~np.isnan(values)]
    return values, np.where(of < len(values), of, -1)


def table_of_numbered(
    codes: Codes, n_levels: int, truth: Numbered, rows: Ints, *, several: bool = False, least: int = BORNE
) -> Floats:
    """The numbered value that each code (0 to `n_levels`) stands for, on the records `rows`; NaN for none.

    `several` codes may stand for one value. A pair that fewer than `least` of the records have is in no table.

    >>> codes, truth = np.repeat([1, 2, 3], 10).astype(np.int32), np.repeat([7.0, 8.0, 8.0], 10)
    >>> table_of_numbered(codes, 3, numbered_values(truth), np.arange(30)).tolist()
    [nan, 7.0, nan, nan]
    """
    table, (values, of) = np.full(n_levels + 1, np.nan), truth
    if n_levels > len(rows) / BORNE:
        return table
    own, theirs = codes[rows], of[rows]
    both = (own > 0) & (theirs >= 0)
    own, theirs = own[both], theirs[both]
    if not len(own) or n_levels > len(own) / BORNE:
        return table
    of_value = np.bincount(theirs, minlength=len(values))
    if len(values) < 2 or np.count_nonzero(of_value) > len(own) / BORNE:
        return table
    code, value, counts = pair_counts(own, theirs, len(values))
    of_code = np.bincount(code, counts, minlength=n_levels + 1)
    of_either = np.maximum(of_code[code], 0 if several else of_value[value])
    good = (counts >= least) & (counts >= (NEARLY if several else MOSTLY) * of_either)
    table[code[good]] = values[value[good]]
    return table


def by_ranges(numbers: Floats, rows: Ints, truth: Numbered, fit: Ints) -> Floats:
    """The value that all records have within the range of each number (n,), NaN for none.

    `truth`: numbered values of the `rows`, `fit`: those of them that ranges are taken from.
    """
    values, of = truth
    fit = fit[(of[fit] >= 0) & ~np.isnan(numbers[rows[fit]])]
    fit = fit[np.argsort(numbers[rows[fit]])]
    low, high, value = uniform_ranges(numbers[rows[fit]], of[fit])
    if not len(low):
        return np.full(len(numbers), np.nan)
    place = np.maximum(np.searchsorted(low, numbers, "right") - 1, 0)
    return np.where((low[place] <= numbers) & (numbers <= high[place]), values[value][place], np.nan)


def differing(cells: Ints, values: Ints) -> float:
    """Share of the pairs of records of one cell, next to each other in it, that differ in value; 0 where none is one.

    >>> differing(np.array([1, 2, 1, 1]), np.array([5, 6, 5, 7]))
    0.5
    """
    order = np.argsort(cells, kind="stable")
    same = np.flatnonzero(np.diff(cells[order]) == 0)
    return float((np.diff(values[order])[same] != 0).mean()) if len(same) else 0.0


def vanished_cells(released: Sequence[Codes], original: Sequence[Floats]) -> Iterator[tuple[Ints, list[int], int]]:
    """Records that lost the same columns, where nine tenths are of the combinations that no record shows.

    `released`, `original`: for each column, of which the first 62 are looked at, the codes (n,) of what is released, 0
    where missing. Combinations are those of the values shown, of so many columns, those of few values first, that five
    records or more come to each. Gives the records, these columns, and one of them: its value is that of most of the
    combinations that no record shows.

    >>> x, y = np.repeat([1, 2], 20), np.tile([1, 2], 20)
    >>> gone = (x == 2) & (y == 2)
    >>> [(len(rows), *told) for rows, *told in vanished_cells([x * ~gone, y * ~gone], [x, y])]
    [(10, [0, 1], 0), (10, [0, 1], 1)]
    """
    both = zip(released[:MOST_TOGETHER], original[:MOST_TOGETHER], strict=True)
    lost = np.array([(own == 0) & (before != 0) for own, before in both])
    several = np.flatnonzero(np.count_nonzero(lost, axis=0) > 1)
    patterns, of_row, n = np.unique(
        (1 << np.arange(len(lost))) @ lost[:, several], return_inverse=True, return_counts=True
    )
    levels = [np.flatnonzero(np.bincount(own)[1:]) + 1 for own in released]
    for which in np.argsort(-n, kind="stable")[:MOST_PATTERNS].tolist():
        few_first = [i for i in range(len(lost)) if patterns[which] >> i & 1 and len(levels[i])]
        few_first.sort(key=lambda i: len(levels[i]))
        sizes = np.cumprod([len(levels[i]) for i in few_first], dtype=np.float64)
        names = sorted(few_first[: np.count_nonzero(sizes * BORNE <= lost.shape[1])])
        if len(names) < 2 or n[which] < FEWEST:
            continue
        shape, own = [len(levels[i]) for i in names], [levels[i] for i in names]
        rows = several[of_row == which]
        cells = _cell_of([original[i][rows] for i in names], own)
        for some in (FIRST_ROWS, lost.shape[1]):  # what some records show decides most
            absent = np.setdiff1d(np.arange(math.prod(shape)), _cell_of([released[i][:some] for i in names], own))
            hit = np.isin(cells, absent)
            if np.count_nonzero(hit) < max(HITS * len(rows), FEWEST):
                break
        else:
            for i, part in zip(names, np.unravel_index(absent, shape), strict=True):
                counts = np.bincount(part)
                value = levels[i][counts.argmax()]
                right = hit & (original[i][rows] == value)
                wrong = 1 - np.mean(released[i][released[i] > 0] == value)
                alike = counts.max() == len(part)
                clear = counts.max() >= CLEAR * len(part) and 1 - right.mean() <= OF_THE_REST * wrong
                if alike or clear:
                    yield rows[right], names, i


def _cell_of(columns: Sequence[Codes | Floats], levels: Sequence[Ints]) -> Ints:
    """The combination of each record among those of some values (n,); -1 where it has another, or none."""
    places = [np.searchsorted(own, column) for own, column in zip(levels, columns, strict=True)]
    inside = [np.isin(column, own) for own, column in zip(levels, columns, strict=True)]
    return np.where(np.all(inside, axis=0), np.ravel_multi_index(places, [*map(len, levels)], mode="clip"), -1)


def last_values(released: Sequence[Codes], original: Sequence[Floats]) -> Iterator[tuple[int, Ints]]:
    """Columns with the records whose value is the only one that nobody shows who is alike in all that they show.

    `released`, `original`: as for `vanished_cells`. Nothing is given unless nine tenths of all such guesses at values
    that were lost are right, and five: what is missing for other reasons is mostly something else.

    >>> x, y = np.repeat([1, 2], 20), np.tile([1, 2], 20)
    >>> [(i, len(rows)) for i, rows in last_values([x, y * ((x == 1) | (y == 1))], [x, y])]
    [(1, 10)]
    """
    released, original = released[:MOST_TOGETHER], original[:MOST_TOGETHER]
    rng = np.random.default_rng(0)  # that two combinations have one word is as good as impossible
    words = [np.append(np.uint64(0), rng.integers(1, 2**63, int(own.max(initial=0)), np.uint64)) for own in released]
    lost = [np.flatnonzero((own == 0) & (before != 0)) for own, before in zip(released, original, strict=True)]
    every = np.zeros(len(released[0]), np.uint64)
    for own, word in zip(released, words, strict=True):
        every += word[own]
    groups = group(every)
    first = first_of_groups(groups.of_row, len(groups.size))
    cells = [own[first] for own in released]
    n_lost = np.bincount(groups.of_row[np.concatenate(lost)], minlength=len(first))
    guesses = _last_of_cells(cells, words, every[first], n_lost)
    given = [guess[groups.of_row[rows]] for guess, rows in zip(guesses, lost, strict=True)]
    right = [(own == before[rows]) & (own > 0) for own, before, rows in zip(given, original, lost, strict=True)]
    if sum(map(np.count_nonzero, right)) >= max(HITS * sum(map(np.count_nonzero, given)), FEWEST_LAST):
        yield from ((i, rows[hits]) for i, (rows, hits) in enumerate(zip(lost, right, strict=True)) if hits.any())


def _last_of_cells(cells: Sequence[Codes], words: Sequence[Words], word: Words, lost: Ints) -> list[Ints]:
    """Of each column, for each of some combinations of codes, the only value that none shows beside it; 0 for none.

    `cells`: codes (m,) of the different combinations, by column, 0 where missing. `words`: by column, one for each code
    that is alone in having it, 0 for none. `word` (m,): the sum of those of a combination. `lost` (m,): the values that
    its records lost.
    """
    missing = np.zeros(len(lost), np.uint64)
    for i, own in enumerate(cells):
        missing |= (own == 0).astype(np.uint64) << np.uint64(i)
    levels = [np.flatnonzero(np.bincount(own)[1:]) + 1 for own in cells]
    guesses: list[Ints] = [np.zeros(len(lost), np.int64) for _ in cells]
    patterns, of_cell = np.unique(missing, return_inverse=True)
    n = np.bincount(of_cell, lost)
    for which in np.argsort(-n, kind="stable")[: max(MOST_BESIDE // len(lost), MOST_PATTERNS)].tolist():
        pattern = patterns[which]
        gone = [i for i in range(len(cells)) if int(pattern) >> i & 1]
        if not n[which] or len(gone) == len(cells):
            continue
        its, others = np.flatnonzero(of_cell == which), word.copy()
        for i in gone:
            others -= words[i][cells[i]]
        place = look_up(others, word[its])
        beside = np.flatnonzero(place >= 0)
        beside = beside[missing[beside] & ~pattern == 0]
        place = place[beside]
        for i in gone:
            shown = cells[i][beside]
            cell, level, _ = pair_counts(place[shown > 0], shown[shown > 0], len(words[i]))
            single = np.bincount(cell, minlength=len(its)) == max(len(levels[i]) - 1, 1)
            rest = levels[i].sum() - np.bincount(cell, level, len(its)).astype(np.int64)
            guesses[i][its] = np.where(single, rest, 0)
    return guesses


def starts_of(labels: pa.Array, n: int) -> Starts:
    """For each length, codes of the first characters by level (0: missing), and how many there are.

    Only as long as there are at most a third as many as the `n` records.

    >>> import pyarrow
    >>> [(codes.tolist(), count) for codes, count in starts_of(pyarrow.array(["aa1", "ab1", "ba1"]), 6)]
    [([0, 1, 1, 2], 2)]
    """
    starts = []
    for length in range(1, LONGEST_START + 1):
        coded = pc.dictionary_encode(pc.utf8_slice_codeunits(labels, 0, length))  # no Python of ours for many ids
        if len(coded.dictionary) > n / 3:
            break
        codes = np.append(np.int32(0), coded.indices.to_numpy(zero_copy_only=False).astype(np.int32) + np.int32(1))
        starts.append((codes, len(coded.dictionary)))
    return tuple(starts)


def digest_of(digests: Sequence[str], parts: Mapping[str, Sequence[str]], needed: str) -> tuple[str, ...]:
    """The names of the parts, among them the one `needed`, whose texts joined have these digests; () where none do.

    No secret goes into them: whoever tries all values of the parts has the table.

    >>> sexes, born = ["f", "m"], ["1980-03-01", "1999-12-31"]
    >>> digest_of(["f5eaa7fd", "73bb5ba8"], {"born": born, "sex": sexes, "other": ["1", "2"]}, "born")
    ('sex', 'born')
    """
    length = len(digests[0]) if digests else 0
    if length not in DIGESTS or any(len(text) != length or not DIGITS.issuperset(text.lower()) for text in digests):
        return ()
    names: tuple[str, ...]
    for n in range(1, MOST_DIGESTED + 1):
        for names, separator in product(permutations(parts, n), SEPARATORS if n > 1 else SEPARATORS[:1]):
            texts = (separator.join(text) for text in zip(*(parts[name] for name in names), strict=True))
            if needed in names and all(_digest(t, length) == d.lower() for t, d in zip(texts, digests, strict=True)):
                return names
    return ()


def _digest(text: str, length: int) -> str:
    if DIGESTS[length] == "CRC-32":
        return f"{zlib.crc32(text.encode()):08x}"
    return hashlib.new(DIGESTS[length], text.encode(), usedforsecurity=False).hexdigest()
