"""The variables by which two files are compared, and which of them are numeric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.cells.comparable_files import warn_of_numbers
from sdckit.cells.number_columns import number_columns, stored_as_numbers
from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.cells.plans.joined_sums import join_pair
from sdckit.cells.plans.pair_tables import PairTables, pair_tables
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data import arguments, frames
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import run


@dataclass(frozen=True, eq=False)
class Chosen:
    """The opened original and releases, with the variables to compare.

    `names`: the variables, in the order given or that of the original. `numeric`: those among them that are
    numbers. `notes`: what a reader must know of the choice. `declared`: whether somebody said which are numbers.
    `tables`: of plans whose engines count, instead of columns in memory.
    """

    pair: Pair
    names: tuple[str, ...]
    numeric: tuple[str, ...]
    notes: dict[str, str]
    declared: bool = True
    tables: PairTables | None = None

    def values(self, name: str) -> tuple[Floats, ...]:
        """A column as numbers in every file; of plans the different ones."""
        return self.pair.numbers(name) if self.tables is None else self.tables.numbers(name)

    def records(self, name: str) -> tuple[Ints, ...] | None:
        """Records with each of the `values` of a plan; None in memory, where a value is a record."""
        return None if self.tables is None else self.tables.records(name)


def chosen_variables(
    original: Any, released: Any = None, variables: Sequence[str] | None = None, numeric: Sequence[str] | None = None,
    scenario: Scenario | None = None, id: str | None = None, *, aligned: bool = False, by: Sequence[str] = (),
    counted: bool = False, cells: bool = False,
) -> Chosen:  # fmt: skip
    """Open the files with the variables asked for, or with all that they have in common.

    `variables`: all columns in common unless given, but for the id and the scenario's weight, household, person and
    identifiers. `by`: columns of groups, which are opened and are no variables. `counted`: whether the engines of plans
    count, and no record is brought. `cells`: whether equal records may be one row (`Pair.times`), which they are of
    plans whose variables are all categories. `numeric`: which of them are numbers: else those that the scenario
    declares, else those stored as numbers. Raises ColumnError, DataError, ScenarioError: no column in common, and all
    that `open_pair` finds.

    >>> import polars as pl
    >>> original = pl.DataFrame({"a": [1.5], "b": ["x"], "c": [1]})
    >>> found = chosen_variables(original, pl.DataFrame({"b": ["y"], "a": [2.5]}))
    >>> found.names, found.numeric
    (('a', 'b'), ('a',))
    """
    scenario = arguments.scenario_or_none(scenario)
    arguments.column_or_none(id, "id")
    notes: dict[str, str] = {}
    opened = open_files(original, released, id=id)
    types = [dict(frame.collect_schema()) for frame in opened.frames]
    names = arguments.names(variables, "variables")
    if names is None:
        names = _in_common(opened, scenario, notes)
    elif not names:
        raise ColumnError(
            "variables= is empty; name at least one column, or leave it out to take all", argument="variables"
        )
    names = tuple(name for name in names if name not in by)
    numbers = number_columns(
        names, numeric, scenario, lambda: stored_as_numbers(types, names), notes, role="not among the variables"
    )
    others = [name for name in names if name not in numbers]
    declared = numeric is not None or (scenario is not None and bool(scenario.numeric))
    if counted and all(map(frames.is_lazy, opened.frames)):
        return Chosen(opened, names, numbers, notes, declared, _tables(opened, [*names, *by], numbers))
    whole = cells and not numbers and (not aligned or _together(opened))
    pair = open_pair(
        opened, categories={"variables": others, "by": by}, numeric={"numeric": numbers},
        aligned=aligned and not whole, counted=whole,
    )  # fmt: skip
    alike = sum(_identical(pair, names, numbers, release) for release in range(pair.m))
    notes |= same_note(alike, pair.m, "value in every row of these variables")
    return Chosen(pair, names, numbers, notes, declared)


def _together(opened: Pair) -> bool:
    """Whether an engine has checked that the rows of plans belong together by the id."""
    joined = frames.built(lambda: join_pair(opened, (), ()))
    if joined is not None:
        joined.check()
    return joined is not None


def _tables(opened: Pair, names: Sequence[str], numbers: Sequence[str]) -> PairTables:
    """The values of the variables of plans, counted and checked."""
    tables = frames.built(lambda: pair_tables(opened, names))
    for name in names:
        if name in numbers:
            tables.numbers(name)
        else:
            tables.coding(name)
    return tables


def _identical(pair: Pair, names: Sequence[str], numbers: Sequence[str], release: int) -> bool:
    """Whether a release equals the original row by row; numbers are compared directly, since coding them is slow."""
    if pair.sizes[release] != pair.n or pair.times is not None:
        return False
    for name in names:
        files = pair.numbers(name) if name in numbers else pair.codes(name).codes
        if not np.array_equal(files[0], files[1 + release], equal_nan=name in numbers):
            return False
    return True


def _in_common(opened: Pair, scenario: Scenario | None, notes: dict[str, str]) -> tuple[str, ...]:
    apart = [] if scenario is None else [scenario.weight, scenario.household, scenario.person, *scenario.identifiers]
    names, lacking = opened.shared_columns(apart)
    if not names:
        raise ColumnError(
            "the files have no variable in common; rename columns that mean the same, or name them by variables=[...]"
        )
    warn_of_numbers(opened.original, names)
    if lacking:
        notes["variables"] = f"left out because not every file has them: {', '.join(sorted(lacking))}"
    return tuple(names)


# Variables of all files as levels: categories as they are, numbers cut into classes.


Bins = int | Mapping[str, int]
BINS = 5
SAMPLE = 2_000  # first values, from which a variable with many distinct values is recognised
MISSING_RULE = "a missing value is a level of its own"


def bins_of(bins: Bins, numeric: Sequence[str]) -> dict[str, int]:
    """Number of classes of each numeric variable.

    Raises ColumnError: a dict names a variable that is not numeric; DataError: a number of classes below 2.

    >>> bins_of({"age": 10}, ["age", "pay"])
    {'age': 10, 'pay': 5}
    """
    given = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(numeric, bins)
    if unknown := [name for name in given if name not in numeric]:
        raise ColumnError(f"bins: {unknown[0]!r} is not among the numeric variables", argument="bins")
    for number in given.values() if isinstance(bins, Mapping) else (bins,):
        arguments.count(number, "bins", "is a number of classes, or a dict with one per variable", at_least=2)
    return {name: int(given.get(name, BINS)) for name in numeric}


def coded_variables(chosen: Chosen, bins: Bins) -> tuple[list[SharedCoding], tuple[str, ...], dict[str, str]]:
    """Read the variables as levels, numbers cut at quantiles of all files pooled; also the names of numbers, and notes.

    One with no more different values than classes is taken value by value: the quantiles of a code of 1 and 2
    would put both into one class. Where nobody declared it numeric, it is no number then.
    """
    classes, notes = bins_of(bins, chosen.numeric), dict(chosen.notes)
    tables = chosen.tables
    whole = [name for name, k in classes.items() if _has_few_values(chosen, name, k)]
    if whole:
        notes["values"] = f"taken value by value because they have so few: {', '.join(whole)}"

    def read(name: str) -> SharedCoding:
        if name in whole or name not in classes:
            return chosen.pair.codes(name) if tables is None else tables.coding(name)
        return classes_of(name, chosen.values(name), classes[name], chosen.records(name))

    numbers = tuple(name for name in chosen.names if name in classes and (chosen.declared or name not in whole))
    coded = run(read, chosen.names)
    return coded, numbers, notes | _level_notes(coded)


def _has_few_values(chosen: Chosen, name: str, k: int) -> bool:
    """Whether a variable has at most k distinct values in all files together, missing apart."""
    sample = chosen.values(name)[0][:SAMPLE]
    if len(np.unique(sample[~np.isnan(sample)])) > k:
        return False
    return (chosen.pair.codes(name) if chosen.tables is None else chosen.tables.coding(name)).n_levels <= k


def _level_notes(variables: Sequence[SharedCoding]) -> dict[str, str]:
    """Notes on variables that are constant, have no value in common, or are missing in some files only."""
    seen = {variable.name: variable.counts > 0 for variable in variables}
    constant = [name for name, has in seen.items() if has.any(axis=0).sum() == 1]
    apart = [name for name, has in seen.items() if not (has[0] & has[1:].any(axis=0))[1:].any()]
    gaps = [name for name, has in seen.items() if has[:, 0].any() and not has[:, 0].all()]
    remarks = (
        ("constant", "a single level in all files", constant),
        ("levels", "no value in common between the original and any release", apart),
        ("missing", "missing values in some of the files only", gaps),
    )
    return {key: f"{words}: {', '.join(names)}" for key, words, names in remarks if names}
