"""Whether values fit what a name says."""

from __future__ import annotations

from datetime import date

import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.plausible import fits_topic


@pytest.mark.parametrize(
    ("topic", "values", "fits"),
    [
        ("age", list(range(99)), True),
        ("age", [*range(90), 999], True),
        ("age", [1, 2, 3, 9], True),
        ("age", ["15-24", "25+"], True),
        ("age", [i * 10 for i in range(99)], False),
        ("a birth", list(range(1920, 2010)), True),
        ("a birth", list(range(1, 13)), True),
        ("a birth", [*range(1920, 2010), 9999], None),
        ("a birth", ["may", "june"], None),
        ("a date of birth", [date(1990, 1, 1)], True),
        ("a date of birth", ["1.1.1990"], None),
        ("sex or gender", [1, 2], True),
        ("sex or gender", list(range(40)), False),
        ("marital status", [1, 2, 3], True),
        ("marital status", [1.5, 2.5], False),
        ("the household's make-up", [1.0, 1.5, 1.8], True),
        ("occupation", list(range(40)), None),
    ],
)
def test_topics(topic, values, fits):
    assert fits_topic(facts_of(pl.Series("x", values)), topic) is fits
