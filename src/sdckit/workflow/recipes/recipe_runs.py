"""A recipe on its way through a file: in memory, or on a plan that its engine carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sdckit.cells.plans.changing import Changing, open_changing
from sdckit.data.frames import count_records, is_lazy, open_frame
from sdckit.data.replace import Tallied, open_eager
from sdckit.errors import DataError
from sdckit.protect.change import Change
from sdckit.workflow.recipes.recipe_checks import StepLike, check_against
from sdckit.workflow.recipes.recipe_figures import StepFigures, Watch
from sdckit.workflow.recipes.recipe_plans import check_on_plan, run_on_plan, sample_of
from sdckit.workflow.recipes.recipe_rows import drawn_order
from sdckit.workflow.recipes.recipe_running import run_step
from sdckit.workflow.recipes.recipe_weights import warn_of_weights

if TYPE_CHECKING:
    from pathlib import Path

    from sdckit.data.scenarios.scenario import Scenario


Steps = Sequence[StepLike]


class Run(Protocol):
    """A file on its way."""

    n: int
    columns: tuple[str, ...]
    scenario: Scenario | None
    watcher: Watch

    def check(self, steps: Steps, folder: Path | None) -> None:
        """Hold the steps against the file without running them."""

    def step(self, number: int, one: StepLike, **how: Any) -> Change:
        """Run a step; the file is then what came of it."""

    def figures(self, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Measure the file as it is now."""

    def data(self) -> Any:
        """The file as it is now."""

    def differing(self) -> dict[str, int]:
        """Values of each column of the original that are others now."""

    def done(self, steps: Steps) -> None:
        """Warn of what can be seen only now."""


class InMemory:
    """A file in memory."""

    def __init__(self, data: Any, scenario: Scenario | None) -> None:
        self.frame = open_eager(data, {})
        self.scenario = scenario
        self.n, self.columns = len(self.frame), tuple(self.frame.columns)
        self.current: Any = self.frame
        self.watcher = Watch(self.frame, scenario)

    def check(self, steps: Steps, folder: Path | None) -> None:
        """Hold the steps against the file without running them."""
        check_against(steps, self.frame, scenario=self.scenario, folder=folder)
        warn_of_weights(steps, self.frame, scenario=self.scenario)

    def step(self, number: int, one: StepLike, **how: Any) -> Change:
        """Run a step; the file is then what came of it."""
        before = self.current
        self.current, change = run_step(number, one, before, scenario=self.scenario, **how)
        self.watcher = self.watcher.in_order(drawn_order(change, before))
        return change

    def figures(self, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Measure the file as it is now."""
        return self.watcher.after(number, method, self.current, changed)

    def data(self) -> Any:
        """The file as it is now, or several."""
        return self.current

    def differing(self) -> dict[str, int]:
        """Values of each column of the original that are others now."""
        return self.watcher.differing(self.current[0] if isinstance(self.current, list) else self.current)

    def done(self, steps: Steps) -> None:
        """Warn of weights that tell what was taken out."""
        warn_of_weights(steps, self.current, scenario=self.scenario, done=True)


@dataclass(frozen=True, eq=False)
class _Header:
    """What the check before the first step asks of a file, of a plan."""

    plan: Changing
    schema: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.plan.n

    def __getitem__(self, names: Sequence[str]) -> _Sample:
        return _Sample(self.plan, tuple(names))


@dataclass(frozen=True, eq=False)
class _Sample:
    plan: Changing
    names: tuple[str, ...]

    def to_native(self) -> Tallied:
        """The distinct rows of some columns."""
        return sample_of(self.plan, self.names)


class OnPlan:
    """A plan, whose engine counts what the steps ask for."""

    def __init__(self, data: Any, scenario: Scenario | None) -> None:
        self.n = count_records(data)
        if self.n == 0:
            raise DataError("the data has no records")
        self.scenario = scenario
        self.files = [open_changing(data, self.n)]
        self.columns = self.plan.own
        self.watcher: Watch = Watch(data, scenario)

    @property
    def plan(self) -> Changing:
        """The plan as it is now; where several files came of it, which only the last step does, the first."""
        return self.files[0]

    def check(self, steps: Steps, folder: Path | None) -> None:
        """Hold the steps against the plan without running them: first whether they run on plans at all."""
        check_on_plan(steps, self.plan, self.scenario)
        header = _Header(self.plan, self.plan.kinds)
        check_against(steps, header, scenario=self.scenario, folder=folder, counted=True)
        warn_of_weights(steps, self.plan, scenario=self.scenario)

    def step(self, number: int, one: StepLike, **how: Any) -> Change:
        """Run a step; the plan is then what came of it."""
        self.files, change = run_on_plan(number, one, self.plan, scenario=self.scenario, **how)
        return change

    def figures(self, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Measure the plan as it is now: its risks, and the share of values that are others."""
        return self.watcher.of_plans(number, method, self.files, changed)

    def data(self) -> Any:
        """The plan as it is now, or several."""
        plans = [one.plan() for one in self.files]
        return plans if len(plans) > 1 else plans[0]

    def differing(self) -> dict[str, int]:
        """Values of each column of the original that are others now."""
        return self.plan.differing()

    def done(self, steps: Steps) -> None:
        """Warn of weights that tell what was taken out."""
        warn_of_weights(steps, self.plan, scenario=self.scenario, done=True)


def start(data: Any, scenario: Scenario | None) -> Run:
    """Open a file for a recipe.

    Raises DataError: no frame, no records, a plan of an engine that is not supported.
    """
    opened = open_frame(data)
    return OnPlan(data, scenario) if is_lazy(opened) else InMemory(opened, scenario)
