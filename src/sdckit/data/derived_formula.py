"""Formulas by which columns follow from others of the same record: ``total = "wage + benefits"``."""

import ast
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from sdckit.data.columns import is_number
from sdckit.data.formula_text import BINARY, QUOTED, STAND_IN, UNARY
from sdckit.errors import ScenarioError
from sdckit.numerics.array_types import Floats

ENTRY = "derived"
SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "exp": np.exp, "sqrt": np.sqrt, "abs": np.abs,
}  # fmt: skip
MOST_DIGITS = 15
LONGEST = 2_000  # characters
DEEPEST = 200  # signs and brackets around a number
GRAMMAR = (
    "columns (in `backticks` where they are no identifiers), numbers, + - * / ** ( ), round(x, digits), "
    + ", ".join(FUNCTIONS)
)


@dataclass(frozen=True, eq=False)
class DerivedFormula:
    """A column and the formula by which it follows from others; `inputs` are the columns that it names."""

    column: str
    text: str
    inputs: tuple[str, ...]
    _tree: ast.expr = field(repr=False)
    _names: Mapping[str, str] = field(repr=False)

    def values(self, columns: Mapping[str, Floats]) -> Floats:
        """The column (n,); NaN where an input is missing, or the result undefined.

        >>> (made,) = read_derived({"half": "round((x + 1) / 2)"})
        >>> made.values({"x": np.array([2.2, np.nan])}).tolist()
        [2.0, nan]
        """
        with np.errstate(all="ignore"):
            made = np.asarray(self._value(self._tree, columns), np.float64)
        missing = np.any([np.isnan(columns[name]) for name in self.inputs], axis=0)
        return np.where(np.isfinite(made) & ~missing, made, np.nan)

    def _value(self, node: ast.expr, columns: Mapping[str, Floats]) -> Any:
        match node:
            case ast.Constant():
                return np.float64(node.value)  # type: ignore[arg-type]
            case ast.Name():
                return columns[self._names[node.id]]
            case ast.BinOp():
                return BINARY[type(node.op)](self._value(node.left, columns), self._value(node.right, columns))
            case ast.UnaryOp():
                return UNARY[type(node.op)](self._value(node.operand, columns))
            case ast.Call(func=ast.Name("round")):
                return np.round(self._value(node.args[0], columns), _digits(node.args[1:]) or 0)
            case ast.Call(func=ast.Name(id=name)):
                return FUNCTIONS[name](self._value(node.args[0], columns))
        raise AssertionError(node)


def read_derived(derived: object) -> tuple[DerivedFormula, ...]:
    """Parse the formulas of an entry ``derived``, in an order in which each follows those that it names.

    Raises ScenarioError: no table of texts, a formula that cannot be read, or columns that follow from each other.

    >>> [made.column for made in read_derived({"annual": "12 * `all pay`", "all pay": "wage + rest"})]
    ['all pay', 'annual']
    """
    if not isinstance(derived, Mapping) or not derived:
        raise ScenarioError(f'{ENTRY} is a table such as {{total = "wage + benefits"}}, with one column at least',
                            argument=ENTRY)  # fmt: skip
    formulas = {column: _read(column, text) for column, text in derived.items()}
    graph = {column: [name for name in made.inputs if name in formulas] for column, made in formulas.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " from ".join(error.args[1][::-1])
        raise ScenarioError(f"{ENTRY}: {circle}: no column follows from itself", argument=ENTRY) from None
    return tuple(formulas[column] for column in order)


def derived_columns(derived: object) -> tuple[str, ...]:
    """The columns that the formulas of an entry name; empty where it cannot be read.

    >>> derived_columns({"total": "wage + benefits"}), derived_columns({"total": "wage +"})
    (('wage', 'benefits'), ())
    """
    try:
        return tuple(dict.fromkeys(name for made in read_derived(derived) for name in made.inputs))
    except ScenarioError:
        return ()


def quoted(column: str) -> str:
    """A column as a formula names it.

    >>> quoted("wage"), quoted("my wage"), quoted("class")
    ('wage', '`my wage`', '`class`')
    """
    plain = column.isidentifier() and column.isascii() and not keyword.iskeyword(column)
    return column if plain else f"`{column}`"


def _read(column: object, text: object) -> DerivedFormula:
    where = f"{ENTRY}: {column}"
    if not isinstance(column, str) or not isinstance(text, str):
        raise ScenarioError(f'{where}: a formula is text; write {column} = "wage + benefits"', argument=ENTRY)
    refused = ScenarioError(f"{where}: its formula cannot be read; it may have {GRAMMAR}", argument=ENTRY)
    names = {f"{STAND_IN}{at}": name for at, name in enumerate(QUOTED.findall(text))}
    stand_ins = iter(names)
    bare = QUOTED.sub(lambda _: f" {next(stand_ins)} ", text)
    if len(text) > LONGEST or any(name in text for name in names):
        raise refused
    try:
        tree = ast.parse(bare.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refused from None
    found: dict[str, None] = {}
    _check(tree, names, found, refused, DEEPEST)
    if not found:
        raise ScenarioError(f"{where}: its formula names no column", argument=ENTRY)
    return DerivedFormula(column, text, tuple(found), tree, {**{name: name for name in found}, **names})


def _check(node: ast.expr, names: Mapping[str, str], found: dict[str, None], refused: ScenarioError, room: int) -> None:
    """Refuse all but arithmetic, and note the columns."""
    inner: Sequence[ast.expr] = ()
    match node:
        case ast.Constant() if is_number(node.value):
            pass
        case ast.Name():
            found[names.get(node.id, node.id)] = None
        case ast.BinOp() if isinstance(node.op, SIGNS):
            inner = (node.left, node.right)
        case ast.UnaryOp() if type(node.op) in UNARY:
            inner = (node.operand,)
        case ast.Call(func=ast.Name("round"), args=[_, *digits], keywords=[]) if _digits(digits) is not None:
            inner = node.args[:1]
        case ast.Call(func=ast.Name(id=name), args=[_], keywords=[]) if name in FUNCTIONS:
            inner = node.args
        case _:
            raise refused
    if not room:
        raise refused
    for part in inner:
        _check(part, names, found, refused, room - 1)


def _digits(given: Sequence[ast.expr]) -> int | None:
    """Digits of ``round``: 0 where none are given, None where they are no whole number between -15 and 15."""
    match given:
        case []:
            return 0
        case [ast.Constant(value=int(digits))] if not isinstance(digits, bool) and digits <= MOST_DIGITS:
            return digits
        case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(digits)))] if digits <= MOST_DIGITS:
            return -digits
    return None
