"""F8: the same file agrees with itself, records and releases have no order, a mean is a model."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import compare_estimates, compare_models

FEW = settings(max_examples=6)  # each fits several models
KINDS = st.sampled_from(["observed", "partial", "full", "simple", "proper"])
COLUMNS = ("estimate_original", "low_original", "estimate_released", "std_error_released", "overlap")


def survey(seed, n=40):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n), 2)
    return pl.DataFrame({"x": x, "g": rng.choice(["a", "b"], n), "y": x + np.round(rng.normal(size=n), 2)})


SEEDS = st.lists(st.integers(0, 500), min_size=2, max_size=4, unique=True)


def figures(result):
    return np.array([result.table[name].to_list() for name in COLUMNS])


@FEW
@given(st.integers(0, 500), st.integers(1, 3))
def test_a_file_agrees_with_itself(seed, m):
    file = survey(seed)
    for result in (
        compare_models(file, [file] * m, formula="y ~ x + g"),
        compare_estimates(file, [file] * m, statistic="mean", variables=["x", "y"]),
    ):
        assert result.mean_overlap == pytest.approx(1)
        assert result.max_standardised_difference == pytest.approx(0, abs=1e-9)
        assert result.sign_agreement == result.significance_agreement == 1


@FEW
@given(SEEDS, KINDS, st.randoms())
def test_records_and_releases_have_no_order(seeds, kind, random):
    original, files = survey(1000), [survey(seed) for seed in seeds]
    mixed = [file.sample(fraction=1, shuffle=True, seed=1) for file in random.sample(files, len(files))]
    for formula in ("y ~ x + g", "y ~ 1"):
        one = compare_models(original, files, formula=formula, kind=kind)
        other = compare_models(original, mixed, formula=formula, kind=kind)
        np.testing.assert_allclose(figures(other), figures(one), rtol=1e-6, atol=1e-9)


@FEW
@given(SEEDS, KINDS)
def test_a_mean_is_a_model_without_terms_and_a_share_a_mean(seeds, kind):
    original, files = survey(1000), [survey(seed) for seed in seeds]
    model = compare_models(original, files, formula="y ~ 1", kind=kind)
    mean = compare_estimates(original, files, statistic="mean", variables=["y"], kind=kind)
    np.testing.assert_allclose(figures(mean), figures(model), rtol=1e-8, atol=1e-10)
    ones = [file.with_columns(b=(pl.col("g") == "b").cast(int)) for file in (original, *files)]
    shares = compare_estimates(ones[0], ones[1:], statistic="proportion", variables=["g"], kind=kind)
    mean = compare_estimates(ones[0], ones[1:], statistic="mean", variables=["b"], kind=kind)
    np.testing.assert_allclose(figures(shares)[:, 1:], figures(mean), rtol=1e-8, atol=1e-10)


@FEW
@given(st.integers(0, 500), st.floats(0.5, 20))
def test_units_of_the_outcome(seed, unit):
    one = compare_models(survey(1000), survey(seed), formula="y ~ x + g")
    scaled = [file.with_columns(y=pl.col("y") * unit) for file in (survey(1000), survey(seed))]
    other = compare_models(*scaled, formula="y ~ x + g")
    assert other.table["overlap"].to_list() == pytest.approx(one.table["overlap"].to_list(), abs=1e-8)
    assert other.lack_of_fit == pytest.approx(one.lack_of_fit, rel=1e-6)
    assert other.significance_agreement == one.significance_agreement


@FEW
@given(st.integers(0, 500))
def test_the_base_of_a_category_does_not_change_the_fit(seed):
    files = survey(1000), survey(seed)
    turned = [file.with_columns(g=pl.when(pl.col("g") == "a").then(pl.lit("z")).otherwise("g")) for file in files]
    one, other = (compare_models(*pair, formula="y ~ x + g") for pair in (files, turned))
    assert other.lack_of_fit == pytest.approx(one.lack_of_fit, rel=1e-6, abs=1e-9)
    assert other.table["overlap"][1] == pytest.approx(one.table["overlap"][1], abs=1e-8)
    assert other.table["estimate_released"][2] == pytest.approx(-one.table["estimate_released"][2], abs=1e-9)


def test_intervals_from_simple_synthesis_cover_the_original():
    """Releases drawn from the regression fitted to the original: the lack of fit is uniform."""
    rng = np.random.default_rng(3)
    n, m, values = 60, 2, []
    for _ in range(80):
        x = rng.normal(size=n)
        y = 1 + x + rng.normal(size=n)
        slope, intercept = np.polyfit(x, y, 1)
        noise = np.sqrt(((y - intercept - slope * x) ** 2).sum() / (n - 2))
        frames = [pl.DataFrame({"x": x, "y": intercept + slope * x + noise * rng.normal(size=n)}) for _ in range(m)]
        original = pl.DataFrame({"x": x, "y": y})
        values.append(compare_models(original, frames, formula="y ~ x", kind="simple").lack_of_fit_p_value)
    assert np.mean(values) == pytest.approx(0.5, abs=0.1)
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.1, abs=0.09)
