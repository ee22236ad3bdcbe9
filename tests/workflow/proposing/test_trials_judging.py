"""The gate on a trial, and what is changed where a release gives values back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from proposals import survey, trials
from sdckit.catalogue.attacks import _recovery_arguments
from sdckit.catalogue.row import Context
from sdckit.workflow.proposing.trials import How, improved, judge, surrounding_steps

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def test_it_says_what_check_says() -> None:
    one = trials("two")
    node = (3, 0, 0, 0)
    judged = judge(one, one.make(node), one.how)
    release = one.release(node)
    alone = sdc.k_anonymity(release, keys=["age", "kids"], k=[3]).violations[3]
    assert judged.passed is (judged.failing == ())
    assert next(each.name for each in judged.verdicts if each.intruder == "colleague") == "k"
    assert alone == 0
    assert 0 < judged.risk < 1


def test_columns_that_tell_a_key_are_found_and_go() -> None:
    data = survey().with_columns(district=pl.col("area") + "x")
    first = {"age": 1.0, "sex": 1.0, "area": 9.0}  # the area is taken out first
    one = trials("one", data, importance=first, thresholds={"k": 8, "recoverable": 0.0})
    node = (3, 0, 0)
    judged = judge(one, one.make(node), How())
    assert "recoverable" in judged.failing
    how = improved(judged, one.scenario, [])
    assert how is not None
    assert how.bundles["area"] == ("district",)
    again = improved(replace(judged, how=how), one.scenario, [])
    assert again is not None
    assert again.without == ("district",)
    assert improved(replace(judged, how=how), one.scenario, ["district"]) is None
    better = judge(one, one.with_how(again).make(node), again)
    assert "recoverable" not in better.failing


def test_where_large_numbers_go_out_nothing_else_is_judged_before_they_are_put_in_classes() -> None:
    """What follows is that of the whole verdict; where they are in classes, all is judged at once."""
    pay = np.random.default_rng(1).lognormal(8, 1.5, 700).round()
    data = survey().with_columns(pay=pl.Series(pay))
    one = trials("one", data, magnitudes=["pay"], thresholds={"k": 3, "exact_numbers": 0.0})
    made = one.make((3, 0, 0))
    whole, soon = judge(one, made, one.how), judge(one, made, one.how, soon=True)
    assert whole.failing == ("exact_numbers",)
    assert (soon.verdicts, soon.passed) == ((), False)
    how = improved(soon, one.scenario, [])
    assert how is not None
    assert how == improved(whole, one.scenario, [])
    assert how.classes == ("pay",)
    assert one.with_classes(made.node, []).how == how  # what is looked at before it is made
    assert one.with_classes(made.node, ["pay"]).how == one.how
    better = one.with_how(how)
    judged = judge(better, better.make(made.node), how, soon=True)
    assert judged.verdicts == judge(better, better.make(made.node), how).verdicts != ()


def test_no_model_is_fitted_to_guess_what_no_limit_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts, and all else that is measured of what is given back, are those with the guesses."""
    one = trials("released")
    made = one.make((1, 0, 0))
    judged = judge(one, made, one.how)

    def with_guesses(context: Context) -> dict[str, Any]:
        return {**_recovery_arguments(context), "guess": True}

    monkeypatch.setattr("sdckit.catalogue.attacks._recovery_arguments", with_guesses)
    whole = judge(one, made, one.how)
    own, full = (given.assessment["default"]["recoverable_values"] for given in (judged, whole))
    assert sum(column.n_guessed for column in full.columns[0]) > 0
    assert [column.n_guessed for column in own.columns[0]] == [0] * len(full.columns[0])
    assert judged.verdicts == whole.verdicts != ()
    assert (own.recoverable, own.touched, own.undone_k) == (full.recoverable, full.touched, full.undone_k)


def test_nothing_is_changed_for_other_thresholds() -> None:
    one = trials("one", thresholds={"k": 3, "match_risk": 0.0001})
    judged = judge(one, one.make((3, 0, 0)), How())
    assert judged.failing == ("match_risk",)
    assert improved(judged, one.scenario, []) is None


def test_the_steps_around() -> None:
    scenario = sdc.Scenario(keys=["age"], identifiers=["name"], household="home")
    before, after = surrounding_steps(scenario, ["name", "home", "age"])
    assert [step["method"] for step, _ in before] == ["drop_identifiers", "new_ids"]
    assert [step["method"] for step, _ in after] == ["random_order"]
    assert surrounding_steps(scenario.changed(aligned=True), ["age"])[1] == []
