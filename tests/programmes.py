"""What the two intruders with a solver share: whole numbers between bounds, linear relations, how far each can go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

SMALL = 5
SLACK = 1e-6  # of a solver, which works in binary fractions
SECONDS = {"time_limit": 20.0}

Row = tuple[Iterable[tuple[str, float]], float, float]  # terms, and between what their sum is


class Programme:
    """Numbers by name with what is known of each and between them; `whole` says which are whole (1) and which not."""

    def __init__(
        self, names: Sequence[str], low: NDArray[np.float64], high: NDArray[np.float64], whole: Sequence[bool],
        rows: Sequence[Row],
    ) -> None:  # fmt: skip
        self.names, self.low, self.high = list(names), low, high
        self.place = {name: number for number, name in enumerate(names)}
        self.whole = np.array(whole).astype(int)
        entries = [(number, self.place[name], factor) for number, row in enumerate(rows) for name, factor in row[0]]
        at_row, at_column, factors = zip(*entries, strict=True) if entries else ((), (), ())
        matrix = coo_array((factors, (at_row, at_column)), shape=(len(rows), len(names))).tocsr()
        self.constraint = LinearConstraint(matrix, [row[1] for row in rows], [row[2] for row in rows])

    def goal(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """The weight of each number in a sum that is to be small."""
        goal = np.zeros(len(self.names))
        for name, weight in weights.items():
            goal[self.place[name]] = weight
        return goal

    def is_above_zero(self, name: str) -> bool:
        """Whether a solution so far has a number above 0."""
        raise NotImplementedError

    def farthest(self, name: str, sign: float) -> float:
        """How small (1) or large (-1) a number can be if all may be broken: no whole numbers go beyond it."""
        answer = milp(
            self.goal({name: sign}), bounds=Bounds(self.low, self.high), constraints=self.constraint, options=SECONDS
        )
        return sign * (answer.fun if answer.status == 0 else -math.inf)

    def never_small(self, name: str) -> bool:
        """Whether a number is 0, or 5 and more, in every solution: a linear programme often says so, and soon."""
        if not self.whole[self.place[name]]:
            return False
        least = self.farthest(name, 1.0)
        if least > SMALL - 1 + SLACK:
            return True
        return least < SLACK and not self.is_above_zero(name) and self.farthest(name, -1.0) < 1 - SLACK
