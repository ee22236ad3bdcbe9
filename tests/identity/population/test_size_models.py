"""Models of class sizes: the formulas by enumeration, the edges, the limits."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom, nbinom

from draw import quiet
from sdckit import Scenario, as_cells
from sdckit.errors import DataError, ScenarioError
from sdckit.identity.population.size_models import (
    EDGES,
    SizeEstimate,
    _chance_of_one,
    _from_roots,
    _Model,
    _singletons,
    _theta,
    category_cells,
    dankar,
    dissimilarity,
    expected_by_cell,
    expected_by_model,
    log_likelihood,
    observed_sizes,
    pitman,
    pooled_sizes,
    sampling_fraction_of,
    shlosser_classes,
    size_table,
    snb,
    snb3,
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
        j: Fraction(j * math.comb(N - j, n - 1), math.comb(N, n)) if N - j >= n - 1 else Fraction(0) for j in counts
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


@pytest.mark.parametrize(("values", "status"), [([1] * 9, "all_unique"), ([2, 2], "no_uniques"), ([5], "no_uniques")])
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


# Groups of the file by size, as each model of the population expects them.


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
        "pitman", size_table(np.array([1, 2]), 30), SizeEstimate(1, 1, 1, "ok", {"theta": theta, "alpha": alpha})
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
        assert expected_by_model(name, table, MODELS[name](table))[:2] == pytest.approx(observed[:2], rel=1e-6)
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


# The slide negative binomial model: its chances by direct sums, its roots, its edges.


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
    assert three.p_unique == pytest.approx(table.pi * beta**alpha / chances(alpha, beta, table.pi)[1], rel=1e-6)


def test_a_root_where_both_branches_meet():
    """Between two points of the scan, behind the last at which the number seen once can be reached."""
    table = size_table(np.array([1, 1, 2, 3, 3, 3]), 1300.0)
    K, alpha, beta = (snb(table).parameters[name] for name in ("K", "alpha", "beta"))
    model = _Model(np.array([math.log((1 - beta) / beta)]), table.pi)
    logarithms = (model.log_once(np.array([alpha])), model.log_twice(np.array([alpha])))
    assert [K * math.exp(log[0]) for log in logarithms] == pytest.approx([2 / table.pi, 1])


binomial_sizes = st.lists(st.integers(1, 9), min_size=3, max_size=60).map(np.array)


@given(binomial_sizes, st.sampled_from([0.03, 0.1, 0.3, 0.7]))
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


# How large the population is, and cells with missing keys as levels.


FRAME = pl.DataFrame({"a": [1, 1, None, 2], "w": [3.0, 5.0, 2.0, 6.0], "p": [1, 1, 2, 3]})


def test_missing_keys_are_levels_whatever_the_cells_say():
    wild = as_cells(FRAME, keys=["a"], sampling_fraction=0.5)
    for data in (FRAME, FRAME.lazy(), wild):
        with quiet():
            cells = category_cells(data, **({} if data is wild else {"keys": ["a"], "sampling_fraction": 0.5}))
        assert sorted(cells.columns["sample_frequency"].tolist()) == [1, 1, 2]
        assert sampling_fraction_of(cells) == 0.5


def test_the_fraction_by_weights():
    cells = category_cells(FRAME, keys=["a"], weight="w")
    assert sampling_fraction_of(cells) == 4 / 16
    census = category_cells(FRAME.with_columns(w=pl.lit(1.0)), keys=["a"], weight="w")
    assert sampling_fraction_of(census) == 1.0


def test_a_population_that_is_not_known_or_too_small():
    with pytest.raises(DataError, match="say how large the population is"):
        sampling_fraction_of(category_cells(FRAME, keys=["a"]))
    small = category_cells(FRAME.with_columns(w=pl.col("w") / 10), keys=["a"], weight="w")
    with pytest.raises(DataError, match="weights must count persons"):
        sampling_fraction_of(small)


def test_persons_and_cells_with_roles():
    with pytest.raises(DataError, match="models of population uniqueness count records"):
        category_cells(FRAME.drop_nulls(), scenario=Scenario(keys=["a"], person="p"))
    with pytest.raises(ScenarioError, match="fixed by the cells given"):
        category_cells(as_cells(FRAME, keys=["a"]), sampling_fraction=0.5)
