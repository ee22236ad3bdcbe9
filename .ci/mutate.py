"""Break the code in one place at a time, in a copy, and see whether a test of that file notices.

`python .ci/mutate.py report --sample 20 --seed 1` draws twenty one-line changes from the files of a room (a folder or
a file below `src/sdckit`), runs for each the tests that mirror its file and those that name it, and prints the changes
that no test saw. A change that changes nothing (an equivalent one) is for the reader to tell. Outside CI: a change
costs as much as its tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 150
MOST_FILES = 8  # of tests that name a file, and of those of files that import it
BOUNDARY = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
FLIPPED = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Is: "is not", ast.IsNot: "is"}
FLIPPED |= {ast.In: "not in", ast.NotIn: "in"}
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}
CALLS = {"max": "min", "min": "max", "any": "all", "all": "any", "abs": "", "sorted": "", "round": ""}
SIGN_TEXTS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    path: Path
    line: int
    kind: str
    start: int
    end: int
    new: str

    def apply(self, text: str) -> str:
        """Give the text with the change made."""
        return text[: self.start] + self.new + text[self.end :]


class Places:
    """Where the nodes of a file stand in its text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.lines = [0]
        for line in self.text.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        """The place of a line and a column, which the parser counts in bytes."""
        start = self.lines[line - 1]
        return start + len(self.text[start : self.lines[line]].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or 0, node.end_col_offset or 0)

    def change(self, node: ast.expr | ast.stmt, kind: str, new: str) -> Mutant:
        """Replace a node."""
        return Mutant(self.path, node.lineno, kind, *self.span(node), new)

    def between(self, left: ast.expr, right: ast.expr, old: str, kind: str, new: str) -> Iterator[Mutant]:
        """Replace an operator between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        found = re.search(rf"(?<![<>=!*/]){re.escape(old)}(?![=*/])", self.text[start:end])
        if found:
            yield Mutant(self.path, left.lineno, kind, start + found.start(), start + found.end(), new)

    def source(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]


def mutants(path: Path) -> list[Mutant]:
    """Every change of a file that is tried."""
    places = Places(path)
    found: list[Mutant] = []
    for node in _nodes(places.tree):
        found += _of_comparison(places, node)
        found += _of_expression(places, node)
        found += _of_statement(places, node)
    unique = {(one.start, one.end, one.new): one for one in found if one.apply(places.text) != places.text}
    return [one for one in unique.values() if _parses(one.apply(places.text))]


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those inside texts with places, whose columns the parser does not know."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, ast.JoinedStr):
            yield from _nodes(inner)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _of_comparison(places: Places, node: ast.AST) -> Iterator[Mutant]:
    """A boundary moved, or the comparison turned round."""
    if not isinstance(node, ast.Compare):
        return
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        old = _words(operator)
        for kind, table in (("boundary", BOUNDARY), ("comparison", FLIPPED)):
            if new := table.get(type(operator)):
                yield from places.between(left, right, old, kind, new)
        left = right


def _words(operator: ast.cmpop) -> str:
    words = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
    return {**words, ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}[type(operator)]


def _of_expression(places: Places, node: ast.AST) -> Iterator[Mutant]:
    """A constant moved by one, and for or, a sign turned, a `not` or a call left out."""
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        for step in (1, -1):
            yield places.change(node, "constant", repr(node.value + step))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield places.change(node, "constant", repr(not node.value))
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from places.between(left, right, old, f"{old} to {new}", new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield places.change(node, "not left out", f"({places.source(node.operand)})")
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        old = SIGN_TEXTS[type(node.op)]
        yield from places.between(node.left, node.right, old, "sign", SIGNS[type(node.op)])
    elif isinstance(node, ast.IfExp):
        yield places.change(node, "other branch", f"({places.source(node.orelse)})")
    elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in CALLS:
            yield places.change(node, "call", f"{CALLS[name]}({places.source(node.args[0])})")


def _of_statement(places: Places, node: ast.AST) -> Iterator[Mutant]:
    """A call or a return left out, a default changed, a condition always or never true."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield places.change(node, "call left out", "pass")
    elif isinstance(node, ast.Return) and node.value is not None:
        yield places.change(node, "return dropped", "return None")
    elif isinstance(node, ast.AugAssign):
        yield places.change(node, "assignment left out", "pass")
    elif isinstance(node, ast.If):
        for new in ("True", "False"):
            yield places.change(node.test, f"if {new}", new)


def tests_of(path: Path, root: Path) -> list[Path]:
    """The mirror of a file, the tests that name it (its module or what it defines), the mirrors of what imports it."""
    inside = path.relative_to(root / "src" / "sdckit")
    mirror = root / "tests" / inside.with_name(f"test_{inside.name}")
    module = "sdckit." + ".".join(inside.with_suffix("").parts)
    defined = [
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    words = re.compile("|".join([re.escape(module), *(rf"\b{re.escape(name)}\(" for name in defined)]) + r"\b")
    texts = {
        one: one.read_text(encoding="utf-8")
        for one in sorted((root / "tests").rglob("test_*.py"))
        if one != mirror and not {"engines", "repo"}.intersection(one.relative_to(root / "tests").parts)
    }
    parts = [module, *(f"{name}(" for name in defined)]  # most files have none, which is seen in no time
    named = [
        (len(found), one)
        for one, text in texts.items()
        if any(part in text for part in parts) and (found := words.findall(text))
    ]
    named.sort(key=lambda one: (-one[0], one[1]))
    using = [
        root / "tests" / one.relative_to(root / "src" / "sdckit").with_name(f"test_{one.name}")
        for one in sorted((root / "src").rglob("*.py"))
        if re.search(rf"^ *from {re.escape(module)} import ", one.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    real = [root / "tests" / "report" / "test_real_documents.py"] if inside.parts[0] == "report" else []
    wanted = [mirror, *(one for _, one in named[:MOST_FILES]), *using[:MOST_FILES], *real]
    return [one for one in dict.fromkeys(wanted) if one.is_file()]


def outcome(mutant: Mutant, copy: Path, seconds: float) -> tuple[str, float]:
    """What the tests say of a change: seen, SURVIVES, or endless (seen, too, where the machine is quiet)."""
    target = copy / mutant.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    began = time.monotonic()
    try:
        target.write_text(mutant.apply(original), encoding="utf-8")
        found = _tested(target, copy, seconds)
    finally:
        target.write_text(original, encoding="utf-8")
    return found, time.monotonic() - began


def _tested(target: Path, copy: Path, seconds: float) -> str:
    shutil.rmtree(copy / ".numba", ignore_errors=True) if "njit" in target.read_text(encoding="utf-8") else None
    variables = {**os.environ, "PYTHONPATH": str(copy / "src"), "NUMBA_CACHE_DIR": str(copy / ".numba")}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["--disable-warnings", str(target), *map(str, tests_of(target, copy))]
    with (
        tempfile.TemporaryFile() as out,
        subprocess.Popen(command, cwd=copy, env=variables, stdout=out, stderr=out, start_new_session=True) as process,
    ):
        try:
            return "seen" if process.wait(seconds) else "SURVIVES"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "endless"


def main() -> None:
    """Sample, run, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="folders or files below src/sdckit")
    parser.add_argument("--sample", type=int, default=20, help="changes of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the tests of one change")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long; 0: never")
    given = parser.parse_args()
    began, tried, left = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, copy)
        for room in given.rooms:
            place = ROOT / "src" / "sdckit" / room
            files = [place] if place.is_file() else sorted(place.rglob("*.py"))
            every = [one for path in files for one in mutants(path)]
            random.Random(given.seed).shuffle(every)
            for mutant in every[: given.sample]:
                if given.minutes and time.monotonic() - began > 60 * given.minutes:
                    break
                found, seconds = outcome(mutant, copy, given.seconds)
                tried, left = tried + (found != "endless"), left + (found == "SURVIVES")
                _say(mutant, found, seconds)
    print(f"{tried} changes, {left} seen by no test")  # noqa: T201 - a program


def _say(mutant: Mutant, found: str, seconds: float) -> None:
    text = mutant.path.read_text(encoding="utf-8")
    old = " ".join(text[mutant.start : mutant.end].split())[:70]
    where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
    change = f"{mutant.kind}: {old!r} -> {mutant.new[:70]!r}"
    print(f"{found:8} {where} {change} ({seconds:.0f} s)", flush=True)  # noqa: T201 - a program


if __name__ == "__main__":
    main()
