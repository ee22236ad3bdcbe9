"""A kernel is kept under what it says: lines may move, but nothing that it calls or reads may change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

from sdckit.numerics.compiling import UNUSED, _as_text, digest

KERNELS = """
import sys
import numpy as np
from sdckit.numerics.compiling import heard, njit

FACTOR = 3
TABLE = np.array([1.0, 2.0])

@njit(cache=True)
def inner(x):
    return x + FACTOR

@njit(cache=True, fastmath={"nnan", "nsz", "reassoc"})
def outer(x):
    '''Words.'''
    return 2 * inner(x) + TABLE[0]

names = []
with heard(names.append):
    told = outer(1.0)
print(told, *names, sep="|")
"""


# Each text in turn is the file that the same process imports.
EACH = """
import importlib, json, linecache, pathlib, sys
for text in json.load(sys.stdin):
    pathlib.Path("kernels.py").write_text(text, encoding="utf-8")
    sys.modules.pop("kernels", None)
    importlib.invalidate_caches()
    linecache.clearcache()
    import kernels
"""


def run_each(folder: Path, *texts: str, seed: str = "0") -> list[list[str]]:
    """Run kernels in a process of their own, one text after the other: results, and the names of those compiled."""
    place = {"NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    # no .pyc: a file rewritten within the same second, with as many bytes, is taken for the one that was compiled
    done = subprocess.run(
        [sys.executable, "-B", "-c", EACH], cwd=folder, env={**os.environ, **place}, input=json.dumps(texts),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [line.split("|") for line in done.stdout.splitlines()]


def run(folder: Path, text: str, seed: str = "0") -> list[str]:
    """The same for one text."""
    (told,) = run_each(folder, text, seed=seed)
    return told


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the kernels were compiled, and read again by another process."""
    folder = tmp_path_factory.mktemp("kernels")
    first = run(folder, KERNELS)
    assert first[0] == "9.0"
    assert {"inner", "outer"} <= set(first[1:])
    assert run(folder, KERNELS, seed="7") == ["9.0"]
    return folder


CHANGES: dict[tuple[str, str], tuple[str, set[str]]] = {
    ("\nFACTOR", "\n# a comment\n\nFACTOR"): ("9.0", set()),
    ("Words.", "Other words."): ("9.0", set()),
    ("FACTOR = 3", "FACTOR = 4"): ("11.0", {"inner", "outer"}),
    ("x + FACTOR", "x - FACTOR"): ("-3.0", {"inner", "outer"}),
    ("[1.0, 2.0]", "[5.0, 2.0]"): ("13.0", {"outer"}),
    ("2 * inner", "3 * inner"): ("13.0", {"outer"}),
    (', "reassoc"', ""): ("9.0", {"outer"}),
}


def test_what_is_compiled_anew(compiled_once: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(compiled_once, folder)
    texts = [text for change in CHANGES for text in (KERNELS.replace(*change), KERNELS)]
    told = run_each(folder, *texts)
    changed = [(again[0], {name for name in again[1:] if name in ("inner", "outer")}) for again in told[::2]]
    assert dict(zip(CHANGES, changed, strict=True)) == CHANGES
    assert told[1::2] == [["9.0"]] * len(CHANGES)  # the one before is still there


def test_what_nobody_has_used_for_long_is_removed(compiled_once: Path, tmp_path: Path) -> None:
    shutil.copytree(compiled_once, tmp_path, dirs_exist_ok=True)
    kept = set((tmp_path / "kept").rglob("kernels.outer-*"))
    assert len(kept) == 2
    old = time.time() - UNUSED - 1
    for path in (tmp_path / "kept").rglob("*.nbi"):
        os.utime(path, (old, old))
    run(tmp_path, KERNELS)  # used: a year's end is no reason to compile anew
    assert all(path.stat().st_mtime > old + UNUSED / 2 for path in kept if path.suffix == ".nbi")
    for path in kept:
        os.utime(path, (old, old))
    run(tmp_path, KERNELS.replace("2 * inner", "3 * inner"))
    assert not [path for path in kept if path.exists()]
    assert len(set((tmp_path / "kept").rglob("kernels.outer-*"))) == 2


def test_where_nothing_can_be_written_a_kernel_runs_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("in the way", encoding="utf-8")
    assert run(tmp_path, KERNELS)[0] == "9.0"


@numba.njit
def counted(n: int) -> int:
    """A kernel with a line of its own in it."""
    return sum([i for i in range(n)])  # noqa: C416


def adding(step: int) -> Callable[[int], int]:
    """What a kernel reads from around it."""
    return lambda x: x + step


@numba.njit
def again(n: int) -> int:
    """Call itself."""
    return 0 if n == 0 else again(n - 1)


def test_digests() -> None:
    assert digest(counted) != digest(again)
    assert digest(counted) == digest(numba.njit(counted.py_func))
    assert digest(counted) != digest(numba.njit(nogil=True)(counted.py_func))
    added = [numba.njit(adding(step)) for step in (1, 2)]
    assert digest(added[0]) != digest(added[1])


def test_constants_as_text() -> None:
    assert _as_text({"b", "a"}) == _as_text({"a", "b"}) == "{str 'a', str 'b'}"
    assert _as_text(np.array([1, 2])) != _as_text(np.array([1, 3]))
    assert _as_text(np.uint64(3)) != _as_text(3)
    assert _as_text(np) == "numpy"
    assert "KeyError" in _as_text(KeyError)
