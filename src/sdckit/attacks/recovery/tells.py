"""Groups of records that share one value of a column, and whether that is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import njit
from sdckit.numerics.intervals import wilson

SUPPORTS = (1, 2, 3, 5, 10, 30, 100)
CHANCE = math.log(1e-7)  # a rule this probable by chance alone is none
MOST_WRONG = 0.03  # of what a rule says; and a fifth of what the most frequent value says
OF_THE_USUAL = 1 / 5
STRICTER = 4  # for neighbours
CONFIDENCE = 0.99
FEWEST_RIGHT = 30  # records a rule is right about before it counts: no error among fewer shows little
FEWEST_WHOLE = 8  # the same of a column that copies another: every group agrees, and with three or more
COPY_SUPPORT = 3
COPY_CHANCE = math.log(1e-4)
LONGEST = 64


@njit(nogil=True, cache=True)
def _tally(group, codes, first, n_first, second, n_second, more):  # type: ignore[no-untyped-def]
    for i in range(len(group)):
        code = codes[i]
        if code == 0:
            continue
        g = group[i]
        if g < 0:
            continue
        if n_first[g] == 0 or first[g] == code:
            first[g] = code
            n_first[g] += 1
        elif n_second[g] == 0 or second[g] == code:
            second[g] = code
            n_second[g] += 1
        else:
            more[g] = True


@dataclass(frozen=True, eq=False)
class Tally:
    """What is known of each group: two of its values and their records, and whether there are more values."""

    first: NDArray[np.int32]
    n_first: NDArray[np.int32]
    second: NDArray[np.int32]
    n_second: NDArray[np.int32]
    more: NDArray[np.bool_]

    @property
    def unanimous(self) -> NDArray[np.bool_]:
        """Groups whose known records have one value."""
        return np.asarray((self.n_first > 0) & (self.n_second == 0))


@dataclass(frozen=True)
class Telling:
    """A rule that tells a value: from how many agreeing records on, and how rarely it errs at most."""

    support: int
    wrong: float


def tally_groups(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> Tally:
    """Count the known values (codes above 0) of each group; records of group -1 are in none.

    >>> found = tally_groups(np.array([0, 0, 1, 1, 1], np.int32), np.array([4, 4, 2, 0, 3], np.int32), 2)
    >>> found.unanimous.tolist(), found.n_first.tolist()
    ([True, False], [2, 1])
    """
    first, n_first, second, n_second = (np.zeros(n_groups, np.int32) for _ in range(4))
    more = np.zeros(n_groups, np.bool_)
    _tally(group, codes, first, n_first, second, n_second, more)
    return Tally(first, n_first, second, n_second, more)


@dataclass(frozen=True, eq=False)
class Majorities:
    """The most frequent code of each group, its records, and those of the next most frequent one."""

    code: NDArray[np.int32]
    votes: NDArray[np.int64]
    next_votes: NDArray[np.int64]
    size: NDArray[np.int64]


def majorities_of(group: NDArray[np.int32], codes: NDArray[np.int32], n_groups: int) -> Majorities:
    """The most frequent code of each group, whose records without a code do not vote."""
    span = int(codes.max(initial=0)) + 1
    words, counts = np.unique(group.astype(np.int64) * span + codes, return_counts=True)
    of, code = words // span, words % span
    counts = np.where(code == 0, 0, counts)
    order = np.lexsort((counts, of))
    of, code, counts = of[order], code[order], counts[order]
    last = np.flatnonzero(np.append(of[1:] != of[:-1], True))
    size = np.bincount(of, counts, n_groups + 1).astype(np.int64)
    found = Majorities(np.zeros(n_groups + 1, np.int32), np.zeros_like(size), np.zeros_like(size), size)
    found.code[of[last]], found.votes[of[last]] = code[last], counts[last]
    second = last - 1
    second = second[(second >= 0)]
    second = second[~np.isin(second, last)]
    found.next_votes[of[second]] = counts[second]
    return found


def judge_tells(tally: Tally, shares: NDArray[np.float64], *, rules: int = 1) -> Telling | None:
    """Whether agreement within groups tells a value; None where it does not.

    Every known record is left out once: where the others of its group agree, do they agree with it? `shares` are
    those of the values among the known records; `rules` is how many rules are tried.
    """
    size = tally.n_first + tally.n_second
    agree = tally.unanimous & (size >= 2)
    one_off = ~tally.more & (tally.n_second > 0) & (np.minimum(tally.n_first, tally.n_second) == 1)
    others = size - 1
    chance = np.array([float((shares**s).sum()) for s in range(LONGEST + 1)])
    usual = 1.0 - float(shares.max(initial=0.0))
    found, above = None, np.inf
    copied = not bool((tally.n_second > 0).any())
    for support in reversed(SUPPORTS):
        enough, here = others >= support, (others >= support) & (others < above)
        above = support
        if _errs(size, agree & here, one_off & here):
            break  # whatever larger groups show: those of this size do not tell
        right, groups = int(size[agree & enough].sum()), int((agree & enough).sum())
        wrong = _wrong(size, one_off & enough)
        if right < (FEWEST_WHOLE if copied and support >= COPY_SUPPORT else FEWEST_RIGHT):
            continue
        by_chance = chance[np.minimum(size[enough & (size >= 2)], LONGEST)]
        if copied and support >= COPY_SUPPORT:
            chanced = float(np.log(by_chance).sum()) > COPY_CHANCE - math.log(rules)
        else:
            chanced = log_tail(groups, float(by_chance.sum())) > CHANCE - math.log(rules)
        if chanced:
            continue
        most = _most_wrong(right, wrong, groups + int((one_off & enough).sum()))
        if most > min(MOST_WRONG, usual * OF_THE_USUAL if wrong else 1.0):
            break
        found = Telling(support, most)
    return found


def _wrong(size: NDArray[np.int32], one_off: NDArray[np.bool_]) -> int:
    """Records that the others of their group agree against."""
    return int(np.count_nonzero(one_off) + np.count_nonzero(one_off & (size == 2)))


def _errs(size: NDArray[np.int32], agree: NDArray[np.bool_], one_off: NDArray[np.bool_]) -> bool:
    """Whether groups of one size err too often by themselves."""
    wrong = _wrong(size, one_off)
    return wrong > MOST_WRONG * (wrong + int(size[agree].sum()))


def judge_rule(right: int, wrong: int, usual_wrong: float) -> float | None:
    """How rarely a rule errs at most that gave one value each time; None where that is too often, or no news.

    `usual_wrong` is how often the most frequent value is wrong.
    """
    if right < FEWEST_RIGHT or usual_wrong <= 0.0:
        return None
    if wrong == 0 and usual_wrong < 1.0 and right * math.log1p(-usual_wrong) > CHANCE:
        return None  # the most frequent value alone would have been right as often
    most = _most_wrong(right, wrong, right + wrong)
    # neighbours are alike for many reasons, and what is suppressed is rare: only what orders the file counts
    return most if most <= min(MOST_WRONG, usual_wrong * OF_THE_USUAL) / STRICTER else None


def _most_wrong(right: int, wrong: int, groups: int) -> float:
    """The upper end of the share of errors; none at all where there were none among what chance cannot explain."""
    if wrong == 0:
        return 0.0
    share = wrong / (right + wrong)
    return wilson(share * groups, groups, CONFIDENCE).high


def log_tail(seen: int, expected: float) -> float:
    """Logarithm of (a bound on) the chance of seeing so many of what is rarely expected."""
    if seen <= expected:
        return 0.0
    if expected <= 0.0:
        return -math.inf
    return seen - expected + seen * math.log(expected / seen)
