"""Groups of the file by size, as each model of the population expects them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.identity.population.size_fit import (
    EDGES,
    dissimilarity,
    expected_by_cell,
    expected_by_model,
    observed_sizes,
    pooled_sizes,
)
from sdckit.identity.population.size_models import SizeEstimate, pitman, size_table, zayatz
from sdckit.identity.population.slide_negative_binomial import snb, snb3

MODELS = {"zayatz": zayatz, "pitman": pitman, "snb": snb, "snb3": snb3}


def drawn(fraction: float = 0.2):
    """Groups of a population of the slide negative binomial model, and a sample of its people."""
    rng = np.random.default_rng(5)
    population = 1 + rng.negative_binomial(0.5, 0.1, 20_000)
    sample = rng.binomial(population, fraction)
    return size_table(sample[sample > 0], population.sum())


def test_groups_by_class_of_size():
    table = size_table(np.array([1, 1, 2, 4, 5, 9, 10, 99, 100, 5000]), 10_000)
    assert observed_sizes(table).tolist() == [2, 1, 0, 1, 2, 1, 0, 1, 2]
    one_by_one = np.bincount([1, 1, 2, 4, 5, 9, 10, 99], minlength=100)[1:].astype(float)
    assert pooled_sizes(one_by_one, 2.0).tolist() == observed_sizes(table).tolist()
    assert len(EDGES) == 9


def test_the_index_of_dissimilarity():
    observed = np.array([60.0, 30.0, 10.0])
    assert dissimilarity(observed, observed) == 0
    assert dissimilarity(np.array([50.0, 40.0, 10.0]), observed) == pytest.approx(0.1)
    assert math.isnan(dissimilarity(np.array([math.nan, 1.0]), np.array([1.0, 1.0])))
    assert math.isnan(dissimilarity(np.zeros(2), np.zeros(2)))


def test_pitman_by_enumeration():
    """Three people: all in one group, in two, or each alone, by the formula's own probabilities."""
    theta, alpha = 1.5, 0.3
    denominator = (theta + 1) * (theta + 2)
    alone = (theta + alpha) * (theta + 2 * alpha) / denominator
    two = 3 * (theta + alpha) * (1 - alpha) / denominator
    one = (1 - alpha) * (2 - alpha) / denominator
    assert alone + two + one == pytest.approx(1)
    found = expected_by_model(
        "pitman",
        size_table(np.array([1, 2]), 30),
        SizeEstimate(1, 1, 1, "ok", {"theta": theta, "alpha": alpha}),
    )
    assert found[:3] == pytest.approx([3 * alone + two, two, one])
    assert found[3:].tolist() == pytest.approx([0] * 6, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 1e-4, 0.5])
def test_pitman_groups_hold_all_records(alpha):
    table = size_table(np.array([1] * 40 + [2] * 10), 600)
    found = expected_by_model("pitman", table, SizeEstimate(1, 1, 1, "ok", {"theta": 200.0, "alpha": alpha}))
    assert found @ np.array([1, 2, 3, 4, 5, 10, 25, 50, 100]) == pytest.approx(table.n, rel=0.01)


def test_the_slide_model_expects_what_it_was_fitted_to():
    table = drawn()
    observed = observed_sizes(table)
    for name in ("snb", "snb3"):
        assert expected_by_model(name, table, MODELS[name](table))[:2] == pytest.approx(
            observed[:2], rel=1e-6
        )
    assert expected_by_model("snb3", table, snb3(table)).sum() == pytest.approx(table.u, rel=1e-6)


def test_the_model_a_file_was_drawn_from_is_close_and_a_false_one_is_not():
    table = drawn()
    apart = {
        name: dissimilarity(expected_by_model(name, table, model(table)), observed_sizes(table))
        for name, model in MODELS.items()
    }
    assert apart["snb3"] < 0.01
    assert apart["zayatz"] > 0.1
    assert min(apart, key=lambda name: apart[name]).startswith("snb")


def test_zayatz_draws_from_the_sizes_of_the_file():
    table = size_table(np.array([1] * 50 + [3] * 50), 1000)
    rng = np.random.default_rng(2)
    kept = rng.binomial(np.repeat([1, 3], 200_000), table.pi)
    shares = np.bincount(kept[kept > 0], minlength=4)[1:4] / np.count_nonzero(kept)
    assert expected_by_model("zayatz", table, zayatz(table))[:3] == pytest.approx(100 * shares, abs=0.5)


def test_what_is_not_modelled_is_not_compared():
    for table in (size_table(np.array([2, 2]), 40), size_table(np.array([1, 2]), 3)):
        assert np.isnan(expected_by_model("pitman", table, pitman(table))).all()
    assert np.isnan(expected_by_model("pitman", drawn(), SizeEstimate(math.nan, 0, 0, "no_root"))).all()


@settings(max_examples=30)
@given(st.lists(st.floats(1e-6, 300), min_size=1, max_size=40))
def test_poisson_cells(mu):
    from scipy.stats import poisson

    mu = np.array(mu)
    exact = [poisson.pmf(range(low, high), mu[:, None]).sum() for low, high in itertools.pairwise(EDGES)]
    found = expected_by_cell(mu, np.ones(len(mu)))
    assert found[:-1] == pytest.approx(exact, abs=1e-9)
    assert found[-1] == pytest.approx(poisson.sf(99, mu).sum(), abs=1e-8)
    assert expected_by_cell(mu) == pytest.approx(found, abs=0.01 * len(mu))
