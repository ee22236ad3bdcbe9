"""The lessons of the course run from top to bottom, say nothing on the side, and end as they should."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tree import ROOT

FOLDER = ROOT / "docs" / "course"
LESSONS = sorted(FOLDER.glob("*.ipynb"))


def cells(lesson: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return found


def shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_a_lesson_runs(
    lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = {}
    made = [shown("".join(cell["source"]), names) for cell in cells(lesson) if cell["cell_type"] == "code"]
    assert made[-1] == True  # noqa: E712 - also one of NumPy
    printed = capfd.readouterr()
    assert printed.out + printed.err == ""


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.stem)
def test_a_lesson_keeps_no_output_and_has_exercises(lesson: Path) -> None:
    for cell in cells(lesson):
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]
    text = "\n".join("".join(cell["source"]) for cell in cells(lesson) if cell["cell_type"] == "markdown")
    assert text.startswith(f"# Lesson {lesson.stem[0]}: ")
    assert len(re.findall(r"^\d\. ", text.partition("## Try it")[2], re.MULTILINE)) == 3
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (FOLDER / target).exists(), target


def test_the_page_has_every_lesson_and_two_hours() -> None:
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[\w+\]\((.*?)\) \| (\d+) \|", page, re.MULTILINE)
    assert [name for name, _ in rows] == [lesson.name for lesson in LESSONS]
    assert sum(int(minutes) for _, minutes in rows) == 120
