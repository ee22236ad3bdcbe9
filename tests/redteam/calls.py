"""One call of every public function on the marked files."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import polars as pl

import sdckit as sdc

Call = tuple[list[Any], dict[str, Any]]
KEYS = ["region", "sex", "band", "education", "marital"]
FEW = KEYS[:3]
NUMERIC = ["income", "hours"]
RECIPE = """
[[steps]]
method = "drop_identifiers"
columns = ["id"]
[[steps]]
method = "top_bottom_code"
column = "income"
top = 5000
[[steps]]
method = "pram"
columns = ["job"]
pd = 0.8
[[steps]]
method = "local_suppression"
keys = ["region", "sex", "band"]
k = 3
"""
SCENARIO: dict[str, Any] = {
    "keys": FEW,
    "weight": "w",
    "sensitive": ["ill"],
    "numeric": NUMERIC,
    "identifiers": ["id"],
    "thresholds": {"k": 3, "risk": 0.1, "l": 2, "global_risk": 0.05},
}


def measures(files: dict[str, pl.DataFrame], *, dates: Sequence[str] = ("born",)) -> dict[str, Call]:
    """Every measure of the catalogue; `dates` are columns of dates that the files have."""
    one, two = [files["survey"]], [files["survey"], files["made1"]]
    aligned = [files["survey"], files["changed"]]
    seed: dict[str, Any] = {"seed": 5}
    roles: dict[str, Any] = {"keys": KEYS, "missing": "category"}
    told = {**roles, "sensitive": ["ill", "job"]}
    mixed: dict[str, Any] = {"variables": [*KEYS, "ill", *NUMERIC]}
    tried = {"control": files["control"], "n_attacks": 30, **seed}
    target: dict[str, Any] = {"keys": FEW, "target": "ill"}
    plain = one[0].drop("id", "hh", "w", *dates)
    made = sdc.synthesize(plain, columns=["hours"], models={"hours": "normal"}, **seed)
    draws = made.change.secret["draws"]["hours"].predictive(one[0])
    return {
        "key_frequencies": (one, {"keys": [*KEYS, "income", *dates], "weight": "w"}),
        "k_anonymity": (one, roles),
        "individual_risk": (one, {**roles, "weight": "w"}),
        "key_contributions": (one, {"keys": [*FEW, "income", *dates], "weight": "w"}),
        "household_structure": (one, {"household": "hh", "keys": KEYS, "weight": "w"}),
        "l_diversity": (one, told),
        "t_closeness": (one, told),
        "beta_likeness": (one, told),
        "delta_disclosure": (one, told),
        "alpha_k": (one, told),
        "suda": (one, roles),
        "population_risk": (one, {"keys": FEW, "weight": "w"}),
        "population_uniques": (one, {"keys": FEW, "weight": "w"}),
        "risky_cells": (one, {"keys": KEYS}),
        "key_separation": (one, {"keys": KEYS}),
        "outliers": (one, {"numeric": NUMERIC}),
        "explain": (one, {"keys": KEYS, "row": 4}),
        "k_map": ([*one, files["population"]], {"keys": FEW}),
        "delta_presence": ([*one, files["population"]], {"keys": FEW}),
        "identity_disclosure": (two, {"keys": KEYS}),
        "replicated_uniques": (two, {"keys": KEYS}),
        "few_matches": (two, {"keys": KEYS}),
        "copied_records": (two, {"control": files["control"]}),
        "attribute_disclosure": (two, target),
        "attribute_disclosure_table": (two, {"keys": FEW, "targets": ["ill", "job"]}),
        "correct_attribution_probability": (two, target),
        "prediction_risk": (two, target),
        "bayesian_attribute_risk": ([*one, made.data], {"target": "hours", "draws": draws}),
        "matching_risk": (aligned, {"known": [*FEW, "income"], "numeric": ["income"]}),
        "interval_risk": (aligned, {"numeric": NUMERIC}),
        "exact_numbers": (aligned, {"magnitudes": NUMERIC, "number_groups": FEW}),
        "known_points": (aligned, {"person": "hh", "keys": KEYS}),
        "robust_interval_risk": (aligned, {"numeric": NUMERIC, **seed}),
        "record_linkage": (aligned, mixed),
        "generalization_loss": (aligned, {"hierarchies": {"sex": {name: ["*"] for name in "fm"}}, "id": "id"}),
        "information_loss": (aligned, {"numeric": NUMERIC, **seed}),
        "compare_models": (two, {"formula": "income ~ hours + sex"}),
        "compare_estimates": (two, {"statistic": "mean", "variables": NUMERIC}),
        "compare_distributions": (two, mixed),
        "compare_associations": (two, mixed),
        "edit_rules": (aligned, {"rules": {"ill": {"when": {"sex": "f"}, "value": "no"}}, "id": "id"}),
        "tabular_utility": (two, mixed),
        "cluster_utility": (two, {**mixed, **seed}),
        "ecdf_utility": (two, {"variables": NUMERIC}),
        "propensity": (two, {**mixed, **seed}),
        "utility_overview": (two, {**mixed, **seed}),
        "singling_out": (two, {**mixed, **tried}),
        "linkability": (two, {"known": (FEW, ["income", "marital"]), **tried}),
        "inference": (two, {"known": FEW, "target": "ill", **tried}),
        "membership": (two, {**mixed, **tried}),
        "distance_to_closest_record": (two, {**mixed, "control": files["control"], **seed}),
        "probabilistic_linkage": ([*one, files["shuffled"]], {"variables": [*KEYS, "income"], "id": "id", **seed}),
        "joint_audit": (
            [files["changed"], files["survey"]],
            {"tables": [FEW[:2], FEW[1:], sdc.PublishedTable(variables=FEW[:2], sum="income")], "keys": FEW},
        ),
        "recoverable_values": ([files["changed"], files["survey"]], {"keys": FEW, **seed}),
        "differencing": (one, {"earlier": files["changed"], "keys": FEW, "sensitive": ["ill"], "id": "id"}),
        "canaries": ([plain], {"n": 20, **seed}),
        "combine": ([[1.0, 1.1, 0.9], [0.1, 0.1, 0.1]], {"kind": "partial"}),
    }  # fmt: skip


def others(files: dict[str, pl.DataFrame]) -> dict[str, Call]:
    """Every public function that is no measure."""
    data = [files["survey"]]
    declared = sdc.Domain(tuple(sdc.DomainColumn(name, levels=("a", "b")) for name in ("sex", "job")))
    seed: dict[str, Any] = {"seed": 5}
    risk = [0.9 if row % 40 == 17 else 0.1 for row in range(files["survey"].height)]
    made = files["changed"]
    scenario = sdc.Scenario(**SCENARIO)
    return {
        "add_noise": (data, {"columns": NUMERIC, **seed}),
        "as_cells": (data, {"keys": KEYS, "missing": "category"}),
        "assert_within_limits": (data, {"scenario": scenario.changed(thresholds={"risk": 1.0})}),
        "assess": (data, {"scenario": scenario}),
        "cap": ([files["survey"], files["made1"]], {"keys": FEW, "target": "ill"}),
        "check": (data, {"scenario": scenario}),
        "coarsen_weights": (data, {"weight": "w", **seed}),
        "demo_scenario": ([], {}),
        "drop_identifiers": (data, {"columns": ["id"]}),
        "explore": (
            [files["survey"], sdc.Recipe(steps=tomllib.loads(RECIPE)["steps"])],
            {"grid": {"local_suppression.k": [2, 3]}, "scenario": scenario, **seed},
        ),
        "guess_roles": (data, {}),
        "household_variables": (data, {"household": "hh"}),
        "impute_masked": (
            [data[0].with_columns(masked=pl.col(NUMERIC[0]) + 1.0)],
            {"masked": {NUMERIC[0]: "masked"}, "error": {NUMERIC[0]: 10.0}, "m": 1, "iterations": 3, **seed},
        ),
        "compare_intervals": ([[(1.0, 2.0)], [(1.5, 2.5)]], {}),
        "interval_overlap": ([(1.0, 2.0), (1.5, 2.5)], {}),
        "limit_households": (data, {"household": "hh", "largest": 2, **seed}),
        "load_demo": ([], {}),
        "local_suppression": (data, {"keys": FEW, "k": 3}),
        "mask_categorical": (data, {"columns": ["job"], "probability": 0.8, **seed}),
        "mask_continuous": (data, {"columns": NUMERIC, "sd": 10.0, **seed}),
        "microaggregate": (data, {"columns": NUMERIC, **seed}),
        "new_ids": (data, {"column": "id"}),
        "options": ([], {"exact": False}),
        "pram": (data, {"columns": ["job"], **seed}),
        "random_order": (data, seed),
        "rank_swap": (data, {"columns": NUMERIC, "p": 5, **seed}),
        "read_file": (["survey.csv"], {}),
        "read_labels": (["survey.csv"], {}),
        "scan_file": (["survey.parquet"], {}),
        "read_hierarchy": (["hierarchy.csv"], {}),
        "recompute": (data, {"derived": {"income": "12 * hours"}}),
        "recode": (data, {"column": "income", "bands": 5}),
        "replace_high_risk": (
            [made],
            {"risk": risk, "threshold": 0.5, "match": FEW, "replace": ["ill"], **seed},
        ),
        "round_to": (data, {"column": "income", "base": 100, **seed}),
        "shuffle": (data, {"columns": NUMERIC, "given": ["w"], **seed}),
        "propose": (data, {"scenario": scenario, "alternatives": 1}),
        "starter_recipe": (data, {"scenario": scenario}),
        "suppress_above": (data, {"risk": risk, "threshold": 0.5, "columns": ["ill"]}),
        "swap_records": (data, {"hierarchy": ["region"], "keys": ["sex", "band"], **seed}),
        "synthesize": ([files["survey"].drop("id", "hh", "w")], {"columns": ["ill", "hours"], **seed}),
        "synthesize_margins": (data, {"domain": declared, "epsilon": 1, "delta": 1e-6}),
        "top_bottom_code": (data, {"column": "income", "top": 5000}),
        "write_file": (data, {"path": "written.parquet"}),
    }  # fmt: skip
