"""The worked example of the page on recoverable values is what the code gives."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "measures" / "recoverable_values.md"


def test_the_worked_example() -> None:
    done = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert done.failed == 0
    assert done.attempted > 20
