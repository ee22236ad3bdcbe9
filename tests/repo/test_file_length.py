"""A file of more than 500 lines of code is two files; docstrings, comments and blank lines do not count."""

from __future__ import annotations

import ast

from tree import ROOT, SRC, TESTS, none_offends, sources

LONGEST = 500
THIN = 3_000  # lines of the whole web app: what it shows is reckoned in other rooms
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(text: str) -> int:
    """Lines that hold code."""
    described: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            described.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in described
        for number, line in enumerate(text.splitlines(), 1)
    )


def test_a_file_is_short() -> None:
    lengths = {
        path: lines_of_code(path.read_text(encoding="utf-8"))
        for path in [*sources(), *sorted(TESTS.rglob("*.py"))]
    }
    none_offends(
        (f"{path.relative_to(ROOT)}: {length}" for path, length in lengths.items() if length > LONGEST),
        f"a file holds at most {LONGEST} lines of code",
    )


def test_the_app_is_thin() -> None:
    assert sum(lines_of_code(path.read_text(encoding="utf-8")) for path in (SRC / "app").rglob("*.py")) < THIN


def test_what_counts() -> None:
    assert (
        lines_of_code(
            '"""Words.\n\nMore.\n"""\n\n# Why.\nx = 1\n\n\ndef f():\n    """Say."""\n    return x\n'
        )
        == 3
    )
