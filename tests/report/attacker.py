"""An intruder with a solver: the exact range of every hidden count that a printed document leaves open.

Independent of the package's own audit, which propagates intervals: here every count is bounded by an integer
programme over all that is printed and all relations at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import milp

from programmes import SMALL, Programme
from sdckit.report.gate.choose_rounding import settle, sound_relations
from sdckit.report.gate.figures import Document, Ledger
from sdckit.report.gate.protect import _expand
from sdckit.report.gate.rounding import Print

LARGE = 1e6


def opened(document: Document) -> tuple[Ledger, dict[str, Print]]:
    """Give the document's ledger with its tables pooled, and how each number is printed."""
    ledger = Ledger(dict(document.variables), list(document.relations))
    _expand(document.tree, ledger, internal=False)
    return ledger, settle(ledger.variables, ledger.relations)


class Solver(Programme):
    """Integer programme over the printed intervals and the relations that hold."""

    def __init__(self, ledger: Ledger, prints: dict[str, Print]) -> None:
        counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
        relations = sound_relations(ledger.variables, ledger.relations, counts)
        names = list(ledger.variables)
        low = np.array([prints[name].low if name in prints else 0.0 for name in names])
        high = np.array([min(prints[name].high, LARGE) if name in prints else LARGE for name in names])
        # Whoever has the released file counts its records.
        low[names.index("n")] = high[names.index("n")] = ledger.variables["n"].true
        whole = [ledger.variables[name].kind == "count" for name in names]
        super().__init__(names, low, high, whole, [(own.terms, own.lower, own.upper) for own in relations])
        # The smallest and the largest value of each number in the solutions so far: it can take both.
        self.least, self.most = np.full(len(self.names), np.inf), np.full(len(self.names), -np.inf)

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

    def is_above_zero(self, name: str) -> bool:
        return bool(self.most[self.place[name]] >= 1)

    def range(self, name: str) -> tuple[float, float]:
        """Smallest and largest value of a count."""
        ends = []
        for sign in (1.0, -1.0):
            found = self._solved(self.goal({name: sign}))
            ends.append(math.nan if found.x is None else found.x[self.place[name]])
        return round(ends[0]), round(ends[1])


def gives_away(attack: Solver, before: Solver, name: str) -> bool:
    """Whether few values are left of a count, one of them 1 to 4; not where nothing printed leaves as few.

    Where all listed levels of a key are frequent, only the records that lack it can be alone: that is one or none.
    """
    if attack.varies(name) or attack.never_small(name):  # so far apart are the ends of its range at least
        return False
    low, high = attack.range(name)
    few = high - low < 2 and any(0 < value < SMALL for value in range(low, high + 1))
    return few and before.range(name) != (low, high)
