"""Where compiled kernels are kept, that nothing fails where they cannot be, and that compilation is heard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from sdckit.numerics import compiling
from sdckit.numerics.compiling import KernelCache, njit
from sdckit.numerics.threads import job

KERNEL = """
from sdckit.numerics.compiling import cache_folder, heard, njit
names = []
@njit(cache=True)
def double(x):
    return 2 * x
with heard(names.append):
    assert double(3) == 6
print(cache_folder(), *names, sep="|")
"""


def run(folder: Path, **variables: str) -> list[str]:
    """The kernel above in a process of its own: where it is kept, and what was compiled."""
    if not (folder / "kernel.py").exists():  # a file written anew is compiled anew
        (folder / "kernel.py").write_text(KERNEL, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    kept["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, folder / "kernel.py"], env=kept | variables, capture_output=True, text=True, check=True
    )
    return done.stdout.strip().split("|")


def test_a_kernel_is_kept_in_the_users_cache_and_compiled_once(tmp_path: Path) -> None:
    home = tmp_path / "cache"
    first, again = (run(tmp_path, XDG_CACHE_HOME=str(home)) for _ in range(2))
    assert first == [str(home / "sdckit" / "kernels"), "double"]
    assert again == first[:1]
    assert list(home.rglob("*.nbi"))
    assert os.name != "posix" or Path(first[0]).stat().st_mode & 0o777 == 0o700


def test_the_variable_of_numba_wins(tmp_path: Path) -> None:
    own = tmp_path / "own"
    told = run(tmp_path, NUMBA_CACHE_DIR=str(own), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert told == [str(own / "sdckit" / "kernels"), "double"]
    assert list(own.rglob("*.nbi"))
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert run(tmp_path, XDG_CACHE_HOME=str(tmp_path / "file"))[0] == "None"


def test_a_kernel_that_numba_can_keep_nowhere_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiling, "cache_folder", lambda: None)
    monkeypatch.setattr(Dispatcher, "enable_caching", refuse)
    assert compiling.njit(cache=True)(lambda x: x + 1)(2) == 3


def test_other_packages_keep_their_kernels_where_they_did() -> None:
    compiling.njit(cache=True)(lambda x: x)
    assert not isinstance(numba.njit(lambda x: x)._cache, KernelCache)


@njit(cache=True)
def wrapped(word: np.uint64) -> np.uint64:
    """A word that wraps around."""
    return word * np.uint64(2**63 + 1)


@njit(cache=True)
def both(words: np.ndarray, out: np.ndarray) -> None:
    """A kernel that calls another."""
    for i in range(len(words)):
        out[i] = wrapped(words[i])


@pytest.mark.usefixtures("nothing_compiled")
def test_only_the_first_job_goes_without_kernels() -> None:
    few = compiling.FEW
    assert not compiling.is_few(wrapped, few + 1)
    assert [compiling.is_few(wrapped, few) for _ in range(3)] == [True, True, False]  # calls outside of a job
    with job():
        with job():
            assert compiling.is_few(wrapped, few)
        assert compiling.is_few(wrapped, few)
        assert compiling.sparing(both, 2) is not both
    with job():
        assert not compiling.is_few(wrapped, few)
        assert compiling.sparing(both, 2) is both


@pytest.mark.usefixtures("nothing_compiled")
def test_numpy_does_so_much_and_no_more() -> None:
    with job():
        ways = [compiling.is_few(wrapped, compiling.FEW) for _ in range(compiling.SPENT // compiling.FEW + 2)]
    assert ways.count(False) == 1


@pytest.mark.usefixtures("nothing_compiled")
def test_little_is_done_without_compiling() -> None:
    words, out, names = np.array([3, 4], np.uint64), np.zeros(2, np.uint64), list[str]()
    with compiling.heard(names.append):
        compiling.sparing(both, 2)(words, out)
    assert out.tolist() == [2**63 + 3, 4]
    assert not names
    assert compiling.sparing(both, compiling.STEPS + 1) is both
    assert compiling.sparing(both, np.nan) is both
    with compiling.compiling_all():
        assert compiling.sparing(both, 1) is both
    with job():
        for _ in range(compiling.SPENT // compiling.STEPS):
            assert compiling.sparing(both, compiling.STEPS) is not both
        assert compiling.sparing(both, 1) is both
    again = np.zeros(2, np.uint64)
    both(words, again)
    assert again.tolist() == out.tolist()


def test_what_was_compiled_before_is_taken_as_it_is(tmp_path: Path) -> None:
    kernel = KERNEL.replace("heard, njit", "heard, njit, sparing").partition("with heard")[0]
    (tmp_path / "kernel.py").write_text(
        kernel + 'print(sparing(double, 1) is double, double.signatures, sep="|")\nassert double(3) == 6\n'
        'import sys\nprint(sparing(double, 1) is double, "numba.np.arraymath" in sys.modules, sep="|")\n',
        encoding="utf-8",
    )
    found = [" ".join(run(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))).split("\n") for _ in range(2)]
    # Loading it imports nothing that numba compiles with.
    assert found == [["False []", "True True"], ["True []", "True False"]]
