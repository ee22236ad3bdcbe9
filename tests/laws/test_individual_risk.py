"""A3: bounds, order, households and thresholds of the individual risk."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import ALPHAS, files, quiet
from sdckit import DataError, individual_risk
from sdckit.numerics.risk_kernel import approximate_risk, exact_risk, worst_case_risk

alphas = st.sampled_from(ALPHAS)
whole_f = st.one_of(st.integers(1, 60), st.integers(1, 100_000)).map(float)
excess = st.one_of(st.just(0.0), st.floats(1e-12, 1e-3), st.floats(1e-3, 1e6))  # F/f - 1


def measured(file, frame=None, **options):
    chosen = {"keys": file.keys, "weight": "w", "missing": file.missing, **options}
    with quiet():
        return individual_risk(file.frame() if frame is None else frame, **chosen)


def one(kernel, f, big_f):
    return float(kernel(np.array([f], float), np.array([big_f], float))[0])


@given(files(), alphas)
def test_agrees_with_the_definition(file, alpha):
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    expected = [float(brute.risk(a, b)) for a, b in zip(f, big_f, strict=True)]
    result = measured(file, alpha=alpha)
    assert result.records["risk"].to_list() == pytest.approx(expected, rel=1e-10)
    assert result.expected_reidentifications == pytest.approx(math.fsum(expected), rel=1e-10)
    assert result.global_risk == pytest.approx(math.fsum(expected) / len(f), rel=1e-10)
    assert result.max_risk == pytest.approx(max(expected), rel=1e-10)


@given(files(), alphas)
def test_without_weights_the_file_is_the_population(file, alpha):
    f, _ = brute.frequencies(file.rows, file.weights, file.wild, alpha)
    result = measured(file, weight=None, alpha=alpha)
    assert result.method == "census"
    assert result.records["risk"].to_list() == pytest.approx([1 / one for one in f], rel=1e-12)


@given(files(), alphas, st.sampled_from(["exact", "approx", "worst_case"]))
def test_is_a_probability(file, alpha, method):
    risk = measured(file, alpha=alpha, method=method).records["risk"]
    assert ((risk > 0) & (risk <= 1)).all()


@given(whole_f, excess)
def test_the_approximation_is_close_and_never_below(f, more):
    exact, approx = one(exact_risk, f, f * (1 + more)), one(approximate_risk, f, f * (1 + more))
    assert exact * (1 - 1e-12) <= approx <= 1.05 * exact


@given(st.floats(1, 1e4), excess)
def test_the_worst_case_is_the_lower_bound_of_the_mean(f, more):
    # 1/F at the mean of F is no larger than the mean of 1/F (Jensen)
    assert one(worst_case_risk, f, f * (1 + more)) <= one(exact_risk, f, f * (1 + more)) * (1 + 1e-12)


@given(st.floats(1, 1e4), excess, st.floats(1.001, 10))
def test_falls_as_the_population_grows(f, more, factor):
    big_f = f * (1 + more)
    assert one(exact_risk, f, big_f * factor) < one(exact_risk, f, big_f)


@pytest.mark.parametrize("p", [0.5, 0.1, 0.001])
def test_comes_close_to_one_over_the_population_as_f_grows(p):
    gaps = [one(exact_risk, f, f / p) * (f / p) - 1 for f in (10.0, 1e3, 1e5, 1e7)]
    assert gaps == sorted(gaps, reverse=True)
    assert 0 <= gaps[-1] < 1e-6


@given(files(), alphas, st.data())
def test_households(file, alpha, data):
    n = len(file.rows)
    ids = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=n, max_size=n))
    frame = file.frame(hh=pl.Series(ids, dtype=pl.Int64))
    if ids.count(None) == n:
        with pytest.raises(DataError, match="has no value in any record"):
            measured(file, frame, household="hh", alpha=alpha)
        return
    result = measured(file, frame, household="hh", alpha=alpha)
    risk, found = result.records["risk"].to_list(), result.records["household_risk"].to_list()
    names, _ = brute.households(ids, file.rows)
    expected = [1 - math.prod(1 - r for r, name in zip(risk, names, strict=True) if name == mine) for mine in names]
    assert found == pytest.approx(expected, rel=1e-9)
    assert all(h >= r * (1 - 1e-12) for h, r in zip(found, risk, strict=True))
    assert len({(name, h) for name, h in zip(names, found, strict=True)}) == len(set(names))
    assert result.expected_household_reidentifications == pytest.approx(math.fsum(found), rel=1e-12)
    assert result.household_risk == pytest.approx(math.fsum(found) / n, rel=1e-12)


@given(files(), alphas, st.floats(0.001, 1.2))
def test_the_threshold_for_a_global_risk(file, alpha, target):
    result = measured(file, alpha=alpha)
    risk = result.records["risk"].to_list()
    expected = brute.cap(risk, target * len(risk))
    assert result.threshold_for(target) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(files(), alphas, st.floats(0, 1))
def test_counts_and_histograms(file, alpha, threshold):
    result = measured(file, alpha=alpha, threshold=threshold)
    risk = result.records["risk"].to_numpy()
    assert result.n_above == int((risk > threshold).sum()) == result.count_above(threshold)
    edges = [0, 0.001, 0.01, 0.1, 0.5, 1]
    assert result.histogram(edges) == tuple(np.histogram(risk, edges)[0].tolist())


@given(files(), alphas)
def test_named_thresholds(file, alpha):
    risk = measured(file, alpha=alpha).records["risk"].to_numpy()
    quartile = measured(file, alpha=alpha, threshold="upper_quartile")
    assert quartile.threshold == pytest.approx(np.quantile(risk, 0.75), rel=1e-12)
    mad = measured(file, alpha=alpha, threshold="mad")
    median = np.median(risk)
    assert mad.threshold == pytest.approx(median + 3 * 1.4826 * np.median(np.abs(risk - median)), rel=1e-12)
    assert mad.n_above == int((risk > mad.threshold).sum())
