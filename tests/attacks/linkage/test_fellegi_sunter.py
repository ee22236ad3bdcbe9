"""The model from counts of pairs is the one that splink makes of the pairs."""

from __future__ import annotations

import logging

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import splink.comparison_library as comparisons
from hypothesis import given, strategies as st
from splink import DuckDBAPI, Linker, SettingsCreator

from sdckit.attacks.linkage.fellegi_sunter import Agreement, Patterns, agreements
from sdckit.attacks.linkage.linkage_sql import ALL, COMPARED, FILES, Step, compared_sql, patterns_sql

RNG = np.random.default_rng(5)
N = 150
VALUES = [RNG.choice(["anna", "berta", "chloe", "dora"], N), RNG.integers(0, 30, N), RNG.integers(0, 9, N)]
CHANGED = [np.where(RNG.random(N) < 0.2, RNG.permutation(values), values) for values in VALUES]
VALUES[2] = np.where(np.arange(N) % 11 == 0, None, VALUES[2])
FILE = {
    name: pa.table({"unique_id": np.arange(N), **{f"v{j}": pa.array(one) for j, one in enumerate(values)}})
    for name, values in zip(FILES, (VALUES, CHANGED), strict=True)
}
RULES = {"all": [()], "two": [(0,), (1, 2)], "three": [(0, 1), (1, 2), (2, 0)]}
LEVELS = [3, 2, 2]


def condition(rule):
    return " and ".join(f"l.v{j} = r.v{j}" for j in rule) or ALL


def by_splink(rules):
    """Splink alone: its own pairs, its own weights."""
    api = DuckDBAPI()
    settings = SettingsCreator(
        link_type="link_only", max_iterations=200, probability_two_random_records_match=1 / N,
        comparisons=[comparisons.JaroWinklerAtThresholds("v0", [0.9]),
                     *(comparisons.ExactMatch(f"v{j}") for j in (1, 2))],
    )  # fmt: skip
    tables = [api.register(table, dataset_display_name=name) for name, table in FILE.items()]
    linker = Linker(tables, settings, log_level=logging.ERROR)
    linker.training.estimate_u_using_random_sampling(max_pairs=float(N * N), seed=1, min_count_per_level=None)
    for rule in rules:
        linker.training.estimate_parameters_using_expectation_maximisation(
            condition(rule), record_sample_proportion=1.0, fix_probability_two_random_records_match=rule != ()
        )
    model = linker.misc.save_model_to_json()["comparisons"]
    return [[level for level in one["comparison_levels"] if not level.get("is_null_level")] for one in model]


def counted(rules):
    """Of the pairs that meet each rule."""
    connection = duckdb.connect()
    for name, table in FILE.items():
        connection.register(name, table)
    steps = [
        [Step(f"v{j}_l is null or v{j}_r is null", -1), Step(f"v{j}_l = v{j}_r", n - 1),
         *[Step(f"jaro_winkler_similarity(v{j}_l, v{j}_r) >= 0.9", 1)] * (n - 2), Step("ELSE", 0)]
        for j, n in enumerate(LEVELS)
    ]  # fmt: skip
    connection.execute(
        f"create table {COMPARED} as {compared_sql(steps, [condition(rule) for rule in rules])}"
    )
    for k in range(len(rules)):
        found = connection.sql(patterns_sql(k, len(LEVELS))).to_arrow_table()
        *levels, pairs = (found[name].to_numpy() for name in found.column_names)
        yield Patterns(np.column_stack(levels).astype(np.int64), pairs.astype(float))


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_splink_finds_the_same(rules):
    (everybody,) = counted([()])
    found = agreements(LEVELS, everybody, list(zip(rules, counted(rules), strict=True)), 1 / N)
    for one, expected in zip(found, by_splink(rules), strict=True):
        for name, shares in (("m_probability", one.m), ("u_probability", one.u)):
            known = [level.get(name, np.nan) for level in expected[::-1]]
            assert shares.tolist() == pytest.approx(known, rel=1e-9, nan_ok=True), name


def test_a_level_never_seen_has_the_weight_it_would_have_without_data():
    seen = Patterns(np.array([[2, 1], [0, 0]]), np.array([150.0, 20_000.0]))
    first, second = agreements([3, 2], seen, [((), seen)], 1 / 150)
    assert np.isnan([first.m[1], first.u[1]]).all()
    assert first.weights[1] == pytest.approx(3)
    assert np.isfinite([*first.weights, *second.weights]).all()
    start = Agreement(np.full(4, np.nan), np.full(4, np.nan))
    assert start.weights == pytest.approx([-5, -1, 3, 10])
    assert start.matches == pytest.approx([0.05 / 3] * 3 + [0.95])
    assert Agreement(np.full(2, np.nan), np.full(2, np.nan)).weights == pytest.approx([-5, 10])


def test_the_median_over_the_rules_in_which_a_level_was_seen():
    low = Patterns(np.array([[1, 1], [1, 0]]), np.array([30.0, 10.0]))
    both = Patterns(np.array([[1, 1], [0, 1], [0, 0], [1, 0]]), np.array([20.0, 10.0, 60.0, 10.0]))
    (alone, _) = agreements([2, 2], both, [((1,), low)], 0.1)
    assert np.isnan(alone.m[0])
    assert alone.m[1] == 1
    (half, _) = agreements([2, 2], both, [((1,), low), ((), both)], 0.1)
    (other, _) = agreements([2, 2], both, [((), both)], 0.1)
    assert half.m[0] == pytest.approx(other.m[0], rel=0.2)
    assert half.m[1] == pytest.approx((1 + other.m[1]) / 2, rel=0.05)


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 1), st.integers(1, 400)), min_size=1, max_size=12),
    st.integers(2, 60),
)
def test_shares_add_up_and_repeated_patterns_are_one(rows, n):
    levels, pairs = np.array([row[:2] for row in rows]), np.array([float(row[2]) for row in rows])
    found = agreements([3, 2], Patterns(levels, pairs), [((), Patterns(levels, pairs))], 1 / n)
    twice = Patterns(np.repeat(levels, 2, axis=0), np.repeat(pairs / 2, 2))
    again = agreements([3, 2], twice, [((), twice)], 1 / n)
    for j, one in enumerate(found):
        some = float((levels[:, j] >= 0).any())
        for shares in (one.m, one.u):
            assert np.nansum(shares) == pytest.approx(some)
        assert np.isfinite(one.weights).all()
        assert one.weights == pytest.approx(again[j].weights, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("prior", [0.0, 1.0, 0.5])
def test_nothing_to_learn_from(prior):
    pairs = np.array([3.0]) if prior != 0.5 else np.empty(0)
    some = Patterns(np.ones((len(pairs), 2), int), pairs)
    with pytest.raises(ValueError, match="nothing to learn from"):
        agreements([2, 2], some, [((), some)], prior)
