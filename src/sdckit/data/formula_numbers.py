"""A number computed from columns, as a formula writes it: ``log(income + 1)``, ``I(age ** 2)``."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sdckit.data.formula_text import FUNCTIONS, QUOTED, STAND_IN
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv,
}  # fmt: skip
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


def evaluate(text: str, columns: Mapping[str, Floats]) -> Floats:
    """The value for each record; not a number where it has none.

    Raises `DataError`: something other than columns, numbers, arithmetic, comparisons and known functions.

    >>> evaluate("I(`my age` ** 2) + log(x)", {"my age": np.array([2.0]), "x": np.array([1.0])}).tolist()
    [4.0]
    """
    with np.errstate(all="ignore"):
        found = np.asarray(_value(_parsed(text), _names(text, columns), text), np.float64)
    n = len(next(iter(columns.values()))) if columns else 1
    return np.where(np.isfinite(found), found, np.nan) if found.ndim else np.full(n, float(found))


def check_expression(text: str) -> None:
    """Refuse an expression that cannot be evaluated record by record.

    Raises `DataError`: splines, polynomials or scaling, which learn from the data; or another language.

    >>> check_expression("log(x + 1)")
    """
    tree = _parsed(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    quoted = dict.fromkeys(QUOTED.findall(text), np.ones(1))
    _value(tree, {**dict.fromkeys(names, np.ones(1)), **_names(text, quoted)}, text)


def _parsed(text: str) -> ast.expr:
    places = iter(range(text.count("`")))
    try:
        return ast.parse(QUOTED.sub(lambda _: f"{STAND_IN}{next(places)}", text), mode="eval").body
    except SyntaxError:
        raise DataError(f"formula: {text!r} cannot be read", argument="predictors") from None


def _names(text: str, columns: Mapping[str, Floats]) -> dict[str, Floats]:
    quoted = {f"{STAND_IN}{at}": columns[name] for at, name in enumerate(QUOTED.findall(text))}
    return {**columns, **quoted}


def _value(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return BINARY[type(node.op)](_value(node.left, names, text), _value(node.right, names, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](_value(node.operand, names, text))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        left, right = _value(node.left, names, text), _value(node.comparators[0], names, text)
        blank = np.isnan(left) | np.isnan(right)
        return np.where(blank, np.nan, COMPARED[type(node.ops[0])](left, right))
    if isinstance(node, ast.Call) and not node.keywords:
        function = _function(node.func)
        if function is not None:
            return function(*(_value(one, names, text) for one in node.args))
    raise DataError(
        f"formula: {text!r} is not computed record by record; use columns, numbers, + - * / **, comparisons and "
        f"{', '.join(FUNCTIONS)}",
        argument="predictors",
    )


def _function(node: ast.expr) -> Callable[..., Any] | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
        return getattr(np, node.attr) if node.attr in FUNCTIONS else None
    if not isinstance(node, ast.Name):
        return None
    if node.id == "I":
        return lambda value: value
    return getattr(np, node.id) if node.id in FUNCTIONS else None
