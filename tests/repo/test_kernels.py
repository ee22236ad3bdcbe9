"""Kernels are called with few things: arrays that belong together come in a named tuple."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tree import ROOT, SRC, none_offends, parsed, sources, statements

MOST = 10


def kernels(path: Path) -> list[ast.FunctionDef]:
    return [
        node
        for node in statements(parsed(path))
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(one) for one in node.decorator_list)
    ]


@cache
def compiled() -> dict[Path, list[ast.FunctionDef]]:
    return {path: found for path in sources() if (found := kernels(path))}


def test_kernels_are_recognised():
    assert SRC / "identity" / "special_uniques" / "minimal_uniques.py" in compiled()
    importing = {path for path in sources() if "import njit" in path.read_text(encoding="utf-8")}
    assert importing <= compiled().keys()


def too_many(kernel: ast.FunctionDef) -> bool:
    given = kernel.args
    n = len(given.posonlyargs + given.args + given.kwonlyargs)
    return n > MOST or given.vararg is not None or given.kwarg is not None


def test_a_kernel_takes_few_arguments() -> None:
    none_offends(
        (
            f"{path.relative_to(ROOT)}:{kernel.lineno} {kernel.name}"
            for path, found in compiled().items()
            for kernel in found
            if too_many(kernel)
        ),
        f"a kernel takes at most {MOST} arguments, each by its name: group those that belong together",
    )
