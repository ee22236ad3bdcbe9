"""Where the parts of the project are, for the tests that look at its files."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src" / "sdckit"
TESTS = ROOT / "tests"
LEFT_OUT = {".git", ".venv", ".lock-venv", ".cache", ".hypothesis", "__pycache__", "build", "dist"}
TEXT = {".py", ".md", ".toml", ".txt", ".html", ".css", ".jinja", ".json", ".csv", ".cfg", ".yml", ".yaml", ""}


def sources() -> list[Path]:
    """Every Python file of the package."""
    return sorted(SRC.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file; nobody changes it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """All that `ast.walk` goes through, kept: many rules look at every node of the sources."""
    return tuple(ast.walk(tree))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """A node and every statement below it: a tenth of what `ast.walk` goes through."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += below(node)


def below(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases that stand directly in one."""
    parts = ("body", "handlers", "cases", "orelse", "finalbody")
    return [inner for part in parts for inner in getattr(node, part, ())]


def none_offends(offenders: Iterable[object], rule: str) -> None:
    """One rule over many things: the message names everything that breaks it."""
    found = [str(one.relative_to(ROOT)) if isinstance(one, Path) else str(one) for one in offenders]
    assert not found, f"{rule}; {len(found)} do not:\n  " + "\n  ".join(found)


def text_files() -> list[Path]:
    """Every text file that belongs to the project: tracked, or new and not ignored."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
        found = [ROOT / name for name in listing.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive has no git
        found = [path for path in ROOT.rglob("*") if not LEFT_OUT.intersection(path.relative_to(ROOT).parts)]
    return [path for path in found if path.is_file() and path.suffix in TEXT]


def third_party(requirement: str) -> str:
    """The name in a requirement such as ``polars>=2.1``."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return found.group().lower()
