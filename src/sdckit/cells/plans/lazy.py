"""`LazyCells`: the same questions asked of a plan, answered on its engine; records never come here."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.cells.plans.batches import map_columns
from sdckit.cells.plans.lazy_diversity import diversity_columns
from sdckit.cells.plans.lazy_tabulate import PREFIX, KeyPlan, plan_keys, with_frequencies
from sdckit.cells.plans.lazy_values import LazyValues, aggregate, count, expm1_negative, log1p_negative
from sdckit.cells.plans.lazy_wildcards import Filled
from sdckit.cells.table import LARGE, LISTED, MAX_LEVELS, AnyCells, Cells, check_result_names
from sdckit.data.frames import check_plan_names, collect
from sdckit.data.missing_values.missing import Rule
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import ColumnError, DataError, SdcWarning

__all__ = ["LazyCells", "tabulate_lazy"]

COLLECT_LIMIT = 200_000_000  # values brought here for a measure that no engine can do


@dataclass(frozen=True, eq=False)
class LazyCells(AnyCells):
    """The key combinations of a plan (Polars lazy, DuckDB, Spark), counted by its engine, figures per record.

    Attributes
    ----------
    n_levels : tuple of int
        Different values of each key.
    """

    n_levels: tuple[int, ...]
    plan: KeyPlan = field(repr=False)
    frame: nw.LazyFrame[Any] = field(repr=False)
    own_columns: tuple[str, ...] = field(repr=False)

    @cached_property
    def _sizes(self) -> list[tuple[int, int]]:
        """Sizes that cells have, and how many have each: a few thousand numbers at most."""
        size = self.columns["cell_size"]
        found = collect(self.frame.group_by(size).agg(nw.len().alias("sdckit__count")))
        pairs = zip(found[size].to_list(), found["sdckit__count"].to_list(), strict=True)
        return [(int(one), int(records) // int(one)) for one, records in pairs]

    @cached_property
    def n_cells(self) -> int:
        """Number of distinct key combinations."""
        return sum(cells for _, cells in self._sizes)

    def count_cells(self, edges: Sequence[int]) -> list[int]:
        """Cells by size: how many hold from ``edges[i]`` to below ``edges[i + 1]`` records."""
        return [
            sum(cells for size, cells in self._sizes if low <= size < high)
            for low, high in itertools.pairwise(edges)
        ]

    def with_column(self, name: str, kernel: Callable[..., Any], *inputs: str) -> LazyCells:
        """Add a figure per record, computed by a kernel of arrays from batches of the plan's records."""
        frame = map_columns(self.frame, PREFIX + name, kernel, [self.columns[key] for key in inputs])
        return self._with(frame, {name: PREFIX + name})

    def _with(self, frame: nw.LazyFrame[Any], columns: Mapping[str, str]) -> LazyCells:
        return replace(self, frame=frame, columns={**self.columns, **columns})

    def with_household(self, name: str, values: str, household: str, *, before: Any, after: Any) -> LazyCells:
        """Add 1 - prod(1 - value) over the members of a household, as expressions of the engine."""
        del before, after  # the kernels of frames in memory; here the same formula in expressions
        absent = Filled.of(household, 0, self._type_of(household, "household")).absent
        if without := int(aggregate(self.frame, count(absent))[0]):
            warnings.warn(
                f"{without} records have no household id in {household!r}: each is a household of its own",
                SdcWarning,
                stacklevel=2,
            )
        own, log = nw.col(self.columns[values]), PREFIX + "log"
        frame = self.frame.with_columns(log1p_negative(own).alias(log))
        frame = frame.with_columns(
            (own >= 1.0).cast(nw.Int64).sum().over(household).alias(PREFIX + "certain")
        )
        if self.roles.person is not None:  # a person of several rows counts once, with the largest risk
            whose = [household, self.roles.person]
            once = nw.col(log).min().over(*whose) / nw.len().over(*whose).cast(nw.Float64)
            frame = frame.with_columns(once.alias(log))
        frame = frame.with_columns(nw.col(log).sum().over(household).alias(PREFIX + "logs"))
        joint = (
            nw.when(nw.col(PREFIX + "certain") > 0)
            .then(1.0)
            .otherwise(expm1_negative(nw.col(PREFIX + "logs")))
        )
        frame = frame.with_columns(nw.when(absent).then(own).otherwise(joint).alias(PREFIX + name))
        return self._with(frame.drop(log, PREFIX + "logs", PREFIX + "certain"), {name: PREFIX + name})

    def with_diversity(self, name: str, kinds: Sequence[str], c: float) -> tuple[LazyCells, int]:
        """Add the l-diversity of a sensitive variable; and count the cells with one value only."""
        if self.has_wildcards:
            raise DataError(
                "on a plan, l-diversity takes a missing key for a category; use missing='category'"
            )
        self._type_of(name, "sensitive")
        frame, homogeneous = diversity_columns(self.frame, self.plan, name, kinds, c)
        return self._with(frame, {f"{kind}_{name}": f"{PREFIX}{kind}_{name}" for kind in kinds}), homogeneous

    def _type_of(self, name: str, role: str) -> Any:
        if name not in self.own_columns:
            raise ColumnError(
                f"{role}: no column {name!r} in the data; {did_you_mean(name, self.own_columns)}"
            )
        return self.frame.collect_schema()[name]

    def values(self, name: str) -> LazyValues:
        """A figure, to be asked for its mean, counts and quantiles."""
        return LazyValues(self.frame, self.columns[name], self.n)

    def count_short(self) -> int:
        """Cells whose population frequency falls short of their sample frequency."""
        f, big_f = nw.col(self.columns["sample_frequency"]), nw.col(self.columns["population_frequency"])
        share = nw.when(big_f < f * (1 - 1e-9)).then(1.0 / nw.col(self.columns["cell_size"])).otherwise(0.0)
        return round(aggregate(self.frame, share.sum())[0])

    def records(self, names: Sequence[str], *, prefix: str = "") -> Any:
        """The caller's frame with the named figures appended, still a plan."""
        check_result_names(self.own_columns, [prefix + name for name in names])
        check_plan_names(self.frame, self.own_columns)
        results = []
        for name in names:
            if name == "sample_unique":
                f = nw.col(self.columns["sample_frequency"]).cast(nw.Float64)
                results.append(((f > 1 - 1e-9) & (f < 1 + 1e-9)).alias(prefix + name))
            else:
                results.append(nw.col(self.columns[name]).alias(prefix + name))
        return self.frame.select(*(nw.col(own) for own in self.own_columns), *results).to_native()

    def as_categories(self) -> LazyCells:
        """The same plan when a missing key value is a category of its own."""
        rules: tuple[Rule, ...] = tuple("category" for _ in self.keys)
        roles = replace(self.roles, rules=rules)
        plan = self.plan.as_categories()
        own = self.frame.select(*self.own_columns)
        frame, columns = with_frequencies(plan.extend(own), plan, roles)
        return replace(self, frame=frame, columns=columns, plan=plan, roles=roles, rules=roles.rules)

    def level_counts(self, key: str) -> tuple[list[tuple[str, int]], int, int]:
        """At most 200 levels of a key, the most frequent first; how many it has, and how many with 5 records."""
        planned = self.plan.keys[self.keys.index(key)]
        known = self.frame.filter(~planned.absent) if planned.has_missing else self.frame
        counts = known.group_by(planned.column).agg(nw.len().alias("sdckit__count"))
        large = int(aggregate(counts, count(nw.col("sdckit__count") >= LARGE))[0])
        top = collect(counts.sort("sdckit__count", planned.column, descending=[True, False]).head(MAX_LEVELS))
        pairs = zip(top[planned.column].to_list(), top["sdckit__count"].to_list(), strict=True)
        return [(str(level), int(n)) for level, n in pairs], self.n_levels[self.keys.index(key)], large

    def kind(self, key: str) -> str:
        """What kind of values a key has."""
        planned = self.plan.keys[self.keys.index(key)]
        return "number" if planned.is_float else "integer" if planned.numeric else "text"

    def count_helped(self) -> int:
        """Records whose frequency counts other records' missing values."""
        if "strict_frequency" not in self.columns:
            return 0
        f, strict = (
            nw.col(self.columns[f"{one}_frequency"]).cast(nw.Float64) for one in ("sample", "strict")
        )
        return int(aggregate(self.frame, count(f > strict + 1e-9))[0])

    def count_where(self, below: float, risk_above: float | None) -> int:
        """Records with a sample frequency below a limit, or a risk above one."""
        return int(aggregate(self.frame, count(self._where(below, risk_above)))[0])

    def rows_where(self, below: float, risk_above: float | None, limit: int) -> list[dict[str, Any]]:
        """The same records, the riskiest first: key values and figures; a plan has no row numbers."""
        figures = {name: place for name, place in self.columns.items() if name in LISTED}
        places = dict.fromkeys(figures.values())  # without wildcards, size and frequency share a column
        hit = self.frame.filter(self._where(below, risk_above)).select(*self.keys, *places)
        found = collect(hit.sort(self.columns["risk"], descending=True).head(limit))
        return [
            {
                "row": None,
                "keys": {key: row[key] for key in self.keys},
                **{name: row[place] for name, place in figures.items()},
            }
            for row in found.rows(named=True)
        ]

    def _where(self, below: float, risk_above: float | None) -> nw.Expr:
        hit = nw.col(self.columns["sample_frequency"]).cast(nw.Float64) < below
        return hit if risk_above is None else hit | (nw.col(self.columns["risk"]) > risk_above)

    def in_memory(self, *extra: str) -> Cells:
        """The coded columns of a measure that no engine can do, brought here; refused above a size."""
        from sdckit.cells.tabulate import tabulate_counts, tabulate_frame

        if extra:
            others = (self.roles.weight, self.roles.person, self.roles.id)
            wanted = list(dict.fromkeys([*self.keys, *extra, *(name for name in others if name is not None)]))
            self._refuse_above(self.n * len(wanted), f"{self.n} records of {len(wanted)} columns")
            home = self.roles.household if self.roles.household in extra else None
            bare = replace(self.roles, sensitive=(), household=home)  # columns not asked for stay behind
            return replace(tabulate_frame(collect(self.frame.select(*wanted)), bare), from_plan=True)
        self._refuse_above(self.n_cells * len(self.keys), f"{self.n_cells} cells of {len(self.keys)} keys")
        counted = self.plan.cells(self.frame, self.roles.weight)
        return tabulate_counts(collect(counted), self.roles, self.n)

    def _refuse_above(self, values: int, what: str) -> None:
        if values > COLLECT_LIMIT:
            raise DataError(
                f"this measure needs {what} in memory (about {values * 8 / 1e9:.1f} GB), which is too much from a "
                "plan; take fewer keys, or a sample in memory"
            )


def tabulate_lazy(frame: nw.LazyFrame[Any], roles: Roles) -> LazyCells:
    """Lay out f and F of a plan as windows over its keys.

    Raises ColumnError, DataError: as `as_cells`; messages give counts, since a plan has no row numbers.
    """
    plan, n, n_missing, n_levels = plan_keys(frame, roles)
    own = tuple(frame.collect_schema().names())
    extended, columns = with_frequencies(plan.extend(frame), plan, roles)
    return LazyCells(
        keys=roles.keys, n=n, rules=roles.rules, alpha=roles.alpha, n_missing=n_missing, n_levels=n_levels,
        columns=columns, roles=roles, plan=plan, frame=extended, own_columns=own,
    )  # fmt: skip
