"""What a release gives away of canaries, against figures worked by hand."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit.attacks.planted.canary_exposure import canary_exposure
from sdckit.numerics.intervals import wilson

CANARIES = pl.DataFrame({"x": [0.0, 1.0, 5.0, 9.0], "c": list("aaab")})  # two planted, two held back
NEAR = pl.DataFrame({"x": [0.0, 1.4], "c": ["a", "a"]})
OTHER = pl.DataFrame({"x": [9.0], "c": ["b"]})
GIVEN = {"n_planted": 2, "numbers": ["x"], "categories": ["c"], "ranges": np.array([10.0]), "level": 0.9}


def test_by_hand():
    result = canary_exposure(CANARIES, NEAR, **GIVEN)
    assert result.records["distance"].to_list() == pytest.approx([0.0, 0.02, 0.18, 0.88])
    assert result.records["planted"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert result.records["exposure"].to_list()[:2] == pytest.approx([math.log2(3)] * 2)
    assert (result.auc, result.recovered, result.recovered_by_chance) == (1.0, 0.5, 0.0)
    assert result.p_value == pytest.approx(1 / 6)
    assert result.exposure_by_chance == pytest.approx(math.log2(3) - (0 + 1 + math.log2(3)) / 3)
    assert result.most_exposure == math.log2(3)
    assert (result.recovered_low, result.recovered_high) == (wilson(1, 2, 0.9).low, wilson(1, 2, 0.9).high)
    assert result.risk_low < result.risk < result.risk_high
    assert result.to_dict()["level"] == 0.9


def test_several_releases():
    both = canary_exposure(CANARIES, [NEAR, OTHER], **GIVEN)
    assert [one["auc"] for one in both.per_release] == [1.0, 0.0]
    assert both.auc == 0.5
    assert both.verdict.startswith("No sign of memory")
    assert both.notes["intervals"] == "their ends are means over the releases"
