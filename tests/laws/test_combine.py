"""F6 and F7: the order of files does not matter, nor units, nor which interval comes first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit import combine, interval_overlap

KINDS = ("partial", "full", "simple", "proper")
NUMBER = st.floats(-1e3, 1e3).map(lambda x: round(x, 3))
SIZE = st.floats(0.01, 1e3).map(lambda x: round(x, 3))
SIZES = {"n": 40, "n_synthetic": 40}
ARRAYS = ("estimate", "variance", "df", "low", "high")


@st.composite
def files(draw):
    m = draw(st.integers(2, 6))
    pick = st.lists(NUMBER, min_size=m, max_size=m), st.lists(SIZE, min_size=m, max_size=m)
    return tuple(np.array(draw(one)) for one in pick)


def figures(q, v, kind, **options):
    found = combine(q, v, kind=kind, **{**SIZES, **options})
    return np.array([getattr(found, name) for name in ARRAYS])


@given(files(), st.sampled_from(KINDS), st.randoms())
def test_the_order_of_the_files_does_not_matter(drawn, kind, random):
    q, v = drawn
    order = random.sample(range(len(q)), len(q))
    found, other = figures(q, v, kind), figures(q[order], v[order], kind)
    spread = (1 + 1 / len(q)) * q.var(ddof=1)
    if kind == "full" and abs(spread - v.mean()) < 1e-3 * spread + 1e-9:
        return  # on the edge of being replaced, where rounding decides
    np.testing.assert_allclose(other[:2], found[:2], rtol=1e-9, atol=1e-9)


@given(files(), st.sampled_from(("partial", "simple", "proper")))
def test_shifts_and_units(drawn, kind):
    q, v = drawn
    found, other = figures(q, v, kind), figures(2 * q + 3, 4 * v, kind)
    assert other[0] == pytest.approx(2 * found[0] + 3, abs=1e-9)
    assert other[1] == pytest.approx(4 * found[1], rel=1e-9)
    assert other[4] - other[3] == pytest.approx(2 * (found[4] - found[3]), rel=1e-6)


@given(files())
def test_files_that_agree_leave_the_variance_of_one(drawn):
    q, v = drawn
    same = combine(np.full(len(q), q[0]), v, kind="partial")
    assert same.variance == pytest.approx(v.mean())
    assert same.df > 1e6


@given(files(), st.integers(1, 400))
def test_drawing_the_parameters_costs_precision(drawn, n_synthetic):
    simple, proper = (figures(*drawn, kind, n_synthetic=n_synthetic) for kind in ("simple", "proper"))
    assert simple[1] < proper[1]
    assert simple[0] == proper[0]


@given(files())
def test_a_higher_level_is_wider(drawn):
    narrow, wide = (combine(*drawn, kind="partial", level=level) for level in (0.8, 0.95))
    assert wide.low <= narrow.low <= narrow.high <= wide.high


INTERVAL = st.tuples(NUMBER, SIZE).map(lambda one: (one[0], one[0] + one[1]))


@given(INTERVAL, INTERVAL)
def test_overlaps(one, other):
    found = interval_overlap(one, other)
    assert found <= 1
    assert found == interval_overlap(other, one)
    assert interval_overlap(one, one) == 1
    assert interval_overlap(one, other, version="drechsler_reiter") == max(found, 0)
    moved = interval_overlap(2 * np.array(one) + 1, 2 * np.array(other) + 1)
    assert moved == pytest.approx(found, abs=1e-6)


def test_the_intervals_cover_as_often_as_they_say():
    """Simple synthesis of a mean: files drawn from a normal fitted to the sample, of another size."""
    rng = np.random.default_rng(5)
    n, n_synthetic, m, runs = 50, 25, 3, 4000
    sample = rng.normal(size=(runs, n))
    centre, spread = sample.mean(axis=1), sample.std(axis=1, ddof=1)
    drawn = rng.normal(size=(runs, m, n_synthetic)) * spread[:, None, None] + centre[:, None, None]
    q, v = drawn.mean(axis=2).T, (drawn.var(axis=2, ddof=1) / n_synthetic).T
    found = combine(q, v, kind="simple", n=n, n_synthetic=n_synthetic)
    covered = np.mean((np.array([*found.low.values()]) < 0) & (np.array([*found.high.values()]) > 0))
    assert covered == pytest.approx(0.95, abs=0.02)


def test_intervals_from_drawn_parameters_cover_as_often_as_they_say():
    """Proper synthesis: the mean and the variance drawn from their posterior first."""
    rng = np.random.default_rng(6)
    n, n_synthetic, m, runs = 50, 100, 2, 4000
    sample = rng.normal(size=(runs, n))
    centre, spread = sample.mean(axis=1), sample.var(axis=1, ddof=1)
    variance = spread[:, None] * (n - 1) / rng.chisquare(n - 1, (runs, m))
    mean = centre[:, None] + rng.normal(size=(runs, m)) * np.sqrt(variance / n)
    drawn = mean[..., None] + rng.normal(size=(runs, m, n_synthetic)) * np.sqrt(variance)[..., None]
    q, v = drawn.mean(axis=2).T, (drawn.var(axis=2, ddof=1) / n_synthetic).T
    found = combine(q, v, kind="proper", n=n, n_synthetic=n_synthetic)
    covered = np.mean((np.array([*found.low.values()]) < 0) & (np.array([*found.high.values()]) > 0))
    assert covered == pytest.approx(0.95, abs=0.02)
