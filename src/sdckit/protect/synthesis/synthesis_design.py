"""Predictors as the columns of a regression: numbers standardised, categories as indicators of their levels."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sdckit.data import arguments, formula_text
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable, is_usable, refuse_unfit

# Predictors of each synthesised variable, by names or a formula, and the order that follows from them.


HOW = 'write names, ["age", "sex"], or a formula, "~ age * sex"'


@dataclass(frozen=True)
class Factor:
    """One factor of a term: a column, as it is or as categories, or a number computed from columns."""

    text: str
    columns: tuple[str, ...]
    # "column": as it is; "levels": its values as categories; "number": computed from columns
    kind: str


@dataclass(frozen=True)
class Predicted:
    """Predictors of a variable: columns, and the terms of a formula (None: the columns themselves)."""

    columns: tuple[str, ...]
    terms: tuple[tuple[Factor, ...], ...] | None = None

    @property
    def categorical(self) -> frozenset[str]:
        """Columns that enter as categories."""
        named = (factor for term in self.terms or () for factor in term if factor.kind == "levels")
        return frozenset(name for factor in named for name in factor.columns)


def read_predictors(
    given: Mapping[str, object], targets: Sequence[str], present: Sequence[str]
) -> dict[str, Predicted]:
    """Read the predictors of each variable.

    `given`: by variable names or a formula. `targets`: the variables to synthesise. `present`: the columns of the
    data. Raises `ColumnError`: a column that is not there, or a variable that predicts itself; `DataError`: a
    formula that cannot be read.

    >>> found = read_predictors({"income": "~ age * sex"}, ["income"], ["age", "sex", "income"])["income"]
    >>> found.columns, [[factor.text for factor in term] for term in found.terms]
    (('age', 'sex'), [['age'], ['sex'], ['age', 'sex']])
    """
    by_name = {}
    for name, spec in given.items():
        if name not in targets:
            says = f"predictors: {name!r} is not among the columns to synthesise; {did_you_mean(str(name), targets)}"
            raise ColumnError(says, argument="predictors")
        predicted = (_formula if isinstance(spec, str) and "~" in spec else _listed)(name, spec, present)
        if name in predicted.columns:
            raise ColumnError(f"predictors of {name!r}: it cannot predict itself", argument="predictors")
        by_name[name] = predicted
    return by_name


def _listed(name: str, spec: object, present: Sequence[str]) -> Predicted:
    if isinstance(spec, str):
        says = f"predictors of {name!r}: {spec!r} is neither a list nor a formula; {HOW}"
        raise DataError(says, argument="predictors")
    names = arguments.names(spec, "predictors") or ()
    for column in names:
        if column not in present:
            hint = did_you_mean(str(column), present)
            raise ColumnError(f"predictors of {name!r}: no column {column!r}; {hint}", argument="predictors")
    return Predicted(tuple(names))


def _formula(name: str, spec: object, present: Sequence[str]) -> Predicted:
    outcome, _, text = str(spec).partition("~")
    if outcome.strip().strip("`") not in {"", name}:
        says = f"predictors of {name!r}: the formula's left side is {outcome.strip()!r}; leave it out: {HOW}"
        raise DataError(says, argument="predictors")
    columns = tuple(dict.fromkeys(column for column, _ in formula_text.named_columns(text, present)))
    return Predicted(columns, tuple(tuple(_factor(factor, present) for factor in term) for term in _terms(name, text)))


def _terms(name: str, text: str) -> list[list[tuple[str, bool]]]:
    """The factors of each term, and whether each is a plain column; without the constant, which is required."""
    from formulaic import Formula

    try:
        terms = [[(factor.expr, factor.eval_method.value) for factor in term.factors] for term in Formula(text)]
    except Exception:  # noqa: BLE001 - the formula is the caller's
        says = f"predictors of {name!r}: the formula {text.strip()!r} cannot be read; {HOW}"
        raise DataError(says, argument="predictors") from None
    if [("1", "literal")] not in terms:
        says = f"predictors of {name!r}: the constant cannot be left out of a model that values are drawn from"
        raise DataError(says, argument="predictors")
    return [[(text, how == "lookup") for text, how in term] for term in terms if term != [("1", "literal")]]


def _factor(parsed: tuple[str, bool], present: Sequence[str]) -> Factor:
    text, is_column = parsed
    if is_column:
        return Factor(text, (text,), "column")
    named = tuple(formula_text.named_columns(text, present))
    columns = tuple(dict.fromkeys(column for column, _ in named))
    if text.startswith("C(") and len(named) == 1 and named[0][1]:
        if text[2:-1].strip().strip("`") != columns[0]:
            says = f"predictors: {text!r} chooses contrasts, which change nothing that is drawn; write C({columns[0]})"
            raise DataError(says, argument="predictors")
        return Factor(text, columns, "levels")
    formula_text.check_expression(text)
    return Factor(text, columns, "number")


def order_by_predictors(targets: Sequence[str], specs: Mapping[str, Predicted]) -> tuple[str, ...]:
    """Order the variables so that predictors come first, else as they are given.

    Raises `DataError`: some predict each other in a circle.

    >>> order_by_predictors(["income", "age"], {"income": Predicted(("age",))})
    ('age', 'income')
    """
    left, order = list(targets), list[str]()
    while left:
        ready = [name for name in left if not set(_needs(name, specs)) & set(left)]
        if not ready:
            circle = " -> ".join(_circle(left, specs))
            says = f"predictors: {circle} predict each other in a circle; leave one of them out"
            raise DataError(says, argument="predictors")
        order.append(ready[0])
        left.remove(ready[0])
    return tuple(order)


def _needs(name: str, specs: Mapping[str, Predicted]) -> tuple[str, ...]:
    return specs[name].columns if name in specs else ()


def _circle(left: Sequence[str], specs: Mapping[str, Predicted]) -> list[str]:
    """One circle of variables in the direction of prediction, the first repeated at the end."""
    path = [left[0]]
    while len(set(path)) == len(path):
        path.append(next(need for need in _needs(path[-1], specs) if need in left))
    return path[path.index(path[-1]) :][::-1]


def check_order(order: Sequence[str], specs: Mapping[str, Predicted]) -> None:
    """Refuse an order in which a variable is drawn before one of its predictors.

    Raises `DataError`.

    >>> check_order(["age", "income"], {"income": Predicted(("age",))})
    """
    for at, name in enumerate(order):
        late = [need for need in _needs(name, specs) if need in order[at + 1 :]]
        if late:
            says = (
                f"predictors of {name!r}: {late[0]!r} is drawn after it; change order=, or leave order= out and it "
                "follows from predictors="
            )
            raise DataError(says, argument="predictors")


# The variables to synthesise, their order, and the predictors of each.


def targets_in_order(
    named: tuple[str, ...] | None, order: Any, apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables to synthesise in their order, and a note on those that cannot be."""
    given = arguments.names(order, "order")
    if given is not None:
        arguments.present(given, list(variables), "order", argument="order")
    flat = [name for name, variable in variables.items()
            if variable.n_levels + (variable.n_missing > 0) < 2 or variable.kind == "empty"]  # fmt: skip
    left: dict[str, str] = {}
    targets = named
    if targets is None:
        targets = tuple(name for name in variables if name not in {*flat, *apart})
        if flat:
            left = {"left": f"{', '.join(flat)} hold one value or none, and stay"}
        if given is not None:
            first = [name for name in given if name not in flat]
            targets = (*first, *(name for name in targets if name not in given))
    if not targets:
        raise DataError("no column varies, there is nothing to synthesise")
    refuse_unfit([variables[name] for name in targets], n)
    if named is not None and given is not None:
        if set(given) != set(named):
            says = "order= names exactly the columns to synthesise, in the order they are drawn"
            raise ColumnError(says, argument="order")
        targets = given
    return targets, left


def general_predictors(
    given: Any, order: tuple[str, ...], apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables that are not synthesised and predict, and a note on those that cannot."""
    names = arguments.names(given, "predictors")
    if names is not None and (both := set(names) & set(order)):
        says = f"predictors: {sorted(both)[0]!r} is synthesised; it predicts those after it anyway"
        raise ColumnError(says, argument="predictors")
    if names is not None and (bad := [name for name in names if not is_usable(variables[name], n)]):
        says = f"predictors: {bad[0]!r} does not vary, or is a list of names; leave it out"
        raise DataError(says, argument="predictors")
    rest = [name for name in variables if name not in order and name not in apart]
    usable = tuple(name for name in rest if is_usable(variables[name], n))
    if names is not None:
        return names, {}
    unused = [name for name in rest if name not in usable]
    note = f"{', '.join(unused)} predict nothing: one value, or a list of names"
    return usable, {"predictors": note} if unused else {}


def in_order(
    targets: tuple[str, ...], given: Any, variables: Mapping[str, Variable], *, joint: Sequence[str],
    helpers: tuple[str, ...], fixed: bool,
) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], dict[str, Predicted]]:  # fmt: skip
    """The order in which variables are drawn, the columns that predict each, and the formulas of those that have one.

    `given`: what predicts some of them, by variable. `joint`: those that have one normal distribution; they are
    drawn one after the other, each from its regression on the others before, which is the same. `helpers`: what
    predicts where nothing is said, beside those drawn before. `fixed`: the order is the caller's. Raises
    `ColumnError` and `DataError`: predictors that are not there, of no use, in a circle or drawn later; joint
    variables with different predictors, or apart in the order.
    """
    specs = read_predictors(given, targets, list(variables)) if isinstance(given, Mapping) else {}
    _refuse_useless(specs, targets, variables)
    specs = _jointly(specs, [name for name in targets if name in joint])
    together = _together(targets, joint, fixed=fixed)
    if not fixed:
        together = _together(order_by_predictors(together, specs), joint, fixed=False)
    check_order(together, specs)
    by_name: dict[str, tuple[str, ...]] = {}
    for at, name in enumerate(together):
        before = (*helpers, *together[:at])
        by_name[name] = specs[name].columns if name in specs else before
    return together, by_name, {name: predicted for name, predicted in specs.items() if predicted.terms is not None}


def _refuse_useless(specs: Mapping[str, Predicted], targets: Sequence[str], variables: Mapping[str, Variable]) -> None:
    n = len(next(iter(variables.values())).held.level)
    for name, predicted in specs.items():
        for column in predicted.columns:
            if column not in targets and not is_usable(variables[column], n):
                says = f"predictors of {name!r}: {column!r} does not vary, or is a list of names; leave it out"
                raise DataError(says, argument="predictors")


def _jointly(specs: dict[str, Predicted], joint: Sequence[str]) -> dict[str, Predicted]:
    """Predictors of joint variables: those they share, and the joint variables before each."""
    given = [specs[name] for name in joint if name in specs]
    if not given:
        return specs
    if len(given) < len(joint) or any(predicted != given[0] for predicted in given):
        says = (
            f"predictors: {', '.join(joint)} have one joint distribution ('multivariate_normal') given the same "
            "predictors; name the same for each of them"
        )
        raise DataError(says, argument="predictors")
    if inside := set(given[0].columns) & set(joint):
        says = f"predictors: {min(inside)!r} is one of the joint variables; they need not predict each other"
        raise DataError(says, argument="predictors")
    completed = dict(specs)
    for at, name in enumerate(joint):
        more = tuple((Factor(column, (column,), "column"),) for column in joint[:at])
        terms = None if given[0].terms is None else (*given[0].terms, *more)
        completed[name] = Predicted((*given[0].columns, *joint[:at]), terms)
    return completed


def _together(order: Sequence[str], joint: Sequence[str], *, fixed: bool) -> tuple[str, ...]:
    """Joint variables one after the other, from where the first of them stands: they share their predictors."""
    places = [at for at, name in enumerate(order) if name in joint]
    if not places or places[-1] - places[0] == len(places) - 1:
        return tuple(order)
    if fixed:
        says = "order: variables of 'multivariate_normal' are drawn together; name them one after the other"
        raise DataError(says, argument="order")
    block = [name for name in order if name in joint]
    return (*order[: places[0]], *block, *(name for name in order[places[0] :] if name not in joint))


MOST_INDICATORS = 30  # levels of a predictor that have a coefficient; rarer ones share the baseline
MOST_TERMS = 1000  # columns that the formula of one variable may make


@dataclass(frozen=True, eq=False)
class Seen:
    """Values of some records in a predictor, with the text of each level."""

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
            return tuple(dict.fromkeys(name for factor in self.factors for name in factor.reads))
        return self.columns or (self.column,)

    def needs_labels(self, column: str) -> bool:
        """Whether it distinguishes the levels of a column."""
        return (self.kind == "level" and self.column == column) or any(
            factor.needs_labels(column) for factor in self.factors
        )

    def needs_number(self, column: str) -> bool:
        """Whether it takes a column as a number."""
        if self.kind == "product":
            return any(factor.needs_number(column) for factor in self.factors)
        return self.kind != "level" and column in self.reads


def term_fields(term: Term) -> dict[str, Any]:
    """A term as plain texts and numbers; columns and factors only where it has some."""
    fields = asdict(replace(term, factors=()))
    fields["factors"] = [term_fields(factor) for factor in term.factors]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
            if name not in {"columns", "factors"} or value}  # fmt: skip


def term_of(fields: Mapping[str, Any]) -> Term:
    """The term that `term_fields` wrote.

    >>> term_of({"column": "x", "kind": "number", "level": None, "centre": 0.0, "scale": 1.0}).reads
    ('x',)
    """
    parts = tuple(term_of(factor) for factor in fields.get("factors", ()))
    return Term(**{**fields, "columns": tuple(fields.get("columns", ())), "factors": parts})


def seen(variable: Variable, values: Values, *, categorical: bool = False) -> Seen:
    """Values of a variable with the text of its levels: of numbers only if they are taken as categories."""
    return Seen(values, variable.labels if categorical else variable.texts)


def make_terms(variables: Sequence[Variable], rows: Ints, predicted: Predicted | None = None) -> tuple[Term, ...]:
    """The design columns of predictors, standardised over some records.

    The most frequent level of a category is the baseline, and so are those beyond the 30 next ones. `predicted`:
    the terms of a formula. A category in a product has its baseline, too, where the product without it is not
    among the terms. Raises `DataError`: the formula makes more than 1,000 columns, or computes with categories.

    >>> import polars as pl
    >>> from sdckit.data.frames import open_frame
    >>> from sdckit.protect.synthesis.synthesis_variables import read_variable
    >>> frame = open_frame(pl.DataFrame({"x": [1, 3, None], "sex": ["f", "f", "m"]}))
    >>> found = make_terms([read_variable(frame[name]) for name in frame.columns], np.arange(3))
    >>> [(term.column, term.kind, term.level) for term in found]
    [('x', 'number', None), ('x', 'missing', None), ('sex', 'level', 'm')]
    """
    if predicted is None or predicted.terms is None:
        return tuple(term for variable in variables for term in _of_column(variable, rows))
    by_name = {variable.name: variable for variable in variables}
    categorical = predicted.categorical
    held = {variable.name: seen(variable, variable.held.take(rows), categorical=variable.name in categorical)
            for variable in variables}  # fmt: skip
    wanted = {frozenset[str](), *(frozenset(factor.text for factor in term) for term in predicted.terms)}
    made: list[Term] = []
    for term in predicted.terms:
        rest = [frozenset(other.text for other in term) - {factor.text} for factor in term]
        parts = [
            _of_factor(factor, by_name, held, rows, full=without not in wanted, alone=len(term) == 1)
            for factor, without in zip(term, rest, strict=True)
        ]
        size = int(np.prod([len(part) for part in parts]))
        if len(made) + size > MOST_TERMS:
            says = f"predictors: the formula makes more than {MOST_TERMS:,} columns; group categories, or cross fewer"
            raise DataError(says, argument="predictors")
        combined = parts[0] if len(term) == 1 else [_product(factors) for factors in itertools.product(*parts)]
        made += [column for column in (_standardised(term, held, len(rows)) for term in combined) if column is not None]
    return tuple(made)


def _of_column(variable: Variable, rows: Ints) -> list[Term]:
    """The design columns of one variable."""
    if variable.held.number is None:
        return _levels(variable, rows)
    numbers = variable.held.number[rows]
    known = numbers[~np.isnan(numbers)]
    made: list[Term] = []
    if len(known):
        made.append(Term(variable.name, "number", None, float(known.mean()), _scale(float(known.std()))))
    share = float(np.isnan(numbers).mean())
    if variable.n_missing and 0 < share < 1:
        made.append(_indicator(variable.name, "missing", None, share))
    return made


def _levels(variable: Variable, rows: Ints, *, full: bool = False) -> list[Term]:
    level = variable.held.level[rows]
    labels = variable.texts if variable.amounts is None else variable.labels
    counts = np.bincount(np.where(level == MISSING, variable.n_levels, level), minlength=variable.n_levels + 1)
    often = [int(at) for at in np.argsort(-counts, kind="stable") if counts[at]]
    return [
        _indicator(variable.name, "level", None if at == variable.n_levels else labels[at], counts[at] / len(rows))
        for at in often[0 if full else 1 : MOST_INDICATORS + 1]
    ]


def _of_factor(
    factor: Factor, variables: Mapping[str, Variable], held: Mapping[str, Seen], rows: Ints, *, full: bool, alone: bool
) -> list[Term]:
    """Design columns of a factor; in a product not standardised, and without the indicator of missing values."""
    if factor.kind == "number":
        for name in factor.columns:
            if held[name].values.number is None:
                says = f"predictors: {factor.text!r} computes with {name!r}, which holds categories"
                raise DataError(says, argument="predictors")
        return [Term(factor.columns[0], "computed", factor.text, 0.0, 1.0, factor.columns)]
    variable = variables[factor.columns[0]]
    if factor.kind == "column" and variable.held.number is not None:
        terms = _of_column(variable, rows)
        terms = terms if alone else [term for term in terms if term.kind == "number"]
    else:
        terms = _levels(variable, rows, full=full)
    return terms if alone else [replace(term, centre=0.0, scale=1.0) for term in terms]


def _product(factors: Sequence[Term]) -> Term:
    return Term(":".join(factor.column for factor in factors), "product", None, 0.0, 1.0, (), tuple(factors))


def _standardised(term: Term, held: Mapping[str, Seen], n: int) -> Term | None:
    """A product or a computed number with its own mean and deviation; None where it does not vary."""
    if term.kind not in {"product", "computed"}:
        return term
    values = _raw(term, held, n, {})
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
    values = (_raw(term, held, n, places) - term.centre) / term.scale
    return np.where(np.isnan(values), 0.0, values) if term.kind in {"number", "computed", "product"} else values


def _raw(term: Term, held: Mapping[str, Seen], n: int, places: dict[str, dict[Any, int]]) -> Floats:
    if term.kind == "product":
        product = np.ones(n)
        for factor in term.factors:
            product *= _raw(factor, held, n, places)
        return product
    if term.kind == "computed":
        numbers = {name: sure(held[name].values.number) for name in term.columns}
        return formula_text.evaluate(sure(term.level), numbers)
    predictor = held[term.column]
    if term.kind == "number":
        return sure(predictor.values.number)
    if term.kind == "missing":  # a number that is known by its level alone may be given without its values
        return np.asarray(predictor.values.level == MISSING, np.float64)
    place = places.setdefault(term.column, {text: level for level, text in enumerate(predictor.labels)})
    wanted = MISSING if term.level is None else place.get(term.level, -9)
    return np.asarray(predictor.values.level == wanted, np.float64)
