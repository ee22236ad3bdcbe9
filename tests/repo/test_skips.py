"""A skip has one of three reasons, is counted aloud, and fails where everything is required."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tree import TESTS, none_offends

SKIPS = re.compile(r"pytest\.(skip|importorskip|xfail)\b|mark\.(skip|skipif|xfail)\b")
HERE = Path(__file__)

CASE = """
from needs import needs_chromium

def test_with_a_browser():
    needs_chromium()

def test_without():
    pass
"""
BREAKING = """
import pytest

@pytest.fixture
def breaks_at_the_end():
    yield
    raise ValueError("at the end")

def test_that_ends(breaks_at_the_end):
    pass
"""


def test_only_what_pip_cannot_install_is_a_reason() -> None:
    none_offends(
        (
            path
            for path in sorted(TESTS.rglob("*.py"))
            if path.name != "needs.py" and path != HERE and SKIPS.search(path.read_text(encoding="utf-8"))
        ),
        "a test skips through tests/needs.py only",
    )


def suite(folder: Path, *options: str, case: str = CASE, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a case above with this suite's own policy, where there is no browser."""
    for name in ("conftest.py", "needs.py", "offline.py", "sharing.py"):
        (folder / name).write_text((TESTS / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "test_case.py").write_text(case, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SDCKIT_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder],
        env={**kept, "PATH": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_skip_is_counted_with_its_reason(tmp_path: Path) -> None:
    done = suite(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "skipped tests: 1 (1 for want of Chromium)" in done.stdout


def test_a_skip_fails_where_everything_is_required(tmp_path: Path) -> None:
    """So does a fixture that breaks after its test, and both are heard of from another process."""
    done = suite(tmp_path, "-n", "1", case=CASE + BREAKING, SDCKIT_REQUIRE_ALL="1")
    assert done.returncode == 1
    assert "1 failed, 2 passed, 1 error" in done.stdout
    assert "ERROR test_case.py::test_that_ends - ValueError: at the end" in done.stdout
    assert "skipped, but SDCKIT_REQUIRE_ALL is set: Chromium" in done.stdout
