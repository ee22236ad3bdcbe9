"""Predictors as the columns of a regression: numbers standardised, categories as indicators of their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable

__all__ = ["Seen", "Term", "design_matrix", "make_terms", "seen"]

Floats = NDArray[np.float64]
MOST_INDICATORS = 30  # levels of a predictor that have a coefficient; rarer ones share the baseline


@dataclass(frozen=True, eq=False)
class Seen:
    """What some records hold in a predictor, with the text of each level."""

    values: Values
    labels: Sequence[str]


@dataclass(frozen=True)
class Term:
    """One column of the design, standardised by its mean and standard deviation in the original."""

    column: str
    # "number": the number itself (its mean where missing); "missing": whether it is; "level": whether it is one
    kind: str
    level: str | None  # text of the level; None where the level is being missing
    centre: float
    scale: float


def seen(variable: Variable, values: Values) -> Seen:
    """Values of a variable with the text of its levels, which only categories need."""
    return Seen(values, variable.texts)


def make_terms(variables: Sequence[Variable], rows: NDArray[np.int64]) -> tuple[Term, ...]:
    """The columns that predictors make, as standardised over some records.

    The most frequent level of a category is the baseline, and so are those beyond the 30 next ones.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> from sdckit.protect.synthesis.synthesis_variables import read_variable
    >>> frame = open_frame(pl.DataFrame({"x": [1, 3, None], "sex": ["f", "f", "m"]}))
    >>> found = make_terms([read_variable(frame[name]) for name in frame.columns], np.arange(3))
    >>> [(one.column, one.kind, one.level) for one in found]
    [('x', 'number', None), ('x', 'missing', None), ('sex', 'level', 'm')]
    """
    made: list[Term] = []
    for one in variables:
        if one.held.number is not None:
            numbers = one.held.number[rows]
            known = numbers[~np.isnan(numbers)]
            if len(known):
                made.append(Term(one.name, "number", None, float(known.mean()), _scale(float(known.std()))))
            share = float(np.isnan(numbers).mean())
            if one.n_missing and 0 < share < 1:
                made.append(_indicator(one.name, "missing", None, share))
            continue
        level = one.held.level[rows]
        counts = np.bincount(np.where(level == MISSING, one.n_levels, level), minlength=one.n_levels + 1)
        often = [int(at) for at in np.argsort(-counts, kind="stable") if counts[at]]
        for at in often[1 : MOST_INDICATORS + 1]:
            text = None if at == one.n_levels else one.texts[at]
            made.append(_indicator(one.name, "level", text, counts[at] / len(rows)))
    return tuple(made)


def _indicator(column: str, kind: str, level: str | None, share: float) -> Term:
    return Term(column, kind, level, float(share), _scale(float(np.sqrt(share * (1 - share)))))


def _scale(deviation: float) -> float:
    return deviation if deviation > 0 else 1.0


def design_matrix(terms: Sequence[Term], held: Mapping[str, Seen], n: int) -> Floats:
    """The design of some records, a column of ones first."""
    made = np.empty((n, len(terms) + 1))
    made[:, 0] = 1.0
    places: dict[str, dict[Any, int]] = {}
    for at, term in enumerate(terms, start=1):
        one = held[term.column]
        if term.kind == "number":
            assert one.values.number is not None
            numbers = one.values.number
            made[:, at] = np.where(np.isnan(numbers), 0.0, (numbers - term.centre) / term.scale)
            continue
        place = places.setdefault(term.column, {text: level for level, text in enumerate(one.labels)})
        wanted = MISSING if term.level is None else place.get(term.level, -9)
        made[:, at] = ((one.values.level == wanted) - term.centre) / term.scale
    return made
