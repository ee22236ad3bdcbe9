"""Risk and utility after a step are what the measures say."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from recipes import scenario, survey
from sdckit.workflow.recipes import recipe_figures
from sdckit.workflow.recipes.recipe_figures import StepFigures, Watch, worst_of


def test_the_figures_are_those_of_the_measures() -> None:
    data = survey()
    changed = data.with_columns(job=pl.lit("x"))
    (found,) = Watch(data, scenario()).after(2, "recode", changed, 120)
    with quiet():
        assert found.sample_uniques == sdc.key_frequencies(changed, scenario=scenario()).sample_uniques
        assert found.below_k == sdc.k_anonymity(changed, scenario=scenario(), k=[3]).violations[3]
        risk = sdc.individual_risk(changed, scenario=scenario())
    assert found.expected_reidentifications == pytest.approx(risk.expected_reidentifications)
    assert found.share_changed == pytest.approx(1 / 6)
    again = sdc.propensity(
        data, changed, variables=["sex", "age", "job", "income"], numeric=["age", "income"], aligned=True
    )
    assert found.pmse == pytest.approx(again.pmse)


def test_an_intruder_can_only_use_the_keys_that_are_left() -> None:
    data = survey()
    (found,) = Watch(data, scenario()).after(1, "drop", data.drop("age", "w"), 0)
    assert found.sample_uniques == sdc.key_frequencies(data, keys=["sex", "job"]).sample_uniques
    assert math.isnan(found.expected_reidentifications)  # without weights, nobody knows
    (nothing,) = Watch(data, scenario()).after(1, "drop", data.select("income"), 0)
    assert nothing.below_k == 0
    assert math.isnan(nothing.expected_reidentifications)


def test_one_row_for_each_intruder_and_the_mean_over_files() -> None:
    data = survey()
    several = scenario(keys=None, intruders={"a": ["sex"], "b": ["sex", "age"]}, missing={"age": "category"})
    found = Watch(data, several).after(1, "x", [data, data.with_columns(age=pl.lit(30))], 5)
    assert [one.intruder for one in found] == ["a", "b"]
    with quiet():
        files = (data, data.with_columns(age=pl.lit(30)))
        each = [sdc.key_frequencies(one, keys=["sex", "age"]).sample_uniques for one in files]
    assert found[1].sample_uniques == sum(each) / 2


def test_without_a_scenario_only_the_change_is_counted() -> None:
    (found,) = Watch(survey(), None).after(0, "before", survey(), 0)
    assert found.share_changed == 0
    assert math.isnan(found.below_k)
    assert math.isnan(found.pmse)
    assert Watch(survey(), None).k == 3
    assert Watch(survey(), scenario(thresholds={"k": 5})).k == 5


def test_what_cannot_be_compared_is_left_out_of_the_pmse() -> None:
    data = survey()
    texts = data.with_columns(pl.col("sex").cast(pl.Categorical), age=pl.lit("old"), job=pl.lit(1), income=pl.lit("x"))
    (found,) = Watch(data, scenario()).after(1, "x", texts, 0)
    assert found.pmse == pytest.approx(0, abs=1e-9)
    (none,) = Watch(data, scenario(keys=["age"])).after(1, "x", texts, 0)
    assert math.isnan(none.pmse)


def test_of_several_intruders_the_smallest_counts_are_behind_the_worst_figures() -> None:
    one, other = (
        StepFigures(1, "pram", name, 3, behind=behind, small=small, estimated=True)
        for name, behind, small in (("a", 9, 2), ("b", 4, 7))
    )
    found = worst_of([one, other])
    assert (found["behind"], found["small"]) == (4, 2)
    assert worst_of([one, replace(other, estimated=False)])["small"] == 0  # counted: output checking asks nothing


def test_a_step_that_leaves_the_compared_variables_takes_the_score_before(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(recipe_figures, "pmse", lambda _, release, names, **__: asked.append(release) or len(asked))
    data, watch = survey(), Watch(survey(), scenario())
    first = data.with_columns(sex=pl.lit("f"))
    ages = [data.with_columns(age=pl.when(pl.int_range(pl.len()) == i).then(None).otherwise("age")) for i in (0, 1)]
    files = [first, first.with_columns(other=1), first.drop("w"), *ages, ages[1].cast({"age": pl.Float64})]
    scores = [watch.after(i, "x", file, 0)[0].pmse for i, file in enumerate(files)]
    assert scores == [1, 1, 1, 2, 3, 4]  # as many ages differ, but others
    turned = watch.in_order(np.arange(len(data))[::-1])
    assert turned.after(7, "random_order", files[-1].reverse(), 0)[0].pmse == 5  # sums in another order


def test_values_are_compared_once(monkeypatch) -> None:
    watch, counted = Watch(survey(), scenario()), []
    differing = Watch.differing
    monkeypatch.setattr(Watch, "differing", lambda self, file: counted.append(file) or differing(self, file))
    watch.after(1, "x", survey(), 0)
    assert len(counted) == 1
