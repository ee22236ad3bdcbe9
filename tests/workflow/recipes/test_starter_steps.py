"""The steps before and after the recodings: identifiers, weights, households, what is left, the order."""

from __future__ import annotations

import polars as pl
import pytest

import homes
import sdckit as sdc
from sdckit.workflow.recipes.starter_keys import Way, coarsen_keys
from sdckit.workflow.recipes.starter_steps import before_suppression, last_step, suppressions


def way_of(data: pl.DataFrame, **entries: object) -> Way:
    scenario = sdc.Scenario(**{"thresholds": {"k": 3}, **entries})
    return coarsen_keys(data, scenario, share=1.0, internal=False)


def steps(told: object) -> list[dict[str, object]]:
    return [dict(step) for step, _ in told if step is not None]  # type: ignore[attr-defined]


def comments(told: object) -> str:
    return " ".join(line for _, lines in told for line in lines)  # type: ignore[attr-defined]


def test_identifiers_that_the_file_has_are_left_out_and_numbers_replaced() -> None:
    data = homes.people().with_columns(no=pl.int_range(pl.len()), name=pl.lit("x"))
    way = way_of(
        data, keys=["age", "sex"], identifiers=["name", "phone"], household="home", person="no", weight=None
    )
    found = steps(before_suppression(way, data.columns))
    assert found == [
        {"method": "drop_identifiers", "columns": ["name"]},
        {"method": "new_ids", "column": "home"},
        {"method": "new_ids", "column": "no"},
    ]


def test_a_weight_that_tells_a_key_is_coarsened_and_another_stays() -> None:
    data = homes.people()
    told = before_suppression(
        way_of(data, keys=["region", "sex"], weight="w", household="home"), data.columns
    )
    assert {"method": "coarsen_weights", "weight": "w", "hide": ["region"]} in steps(told)
    left = before_suppression(way_of(data, keys=["age", "sex"], weight="w", household="home"), data.columns)
    assert "coarsen_weights" not in [one["method"] for one in steps(left)]


def test_each_intruder_has_a_suppression_with_the_k_of_the_scenario() -> None:
    data = homes.people()
    way = way_of(data, intruders={"a": ["age"], "b": ["age", "sex"]})
    assert steps(suppressions(way)) == [
        {"method": "local_suppression", "intruder": "a"},
        {"method": "local_suppression", "intruder": "b"},
    ]
    assert steps(suppressions(way_of(data, keys=["age"]))) == [{"method": "local_suppression"}]


def test_a_limit_on_the_risk_alone_becomes_a_k_or_none() -> None:
    data = homes.people()
    whole = way_of(data, keys=["age"], thresholds={"risk": 0.1})
    assert steps(suppressions(whole)) == [{"method": "local_suppression", "k": 10}]
    sample = way_of(data, keys=["age"], thresholds={"risk": 0.1}, sampling_fraction=0.1)
    assert steps(suppressions(sample)) == []


def test_the_size_of_a_household_goes_with_its_number() -> None:
    data = homes.people()
    way = way_of(data, keys=["size", "age", "region"], household="home")
    assert steps(suppressions(way)) == [{"method": "local_suppression", "together": [["size", "home"]]}]


def test_what_must_not_be_given_back_is_hidden() -> None:
    way = way_of(homes.people(), keys=["age"], thresholds={"k": 3, "recoverable": 0.0})
    assert steps(suppressions(way)) == [{"method": "local_suppression", "hide_implied": True}]


@pytest.mark.parametrize("missing", ["category", "error", {"age": "category"}])
def test_no_value_is_taken_out_where_that_protects_nobody(missing: object) -> None:
    told = list(suppressions(way_of(homes.people(), keys=["age", "sex"], missing=missing)))
    assert steps(told) == []
    assert "No local_suppression" in comments(told)


def test_the_order_is_mixed_unless_rows_correspond() -> None:
    data = homes.people()
    one = sdc.Scenario(keys=["age"], household="home")
    assert steps(last_step(one, data.columns)) == [{"method": "random_order", "household": "home"}]
    assert steps(last_step(sdc.Scenario(keys=["age"]), data.columns)) == [{"method": "random_order"}]
    told = list(last_step(one.changed(aligned=True), data.columns))
    assert steps(told) == []
    assert "aligned = true" in comments(told)
