"""The overview on the affairs survey, by hand: three values in ten of one column dealt anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit import utility_overview


def test_the_affairs_survey():
    survey = sdc.load_demo()
    moved = np.arange(survey.height) % 10 < 3
    educ = survey["educ"].to_numpy().copy()
    educ[moved] = educ[moved][::-1]
    release = survey.with_columns(educ=pl.Series(educ))
    found = utility_overview(
        survey, release, variables=["educ", "occupation"], numeric=[], aligned=True, models="educ ~ occupation"
    )
    assert found.mean_total_variation == 0  # every margin is kept
    before, after = (Counter(frame.select("educ", "occupation").iter_rows()) for frame in (survey, release))
    by_hand = 1 - sum(abs(before[cell] - after[cell]) for cell in before | after) / 2 / survey.height
    assert found.contingency_similarity == pytest.approx(by_hand, rel=1e-12)
    slopes = [np.polyfit(f["occupation"].to_numpy(), f["educ"].to_numpy(), 1)[0] for f in (survey, release)]
    table = found["compare_models:educ ~ occupation"].table
    assert [table["estimate_original"][1], table["estimate_released"][1]] == pytest.approx(slopes, rel=1e-9)
