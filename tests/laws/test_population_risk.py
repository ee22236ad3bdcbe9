"""A5 against the definitions over every possible cell, and against populations that are known."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import population_risk

FRACTIONS = st.sampled_from([0.03, 0.1, 0.4, 0.8])


def by_definition(rows, pi):
    """tau1, tau2, B1, B2 and z of main effects, cell by possible cell."""
    n, keys = len(rows), range(len(rows[0]))
    counted = Counter(rows)
    margins = [Counter(row[j] for row in rows) for j in keys]
    tau, b, v = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    for cell in itertools.product(*margins):
        f = counted[cell]
        mu = n * math.prod(margins[j][cell[j]] / n for j in keys)
        lam = mu / pi
        x = (1 - pi) * lam
        e, r = math.exp(-x), -math.expm1(-x) / x
        slope, bend = (r - e) / lam, (2 * r - 2 * e - x * e) / lam**2  # -h' and h'' of h = r
        weight = lam * math.exp(-mu)
        parts = ((1 - pi) * e, (1 - pi) ** 2 * e), (slope, bend)
        for i, (first, second) in enumerate(parts):
            a, c = weight * first, weight * second / (2 * pi)
            b[i] += a * (f - mu) + c * ((f - mu) ** 2 - f)
            v[i] += a * a * mu + 2 * c * c * mu * mu
        if f == 1:
            tau[0] += e
            tau[1] += r
    return tau, b, [one / math.sqrt(two) if two > 0 else math.nan for one, two in zip(b, v, strict=True)]


@given(files(), FRACTIONS)
def test_main_effects_by_definition(file, pi):
    with quiet():
        found = population_risk(file.frame(), keys=file.keys, sampling_fraction=pi)
    tau, b, z = by_definition(file.rows, pi)
    assert (found.tau1, found.tau2) == pytest.approx(tau, rel=1e-9, abs=1e-12)
    assert (found.b1, found.b2) == pytest.approx(b, rel=1e-6, abs=1e-9)
    if all(abs(one) > 1e-6 for one in b):
        assert (found.z1, found.z2) == pytest.approx(z, rel=1e-5)


@given(files(), st.randoms(use_true_random=False), st.integers(1, 3))
def test_order_of_records_keys_and_levels_does_not_matter(file, rng, interactions):
    frame, keys = file.frame(), list(file.keys)
    order = list(range(len(frame)))
    rng.shuffle(order)
    turned = frame[order].with_columns((-pl.col(keys) * 3).cast(pl.String))
    options = {"sampling_fraction": 0.2, "interactions": min(interactions, len(keys))}
    with quiet():
        a = population_risk(frame, keys=keys, **options)
        b = population_risk(turned, keys=keys[::-1], **options)
    names = ("tau1", "tau2", "b1", "b2")
    assert [getattr(a, name) for name in names] == pytest.approx(
        [getattr(b, name) for name in names], rel=1e-4, abs=1e-5, nan_ok=True
    )


@given(files())
def test_risk_rises_with_the_fraction_and_keeps_its_bounds(file):
    with quiet():
        found = [population_risk(file.frame(), keys=file.keys, sampling_fraction=pi) for pi in (0.02, 0.2, 0.9, 1.0)]
    for one in found:
        assert 0 <= one.tau1 <= one.tau2 + 1e-12
        assert one.tau2 <= one.sample_uniques + 1e-9
    for lower, higher in itertools.pairwise(found):
        assert lower.tau1 <= higher.tau1 + 1e-12
        assert lower.tau2 <= higher.tau2 + 1e-12
    assert found[-1].tau1 == found[-1].sample_uniques


def independent(n, seed):
    """A population whose keys do not depend on each other: main effects are the truth."""
    rng = np.random.default_rng(seed)
    keys = {}
    for j, (levels, slope) in enumerate([(36, 0.8), (12, 1.0), (6, 1.2), (5, 1.2), (2, 0.2)]):
        share = 1 / np.arange(1, levels + 1) ** slope
        keys[f"k{j}"] = rng.choice(levels, n, p=share / share.sum())
    return pl.DataFrame(keys)


def dependent(n, seed):
    """A population in which one key follows another: one two-way term is the truth."""
    frame = independent(n, seed)
    rng = np.random.default_rng(seed + 1)
    follows = pl.Series(rng.random(n) < 0.6)
    return frame.with_columns(k1=pl.when(follows).then(2 * pl.col("k2")).otherwise(pl.col("k1")))


def known(population, pi, seed):
    """A sample, and what is true of its uniques: how many are population unique, the sum of 1/F."""
    keys = population.columns
    counted = population.with_columns(F=pl.len().over(keys))
    sample = counted.sample(round(len(population) * pi), seed=seed)
    uniques = sample.filter(pl.len().over(keys) == 1)["F"]
    return sample.select(keys), (int((uniques == 1).sum()), float((1 / uniques).sum()))


@pytest.mark.parametrize(
    ("make", "options"),
    [(independent, {}), (dependent, {"formula": "k1:k2"}), (dependent, {"select": True})],
    ids=["main effects", "the true term", "forward search"],
)
def test_a_known_population(make, options):
    """tau1 and tau2 within 5 % of the truth, on average over four samples; mu for mu/pi is wrong by more than half."""
    population = make(40_000, 1)
    truth, ours, scaled = [], [], []
    for seed in range(4):
        sample, true = known(population, 0.1, seed)
        result = population_risk(sample, keys=sample.columns, sampling_fraction=0.1, **options)
        assert abs(result.z2) < 3
        p = result.records["p_population_unique"].drop_nans().to_numpy()
        truth.append(true)
        ours.append((result.tau1, result.tau2))
        x = -np.log(p) * 0.1  # mu for mu/pi: the population as small as the sample
        scaled.append((np.exp(-x).sum(), (-np.expm1(-x) / x).sum()))
    truth, ours, scaled = (np.mean(one, axis=0) for one in (truth, ours, scaled))
    assert ours == pytest.approx(truth, rel=0.05)
    assert (scaled > 1.5 * truth).all()


def test_a_model_too_simple_is_flagged():
    sample, _ = known(dependent(40_000, 1), 0.1, 0)
    result = population_risk(sample, keys=sample.columns, sampling_fraction=0.1)
    assert result.z2 > 5
    assert "too simple" in result.notes["z2"]
