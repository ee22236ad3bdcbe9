"""No solution goes below the bound."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, fewest, free, frequencies, needs, without, working
from sdckit.protect.suppression import suppression_bound, suppression_bound as suppression_exact
from sdckit.protect.suppression.suppression_bound import bound_of, lower_bound, needs_of, solve
from sdckit.protect.suppression.suppression_choices import find_choices


def bounds(rows, k, alpha=1.0):
    at = working(rows, alpha).situation(range(len(rows[0])))
    choices = find_choices(at, k, free(rows))
    found = needs_of(at, k, choices, free(rows))
    return lower_bound(at, k, choices, found, alpha), bound_of(at, k, alpha)


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


def test_cells_that_are_near_none_that_lacks_a_value_are_not_grouped(monkeypatch):
    rows = draw_rows(3, 30, (3, 4, 9), missing=0.1)
    at, grouped, usual = working(rows).situation([0, 1, 2]), [], suppression_bound.group
    monkeypatch.setattr(suppression_bound, "group", lambda words: grouped.append(len(words)) or usual(words))
    needs_of(at, 3, find_choices(at, 3, free(rows)), free(rows))
    assert 2 < max(grouped) < len(at.size) / 2


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


# The integer programme finds the fewest suppressions.


def solved(rows, k, nodes=1000, least=0):
    at = working(rows).situation(range(len(rows[0])))
    found = needs_of(at, k, find_choices(at, k, free(rows)), free(rows))
    return solve(at, k, found.cells, found.keys, least, nodes)


@pytest.mark.parametrize(("seed", "k", "missing"), [(1, 2, 0.0), (2, 3, 0.0), (3, 2, 0.2), (4, 2, 0.0), (5, 3, 0.1)])
def test_fewest(seed, k, missing):
    rows = draw_rows(seed, 6, (2, 3, 3), missing)
    solution = solved(rows, k)
    assert solution.total == solution.bound == fewest(rows, k)
    left = [*rows]
    for i, mask in zip(solution.rows.tolist(), solution.masks.tolist(), strict=True):
        left[i] = without(rows[i], {j for j in range(3) if mask >> j & 1})
    assert min(frequencies(left)) >= k
    assert (
        sum(a != b for old, new in zip(rows, left, strict=True) for a, b in zip(old, new, strict=True))
        == solution.total
    )


def test_a_large_problem_is_not_tried(monkeypatch):
    rows = draw_rows(1, 12, (3, 4, 5))
    monkeypatch.setattr(suppression_exact, "MOST_RECORDS", 3)
    assert solved(rows, 3) is None
    monkeypatch.setattr(suppression_exact, "MOST_RECORDS", 100)
    monkeypatch.setattr(suppression_exact, "MOST_SETS", 10)
    assert solved(rows, 3) is None
    monkeypatch.setattr(suppression_exact, "MOST_SETS", 1000)
    assert solved(rows, 3) is not None
    monkeypatch.setattr(suppression_exact, "MOST_CANDIDATES", 10)
    assert solved(rows, 3) is None


def test_strata_do_not_match():
    rows = [(1, 1), (1, 2), (1, 1), (1, 2)]
    at = working(rows, strata=["a", "a", "b", "b"]).situation([0, 1])
    solution = solve(at, 2, at.at_risk(2), np.ones(4, np.int64), 0, 100)
    assert solution.total == 2


def test_a_programme_is_solved_once_and_another_by_itself(monkeypatch):
    """What is the same in records, k, bound and limit is remembered, and nobody can change what is."""
    calls = []
    solver = suppression_bound.solve_programme
    monkeypatch.setattr(suppression_bound, "solve_programme", lambda *_, **more: calls.append(1) or solver(*_, **more))
    suppression_bound._fewest.cache_clear()
    rows, others = draw_rows(11, 6, (2, 3, 3)), draw_rows(12, 6, (2, 3, 3))
    first = solved(rows, 2)
    first.masks[:] = 0
    again = solved(rows, 2)
    assert len(calls) == 1
    assert (again.masks.any(), again.total, again.bound) == (True, fewest(rows, 2), fewest(rows, 2))
    assert solved(rows, 3).total == fewest(rows, 3)
    assert solved(others, 2).total == fewest(others, 2)
    assert len(calls) == 3
    solved(rows, 2, nodes=10)
    solved(rows, 2, least=1)
    assert len(calls) == 5


def test_every_cell_within_reach_is_limited():
    codes = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]], np.int32)
    cells, stratum = np.arange(1, 5), np.array([0, 0, 0, 0, 1])
    priced = suppression_bound._Priced(np.ones(4), np.ones(4), 1.0, np.ones(4), np.full(4, 9.0))
    fixed = np.zeros(4, np.bool_)
    columns = np.ascontiguousarray(codes[cells].T)
    suppression_bound._limits_near.py_func(
        columns, stratum[cells], cells, codes, stratum, np.array([0]), np.array([2]), priced, fixed
    )
    # One key off, and two of them; three keys off, and as near in another stratum.
    np.testing.assert_allclose(priced.limit, [1 / 1.5, 1 / 1.5, 9, 9])
    assert fixed.tolist() == [True, True, False, False]


@pytest.mark.parametrize("n", [5, 100])  # cells with a price
@pytest.mark.parametrize("alpha", [1.0, 0.4])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_limits_by_groups_are_those_of_all_pairs(missing, alpha, n, monkeypatch):
    rows = draw_rows(1, 90, (6, 9, 8, 3), missing)
    at = working(rows, alpha).situation(range(4))
    choices, cells, none = find_choices(at, 3, free(rows), largest=0), at.at_risk(3), np.empty(0, np.int64)
    every = suppression_bound.Needs(
        cells, np.full(len(cells), 4), starts=np.zeros(1, np.int64), members=none, far=cells
    )
    dear, size = choices.cells[:n], at.size[choices.cells]
    price = (np.arange(len(size)) < n).astype(float)
    by_pairs, by_groups = (
        suppression_bound._Priced(size, 3 - at.frequency[choices.cells], alpha, price, np.ones(len(size)))
        for _ in range(2)
    )
    suppression_bound._limits_everywhere(at, dear, every.far, by_groups)
    suppression_bound._limits_near.py_func(
        np.ascontiguousarray(at.codes[dear].T), at.stratum[dear], dear, at.codes, at.stratum, every.far, every.keys,
        by_pairs, np.zeros(len(size), np.bool_),
    )  # fmt: skip
    np.testing.assert_allclose(by_groups.limit, by_pairs.limit, rtol=1e-12)
    assert by_groups.limit[:n].max() < 1
    bound = lower_bound(at, 3, choices, every, alpha)
    monkeypatch.setattr(suppression_bound, "_limits_near", None)  # so that it would fail
    monkeypatch.setattr(suppression_bound, "GROUPING", 0)
    assert lower_bound(at, 3, choices, every, alpha) == bound > 0
