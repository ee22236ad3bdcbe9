"""Keys and targets of the attribution measures on two files: known to the intruder, and to be learnt."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import SharedGroups, group_files
from sdckit.cells.pair import Pair
from sdckit.cells.record_result import ColumnResult
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data import arguments
from sdckit.data.columns import MIDNIGHT
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics import array_types, grouping

# Cross-tabulation of an original and its releases by key and target.


PerFile = tuple[NDArray[np.int32], ...]


@dataclass(frozen=True, eq=False)
class KeyTarget:
    """The combinations of key and target level that occur in any file.

    Attributes
    ----------
    key, target : ndarray, int32, shape (K,)
        Group of keys and level of the target of each combination.
    count : tuple of ndarray, int64, shape (K,)
        Records of each file with it, the original first.
    key_size : tuple of ndarray, int64
        Records of each file in each group of keys.
    of_row : tuple of ndarray, int32
        Combination of each record, file by file.
    """

    key: NDArray[np.int32]
    target: NDArray[np.int32]
    count: tuple[NDArray[np.int64], ...]
    key_size: tuple[NDArray[np.int64], ...]
    of_row: PerFile

    def share(self, file: int) -> NDArray[np.float64]:
        """Share of the target level in its key in a file (0: the original); 0 where the file lacks the key."""
        return shares(self.count[file], self.key_size[file][self.key])

    def sole(self, file: int) -> NDArray[np.bool_]:
        """Whether this target level is the only one of its key in a file, and occurs."""
        count = self.count[file]
        is_sole: NDArray[np.bool_] = (count > 0) & (count == self.key_size[file][self.key])
        return is_sole


def shares(part: NDArray[Any], size: NDArray[Any]) -> NDArray[np.float64]:
    """Elementwise part / size; 0 where the size is 0."""
    share: NDArray[np.float64] = np.divide(part, size, out=np.zeros(len(part)), where=size > 0)
    return share


def key_target(keys: SharedGroups, target: PerFile, cells: SharedGroups | None = None) -> KeyTarget:
    """Cross-tabulate groups of keys with the levels of a target; `cells`: the records grouped by both before.

    Examples
    --------
    >>> keys = group_files([(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32))])
    >>> table = key_target(keys, (np.array([1, 2, 1], np.int32), np.array([2, 1, 1], np.int32)))
    >>> sorted(table.count[1].tolist()), table.share(1)[table.of_row[0]].tolist()
    ([0, 1, 2], [0.0, 1.0, 1.0])
    """
    cells = group_files([keys.of_row, target], times=keys.times) if cells is None else cells
    key, level = (codes_of_groups(cells, codes) for codes in (keys.of_row, target))
    return KeyTarget(key, level, cells.size, keys.size, cells.of_row)


def key_and_target(pair: Pair, keys: Sequence[str], learnt: SharedCoding, groups: SharedGroups) -> KeyTarget:
    """`key_target` of groups of keys and one target; those of a pair once, where neither is cut into classes."""
    if learnt.cut is not None or groups is not pair.memo.get(("groups", tuple(keys))):
        return key_target(groups, learnt.codes)
    return pair.once(
        ("key and target", tuple(keys), learnt.name),
        lambda: key_target(groups, learnt.codes, pair.known_groups((*keys, learnt.name))),
    )


def codes_of_groups(groups: SharedGroups, codes: PerFile) -> NDArray[np.int32]:
    """The code that all records of a group share."""
    out = np.zeros(groups.n_groups, np.int32)
    for rows, values in zip(groups.of_row, codes, strict=True):
        out[rows] = values
    return out


# Keys and targets as levels: categories as they are, numbers cut into classes where asked for.


Bins = int | Mapping[str, int]


def bins_by_name(bins: Bins, numeric: Sequence[str], used: Sequence[str]) -> dict[str, int]:
    """Number of classes of each column to be cut: those in `numeric` and those that `bins` names."""
    names = arguments.names(numeric, "numeric") or ()
    given = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(names, bins)
    for argument, named in (("numeric", names), ("bins", given)):
        if unknown := [name for name in named if name not in used]:
            raise ColumnError(f"{argument}: {unknown[0]!r} is neither a key nor a target", argument=argument)
    if lacking := [name for name in names if name not in given]:
        raise DataError(f"bins says nothing of {lacking[0]!r}; give it a number of classes", argument="bins")
    for number in given.values() if isinstance(bins, Mapping) else (bins,):
        arguments.count(number, "bins", "is a number of classes, or a dict with one per column", at_least=2)
    return {name: int(number) for name, number in given.items()}


def coded_columns(pair: Pair, names: Sequence[str], bins: Mapping[str, int]) -> dict[str, SharedCoding]:
    """Read columns as levels, those in `bins` cut at quantiles of all files pooled."""
    return {
        name: classes_of(name, pair.numbers(name), bins[name], pair.times) if name in bins else pair.codes(name)
        for name in names
    }


def find_level(column: SharedCoding, value: object, role: str, item: int) -> int:
    """Code of a level that the caller names; None is a missing value."""
    if value is None:
        return 0
    labels = column.labels()[1:]
    wanted = str(value)
    if wanted in labels:
        return labels.index(wanted) + 1
    if column.kind == "numbers":
        try:
            return [float(label) for label in labels].index(float(wanted)) + 1
        except ValueError:
            pass
    if column.kind == "dates":  # the midnight of a day is printed by some engines, and by a datetime
        days = [label.removesuffix(MIDNIGHT) for label in labels]
        if (day := wanted.replace("T", " ").removesuffix(MIDNIGHT)) in days:
            return days.index(day) + 1
    words = f"{role}: item {item} is none of the {column.n_levels} levels of {column.name!r}"
    raise DataError(f"{words}; give a level that a file has, as it prints")


# Base of results with a value of each record given the original, and given the release.


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAfter(ColumnResult, ABC):
    """Base of the results on two files that have a value of each record before and after."""

    @abstractmethod
    def sides(self) -> tuple[array_types.Floats, array_types.Floats]:
        """The value of each record given the original, and given the release (mean over the releases)."""

    def pairs(self) -> Any:
        """The records by their figure with the original and with the release together, as a scatter plot needs them.

        Returns
        -------
        frame
            ``original``, ``released``, ``n`` (records that have both). Confidential: a pair may be that of one record.

        Raises
        ------
        DataError
            The result was pickled and has let go of the data.
        """
        original, released, n = grouping.joint_counts(*self.sides())
        return self.pair.table({"original": original.tolist(), "released": released.tolist(), "n": n.tolist()})

    def plot(self, *, internal: bool = False, scatter: bool = False) -> Any:
        """Draw the records by their figure, protected unless `internal`: a chart can be saved and passed on.

        Parameters
        ----------
        internal : bool
            Exact counts.
        scatter : bool
            Draw each record's figure with the release over the one with the original, points as large as the number
            of records; protected in squares, of which those with few records are left out.

        Returns
        -------
        altair.Chart

        Raises
        ------
        DataError
            A file of fewer than 50 records, unless internal; `scatter` of a result that was pickled.
        """
        return self._plot("scatter" if arguments.flag(scatter, "scatter") else "", internal=internal)


MISSING_RULE = "a missing value is a level of its own, of keys and target"


def known_and_learnt(
    keys: Sequence[str] | None, target: str | Sequence[str] | None, scenario: Scenario | None, *, several: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys, and the target; with `several` the columns that form the target together.

    Examples
    --------
    >>> known_and_learnt(["sex"], "ill", None)
    (('sex',), ('ill',))
    """
    names = resolve_roles(scenario=scenario, keys=keys).keys
    if target is None:
        sensitive = scenario.sensitive if scenario else ()
        if len(sensitive) != 1:
            hint = f"; the scenario has {', '.join(sensitive)}" if sensitive else ""
            raise ScenarioError(f"say which variable an intruder would learn: target='...'{hint}", argument="target")
        target = sensitive[0]
    learnt = arguments.names(target, "target", single=True) or ()
    if not learnt:
        raise ScenarioError("target is empty; say which variable an intruder would learn", argument="target")
    if len(learnt) > 1 and not several:
        words = "target is one column; attribute_disclosure_table takes several in targets=[...]"
        raise ColumnError(words, argument="target")
    check_targets(learnt, names)
    return names, learnt


def check_targets(target: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse a target that is a key."""
    if clash := [name for name in target if name in keys]:
        raise ColumnError(f"target {clash[0]!r} is a key; an intruder cannot learn what they know", argument="target")


def identical_note(pair: Pair, used: Sequence[str]) -> dict[str, str]:
    """A note where releases equal the original in the columns used; empty where none does."""
    return same_note(sum(pair.identical(used)), pair.m, "keys and target, row by row")
