"""Every public function refuses every wrong kind of every argument, by an `SdcError` that names the argument."""

from __future__ import annotations

import inspect
import math

import numpy as np
import polars as pl
import pytest

import sdckit
from sdckit.errors import SdcError

N = 24
RNG = np.random.default_rng(12)
FILE = pl.DataFrame(
    {
        "row": range(N),
        "home": [i // 2 for i in range(N)],
        "sex": ["f", "m"] * (N // 2),
        "area": ["a", "b", "c"] * (N // 3),
        "ill": ["no", "no", "yes", "no"] * (N // 4),
        "age": RNG.integers(20, 60, N),
        "pay": RNG.normal(100.0, 20.0, N),
        "weight": [5.0] * N,
    }
)
RELEASE = FILE.with_columns(pl.Series("pay", FILE["pay"].to_numpy() + RNG.normal(0, 5, N)))
OTHERS = FILE.with_columns(pl.Series("age", RNG.integers(20, 60, N)), pl.Series("pay", RNG.normal(100.0, 20.0, N)))
SCENARIO = sdckit.Scenario(
    keys=["sex", "age"], sensitive=["ill"], numeric=["pay"], sampling_fraction=0.1, thresholds={"k": 2}
)
LENIENT = SCENARIO.changed(thresholds={"risk": 1.0})
RECIPE = sdckit.Recipe([{"method": "round_to", "column": "pay", "base": 10}])
DOMAIN = sdckit.Domain((
    sdckit.DomainColumn("sex", levels=("f", "m")), sdckit.DomainColumn("age", "integer", edges=(0, 40, 120))
))  # fmt: skip
PAIR = {"original": FILE, "released": RELEASE}
ATTACK = {**PAIR, "control": OTHERS, "n_attacks": 10}
ONE = {"data": FILE, "keys": ["sex", "age"]}
CLASSES = {**ONE, "sensitive": ["ill"]}
LEARNT = {**PAIR, "keys": ["sex", "area"], "target": "ill"}
DRAWS = {"probability": np.full((2, N, 2), 0.5), "levels": ["no", "yes"]}
NUMBERS = {"data": FILE, "columns": ["age", "pay"]}

# A call of each function that is right, so that what is changed in it is what is wrong.
CALLS = {
    "add_noise": NUMBERS,
    "alpha_k": CLASSES,
    "as_cells": ONE,
    "assert_within_limits": {"data": FILE, "scenario": LENIENT},
    "assess": {"data": FILE, "released": RELEASE, "scenario": SCENARIO},
    "attribute_disclosure": LEARNT,
    "attribute_disclosure_table": {**PAIR, "keys": ["sex", "area"], "targets": ["ill"]},
    "bayesian_attribute_risk": {**PAIR, "target": "ill", "draws": DRAWS},
    "beta_likeness": CLASSES,
    "canaries": {"data": FILE.select("sex", "area", "age"), "n": 5},
    "cap": LEARNT,
    "check": {"data": FILE, "scenario": SCENARIO},
    "cluster_utility": {**PAIR, "variables": ["sex", "pay"], "n_clusters": 3},
    "coarsen_weights": {"data": FILE, "weight": "pay"},
    "combine": {"estimates": [1.0, 2.0], "variances": [1.0, 1.0], "kind": "partial"},
    "compare_associations": {**PAIR, "variables": ["sex", "area"]},
    "compare_distributions": {**PAIR, "variables": ["sex", "area", "pay"]},
    "compare_estimates": {**PAIR, "statistic": "mean", "variables": ["pay"]},
    "compare_intervals": {"confidential": [[0.0, 1.0]], "released": [[0.5, 1.5]]},
    "compare_models": {**PAIR, "formula": "pay ~ age"},
    "correct_attribution_probability": LEARNT,
    "delta_disclosure": CLASSES,
    "delta_presence": {"data": FILE, "population": pl.concat([FILE, OTHERS]), "keys": ["sex", "area"]},
    "distance_to_closest_record": {**PAIR, "control": OTHERS, "variables": ["sex", "pay"]},
    "drop_identifiers": {"data": FILE, "columns": ["row"]},
    "ecdf_utility": {**PAIR, "variables": ["age", "pay"]},
    "explain": ONE,
    "explore": {"data": FILE, "recipe": RECIPE, "grid": {"1.base": [10, 20]}, "scenario": SCENARIO},
    "guess_roles": {"data": FILE},
    "household_variables": {"data": FILE, "household": "home"},
    "household_structure": {"data": FILE, "household": "home", "keys": ["sex"]},
    "identity_disclosure": {**PAIR, "keys": ["sex", "area"]},
    "few_matches": {**PAIR, "keys": ["sex", "area"]},
    "impute_masked": {
        "data": FILE.select("sex", "pay", pay_masked=pl.col("pay") + 1.0), "masked": {"pay": "pay_masked"},
        "error": {"pay": 5.0}, "iterations": 4,
    },
    "individual_risk": {**ONE, "sampling_fraction": 0.1},
    "inference": {**ATTACK, "known": ["sex", "area"], "target": "pay"},
    "generalization_loss": {**PAIR, "hierarchies": {"sex": {"f": ["*"], "m": ["*"]}}, "aligned": True},
    "information_loss": {**PAIR, "numeric": ["age", "pay"]},
    "copied_records": PAIR,
    "interval_overlap": {"confidential": [[0.0, 1.0]], "released": [[0.5, 1.5]]},
    "interval_risk": {**PAIR, "numeric": ["pay"]},
    "edit_rules": {**PAIR, "rules": {"ill": {"when": {"sex": "f"}, "value": "no"}}},
    "exact_numbers": {**PAIR, "magnitudes": ["pay"], "number_groups": ["area"]},
    "k_anonymity": ONE,
    "known_points": {"data": FILE, "person": "home", "keys": ["sex"]},
    "differencing": {"data": FILE, "keys": ["sex", "age"], "earlier": FILE},
    "k_map": {"data": FILE, "population": pl.concat([FILE, OTHERS]), "keys": ["sex", "age"]},
    "key_contributions": ONE,
    "key_separation": ONE,
    "key_frequencies": ONE,
    "l_diversity": CLASSES,
    "limit_households": {"data": FILE, "household": "home", "largest": 1},
    "joint_audit": {**PAIR, "tables": [["sex", "area"]], "keys": ["sex", "area"]},
    "linkability": {**ATTACK, "known": (["sex", "area"], ["age", "pay"])},
    "local_suppression": {**ONE, "k": 2},
    "mask_categorical": {"data": FILE, "columns": ["sex"], "probability": 0.5},
    "mask_continuous": {**NUMBERS, "reliability": 0.9},
    "matching_risk": {**PAIR, "known": ["sex"], "synthetic": ["pay"], "numeric": ["pay"]},
    "membership": {**ATTACK, "variables": ["sex", "pay"]},
    "microaggregate": NUMBERS,
    "new_ids": {"data": FILE, "column": "row"},
    "options": {"exact": False},
    "outliers": {"data": FILE, "numeric": ["pay"]},
    "population_risk": {**ONE, "sampling_fraction": 0.1},
    "population_uniques": {**ONE, "sampling_fraction": 0.1},
    "pram": {"data": FILE, "columns": ["sex"]},
    "prediction_risk": LEARNT,
    "probabilistic_linkage": {**PAIR, "variables": ["sex", "area", "age"], "id": "row"},
    "propensity": {**PAIR, "variables": ["sex", "pay"]},
    "random_order": {"data": FILE},
    "recompute": {"data": FILE, "derived": {"pay": "2 * age"}},
    "rank_swap": NUMBERS,
    "read_file": {"path": "absent.csv"},
    "read_labels": {"path": "absent.csv"},
    "scan_file": {"path": "absent.parquet"},
    "read_hierarchy": {"path": "absent.csv"},
    "recode": {"data": FILE, "column": "age", "bands": 3},
    "recoverable_values": {**PAIR, "keys": ["sex", "area"]},
    "record_linkage": {**PAIR, "variables": ["sex", "pay"]},
    "replace_high_risk": {
        "released": FILE, "risk": [0.0] * (N - 1) + [1.0], "threshold": 0.5, "match": ["sex"], "replace": ["pay"]
    },
    "replicated_uniques": {**PAIR, "keys": ["sex", "age"]},
    "risky_cells": ONE,
    "robust_interval_risk": {**PAIR, "numeric": ["age", "pay"]},
    "round_to": {"data": FILE, "column": "pay", "base": 10.0},
    "shuffle": {"data": FILE, "columns": ["pay"], "given": ["age"]},
    "singling_out": {**ATTACK, "variables": ["sex", "area", "age"], "mode": "multivariate"},
    "propose": {"data": FILE, "scenario": SCENARIO, "alternatives": 0},
    "starter_recipe": {"data": FILE, "scenario": SCENARIO},
    "suda": ONE,
    "suppress_above": {"data": FILE, "risk": [0.0] * N, "threshold": 0.5, "columns": ["sex"]},
    "swap_records": {"data": FILE, "hierarchy": ["area"], "keys": ["sex"]},
    "synthesize": {"data": FILE.select("sex", "area", "pay")},
    "synthesize_margins": {"data": FILE, "domain": DOMAIN, "epsilon": 1.0, "delta": 1e-6},
    "t_closeness": CLASSES,
    "tabular_utility": {**PAIR, "variables": ["sex", "area", "pay"]},
    "top_bottom_code": {"data": FILE, "column": "pay", "top": 120.0},
    "write_file": {"data": FILE, "path": "no-such-folder/absent.csv"},
    "utility_overview": {**PAIR, "variables": ["sex", "pay"]},
}  # fmt: skip

NO_NUMBER = ("x", True, math.nan, [None], {"x": "y"}, object())
WRONG = {
    "seed": ("x", True, math.nan, math.inf, -1, 1.5, [1], {}),
    "whole": (*NO_NUMBER, math.inf, -1, 1.5),
    "wholes": (*NO_NUMBER, math.inf, -1, 1.5, [1.5], [True]),
    "inside": (*NO_NUMBER, math.inf, -1, 0, 1, 1.5),
    "share": (*NO_NUMBER, math.inf, -0.5, 1.5),
    "amount": (*NO_NUMBER, math.inf, -math.inf, -1),
    "above": (*NO_NUMBER, math.inf, -1, 0),
    "percent": (*NO_NUMBER, math.inf, -1, 101),
    "number": (*NO_NUMBER, math.inf),
    "limits": (*NO_NUMBER, math.inf, -1, [True]),
    "flag": ("x", 1, 0, math.nan, [True], {"x": "y"}),
    "choice": ("no such word", "", 1, True, math.nan, ["x"], {"x": "y"}),
    "names": (5, True, math.nan, [None], [1.5], [["sex"]], ["sex", "sex"], b"sex", object()),
    "column": (5, True, math.nan, ["sex"], {"sex": 1}),
    "text": (5, True, math.nan, ["x"]),
    "scenario": (5, True, "x", {"keys": ["sex"]}),
    "own": (object(), math.nan),  # a thing of its own form, with tests of its own
    "rule": ("no such word", 5, True, ["wildcard"], {"sex": "no such word"}),
}
# What an argument is, wherever it stands.
KINDS = {
    "people": "text", "seed": "seed", "scenario": "scenario", "missing": "rule", "prefix": "text", "suffix": "text",
    **dict.fromkeys(["level", "probability", "delta"], "inside"),
    **dict.fromkeys(
        ["n_attacks", "n_neighbors", "resamples", "n_columns", "n", "copies", "m", "min_leaf", "posterior_draws",
         "iterations",
         "n_best", "max_dim", "max_size", "n_clusters", "interactions", "ways", "length", "radius", "max_cell",
         "n_replace", "workers", "k", "bins", "largest", "within", "alternatives", "most_subsets",
         "most_persons", "block", "bound", "max_cells"], "whole"),
    **dict.fromkeys(["levels", "points"], "wholes"),
    **dict.fromkeys(["alpha", "sampling_fraction", "hit_width", "tau", "isolation", "upper", "lower", "swap_rate", "pd",
                     "reliability", "share"], "share"),
    **dict.fromkeys(["tol", "near", "width", "scale", "noise", "smoothing", "sd", "concentration"], "amount"),
    **dict.fromkeys(["base", "factor", "c", "n_synthetic", "time_limit", "epsilon"], "above"),
    **dict.fromkeys(["p", "r0", "k0", "top", "bottom"], "percent"),
    "limits": "limits", "others": "text",
    **dict.fromkeys(
        ["keep_zeros", "aligned", "first", "pairs", "robust", "select", "cross_fit", "drop_missing", "header", "labels",
         "proper", "exclude_missing_target", "exclude_high_risk", "invariant", "same_size", "relative", "joint",
         "attacks", "guess", "hide_implied", "true_keys", "internal", "remedies", "coins"], "flag"),
    **dict.fromkeys(
        ["method", "kind", "version", "scoring", "distance", "mode", "measure", "family", "around", "bounds", "closed",
         "outside", "null", "fit_to", "interval", "statistic", "loss",
         "risk_figure", "loss_figure", "how", "ties", "negative", "score", "protect"],
        "choice"),
    **dict.fromkeys(
        ["keys", "variables", "numeric", "sensitive", "by", "known", "synthetic", "columns", "strata", "given", "order",
         "predictors", "match", "replace", "exact", "targets", "categorical", "carry_along", "exclude_missing_keys",
         "identifiers", "household_variables", "hide", "among", "keep", "magnitudes", "number_groups",
          "also_known", "new", "linear"], "names"),
    **dict.fromkeys(
        ["bands", "blocking", "center", "combinations", "covariance", "exclude_levels", "exclude_pairs", "formula",
         "grid", "groups", "hierarchy", "identification_levels", "importance", "key", "matrix", "measures",
         "model", "models", "ordered", "hierarchies", "prior", "resume", "risk", "rows", "rules", "session", "similar",
          "masked", "error", "tables", "to", "weights", "margins", "together", "folder", "earlier",
          "earlier_keys", "ledger", "prefer", "allow", "transform", "tolerance",
          "derived", "fpr", "domain", "budget", "cliques"], "own"),
    **dict.fromkeys(["weight", "person", "household", "id", "target", "time", "column", "sort_by", "size"], "column"),
}  # fmt: skip
# Where a name means something else.
ELSEWHERE = {
    **{
        (one, "k"): "wholes"
        for one in ("k_anonymity", "k_map", "key_contributions", "recoverable_values", "joint_audit")
    },
    ("recoverable_values", "risk"): "share",
    ("matching_risk", "high_risk"): "share",
    **{("guess_roles", one): "own" for one in ("labels", "value_labels")},
    ("robust_interval_risk", "isolation"): "amount",
    ("interval_risk", "scale"): "choice",
    ("interval_overlap", "draws"): "flag",
    ("compare_intervals", "names"): "names",
    ("prediction_risk", "scale"): "own",  # None: as they are
    ("robust_interval_risk", "factor"): "amount",
    ("outliers", "upper_quantile"): "inside",
    ("outliers", "lower_quantile"): "inside",
    ("matching_risk", "width"): "amount",
    ("matching_risk", "relative"): "own",  # one for each number, too
    ("risky_cells", "threshold"): "whole",
    ("individual_risk", "threshold"): "share",
    ("probabilistic_linkage", "threshold"): "inside",
    ("explain", "row"): "whole",
    **{
        (one, "targets"): "whole"
        for one in (
            "linkability",
            "inference",
            "membership",
            "record_linkage",
            "probabilistic_linkage",
            "distance_to_closest_record",
            "assess",
        )
    },
    ("alpha_k", "limits"): "limits",
    ("t_closeness", "distance"): "own",
    ("l_diversity", "kind"): "choice",
    **{(one, "target"): "names" for one in ("cap", "correct_attribution_probability")},
    **{(one, "width"): "amount" for one in ("cap", "correct_attribution_probability")},
    ("combine", "n"): "above",
    ("coarsen_weights", "share"): "inside",
    ("add_noise", "noise"): "above",
    ("impute_masked", "predictors"): "own",
    ("mask_categorical", "probability"): "inside",
    ("mask_continuous", "reliability"): "inside",
    ("mask_continuous", "sd"): "above",
    ("rank_swap", "r0"): "share",
    **{(one, "share"): "share" for one in ("starter_recipe", "propose")},
    **{("propose", one): "own" for one in ("loss", "control")},
    ("rank_swap", "k0"): "above",
    ("replace_high_risk", "threshold"): "number",
    ("suppress_above", "threshold"): "number",
    **{("top_bottom_code", one): "number" for one in ("top", "bottom", "to")},
    **{(one, "exact"): "flag" for one in ("local_suppression", "options")},
    ("swap_records", "hierarchy"): "names",
    **{("recode", one): "own" for one in ("level", "labels")},
    ("recode", "period"): "choice",
    **{("read_file", one): "flag" for one in ("labels", "user_missing")},
    ("read_file", "join_key"): "column",
    **{(one, "join"): "own" for one in ("read_file", "read_labels")},
    **{("write_file", one): "own" for one in ("labels", "sources")},
    **{("write_file", one): "flag" for one in ("excel_safe", "private")},
    **{("read_file", one): "whole" for one in ("rows", "header_row")},
    ("read_file", "sheet"): "own",
    ("read_file", "missing"): "own",
    ("scan_file", "missing"): "own",
    ("scan_file", "engine"): "choice",
    ("scan_file", "memory"): "text",
    **{(one, "delimiter"): "text" for one in ("read_file", "read_hierarchy", "scan_file")},
    **{(one, "encoding"): "text" for one in ("read_file", "read_hierarchy", "read_labels", "scan_file")},
    **{(one, "decimal"): "text" for one in ("read_file", "scan_file")},
}
# What another argument must be for the one that is wrong to count.
BESIDE = {
    **{("assess", one): {"scenario": None} for one in ("weight", "household", "person", "sampling_fraction")},
    ("mask_continuous", "sd"): {"reliability": None},
    ("recode", "groups"): {"bands": None},
    ("recode", "hierarchy"): {"bands": None},
    ("recode", "period"): {"bands": None, "column": "sex"},
    ("recode", "level"): {"bands": None, "hierarchy": {i: ["near" if i < 40 else "far"] for i in range(20, 60)}},
}
# Files and what is computed from them, what a caller wants to hear, and what only some draws are asked for.
DATA = {
    "data", "original", "released", "control", "population", "path", "estimates", "variances", "confidential",
    "children", "draws", "guesses", "step", "recipe", "log", "beside",
}  # fmt: skip
FUNCTIONS = sorted(name for name in sdckit.__all__ if inspect.isfunction(getattr(sdckit, name)))
MEASURES = [name for name in FUNCTIONS if inspect.signature(getattr(sdckit, name)).parameters]


def kind_of(function, argument):
    return ELSEWHERE.get((function, argument), KINDS.get(argument))


def cases():
    for function in MEASURES:
        for argument, declared in inspect.signature(getattr(sdckit, function)).parameters.items():
            if (kind := kind_of(function, argument)) is not None:
                optional = declared.default is None or kind in {"names", "own"}
                values = WRONG[kind] if optional else (*WRONG[kind], None)
                yield pytest.param(function, argument, values, id=f"{function}-{argument}")


def test_every_argument_has_a_kind():
    assert set(CALLS) == set(MEASURES)
    without = {
        argument
        for function in MEASURES
        for argument in inspect.signature(getattr(sdckit, function)).parameters
        if kind_of(function, argument) is None
    }
    assert without == DATA


@pytest.mark.parametrize(
    "function", sorted({*MEASURES} - {"read_file", "read_hierarchy", "read_labels", "scan_file", "write_file"})
)
@pytest.mark.filterwarnings("ignore")
def test_the_call_is_right_but_for_what_is_changed_in_it(function):
    getattr(sdckit, function)(**CALLS[function])


@pytest.mark.parametrize(("function", "argument", "values"), list(cases()))
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_kind_is_refused_by_the_name_of_the_argument(function, argument, values):
    given = {**CALLS[function], **BESIDE.get((function, argument), {})}
    for value in values:
        with pytest.raises(SdcError) as caught:
            getattr(sdckit, function)(**{**given, argument: value})
        assert caught.value.argument == argument, (value, str(caught.value))
        assert argument in str(caught.value)
