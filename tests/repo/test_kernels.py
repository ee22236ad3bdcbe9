"""Kernels are called with few things (arrays that belong together come in a named tuple) and are quick to compile."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tree import ROOT, SRC, none_offends, parsed, sources, statements

MOST = 10
NUMBERS = {"np.inf", "-np.inf", "False", "empty", "ones / (stop - start)"}  # by their names; others by their form


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


def copied_slices(kernel: ast.FunctionDef) -> list[str]:
    """Assignments of what may be an array to a slice."""
    return [
        ast.unparse(node)
        for node in ast.walk(kernel)
        if isinstance(node, ast.Assign)
        and ((any(map(is_slice, node.targets)) and not is_number(node.value)) or to_row(node))
    ]


def to_row(node: ast.Assign) -> bool:
    """Whether an array that is made there is assigned to a row: one of several values, or of a slice and a number."""
    made = ast.unparse(node.value).startswith("np.array(")
    made |= isinstance(node.value, ast.BinOp) and any(
        isinstance(side, ast.Subscript) and is_slice(side) for side in (node.value.left, node.value.right)
    )
    return made and any(isinstance(target, ast.Subscript) for target in node.targets)


def is_slice(target: ast.expr) -> bool:
    return any(isinstance(node, ast.Slice) for node in ast.walk(target))


def is_number(value: ast.expr) -> bool:
    """Whether it is a constant or a sum."""
    if isinstance(value, ast.Tuple):
        return all(map(is_number, value.elts))
    text = ast.unparse(value)
    return text in NUMBERS or text.endswith(".sum()") or text.isupper() or text.lstrip("-").replace(".", "").isdigit()


def given_apart() -> list[str]:
    """Kernels that are given a whole number written out here, and another number by the same argument there."""
    names = {kernel.name for found in compiled().values() for kernel in found}
    given: dict[tuple[str, int], dict[bool, str]] = {}
    for path, found in compiled().items():
        calls = (node for kernel in found for node in ast.walk(kernel) if isinstance(node, ast.Call))
        for call in calls:
            if isinstance(call.func, ast.Name) and call.func.id in names:
                for place, one in enumerate(call.args):
                    written_out = isinstance(one, ast.Constant) and type(one.value) is int
                    at = f"{path.relative_to(ROOT)}:{call.lineno} {call.func.id}: {ast.unparse(one)}"
                    given.setdefault((call.func.id, place), {})[written_out] = at
    return [both[True] for both in given.values() if len(both) > 1]


def test_a_kernel_is_given_no_number_written_out() -> None:
    none_offends(given_apart(), "a kernel is compiled for a number written out and for any number: give np.int64(0)")


def test_a_kernel_copies_element_by_element() -> None:
    none_offends(
        (
            f"{path.relative_to(ROOT)}:{kernel.lineno} {kernel.name}: {assignment}"
            for path, found in compiled().items()
            for kernel in found
            for assignment in copied_slices(kernel)
        ),
        "an array assigned to a slice takes 4 s to compile (a message of shapes that differ): use a loop",
    )
