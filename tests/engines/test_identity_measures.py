"""The measures of special records and of the population: pandas, plans and Spark give the same figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import assert_same_records, quiet
from sdckit.errors import DataError

KEYS = ["text", "whole", "half"]
Call = Callable[[Any, Any], Any]
# One of each way to the data: a job of Spark takes a second.
ON_SPARK = ["risky_cells", "population_risk", "population_uniques", "k_map", "delta_presence", "outliers", "alpha_k"]


def survey(n: int = 150) -> pl.DataFrame:
    """Keys of three types, often missing, and two numeric variables with an extreme value each."""
    rng = random.Random(11)

    def column(*values: Any) -> list[Any]:
        return [rng.choice(values) if rng.random() > 0.1 else None for _ in range(n)]

    income = [round(rng.lognormvariate(5, 1), 2) if rng.random() > 0.1 else None for _ in range(n)]
    return pl.DataFrame(
        {
            "row": range(n),
            "text": column("", "x", "naïve", "y"),
            "whole": column(*range(6)),
            "half": column(0.0, 0.5, 1.5),
            "place": column("n", "s", "e"),
            "income": [*income[:-1], 1e5],
            "hours": [*(rng.gauss(38, 6) for _ in range(n - 1)), 168.0],
            "w": [1 + 50 * rng.random() for _ in range(n)],
        }
    )


MEASURES: dict[str, Call] = {
    "suda": lambda data, _: sdc.suda(data, keys=KEYS, max_size=2),
    "risky_cells": lambda data, _: sdc.risky_cells(data, keys=KEYS, threshold={1: 3, 2: 2, 3: 1}),
    "risky_levels": lambda data, _: sdc.risky_cells(
        data, keys=KEYS, identification_levels={"text": 1, "whole": 1, "half": 2}
    ),
    "key_separation": lambda data, _: sdc.key_separation(data, keys=KEYS, by=["place"]),
    "population_risk": lambda data, _: sdc.population_risk(data, keys=KEYS, weight="w"),
    "population_search": lambda data, _: sdc.population_risk(data, keys=KEYS, sampling_fraction=0.1, select=True),
    "population_uniques": lambda data, _: sdc.population_uniques(data, keys=KEYS, weight="w"),
    "k_map": lambda data, people: sdc.k_map(data, people, keys=KEYS, k=[2, 4]),
    "k_map_modelled": lambda data, _: sdc.k_map(data, keys=KEYS, sampling_fraction=0.1),
    "delta_presence": lambda data, people: sdc.delta_presence(data, people, keys=KEYS, limits=(0, 0.5)),
    "t_closeness": lambda data, _: sdc.t_closeness(data, keys=KEYS, sensitive=["income", "w"], distance="numeric"),
    "t_closeness_wildcard": lambda data, _: sdc.t_closeness(
        data, keys=KEYS, sensitive="place", missing="wildcard", by=["half"]
    ),
    "beta_likeness": lambda data, _: sdc.beta_likeness(data, keys=KEYS, sensitive="place", by=["half"]),
    "delta_disclosure": lambda data, _: sdc.delta_disclosure(data, keys=KEYS, sensitive=["place"]),
    "alpha_k": lambda data, _: sdc.alpha_k(data, keys=["text"], sensitive=["place"], k=9, by=["half"]),
    "outliers": lambda data, _: sdc.outliers(data, numeric=["income", "hours"], by=["half"], lower_quantile=0.1),
    "outliers_mad": lambda data, _: sdc.outliers(data, numeric=["income", "hours"], method="mad"),
    "outliers_jointly": lambda data, _: sdc.outliers(
        data, numeric=["income", "hours"], method="robust_mahalanobis", seed=1
    ),
}


def agree(names: list[str], here: pl.DataFrame, data: Any, people: Any, times: int = 2) -> None:
    """Every figure of the measures, and why one is undefined, whatever holds the data."""
    for name in names:
        left = quiet(MEASURES[name], here, pl.concat([here] * times))
        right = quiet(MEASURES[name], data, people)
        assert dict(right._flat()) == pytest.approx(dict(left._flat()), rel=1e-9, abs=1e-12, nan_ok=True), name
        assert {key for key in right.notes if key != "plan"} == set(left.notes), name


def explained(data: Any, value: int, **options: Any) -> Any:
    found = quiet(sdc.explain, data, keys=KEYS, id="row", row=value, **options)
    return found.sharing, found.key_sets, found.changes, found.values


def test_pandas() -> None:
    here = survey()
    twice = pl.concat([here, here])
    agree(list(MEASURES), here, here.to_pandas(), twice.to_pandas())
    assert explained(here.to_pandas(), 7) == explained(here, 7)


def test_plans(plan: Any) -> None:
    here = survey()
    twice = pl.concat([here, here])
    agree(list(MEASURES), here, plan(here), plan(twice))
    agree(["k_map", "delta_presence"], here, plan(here), twice)
    for value in (7, 149):
        for options in ({}, {"missing": "category"}):
            assert explained(plan(here), value, **options) == explained(here, value, **options)


def test_records_of_outliers_of_a_plan(plan: Any) -> None:
    for options in ({"method": "mad"}, {"method": "robust_mahalanobis", "seed": 1}):
        call: dict[str, Any] = {"numeric": ["income", "hours"], "id": "row", **options}
        assert_same_records(sdc.outliers(survey(), **call).records, sdc.outliers(plan(survey()), **call).records)


def test_a_record_of_a_plan_needs_an_id(plan: Any) -> None:
    with pytest.raises(DataError, match="give id="):
        quiet(sdc.explain, plan(survey()), keys=KEYS, row=7)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark: Any) -> None:
    here = survey()
    there = spark.createDataFrame(here.to_arrow())
    agree(ON_SPARK, here, there, here, times=1)
    assert explained(there, 7) == explained(here, 7)
    call: dict[str, Any] = {"numeric": ["income", "hours"], "id": "row", "method": "mad"}
    assert_same_records(quiet(sdc.outliers, here, **call).records, quiet(sdc.outliers, there, **call).records)
