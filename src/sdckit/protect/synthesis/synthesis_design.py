"""Predictors as the columns of a regression: numbers standardised, categories as indicators of their levels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sdckit.data.formula_numbers import evaluate
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.synthesis_formulas import Factor, Predicted
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable

MOST_INDICATORS = 30  # levels of a predictor that have a coefficient; rarer ones share the baseline
MOST_TERMS = 1000  # columns that the formula of one variable may make


@dataclass(frozen=True, eq=False)
class Seen:
    """What some records hold in a predictor, with the text of each level."""

    values: Values
    labels: Sequence[str]


@dataclass(frozen=True)
class Term:
    """One column of the design, standardised by its mean and standard deviation in the original."""

    column: str
    # "number": the number itself (its mean where missing); "missing": whether it is; "level": whether it is one;
    # "computed": a number computed from columns; "product": that of the factors
    kind: str
    level: str | None  # text of the level; None where the level is being missing; what is computed
    centre: float  # of products and computed numbers: of the column they make
    scale: float
    columns: tuple[str, ...] = ()  # of what is computed
    factors: tuple[Term, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns it is made from."""
        if self.kind == "product":
            return tuple(dict.fromkeys(name for one in self.factors for name in one.reads))
        return self.columns or (self.column,)

    def needs_labels(self, column: str) -> bool:
        """Whether it tells the levels of a column apart."""
        return (self.kind == "level" and self.column == column) or any(
            one.needs_labels(column) for one in self.factors
        )

    def needs_number(self, column: str) -> bool:
        """Whether it takes a column as a number."""
        if self.kind == "product":
            return any(one.needs_number(column) for one in self.factors)
        return self.kind != "level" and column in self.reads


def term_fields(term: Term) -> dict[str, Any]:
    """A term as plain texts and numbers, with its parts only where it has some."""
    found = asdict(replace(term, factors=()))
    found["factors"] = [term_fields(one) for one in term.factors]
    return {name: list(one) if isinstance(one, tuple) else one for name, one in found.items()
            if name not in {"columns", "factors"} or one}  # fmt: skip


def term_of(fields: Mapping[str, Any]) -> Term:
    """The term that `term_fields` wrote.

    >>> term_of({"column": "x", "kind": "number", "level": None, "centre": 0.0, "scale": 1.0}).reads
    ('x',)
    """
    parts = tuple(term_of(one) for one in fields.get("factors", ()))
    return Term(**{**fields, "columns": tuple(fields.get("columns", ())), "factors": parts})


def seen(variable: Variable, values: Values, *, told: bool = False) -> Seen:
    """Values of a variable with the text of its levels: of numbers only where they are told apart."""
    return Seen(values, variable.labels if told else variable.texts)


def make_terms(
    variables: Sequence[Variable], rows: Ints, predicted: Predicted | None = None
) -> tuple[Term, ...]:
    """The columns that predictors make, as standardised over some records.

    The most frequent level of a category is the baseline, and so are those beyond the 30 next ones. `predicted`:
    the terms of a formula. A category in a product has its baseline, too, where the product without it is not
    among the terms. Raises `DataError`: the formula makes more than 1,000 columns, or computes with categories.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> from sdckit.protect.synthesis.synthesis_variables import read_variable
    >>> frame = open_frame(pl.DataFrame({"x": [1, 3, None], "sex": ["f", "f", "m"]}))
    >>> found = make_terms([read_variable(frame[name]) for name in frame.columns], np.arange(3))
    >>> [(one.column, one.kind, one.level) for one in found]
    [('x', 'number', None), ('x', 'missing', None), ('sex', 'level', 'm')]
    """
    if predicted is None or predicted.terms is None:
        return tuple(term for one in variables for term in _of_column(one, rows))
    by_name = {one.name: one for one in variables}
    told = predicted.told_apart
    held = {one.name: seen(one, one.held.take(rows), told=one.name in told) for one in variables}
    wanted = {frozenset[str](), *(frozenset(one.text for one in term) for term in predicted.terms)}
    made: list[Term] = []
    for term in predicted.terms:
        rest = [frozenset(one.text for one in term) - {factor.text} for factor in term]
        parts = [
            _of_factor(factor, by_name, held, rows, full=without not in wanted, alone=len(term) == 1)
            for factor, without in zip(term, rest, strict=True)
        ]
        size = int(np.prod([len(part) for part in parts]))
        if len(made) + size > MOST_TERMS:
            says = f"predictors: the formula makes more than {MOST_TERMS:,} columns; group categories, or cross fewer"
            raise DataError(says, argument="predictors")
        combined = parts[0] if len(term) == 1 else [_product(one) for one in itertools.product(*parts)]
        made += [
            one for one in (_standardised(term, held, len(rows)) for term in combined) if one is not None
        ]
    return tuple(made)


def _of_column(one: Variable, rows: Ints) -> list[Term]:
    """The columns of the design that one variable makes."""
    if one.held.number is None:
        return _levels(one, rows)
    numbers = one.held.number[rows]
    known = numbers[~np.isnan(numbers)]
    made: list[Term] = []
    if len(known):
        made.append(Term(one.name, "number", None, float(known.mean()), _scale(float(known.std()))))
    share = float(np.isnan(numbers).mean())
    if one.n_missing and 0 < share < 1:
        made.append(_indicator(one.name, "missing", None, share))
    return made


def _levels(one: Variable, rows: Ints, *, full: bool = False) -> list[Term]:
    level = one.held.level[rows]
    labels = one.texts if one.amounts is None else one.labels
    counts = np.bincount(np.where(level == MISSING, one.n_levels, level), minlength=one.n_levels + 1)
    often = [int(at) for at in np.argsort(-counts, kind="stable") if counts[at]]
    return [
        _indicator(one.name, "level", None if at == one.n_levels else labels[at], counts[at] / len(rows))
        for at in often[0 if full else 1 : MOST_INDICATORS + 1]
    ]


def _of_factor(
    factor: Factor, variables: Mapping[str, Variable], held: Mapping[str, Seen], rows: Ints,
    *, full: bool, alone: bool,
) -> list[Term]:  # fmt: skip
    """What a factor contributes to a term: to a product without the indicator of being missing, not standardised."""
    if factor.kind == "number":
        for name in factor.columns:
            if held[name].values.number is None:
                says = f"predictors: {factor.text!r} computes with {name!r}, which holds categories"
                raise DataError(says, argument="predictors")
        return [Term(factor.columns[0], "computed", factor.text, 0.0, 1.0, factor.columns)]
    one = variables[factor.columns[0]]
    if factor.kind == "column" and one.held.number is not None:
        found = _of_column(one, rows)
        found = found if alone else [term for term in found if term.kind == "number"]
    else:
        found = _levels(one, rows, full=full)
    return found if alone else [replace(term, centre=0.0, scale=1.0) for term in found]


def _product(factors: Sequence[Term]) -> Term:
    return Term(":".join(one.column for one in factors), "product", None, 0.0, 1.0, (), tuple(factors))


def _standardised(term: Term, held: Mapping[str, Seen], n: int) -> Term | None:
    """A product or a computed number with its own mean and deviation; None where it does not vary."""
    if term.kind not in {"product", "computed"}:
        return term
    values = _raw(term, held, n)
    known = values[~np.isnan(values)]
    if not len(known) or np.ptp(known) == 0:
        return None
    return replace(term, centre=float(known.mean()), scale=_scale(float(known.std())))


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
        made[:, at] = _column(term, held, n, places)
    return made


def _column(term: Term, held: Mapping[str, Seen], n: int, places: dict[str, dict[Any, int]]) -> Floats:
    """A term for each record, its mean where it is missing."""
    found = (_raw(term, held, n, places) - term.centre) / term.scale
    return np.where(np.isnan(found), 0.0, found) if term.kind in {"number", "computed", "product"} else found


def _raw(
    term: Term, held: Mapping[str, Seen], n: int, places: dict[str, dict[Any, int]] | None = None
) -> Floats:
    places = {} if places is None else places
    if term.kind == "product":
        found = np.ones(n)
        for factor in term.factors:
            found *= _raw(factor, held, n, places)
        return found
    if term.kind == "computed":
        assert term.level is not None
        return evaluate(term.level, {name: _number(held[name]) for name in term.columns})
    one = held[term.column]
    if term.kind == "number":
        return _number(one)
    if term.kind == "missing":  # a number that is known by its level alone may be given without its values
        return np.asarray(one.values.level == MISSING, np.float64)
    place = places.setdefault(term.column, {text: level for level, text in enumerate(one.labels)})
    wanted = MISSING if term.level is None else place.get(term.level, -9)
    return np.asarray(one.values.level == wanted, np.float64)


def _number(one: Seen) -> Floats:
    assert one.values.number is not None
    return one.values.number
