"""The figures of (alpha, k)-anonymity; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario, alpha_k
from sdckit.errors import DataError

FRAME = pl.DataFrame({"k": list("aaaabbc"), "s": list("xxxyxyx"), "t": [1, 1, 1, 1, None, None, 2]})


def test_figures_and_records():
    result = alpha_k(FRAME, keys=["k"], sensitive=["s", "t"], limits=(0.5, 0.75), k=2)
    assert (result.k, result.small) == (1, 1)
    assert result.alpha == {"s": 1.0, "t": 1.0}
    assert result.violations == {"s": {0.5: 5, 0.75: 1}, "t": {0.5: 7, 0.75: 7}}
    assert result.records["alpha_s"].to_list() == [0.75] * 4 + [0.5] * 2 + [1.0]
    assert result.records.columns == ["alpha_s", "alpha_t"]


def test_the_k_of_the_scenario():
    scenario = Scenario(keys=["k"], sensitive=["s"], thresholds={"k": 3})
    assert alpha_k(FRAME, scenario=scenario).small == 3
    assert alpha_k(FRAME, scenario=scenario, k=2).small == 1
    assert alpha_k(FRAME, keys=["k"], sensitive="s").small == 1
    assert alpha_k(FRAME, keys=["k"], sensitive="s", k=1).small == 0


def test_classes_grow_by_wildcards():
    frame = pl.DataFrame({"k": ["a", "a", None], "s": ["x", "y", "y"]})
    assert alpha_k(frame, keys=["k"], sensitive="s").k == 1
    result = alpha_k(frame, keys=["k"], sensitive="s", missing="wildcard")
    assert (result.k, result.alpha["s"]) == (3, pytest.approx(2 / 3))


@pytest.mark.parametrize("k", [0, 2.5, True, "2"])
def test_a_k_that_counts_nothing(k):
    with pytest.raises(DataError, match="k counts records of a class; give a whole number of 1 or more"):
        alpha_k(FRAME, keys=["k"], sensitive="s", k=k)
