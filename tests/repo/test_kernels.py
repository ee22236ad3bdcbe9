"""Kernels are called with few things: arrays that belong together come in a named tuple."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tree import SRC, sources

MOST = 10


def kernels(path: Path) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list)
    ]


COMPILED = {path: found for path in sources() if (found := kernels(path))}


def test_kernels_are_recognised():
    assert SRC / "identity" / "special_uniques" / "minimal_search.py" in COMPILED
    importing = {path for path in sources() if "from numba import" in path.read_text(encoding="utf-8")}
    assert importing <= COMPILED.keys()


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: str(path.relative_to(SRC)))
def test_a_kernel_takes_few_arguments(path):
    for kernel in COMPILED[path]:
        given = kernel.args
        assert given.vararg is None
        assert given.kwarg is None
        n = len(given.posonlyargs + given.args + given.kwonlyargs)
        assert n <= MOST, f"{kernel.name} takes {n} arguments: group those that belong together"
