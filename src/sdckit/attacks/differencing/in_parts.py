"""A release and an earlier one on an engine, neither of whose records fit here: compared by their cells in parts."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.attacks.differencing.compare_releases import SAYS, EarlierRelease, Relation
from sdckit.attacks.differencing.release_ledger import ALIKE
from sdckit.cells import packing, parted_pair, shared_coding
from sdckit.cells.pair import Pair, open_files
from sdckit.cells.plans.spilled import MOST_WORDS
from sdckit.errors import DataError
from sdckit.numerics import array_types, grouping
from sdckit.numerics.array_types import Ints

ONE_KEY = "one key alone is coded as in {}, so that cells do not fall into parts: give more keys, or more memory"
THEN, NOW = 0, 1  # the files


def compare_in_parts(
    earlier: Any, data: Any, name: str, keys: Sequence[str], sensitive: Sequence[str], *, within: int,
    joins: Sequence[str],
) -> tuple[EarlierRelease, int]:  # fmt: skip
    """What `compare_with_earlier` tells of two files whose rows nothing joins, from their cells.

    Also the records of which one value is given back and another one unprotected.

    `joins`: what could join the rows, which is not looked at.

    Raises ColumnError, DataError: as `deal_out`; nothing to deal the cells by.
    """
    opened = open_files(earlier, data)
    shared, _ = opened.shared_columns()
    names = tuple(dict.fromkeys(column for column in (*keys, *sensitive) if column in shared))
    levels = parted_pair.levels_of(opened, names)
    alike = tuple(column for column in names if _alike(levels[column]))
    own = tuple(column for column in alike if column in keys)
    figures: dict[str, Any] = {"compared": alike}
    several = 0
    if alike:
        if math.prod(levels[column].n_levels + 1 for column in alike) > MOST_WORDS:
            raise DataError(f"{', '.join(alike)} have too many values to be compared in parts; take fewer of them")
        by_part, other = _dealt(opened, alike, own or alike, levels, name)
        sums = sum(_counts(part, alike, own, within) for part in by_part.parts())
        figures |= _figures(sums, alike, own)
        if figures["relation"] in ("superset", "subset"):
            learnt = [column for column in sensitive if own and column not in keys and column in alike]
            gone = {target: levels[target].counts[NOW] == 0 for target in learnt}
            figures["told_by_difference"] = max(
                (sum(_told(part, own, of, within, gone[of]) for part in by_part.parts()) for of in learnt), default=0
            )
        back, bare = _hidden(by_part, other, alike)
        figures |= {"given_back": len(back), "unprotected": len(bare)}
        several = len(np.intersect1d(back, bare))
    unlinked = [SAYS["no_link"]] if set(sensitive) - set(keys) else []
    notes = [SAYS["not_joined"].format(", ".join(joins))] if joins else unlinked
    otherwise = tuple(column for column in names if column not in alike)
    return EarlierRelease(name, "", "file", True, 0, alike, otherwise, notes=tuple(notes), **figures), several


def _alike(coding: shared_coding.SharedCoding) -> bool:
    """Whether most records of each file have a value that the other has, too."""
    then, now = coding.counts[:, 1:]
    if not then.sum() or not now.sum():
        return True
    return bool(now[then > 0].sum() >= ALIKE * now.sum() and then[now > 0].sum() >= ALIKE * then.sum())


def _dealt(
    opened: Pair, alike: tuple[str, ...], own: Sequence[str], levels: Any, name: str
) -> tuple[parted_pair.PartedPair, parted_pair.PartedPair]:
    """The cells dealt out by some keys, and by others: what leaves a column out needs parts that do not go by it."""
    by_levels = sorted(own, key=lambda column: -levels[column].n_levels)
    first = parted_pair.deal_out(opened, alike, tuple(by_levels[::2]))
    if first.n_parts == 1:
        return first, first
    if len(own) < 2:
        raise DataError(ONE_KEY.format(name))
    return first, parted_pair.deal_out(opened, alike, tuple(by_levels[1::2]))


def _groups(part: Pair, names: Sequence[str]) -> packing.SharedGroups:
    return Pair.groups(part, names)


def _counts(part: Pair, alike: Sequence[str], own: Sequence[str], within: int) -> Ints:
    """Records added and removed by all columns; of the keys combinations that differ, and uniques of either file."""
    then, now = _groups(part, alike).size
    change = now - then
    sums = [change[change > 0].sum(), -change[change < 0].sum()]
    if own:
        then, now = _groups(part, own).size
        apart = np.abs(now - then)
        sums += [
            ((apart > 0) & (apart <= within)).sum(), ((now == 1) & (then == 0)).sum(),
            ((now == 0) & (then == 1)).sum(), ((now == 1) & (then == 1)).sum(),
        ]  # fmt: skip
    return np.array(sums, np.int64)


def _figures(sums: Any, alike: tuple[str, ...], own: tuple[str, ...]) -> dict[str, Any]:
    added, removed, *counted = sums.tolist()
    names = ("differing", "new_uniques", "vanished_uniques", "kept_uniques")
    figures = dict(zip(names, counted, strict=False)) | ({"counted": tuple(sorted(own))} if own else {})
    return {**figures, "relation": Relation(alike, added, removed).word, "added": added, "removed": removed}


def _told(part: Pair, own: Sequence[str], target: str, within: int, gone: array_types.Bools) -> int:
    """As `told_by_difference`, of one part; `gone`: the values, by code, that no record of the release has."""
    coarse = _groups(part, own)
    then, now = coarse.size
    moved = (now != then) & (np.abs(now - then) <= within) & (then > 0)
    fine, codes = _groups(part, [*own, target]), part.codes(target).codes
    of_fine, level = np.zeros((2, fine.n_groups), np.int64)
    for file in (THEN, NOW):
        of_fine[fine.of_row[file]] = coarse.of_row[file]
        level[fine.of_row[file]] = codes[file]
    before, after = fine.size
    changed = before != after
    absent = gone[level] & (level > 0) & (before > 0)

    def many(which: array_types.Bools) -> Any:
        return grouping.sum_by(of_fine[which], np.ones(int(which.sum())), coarse.n_groups)

    told = moved & (many(changed) == 1) & (many((before > 0) | (after > 0)) > 1)
    told &= (many(absent) == 0) & (many(changed & (level == 0)) == 0)
    return int(np.abs(now - then)[told].sum())


def _hidden(
    by_part: parted_pair.PartedPair, other: parted_pair.PartedPair, alike: Sequence[str]
) -> tuple[array_types.Ints, array_types.Ints]:
    """Combinations of the release with a value that only the earlier one shows, and the reverse, as `shown_by_match`.

    By number, since a record may show in two columns.
    """
    found: tuple[list[array_types.Ints], list[array_types.Ints]] = ([], [])
    columns = alike if len(alike) > 1 else ()
    for pair in (by_part,) if by_part is other else (by_part, other):
        left = [name for name in columns if name not in pair.split or by_part is other]
        if pair is other and by_part is not other:
            left = [name for name in left if name in by_part.split]
        for part in pair.parts() if left else ():
            for name in left:
                for way, rows in enumerate(_shown(part, [own for own in alike if own != name], name)):
                    if len(rows):
                        found[way].append(_numbers(part, alike)[rows])
    back, bare = (np.unique(np.concatenate(some)) if some else np.zeros(0, np.int64) for some in found)
    return back, bare


def _numbers(part: Pair, names: Sequence[str]) -> array_types.Ints:
    """Of each row of the release a number for its combination, the same one however the cells were dealt out."""
    number = np.zeros(len(part.codes(names[0]).codes[NOW]), np.int64)
    for name in names:
        coding = part.codes(name)
        number = number * (coding.n_levels + 1) + coding.codes[NOW]
    return number


def _shown(part: Pair, rest: Sequence[str], name: str) -> tuple[array_types.Ints, array_types.Ints]:
    """Rows of the release alone with the other columns in both files, their value hidden here alone, or there alone."""
    groups, codes = _groups(part, rest), part.codes(name).codes
    alone = (groups.size[THEN] == 1) & (groups.size[NOW] == 1)
    shown = np.zeros(groups.n_groups, np.bool_)
    shown[groups.of_row[THEN]] = codes[THEN] > 0
    of_row = groups.of_row[NOW]
    here, there = codes[NOW] > 0, shown[of_row]
    return np.flatnonzero(alone[of_row] & ~here & there), np.flatnonzero(alone[of_row] & here & ~there)
