"""Another loss than that of what the keys tell for the search to minimise: what each combination loses at least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from sdckit.cells.pair import read_pair
from sdckit.data.replace import open_eager
from sdckit.numerics.array_types import Floats
from sdckit.utility.losses.generalization_loss import judged_together
from sdckit.utility.losses.generalized_columns import Column, read_column
from sdckit.workflow.proposing.ladders import Lattice, Rung
from sdckit.workflow.recipes.coarsening_losses import BY_COLUMN, CoarseningLoss

MOST = 20_000_000  # records looked at, over all combinations


@dataclass(frozen=True, eq=False)
class Goal:
    """A loss `of` file and release, and what each node loses at `least`: by its recodings, before any suppression.

    `certain`: suppression never takes anything from it, so that `least` is a bound.
    """

    of: Callable[[Any, Any], float]
    least: Floats
    certain: bool


def goal_of(of: CoarseningLoss, lattice: Lattice, data: Any, recoded: Callable[[Any, Rung], Any]) -> Goal | None:
    """The goal of a coarsening loss; None where the classes of all combinations are too much to look at.

    `recoded` gives the file with one rung's recoding.
    """
    shape, certain = lattice.shape, of.figure in BY_COLUMN
    if not certain and math.prod(shape) * lattice.n > MOST:
        return None
    ladders = [[_column(of, data, ladder.key, rung, recoded) for rung in ladder.rungs] for ladder in lattice.ladders]
    if certain:
        return Goal(of, _added(of.figure, ladders), certain=True)
    weight = np.ones(len(ladders))
    least = np.empty(shape)
    for node in product(*map(range, shape)):
        columns = [ladder[rung] for ladder, rung in zip(ladders, node, strict=True)]
        least[node] = judged_together(lattice.n, columns, weight).figures[of.figure]
    return Goal(of, least, certain=False)


def _column(of: CoarseningLoss, data: Any, key: str, rung: Rung, recoded: Callable[[Any, Rung], Any]) -> Column:
    """What a rung makes of its key."""
    alone = open_eager(data, {}).select(key).to_native()
    made = open_eager(data, {}).drop(key).to_native() if rung.left_out else recoded(alone, rung)
    pair = read_pair(of.pair(alone, made, [key]), {"keys": (key,)}, aligned=True)
    edges = () if any(recoding.kind for recoding in pair.recoded) else None
    return read_column(pair, key, 0, of.hierarchies.get(key), edges)


def _added(figure: str, ladders: list[list[Column]]) -> Floats:
    """A figure that is a mean over the keys, for every node."""
    total, whole = np.zeros(()), 0.0
    for ladder in ladders:
        own = {
            "loss": [column.loss for column in ladder],
            "precision": [column.lost_levels for column in ladder],
            "entropy_share": [column.entropy for column in ladder],
        }[figure]
        whole += ladder[0].most_entropy if figure == "entropy_share" else 1.0
        total = np.add.outer(total, np.array(own))
    return total / whole if whole else total
