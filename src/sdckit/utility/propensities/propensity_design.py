"""The products of variables that a logistic model of membership is made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.utility.propensities.logit_kernel import Design
from sdckit.utility.propensities.stacking import Stacked

COLUMNS = 4_000  # of a design: their squares must fit into memory


@dataclass(frozen=True, eq=False)
class Terms:
    """Products of atoms, the intercept first.

    `atoms`: of each term. `offset` and `width` (n_terms,): first column and number of columns of each term.
    """

    atoms: tuple[tuple[int, ...], ...]
    offset: NDArray[np.int64]
    width: NDArray[np.int64]

    @property
    def n_columns(self) -> int:
        """Columns of the design."""
        return int(self.width.sum())

    def variables(self, stacked: Stacked) -> list[frozenset[str]]:
        """The variables that each column is made of."""
        made = [frozenset(stacked.atoms[a].variable for a in atoms) for atoms in self.atoms]
        return [one for one, width in zip(made, self.width.tolist(), strict=True) for _ in range(width)]

    def labels(self, stacked: Stacked) -> list[str]:
        """The printed form of each column."""
        found = []
        for atoms in self.atoms:
            parts = [[stacked.atoms[a].variable + label for label in stacked.atoms[a].labels] for a in atoms]
            found += [":".join(one) for one in itertools.product(*parts)] if atoms else ["(intercept)"]
        return found


def design_of(stacked: Stacked, interactions: int) -> tuple[Design, Terms]:
    """The design of all products of up to `interactions` different variables' atoms.

    Raises DataError: it has too many columns.

    >>> from sdckit.utility.propensities.stacking import Atom
    >>> codes = np.array([[0, 1, 1], [0, 1, 2]], np.int32)
    >>> atoms = (Atom("x", "level", ("=b",), 0), Atom("y", "level", ("=q", "=r"), 1))
    >>> one = np.ones(3)
    >>> design, terms = design_of(Stacked(atoms, codes, np.empty((0, 3)), one, one, ()), 2)
    >>> terms.labels(Stacked(atoms, codes, np.empty((0, 3)), one, one, ()))
    ['(intercept)', 'x=b', 'y=q', 'y=r', 'x=b:y=q', 'x=b:y=r']
    """
    atoms = range(len(stacked.atoms))
    order = max(1, min(interactions, len(stacked.atoms)))
    widths = [len(atom.labels) for atom in stacked.atoms]
    n_columns = sum(_elementary(widths, order))
    if n_columns > COLUMNS:
        most = max(stacked.atoms, key=lambda atom: len(atom.labels))
        raise DataError(
            f"the model would have {n_columns} coefficients, more than {COLUMNS}: {most.variable!r} alone has "
            f"{len(most.labels) + 1} levels; leave it out by variables=[...], give numeric=[...] for numbers, group "
            "levels, or lower interactions="
        )
    terms = tuple(term for o in range(order + 1) for term in itertools.combinations(atoms, o))
    width = np.array([math.prod(widths[a] for a in term) for term in terms], np.int64)
    offset = np.concatenate([[0], np.cumsum(width)[:-1]]).astype(np.int64)
    filled = np.full((len(terms), order), -1, np.int64)
    for t, term in enumerate(terms):
        filled[t, : len(term)] = term
    of_value = [atom.kind == "value" for atom in stacked.atoms]
    design = Design(
        codes=stacked.codes,
        values=stacked.values,
        slot=np.array([atom.slot for atom in stacked.atoms], np.int64),
        width=np.array([0 if value else w for w, value in zip(widths, of_value, strict=True)], np.int64),
        terms=filled,
        offset=offset,
        n_columns=int(width.sum()),
    )
    return design, Terms(terms, offset, width)


def _elementary(widths: Sequence[int], order: int) -> list[int]:
    """Sum of the products of 0, 1, ..., `order` of the widths."""
    sums = [1] + [0] * order
    for width in widths:
        for o in range(order, 0, -1):
            sums[o] += width * sums[o - 1]
    return sums
