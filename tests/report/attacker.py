"""An intruder with a solver: the exact range of every hidden count that a printed document leaves open.

Independent of the package's own audit, which propagates intervals: here every count is bounded by an integer
programme over all that is printed and all relations at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import lil_matrix

from sdckit.report.gate.choose_rounding import settle, sound_relations
from sdckit.report.gate.figures import Document, Ledger, Relation
from sdckit.report.gate.protect import _expand
from sdckit.report.gate.rounding import Print

LARGE = 1e6
SLACK = 1e-6  # of a solver, which works in binary fractions


def opened(document: Document) -> tuple[Ledger, dict[str, Print]]:
    """Give the document's ledger with its tables pooled, and how each number is printed."""
    ledger = Ledger(dict(document.variables), list(document.relations))
    _expand(document.tree, ledger, internal=False)
    return ledger, settle(ledger.variables, ledger.relations)


class Solver:
    """Integer programme over the printed intervals and the relations that hold."""

    def __init__(self, ledger: Ledger, prints: dict[str, Print]) -> None:
        counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
        relations = sound_relations(ledger.variables, ledger.relations, counts)
        self.names = list(ledger.variables)
        self.place = {name: i for i, name in enumerate(self.names)}
        self.low = np.array([prints[name].low if name in prints else 0.0 for name in self.names])
        self.high = np.array([min(prints[name].high, LARGE) if name in prints else LARGE for name in self.names])
        # Whoever has the released file counts its records.
        self.low[self.place["n"]] = self.high[self.place["n"]] = ledger.variables["n"].true
        self.whole = np.array([ledger.variables[name].kind == "count" for name in self.names]).astype(int)
        self.constraint = self._constraint(relations)
        # The smallest and the largest value of each number in the solutions so far: it can take both.
        self.least, self.most = np.full(len(self.names), np.inf), np.full(len(self.names), -np.inf)

    def _constraint(self, relations: tuple[Relation, ...]) -> LinearConstraint:
        matrix = lil_matrix((len(relations), len(self.names)))
        for i, relation in enumerate(relations):
            for name, factor in relation.terms:
                matrix[i, self.place[name]] += factor
        return LinearConstraint(matrix.tocsr(), [one.lower for one in relations], [one.upper for one in relations])

    def _solved(self, goal: NDArray[np.float64]) -> Any:
        """Solve it; without making it simpler first where HiGHS fails at that."""
        found = None
        for presolve in (True, False):
            found = milp(
                goal, integrality=self.whole, bounds=(self.low, self.high), constraints=self.constraint,
                options={"presolve": presolve},
            )  # fmt: skip
            if found.x is not None:
                np.minimum(self.least, found.x, out=self.least)
                np.maximum(self.most, found.x, out=self.most)
                break
        return found

    def varies(self, name: str) -> bool:
        """Whether the solutions so far leave three values or more of a count between them; no other is looked for."""
        at = self.place[name]
        return bool(self.most[at] >= self.least[at]) and round(self.most[at]) - round(self.least[at]) >= 2

    def never_small(self, name: str) -> bool:
        """Whether a count is 0, or 5 and more, even where counts may be broken: a linear programme says it soon."""
        least = self._end_if_broken(name, 1.0)
        return least > 4 + SLACK or (least < SLACK and self._end_if_broken(name, -1.0) < 1 - SLACK)

    def _end_if_broken(self, name: str, sign: float) -> float:
        """Smallest (1) or largest (-1) value if counts may be broken numbers: whole ones do not go beyond it."""
        goal = np.zeros(len(self.names))
        goal[self.place[name]] = sign
        answer = milp(goal, bounds=(self.low, self.high), constraints=self.constraint)
        return sign * (answer.fun if answer.status == 0 else -math.inf)

    def range(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of a count."""
        ends = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(self.names))
            goal[self.place[name]] = sign
            found = self._solved(goal)
            ends.append(math.nan if found.x is None else found.x[self.place[name]])
        return round(ends[0]), round(ends[1])


def gives_away(attack: Solver, before: Solver, name: str) -> bool:
    """Whether few values are left of a count, one of them 1 to 4; not where nothing printed leaves as few.

    Where all listed levels of a key are frequent, only the records that lack it can be alone: that is one or none.
    """
    if attack.varies(name) or attack.never_small(name):  # so far apart are the ends of its range at least
        return False
    low, high = attack.range(name)
    few = high - low < 2 and any(0 < value < 5 for value in range(low, high + 1))
    return few and before.range(name) != (low, high)
