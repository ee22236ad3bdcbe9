"""The rows of the room `identity`: what they run with, and why they do not."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from further import FULL, assessed, survey
from plans import on_frames
from sdckit.catalogue import CATALOGUE, Context, further, identity as module, measure, rows
from sdckit.catalogue.identity import IDENTITY

FURTHER = further()


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "identity") == IDENTITY
    assert len({row.name for row in IDENTITY}) == len(IDENTITY)


def test_each_measure_says_what_it_says_alone() -> None:
    found, frame = assessed()["default"], survey()
    keys = FULL["keys"]
    share = len(frame) / frame["w"].sum()
    assert [name for name in found if name in FURTHER] == [row.name for row in rows("one") if row.on_request]
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
        assert dict(found[name]._flat()) == pytest.approx(dict(result._flat()), nan_ok=True), name


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
    assert assessed(measures="suda")["default"]["suda"].notes["max_size"].startswith("all subsets of the 3 keys")
    monkeypatch.setattr(module, "SMALL_SEARCH", 0)
    four = {"keys": ["sex", "age", "job", "who"]}
    found = assessed(measures="suda", **four)["default"]["suda"]
    assert found.max_size == 3
    assert "up to 3 of the 4 keys" in found.notes["max_size"]
    assert assessed(measures="suda", keys=["sex"])["default"]["suda"].max_size == 1


def test_outliers_are_looked_for_once() -> None:
    two = {"intruders": {"a": ["sex"], "b": ["sex", "age"]}, "numeric": ["income"]}
    found = assessed(measures="outliers", **two)
    assert found["a"]["outliers"] is found["b"]["outliers"]


def test_numeric_without_a_scenario() -> None:
    with quiet():
        found = sdc.assess(survey(), keys=["sex"], numeric="income", measures="outliers")
    assert found.scenario.numeric == ("income",)
    assert found["default"]["outliers"].n_outliers == 15


@on_frames
def test_the_same_figures_on_every_engine(make: Any) -> None:
    here, there = assessed()["default"], assessed(make(survey()))["default"]
    for name in FURTHER:
        left, right = (dict(one[name]._flat()) for one in (here, there))
        assert right == pytest.approx(left, rel=1e-9, nan_ok=True), name


def of_release(name: str, **known: Any) -> str:
    """Why a measure of two files would not run."""
    scenario = releases.scenario(**{role: known.pop(role) for role in ("numeric",) if role in known})
    return measure(name).lacks(Context(scenario=scenario, **{"aligned": True, "n": 240, "sizes": (240,), **known}))


def test_rows_that_do_not_belong_together_are_not_matched() -> None:
    for name in ("matching_risk", "record_linkage", "interval_risk"):
        assert of_release(name) == ""
        assert of_release(name, aligned=False) == module.NOT_ALIGNED
        assert of_release(name, aligned=False, on_engine=True) == module.NO_ORDER
    assert of_release("identity_disclosure", aligned=False) == ""


def test_a_search_too_long_is_left_to_the_analyst(monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_release("record_linkage", n=None, sizes=()) == ""  # nobody has counted
    monkeypatch.setattr(module, "MOST_DISTANCES", 10)
    assert "240 records are too many" in of_release("record_linkage")


def test_a_robust_covariance_takes_two_numbers_and_not_too_many_records() -> None:
    name = "robust_interval_risk"
    assert of_release(name) == "the scenario names fewer than two numeric variables"
    assert of_release(name, numeric=["age", "income"]) == ""
    assert of_release(name, numeric=["age", "income"], n=50_001).startswith("50,001 records are many")
    assert of_release(name, numeric=["age", "income"], aligned=False) == module.NOT_ALIGNED


def test_nothing_is_estimated_without_a_design() -> None:
    for name in ("population_risk", "population_uniques"):
        assert measure(name).lacks(Context(scenario=sdc.Scenario(keys=["a"]))) == module.NO_DESIGN
        assert measure(name).lacks(Context(scenario=sdc.Scenario(keys=["a"], sampling_fraction=0.1))) == ""
