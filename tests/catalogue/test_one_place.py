"""A measure is spelt in few files, and whoever reads its row knows how it is shown."""

from __future__ import annotations

import re

import pytest

from sdckit.catalogue import CATALOGUE, Measure
from sdckit.report.view import find_view
from tree import SRC

TEXTS = {
    path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8")
    for pattern in ("*.py", "*.pyi")
    for path in SRC.rglob(pattern)
}


@pytest.mark.parametrize(("name", "most"), [("alpha_k", 4), ("suda", 5), ("l_diversity", 5), ("singling_out", 5)])
def test_few_files_name_a_measure(name: str, most: int) -> None:
    named = sorted(file for file, text in TEXTS.items() if re.search(rf"\b{name}\b", text))
    assert 0 < len(named) <= most, named


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_measure_has_a_view_or_a_reason_why_not(row: Measure) -> None:
    assert (find_view(row.name) is None) == bool(row.no_chart)
