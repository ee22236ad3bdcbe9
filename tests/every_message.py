"""Every message of the package that has something filled in, read from its source, with a number in every place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product

from tree import SRC, nodes, parsed

ELSEWHERE = {"cli", "app"}  # what these say reaches no page, or counts no record
SAYING = ("Error", "Warning", "warn")


def messages(number: str) -> Iterator[tuple[str, str]]:
    """Place and text of every error and warning; what is no name in quotes is a number."""
    for path in sorted(SRC.rglob("*.py")):
        if path.relative_to(SRC).parts[0] in ELSEWHERE:
            continue
        for node in nodes(parsed(path)):
            if isinstance(node, ast.Call) and node.args and _called(node.func).endswith(SAYING):
                place = f"{path.relative_to(SRC).as_posix()}:{node.lineno}"
                yield from ((place, text) for text in _texts(node.args[0], number))


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _counts(call: ast.Call) -> bool:
    """Whether a call is `display.counted`: a number, its noun, and its plural if that is no s."""
    return _called(call.func) == "counted" and len(call.args) > 1


def _nouns(call: ast.Call, single: bool) -> Iterator[str]:
    plural = "s" if len(call.args) == 2 and not single else ""
    yield from (noun + plural for noun in _texts(call.args[1 if single else -1], "1"))


def _texts(given: ast.expr, number: str) -> Iterator[str]:
    if isinstance(given, ast.Constant):
        yield str(given.value)
    elif isinstance(given, ast.IfExp):
        yield from _texts(given.body, number)
        yield from _texts(given.orelse, number)
    elif isinstance(given, ast.JoinedStr):
        yield from map("".join, product(*(list(_texts(part, number)) for part in given.values)))
    elif isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        yield from map("".join, product(_texts(given.left, number), _texts(given.right, number)))
    elif isinstance(given, ast.FormattedValue) and isinstance(given.value, ast.Call) and _counts(given.value):
        yield from (f"{number} {noun}" for noun in _nouns(given.value, number == "1"))
    elif isinstance(given, ast.FormattedValue) and given.conversion == ord("r"):
        yield "'Abc'"
    elif isinstance(given, ast.FormattedValue) and isinstance(given.value, ast.IfExp):
        yield from _texts(given.value, number)
    elif isinstance(given, ast.FormattedValue) and isinstance(given.value, ast.BinOp):
        plural = isinstance(given.value.left, ast.Constant) and isinstance(given.value.left.value, str)
        yield "" if plural and isinstance(given.value.op, ast.Mult) else number
    else:
        yield number
