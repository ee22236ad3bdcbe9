"""F1 and F2: what must hold for every pair of files, and that the nulls are right, by simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import cluster_utility, propensity

FEW = settings(max_examples=15)
LEVEL = st.sampled_from(["a", "b", "c", None])
NUMBER = st.one_of(st.integers(-3, 3), st.integers(-3, 3), st.none())


@st.composite
def tables(draw, min_rows=2, max_rows=14):
    """Two categories and a number, with values missing here and there."""
    n = draw(st.integers(min_rows, max_rows))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    frame = {"s": column(LEVEL), "t": column(LEVEL), "x": column(NUMBER)}
    frame["x"][0] = 1  # a number needs a value somewhere
    return pl.DataFrame(frame, schema={"s": pl.String, "t": pl.String, "x": pl.Float64})


def same(one, two, names=("pmse", "ratio", "specks", "po50", "auc", "n_parameters")):
    for name in names:
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-7, abs=1e-9, nan_ok=True), name


@FEW
@given(tables(), tables())
def test_all_products_give_the_table(original, released):
    """A saturated model's scores are the shares of the cells; as clusters, the cells give the same."""
    files = original.select("s", "t"), released.select("s", "t")
    found = propensity(*files, interactions=2)
    n, m = len(original), len(released)
    cells = {}
    for rows, place in zip(files, (0, 1), strict=True):
        for row in rows.rows():
            cells.setdefault(row, [0, 0])[place] += 1
    c = m / (n + m)
    pmse = sum((o + s) * (s / (o + s) - c) ** 2 for o, s in cells.values()) / (n + m)
    assert found.pmse == pytest.approx(pmse, abs=1e-11)
    assert found.specks == pytest.approx(sum(abs(o / n - s / m) for o, s in cells.values()) / 2, abs=1e-9)
    assert found.n_parameters == len(cells)
    clusters = cluster_utility(*files, n_clusters=100)
    assert clusters.cluster_utility * len(cells) == pytest.approx(pmse)
    if len(cells) > 1:
        assert clusters.ratio == pytest.approx(found.ratio, abs=1e-8)


@FEW
@given(tables(), tables(), st.integers(1, 2))
def test_names_and_units_do_not_matter(original, released, interactions):
    one = propensity(original, released, interactions=interactions)
    other = [
        frame.with_columns(
            s=pl.col("s").replace({"a": "z", "b": "k"}), t=pl.col("t").replace({"c": "A"}), x=7 - pl.col("x") * 0.3
        ).select("x", "t", "s")
        for frame in (original, released)
    ]
    # What goes by the order of scores jumps where two differ by rounding; files this small are full of such ties.
    same(one, propensity(*other, interactions=interactions), names=("pmse", "ratio", "n_parameters"))


@FEW
@given(tables(), tables())
def test_the_files_may_change_places(original, released):
    there, back = propensity(original, released), propensity(released, original)
    assert back.pmse == pytest.approx(there.pmse, abs=1e-9)
    assert back.n_parameters == there.n_parameters


@FEW
@given(tables(), tables())
def test_bounds_and_more_terms(original, released):
    c = len(released) / (len(original) + len(released))
    low = 0.0
    for interactions in (1, 2, 3):
        found = propensity(original, released, interactions=interactions)
        assert -1e-12 <= found.pmse <= c * (1 - c) + 1e-9
        assert 0 <= found.specks <= 1
        assert 0 <= found.auc <= 1
        assert found.u == pytest.approx(found.auc * len(original) * len(released))
        assert found.n_parameters >= low
        low = found.n_parameters
    clusters = cluster_utility(original, released, n_clusters=4)
    assert 0 <= clusters.cluster_utility <= c * (1 - c) / clusters.n_clusters + 1e-12


@FEW
@given(tables(), st.integers(1, 3))
def test_copies_cannot_be_told_apart(original, times):
    found = propensity(original, pl.concat([original] * times), interactions=2)
    assert (found.pmse, found.auc) == pytest.approx((0.0, 0.5), abs=1e-12)
    clusters = cluster_utility(original, pl.concat([original] * times), n_clusters=3)
    assert clusters.cluster_utility == pytest.approx(0.0, abs=1e-15)


@FEW
@given(tables(), st.lists(tables(), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_the_order_of_releases_does_not_matter(original, releases, random):
    mixed = list(releases)
    random.shuffle(mixed)
    same(propensity(original, releases), propensity(original, mixed))


# --- the nulls: a correct synthesis has a ratio of 1 on average, for every size of the release ------------


def normals(n, mean, root, rng):
    return pl.DataFrame(mean + rng.normal(size=(n, len(mean))) @ root.T, schema=[f"x{j}" for j in range(len(mean))])


@pytest.mark.parametrize("n_released", [150, 600, 2400])
@pytest.mark.parametrize("null", ["fitted", "proper"])
def test_a_release_drawn_from_a_fitted_model(n_released, null):
    """Normal variables; the release is drawn with the original's means and covariances, or with drawn means."""
    rng, ratios, p, n = np.random.default_rng([n_released, len(null)]), [], 12, 600
    for _ in range(60):
        original = normals(n, np.zeros(p), np.eye(p), rng)
        x = original.to_numpy()
        root = np.linalg.cholesky(np.cov(x.T))
        mean = x.mean(axis=0)
        if null == "proper":
            mean = mean + root @ rng.normal(size=p) / np.sqrt(n)
        ratios.append(propensity(original, normals(n_released, mean, root, rng), null=null).ratio)
    # one ratio has a standard deviation of the root of 2/12
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * np.sqrt(2 / p / 60))


def categories(n, shares, rng):
    cells = rng.choice(len(shares), n, p=shares)
    return pl.DataFrame({"s": (cells % 4).astype(str), "t": (cells // 4).astype(str)})


@pytest.mark.parametrize("n_released", [125, 500, 2000])
def test_permutations_and_clusters(n_released):
    """The release is drawn from the original's own table; halving the permutations would give 1.6 or 0.4."""
    rng, n = np.random.default_rng(n_released), 500
    shares = np.arange(1.0, 13) / 78
    found = {"cart": [], "logit": [], "clusters": []}
    for _ in range(25):
        original = categories(n, shares, rng)
        own = original.group_by("s", "t").len().sort("s", "t")
        drawn = rng.choice(len(own), n_released, p=own["len"].to_numpy() / n)
        released = own.select("s", "t")[drawn]
        found["cart"].append(propensity(original, released, model="cart", resamples=8, seed=rng).ratio)
        found["logit"].append(
            propensity(original, released, interactions=2, null="permutation", resamples=8, seed=rng).ratio
        )
        found["clusters"].append(cluster_utility(original, released, n_clusters=12).ratio)
    for name, ratios in found.items():  # their standard deviation is near one half, that of the mean 0.1
        assert np.mean(ratios) == pytest.approx(1.0, abs=0.38), name
