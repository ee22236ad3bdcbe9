"""The slide negative binomial model: its chances by direct sums, its roots, its edges."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom, nbinom

from sdckit.identity.population.size_models import size_table
from sdckit.identity.population.slide_negative_binomial import (
    _from_roots,
    _Model,
    shlosser_classes,
    snb,
    snb3,
)

CASES = [(0.35, 0.06, 0.1), (2.0, 0.4, 0.5), (0.05, 0.9, 0.02), (9.0, 0.3, 0.9)]


def chances(alpha, beta, pi):
    """P(class is seen 0, 1, 2 times) over the sizes a class of the population may have."""
    z = np.arange(4000)
    weight = nbinom.pmf(z, alpha, beta)
    return [float(weight @ binom.pmf(j, z + 1, pi)) for j in range(3)]


@pytest.mark.parametrize(("alpha", "beta", "pi"), CASES)
def test_chances_by_direct_sums(alpha, beta, pi):
    p0, p1, p2 = chances(alpha, beta, pi)
    model = _Model(np.array([math.log((1 - beta) / beta)]), pi)
    a = np.array([alpha])
    assert 1 - model.seen(a)[0] == pytest.approx(p0, rel=1e-8)
    assert pi * np.exp(model.log_once(a))[0] == pytest.approx(p1, rel=1e-8)
    assert np.exp(model.log_twice(a))[0] == pytest.approx(p2, rel=1e-8)
    assert model.log_once(model.peak())[0] >= max(model.log_once(model.peak() * x)[0] for x in (0.9, 1.1))


def population(K, alpha, beta, pi, seed):
    rng = np.random.default_rng(seed)
    size = 1 + rng.negative_binomial(alpha, beta, K)
    seen = rng.binomial(size, pi)
    return int((size == 1).sum()), size_table(seen[seen > 0], float(size.sum()))


def test_it_recovers_the_population_it_is_true_of():
    """pi from the draw, not exactly 0.3; three moments within 5 % of the truth."""
    truth, table = population(30_000, 0.2, 0.03, 0.3, 4)
    three = snb3(table)
    assert three.uniques == pytest.approx(truth, rel=0.05)
    assert three.parameters["K"] == pytest.approx(30_000, rel=0.1)
    assert snb(table).uniques == pytest.approx(truth, rel=0.1)
    # the chance of a sample unique to be population unique, by Bayes
    alpha, beta = (three.parameters[name] for name in ("alpha", "beta"))
    assert three.p_unique == pytest.approx(
        table.pi * beta**alpha / chances(alpha, beta, table.pi)[1], rel=1e-6
    )


sizes = st.lists(st.integers(1, 9), min_size=3, max_size=60).map(np.array)


@given(sizes, st.sampled_from([0.03, 0.1, 0.3, 0.7]))
def test_what_every_estimate_obeys(values, fraction):
    table = size_table(values, round(int(values.sum()) / fraction))
    ones, twos = Counter(values.tolist())[1], Counter(values.tolist())[2]
    for model in (snb, snb3):
        found = model(table)
        if math.isnan(found.uniques):
            assert found.status in {"no_pairs", "no_root", "several", "above_n"}
            assert (found.status == "no_pairs") == (twos == 0)
            continue
        assert -1e-9 <= found.uniques <= ones / table.pi * (1 + 1e-7)
        if found.status == "ok":
            K, alpha, beta = (found.parameters[name] for name in ("K", "alpha", "beta"))
            once = _Model(np.array([math.log1p(-beta) - math.log(beta)]), table.pi)
            assert K * table.pi * np.exp(once.log_once(np.array([alpha])))[0] == pytest.approx(ones, rel=1e-5)
            assert 0 <= found.p_unique <= 1 + 1e-9


def test_classes_by_hand():
    table = size_table(np.array([1, 1, 2]), 8)
    pi = 0.5
    c, e = 2 * 0.5 + 0.25, 2 * pi + 2 * pi * 0.5
    assert shlosser_classes(table, modified=False) == pytest.approx(3 + 2 * c / e)
    a, b = 2 * 0.25 + 2 * 0.25 * 0.75, 2 * (0.75 - 0.5) + (0.75**2 - 0.25)
    assert shlosser_classes(table) == pytest.approx(3 + 2 * a / b * (c / e) ** 2)


@pytest.mark.parametrize("model", [snb, snb3])
def test_edges(model):
    assert model(size_table(np.array([2, 2]), 40)).status == "no_uniques"
    assert model(size_table(np.array([1, 2, 2]), 5)).status == "census"
    assert model(size_table(np.array([1, 3, 4]), 80)).status == "no_pairs"


def test_several_roots_are_listed_and_none_is_chosen():
    table = size_table(np.array([1, 1, 2]), 40)
    found = _from_roots(table, [(0.0, 1.0), (1.0, 2.0)], lambda *_: 5.0)
    assert found.status == "several"
    assert math.isnan(found.uniques)
    assert set(found.parameters) == {"K_1", "alpha_1", "beta_1", "K_2", "alpha_2", "beta_2"}
    assert _from_roots(table, [], lambda *_: 5.0).status == "no_root"
    assert _from_roots(table, [(0.0, 1.0)], lambda *_: 500.0).status == "above_n"
