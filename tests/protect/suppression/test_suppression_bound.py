"""No solution goes below the bound."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, fewest, free, needs, working
from sdckit.protect.suppression import suppression_bound
from sdckit.protect.suppression.suppression_bound import lower_bound, needs_of, needs_unbounded
from sdckit.protect.suppression.suppression_choices import find_choices


def bounds(rows, k, alpha=1.0):
    at = working(rows, alpha).situation(range(len(rows[0])))
    choices = find_choices(at, k, free(rows))
    found = needs_of(at, k, choices, free(rows))
    return lower_bound(at, k, choices, found, alpha), lower_bound(
        at, k, choices, needs_unbounded(at, k), alpha
    )


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_the_bound_is_below_the_fewest(missing):
    total = {"bound": 0, "fewest": 0}
    for seed in range(10):
        rows = draw_rows(seed, 5, (2, 3, 3), missing)
        for k in (2, 3):
            least, anyhow = bounds(rows, k)
            best = fewest(rows, k)
            assert min(anyhow, 1) <= anyhow <= least <= best
            total["bound"] += least
            total["fewest"] += best
    assert total["bound"] > 0.6 * total["fewest"]


def test_pairs_of_singles_need_one_value_each():
    rows = [(10 * i + j, i, i) for i in range(5) for j in range(2)]
    assert bounds(rows, 2)[0] == 5


def test_needs_are_those_of_a_record_alone():
    rows = draw_rows(3, 30, (3, 4, 5), missing=0.1)
    at = working(rows).situation([0, 1, 2])
    found = needs_of(at, 3, find_choices(at, 3, free(rows)), free(rows))
    expected = needs(rows, 3)
    for cell, n in zip(found.cells.tolist(), found.keys.tolist(), strict=True):
        i = int(at.first[cell])
        assert n == expected[i] if None not in rows[i] else n >= expected[i]


def test_a_short_search_gives_a_lower_bound_still(monkeypatch):
    rows = draw_rows(3, 30, (3, 4, 5), missing=0.1)
    usual = bounds(rows, 3)[0]
    monkeypatch.setattr(suppression_bound, "COMPARISONS", 0)
    assert 1 <= bounds(rows, 3)[0] <= usual


def test_without_risk_it_is_nothing():
    assert bounds([(1,), (1,)], 2) == (0, 0)


def test_only_records_that_lack_values():
    at = working([(None, 1), (None, 1), (1, 2), (1, 2), (1, 2)]).situation([0, 1])
    choices = find_choices(at, 3, free([(1, 2)]))
    found = needs_of(at, 3, choices, free([(1, 2)]))
    assert (len(choices.cells), found.keys.tolist()) == (0, [1])
    assert lower_bound(at, 3, choices, found) == 1
    assert np.array_equal(found.cells, at.at_risk(3))
