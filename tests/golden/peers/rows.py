"""The rows of the pages for those who come from another tool, and what a test tries of each.

A row of the tables under `SECTIONS` names what the other tool has, what stands here for it, and in its last column what
is compared: "equal", "differ" (both sides' figures are known and are not the same) or "none" (our call is run, there is
no figure of the other side). `Row.run` carries out the call exactly as the page writes it, with a value for each `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sdckit
from sdckit.errors import SdcError
from tree import ROOT

COMING = sorted((ROOT / "docs" / "coming-from").glob("*.md"))
SECTIONS = ("Call by call", "Output by output", "What runs there and is refused here")
CALL = re.compile(r"`(sdc\.[^`]+)`")
NAME = re.compile(r"`([a-z][a-z0-9_]*)`")
OUTPUT = "Output by output"
KINDS = ("equal", "differ", "none")


@dataclass(eq=False)
class Row:
    """A row of a page, and what was tried of it."""

    page: str
    section: str
    theirs: str
    here: str
    figures: str
    carried_out: set[int] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)

    @property
    def calls(self) -> list[str]:
        """The calls that the row writes."""
        return CALL.findall(self.here)

    @property
    def names(self) -> set[str]:
        """The figures that a row of outputs names; their values are read by `get`."""
        return set(NAME.findall(self.here)) if self.section == OUTPUT else set()

    def run(self, *data: Any, call: int = 0, **given: Any) -> Any:
        """Carry out a call of the row on files, with a value for each `...`; other values are given besides."""
        self.carried_out.add(call)
        return carry_out(self.calls[call], data, given)

    def refused(self, *data: Any, call: int = 0, **given: Any) -> None:
        """The call is an error of ours."""
        with pytest.raises(SdcError):
            self.run(*data, call=call, **given)

    def get(self, result: Any, *names: str) -> Any:
        """Figures of a result, or columns of a table, by their names."""
        self.read.update(names)
        values = [_value(result, name) for name in names]
        return values[0] if len(values) == 1 else values

    def equal(self, ours: Any, theirs: Any, *, rel: float = 1e-8, within: float = 0.0) -> None:
        """Compare our figure with the other side's, which is the same."""
        self.compared.add("equal")
        assert _plain(ours) == pytest.approx(_plain(theirs), rel=rel, abs=within or 1e-12)

    def differ(self, ours: Any, theirs: Any, *, expected: Any, rel: float = 1e-8) -> None:
        """Compare our figure with what it is known to be, and see that it is not the other side's."""
        self.compared.add("differ")
        assert _plain(ours) == pytest.approx(_plain(expected), rel=rel)
        assert _plain(ours) != pytest.approx(_plain(theirs), rel=1e-4)

    @property
    def outcome(self) -> str:
        """What the last column must say."""
        return "differ" if "differ" in self.compared else "equal" if self.compared else "none"


def _value(result: Any, name: str) -> Any:
    if isinstance(result, Mapping):
        return result[name]
    is_table = hasattr(result, "columns") and hasattr(result, "__getitem__")
    return result[name] if is_table and name in result.columns else getattr(result, name)


def _plain(figure: Any) -> Any:
    if isinstance(figure, Mapping):
        return {str(key): float(value) for key, value in figure.items()}
    if np.ndim(figure) == 0:
        return float(figure)
    return np.asarray(figure, float).reshape(-1).tolist()


class _Filled(ast.NodeTransformer):
    """Puts files and values into a call: files first into the function of sdckit that it starts with."""

    def __init__(self, n_files: int, given: Mapping[str, Any]) -> None:
        self.n_files, self.given, self.used = n_files, given, set[str]()

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        named = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        node.args = [self.value(named) if _open(argument) else argument for argument in node.args]
        for keyword in node.keywords:
            if keyword.arg and (_open(keyword.value) or keyword.arg in self.given):
                keyword.value = self.value(keyword.arg)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):  # sdc.something
            node.args = [*(_named("files", i) for i in range(self.n_files)), *node.args]
            self.first = node
        return node

    def value(self, name: str) -> ast.expr:
        self.used.add(name)
        return _named("given", name)

    def whole(self, tree: ast.Expression) -> ast.Expression:
        self.visit(tree)
        others = [name for name in self.given if name not in self.used]
        self.first.keywords += [ast.keyword(arg=name, value=_named("given", name)) for name in others]
        return ast.fix_missing_locations(tree)


def _open(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _named(holder: str, key: int | str) -> ast.expr:
    return ast.Subscript(ast.Name(holder, ast.Load()), ast.Constant(key), ast.Load())


def carry_out(call: str, files: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """The value of a call as a page writes it.

    >>> carry_out("sdc.combine(kind='partial').estimate", ([1.0, 3.0], [1.0, 1.0]), {})
    2.0
    >>> carry_out("sdc.Scenario(keys=...).keys", (), {"keys": ["sex"]})
    ('sex',)
    """
    tree = _Filled(len(files), given).whole(ast.parse(call, mode="eval"))
    return eval(compile(tree, call, "eval"), {"sdc": sdckit, "files": files, "given": given})


def rows_of(page: Path) -> Iterator[Row]:
    """The rows of a page's tables under `SECTIONS`, those without a column of figures included."""
    section, header = "", []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section, header = line.removeprefix("## "), []
        if not line.startswith("|"):
            header = []
        elif section in SECTIONS:
            cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
            if not header:
                header = cells
            elif not set(line) <= set("|- "):
                yield Row(page.stem, section, cells[0], cells[1], cells[-1] if header[-1] == "figures" else "")


Trial = Callable[[Row], None]


class Trials:
    """What is tried of the rows of one page, by the row's first cell."""

    def __init__(self) -> None:
        self.by_row: dict[str, Trial] = {}

    def __call__(self, *theirs: str) -> Callable[[Trial], Trial]:
        def keep(trial: Trial) -> Trial:
            for cell in theirs:
                assert cell not in self.by_row, cell
                self.by_row[cell] = trial
            return trial

        return keep
