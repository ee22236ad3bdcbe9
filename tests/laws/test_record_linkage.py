"""B2: credit by all distances, and what must not change it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import record_linkage

DISTANCES = st.sampled_from(["gower", "euclidean", "manhattan"])
VALUE = st.one_of(st.integers(-4, 4).map(float), st.none())


@st.composite
def pairs(draw):
    """An original and a release of two numbers with repeats and gaps, neither constant."""
    n = draw(st.integers(0, 15))
    columns = [draw(st.lists(VALUE, min_size=n, max_size=n)) for _ in range(4)]
    files = [pl.DataFrame({"x": [0.0, 1.0, *a], "y": [5.0, 3.0, *b]}) for a, b in (columns[:2], columns[2:])]
    return files[0], files[1], draw(DISTANCES)


def linked(original, released, distance, **options):
    return record_linkage(original, released, variables=["x", "y"], distance=distance, **options)


def all_distances(original, released, distance):
    """Released rows down, originals across."""
    sums, p = 0.0, 2 if distance == "euclidean" else 1
    for name in ("x", "y"):
        a, b = (frame[name].to_numpy().astype(float) for frame in (released, original))
        both = np.concatenate([a, b])
        largest = np.nanmax(both) - np.nanmin(both)
        away = np.abs(a[:, None] - b[None])
        away[np.isnan(a)[:, None] != np.isnan(b)[None]] = largest
        away[np.isnan(a)[:, None] & np.isnan(b)[None]] = 0.0
        if distance == "gower":
            missing = np.isnan(a)[:, None] != np.isnan(b)[None]
            away = np.where(missing, 1.0, away / largest if largest else 0.0) / 2
        sums = sums + away**p
    return sums ** (1 / p)


@given(pairs(), st.integers(1, 3))
def test_credit_is_the_chance_among_those_drawn(drawn, n_best):
    original, released, distance = drawn
    n_best = min(n_best, len(original))
    away = all_distances(*drawn)
    expected = []
    for i, row in enumerate(away):
        closer, tied = (row < row[i] - 1e-9).sum(), (np.abs(row - row[i]) <= 1e-9).sum()
        expected.append(min(max(n_best - closer, 0), tied) / tied)
    result = linked(original, released, distance, n_best=n_best)
    assert result.records["correct"].to_list() == pytest.approx(expected)
    assert result.records["distance"].to_list() == pytest.approx(away.min(axis=1), abs=1e-12)
    rows = np.array(result.records["linked_row"]) - 1
    assert away[np.arange(len(away)), rows] == pytest.approx(away.min(axis=1), abs=1e-12)


@given(pairs(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(drawn, random):
    original, released, distance = drawn
    order = random.sample(range(len(original)), len(original))
    here, there = linked(original, released, distance), linked(original[order], released[order], distance)
    assert there.rate == pytest.approx(here.rate)
    assert there.records["correct"].to_list() == pytest.approx([here.records["correct"][i] for i in order])


@given(pairs())
def test_more_candidates_never_lower_the_rate(drawn):
    rates = [linked(*drawn, n_best=k).rate for k in (1, 2)]
    assert rates[0] <= rates[1] + 1e-12
    assert linked(*drawn, n_best=len(drawn[0])).rate == 1.0


@given(pairs())
def test_identical_files(drawn):
    original, _, distance = drawn
    result = linked(original, original, distance)
    copies = [original.rows().count(row) for row in original.rows()]
    assert result.correct_links == pytest.approx(len(set(original.rows())))
    assert result.records["correct"].to_list() == pytest.approx([1 / c for c in copies])
    assert result.mean_distance == 0
    assert "the original's values" in result.notes["released"]


@given(pairs())
def test_the_assignment_is_no_worse_than_leaving_rows_in_place(drawn):
    result = linked(*drawn, method="assignment")
    away = all_distances(*drawn)
    assert sorted(result.records["linked_row"]) == list(range(1, len(away) + 1))
    assert result.mean_distance <= np.diag(away).mean() + 1e-12
    assert 0 <= result.rate <= 1
