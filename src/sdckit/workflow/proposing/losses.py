"""What a release is ranked by, other than the information of its keys: a model's eye, the user's regression."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.replace import open_eager
from sdckit.errors import DataError, SdcError, SdcWarning

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.proposing.lattice import Node
    from sdckit.workflow.proposing.search import Found
    from sdckit.workflow.proposing.trials import Trials


LOSSES = ("information", "pmse", "model")
TOLD_FOR_SURE = 0.25  # pMSE where every record of two files of one size is told apart
MOST_CORNERS = 64
MOST_MOVES = 60

Loss = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Needing:
    """A measure that is at its worst in a release without one of these `columns`."""

    of: Loss
    columns: frozenset[str]

    def __call__(self, data: Any, release: Any) -> float:
        """The loss of a release."""
        return self.of(data, release)


def measure_of(
    loss: str | Loss, formula: str | None, family: str, data: Any, scenario: Scenario
) -> Loss | None:
    """The measure that is asked for; None for the information of the keys, which the search itself goes by."""
    from sdckit.utility.models.model_fits import FAMILIES

    arguments.choice(family, "family", FAMILIES)
    if not callable(loss) and loss not in LOSSES:
        raise DataError(
            f"loss= is {', '.join(map(repr, LOSSES))}, or is a function of the file and a release of it, which gives "
            "a number",
            argument="loss",
        )
    if (loss == "model") is (formula is None):
        raise DataError(
            'loss="model" and formula= go together, as in formula="income ~ age"', argument="formula"
        )
    if callable(loss):
        return loss
    if loss == "pmse":
        return Needing(partial(_pmse, scenario=scenario), frozenset(scenario.all_keys))
    if formula is None:
        return None
    one = partial(_model, formula=arguments.text(formula, "formula"), family=family, scenario=scenario)
    one(data, data)  # a formula that does not fit the file is refused before any search
    return Needing(one, frozenset(key for key in scenario.all_keys if _names(formula, key)))


def _names(formula: str, key: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", formula) is not None


def _pmse(data: Any, release: Any, *, scenario: Scenario) -> float:
    """How well logistic regression tells a release from the file; a key left out or in other values tells for sure."""
    from sdckit.utility.propensities.propensity import propensity

    before, after = open_eager(data, {}), open_eager(release, {})
    for key in scenario.all_keys:
        if key not in after.columns or before.schema[key].is_numeric() is not after.schema[key].is_numeric():
            return TOLD_FOR_SURE
    kept = [name for name in before.columns if name in after.columns]
    aside = {scenario.weight, scenario.household, scenario.person}
    numeric = [name for name in kept if before.schema[name].is_numeric() and name not in aside]
    return float(
        propensity(
            data, release, variables=[name for name in kept if name not in aside], numeric=numeric,
            aligned=True,
        ).pmse
    )  # fmt: skip


def _model(data: Any, release: Any, *, formula: str, family: Any, scenario: Scenario) -> float:
    """One less the mean overlap of the intervals of the coefficients."""
    from sdckit.utility.models.compare_models import compare_models

    found = compare_models(data, release, formula=formula, family=family, scenario=scenario)
    return 1.0 - found.mean_overlap


def ranked_by(
    loss: Loss, trials: Trials, found: Found, until: Callable[[], bool]
) -> list[tuple[float, Node]]:
    """The nodes tried and others, the best first: keys as they are or left out, then neighbours of the best.

    What cannot be measured on a release comes last. `until` tells when time is over.
    """
    own: dict[Node, float] = {}
    for node in [*found.ranked(), *_corners(trials)]:
        if node not in own and not (own and until()):
            _measure(loss, trials, found, node, own)
    usable = [node for node in own if node in trials.made]
    moves = 0
    while usable and moves < MOST_MOVES and not until():
        best = min(own, key=lambda one: (own[one], found.losses.get(one, math.inf), one))
        beside = [node for node in _beside(best, trials.shape) if node not in own][: MOST_MOVES - moves]
        for node in beside:
            _measure(loss, trials, found, node, own)
        moves += len(beside)
        if min(own[node] for node in [*beside, best]) >= own[best]:
            break
    made = [node for node in own if node in trials.made]
    return [(own[node], node) for node in sorted(made, key=lambda one: (own[one], found.losses[one], one))]


def measured(loss: Loss, data: Any, release: Any) -> float:
    """The loss of a release; infinite where it cannot be measured, as of a regression on a column that was left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        try:
            value = float(loss(data, release))
        except SdcError:
            return math.inf
    return math.inf if math.isnan(value) else value


def _measure(loss: Loss, trials: Trials, found: Found, node: Node, own: dict[Node, float]) -> None:
    """Make the release of a node and measure it."""
    own[node] = math.inf
    if node not in trials.made and _lacks(loss, trials, node):  # it comes last: no need to make it
        return
    release = trials.tried(node) if trials.enough(node) else None
    if release is None:
        return
    found.losses[node] = trials.made[node].loss
    own[node] = measured(loss, trials.data, release)


def _lacks(loss: Loss, trials: Trials, node: Node) -> bool:
    """Whether a node leaves out a key without which the measure is at its worst."""
    pairs = zip(trials.lattice.ladders, node, strict=True)
    return isinstance(loss, Needing) and any(
        one.rungs[rung].left_out and one.key in loss.columns for one, rung in pairs
    )


def _corners(trials: Trials) -> list[Node]:
    """Combinations of keys as they are and keys at their coarsest: all, or for many keys those with one of a kind."""
    shape = trials.shape
    tops = [size - 1 for size in shape]
    if 2 ** len(shape) <= MOST_CORNERS:
        return [tuple(one) for one in product(*({0, top} for top in tops))]
    alone = [tuple(0 if i == j else top for i, top in enumerate(tops)) for j in range(len(shape))]
    others = [tuple(top if i == j else 0 for i, top in enumerate(tops)) for j in range(len(shape))]
    return [tuple(0 for _ in shape), *others, *alone]


def _beside(node: Node, shape: tuple[int, ...]) -> list[Node]:
    """Nodes one rung away."""
    moved = [(*node[:j], node[j] + by, *node[j + 1 :]) for j in range(len(node)) for by in (-1, 1)]
    return [one for one in moved if all(0 <= rung < size for rung, size in zip(one, shape, strict=True))]
