"""E4 to E7: what perturbation keeps, whatever the data."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from protect.plain_mdav import plain_mdav, same_partition
from sdckit import add_noise, microaggregate, pram, rank_swap, shuffle
from sdckit.protect.recoding.mdav_kernel import mdav_groups

PRESENT = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6, width=32))
NUMBER = st.one_of(PRESENT, st.none())
SEED = st.integers(0, 1000)


@st.composite
def frames(draw, *, gaps=True):
    """Two columns of numbers that differ, one of categories and one that nobody names."""
    n = draw(st.integers(0, 25))
    some = NUMBER if gaps else PRESENT
    columns = [draw(st.lists(some, min_size=n, max_size=n)) for _ in range(2)]
    level = draw(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n, max_size=n))
    return pl.DataFrame(
        {
            "x": [0.0, 1.0, 2.0, 4.0, *columns[0]],
            "y": [9.0, 3.0, 3.0, 1.0, *columns[1]],
            "c": pl.Series(["a", "b", "a", "c", *level], dtype=pl.Categorical),
            "own": range(n + 4),
        }
    )


def kept(before, after, *changed):
    """The other columns, all types and the rows' order are as they were; so are the gaps."""
    assert after.schema == before.schema
    assert after.drop(changed).equals(before.drop(changed))
    for name in changed:
        assert after[name].is_null().equals(before[name].is_null())


@given(
    frames(),
    st.integers(2, 4),
    st.sampled_from(["mdav", "univariate", "individual_ranking", "pca", "simple", "single"]),
)
def test_means_of_k_keep_the_mean(frame, k, method):
    data, change = microaggregate(frame, columns=["x", "y"], k=k, how=method)
    kept(frame, data, "x", "y")
    for name in ("x", "y"):
        present = data[name].drop_nulls()
        assert present.mean() == pytest.approx(frame[name].mean(), rel=1e-9, abs=1e-7)
        assert change.changed[name] == (data[name] != frame[name]).sum()
        low, high = frame[name].min(), frame[name].max()
        assert present.is_between(low, high).all()
        assert present.value_counts()["count"].min() >= k


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 3))
def test_mdav_groups(seed, k, d):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 60))
    z = rng.integers(0, 9, (n, d)) / rng.integers(1, 9)
    found = mdav_groups(z, k)
    sizes = np.bincount(found)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert same_partition(found, plain_mdav(z, k))


@given(frames(), SEED, st.floats(0, 1), st.floats(0, 1))
def test_pram_keeps_the_shares_in_expectation(frame, seed, pd, alpha):
    data, change = pram(frame, columns=["c"], pd=pd, alpha=alpha, seed=seed)
    kept(frame, data, "c")
    assert set(data["c"]) <= set(frame["c"])
    (matrix,) = change.secret["matrix"]["c"]
    before = dict(frame["c"].drop_nulls().cast(pl.String).value_counts().rows())
    after = dict.fromkeys(before, 0.0)
    for level, row in matrix.items():
        assert sum(row.values()) == pytest.approx(1)
        for target, chance in row.items():
            after[target] += before[level] * chance
    assert after == pytest.approx(before)
    assert data.equals(pram(frame, columns=["c"], pd=pd, alpha=alpha, seed=seed).data)


@given(frames(), SEED, st.floats(0.1, 100))
def test_noise_is_drawn_anew_by_another_seed(frame, seed, noise):
    data, _ = add_noise(frame, columns=["x"], noise=noise, seed=seed)
    kept(frame, data, "x")
    other, _ = add_noise(frame, columns=["x"], noise=noise, seed=seed + 1)
    assert data.equals(add_noise(frame, columns=["x"], noise=noise, seed=seed).data)
    assert not data.equals(other)


@given(frames(), SEED, st.floats(1, 99))
def test_rotations_keep_sums_and_squares(frame, seed, noise):
    whole = frame.drop_nulls(["x", "y"])
    data, _ = add_noise(whole, columns=["x", "y"], how="romm", noise=noise, seed=seed)
    kept(whole, data, "x", "y")
    a, b = (one.select("x", "y").to_numpy() for one in (whole, data))
    scale = np.abs(a).max() + 1
    assert b.sum(axis=0) == pytest.approx(a.sum(axis=0), abs=1e-9 * scale * len(a))
    assert b.T @ b == pytest.approx(a.T @ a, rel=1e-8, abs=1e-9 * scale**2)


@given(frames(), SEED, st.floats(40, 100))
def test_rank_swap_is_a_permutation_within_its_window(frame, seed, p):
    data, change = rank_swap(frame, columns=["x", "y"], p=p, seed=seed)
    kept(frame, data, "x", "y")
    for name in ("x", "y"):
        before, after = frame[name].drop_nulls(), data[name].drop_nulls()
        assert after.sort().equals(before.sort())
        window = change.secret["window"][name]
        assert window <= p / 100 * len(before) + 1e-9
        # of equal values the ranks nearest to each other
        ordered = before.sort().to_numpy()
        low, high = (
            np.searchsorted(ordered, after.to_numpy()),
            np.searchsorted(ordered, after.to_numpy(), "right") - 1,
        )
        own_low = np.searchsorted(ordered, before.to_numpy())
        own_high = np.searchsorted(ordered, before.to_numpy(), "right") - 1
        apart = np.maximum(np.maximum(low - own_high, own_low - high), 0)
        assert apart.max() <= window
    assert data.equals(rank_swap(frame, columns=["x", "y"], p=p, seed=seed).data)


@given(frames(gaps=False), SEED, st.booleans())
def test_shuffled_values_are_the_same_values(frame, seed, use):
    given = ["y"] if use else []
    data, _ = shuffle(frame, columns=["x"], given=given, seed=seed)
    kept(frame, data, "x")
    assert data["x"].sort().equals(frame["x"].sort())
    assert data.equals(shuffle(frame, columns=["x"], given=given, seed=seed).data)
