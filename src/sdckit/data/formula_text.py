"""Parsing of model formulas: their two sides, the columns they name; only arithmetic and known functions pass."""

import ast
import io
import operator
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdckit.data import arguments, nearest
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

# Transformations of the formula language itself, and the functions of numpy that may be written bare.
TRANSFORMS = ("C", "I", "bs", "cc", "center", "cr", "cs", "poly", "scale")
LEARNING = TRANSFORMS[2:]  # take knots or means from the records
FUNCTIONS = ("abs", "cbrt", "exp", "expm1", "log", "log10", "log1p", "log2", "maximum", "minimum", "sign", "sqrt")
SPACES = ("np", "contr")
WORDS = ("True", "False", "None", "in")
QUOTED = re.compile(r"`([^`]+)`")
STAND_IN = "_quoted_name_"
REFUSED = ("|", "[", "]", "{", "}", ";", ":=", "@", "~", "!")


@dataclass(frozen=True)
class Sides:
    """A parsed formula.

    `outcome` and `terms`: left and right of the ``~``. `columns`: columns named on either side. `outcome_column`: the
    outcome, where it is a bare column. `term_columns`: columns on the right. `categories`: columns that occur only as
    the first argument of ``C()``.
    """

    outcome: str
    terms: str
    columns: tuple[str, ...]
    outcome_column: str | None
    term_columns: tuple[str, ...]
    categories: tuple[str, ...] = ()


def read_formula(formula: str, present: Sequence[str]) -> Sides:
    """Parse a formula and check that it names only existing columns and known functions.

    `formula`: ``outcome ~ terms``; names that are not identifiers are quoted in backticks. `present`: columns of
    the data. Raises ColumnError: a column is absent; DataError: it cannot be parsed, or uses anything but columns,
    numbers and known functions.

    >>> read_formula("log(income + 1) ~ C(sex) + `age in years`", ["income", "sex", "age in years"]).columns
    ('income', 'sex', 'age in years')
    """
    if not isinstance(formula, str):
        raise DataError(
            f"formula must be text such as 'income ~ age + sex', not {type(formula).__name__}", argument="formula"
        )
    sides = [side.strip() for side in QUOTED.sub(lambda match: match[0].replace("~", "\0"), formula).split("~")]
    sides = [side.replace("\0", "~") for side in sides]
    if len(sides) != 2 or not all(sides):
        raise DataError("formula must be 'outcome ~ terms', such as 'income ~ age + sex'", argument="formula")
    left, right = ([*named_columns(side, present)] for side in sides)
    names = tuple(dict.fromkeys(name for name, _ in (*left, *right)))
    bare = sides[0].removeprefix("`").removesuffix("`")
    return Sides(
        outcome=sides[0],
        terms=sides[1],
        columns=names,
        outcome_column=bare if [bare] == [name for name, _ in left] else None,
        term_columns=tuple(dict.fromkeys(name for name, _ in right)),
        categories=tuple(name for name in names if all(inside for other, inside in (*left, *right) if other == name)),
    )


def learns_from_records(formula: str) -> bool:
    """Whether a term depends on more than its own record: splines, polynomials, scaling.

    >>> learns_from_records("y ~ log(x) + C(z)"), learns_from_records("y ~ bs(x, df=4)")
    (False, True)
    """
    return any(re.search(rf"\b{word}\s*\(", QUOTED.sub("", formula)) for word in LEARNING)


def named_columns(text: str, present: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the columns that one side names, checked, each with whether it is the first argument of ``C()``.

    >>> list(named_columns("C(sex) * age", ["age", "sex"]))
    [('sex', True), ('age', False)]
    """
    check_extent(text)
    quoted = QUOTED.findall(text)
    places = iter(range(len(quoted)))
    tokens = _tokens(QUOTED.sub(lambda _: f" {STAND_IN}{next(places)} ", text))
    words = ["", "", *(word for _, word in tokens), ""]
    for i, (kind, word) in enumerate(tokens):
        further, before, after = words[i], words[i + 1], words[i + 3]
        if word in REFUSED:
            raise DataError(
                f"formula: {word!r} has no meaning here; combine columns by + - * : ** and functions",
                argument="formula",
            )
        if kind != tokenize.NAME or word in WORDS:
            continue
        if before == ".":
            if further not in SPACES or (further == "np" and word not in FUNCTIONS):
                raise DataError(f"formula: .{word} is not allowed; use {', '.join(FUNCTIONS)}", argument="formula")
        elif word.startswith(STAND_IN):
            name = quoted[int(word.removeprefix(STAND_IN))]
            _check(name, present)
            yield name, (further, before) == ("C", "(")
        elif after == "(":
            if word not in (*TRANSFORMS, *FUNCTIONS):
                raise DataError(
                    f"formula: there is no function {word!r}; {nearest.did_you_mean(word, (*FUNCTIONS, *TRANSFORMS))}",
                    argument="formula",
                )
        elif not (after == "=" or (word in SPACES and after == ".")):
            _check(word, present)
            yield word, (further, before) == ("C", "(")


# How far a formula may expand: before it is, since it would not end.


LONGEST = 20_000  # letters of a formula
MOST_TERMS = 2_000  # terms that powers and products of sums become
MOST_BITS = 64  # bits of a whole number
LANGUAGE = {":": "*", "^": "**", "%in%": "*"}  # signs of formulas that Python lacks, and what makes as many terms


def check_extent(text: str) -> None:
    """Refuse a formula that expands to too many terms, or that computes a power of numbers alone.

    Raises `DataError`.

    >>> check_extent("(a + b) ** 60")
    Traceback (most recent call last):
        ...
    sdckit.errors.DataError: formula: it expands to more than 2,000 terms; write the terms that the model needs
    """
    wide = DataError(
        f"formula: it expands to more than {MOST_TERMS:,} terms; write the terms that the model needs",
        argument="formula",
    )
    if len(text) > LONGEST:
        raise wide
    plain = re.sub(r"%in%|[:^]", lambda match: LANGUAGE[match[0]], QUOTED.sub(STAND_IN, text))
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
        terms = _terms(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the parser of formulas says what is wrong
        if "**" in plain or plain.count("*") > 1:
            raise DataError("formula cannot be read: check its brackets and signs", argument="formula") from None
        return
    if terms > MOST_TERMS:
        raise wide
    if any(map(_is_huge, ast.walk(tree))):
        raise DataError("formula: a number in it is too large, or a power of numbers within one", argument="formula")


def _is_huge(node: ast.AST) -> bool:
    """Whether a number, or a power of numbers alone, may have more digits than are worked with."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value.bit_length() > MOST_BITS
    if isinstance(node, ast.Call):  # of splines and polynomials: how many columns they become
        counts = [*node.args[1:2], *(word.value for word in node.keywords if word.arg in ("df", "degree"))]
        return any(isinstance(count, ast.Constant) and _number(count) > MOST_TERMS for count in counts)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
        return False
    if any(isinstance(part, ast.Name) for part in ast.walk(node)):
        return False
    power = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
    plain = isinstance(node.left, ast.Constant) and isinstance(power, ast.Constant)
    return not plain or _number(power) > MOST_BITS


def _number(node: ast.AST) -> float:
    value = getattr(node, "value", None)
    return value if isinstance(value, int | float) else 0


def _terms(node: ast.AST) -> int:
    """The terms that a tree expands to, at most; no more than a few beyond the limit are counted."""
    total = 0
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):  # long sums are deep trees
        total += _terms(node.right)
        node = node.left
    if isinstance(node, ast.UnaryOp):
        total += _terms(node.operand)
    elif isinstance(node, ast.BinOp):
        left = _terms(node.left)
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
            power = node.right.value if isinstance(node.right.value, int) else 1
            total += left ** min(power, 2 + MOST_TERMS.bit_length()) if left > 1 else max(power, 1)
        else:
            right = _terms(node.right)
            total += left + right + left * right
    else:
        total += 1
    return min(total, MOST_TERMS + 1)


class _Anything(list[str]):
    """Stands for columns that are not known yet: contains every name."""

    def __contains__(self, name: object) -> bool:
        return True


def formula_columns(formula: str) -> tuple[str, ...]:
    """The columns that a formula names, existing or not; empty if it cannot be parsed.

    >>> formula_columns("~ age * sex + log(income)")
    ('age', 'sex', 'income')
    """
    named = (name for side in formula.split("~", 1) for name, _ in named_columns(side, _Anything()))
    try:
        return tuple(dict.fromkeys(named))
    except DataError:
        return ()


def _tokens(text: str) -> list[tuple[int, str]]:
    unread = DataError("formula cannot be read: a bracket or quote is not closed, or a sign has no meaning")
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string.strip()]
    except (tokenize.TokenError, SyntaxError):
        raise unread from None
    if any(token.type == tokenize.ERRORTOKEN for token in tokens):
        raise unread
    return [(token.type, token.string) for token in tokens]


def _check(name: str, present: Sequence[str]) -> None:
    arguments.present([name], present, "formula", argument="formula", within="the original")


# Evaluation of an expression over columns: ``log(income + 1)``, ``I(age ** 2)``.


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
    """Evaluate an expression for each record (float64); NaN where it is undefined or infinite.

    Raises `DataError`: something other than columns, numbers, arithmetic, comparisons and known functions.

    >>> evaluate("I(`my age` ** 2) + log(x)", {"my age": np.array([2.0]), "x": np.array([1.0])}).tolist()
    [4.0]
    """
    with np.errstate(all="ignore"):
        values = np.asarray(_value(_parsed(text), _names(text, columns), text), np.float64)
    n = len(next(iter(columns.values()))) if columns else 1
    return np.where(np.isfinite(values), values, np.nan) if values.ndim else np.full(n, float(values))


def check_expression(text: str) -> None:
    """Check that an expression can be evaluated record by record.

    Raises `DataError`: splines, polynomials or scaling, which learn from the data; or another language.

    >>> check_expression("log(x + 1)")
    """
    tree = _parsed(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    quoted = dict.fromkeys(QUOTED.findall(text), np.ones(1))
    _value(tree, {**dict.fromkeys(names, np.ones(1)), **_names(text, quoted)}, text)


def _parsed(text: str) -> ast.expr:
    check_extent(text)
    places = iter(range(text.count("`")))
    try:
        return ast.parse(QUOTED.sub(lambda _: f"{STAND_IN}{next(places)}", text), mode="eval").body
    except SyntaxError:
        raise DataError(f"formula: {text!r} cannot be read", argument="predictors") from None


def _names(text: str, columns: Mapping[str, Floats]) -> dict[str, Floats]:
    return {**columns, **{f"{STAND_IN}{at}": columns[name] for at, name in enumerate(QUOTED.findall(text))}}


def _value(node: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return np.float64(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        return BINARY[type(node.op)](_value(node.left, names, text), _value(node.right, names, text))
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](_value(node.operand, names, text))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        left, right = _value(node.left, names, text), _value(node.comparators[0], names, text)
        return np.where(np.isnan(left) | np.isnan(right), np.nan, COMPARED[type(node.ops[0])](left, right))
    if isinstance(node, ast.Call) and not node.keywords and (function := _function(node.func)) is not None:
        return function(*(_value(arg, names, text) for arg in node.args))
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
