"""Measures that `assess` runs when they are named: chosen, run, skipped with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sdckit.workflow.extra_measures import EXTRA, chosen_measures

import sdckit as sdc
from draw import quiet
from plans import on_frames
from sdckit.errors import ScenarioError
from sdckit.workflow import extra_measures as module


def survey(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.integers(15, 40, n),
            "job": rng.integers(0, 15, n),
            "w": rng.uniform(20, 60, n).round(2),
            "income": rng.lognormal(7, 1, n).round(1),
            "who": np.arange(n) // 2,
            "ill": rng.choice(["no", "yes", "unsure"], n, p=[0.6, 0.3, 0.1]).tolist(),
        }
    )


FULL = {"keys": ["sex", "age", "job"], "weight": "w", "numeric": ["income"], "sensitive": ["ill"]}


def assessed(data: Any = None, measures: Any = "all", **entries: Any) -> Any:
    with quiet():
        frame = survey() if data is None else data
        return sdc.assess(frame, scenario=sdc.Scenario(**(entries or FULL)), measures=measures)


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ((), ()),
        ("all", EXTRA),
        (["risky_cells", "suda", "suda"], ("suda", "risky_cells")),
        (("all", "suda"), EXTRA),
    ],
)
def test_names_are_read(asked: Any, chosen: tuple[str, ...]) -> None:
    assert chosen_measures(asked) == chosen


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("sudda", "no further measure 'sudda'; did you mean 'suda'?"),
        (["outlier"], "did you mean 'outliers'?"),
        ("zzzzz", "there are: suda, population_risk"),
        ([3], "measures are names, not int"),
    ],
)
def test_a_name_that_does_not_exist(asked: Any, words: str) -> None:
    with pytest.raises(ScenarioError) as error:
        sdc.assess(survey(), keys=["sex"], measures=asked)
    assert words in str(error.value)


def test_nothing_further_runs_unasked() -> None:
    found = assessed(measures=())
    assert found.measures == ()
    assert all(getattr(found["default"], name) is None for name in EXTRA)
    assert not set(EXTRA) & {name for name, _ in found["default"].skipped}


def test_only_what_is_named_runs() -> None:
    found = assessed(measures=["suda"])
    assert found.measures == ("suda",)
    assert [name for name, _ in found["default"].results()][-1] == "suda"
    assert found["default"].get("risky_cells") is None


def test_each_measure_says_what_it_says_alone() -> None:
    found, frame = assessed()["default"], survey()
    keys = FULL["keys"]
    share = len(frame) / frame["w"].sum()
    assert [name for name, _ in found.results()][-len(EXTRA) :] == list(EXTRA)
    alone = {
        "suda": sdc.suda(frame, keys=keys, sampling_fraction=share),
        "population_risk": sdc.population_risk(frame, keys=keys, weight="w", select=True),
        "population_uniques": sdc.population_uniques(frame, keys=keys, weight="w"),
        "risky_cells": sdc.risky_cells(frame, keys=keys),
        "outliers": sdc.outliers(frame, numeric="income"),
        "t_closeness": sdc.t_closeness(frame, keys=keys, sensitive="ill"),
        "beta_likeness": sdc.beta_likeness(frame, keys=keys, sensitive="ill"),
        "delta_disclosure": sdc.delta_disclosure(frame, keys=keys, sensitive="ill"),
        "alpha_k": sdc.alpha_k(frame, keys=keys, sensitive="ill"),
    }
    for name, result in alone.items():
        assert dict(getattr(found, name)._flat()) == pytest.approx(dict(result._flat()), nan_ok=True), name


def test_roles_that_are_absent_are_reasons() -> None:
    reasons = dict(assessed(keys=["sex", "age"])["default"].skipped)
    assert "neither a weight nor a sampling fraction" in reasons["population_risk"]
    assert "neither a weight nor a sampling fraction" in reasons["population_uniques"]
    assert "names no numeric variable" in reasons["outliers"]
    assert "names no sensitive variable" in reasons["t_closeness"]
    assert not {"suda", "risky_cells"} & reasons.keys()


def test_a_measure_that_refuses_gives_its_reason() -> None:
    frame = survey().with_columns(income=pl.lit("much"))
    assert "'income'" in dict(assessed(frame, **FULL)["default"].skipped)["outliers"]
    persons = dict(assessed(keys=["sex", "age"], person="who")["default"].skipped)
    assert "several rows per person" in persons["suda"]
    assert "persons" in persons["risky_cells"]


def test_without_a_design_the_file_is_the_population() -> None:
    found = assessed(keys=["sex", "age", "job"])["default"]["suda"]
    assert (found.dis, found.sampling_fraction) == (1.0, 1.0)
    assert "whole population" in found.notes["sampling_fraction"]


def test_a_large_search_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        assessed(measures="suda")["default"]["suda"].notes["max_size"].startswith("all subsets of the 3 keys")
    )
    monkeypatch.setattr(module, "SMALL_SEARCH", 0)
    four = {"keys": ["sex", "age", "job", "who"]}
    found = assessed(measures="suda", **four)["default"]["suda"]
    assert found.max_size == 3
    assert "up to 3 of the 4 keys" in found.notes["max_size"]
    assert assessed(measures="suda", keys=["sex"])["default"]["suda"].max_size == 1


def entangled(n: int = 800) -> pl.DataFrame:
    """A job that follows from the age: main effects do not fit."""
    rng = np.random.default_rng(5)
    age = rng.integers(0, 12, n)
    job = np.where(rng.random(n) < 0.9, age, rng.integers(0, 12, n))
    return pl.DataFrame({"age": age, "job": job, "sex": rng.integers(0, 2, n), "home": rng.integers(0, 9, n)})


DESIGN = {"keys": ["age", "job", "sex", "home"], "sampling_fraction": 0.05}


def test_the_model_of_the_population_is_searched() -> None:
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    with quiet():
        plain = sdc.population_risk(entangled(), **DESIGN)
    assert "age:job" in found.model
    assert abs(found.z2) < abs(plain.z2)
    assert "added 1 pair of keys to main effects: z2 went from" in found.notes["path"]
    assert "z2" not in found.notes


def test_a_model_that_fits_is_left_alone() -> None:
    found = assessed(measures="population_risk")["default"]["population_risk"]
    assert found.model == ("sex", "age", "job")
    assert "added no pair of keys" in found.notes["path"]


def test_a_large_grid_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUICK_MODEL", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert found.model == tuple(DESIGN["keys"])
    assert found.notes["path"].endswith("would take long; population_risk(select=True) does it")
    assert "try select=True" in found.notes["z2"]
    monkeypatch.setattr(module, "MAX_GRID", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert "2,592 possible cells would take long; recode keys" in found.notes["path"]


def test_a_census_is_not_modelled() -> None:
    census = DESIGN | {"sampling_fraction": 1.0}
    found = assessed(entangled(), "population_risk", **census)["default"]["population_risk"]
    assert found.tau1 == found.sample_uniques
    assert "nothing to select" in found.notes["path"]


def test_outliers_are_looked_for_once() -> None:
    two = {"intruders": {"a": ["sex"], "b": ["sex", "age"]}, "numeric": ["income"]}
    found = assessed(measures="outliers", **two)
    assert found["a"]["outliers"] is found["b"]["outliers"]


def test_numeric_without_a_scenario() -> None:
    with quiet():
        found = sdc.assess(survey(), keys=["sex"], numeric="income", measures="outliers")
    assert found.scenario.numeric == ("income",)
    assert found["default"]["outliers"].n_outliers == 15


def test_what_is_done_is_told() -> None:
    told: list[str] = []
    with quiet():
        sdc.assess(survey(), scenario=sdc.Scenario(**FULL), measures="all", step=told.append)
    for words in (
        "searching the special uniques of default",
        "key subsets of size 2",
        "looking for outliers",
    ):
        assert words in told


@on_frames
def test_the_same_figures_on_every_engine(make: Any) -> None:
    here, there = assessed()["default"], assessed(make(survey()))["default"]
    for name in EXTRA:
        left, right = (dict(getattr(one, name)._flat()) for one in (here, there))
        assert right == pytest.approx(left, rel=1e-9, nan_ok=True), name


def test_they_are_in_the_exact_dictionary() -> None:
    told = assessed().to_dict()["intruders"]["default"]["measures"]
    assert set(EXTRA) <= told.keys()
    assert told["suda"]["figures"]["msu_counts"]["1"] >= 0
