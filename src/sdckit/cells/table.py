"""`Cells`: the distinct key combinations of a file, their frequencies, and the records in each."""

from __future__ import annotations

import itertools
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.packing import Tabulated, group_codes, made_once, tabulate
from sdckit.data import arguments, frames, pt
from sdckit.data.columns import Coded, checked_weight, code_column, to_arrow
from sdckit.data.missing_values.missing import Rule, describe_rule
from sdckit.data.scenarios.roles import Roles
from sdckit.display import Displayed, counted, table_html
from sdckit.errors import ColumnError, DataError, SdcWarning, sure
from sdckit.numerics.array_types import Bools, Codes, Floats, Ints, Values
from sdckit.numerics.grouping import ascending, count_short, dense_codes, gather, group, sum_by, tally

# Contingency table of cells by the levels of another variable.


@dataclass(frozen=True, eq=False)
class Crosstab:
    """Sparse contingency table of cells by the levels of a variable.

    `edges` (K + 1,): entries ``edges[c]`` to ``edges[c + 1]`` belong to cell c. `level` (E,): code of the level.
    `count` (E,): records of the cell with that level, 1 or more. `missing`: code of a missing value, -1 if none is
    missing. `coded`: the coding, without the codes of the records. `ordered`: whether the column declares an order of
    its categories, which is that of the codes.
    """

    edges: Ints
    level: Ints
    count: Ints
    missing: int
    coded: Coded = field(repr=False)
    ordered: bool = False


def count_levels(cell_of_row: Codes | Ints, column: nw.Series[Any], k: int, records: Ints | None = None) -> Crosstab:
    """Contingency table of k cells by the levels of a column; `records` that each row stands for, default 1.

    Raises DataError: the variable has no value in any record.
    """
    coded = code_column(column)
    if coded.n_missing == len(cell_of_row):
        raise DataError(f"sensitive variable {coded.name!r} has no value in any record; leave it out")
    ordered = coded.kind == "category" and _is_ordered(column)
    return count_codes(cell_of_row, coded.codes(), coded, k, records, ordered=ordered)


def count_codes(
    cell_of_row: Codes | Ints, codes: Ints, coded: Coded, k: int, records: Ints | None, *, ordered: bool = False
) -> Crosstab:
    """Contingency table of k cells by the codes of rows, whose coding may be that of other rows."""
    if records is None:
        edges, level, size = _by_word(cell_of_row, codes, coded.bits, k)
    else:
        edges, level, size = tally(cell_of_row, codes, records, k)
    return Crosstab(
        edges, level, size, missing=coded.span if coded.n_missing else -1, coded=coded.without_rows(), ordered=ordered
    )


def _by_word(cell_of_row: Codes | Ints, codes: Ints, bits: int, k: int) -> tuple[Ints, Ints, Ints]:
    """The same as `tally` of a record each row: cell and code are packed into words, and these are grouped."""
    words = (cell_of_row.astype(np.uint64) << np.uint64(bits)) | codes.astype(np.uint64)
    width = max(1, (k - 1).bit_length() + bits)
    pairs = group(words, bits=width)
    word, order = ascending(pairs.words, bits=width)
    edges = np.zeros(k + 1, np.int64)
    np.cumsum(np.bincount((word >> np.uint64(bits)).astype(np.int64), minlength=k), out=edges[1:])
    return edges, (word & np.uint64((1 << bits) - 1)).astype(np.int64), pairs.size[order]


def _is_ordered(column: nw.Series[Any]) -> bool:
    kind = to_arrow(column).type
    return bool(pt.is_dictionary(kind) and kind.ordered)


# A value per record, stored per cell: mean, counts and quantiles over the records.


@dataclass(frozen=True, eq=False)
class CellValues:
    """Values of cells, weighted by the records of each cell.

    `values` and `size` (K,): value and number of records of each cell; sizes of 1 for a value per record.

    >>> values = CellValues(np.array([0.5, 0.1]), np.array([1, 3]))
    >>> round(values.total(), 12), values.quantiles([0.5]), values.count_above([0.1])
    (0.8, [0.1], [1])
    """

    values: Floats
    size: Ints

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.size.sum())

    def total(self) -> float:
        """Sum over the records."""
        return float(np.dot(self.values, self.size))

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""
        return float(self.values.min()), float(self.values.max())

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""
        return [int(self.size[self.values < limit].sum()) for limit in limits]

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""
        return [int(self.size[self.values > limit].sum()) for limit in limits]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""
        values, counts = self.distribution()
        last = np.cumsum(counts) - 1  # position of the last record with each value
        quantiles = []
        for share in shares:
            at = share * (self.n - 1)
            low = values[np.searchsorted(last, np.floor(at))]
            high = values[np.searchsorted(last, np.ceil(at))]
            quantiles.append(float(low + (high - low) * (at - np.floor(at))))
        return quantiles

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""
        median = self.quantiles([0.5])[0]
        return median, CellValues(np.abs(self.values - median), self.size).quantiles([0.5])[0]

    def cap_for(self, total: float) -> float:
        """Largest value t such that the sum over the records, each truncated at t, is below `total`; NaN if none."""
        values, counts = self.distribution()
        kept = np.cumsum(values * counts)
        fits = np.flatnonzero(kept + values * (self.n - np.cumsum(counts)) < total)
        return float(values[fits[-1]]) if len(fits) else float("nan")

    def distribution(self) -> tuple[Floats, Ints]:
        """The distinct values, ascending, and the number of records with each."""
        return self._distribution

    @cached_property
    def _distribution(self) -> tuple[Floats, Ints]:
        groups = group((self.values + 0.0).view(np.uint64), weight=self.size.astype(np.float64))  # -0.0 is 0.0
        values = groups.words.view(np.float64)
        order = np.argsort(values)
        return values[order], sure(groups.weight)[order].astype(np.int64)


@dataclass(frozen=True, eq=False)
class PartedValues:
    """Values of cells in parts, each a pair of arrays (values, records of each), of which one is in memory at a time.

    Quantiles need the distinct values of all parts in memory.

    >>> values = PartedValues(((np.array([0.5]), np.array([1])), (np.array([0.1]), np.array([3]))))
    >>> round(values.total(), 12), values.quantiles([0.5]), values.count_above([0.1])
    (0.8, [0.1], [1])
    """

    parts: tuple[tuple[Values, Ints], ...]

    def _by_part(self) -> Iterator[CellValues]:
        return (CellValues(values.astype(np.float64, copy=False), size) for values, size in self.parts)

    @property
    def n(self) -> int:
        """Number of records."""
        return sum(part.n for part in self._by_part())

    def total(self) -> float:
        """Sum over the records."""
        return math.fsum(part.total() for part in self._by_part())

    def extremes(self) -> tuple[float, float]:
        """Smallest and largest value."""
        low, high = zip(*(part.extremes() for part in self._by_part()), strict=True)
        return min(low), max(high)

    def count_below(self, limits: Sequence[float]) -> list[int]:
        """Records with a value below each limit."""
        return [sum(counts) for counts in zip(*(part.count_below(limits) for part in self._by_part()), strict=True)]

    def count_above(self, limits: Sequence[float]) -> list[int]:
        """Records with a value above each limit."""
        return [sum(counts) for counts in zip(*(part.count_above(limits) for part in self._by_part()), strict=True)]

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """Quantiles over the records, interpolated (type 7)."""
        return self._together.quantiles(shares)

    def median_and_deviation(self) -> tuple[float, float]:
        """Median over the records, and the median of the absolute distances from it."""
        return self._together.median_and_deviation()

    def cap_for(self, total: float) -> float:
        """Largest value t such that the sum over the records, each truncated at t, is below `total`; NaN if none."""
        return self._together.cap_for(total)

    @cached_property
    def _together(self) -> CellValues:
        values, counts = zip(*(part.distribution() for part in self._by_part()), strict=True)
        return CellValues(np.concatenate(values), np.concatenate(counts))


RecordValues: TypeAlias = CellValues | PartedValues  # values per record, of cells in memory or in parts


# Columns of records that are joined to cells: groups such as households.


def warn(message: str) -> None:
    """Issue an SdcWarning at the caller of the measure."""
    warnings.warn(message, SdcWarning, stacklevel=2)


def say_ungrouped(name: str, n_missing: int, n: int) -> None:
    """Warn of records without a household id; raise where none of n has one."""
    if n_missing == n:
        raise DataError(f"{name!r} says which records belong together, and has no value in any record; leave it out")
    if n_missing:
        without = counted(n_missing, "record has", "records have")
        warn(f"{without} no household id in {name!r}: each is a household of its own")


def people_of(frame: Any, roles: Roles) -> float | None:
    """How many the persons of a file stand for, each of whom counts once, however many rows there are of them."""
    weight, fraction = roles.weight, roles.sampling_fraction
    if weight is None and fraction is None:
        return None
    names = dict.fromkeys(filter(None, (roles.person, weight)))
    people = frame.select(*names).unique(subset=[roles.person], keep="any")
    total = frames.in_memory(people.select((nw.len() if weight is None else nw.col(weight).sum()).alias("n")))["n"][0]
    return float(total) if weight is not None else float(total) / sure(fraction)


def group_column(frame: nw.DataFrame[Any], name: str) -> tuple[Codes, int]:
    """Number the groups of a column; a record without a value is a group of its own, with a warning."""
    coded = code_column(frame[name])
    say_ungrouped(name, coded.n_missing, len(frame))
    of_row, n_groups = _number_groups(coded)
    if coded.n_missing:
        alone = np.flatnonzero(coded.codes() == coded.span)
        of_row = of_row.copy()
        of_row[alone[1:]] = n_groups + np.arange(len(alone) - 1, dtype=np.int32)
        n_groups += len(alone) - 1
    return of_row, n_groups


def _number_groups(coded: Coded) -> tuple[Codes, int]:
    """Number the values in use; by a table if ids are dense, as household ids mostly are."""
    if coded.n_missing or coded.span > 2 * len(coded.values) or coded.values.dtype == np.uint64:
        groups = tabulate([coded], None)
        return groups.of_row, len(groups.size)
    return dense_codes(coded.values, coded.low, coded.span)


T = TypeVar("T")
MAX_LEVELS = 200  # levels listed of a key
Kernel = Callable[[Floats], Floats]
LARGE = 5  # records that make a level large enough to be named
# figures shown of a record at risk
LISTED = ("cell_size", "sample_frequency", "population_frequency", "risk", "household_risk")


@dataclass(frozen=True, eq=False)
class AnyCells(Displayed, ABC):
    """The distinct key combinations of a file, wherever its records are.

    Make them with `as_cells`; every measure of one file takes them in place of a frame.

    Attributes
    ----------
    keys : tuple of str
    n : int
        Records.
    rules : tuple of str
        What a missing value of each key means.
    alpha : float
        Weight of a match through another record's missing value.
    n_missing : tuple of int
        Missing values of each key.
    columns : mapping of str
        Where each figure lies: ``cell_size`` (records with exactly this pattern), ``sample_frequency`` and, where
        weights or a sampling fraction are known, ``population_frequency``, under the rule; with wildcards
        ``strict_frequency``, f if other records' missing values counted for nothing.
    """

    keys: tuple[str, ...]
    n: int
    rules: tuple[Rule, ...]
    alpha: float
    n_missing: tuple[int, ...]
    columns: Mapping[str, Any] = field(repr=False)
    roles: Roles = field(repr=False)
    source: nw.DataFrame[Any] | None = field(default=None, repr=False, kw_only=True)

    def _repr_html_(self) -> str:
        return table_html(["key"], [[name] for name in self.keys], title="Key combinations of a file")

    @property
    def wild(self) -> list[bool]:
        """For each key whether it has missing values that match any value."""
        return [rule == "wildcard" and gone > 0 for rule, gone in zip(self.rules, self.n_missing, strict=True)]

    @property
    def has_wildcards(self) -> bool:
        """Whether any key has missing values that match any value."""
        return any(self.wild)

    @property
    def rule(self) -> str:
        """The rule applied to missing key values: "wildcard", "category", or "" if none is missing."""
        if not any(self.n_missing):
            return ""
        return "wildcard" if self.has_wildcards else "category"

    @property
    def missing_rule(self) -> str:
        """The rule for missing key values in words."""
        if not any(self.n_missing):
            return "no key value is missing"
        return describe_rule(self.keys, self.rules, self.alpha)

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """Number of distinct key combinations."""

    @abstractmethod
    def count_cells(self, edges: Sequence[int]) -> list[int]:
        """Cells by size: how many hold from ``edges[i]`` to below ``edges[i + 1]`` records."""

    @abstractmethod
    def count_short(self) -> int:
        """Number of cells whose population frequency is below their sample frequency."""

    @abstractmethod
    def stand_for(self) -> float | None:
        """How many the records stand for by their weights or the sampling fraction; None where neither is known."""

    def count_resting(self, limits: Sequence[float]) -> list[int]:
        """Records that reach each frequency only because other records' missing values match them."""
        if "strict_frequency" not in self.columns:
            return [0 for _ in limits]
        strict, ours = (self.values(f"{rule}_frequency").count_below(limits) for rule in ("strict", "sample"))
        return [without - below for without, below in zip(strict, ours, strict=True)]

    @abstractmethod
    def count_helped(self) -> int:
        """Records whose frequency counts other records' missing values."""

    @abstractmethod
    def count_where(self, below: float, risk_above: float | None) -> int:
        """Records with a sample frequency below a limit, or a risk above one."""

    @abstractmethod
    def rows_where(self, below: float, risk_above: float | None, limit: int) -> list[dict[str, Any]]:
        """The same records, the riskiest first: key values and figures."""

    @abstractmethod
    def level_counts(self, key: str) -> tuple[list[tuple[str, int]], int, int]:
        """At most 200 levels of a key, the most frequent first; how many it has, and how many with 5 records."""

    @abstractmethod
    def kind(self, key: str) -> str:
        """What kind of values a key has."""

    @abstractmethod
    def values(self, name: str) -> RecordValues:
        """A figure, to be asked for its mean, counts and quantiles."""

    @abstractmethod
    def records(self, names: Sequence[str], *, prefix: str = "") -> Any:
        """The named figures for each record, in the caller's frame type."""

    @abstractmethod
    def with_column(self, name: str, kernel: Callable[..., Any], *inputs: str) -> AnyCells:
        """Add a figure, computed from others by a kernel of arrays."""

    @abstractmethod
    def with_household(self, name: str, values: str, household: str, *, before: Kernel, after: Kernel) -> AnyCells:
        """Add a figure per household: ``after(sum of before(value) over its members)``."""

    @abstractmethod
    def with_cells(self, columns: Mapping[str, Values]) -> AnyCells:
        """Add figures per cell."""

    @abstractmethod
    def count_levels(self, variable: str) -> Crosstab:
        """How many records of each cell have each level of another variable."""

    def count_in_file(self, variable: str) -> Crosstab:
        """How many records of the file have each level of another variable, in cells or not."""
        return self.count_levels(variable)

    @abstractmethod
    def as_categories(self) -> AnyCells:
        """The same cells when a missing key value is a category of its own."""

    def by_parts(self, run: Callable[[AnyCells], tuple[AnyCells, T]]) -> tuple[AnyCells, list[T]]:
        """Apply a function that returns new cells and an outcome, to all cells or part by part if they do not fit.

        Cells that match each other are in one part.
        """
        made, outcome = run(self)
        return made, [outcome]

    def keep_members(self, household: str) -> None:
        """Collect the members of households in advance, so that all measures share them."""

    def with_members(self, household: str) -> Cells:
        """The cells in memory, with the cell and the household of each record; refused above a size."""
        return self.in_memory(household)

    @abstractmethod
    def in_memory(self, *extra: str) -> Cells:
        """The cells, and some columns of the records, in memory; refused above a size."""


@dataclass(frozen=True, eq=False)
class Cells(AnyCells):
    """The distinct key combinations of a file in memory, each figure an array with one value per cell.

    Attributes
    ----------
    levels : tuple of Coded
        How the codes of each key print.
    """

    levels: tuple[Coded, ...] = field(repr=False)  # a repr must not print values
    table: Tabulated = field(repr=False)
    group_columns: Mapping[str, tuple[str, Values]] = field(default_factory=dict, repr=False)
    from_plan: bool = field(default=False, repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)  # shared by what is made from this

    @property
    def n_cells(self) -> int:
        """Number of distinct key combinations."""
        return len(self.table.size)

    def with_column(self, name: str, kernel: Callable[..., Floats], *inputs: str, whole: bool = False) -> Cells:
        """Add a figure per cell, computed from others by a kernel of arrays."""
        values = kernel(*(self.columns[key].astype(np.float64) for key in inputs))
        values = values.astype(np.int64) if whole else values
        return replace(self, columns={**self.columns, name: values})

    def with_household(self, name: str, values: str, household: str, *, before: Kernel, after: Kernel) -> Cells:
        """Add a figure per household: ``after(sum of before(value) over its members)``."""
        of_row, n_households = self.household_of_row(household)
        figure = before(self.columns[values])
        if self.roles.person is None:
            sums = sum_by(of_row, figure[self.table.of_row], n_households)
        else:  # a person of several rows counts once, with the smallest figure
            person, _ = self.household_of_row(self.roles.person)
            pairs = group_codes([of_row.astype(np.int64), person.astype(np.int64)], self.n)
            smallest = np.full(len(pairs.size), np.inf)
            np.minimum.at(smallest, pairs.of_row, figure[self.table.of_row])
            household_of_pair = np.empty(len(pairs.size), np.int32)
            household_of_pair[pairs.of_row] = of_row
            sums = sum_by(household_of_pair, smallest, n_households)
        return self.with_groups(household, {name: after(sums)})

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """Return what a function returns, computed once for all measures of these cells."""
        return made_once(self.memo, key, make)

    def household_of_row(self, household: str) -> tuple[Codes, int]:
        """Household number of each record, and the number of households."""
        if household not in self.memo:
            self._column(household, "household")
        return self.once(household, lambda: group_column(self.records_frame(), household))

    def household_sizes(self, household: str) -> Ints:
        """The records of each household."""
        of_row, n_households = self.household_of_row(household)
        return self.once((household, "sizes"), lambda: np.bincount(of_row, minlength=n_households))

    def weight_of_row(self) -> Floats | None:
        """Sampling weight of each record."""
        return None if self.roles.weight is None else checked_weight(self.records_frame()[self.roles.weight])

    def count_levels(self, variable: str) -> Crosstab:
        """How many records of each cell have each level of another variable; once for all measures."""
        return self.once(
            ("crosstab", variable),
            lambda: count_levels(self.table.of_row, self._column(variable, "sensitive"), self.n_cells),
        )

    def in_memory(self, *extra: str) -> Cells:  # noqa: ARG002
        """Itself: the records and all their columns are in memory."""
        return self

    def as_categories(self) -> Cells:
        """The same cells when a missing key value is a category of its own."""
        rules: tuple[Rule, ...] = tuple("category" for _ in self.keys)
        roles = replace(self.roles, rules=rules)
        if self.roles.person is not None:  # then keys have no wildcards
            return replace(self, rules=rules, roles=roles)
        size, fraction = self.table.size, self.roles.sampling_fraction
        columns: dict[str, Values] = {"cell_size": size, "sample_frequency": size}
        if self.table.weight is not None:
            columns["population_frequency"] = self.table.weight
        elif fraction is not None:
            columns["population_frequency"] = size / fraction
        return replace(self, columns=columns, rules=rules, roles=roles, group_columns={})

    def level_sizes(self, key: str) -> tuple[Ints, Ints]:
        """Codes that a key has, ascending, that of a missing value last, and the records with each."""
        j = self.keys.index(key)
        return self.once(f"{key} level sizes", lambda: self.table.level_sizes(j, self.levels[j].span))

    def level_counts(self, key: str) -> tuple[list[tuple[str, int]], int, int]:
        """At most 200 levels of a key, the most frequent first; how many it has, and how many with 5 records."""
        j = self.keys.index(key)
        codes, counts = self.level_sizes(key)
        known = codes < self.levels[j].span
        codes, counts = codes[known], counts[known]
        # An engine returns cells in any order: levels of equal frequency are sorted by their labels.
        if self.source is None:
            names = np.array(self.levels[j].labels(codes), np.str_)
            top = np.lexsort((names, -counts))[:MAX_LEVELS]
        else:
            top = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
        pairs = list(zip(self.levels[j].labels(codes[top]), counts[top].tolist(), strict=True))
        return pairs, len(codes), int(np.count_nonzero(counts >= LARGE))

    def kind(self, key: str) -> str:
        """What kind of values a key has."""
        return self.levels[self.keys.index(key)].kind

    def count_helped(self) -> int:
        """Records whose frequency counts other records' missing values."""
        f = self.columns["sample_frequency"]
        return int(self.table.size[f > self.columns.get("strict_frequency", f) + 1e-9].sum())

    def count_where(self, below: float, risk_above: float | None) -> int:
        """Records with a sample frequency below a limit, or a risk above one."""
        return int(self.table.size[self._where(below, risk_above)].sum())

    def rows_where(self, below: float, risk_above: float | None, limit: int) -> list[dict[str, Any]]:
        """The same records, the riskiest first: row (from 1), key values and figures."""
        rows = np.flatnonzero(self._where(below, risk_above)[self.table.of_row])
        rows = rows[np.argsort(-self.columns["risk"][self.table.of_row[rows]], kind="stable")[:limit]]
        frame, cell = self.records_frame(), self.table.of_row[rows]
        values = {key: frame[key][rows.tolist()].to_list() for key in self.keys}
        figures = {name: column[cell].tolist() for name, column in self.columns.items() if name in LISTED}
        return [
            {
                "row": int(row) + 1,
                "keys": {key: values[key][i] for key in self.keys},
                **{name: figures[name][i] for name in figures},
            }
            for i, row in enumerate(rows)
        ]

    def _where(self, below: float, risk_above: float | None) -> Bools:
        hit: Bools = self.columns["sample_frequency"] < below
        return hit if risk_above is None else hit | (self.columns["risk"] > risk_above)

    def with_groups(self, household: str, columns: Mapping[str, Values]) -> Cells:
        """Add figures per household, in the numbering of `household_of_row`."""
        added = {name: (household, values) for name, values in columns.items()}
        return replace(self, group_columns={**self.group_columns, **added})

    def with_cells(self, columns: Mapping[str, Values]) -> Cells:
        """Add figures per cell."""
        return replace(self, columns={**self.columns, **columns})

    def count_short(self) -> int:
        """Cells whose population frequency falls short of their sample frequency."""
        return count_short(self.columns["sample_frequency"], self.columns["population_frequency"])

    def stand_for(self) -> float | None:
        """How many the records stand for by their weights or the sampling fraction; None where neither is known."""
        if self.roles.person is not None:
            return people_of(self.records_frame(), self.roles)
        if self.table.weight is not None:
            return float(self.table.weight.sum())
        fraction = self.roles.sampling_fraction
        return None if fraction is None else self.n / fraction

    def values(self, name: str) -> CellValues:
        """A figure of each cell, with the records of each."""
        column = self.group_columns[name][1] if name in self.group_columns else self.columns[name]
        held: tuple[Any, CellValues] | None = self.memo.get(("values", name))
        if held is None or held[0] is not column:  # not computed yet, or under other rules
            held = self.memo["values", name] = (column, self._values(name))
        return held[1]

    def _values(self, name: str) -> CellValues:
        if name in self.group_columns:
            household, values = self.group_columns[name]
            return CellValues(values, self.household_sizes(household))
        return CellValues(self.columns[name].astype(np.float64, copy=False), self.table.size)

    def count_cells(self, edges: Sequence[int]) -> list[int]:
        """Cells by size: how many hold from ``edges[i]`` to below ``edges[i + 1]`` records."""
        return [
            int(np.count_nonzero((self.table.size >= low) & (self.table.size < high)))
            for low, high in itertools.pairwise(edges)
        ]

    @property
    def cluster(self) -> str | None:
        """The column of clusters of records: households, else persons with several rows."""
        figures = (household for household, _ in self.group_columns.values())
        return self.roles.household or next(figures, None) or self.roles.person

    def cell_values(self, name: str) -> Values:
        """A figure of each cell; ``sample_unique`` from its frequency."""
        if name == "sample_unique":
            return np.asarray(np.abs(self.columns["sample_frequency"] - 1) < 1e-9)
        return np.asarray(self.columns[name])

    def row_values(self, name: str) -> Values:
        """A figure of each record, in the order of the file."""
        if name in self.group_columns:
            return self._group_rows(name)
        return gather([self.cell_values(name)], self.table.of_row)[0]

    def records(self, names: Sequence[str], *, prefix: str = "") -> Any:
        """The named figures for each record, in the caller's order and frame type."""
        frame, of_row = self.records_frame(), self.table.of_row
        if self.from_plan and self.roles.id is None:
            raise DataError("the records of a plan are in no order: give id= to tell whose figures they are")
        held = [name for name in names if name in self.columns and name not in (*self.group_columns, "sample_unique")]
        distinct: dict[int, Values] = {id(self.columns[name]): self.columns[name] for name in held}
        rows = dict(zip(distinct, gather(list(distinct.values()), of_row), strict=True)) if distinct else {}
        out = {prefix + name: rows[id(self.columns[name])] if name in held else self.row_values(name) for name in names}
        check_result_names([self.roles.id] if self.roles.id else [], [prefix + name for name in names])
        return frames.result_frame(out, frame, carry=self.roles.id)

    def of_cells(self, names: Sequence[str], *, prefix: str = "") -> Any:
        """The keys, the ``records`` and the named figures of each cell, by its first record, in the caller's type."""
        first = np.sort(np.unique(self.table.of_row, return_index=True)[1])
        order = self.table.of_row[first]
        figures = {"records": self.table.size, **{name: self.columns[name] for name in names}}
        check_result_names(self.keys, [prefix + name for name in figures])
        kept = nw.maybe_reset_index(self.records_frame().select(list(self.keys))[first.tolist()])
        out = {prefix + name: values[order] for name, values in figures.items()}
        return frames.result_frame(out, kept, carry=list(self.keys))

    def _group_rows(self, name: str) -> Values:
        household, values = self.group_columns[name]
        return gather([values], self.household_of_row(household)[0])[0]

    def _column(self, name: str, role: str) -> nw.Series[Any]:
        frame = self.records_frame()
        arguments.present([name], frame.columns, role)
        return frame[name]

    def records_frame(self) -> nw.DataFrame[Any]:
        """The caller's frame, in whose order the records are."""
        if self.source is None:
            raise DataError("these results have let go of the data (they were pickled); measure again")
        return self.source


def check_result_names(columns: Sequence[str], results: Sequence[str]) -> None:
    """Refuse result columns whose name is taken, case set aside: some engines fold it.

    Raises ColumnError: names the column and offers ``prefix=``.
    """
    taken = {str(name).casefold(): name for name in columns}
    if clash := [name for name in results if name.casefold() in taken]:
        raise ColumnError(
            f"the data already has a column {taken[clash[0].casefold()]!r}, the name of a result; "
            "rename it or give prefix= to put before the names of the results"
        )
