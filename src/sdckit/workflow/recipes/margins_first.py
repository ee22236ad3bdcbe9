"""Recipes whose first step alone reads the original, under a promise: what is refused, checked and kept of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sdckit.data import frames, replace
from sdckit.data.domain import Domain
from sdckit.data.files.domain_files import DomainFile
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.protect.change import Change
from sdckit.workflow.recipes import recipe_checks, recipe_runs

SAMPLE = 1_000  # records that stand for those to come, while steps are held against what the domain declares
MOST_SAMPLE = 10_000


def refuse(step: recipe_checks.StepLike, what: str, why: str) -> ScenarioError:
    """The error of what no recipe with such a step does."""
    return ScenarioError(f"{what} is not for a recipe with {step.method}: {why}")


def refuse_draws(step: recipe_checks.StepLike, seed: object, secret: object) -> None:
    """Refuse what would make the noise again: whoever has it takes the noise away."""
    for name, given in (("seed", seed), ("secret", secret)):
        if given is not None:
            raise refuse(step, f"{name}=", "whoever could draw its noise again could take it away; leave it out")


class MarginsFirst(recipe_runs.InMemory):
    """An original that the first step alone reads; until then a sample of what the domain declares stands for it.

    So whether the other steps fit is found before anything is spent, and no record decides it: the sample has every
    level, `other` and missing.
    """

    def __init__(self, data: Any, scenario: Scenario | None, step: recipe_checks.StepLike, folder: Path | None) -> None:
        self.private: Any = DomainFile(Path(data)) if isinstance(data, str | Path) else data
        given = recipe_checks.call_arguments(step, scenario=None, folder=folder)
        domain = given["domain"] if isinstance(given["domain"], Domain) else Domain.from_toml(given["domain"])
        domain.check_columns(_header(self.private))
        super().__init__(
            _sample(domain, given.get("n") or domain.records), scenario and scenario.narrowed(domain.names)
        )

    def step(self, number: int, step: recipe_checks.StepLike, **how: Any) -> Change:
        """Run a step; what the first one made stands for the file from then on."""
        if number > 1:
            return super().step(number, step, **how)
        from sdckit.workflow.recipes.run_step import run_step

        made, change = run_step(number, step, self.private, scenario=self.scenario, **how)
        self.private = None
        super().__init__(made, self.scenario)
        return change


def _header(data: Any) -> Sequence[str]:
    """The columns of the original.

    Raises DataError: it is a plan.
    """
    if isinstance(data, DomainFile):
        return data.columns
    frame = frames.open_frame(data)
    if frames.is_lazy(frame):
        raise DataError("noise is drawn in memory, not by a plan; give the file by its path, or a frame")
    return frames.column_names(frame)


def _sample(domain: Domain, n: int | None) -> Any:
    """Records that hold all a domain declares; as many as are to come, where that is declared and not too many."""
    size = max(*domain.sizes, min(n or SAMPLE, MOST_SAMPLE))
    codes = np.array([np.arange(size) % own for own in domain.sizes], np.int32).T
    return replace.open_eager(domain.decode(codes), {})
