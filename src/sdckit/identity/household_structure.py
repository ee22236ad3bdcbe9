"""A8: households that their size or composition makes recognisable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.as_cells import tabulate_given
from sdckit.cells.record_result import CellsResult, IntervalKind, breakdown
from sdckit.cells.table import Cells
from sdckit.data import arguments, households
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Codes, Ints
from sdckit.numerics.coding import GOLDEN, hash_word
from sdckit.numerics.compiling import is_few, njit
from sdckit.numerics.grouping import group, places_among
from sdckit.result import FileFigure, mean_and_sum

RARE = 3
SMALL_HOME = 32  # members sorted by shifting them
NOTE = (
    "Leaving out a household-size variable hides nothing while the household id stays in the file: "
    "counting its members gives the size back."
)


# --- kernel -----------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _deal(household, pattern, place, member):  # type: ignore[no-untyped-def]
    """Scatter the pattern of each record into `member` (n,), household by household.

    `place` (H,): on entry where each household begins, on return where it ends.
    """
    for i in range(len(household)):
        member[place[household[i]]] = pattern[i]
        place[household[i]] += 1


@njit(cache=True, nogil=True)
def _sort_small(first, size, largest, member):  # type: ignore[no-untyped-def]
    """Sort the patterns of each household of up to `largest` members in place, by insertion."""
    for home in range(len(first)):
        if size[home] > largest:
            continue
        for i in range(first[home] + 1, first[home] + size[home]):
            pattern, j = member[i], i
            while j > first[home] and member[j - 1] > pattern:
                member[j] = member[j - 1]
                j -= 1
            member[j] = pattern


@njit(cache=True, nogil=True)
def _hash_members(first, size, member, out):  # type: ignore[no-untyped-def]
    """Hash of each household's size and sorted patterns, into `out` (H,)."""
    for home in range(len(first)):
        word = np.uint64(size[home])
        for i in range(first[home], first[home] + size[home]):
            word = hash_word(word ^ (np.uint64(member[i]) * GOLDEN))
        out[home] = word


@njit(cache=True, nogil=True)
def _are_alike(first, size, member, kind, of_kind):  # type: ignore[no-untyped-def]
    """Whether each household has the sorted patterns of the representative of its kind, `of_kind[kind]`."""
    for home in range(len(first)):
        other = of_kind[kind[home]]
        if size[home] != size[other]:
            return False
        for i in range(size[home]):
            if member[first[home] + i] != member[first[other] + i]:
                return False
    return True


def compositions(household: Codes, pattern: Codes, n_households: int) -> tuple[Ints, Codes]:
    """Size of each household, and a number that households share when their members' patterns agree.

    Examples
    --------
    >>> size, kind = compositions(np.array([0, 0, 1, 1], np.int32), np.array([5, 7, 7, 5], np.int32), 2)
    >>> size.tolist(), bool(kind[0] == kind[1])
    ([2, 2], True)
    """
    size = np.bincount(household, minlength=n_households)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    member = _members(household, pattern, first, size)
    if not is_few(_hash_members, len(household)):
        words = np.empty(n_households, np.uint64)
        _hash_members(first, size, member, words)
        kind = group(words).of_row
        of_kind = places_among(kind, int(kind.max()) + 1)
        if _are_alike(first, size, member, kind, of_kind):
            return size, kind
    return size, _kinds(first, size, member)


def _members(household: Codes, pattern: Codes, first: Ints, size: Ints) -> Codes:
    """Patterns of the members, household by household, ascending within each."""
    if is_few(_deal, len(household)):
        return pattern[np.lexsort((pattern, household))]
    member = np.empty(len(pattern), np.int32)
    _deal(household, pattern, first.copy(), member)
    _sort_small(first, size, SMALL_HOME, member)
    for home in np.flatnonzero(size > SMALL_HOME).tolist():
        member[first[home] : first[home] + size[home]].sort()
    return member


def _kinds(first: Ints, size: Ints, member: Codes) -> Codes:
    """Composition number of each household, refined member by member from (number so far, pattern)."""
    bits, n_households = int(member.max(initial=0)).bit_length(), len(size)
    kind = np.zeros(n_households, np.int32)
    alone = np.bincount(size, minlength=1)[size] == 1  # a size nobody shares: no need to look at the members
    finished, active = 0, np.flatnonzero(~alone)
    for position in range(int(size[active].max(initial=0))):
        active = active[size[active] > position]
        state = kind[active].astype(np.uint64) << np.uint64(bits)
        used = int(kind[active].max(initial=0)).bit_length() + bits
        steps = group(state | member[first[active] + position].astype(np.uint64), bits=max(1, used))
        number = steps.of_row
        done = size[active] == position + 1
        # finished households get negative numbers, out of the range that the others continue with
        kind[active] = number
        kind[active[done]] = -1 - (finished + number[done])
        finished += len(steps.size)
    kind[alone] = -1 - (finished + np.arange(np.count_nonzero(alone)))
    return -1 - kind


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class HouseholdStructure(CellsResult):
    """How recognisable households are by size and composition.

    Attributes
    ----------
    n, n_households : int
    sizes : dict of int to int
        Households of each size.
    unique_sizes : int
        Sizes that one single household has.
    rare_sizes : int
        Sizes that fewer than 3 households have.
    unique_compositions : int
        Households whose composition no other household has.
    share_unique_compositions : float
        Their share of the households.
    household_variables : tuple of str
        Keys that never differ within a household, where some household has two members with a value; of all
        columns: `household_variables`, the function.
    records_in_unique_compositions, share_in_unique_compositions : int and float
        Records in such a household, and their share of all records.
    records : frame
        ``household_size``, ``size_frequency`` (households of that size), ``composition_frequency``
        (households of that composition) and, with weights, their estimates for the population
        (``size_population_frequency``, ``composition_population_frequency``).
    """

    measure: ClassVar[str] = "household_structure"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_households", "unique_sizes", "rare_sizes", "unique_compositions", "records_in_unique_compositions",
        "share_in_unique_compositions", "sizes", "household_variables",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("cells", "size", "composition")
    cells: Cells
    size: Ints
    composition: Ints
    names: tuple[str, ...]
    notes: dict[str, str] = field(default_factory=lambda: {"household": NOTE}, kw_only=True)
    shared: dict[str, int] = field(default_factory=dict, repr=False)  # households in which two have a value

    @cached_property
    def n_households(self) -> int:
        """Households."""
        return len(self.size)

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Households of each size."""
        size, count = np.unique(self.size, return_counts=True)
        return dict(zip(size.tolist(), count.tolist(), strict=True))

    @cached_property
    def unique_sizes(self) -> int:
        """Sizes that one single household has."""
        return sum(count == 1 for count in self.sizes.values())

    @cached_property
    def rare_sizes(self) -> int:
        """Sizes that fewer than 3 households have."""
        return sum(count < RARE for count in self.sizes.values())

    @cached_property
    def unique_compositions(self) -> int:
        """Households whose composition no other household has."""
        return int(np.count_nonzero(self.composition == 1))

    @property
    def share_unique_compositions(self) -> float:
        """Share of the households that are alone with their composition."""
        return self.unique_compositions / self.n_households

    @cached_property
    def records_in_unique_compositions(self) -> int:
        """Records in a household whose composition no other household has."""
        return int(self.size[self.composition == 1].sum())

    @property
    def share_in_unique_compositions(self) -> float:
        """Share of the records in a household whose composition no other household has."""
        return self.records_in_unique_compositions / self.n

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        figures = "share_in_unique_compositions", "records_in_unique_compositions"
        return mean_and_sum(*figures, "composition_frequency", below=1.5)

    @property
    def household_variables(self) -> tuple[str, ...]:
        """Keys that never differ within a household."""
        return tuple(self.shared)

    @property
    def records(self) -> Any:
        """A row per record, in the caller's order and frame type."""
        return self.cells.records(self.names, prefix=self.prefix)


# --- measure ----------------------------------------------------------------------------------------


def household_structure(
    data: Any,
    *,
    household: str | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> HouseholdStructure:
    """Show whose household is recognisable by its size or by who lives in it.

    Parameters
    ----------
    data : data frame or Cells
    household : str
        Column that tells which records share a household; without a value a record is one of its own.
    keys : sequence of str
        Variables that an intruder could know of the members; a missing value is a category here.
    weight : str, optional
        Column of sampling weights; a household weighs the mean of its members.
    by : str or sequence of str, optional
        Columns whose combinations are subgroups; see ``by_group``. A missing value is a group of its own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        its household less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives what is not given here.
    id, prefix : str, optional
        Column carried along in `.records`; text before the names of result columns.

    Returns
    -------
    HouseholdStructure
        ``n_households``, ``sizes``, ``unique_sizes``, ``rare_sizes``, ``unique_compositions``,
        ``household_variables``, ``records``, ``by_group``, ``intervals``.

    Raises
    ------
    ColumnError, DataError
        As `key_frequencies`; a scenario with a person column.
    ScenarioError
        No household column.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide,
    section on household risk.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"hh": [1, 1, 2, 2, 3], "sex": ["f", "m", "m", "f", "f"]})
    >>> result = household_structure(people, household="hh", keys=["sex"])
    >>> result.sizes, result.unique_sizes, result.unique_compositions
    ({1: 1, 2: 2}, 1, 1)
    """
    asked = breakdown(data, by, HouseholdStructure, interval, seed, scenario, prefix)
    cells = tabulate_given(
        data, keys=keys, weight=weight, household=household, scenario=scenario, id=id, default_missing="category",
    )  # fmt: skip
    column = household if household is not None else cells.roles.household
    if column is None:
        raise ScenarioError("say which column tells households apart: household=", argument="household")
    if cells.roles.person is not None:
        raise DataError("household sizes count rows; with several rows per person, give one row per person")
    cells = cells.in_memory(column, *asked.by) if asked.by else cells.with_members(column)
    of_row, n_households = cells.household_of_row(column)
    size, kind = compositions(of_row, cells.table.of_row, n_households)
    weight_of_row = cells.weight_of_row()
    own = None if weight_of_row is None else np.bincount(of_row, weight_of_row, n_households) / size
    names = ["household_size", "size_frequency", "composition_frequency"]
    composition = np.bincount(kind)[kind]
    rows = {"household_size": size, "size_frequency": np.bincount(size)[size], "composition_frequency": composition}
    if own is not None:
        rows["size_population_frequency"] = np.bincount(size, own)[size]
        rows["composition_population_frequency"] = np.bincount(kind, own)[kind]
        names += ["size_population_frequency", "composition_population_frequency"]
    cells = cells.with_groups(column, rows)
    shared = _shared_keys(cells, of_row, n_households)
    return asked.of(HouseholdStructure(cells, size, composition, tuple(names), shared=shared, prefix=prefix))


def _shared_keys(cells: Cells, of_row: Codes, n_households: int) -> dict[str, int]:
    """Keys that agree within every household, and the households in which two members have a value."""
    shared = {}
    for name, codes, levels in zip(cells.keys, cells.table.codes, cells.levels, strict=True):
        if able := households.count_agreeing(codes, levels.span, cells.table.of_row, of_row, n_households):
            shared[name] = able
    return shared
