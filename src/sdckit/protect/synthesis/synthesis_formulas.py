"""What predicts each variable of a synthesis: names or a formula for each, and the order that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdckit.data import arguments
from sdckit.data.formula_numbers import check_expression
from sdckit.data.formula_text import named_columns
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError

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
    """What predicts a variable: columns, and the terms that a formula makes of them (None: the columns)."""

    columns: tuple[str, ...]
    terms: tuple[tuple[Factor, ...], ...] | None = None

    @property
    def told_apart(self) -> frozenset[str]:
        """Columns whose values are taken as categories."""
        named = (one for term in self.terms or () for one in term if one.kind == "levels")
        return frozenset(name for one in named for name in one.columns)


def read_predictors(
    given: Mapping[str, object], targets: Sequence[str], present: Sequence[str]
) -> dict[str, Predicted]:
    """Read what predicts each variable.

    `given`: by variable names or a formula. `targets`: the variables to synthesise. `present`: the columns of the
    data. Raises `ColumnError`: a column that is not there, or a variable that predicts itself; `DataError`: a
    formula that cannot be read.

    >>> found = read_predictors({"income": "~ age * sex"}, ["income"], ["age", "sex", "income"])["income"]
    >>> found.columns, [[one.text for one in term] for term in found.terms]
    (('age', 'sex'), [['age'], ['sex'], ['age', 'sex']])
    """
    found = {}
    for name, asked in given.items():
        if name not in targets:
            says = f"predictors: {name!r} is not among the columns to synthesise; {did_you_mean(str(name), targets)}"
            raise ColumnError(says, argument="predictors")
        one = _formula(name, asked, present) if _is_formula(asked) else _listed(name, asked, present)
        if name in one.columns:
            raise ColumnError(f"predictors of {name!r}: it cannot predict itself", argument="predictors")
        found[name] = one
    return found


def _is_formula(asked: object) -> bool:
    return isinstance(asked, str) and "~" in asked


def _listed(name: str, asked: object, present: Sequence[str]) -> Predicted:
    if isinstance(asked, str):
        says = f"predictors of {name!r}: {asked!r} is neither a list nor a formula; {HOW}"
        raise DataError(says, argument="predictors")
    names = arguments.names(asked, "predictors") or ()
    for one in names:
        if one not in present:
            hint = did_you_mean(str(one), present)
            raise ColumnError(f"predictors of {name!r}: no column {one!r}; {hint}", argument="predictors")
    return Predicted(tuple(names))


def _formula(name: str, asked: object, present: Sequence[str]) -> Predicted:
    outcome, _, text = str(asked).partition("~")
    if outcome.strip().strip("`") not in {"", name}:
        says = f"predictors of {name!r}: the formula's left side is {outcome.strip()!r}; leave it out: {HOW}"
        raise DataError(says, argument="predictors")
    columns = tuple(dict.fromkeys(one for one, _ in named_columns(text, present)))
    terms = tuple(tuple(_factor(one, present) for one in term) for term in _terms(name, text))
    return Predicted(columns, terms)


def _terms(name: str, text: str) -> list[list[tuple[str, bool]]]:
    """The factors of each term, and whether each is a column as it is; the constant is always there."""
    from formulaic import Formula

    try:
        found = [[(one.expr, one.eval_method.value) for one in term.factors] for term in Formula(text)]
    except Exception:  # noqa: BLE001 - the formula is the caller's
        says = f"predictors of {name!r}: the formula {text.strip()!r} cannot be read; {HOW}"
        raise DataError(says, argument="predictors") from None
    if [("1", "literal")] not in found:
        says = (
            f"predictors of {name!r}: the constant cannot be left out of a model that values are drawn from"
        )
        raise DataError(says, argument="predictors")
    return [[(text, how == "lookup") for text, how in term] for term in found if term != [("1", "literal")]]


def _factor(found: tuple[str, bool], present: Sequence[str]) -> Factor:
    text, is_column = found
    if is_column:
        return Factor(text, (text,), "column")
    named = tuple(named_columns(text, present))
    columns = tuple(dict.fromkeys(one for one, _ in named))
    if text.startswith("C(") and len(named) == 1 and named[0][1]:
        if text[2:-1].strip().strip("`") != columns[0]:
            says = f"predictors: {text!r} chooses contrasts, which change nothing that is drawn; write C({columns[0]})"
            raise DataError(says, argument="predictors")
        return Factor(text, columns, "levels")
    check_expression(text)
    return Factor(text, columns, "number")


def order_by_predictors(targets: Sequence[str], asked: Mapping[str, Predicted]) -> tuple[str, ...]:
    """The variables in an order in which what predicts each comes before it, else as they are given.

    Raises `DataError`: some predict each other in a circle.

    >>> order_by_predictors(["income", "age"], {"income": Predicted(("age",))})
    ('age', 'income')
    """
    left, order = list(targets), list[str]()
    while left:
        ready = [name for name in left if not set(_needs(name, asked)) & set(left)]
        if not ready:
            circle = " -> ".join(_circle(left, asked))
            says = f"predictors: {circle} predict each other in a circle; leave one of them out"
            raise DataError(says, argument="predictors")
        order.append(ready[0])
        left.remove(ready[0])
    return tuple(order)


def _needs(name: str, asked: Mapping[str, Predicted]) -> tuple[str, ...]:
    return asked[name].columns if name in asked else ()


def _circle(left: Sequence[str], asked: Mapping[str, Predicted]) -> list[str]:
    """One circle, told in the order in which its members predict: the first again at its end."""
    path = [left[0]]
    while len(set(path)) == len(path):
        path.append(next(one for one in _needs(path[-1], asked) if one in left))
    return path[path.index(path[-1]) :][::-1]


def check_order(order: Sequence[str], asked: Mapping[str, Predicted]) -> None:
    """Refuse a given order in which something would predict before it is drawn.

    Raises `DataError`.

    >>> check_order(["age", "income"], {"income": Predicted(("age",))})
    """
    for at, name in enumerate(order):
        late = [one for one in _needs(name, asked) if one in order[at + 1 :]]
        if late:
            says = (
                f"predictors of {name!r}: {late[0]!r} is drawn after it; change order=, or leave order= out and it "
                "follows from predictors="
            )
            raise DataError(says, argument="predictors")
