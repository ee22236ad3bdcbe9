"""What release and tables tell together of the cells whose count a table does not tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.attacks.published.audit_files import AuditFile, Suppressed
from sdckit.attacks.published.audit_model import System, build
from sdckit.attacks.published.audit_programme import loosened
from sdckit.numerics.array_types import Ints
from sdckit.numerics.linear_bounds import solve_programme

MOST_CELLS = 200  # of a release: each takes two programmes
MOST_UNKNOWN = 30_000
NEAR = 1e-6


@dataclass(frozen=True, eq=False)
class AuditedCells:
    """Suppressed cells of a table, and the counts that release and tables leave to each.

    `words`: their levels. `published`: the least and the greatest count that the table leaves (C, 2); `left`: that all
    leave together (C, 2).
    """

    table: int
    words: tuple[str, ...]
    published: Ints
    left: Ints

    @property
    def cells(self) -> int:
        """Suppressed cells."""
        return len(self.words)

    @property
    def certain(self) -> int:
        """Those of which one count is left."""
        return int((self.left[:, 0] == self.left[:, 1]).sum())

    @property
    def narrowed(self) -> int:
        """Those of which several counts are left, fewer than the table leaves."""
        width, before = (one[:, 1] - one[:, 0] for one in (self.left, self.published))
        return int(((width > 0) & (width < before)).sum())


def audit_cells(file: AuditFile) -> tuple[AuditedCells, ...]:
    """Bound every suppressed cell: by what its release shows, relation by relation, then by linear programmes.

    Beyond 200 cells, or where very much is open, a programme is not run and the bounds may be wider than need be.
    """
    if not file.suppressed:
        return ()
    system = build(file.patterns, file.tables, file.sums)
    programme, left, found = _Programme(system), MOST_CELLS, []
    for one in file.suppressed:
        bounds = np.empty((len(one.cell), 2), np.int64)
        for i, cell in enumerate(one.cell):
            low, high, members, seen = _bounded(file, system, one, int(cell), i)
            if low < high and left and len(members) and len(system.low) <= MOST_UNKNOWN:
                left -= 1
                least, most = programme.ends(members)
                low, high = max(low, seen + least), min(high, seen + most + _lost(system))
            bounds[i] = low, high
        found.append(AuditedCells(one.table, one.words, np.column_stack([one.lower, one.upper]), bounds))
    return tuple(found)


def _lost(system: System) -> int:
    """Records with too many possibilities to be listed: any cell may hold them."""
    return int(system.patterns.size[system.completions.open].sum())


def _bounded(
    file: AuditFile, system: System, one: Suppressed, cell: int, i: int
) -> tuple[int, int, Ints, int]:
    """The least and the greatest count of a cell, the unknowns that may fall into it, and the records seen there."""
    patterns, completions = system.patterns, system.completions
    axes, least, _ = file.tables[one.dense]
    shown = patterns.shown[:, list(axes)]
    target = np.array(np.unravel_index(cell, least.shape))
    seen = int(patterns.size[(shown == target).all(axis=1)].sum())
    told = (shown[completions.pattern] >= 0).all(axis=1)
    here = (patterns.grouped(completions.levels)[:, list(axes)] == target).all(axis=1)
    members = np.flatnonzero(here & ~told)
    low = max(int(one.lower[i]), seen + int(system.low[members].sum()))
    high = min(int(one.upper[i]), seen + int(system.high[members].sum()) + _lost(system))
    return low, high, members, seen


class _Programme:
    """All that is known, as constraints on the unknowns."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.constraints: Any = None

    def ends(self, members: Ints) -> tuple[int, int]:
        """The least and the greatest number of records in some unknowns together."""
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import csr_array

        relations, n = self.system.relations, len(self.system.low)
        if self.constraints is None:
            shape = (len(relations.lower), n)
            matrix = csr_array((relations.factor, relations.number, relations.start), shape=shape)
            rows = matrix, relations.lower, relations.upper
            is_summed = bool((relations.factor != 1).any())
            self.constraints = LinearConstraint(*(loosened(*rows) if is_summed else rows))
        goal = np.zeros(n)
        goal[members] = 1.0
        ends = []
        for sign in (1.0, -1.0):
            solved = solve_programme(
                sign * goal, integrality=np.zeros(n), bounds=Bounds(self.system.low, self.system.high),
                constraints=self.constraints,
            )  # fmt: skip
            ends.append(sign * solved.fun if solved.x is not None else -sign * np.inf)
        sums = self.system.low[members].sum(), self.system.high[members].sum()
        least, most = max(ends[0], sums[0]), min(ends[1], sums[1])
        return int(np.ceil(least - NEAR)), int(np.floor(most + NEAR))
