"""Models of class sizes: the formulas by enumeration, the edges, the limits."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.identity.population.size_models import (
    SizeEstimate,
    _chance_of_one,
    _singletons,
    _theta,
    dankar,
    log_likelihood,
    pitman,
    size_table,
    zayatz,
)

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=40).map(np.array)
FRACTIONS = st.sampled_from([0.01, 0.1, 0.35, 0.8])


def table(values, fraction=0.1):
    values = np.asarray(values)
    return size_table(values, round(int(values.sum()) / fraction))


@given(sizes, FRACTIONS)
def test_zayatz_in_exact_fractions(values, fraction):
    one = table(values, fraction)
    n, N, counts = int(one.n), int(one.population), Counter(values.tolist())
    chance = {
        j: Fraction(j * math.comb(N - j, n - 1), math.comb(N, n)) if N - j >= n - 1 else Fraction(0)
        for j in counts
    }
    assert _chance_of_one(one).tolist() == pytest.approx([float(chance[j]) for j in sorted(counts)], rel=1e-9)
    found = zayatz(one)
    if n == N or counts[1] == 0:
        assert found.status == ("no_uniques" if counts[1] == 0 else "census")
        return
    p = counts[1] * Fraction(n, N) / sum(counts[j] * chance[j] for j in counts)
    assert found.p_unique == pytest.approx(float(p), rel=1e-9)
    assert found.uniques == pytest.approx(float(counts[1] * p * N / n), rel=1e-9)
    assert 0 <= found.uniques <= counts[1] / one.pi * (1 + 1e-9)
    assert found.share == pytest.approx(found.uniques / N)


def test_zayatz_when_all_are_unique_and_in_a_large_population():
    assert zayatz(table([1] * 5)).uniques == pytest.approx(50)
    large = size_table(np.array([1, 1, 2, 3]), 8e9)
    assert 0 < zayatz(large).uniques <= 2 / large.pi * (1 + 1e-9)


def pitman_partitions(n, theta, alpha):
    """Chance of every partition of n by seating one after the other."""
    states = {(1,): 1.0}
    for seated in range(1, n):
        after: dict[tuple, float] = {}
        for classes, chance in states.items():
            alone = tuple(sorted((*classes, 1)))
            after[alone] = after.get(alone, 0) + chance * (theta + len(classes) * alpha) / (theta + seated)
            for i, size in enumerate(classes):
                grown = tuple(sorted((*classes[:i], size + 1, *classes[i + 1 :])))
                after[grown] = after.get(grown, 0) + chance * (size - alpha) / (theta + seated)
        states = after
    return states


@pytest.mark.parametrize(("theta", "alpha"), [(2.0, 0.4), (0.05, 0.5), (5.0, 0.0), (0.3, 0.9)])
def test_pitman_by_all_partitions(theta, alpha):
    partitions = pitman_partitions(6, theta, alpha)
    assert math.fsum(partitions.values()) == pytest.approx(1)
    expected = math.fsum(chance * classes.count(1) for classes, chance in partitions.items())
    assert _singletons(theta, alpha, 6) == pytest.approx(expected, rel=1e-12)
    ways = {classes: math.log(chance) for classes, chance in partitions.items()}
    for classes, log_chance in ways.items():
        # the likelihood leaves out how many orders and ways of seating a partition has
        one = table(list(classes))
        constant = log_chance - log_likelihood(one, theta, alpha)
        again = math.log(pitman_partitions(6, 1.0, 0.2)[classes]) - log_likelihood(one, 1.0, 0.2)
        assert constant == pytest.approx(again, abs=1e-9)


def test_pitman_is_at_the_top_of_its_likelihood():
    one = table(np.random.default_rng(1).zipf(1.7, 300).clip(1, 60))
    found = pitman(one)
    theta, alpha = found.parameters["theta"], found.parameters["alpha"]
    best = log_likelihood(one, theta, alpha)
    assert found.parameters["log_likelihood"] == best
    for step_theta in (-0.01, 0, 0.01):
        for step_alpha in (-1e-4, 0, 1e-4):
            assert log_likelihood(one, theta * (1 + step_theta), alpha + step_alpha) <= best + 1e-9
    assert found.p_unique == min(1, one.pi * found.uniques / one.of(1))
    assert _theta(one, alpha) == pytest.approx(theta)


def test_pitman_recovers_the_population_it_is_true_of():
    """Records seated by the formula, every tenth of them taken: uniques within 15 % of those there are."""
    rng = np.random.default_rng(7)
    theta, alpha, n = 300.0, 0.4, 40_000
    classes = np.zeros(n, np.int64)
    of = np.empty(n, np.int64)
    k = 0
    for i in range(n):
        c = k
        if rng.random() >= (theta + k * alpha) / (theta + i):
            c = of[rng.integers(i)]  # a class with chance proportional to its size minus alpha
            while rng.random() < alpha / classes[c]:
                c = of[rng.integers(i)]
        k += c == k
        of[i] = c
        classes[c] += 1
    truth = int((np.bincount(of) == 1).sum())
    sample = np.bincount(of[rng.permutation(n)[: n // 10]])
    found = pitman(size_table(sample[sample > 0], n))
    assert found.uniques == pytest.approx(truth, rel=0.15)


def test_pitman_without_large_classes_falls_back_to_ewens():
    one = table([1] * 4 + [2] * 6 + [3] * 8 + [4] * 9 + [5] * 6)
    found = pitman(one)
    assert (found.status, found.parameters["alpha"]) == ("ewens", 0.0)
    theta = found.parameters["theta"]
    assert found.uniques == pytest.approx(theta * one.population / (theta + one.population - 1))
    seen = sum(theta / (theta + i) for i in range(int(one.n)))
    assert seen == pytest.approx(one.u, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "status"), [([1] * 9, "all_unique"), ([2, 2], "no_uniques"), ([5], "no_uniques")]
)
def test_pitman_where_there_is_nothing_to_fit(values, status):
    found = pitman(table(values))
    assert found.status == status
    assert math.isnan(found.uniques) == (status == "all_unique")


@pytest.mark.parametrize("model", [zayatz, pitman])
def test_no_uniques_and_a_census(model):
    none = model(table([2, 3]))
    assert (none.uniques, none.share, none.status) == (0.0, 0.0, "no_uniques")
    whole = model(size_table(np.array([1, 1, 4]), 6))
    assert (whole.uniques, whole.p_unique, whole.status) == (2.0, 1.0, "census")


def estimated(uniques):
    return SizeEstimate(uniques, uniques / 100, 0.5, "ok")


@pytest.mark.parametrize(
    ("fraction", "by_pitman", "by_snb", "chosen"),
    [
        (0.05, 7.0, 1.0, "pitman"),
        (0.1, 7.0, 1.0, "pitman"),
        (0.1, math.nan, 1.0, "zayatz"),
        (0.2, 7.0, 4.0, "snb"),
        (0.2, 7.0, 6.0, "zayatz"),
        (0.2, 7.0, math.nan, "zayatz"),
    ],
)
def test_dankar(fraction, by_pitman, by_snb, chosen):
    one = table([1, 1, 2, 6], fraction)
    each = {"zayatz": estimated(5.0), "pitman": estimated(by_pitman), "snb": estimated(by_snb)}
    found = dankar(one, each["zayatz"], each["pitman"], each["snb"])
    assert found.status == chosen
    assert found.uniques == each[chosen].uniques


def test_dankar_needs_no_model_without_uniques():
    nothing = estimated(math.nan)
    assert dankar(table([2, 2]), nothing, nothing, nothing).uniques == 0
