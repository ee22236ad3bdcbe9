"""Edit rules beside Polars' own filters (1.x) on the demo survey and a release whose years of marriage were swapped."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit import edit_rules

DEMO = sdc.load_demo()
RELEASE = sdc.rank_swap(DEMO, columns=["yrs_married"], p=30, seed=4).data


def test_broken_before_after_and_newly():
    rules = {"children": {"when": {"yrs_married": {"below": 1}}, "value": {"at_most": 1}}}
    result = edit_rules(DEMO, RELEASE, rules=rules, aligned=True)
    broken = (pl.col("yrs_married") < 1) & (pl.col("children") > 1)
    before, after = (frame.select(broken).to_series() for frame in (DEMO, RELEASE))
    assert before.sum() > 0
    assert (after & ~before).sum() > 0
    n = DEMO.height
    assert result.shares[0][0] == pytest.approx((before.sum() / n, after.sum() / n, (after & ~before).sum() / n))
