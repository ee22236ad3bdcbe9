"""The rows of A9, by hand."""

from __future__ import annotations

import math

import pytest

from sdckit.identity.contributions.contribution_table import Coarsened, Contribution, Figures, rank, suggest

WHOLE = Figures(10, 0.5, {2: 10, 3: 12})


def test_a_row():
    row = Contribution.of(("a", "b"), WHOLE, Figures(4, 0.25, {2: 4, 3: 9}), [1.0, 0.5])
    assert (row.uniques_saved, row.decides_alone, row.entropy_lost) == (6, 0.6, 1.5)
    assert row.suggestion == "without a and b, 6 of 10 sample uniques are gone: coarsen or drop it"
    done = suggest("drop", row.variables, row, WHOLE)
    assert (done.saved_per_bit, done.violations_saved, done.risk_saved) == (4, {2: 6, 3: 3}, 0.25)
    assert done.sentence == "leave out a and b: 6 of 10 sample uniques gone for 1.50 bits of information"


def test_no_uniques_leave_no_share():
    nobody = Figures(0, 0.1, {})
    row = Contribution.of(("a",), nobody, Figures(0, 0.1, {}), [0.0])
    assert math.isnan(row.decides_alone)
    assert row.suggestion == "a makes nobody unique"
    assert math.isnan(suggest("drop", ("a",), row, nobody).saved_per_bit)


def test_the_ranking_is_by_what_is_saved_per_bit():
    steps = [
        Coarsened("pairs", 8, 4, 10 - saved, saved, {2: 0, 3: 0}, 0.5 - risk, lost)
        for saved, risk, lost in ((4, 0.1, 2.0), (4, 0.1, 1.0), (0, 0.1, 1.0), (0, 0.0, 0.0), (0, 0.2, 1.0))
    ]
    ranked = sorted((suggest("coarsen", (str(i),), one, WHOLE) for i, one in enumerate(steps)), key=rank)
    assert [one.variables[0] for one in ranked] == ["1", "0", "4", "2", "3"]
    assert (
        ranked[0].sentence
        == "coarsen 1 (pairs, 8 to 4 levels; or group codes that belong together): 4 of 10 sample uniques gone for "
        "1.00 bits of information"
    )
    assert ranked[0].saved_per_bit == pytest.approx(4)
