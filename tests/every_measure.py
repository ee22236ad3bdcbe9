"""Every measure of the catalogue called on a small file: what it is given, and what it finds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.catalogue import CATALOGUE, Measure

N = 90
KEYS = ["sex", "region", "size"]
NUMBERS = ["income", "hours"]
# Three take estimates, no files; canaries change a file, which must be in memory.
OTHERS = {"combine", "compare_intervals", "interval_overlap", "canaries"}
ROLES: dict[str, Any] = {
    "keys": KEYS, "known": KEYS, "variables": [*KEYS, *NUMBERS], "numeric": NUMBERS, "sensitive": ["ill"],
    "target": "ill", "household": "home",
}  # fmt: skip
SIZES = {1: ["few", "*"], 2: ["few", "*"], 3: ["many", "*"]}
MORE: dict[str, dict[str, Any]] = {
    "key_frequencies": {"weight": "w"},
    "individual_risk": {"weight": "w", "household": "home"},
    "key_contributions": {"weight": "w"},
    "population_risk": {"weight": "w"},
    "population_uniques": {"weight": "w"},
    "explain": {"id": "row", "row": 2},
    "few_matches": {"id": "row"},
    "matching_risk": {"numeric": ["income"], "synthetic": ["income"], "id": "row"},
    "record_linkage": {"id": "row"},
    "interval_risk": {"id": "row"},
    "exact_numbers": {"magnitudes": NUMBERS, "number_groups": ["region"], "id": "row"},
    "known_points": {"person": "home"},
    "robust_interval_risk": {"id": "row"},
    "probabilistic_linkage": {"id": "row"},
    "ecdf_utility": {"variables": NUMBERS},
    "attribute_disclosure_table": {"targets": ["ill"]},
    "joint_audit": {"tables": [["sex", "region"]], "id": "row"},
    "recoverable_values": {"weight": "w", "household": "home", "id": "row"},
    "differencing": {"id": "row"},
    "linkability": {"known": (["sex", "income"], ["region", "hours"])},
    "compare_models": {"formula": "income ~ hours + sex"},
    "propensity": {"resamples": 5, "variables": [*KEYS, "ill"], "numeric": []},
    "distance_to_closest_record": {"resamples": 19},
    "edit_rules": {"rules": {"ill": {"when": {"sex": "f"}, "value": "no"}}},
    "generalization_loss": {"hierarchies": {"size": SIZES}, "id": "row"},
    "information_loss": {"categorical": KEYS, "id": "row"},
    "compare_estimates": {"statistic": "mean", "variables": ["income"]},
}
OF_PLANS = {"plan"}  # what was collected for a measure that no engine can do
FEWER = {"n_attacks": 30}


@cache
def people(seed: int) -> pl.DataFrame:
    """A small file with gaps in a key, and another one of other people or of the same, changed."""
    rng = np.random.default_rng(seed)
    gap = rng.random(N) < 0.1
    region = rng.choice(["north", "south", "naïve", "west"], N)
    return pl.DataFrame(
        {
            "row": np.arange(N),
            "sex": rng.choice(["f", "m"], N),
            "region": [None if lost else one for lost, one in zip(gap, region, strict=True)],
            "size": rng.integers(1, 4, N),
            "income": np.round(np.exp(rng.normal(8, 0.4, N)), 1),
            "hours": rng.integers(5, 60, N),
            "ill": rng.choice(["yes", "no"], N),
            "home": np.arange(N) // 2,
            "w": rng.integers(5, 40, N).astype(float),
        }
    )


@cache
def changed() -> pl.DataFrame:
    """A release: regions dealt anew in part, incomes blurred."""
    rng = np.random.default_rng(9)
    file = people(1)
    moved = rng.random(N) < 0.4
    region = np.array(file["region"].to_list(), dtype=object)
    region[moved] = rng.permutation(region)[moved]
    return file.with_columns(
        region=pl.Series(region.tolist(), dtype=pl.String),
        income=pl.col("income") * pl.Series(1 + rng.normal(0, 0.05, N)).round(2),
    )


def taken(row: Measure) -> list[pl.DataFrame]:
    """The files of a measure, in its order."""
    if row.name in ("recoverable_values", "joint_audit"):
        return [changed(), people(1)]
    if row.files in {"one", "estimates"}:
        return [people(1)]
    if row.files == "population":
        return [people(1), pl.concat([people(1), people(2)])]
    return [people(1), changed()]


def options(row: Measure) -> dict[str, Any]:
    """Small options for a measure, by the names of its arguments."""
    accepted = inspect.signature(getattr(sdc, row.name)).parameters
    given = {name: ROLES[name] for name in row.needs if name in ROLES}
    given |= {name: value for name, value in FEWER.items() if name in accepted}
    if "seed" in accepted:
        given["seed"] = 1
    if row.files in {"attack", "utility"} and "variables" in accepted:
        given["variables"] = [*KEYS, *NUMBERS]
    if row.name == "bayesian_attribute_risk":
        drawn = sdc.synthesize(
            people(1), columns=["size"], predictors=["hours"], models="poisson", proper=True, seed=1
        ).change.secret["draws"]["size"]
        given |= {"target": "size", "draws": drawn.predictive(people(1)), "id": "row"}
    return given | MORE.get(row.name, {})


def figures(result: Any) -> dict[str, Any]:
    """The figures of a result."""
    found = dict(result.to_dict())
    found["notes"] = {name: note for name, note in found.get("notes", {}).items() if name not in OF_PLANS}
    return found


def assert_close(expected: Any, found: Any, where: str) -> None:
    """Nested figures agree to 1e-9."""
    if isinstance(expected, Mapping):
        assert expected.keys() == found.keys(), where
        for key in expected:
            assert_close(expected[key], found[key], f"{where}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(expected) == len(found), where
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            assert_close(one, other, f"{where}[{at}]")
    elif isinstance(expected, float) and not (math.isnan(expected) and math.isnan(found)):
        assert math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12), (where, expected, found)
    elif not isinstance(expected, float):
        assert expected == found, (where, expected, found)


CALLED = [row for row in CATALOGUE if row.name not in OTHERS]


def call(row: Measure, make: Any = lambda frame: frame) -> Any:
    """The result of a measure on its files, each as `make` gives it."""
    measure, given = getattr(sdc, row.name), options(row)
    if row.name == "differencing":
        given |= {"earlier": make(changed()), "sensitive": ["ill"]}
    if row.files == "attack" and "control" in inspect.signature(measure).parameters:
        given["control"] = make(people(2))
    return measure(*map(make, taken(row)), **given)
