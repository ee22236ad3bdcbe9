"""What a recipe gives: the changed data, the log, and the figures after each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data.frames import frame_of, is_lazy, open_frame
from sdckit.display import Displayed, counted
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.recipes.recipe_figures import FIGURES, StepFigures
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recipes.recipe_steps import is_all_new

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.recipe import Recipe
    from sdckit.workflow.release_assessment import ReleaseAssessment


@dataclass(frozen=True)
class WhatWasDone:
    """What a report tells of a recipe: no data.

    Attributes
    ----------
    log : RecipeLog
        Without its secrets: what is kept of an assessment may be kept in another place than the log.
    arguments : tuple of dict
        Of each step, as the recipe has them.
    figures : tuple of StepFigures
    k : int
        Of ``below_k``.
    searched : dict
        Where a search found the recipe, what documents tell of it: why each step is there, and the recipes beside it.
    """

    log: RecipeLog
    arguments: tuple[dict[str, Any], ...]
    figures: tuple[StepFigures, ...]
    k: int
    searched: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Applied(Displayed):
    """The outcome of a recipe.

    Attributes
    ----------
    data : data frame, or list of them
        The protected file, of the caller's engine; a list where the last step synthesises several; a plan of a plan.
    log : RecipeLog
        What each step changed; ``log.write(path)`` keeps what repeats it.
    figures : tuple of StepFigures
        Risk and utility before the first step (step 0) and after each; ``steps`` has them as a frame.
    differing : dict of str to int
        Values of each column of the original that are others in the end.
    """

    instead_of_a_frame = "give its .data"

    data: Any
    log: RecipeLog
    figures: tuple[StepFigures, ...]
    differing: dict[str, int]
    recipe: Recipe = field(repr=False)
    k: int
    original: Any = field(repr=False)
    scenario: Scenario | None = field(repr=False)

    @property
    def steps(self) -> Any:
        """The figures as a frame: a row per step and intruder, ``step`` 0 being the file before."""
        names = ("step", "method", "intruder", "values_changed", *FIGURES)
        columns = {name: [getattr(one, name) for one in self.figures] for name in names}
        return frame_of(columns, self._backend())

    @property
    def variables(self) -> Any:
        """The columns of the original as a frame: ``variable``, values ``changed`` and their ``share``."""
        changed = list(self.differing.values())
        columns = {
            "variable": list(self.differing),
            "changed": changed,
            "share": [count / self.log.n for count in changed],
        }
        return frame_of(columns, self._backend())

    @property
    def what_was_done(self) -> WhatWasDone:
        """The steps and the figures after each, as a report tells them."""
        arguments = tuple(dict(one.arguments) for one in self.recipe.steps)
        return WhatWasDone(self.log.without_secrets(), arguments, self.figures, self.k)

    def assess(
        self, *, seed: int | None = None, measures: Any = (), models: Any = (), control: Any = None,
        attacks: bool = False, step: Callable[[str], None] | None = None,
    ) -> ReleaseAssessment:  # fmt: skip
        """Assess the release against its original, as `assess` does; the report tells what was done.

        Raises
        ------
        ScenarioError
            The recipe was applied without a scenario.
        DataError
            It was applied to a plan.
        """
        from sdckit.workflow.assess import assess
        from sdckit.workflow.recoding.recodings import read_recodings
        from sdckit.workflow.release_assessment import ReleaseAssessment

        if self.scenario is None:
            raise ScenarioError("an assessment needs a scenario; give one to apply (--scenario)")
        if is_lazy(open_frame(self.original)):
            raise DataError(
                "a plan is not compared with its original row by row; write it, and assess or check the file written"
            )
        known = open_frame(self.original).columns
        left = tuple(name for name in self.scenario.identifiers if name in known)
        scenario = self.scenario.changed(identifiers=left, aligned=self._aligned())
        recodings = read_recodings(self.recipe, self.log)
        assert recodings is not None
        recodings = replace(recodings, own=True)
        found = assess(
            self.original, self.data, scenario=scenario, seed=seed, measures=measures, models=models,
            control=control, attacks=attacks, recipe=recodings, step=step,
        )  # fmt: skip
        assert isinstance(found, ReleaseAssessment)
        declared = found.scenario.changed(identifiers=self.scenario.identifiers)
        return replace(found, scenario=declared, what_was_done=self.what_was_done)

    def _aligned(self) -> bool:
        """Whether row i was made from row i: a fully synthetic row is nobody's."""
        assert self.scenario is not None
        full = any(is_all_new(one.method, one.arguments) for one in self.recipe.steps)
        return self.scenario.aligned if full else True

    def report(self, path: str | Path, *, internal: bool = False, seed: int | None = None) -> None:
        """Write the report of the release against its original, with what was done to it.

        Raises
        ------
        ScenarioError
            The recipe was applied without a scenario.
        DataError
            Fewer than 50 records, unless internal.
        FileFormatError
            The file cannot be written.
        """
        self.assess(seed=seed).report(path, internal=internal)

    def _backend(self) -> Any:
        frame = open_frame(self.original)
        return "pyarrow" if is_lazy(frame) else frame.implementation

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import recipe_html

        html: str = recipe_html(self.what_was_done)
        return html

    def __repr__(self) -> str:
        files = len(self.data) if isinstance(self.data, list) else 1
        told = [
            f"{counted(len(self.log.steps), 'step')} on {counted(self.log.n, 'record')}"
            + (f", {files} files" * (files > 1))
        ]
        for number, change in enumerate(self.log.steps, 1):
            told.append(f"  {number}. {change.method}: {counted(change.n_changed, 'value')} changed")
        return "\n".join(told)
