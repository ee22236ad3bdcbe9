"""The proposal, written: its recipe, the comments, the recipes beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.workflow.proposing.judging import around
from sdckit.workflow.proposing.opening import limits_of
from sdckit.workflow.proposing.proposal import Alternative, Proposal, in_words
from sdckit.workflow.proposing.reasons import key_words, outcome, step_reasons
from sdckit.workflow.proposing.search import LEAST
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.starter_text import Told, write_starter

if TYPE_CHECKING:
    from sdckit.workflow.proposing.judging import Judged
    from sdckit.workflow.proposing.search import Found
    from sdckit.workflow.proposing.trials import Trials


TITLE = "A proposed recipe"


def write_proposal(
    trials: Trials, found: Found, judged: Judged, others: Sequence[tuple[str, Judged]],
    columns: Sequence[str], folder: Path | None, head: Sequence[str], *, by_loss: bool = True,
) -> Proposal:  # fmt: skip
    """Put together what was found, for a file of these `columns`; `by_loss`: no measure of the caller's chose."""
    scenario, lattice = trials.scenario, trials.lattice
    alternatives = tuple(_alternative(trials, why, one, columns, folder) for why, one in others)
    before, after = around(scenario, columns)
    told: list[Told] = [*before, *step_reasons(trials, found, judged), *after]
    told.append(
        (None, outcome(trials, found, judged, [(one.words, one.passed, one.loss) for one in alternatives]))
    )
    steps = [None if step is None else _from(step, scenario.folder, folder) for step, _ in told]
    text = write_starter(TITLE, head, [(step, lines) for step, (_, lines) in zip(steps, told, strict=True)])
    return Proposal(
        recipe=_recipe(trials, judged, columns, folder), text=text, passed=judged.passed, loss=judged.made.loss,
        bound=min(found.bound, judged.made.loss), risk=judged.risk,
        optimal=by_loss and judged.passed and _is_best(trials, found, judged),
        keys=key_words(trials, judged.made.node), hidden=dict(judged.made.hidden),
        resting=judged.resting / lattice.n,
        exceeded=tuple(dict.fromkeys(one.name for one in judged.verdicts if one.holds is False)),
        unjudged=tuple(dict.fromkeys(one.name for one in judged.verdicts if one.holds is None)),
        impossible=tuple(f"{one.intruder}: {one.sentence}" for one in judged.verdicts if one.holds is not True),
        alternatives=alternatives, n=lattice.n, nodes=lattice.size, seen=found.seen, tried=len(found.losses),
        measured=judged.measured, expected=judged.expected, small=judged.small,
    )  # fmt: skip


def _is_best(trials: Trials, found: Found, judged: Judged) -> bool:
    """Whether no combination that meets the limits loses less: all are settled, and nothing stricter was asked for."""
    scenario = trials.scenario
    sampled = scenario.weight is not None or scenario.sampling_fraction is not None
    estimated = any(side.limits.risk or side.limits.global_risk for side in trials.lattice.sides)
    asked = all(limits_of(scenario.intruder(name)).k == k for name, k in trials.aims.items())
    least = judged.made.loss <= found.bound + LEAST
    return found.whole and asked and least and not trials.how.draws and not (sampled and estimated)


def _alternative(
    trials: Trials, why: str, judged: Judged, columns: Sequence[str], folder: Path | None
) -> Alternative:
    keys = key_words(trials, judged.made.node)
    return Alternative(
        _recipe(trials, judged, columns, folder), f"{why}: {in_words(keys)}", keys, judged.made.loss, judged.risk,
        judged.resting / trials.lattice.n, judged.passed, judged.failing, judged.expected, judged.small,
    )  # fmt: skip


def _recipe(trials: Trials, judged: Judged, columns: Sequence[str], folder: Path | None) -> Recipe:
    before, after = around(trials.scenario, columns)
    steps = [
        *(step for step, _ in before),
        *(step for _, step in judged.made.steps),
        *(step for step, _ in after),
    ]
    return Recipe(
        [_from(step, trials.scenario.folder, folder) for step in steps], title=TITLE,
        folder=folder or trials.scenario.folder,
    )  # fmt: skip


def _from(step: Any, start: Path, folder: Path | None) -> dict[str, Any]:
    """A step whose paths start in the folder of the recipe."""
    if folder is None or "hierarchy" not in step or step["method"] != "recode":
        return dict(step)
    return {**step, "hierarchy": Path(os.path.relpath(start / step["hierarchy"], folder)).as_posix()}
