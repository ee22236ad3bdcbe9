"""Names of coefficients as they may be told: without the levels that a few records have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sdckit.utility.models.carried_by_few import FEWEST

RARE = "rare"
MARKS = ("", "T.", "S.", "H.", "D.")  # how formulaic writes a level, by contrast
LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
Pieces = Mapping[str, str]  # a factor's names in columns, and how each is told


def common_levels(frame: Any, columns: Sequence[str]) -> dict[str, frozenset[str]]:
    """The levels of each category of a pandas frame that five records or more have; numbers have none."""
    found = {}
    for name in columns:
        if frame[name].dtype == "category":
            counts = frame[name].value_counts()
            found[name] = frozenset(str(label) for label, n in counts.items() if n >= FEWEST)
    return found


def told_names(names: Sequence[str], spec: Any, common: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """The names of a model's columns, levels of a few records as "rare".

    `spec`: what formulaic says of the columns. `common`: levels that may be named, by column. A name that is not
    recognised is that of its term alone.
    """
    anything = frozenset().union(*common.values())
    out: dict[str, str] = {}
    for one in spec.structure:
        factors = [(factor.expr, _pieces(factor, spec, common, anything)) for factor in one.term.factors]
        hidden = ":".join(f"{told_text(expression, anything)}[{RARE}]" for expression, _ in factors)
        plain = [str(expression) for expression, _ in factors] == ["1"]
        for name in map(str, one.columns):
            out[name] = name if plain else told_name(name, factors) or hidden
    return tuple(out.get(name, f"term[{RARE}]") for name in names)


def told_name(name: str, factors: Sequence[tuple[str, Pieces | None]]) -> str:
    """A column's name put together from what may be told of its factors; "" where that is not certain.

    `factors`: expression and pieces of each; None for one that is a number.

    >>> sex = {"sex[T.f]": "sex[T.f]", "sex[T.bishop]": "sex[rare]"}
    >>> told_name("sex[T.bishop]:bs(age, df=4)[2]", [("sex", sex), ("bs(age, df=4)", None)])
    'sex[rare]:bs(age, df=4)[2]'
    """
    found = set(_read(name, factors))
    return found.pop() if len(found) == 1 else ""


def told_text(text: str, common: frozenset[str]) -> str:
    """A formula, or a part of one, without words in quotes that are no common level.

    >>> told_text("C(job, contr.treatment(base='bishop')) + C(sex, contr.treatment(base='f'))", frozenset({"f"}))
    "C(job, contr.treatment(base='rare')) + C(sex, contr.treatment(base='f'))"
    """
    return LITERAL.sub(lambda found: found[0] if found[0][1:-1] in common else f"'{RARE}'", text)


def names_apart(names: Sequence[str]) -> list[str]:
    """The same names, those that occur again with a number behind them.

    >>> names_apart(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _read(rest: str, factors: Sequence[tuple[str, Pieces | None]]) -> Iterator[str]:
    """Every way to read a name as pieces of its factors in their order, told; a factor may have none (its base)."""
    for at, (expression, pieces) in enumerate(factors):
        for piece, told in _own(rest, expression) if pieces is None else pieces.items():
            behind = rest[len(piece) :]
            if rest == piece:
                yield told
            elif rest.startswith(piece) and behind.startswith(":"):
                yield from (f"{told}:{other}" for other in _read(behind[1:], factors[at + 1 :]))


def _own(rest: str, expression: str) -> list[tuple[str, str]]:
    """A number's names: as it stands, or the columns that it became."""
    if not rest.startswith(expression):
        return []
    index = re.match(r"\[\d+\]", rest[len(expression) :])
    piece = expression + (index[0] if index else "")
    return [(piece, piece)]


def _pieces(
    factor: Any, spec: Any, common: Mapping[str, frozenset[str]], anything: frozenset[str]
) -> Pieces | None:
    kind, state = spec.encoder_state.get(factor.expr, (None, {}))
    if "categories" not in (state or {}):
        return None if kind is None or kind.value != "categorical" else {}
    columns = {str(one) for one in spec.factor_variables.get(factor, ())} & common.keys()
    told = common[columns.pop()] if len(columns) == 1 else frozenset({"True", "False"})
    words = told_text(factor.expr, anything)
    hidden = f"{words}[{RARE}]"
    found: dict[str, str] = {}
    for level in map(str, state["categories"]):
        for mark in MARKS:
            piece = f"{factor.expr}[{mark}{level}]"
            common_one = level in told and found.get(piece) != hidden
            found[piece] = f"{words}[{mark}{level}]" if common_one else hidden
    for mark in (".L", ".Q", ".C", *(f"^{power}" for power in range(4, len(state["categories"])))):
        found.setdefault(f"{factor.expr}[{mark}]", f"{words}[{mark}]")
    return found
