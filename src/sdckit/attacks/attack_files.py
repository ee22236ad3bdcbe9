"""The files of an attack and what is asked of it: columns, options, warnings, checked before any work."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.attack_rates import FIGURES, ControlState
from sdckit.cells.packing import SharedGroups
from sdckit.cells.pair import CONTROL, Pair, open_pair
from sdckit.cells.shared_coding import EXACT, SharedCoding
from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import releases_have
from sdckit.errors import ColumnError, DataError, SdcWarning

ORDERED = {"numbers", "dates", "times", "durations"}
MATERIAL = 0.05  # a share of people of the original in the control file from which on its rates are not those of others
TOO_COARSE = 0.95  # where so many records of a file are equal, equal ones in two files say nothing


@dataclass(frozen=True, eq=False)
class AttackFiles:
    """The files of an attack, the control file behind the releases.

    `overlap` counts the records of the control file equal to one of the original, where that was found to be more
    than coincidence.
    """

    pair: Pair
    overlap: int = 0

    @property
    def has_control(self) -> bool:
        """Whether there is a control file."""
        return self.pair.control is not None

    @property
    def m(self) -> int:
        """Releases."""
        return self.pair.m

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.pair.n

    @property
    def n_control(self) -> int:
        """Records of the control file; 0 without one."""
        return 0 if self.pair.control is None else len(self.pair.control)

    @property
    def control_state(self) -> ControlState:
        """Whether people of the original are in the control file."""
        if not self.has_control:
            return "none"
        if not self.overlap:
            return "apart"
        return "overlapping" if self.overlap >= MATERIAL * self.n_control else "shared"

    def codes(self, name: str) -> SharedCoding:
        """A column as categories, coded alike in every file."""
        return self.pair.codes(name, control=True)

    def groups(self, names: Sequence[str]) -> SharedGroups:
        """Records of all files by some columns as categories."""
        return self.pair.groups(names, control=True)

    def numbers(self, name: str) -> tuple[NDArray[np.float64], ...]:
        """A column of numbers, dates or times (in days) as floats in every file, NaN where missing."""
        return self.pair.days(name)

    def ordered(self, name: str) -> bool:
        """Whether a column holds numbers, dates or times with exact differences: no whole numbers of 16 digits."""
        return is_ordered(self.codes(name)) and not self._too_long(name)

    def _too_long(self, name: str) -> bool:
        columns = [
            frame.get_column(name) for frame in (*self.pair.frames, self.pair.control) if frame is not None
        ]
        ends = [(one.min(), one.max()) for one in columns if one.dtype.is_integer() and one.count()]
        return any(abs(int(end)) > EXACT for pair in ends for end in pair)


def is_ordered(coding: SharedCoding) -> bool:
    """Whether values have distances: numbers, dates, times; not text, not true and false."""
    return coding.kind.partition(" with ")[0] in ORDERED


@dataclass(frozen=True, eq=False)
class Options:
    """How many attacks, the confidence of intervals, the subgroups, the random numbers."""

    n_attacks: int
    level: float
    by: tuple[str, ...]
    rng: np.random.Generator


def options(n_attacks: int, level: float, by: Sequence[str] | str | None, seed: arguments.Seed) -> Options:
    """Check what can be checked before the files are opened."""
    return Options(
        arguments.count(n_attacks, "n_attacks", "is how many attacks are made"),
        arguments.level(level),
        subgroups(by, FIGURES),
        arguments.seed(seed),
    )


def subgroups(by: Sequence[str] | str | None, figures: Sequence[str]) -> tuple[str, ...]:
    """The columns of subgroups, which stand beside `figures` in a table; one column may stand without a list."""
    names = arguments.names(by, "by", single=True) or ()
    taken = {name.casefold() for name in ("release", *figures)}
    if clash := [name for name in names if str(name).casefold() in taken]:
        raise ColumnError(f"by: {clash[0]!r} is the name of a result column; rename it", argument="by")
    return names


def all_variables(
    opened: Pair, variables: Sequence[str] | None, scenario: Scenario | None, notes: dict[str, str],
    without: Sequence[str] = (),
) -> tuple[str, ...]:  # fmt: skip
    """Choose the variables an intruder compares: those given, the scenario's, else all shared ones.

    Shared by original and releases; never the id, nor those in `without`.
    """
    names = arguments.names(variables, "variables")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *scenario.sensitive, *scenario.numeric]))
    if names is None:
        shared, left = opened.shared_columns(without)
        if not shared:
            raise ColumnError("original and release have no column in common")
        names = tuple(shared)
        if left:
            notes["variables"] = f"not in every file, left out: {', '.join(map(str, left))}"
    if not names:
        raise ColumnError("variables= is empty; name a column that the files share", argument="variables")
    return names


def open_attack(
    opened: Pair, *, roles: Mapping[str, Sequence[str]], by: Sequence[str] = (), least: int = 2
) -> AttackFiles:
    """Read the columns of an attack, and warn where the control file overlaps the original."""
    pair = open_pair(opened, categories={**roles, **({"by": by} if by else {})}, attack=True)
    files = AttackFiles(pair)
    sizes = [*zip(pair.names, (pair.n, *pair.sizes), strict=True), (CONTROL, files.n_control)]
    if few := [
        f"{label} has {size} record{'s' * (size != 1)}"
        for label, size in sizes[: len(sizes) - (not files.has_control)]
        if size < least
    ]:
        raise DataError(f"{'; '.join(few)}: an attack needs two or more in each file")
    if files.has_control:
        files = replace(files, overlap=_overlap(files, [name for names in roles.values() for name in names]))
    if files.overlap:
        warnings.warn(
            f"{_equal(files)}: people of the original in the control file make the residual risk too low",
            SdcWarning,
            stacklevel=3,
        )
    return files


def _equal(files: AttackFiles) -> str:
    return f"{files.overlap} of {files.n_control} records of the control file equal a record of the original"


def _overlap(files: AttackFiles, names: Sequence[str]) -> int:
    """Records of the control equal to one of the original, where that is more than coincidence; 0 else."""
    columns = tuple(dict.fromkeys(names))
    size = files.groups(columns).size
    own, other = size[0], size[-1]
    overlap = int(other[own > 0].sum())
    twins = int(own[own > 1].sum() + other[other > 1].sum())
    share = twins / (files.n + files.n_control)  # how often two people are equal by chance
    expected = files.n_control * share
    limit = min(1.5 * expected + 3 * math.sqrt(expected), files.n_control * (1 + share) / 2)
    same = (own > 0).sum() > 1 and np.array_equal(own, other)
    return overlap if same or (share < TOO_COARSE and overlap > limit) else 0


def numeric_columns(
    files: AttackFiles, names: Sequence[str], numeric: Sequence[str] | None, scenario: Scenario | None = None
) -> tuple[str, ...]:
    """Those of the columns whose differences count: as declared, else all numbers, dates and times."""
    declared = arguments.names(numeric, "numeric")
    if declared is None and scenario is not None and scenario.numeric:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is None:
        return tuple(name for name in names if files.ordered(name))
    for name in declared:
        if name not in names:
            near = did_you_mean(name, names)
            raise ColumnError(f"numeric: {name!r} is none of the columns used; {near}", argument="numeric")
        if not files.ordered(name) and files.codes(name).n_levels:
            kind = files.codes(name).kind
            if kind == "numbers":
                raise DataError(f"numeric {name!r} holds whole numbers of 16 digits or more; leave it out")
            raise DataError(f"numeric {name!r} holds {kind}, not numbers or dates; convert it first")
    return declared


def file_notes(files: AttackFiles, names: Sequence[str], notes: dict[str, str]) -> None:
    """Say that a release is the original, or that people of it are in the control file."""
    same = sum(files.pair.identical(tuple(names)))
    if same:
        notes["released"] = (
            f"{releases_have(same, files.m)} the original's values of these variables, row by row"
        )
    if files.overlap:
        notes["control"] = f"{_equal(files)}, which makes the residual risk too low"
        if files.control_state == "overlapping":
            notes["residual"] = f"not to be relied on: {_equal(files)}"
