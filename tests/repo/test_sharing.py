"""Tests that share what takes long to make run in one process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sharing import ROOT, share_of


def ids_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The id of each test of a file, and the names of its arguments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix()
    for outer in tree.body:
        inside = outer.body if isinstance(outer, ast.ClassDef) else [outer]
        within = f"{name}::{outer.name}" if isinstance(outer, ast.ClassDef) else name
        for one in inside:
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test"):
                yield f"{within}::{one.name}", {argument.arg for argument in one.args.args}


def test_there_is_one_spark() -> None:
    asking = [
        (nodeid, share_of(nodeid))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for nodeid, arguments in ids_in(path)
        if "spark" in arguments
    ]
    assert len(asking) > 10
    assert {share for _, share in asking} == {"spark"}, asking


def test_what_is_shared() -> None:
    assert share_of("tests/report/test_browser.py::test_a[one]") == "tests/report/test_browser.py"
    assert share_of("tests/report/test_real_documents.py::test_a[one]") == "real documents"
    alone = "tests/repo/test_sharing.py::test_what_is_shared"
    assert share_of(alone) == alone
    assert share_of("src/sdckit/gone.py::sdckit.gone") == "src/sdckit/gone.py::sdckit.gone"
