"""A file longer than 400 lines is two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tree import ROOT, TESTS, sources

LONGEST = 400


@pytest.mark.parametrize(
    "path", [*sources(), *sorted(TESTS.rglob("*.py"))], ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST
