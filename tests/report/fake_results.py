"""What an assessment and its results hold, without how they are computed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from sdckit.data.scenarios.column_roles import ColumnRoles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.workflow.assessment import Coverage, coverage_of

Row = dict[str, Any]


def pattern(row: Row, keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[key] for key in keys)


@dataclass(frozen=True)
class Frequencies:
    n: int
    n_cells: int
    sample_uniques: int
    frequency_of_frequencies: dict[str, int]
    cells: Any = None
    resting_on_missing: int = 0
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Anonymity:
    level: int
    violations: dict[int, int]
    cells: Any = None
    resting_on_missing: dict[int, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Risk:
    risks: tuple[float, ...]
    threshold: float | None = None
    household_risks: tuple[float, ...] | None = None
    method: str = "exact"
    cells: Any = None
    resting_on_missing: int = 0
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def max_risk(self) -> float:
        return max(self.risks)

    @property
    def n(self) -> int:
        return len(self.risks)

    @property
    def expected_reidentifications(self) -> float:
        return math.fsum(self.risks)

    @property
    def global_risk(self) -> float:
        return self.expected_reidentifications / self.n

    @property
    def n_above(self) -> int | None:
        return None if self.threshold is None else sum(r > self.threshold for r in self.risks)

    @property
    def household_risk(self) -> float | None:
        return None if self.household_risks is None else math.fsum(self.household_risks) / self.n

    @property
    def expected_household_reidentifications(self) -> float | None:
        return None if self.household_risks is None else math.fsum(self.household_risks)

    def histogram(self, edges: Any) -> tuple[int, ...]:
        return self._histogram(self.risks, edges)

    def household_histogram(self, edges: Any) -> tuple[int, ...]:
        return self._histogram(self.household_risks or (), edges)

    @staticmethod
    def _histogram(risks: tuple[float, ...], edges: Any) -> tuple[int, ...]:
        counts = [0] * (len(edges) - 1)
        for risk in risks:
            place = next(i for i in range(len(counts)) if risk < edges[i + 1] or i == len(counts) - 1)
            counts[place] += 1
        return tuple(counts)


@dataclass(frozen=True)
class Households:
    n_households: int
    unique_sizes: int
    rare_sizes: int
    unique_compositions: int
    sizes: dict[int, int]
    shared: dict[str, int] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Diversity:
    n: int
    variables: tuple[str, ...]
    violations: dict[str, dict[str, dict[int, int]]]
    homogeneous: dict[str, int]
    level: dict[str, dict[str, float]]
    mean: dict[str, dict[str, float]] = field(default_factory=dict)
    quartiles: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Contribution:
    variables: tuple[str, ...]
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float | None
    decides_alone: float = math.nan
    entropy_lost: float = math.nan


@dataclass(frozen=True)
class Contributions:
    table: tuple[Contribution, ...]
    uniques: int
    violations: dict[int, int] = field(default_factory=dict)
    coarsenings: dict[str, Any] = field(default_factory=dict)
    suggestions: tuple[Any, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    name: str
    kind: str
    n_levels: int
    level_counts: tuple[tuple[str, int], ...]
    n_missing: int
    large_levels: int
    rule: str


@dataclass(frozen=True)
class Verdict:
    name: str
    intruder: str
    variable: str | None
    limit: float
    holds: bool | None
    n_records: int | None
    value: float | None = None
    reason: str = ""
    n_category: int | None = None
    n_resting: int | None = None
    origin: str = ""
    single_rows: bool = False
    unmatched: bool = False
    singly: bool = False
    beside: str = ""
    alone: bool = False
    points: int | None = None
    keyless: str = ""


@dataclass(frozen=True)
class Intruder:
    name: str
    keys: tuple[str, ...]
    key_facts: tuple[Facts, ...]
    results: dict[str, Any]
    verdicts: tuple[Verdict, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()

    def __getitem__(self, place: str) -> Any:
        return self.results[place]


@dataclass(frozen=True)
class FakeAssessment:
    schema: ClassVar[str] = "sdckit/assessment"
    scenario: Scenario
    n: int
    intruders: tuple[Intruder, ...]
    rows: tuple[Row, ...] = ()
    engine: str = "polars"
    warnings: tuple[str, ...] = ()
    version: str = "0.1.0"
    date: str = "2026-11-20"
    measures: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    column_roles: ColumnRoles | None = None
    stands_for: float | None = None

    @property
    def coverage(self) -> Coverage:
        return coverage_of(self)  # type: ignore[arg-type]

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(verdict for one in self.intruders for verdict in one.verdicts)

    @property
    def passed(self) -> bool | None:
        holds = [one.holds for one in self.verdicts]
        return None if not holds or None in holds else all(holds)

    def n_at_risk(self) -> dict[str, int]:
        return {one.name: len(self._alone(one)) for one in self.intruders}

    def at_risk(self, limit: int = 1000) -> list[dict[str, Any]]:
        return [
            {"intruder": one.name, "row": i + 1, "keys": {k: self.rows[i][k] for k in one.keys},
             "sample_frequency": 1.0, "population_frequency": 1.0, "risk": 1.0}
            for one in self.intruders
            for i in self._alone(one)[:limit]
        ]  # fmt: skip

    def _alone(self, one: Intruder) -> list[int]:
        sizes = Counter(pattern(row, one.keys) for row in self.rows)
        return [i for i, row in enumerate(self.rows) if sizes[pattern(row, one.keys)] == 1]
