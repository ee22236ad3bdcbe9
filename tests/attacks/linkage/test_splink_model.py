"""The model from counts of pairs is the one that splink makes of the pairs."""

from __future__ import annotations

import logging
import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import splink.comparison_library as comparisons
from splink import DuckDBAPI, Linker, SettingsCreator

from sdckit.attacks.linkage.linkage_sql import (
    ALL,
    COMPARED,
    FILES,
    WEIGHED,
    compared_sql,
    patterns_sql,
    weighed_sql,
)
from sdckit.attacks.linkage.splink_model import SplinkModel

RNG = np.random.default_rng(5)
N = 150
VALUES = [RNG.choice(["anna", "berta", "chloe", "dora"], N), RNG.integers(0, 30, N), RNG.integers(0, 9, N)]
CHANGED = [np.where(RNG.random(N) < 0.2, RNG.permutation(values), values) for values in VALUES]
FILE = {
    name: pa.table({"unique_id": np.arange(N), **{f"v{j}": one for j, one in enumerate(values)}})
    for name, values in zip(FILES, (VALUES, CHANGED), strict=True)
}
RULES = {"all": [ALL], "blocked": ["l.v0 = r.v0", "l.v1 = r.v1 and l.v2 = r.v2"]}


def compared():
    return [
        comparisons.JaroWinklerAtThresholds("v0", [0.9]),
        *(comparisons.ExactMatch(f"v{j}") for j in (1, 2)),
    ]


def by_splink(rules):
    """Splink alone: its own pairs, its own weights."""
    api = DuckDBAPI()
    settings = SettingsCreator(
        link_type="link_only", comparisons=compared(), blocking_rules_to_generate_predictions=rules,
        probability_two_random_records_match=1 / N, retain_matching_columns=False, max_iterations=200,
    )  # fmt: skip
    tables = [api.register(table, dataset_display_name=name) for name, table in FILE.items()]
    linker = Linker(tables, settings, log_level=logging.ERROR)
    linker.training.estimate_u_using_random_sampling(max_pairs=float(N * N), seed=1, min_count_per_level=None)
    for rule in rules:
        linker.training.estimate_parameters_using_expectation_maximisation(
            rule, record_sample_proportion=1.0, fix_probability_two_random_records_match=rule != ALL
        )
    found = linker.inference.predict(warning_mode="never").as_pyarrow_table()
    return linker.misc.save_model_to_json(), found


def by_counts(rules, connection):
    model = SplinkModel(connection, FILE, compared())
    connection.execute(
        f"create table {COMPARED} as {compared_sql(model.steps('jaro_winkler_similarity'), rules)}"
    )
    model.count_others(1)
    for k, rule in enumerate(rules):
        model.learn_matches(rule, connection.sql(patterns_sql(k, 3)).to_arrow_table())
    connection.execute(f"create table {WEIGHED} as {weighed_sql(model.prior_weight, model.weights)}")
    return model


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_splink_alone_finds_the_same(rules):
    connection = duckdb.connect()
    model = by_counts(rules, connection)
    expected, pairs = by_splink(rules)
    for one, other in zip(model.saved()["comparisons"], expected["comparisons"], strict=True):
        for level, known in zip(one["comparison_levels"], other["comparison_levels"], strict=True):
            for name in ("m_probability", "u_probability"):
                assert (name in level) == (name in known)
                assert level.get(name, 0) == pytest.approx(known.get(name, 0), rel=1e-9), level[
                    "label_for_charts"
                ]
    order = np.argsort(pairs["match_weight"].to_numpy())
    weights = connection.sql(f"select weight, pairs from {WEIGHED} order by weight").to_arrow_table()
    found = np.repeat(weights["weight"].to_numpy(), weights["pairs"].to_numpy())
    assert found == pytest.approx(pairs["match_weight"].to_numpy()[order], abs=1e-8)


def test_splink_makes_no_tables_of_pairs():
    connection = duckdb.connect()
    by_counts(RULES["all"], connection)
    tables = [row[0] for row in connection.execute("select table_name from duckdb_tables()").fetchall()]
    assert not [name for name in tables if "blocked_id_pairs" in name or "comparison_vectors" in name]


def test_many_pairs_of_one_pattern():
    model = SplinkModel(duckdb.connect(), FILE, compared())
    model.count_others(1)
    counts = pa.table({"g0": [2, 0], "g1": [1, 0], "g2": [1, 0], "pairs": [1_000, 2_300_001]})
    model.learn_matches(ALL, counts)
    rows = model._connection.execute("select gamma_v1, count(*) from sdckit_vectors group by 1").fetchall()
    assert dict(rows) == {1: 1_000, 0: 2_300_001}


def test_names_without_quotes_and_the_functions_name():
    steps = SplinkModel(duckdb.connect(), FILE, compared()).steps("our_own")
    assert [step.number for step in steps[0]] == [-1, 2, 1, 0]
    assert steps[0][2].condition == "our_own(v0_l, v0_r) >= 0.9"
    assert '"' not in "".join(step.condition for variable in steps for step in variable)


def test_a_level_never_seen_has_a_weight():
    model = SplinkModel(duckdb.connect(), FILE, compared())
    model.count_others(1)
    model.learn_matches(ALL, pa.table({"g0": [2, 0], "g1": [1, 0], "g2": [1, 0], "pairs": [150, 20_000]}))
    assert all(math.isfinite(weight) for levels in model.weights for weight in levels.values())
