"""Weights of pairs: the model's own arithmetic, and what is refused."""

from __future__ import annotations

import logging
import math
import sys
from collections import Counter
from contextlib import nullcontext

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import splink.comparison_library as comparisons
from hypothesis import given, strategies as st
from pyspark.errors import PySparkException
from splink import DuckDBAPI, Linker, SettingsCreator

from sdckit.attacks.linkage import linkage_scores as home
from sdckit.attacks.linkage.linkage_scores import (
    ALL,
    COMPARED,
    FILES,
    WEIGHED,
    Agreement,
    Compared,
    Patterns,
    Step,
    agreements,
    best_sql,
    compared_sql,
    need_duckdb,
    patterns_sql,
    scored_links,
    steps_sql,
    weighed_sql,
)
from sdckit.errors import DataError

RNG = np.random.default_rng(4)
NAMES = ["".join(RNG.choice(list("abcdefgh"), 6)) for _ in range(40)]
SLIPS = [name[:5] + "z" if i % 5 == 0 else name for i, name in enumerate(NAMES)]
AGE = RNG.integers(20, 80, 40).astype(float)
SEX = RNG.choice(["f", "m"], 40).tolist()
COLUMNS = [
    Compared("my name", "text", NAMES, SLIPS),
    Compared("age", "number", AGE, np.where(np.arange(40) % 4 == 1, AGE + 1, AGE), near=1.5),
    Compared("sex", "exact", SEX, SEX),
]


def test_a_weight_is_the_sum_over_the_variables():
    found = scored_links(COLUMNS, [], 1)
    assert found.n_pairs == 1600
    levels = {(one.variable, one.agreement): np.log2(one.m / one.u) for one in found.levels}
    assert [one.agreement for one in found.levels[:4]] == ["equal", "a slip", "several slips", "different"]
    start = np.log2(found.prior / (1 - found.prior))
    for i in (2, 5, 1):  # equal, a slip in the name, an age next to it
        name = "a slip" if i == 5 else "equal"
        age = "near" if i in (5, 1) else "equal"
        expected = start + levels["my name", name] + levels["age", age] + levels["sex", "equal"]
        assert found.weight[i] == pytest.approx(expected, abs=1e-6)
        assert found.correct[i] == 1
    assert found.prior == pytest.approx(1 / 40, rel=0.2)


def test_u_is_counted_over_all_pairs():
    found = scored_links(COLUMNS, [], 1)
    share = np.mean(np.array(SEX)[:, None] == np.array(SEX)[None])
    u = {(one.variable, one.agreement): one.u for one in found.levels}
    assert u["sex", "equal"] == pytest.approx(share)


def test_with_rules_u_is_counted_over_the_pairs_of_drawn_records(monkeypatch):
    rules = [[0], [1, 2]]
    whole = scored_links(COLUMNS, rules, 1)
    share = np.mean(np.array(SEX)[:, None] == np.array(SEX)[None])
    assert {(one.variable, one.agreement): one.u for one in whole.levels}["sex", "equal"] == pytest.approx(share)
    monkeypatch.setattr(home, "SAMPLE", 400)  # 20 of 40 records of both files
    found = [[one.u for one in scored_links(COLUMNS, rules, seed).levels] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2], equal_nan=True)
    assert np.nansum(found[0][-2:]) == pytest.approx(1)
    assert (np.array(found[0][-2:]) * 400 % 1 == 0).all()


def test_blocking_leaves_pairs_out():
    found = scored_links(COLUMNS, [[0], [1, 2]], 1)
    slipped = COLUMNS[1].released
    agree = [(i, j) for i in range(40) for j in range(40)
             if NAMES[i] == SLIPS[j] or (slipped[j] == AGE[i] and SEX[i] == SEX[j])]  # fmt: skip
    assert found.n_pairs == len(agree) < 200
    assert sum(right for _, _, right in found.steps) == sum(i == j for i, j in agree)
    assert np.isnan(found.weight).tolist() == [j not in {pair[1] for pair in agree} for j in range(40)]
    assert (found.correct[np.isnan(found.weight)] == 0).all()


def test_links_at_a_threshold():
    found = [scored_links(COLUMNS, [], 1, threshold=share) for share in (1e-9, 0.5, 0.999)]
    assert 1600 > found[0].n_linked > found[1].n_linked >= found[2].n_linked
    whole = scored_links(COLUMNS, [], 1, threshold=2**3 / (1 + 2**3))  # log2 of the odds is 3
    above = [row for row in whole.steps if row[0] >= 3]
    assert whole.n_linked == sum(pairs for _, pairs, _ in above)
    assert whole.n_right == sum(right for _, _, right in above)


def test_what_cannot_be_estimated_is_one_clear_error():
    none = [Compared("x", "exact", [None] * 3, [None] * 3), Compared("y", "exact", ["a"] * 3, [None] * 3)]
    with pytest.raises(DataError, match="the model cannot be estimated"):
        scored_links(none, [[0], [1]], 1)


def test_what_spark_cannot_do_is_not_blamed_on_the_variables(monkeypatch):
    class SparkRuntimeError(PySparkException):
        pass

    class Broken:
        similarity = "similar"

        def load(self, name, table):
            raise SparkRuntimeError("Frau Kant")

    monkeypatch.setattr(home, "open_spark", lambda session: nullcontext(Broken()))
    with pytest.raises(DataError, match=r"Spark could not compare the pairs \(SparkRuntimeError\)") as caught:
        scored_links(COLUMNS, [], 1, session="a session")
    assert "Kant" not in str(caught.value)


def test_without_duckdb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(DataError, match=r"pip install 'sdckit\[linkage\]'"):
        need_duckdb()


# The model from counts of pairs is the one that splink makes of the pairs.


SUNTER_RNG = np.random.default_rng(5)
N = 150
VALUES = [
    SUNTER_RNG.choice(["anna", "berta", "chloe", "dora"], N),
    SUNTER_RNG.integers(0, 30, N),
    SUNTER_RNG.integers(0, 9, N),
]
CHANGED = [np.where(SUNTER_RNG.random(N) < 0.2, SUNTER_RNG.permutation(values), values) for values in VALUES]
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
    connection.execute(f"create table {COMPARED} as {compared_sql(steps, [condition(rule) for rule in rules])}")
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


# Counts of compared pairs against loops over the pairs.


SQL_RNG = np.random.default_rng(3)
SQL_N = 25
LEFT, RIGHT = (
    {f"v{j}": SQL_RNG.choice(["a", "b", "c", None], SQL_N).tolist() for j in range(3)} for _ in range(2)
)  # fmt: skip
STEPS = [
    [Step(f"v{j}_l is null or v{j}_r is null", -1), Step(f"v{j}_l = v{j}_r", 1), Step("ELSE", 0)] for j in range(3)
]
SQL_RULES = {"all": ["1=1"], "blocked": ["l.v0 = r.v0", "l.v1 = r.v1 and l.v2 = r.v2"]}
WEIGHTS = [{-1: 0.0, 1: 2.25, 0: -1.5}, {-1: 0.0, 1: 1e-7, 0: -0.25}, {-1: 0.0, 1: 3.0, 0: -2.0}]


def agrees(i: int, k: int, j: int) -> int:
    a, b = LEFT[f"v{j}"][i], RIGHT[f"v{j}"][k]
    return -1 if a is None or b is None else int(a == b)


def rules_met(i: int, k: int, rules: list[str]) -> list[int]:
    if rules == ["1=1"]:
        return [0]
    g = [agrees(i, k, j) for j in range(3)]
    return [rule for rule, met in enumerate((g[0] == 1, g[1] == g[2] == 1)) if met]


@pytest.fixture(params=SQL_RULES)
def case(request):
    connection = duckdb.connect()
    for name, columns in zip(FILES, (LEFT, RIGHT), strict=True):
        connection.register(name, pa.table({"unique_id": np.arange(SQL_N), **columns}))
    rules = SQL_RULES[request.param]
    connection.execute(f"create table {COMPARED} as {compared_sql(STEPS, rules)}")
    connection.execute(f"create table {WEIGHED} as {weighed_sql(-1.0, WEIGHTS)}")
    met = {(i, k): rules_met(i, k, rules) for i in range(SQL_N) for k in range(SQL_N)}
    return connection, rules, {pair: rules for pair, rules in met.items() if rules}


def weight(i: int, k: int) -> float:
    return round(-1.0 + sum(WEIGHTS[j][agrees(i, k, j)] for j in range(3)), 9)


def test_patterns(case):
    connection, rules, met = case
    for rule in range(len(rules)):
        expected = Counter(tuple(agrees(i, k, j) for j in range(3)) for (i, k), which in met.items() if rule in which)
        found = connection.sql(patterns_sql(rule, 3)).fetchall()
        assert {row[:3]: row[3] for row in found} == expected


def test_best_candidates(case):
    connection, _, met = case
    expected = {}
    for k in range(SQL_N):
        weights = {i: weight(i, k) for i in range(SQL_N) if (i, k) in met}
        if weights:
            tied = [i for i, one in weights.items() if one >= max(weights.values()) - 1e-8]
            expected[k] = (max(weights.values()), (k in tied) / len(tied))
    found = {row[0]: row[1:] for row in connection.sql(best_sql()).fetchall()}
    assert found.keys() == expected.keys()
    for k, (top, correct) in expected.items():
        assert found[k] == (pytest.approx(top, abs=1e-9), pytest.approx(correct))


def test_steps_and_the_threshold(case):
    connection, _, met = case
    expected: Counter[tuple[int, int]] = Counter()
    hits: Counter[tuple[int, int]] = Counter()
    for i, k in met:
        at = (math.floor(weight(i, k)), int(weight(i, k) >= math.log2(0.7 / 0.3) - 1e-8))
        expected[at] += 1
        hits[at] += i == k
    found = connection.sql(steps_sql(0.7)).fetchall()
    assert {row[:2]: row[2] for row in found} == expected
    assert {row[:2]: row[3] for row in found if row[3]} == +hits
