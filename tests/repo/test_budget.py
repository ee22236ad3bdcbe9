"""What the source may weigh: lines of code of each room, of all, of a file, and how many files there are.

The rooms' lines stand in `budget.toml`. After a change that makes a room longer or shorter

    PYTHONPATH=src:tests python tests/repo/test_budget.py

writes them anew. Their sum is the last figure under "Size" in `docs/decisions.md`: what makes the source shorter
lowers that figure by the same command; what makes it longer is a further entry there that says what took the lines.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median

from tree import ROOT, SRC, TESTS, none_offends, parsed, sources, statements

TABLE = Path(__file__).with_name("budget.toml")
DECISIONS = ROOT / "docs" / "decisions.md"
SIZE = re.compile(r"(?<=^- \*\*)[\d,]+(?= lines of code\.\*\* )", flags=re.MULTILINE)
HEAD = "# Lines of code of each room, written by test_budget.py; what a larger sum took stands in docs/decisions.md.\n"
SLACK = 0.01  # of the sum: a larger fall is written down, so that nobody fills it up again
LONGEST = 500  # lines of a file
THIN = 4_400  # lines of the whole web app: what it shows is reckoned in other rooms
FILES, TYPICAL = 483, 140  # without `__init__.py`: at most so many, in the middle at least so long
SHORT, MOST_SHORT = 40, 40  # a shorter file is rather part of its neighbour, but for so many
ONE_EACH = {"views", "commands"}  # rooms with a file for each measure or command, however short
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(text: str, tree: ast.Module) -> int:
    """Lines that hold code, of a file and its syntax tree."""
    described: set[int] = set()
    for node in statements(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            described.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in described
        for number, line in enumerate(text.splitlines(), 1)
    )


def length_of(path: Path) -> int:
    return lines_of_code(path.read_text(encoding="utf-8"), parsed(path))


def may_be_long(path: Path) -> bool:
    """Whether it has so many lines with text that those of its code may be too many: few files are read as code."""
    return sum(map(bool, map(str.strip, path.read_text(encoding="utf-8").splitlines()))) > LONGEST


@cache
def lengths() -> dict[Path, int]:
    """The lines of code of every file of the package."""
    return {path: length_of(path) for path in sources()}


def rooms() -> dict[str, int]:
    """The lines of code of every room; what stands in none is the room "sdckit"."""
    found: Counter[str] = Counter()
    for path, length in lengths().items():
        inside = path.relative_to(SRC)
        found[inside.parts[0] if len(inside.parts) > 1 else "sdckit"] += length
    return dict(sorted(found.items()))


def allowed() -> dict[str, int]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def exceeded(is_now: dict[str, int], may_be: dict[str, int]) -> list[str]:
    """The rooms that are longer than they may be, with by how much."""
    return [
        f"{room}: {length:,} lines, {length - may_be.get(room, 0):,} more than {may_be.get(room, 0):,}"
        for room, length in is_now.items()
        if length > may_be.get(room, 0)
    ]


def stated(text: str) -> int:
    """The last size that the page of decisions gives reasons for."""
    sizes = SIZE.findall(text.partition("\n## Size\n")[2].partition("\n## ")[0])
    assert sizes, "docs/decisions.md has a section Size with entries such as - **70,000 lines of code.** What took them"
    return int(sizes[-1].replace(",", ""))


def test_no_room_is_longer_than_it_may_be() -> None:
    none_offends(exceeded(rooms(), allowed()), "a room keeps to its lines of code (see the head of this file)")


def test_a_larger_sum_has_its_reason() -> None:
    may_be, reason_for = sum(allowed().values()), stated(DECISIONS.read_text(encoding="utf-8"))
    assert may_be == reason_for, (
        f"budget.toml sums up to {may_be:,} lines of code, docs/decisions.md gives reasons for {reason_for:,}: "
        "say under Size what took the difference"
    )


def test_a_fall_is_kept() -> None:
    is_now, may_be = sum(rooms().values()), sum(allowed().values())
    assert is_now >= may_be * (1 - SLACK), (
        f"{may_be - is_now:,} lines of code are free: write the table anew (see the head of this file)"
    )


def test_what_exceeds() -> None:
    assert exceeded({"data": 12, "cells": 5}, {"data": 10, "cells": 5}) == ["data: 12 lines, 2 more than 10"]
    assert exceeded({"new": 3}, {}) == ["new: 3 lines, 3 more than 0"]
    text = "\n## Size\n\n- **1,200 lines of code.** All.\n- **1,300 lines of code.** More.\n\n## Else\n"
    assert stated(text) == 1_300


def test_a_file_is_short() -> None:
    of_tests = {path: length_of(path) for path in sorted(TESTS.rglob("*.py")) if may_be_long(path)}
    none_offends(
        (
            f"{path.relative_to(ROOT)}: {length}"
            for path, length in {**lengths(), **of_tests}.items()
            if length > LONGEST
        ),
        f"a file holds at most {LONGEST} lines of code",
    )


def test_files_are_few_and_have_a_subject() -> None:
    files = {path: length for path, length in lengths().items() if path.name != "__init__.py"}
    short = [path for path, length in files.items() if length < SHORT and not ONE_EACH & {*path.parts}]
    assert len(files) <= FILES, f"{len(files)} files, {FILES} at most: what one neighbour uses stands in it"
    assert median(files.values()) >= TYPICAL
    assert len(short) <= MOST_SHORT, f"{len(short)} files are shorter than {SHORT} lines of code: {short}"


def test_the_app_is_thin() -> None:
    assert rooms()["app"] < THIN


def test_what_counts() -> None:
    text = '"""Words.\n\nMore.\n"""\n\n# Why.\nx = 1\n\n\ndef f():\n    """Say."""\n    return x\n'
    assert lines_of_code(text, ast.parse(text)) == 3


def write() -> None:
    """Write the table; a smaller sum goes into the last entry of the decisions."""
    is_now, text = rooms(), DECISIONS.read_text(encoding="utf-8")
    total, before = sum(is_now.values()), stated(text)
    TABLE.write_text(HEAD + "".join(f"{room} = {length}\n" for room, length in is_now.items()), encoding="utf-8")
    if total > before:
        raise SystemExit(
            f"{total - before:,} lines more than {before:,}: add under Size in docs/decisions.md\n"
            f"- **{total:,} lines of code.** What took them"
        )
    *_, last = SIZE.finditer(text)
    DECISIONS.write_text(text[: last.start()] + f"{total:,}" + text[last.end() :], encoding="utf-8")


if __name__ == "__main__":
    write()
