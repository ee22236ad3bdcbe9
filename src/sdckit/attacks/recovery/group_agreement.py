"""Agreement of a column within groups of records, tested against chance and by leave-one-out error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from sdckit.numerics.array_types import Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.intervals import wilson

SUPPORTS = np.array([1, 2, 3, 5, 10, 30, 100])
DEVIATING = np.array([0.03, 0.1, 0.25, 0.45])  # shares of a group whose value is not that of its majority
CHANCE = math.log(1e-7)  # agreement at least this probable by chance is no rule
MOST_WRONG = 0.1  # largest error rate of a rule; and a fifth of that of the most frequent value
MOST_SURELY = 0.03  # the same where
SAFELY = 5  # times the values asked for are fewer than the deviating ones seen
OF_THE_USUAL = 1 / 5
OF_PERTURBED = 0.4  # the same of perturbed values, any of which may deviate because it was changed
STRICTER = 4  # for neighbours
CONFIDENCE = 0.99
FEWEST_RIGHT = 30  # correct predictions needed before a rule counts
FEWEST_WHOLE = 8  # the same if every group agrees, with support of three or more (a copied column)
COPY_SUPPORT = 3
COPY_CHANCE = math.log(1e-4)
LONGEST = 64
FEWEST_COUNTED = 1 << 14  # records that are counted in a table
MOST_CELLS = 1 << 16  # of it
MOST_SPARSE = 64  # times as many, where only records that are alike are counted
LARGE = 12  # records of a group that has no majority, from which on no deviating one less would make it a telling one


@njit(nogil=True, cache=True)
def _tally(group, codes, code, votes, size):  # type: ignore[no-untyped-def]
    """Find the majority of each group among known codes, in place.

    In: `group` (n,) from 0, -1 for none; `codes` (n,) from 1, 0 for unknown. Out, by group: the `code` that more than
    half of the `size` known records have, and its `votes`; some code where there is none.
    """
    for i in range(len(group)):
        if codes[i] > 0 and group[i] >= 0:
            g = group[i]
            if votes[g] == 0:
                code[g] = codes[i]
            votes[g] += 1 if code[g] == codes[i] else -1
    votes[:] = 0
    for i in range(len(group)):
        if codes[i] > 0 and group[i] >= 0:
            g = group[i]
            size[g] += 1
            votes[g] += code[g] == codes[i]


@dataclass(frozen=True, eq=False)
class Tally:
    """Known values of each group: the majority's `code`, its `votes`, and the `size`; each (groups,)."""

    code: Codes
    votes: Codes
    size: Codes

    @cached_property
    def places(self) -> tuple[Ints, Ints, Ints]:
        """(groups,) number of the supports that a group has, and that it has less one record; share that deviates."""
        with_all, less_one = (np.searchsorted(SUPPORTS, self.size - less, "right") for less in (0, 1))
        return with_all, less_one, np.searchsorted(DEVIATING, (self.size - self.votes) / np.maximum(self.size, 1))


@dataclass(frozen=True, eq=False)
class Rule:
    """A reliable rule: which groups `tell`, by number and by share of deviating records; a bound of its error rate.

    `tells`: (SUPPORTS, DEVIATING).
    """

    tells: Bools
    wrong: float

    def telling(self, tally: Tally) -> Bools:
        """(groups,) whether the majority tells the value of the others."""
        with_all, less_one, column = tally.places
        tells = np.zeros((len(SUPPORTS) + 1, len(DEVIATING) + 1), np.bool_)
        tells[1:, :-1] = self.tells  # of no record nobody is told, nor where most deviate
        return np.asarray(tells[with_all, column] | tells[less_one, column])  # as judged: less one


def tally_groups(group: Codes, codes: Codes, n_groups: int) -> Tally:
    """Tally the known values (codes above 0) by group; records of group -1 belong to none.

    >>> found = tally_groups(np.array([0, 0, 1, 1, 1, 1], np.int32), np.array([4, 4, 2, 0, 3, 3], np.int32), 2)
    >>> found.code.tolist(), found.votes.tolist(), found.size.tolist()
    ([4, 3], [2, 2], [2, 3])
    """
    tally = Tally(*(np.zeros(n_groups, np.int32) for _ in range(3)))
    _tally(group, codes, tally.code, tally.votes, tally.size)
    return tally


@njit(nogil=True, cache=True)
def _count(group, codes, counts):  # type: ignore[no-untyped-def]
    """Count, in place, the records of each group and known code, (groups, codes + 1)."""
    for i in range(len(group)):
        if codes[i] > 0 and group[i] >= 0:
            counts[group[i], codes[i]] += 1


def tally_known(group: Codes, codes: Codes, n_groups: int, n_codes: int) -> Tally:
    """Do as `tally_groups`; of many records in few groups with few codes, by a table of counts.

    Without a majority a group may have another of its codes than there: of groups of that size it makes no difference.

    >>> found = tally_known(np.repeat(np.int32([0, 1]), 9000), np.tile(np.int32([2, 2, 1]), 6000), 2, 2)
    >>> found.code.tolist(), found.votes.tolist(), found.size.tolist()
    ([2, 2], [6000, 6000], [9000, 9000])
    """
    if len(group) < FEWEST_COUNTED or n_groups * (n_codes + 1) > MOST_CELLS:
        return tally_groups(group, codes, n_groups)
    counts = np.zeros((n_groups, n_codes + 1), np.int32)
    _count(group, codes, counts)
    code, votes, size = counts.argmax(axis=1), counts.max(axis=1), counts.sum(axis=1)
    if ((2 * votes <= size) & (size > 0) & (size < LARGE)).any():
        return tally_groups(group, codes, n_groups)
    return Tally(code.astype(np.int32), votes, size.astype(np.int32))


@njit(nogil=True, cache=True)
def split_alone(group, seen, rows, of_row):  # type: ignore[no-untyped-def]
    """Part the records that share their group from those alone in theirs: how many of either, and groups shared.

    In: `group` (n,) from 0, -1 for none; `seen` (groups,), zeros. Out: `rows` (n,), those that share first, those alone
    last; `of_row` (n,), groups of the former, numbered in the order in which they appear.
    """
    shared, alone, k = 0, 0, 0
    for i in range(len(group)):
        if group[i] >= 0:
            seen[group[i]] += 1
    for i in range(len(group)):
        g = group[i]
        if g < 0:
            continue
        if seen[g] == 1:
            alone += 1
            rows[len(rows) - alone] = i
            continue
        if seen[g] > 1:
            seen[g] = -k  # below 1 from here on
            k += 1
        rows[shared], of_row[shared] = i, -seen[g]
        shared += 1
    return shared, alone, k


def tally_cells(group: Codes, codes: Codes, times: Ints, n_groups: int) -> Tally:
    """The same of rows that stand for as many records as `times` says.

    >>> found = tally_cells(*np.array([[0, 0, 1, 0], [4, 2, 3, 4]], np.int32), np.array([5, 6, 2, 4]), 2)
    >>> found.code.tolist(), found.votes.tolist(), found.size.tolist()
    ([4, 3], [9, 2], [15, 2])
    """
    tally = Tally(*(np.zeros(n_groups, np.int32) for _ in range(3)))
    rows = np.flatnonzero((codes > 0) & (group >= 0))
    n_codes = int(codes.max(initial=0)) + 1
    words = group[rows].astype(np.int64) * n_codes + codes[rows]
    if n_groups * n_codes <= MOST_CELLS * MOST_SPARSE:
        records = np.bincount(words, times[rows], minlength=n_groups * n_codes)
        cells = np.flatnonzero(records)
        records = records[cells]
    else:
        cells, of_row = np.unique(words, return_inverse=True)
        records = np.bincount(of_row, times[rows], minlength=len(cells))
    order = np.argsort(records, kind="stable")  # the last one written is the largest
    at, code = np.divmod(cells[order], n_codes)
    tally.code[at], tally.votes[at] = code, records[order]
    tally.size[:] = np.bincount(at, records[order], minlength=n_groups)
    return tally


@njit(nogil=True, cache=True)
def _leave_out(votes, size, supports, deviating, right, wrong, groups, sizes):  # type: ignore[no-untyped-def]
    """Count, in place, records told rightly and wrongly by the majority of the others of their group.

    Out: `right`, `wrong`, and the `groups` that agree, by number of the others and share of deviating ones; `sizes`:
    all groups by number of the others and size.
    """
    for g in range(len(size)):
        others = size[g] - 1
        if others < 1:
            continue
        row, column, less, off = -1, 0, 0, size[g] - votes[g]
        for support in supports:
            row += support <= others
        for share in deviating:  # a deviating record sees one deviating record less
            column += share < off / others
            less += share < (off - 1) / others
        sizes[row, min(size[g], sizes.shape[1] - 1)] += 1
        if column < len(deviating):
            right[row, column] += votes[g]
            groups[row, column] += 1
        if off > 0:
            column = less
            if column < len(deviating):
                wrong[row, column] += size[g] if votes[g] == off else off


def agreement_by_chance(shares: Floats) -> Floats:
    """Probability (DEVIATING, LONGEST + 1) that a group of a size agrees by chance but for a share of its records.

    >>> agreement_by_chance(np.array([0.0, 0.5, 0.5]))[0, :4].round(6).tolist()
    [1.0, 1.0, 0.5, 0.25]
    """
    share, levels = np.unique(shares[shares > 0], return_counts=True)
    chance = np.ones((len(DEVIATING), LONGEST + 1))
    log, log_rest = np.log(share), np.log1p(-np.minimum(share, 1 - 1e-9))
    for size in range(2, LONGEST + 1):
        most = np.floor(DEVIATING * (size - 1) + (size == LONGEST)).astype(np.int64)  # larger groups count as LONGEST
        off = np.arange(most[-1] + 1)
        ways = _ways(size, len(off))
        of_off = np.exp(ways[:, None] + (size - off)[:, None] * log + off[:, None] * log_rest) @ levels
        chance[:, size] = np.minimum(np.cumsum(of_off)[most], 1.0)
    return chance


@cache
def _ways(size: int, most: int) -> Floats:
    """Logarithms of the ways to choose 0, 1, ... of so many records."""
    return np.array([math.log(math.comb(size, d)) for d in range(most)])


def could_tell(tally: Tally, usual_wrong: float) -> bool:
    """Whether in any group so few deviate that a rule may come of it, without judging it: no rule errs more often.

    >>> could_tell(tally_groups(np.zeros(9, np.int32), np.int32([1] * 7 + [2] * 2), 1), 0.5)
    False
    """
    most = min(MOST_WRONG, OF_THE_USUAL * usual_wrong) + 1e-9
    return bool(((tally.size > 1) & (tally.size - tally.votes <= most * tally.size)).any())


def judge_agreement(
    tally: Tally, shares: Floats, chance: Floats | None = None, *, asked: Callable[[], Codes] | None = None,
    alone: Codes | None = None, rules: int = 1, perturbed: bool = False,
) -> Rule | None:  # fmt: skip
    """Judge by leave-one-out whether the majority of a group determines a value; None if it does not.

    Every known record is left out once and predicted by the majority of the others of its group; groups alike in size
    and in their share of deviating records are judged by themselves, then all of them together. `shares` are the
    relative frequencies of the known values, `chance` what `agreement_by_chance` makes of them; `asked` gives the
    groups of the values sought, `alone` are the codes of records that are not in the tally, as nobody shares their
    group; `rules` is the number of rules tried (Bonferroni correction). Where `perturbed`, any
    may be wrong.
    """
    usual = 1.0 - float(shares.max(initial=0.0))
    right, wrong, groups = np.zeros((3, len(SUPPORTS), len(DEVIATING)), np.int64)
    sizes = np.zeros((len(SUPPORTS), LONGEST + 1), np.int64)
    _leave_out(tally.votes, tally.size, SUPPORTS, DEVIATING, right, wrong, groups, sizes)
    copied = not bool((tally.votes < tally.size).any())
    counts = [array.tolist() for array in (right, wrong)]
    sums = [array.cumsum(axis=1).tolist() for array in (right, wrong, groups)]
    by_row = [row for row in reversed(range(len(SUPPORTS))) if any(counts[0][row]) or any(counts[1][row])]

    @cache
    def dealt(whole: bool) -> list[list[float]]:
        """Groups that agree by chance, by size and share of deviating ones; `whole`: the logarithm that all do."""
        by_chance = agreement_by_chance(shares) if chance is None else chance
        return list(np.asarray(sizes @ (np.log(by_chance) if whole else by_chance).T).tolist())

    def judged(choice: tuple[tuple[int, int], ...], hits: int, errors: int, agreeing: int, limit: float) -> Rule | None:
        whole = copied and SUPPORTS[choice[-1][0]] >= COPY_SUPPORT
        if hits < (FEWEST_WHOLE if whole else FEWEST_RIGHT):
            return None

        def most_wrong(attempts: int) -> float:
            return wilson(attempts * errors / (hits + errors), attempts, CONFIDENCE).high if errors else 0.0

        attempts, few = hits + errors, agreeing + errors
        limit = limit if perturbed or not errors else min(limit, OF_THE_USUAL * usual)
        may_be_few = asked is not None and errors > 0 and not perturbed
        if most_wrong(attempts) > limit and not (may_be_few and most_wrong(few) <= min(limit, MOST_SURELY)):
            return None  # whatever is asked for
        expected = sum(dealt(whole)[row][columns - 1] for row, columns in choice)
        if (expected if whole else log_tail(agreeing, expected)) > (COPY_CHANCE if whole else CHANCE) - math.log(rules):
            return None
        rule = Rule(np.zeros(right.shape, np.bool_), 0.0)
        for row, columns in choice:
            rule.tells[row, :columns] = True
        if errors:
            telling = rule.telling(tally)
            if may_be_few and asked is not None and errors * SAFELY > np.append(telling, False)[asked()].sum():
                # suppressed may be just those who deviate: as many as are seen would be too many of those asked for
                limit, attempts = min(limit, MOST_SURELY), few
            votes = np.bincount(tally.code[telling], tally.votes[telling], minlength=len(shares))
            if alone is not None and rule.tells[0, 0]:
                votes[1:] += np.bincount(alone, minlength=len(votes))[1:]
            limit = limit if perturbed else min(limit, OF_THE_USUAL * (1 - votes.max() / (hits + errors)))
            rule = Rule(rule.tells, most_wrong(attempts))
        return None if rule.wrong > limit else rule

    for limit in (usual * OF_PERTURBED,) if perturbed else (MOST_WRONG, MOST_SURELY):
        within = {row: _within(counts[0][row], counts[1][row], limit) for row in by_row}
        choices: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for loosest in range(len(DEVIATING)):
            choice: tuple[tuple[int, int], ...] = ()
            counted = [0, 0, 0]
            for row in by_row:
                if not within[row][loosest]:
                    break  # smaller groups are no better, and a choice among them would be one of lucky ones
                choice = (*choice, (row, within[row][loosest]))
                counted = [own + some[row][within[row][loosest] - 1] for own, some in zip(counted, sums, strict=True)]
                choices[choice] = counted
        for choice, (hits, errors, agreeing) in sorted(choices.items(), key=lambda entry: -entry[1][0]):
            if (rule := judged(choice, hits, errors, agreeing, limit)) is not None:  # that tells most is asked first
                return rule
    return None


def _within(right: list[int], wrong: list[int], limit: float) -> list[int]:
    """Up to which share of deviating records, of those looked at, groups of a size keep to the error rate.

    Of those up to each share, how many.
    """
    within, last, alone, errors, seen = [], 0, True, 0, 0
    for column, (hits, off) in enumerate(zip(right, wrong, strict=True)):
        errors, seen = errors + off, seen + hits + off
        # a single exception ends nothing
        alone = alone and (not column or off <= max(1.0, limit * (hits + off)))
        if alone and errors <= max(1.0, limit * seen):
            last = column + 1
        within.append(last)
    return within


def judge_rule(right: int, wrong: int, usual_wrong: float) -> float | None:
    """Upper bound of the error rate of a rule; None if it is too high, or no better than the most frequent value.

    `usual_wrong` is the error rate of the most frequent value.
    """
    if right < FEWEST_RIGHT or usual_wrong <= 0.0:
        return None
    if wrong == 0 and usual_wrong < 1.0 and right * math.log1p(-usual_wrong) > CHANCE:
        return None  # the most frequent value could be right as often by chance
    # without errors the bound is 0: chance agreement is excluded above
    most = wilson(wrong, right + wrong, CONFIDENCE).high if wrong else 0.0
    # neighbours may agree for other reasons and suppressed values are rare ones: hence the stricter limit
    return most if most <= min(MOST_SURELY, usual_wrong * OF_THE_USUAL) / STRICTER else None


def judge_hits(hits: Bools, judged: Bools, usual_wrong: float) -> float | None:
    """Do as `judge_rule` for what is `judged`, by which of it is hit."""
    right = int(np.count_nonzero(judged & hits))
    return judge_rule(right, int(np.count_nonzero(judged)) - right, usual_wrong)


def log_tail(seen: int, expected: float) -> float:
    """Log of the Chernoff bound on the probability of at least `seen` events with the given expectation."""
    if seen <= expected:
        return 0.0
    if expected <= 0.0:
        return -math.inf
    return seen - expected + seen * math.log(expected / seen)
