"""One of several estimates of the population is named, with what each supposes and how it fits."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from statsmodels.datasets import fair

import sdckit as sdc
from sdckit.report.estimates import FIT, MODELS, people_of, recommendation_block, supposed_table
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document, screen_blocks


def leaf(text: str) -> dict[str, Any]:
    return {"text": text, "value": None}


def risk(state: str) -> dict[str, Any]:
    found = {"state": state, "recommended": state in ("fits", "close", "census"), "fit": FIT[state]}
    return found | {"tau1": leaf("26"), "tau2": leaf("352"), "population_uniques": 15_000.4}


def sizes(recommended: str, status: str = "ok") -> dict[str, Any]:
    texts = {"zayatz": "631,342", "pitman": "5,634", "dankar": "5,634"}
    estimates = {name: {"uniques": leaf(text), "status": status, "fit": "far"} for name, text in texts.items()}
    return {"recommended": recommended, "estimates": estimates}


@pytest.mark.parametrize(("state", "why"), [("fits", "no sign of misfit"), ("close", "own groups closely")])
def test_the_log_linear_model_comes_first_where_it_fits(state, why):
    block = recommendation_block({"population_risk": risk(state), "population_uniques": sizes("pitman")})
    assert block is not None
    assert block.text.startswith("To be trusted first: the log-linear model")
    for told in (why, "352 correct matches", "15,000 people unique"):
        assert told in block.text
    assert "individual risk" not in block.text
    beside = recommendation_block({"population_risk": risk(state), "individual_risk": {"method": "exact"}})
    assert beside is not None
    assert "too low" in beside.text


@pytest.mark.parametrize("state", ["too simple", "overfitted", "not judged"])
def test_else_the_model_of_sizes_that_comes_closest(state):
    block = recommendation_block({"population_risk": risk(state), "population_uniques": sizes("pitman")})
    assert block is not None
    assert "Pitman" in block.text
    assert "5,634 people" in block.text
    assert FIT[state] in block.text
    assert "352" not in block.text


def test_else_none():
    for one in (
        {"population_risk": risk("too simple"), "population_uniques": sizes("")},
        {"population_risk": risk("too simple")},
        {"population_uniques": sizes("")},
    ):
        block = recommendation_block(one)
        assert block is not None
        assert block.text.startswith("No model fits this file")


def test_where_nothing_is_modelled_there_is_nothing_to_choose():
    assert recommendation_block({"population_risk": risk("census"), "population_uniques": sizes("")}) is None
    assert recommendation_block({"population_uniques": sizes("", "no_uniques")}) is None


def test_every_model_supposes_something_and_one_is_named():
    (table,) = supposed_table({"population_risk": risk("fits"), "population_uniques": sizes("pitman")})
    named = [row[0] for row in table.rows if row[2].endswith("trusted first")]
    assert (len(table.rows), named) == (4, ["Log-linear model"])
    (table,) = supposed_table({"population_risk": risk("overfitted"), "population_uniques": sizes("pitman")})
    assert [row[0] for row in table.rows if row[2].endswith("trusted first")] == [MODELS["pitman"]]
    assert all(text for row in table.rows for text in row)


def test_the_command_names_one_for_both_results():
    affairs = pl.DataFrame(fair.load_pandas().data)
    keys = ["age", "yrs_married", "children", "religious", "educ", "occupation"]
    given = {"keys": keys, "sampling_fraction": 0.1}
    modelled, sized = sdc.population_risk(affairs, **given, select=True), sdc.population_uniques(affairs, **given)
    assert modelled.recommended
    texts = [getattr(block, "text", "") for block in screen_blocks(modelled, sized)]
    assert sum(text.startswith("To be trusted first: the log-linear") for text in texts) == 1
    assert not any(text.startswith("No model") for text in texts)
    tables = [
        block for block in screen_blocks(modelled, sized) if getattr(block, "caption", "").startswith("What each")
    ]
    assert len(tables) == 1
    assert tables[0].rows[0][0] == "Log-linear model"
    outside = result_blocks(protect(result_document(sized)))
    (table,) = (block for block in outside if getattr(block, "caption", "").startswith("What each"))
    assert not any("%" in row[2] for row in table.rows)


def test_outside_people_follow_from_what_is_printed():
    """tau1 over the fraction would tell more of tau1 than its rounded count does."""
    outside = {**risk("fits"), "population_uniques": None, "tau1": {"text": "25", "value": 25}}
    for fraction, told in ((0.01, "2,500 people"), (None, "among them. What")):
        block = recommendation_block({"population_risk": {**outside, "sampling_fraction": fraction}})
        assert block is not None
        assert told in block.text
    assert people_of({"tau1": {"text": "<5", "value": None, "below": 5}, "sampling_fraction": 0.1}) == ""
