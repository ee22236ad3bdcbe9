"""The pages on protection print what their code gives."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from tree import ROOT

PAGES = sorted((ROOT / "docs" / "protect").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_every_figure_is_what_the_code_gives(page: Path) -> None:
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert tried > 5
    assert page.read_text(encoding="utf-8").startswith(f"# `{page.stem}`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_that_shows_a_seed_says_why(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert ("seed=" not in text) or "[seeds](../seeds.md)" in text
