"""Arithmetic that holds in a file: found, and mended where a step changes a column of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.workflow.recipes import exact_relations as module
from sdckit.workflow.recipes.exact_relations import ExactRelation, exact_relations, mend_relations, relations_of

N = 600
NOISE = {"method": "add_noise", "columns": ["wage"]}
BANDS = {"method": "recode", "column": "age", "bands": [-np.inf, 30, 50, np.inf]}


def pay(seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    wage, rest, age = rng.integers(900, 6000, N), rng.integers(0, 400, N), rng.integers(20, 80, N)
    hours = rng.integers(20, 45, N)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], N),
            "age": age,
            "wage": wage,
            "rest": rest,
            "total": wage + rest + (np.arange(N) == 7),  # one that is wrong
            "annual": 12 * wage,
            "log pay": np.log(wage).round(6),
            "hourly": (wage / hours).round(2),
            "hours": hours,
            "born": [f"{a % 28 + 1:02}.{a % 12 + 1:02}.{2024 - a}" for a in age],
            "bonus": np.where(np.arange(N) == 3, 100, 0),
            "other": rng.normal(size=N),
        }
    )


@cache
def of_pay() -> tuple[ExactRelation, ...]:
    return exact_relations(pay(), pay().columns)


def found(relations: tuple[ExactRelation, ...]) -> dict[str, set[str]]:
    formulas: dict[str, set[str]] = {}
    for relation in relations:
        formulas.setdefault(relation.of, set()).add(relation.formula or f"a part of {relation.inputs[0]}")
    return formulas


def test_of_a_large_file_a_sample_says_where_to_look_and_all_records_what_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, scenario = pay().select("sex", "wage", "rest", "total", "other"), sdc.Scenario(keys=["sex"])
    whole = relations_of(data, scenario)
    monkeypatch.setattr(module, "MOST_RECORDS", 300)
    assert relations_of(data, scenario) == whole
    assert {relation.of for relation in whole} == {"wage", "rest", "total"}
    rarely = data.with_columns(total=pl.when(pl.int_range(N) % 50 == 0).then(0).otherwise("total"))  # 2 %
    assert relations_of(rarely, scenario) == ()
    assert relations_of(data.select("sex", "other"), scenario) == ()


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_relations_of_columns_that_few_records_have_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    few = pl.int_range(N) % 15 == 4
    rare = pay().select(
        "age", "other", *(pl.when(few).then(name).alias(name) for name in ("wage", "rest", "born"))
    )  # 40 records have them
    rare = rare.with_columns(total=pl.col("wage") + pl.col("rest"), year=pl.when(few).then(2024 - pl.col("age")))
    data = {"polars": rare, "pandas": rare.to_pandas(), "pyarrow": rare.to_arrow()}[library]
    scenario = sdc.Scenario(keys=["age"])
    whole = relations_of(data, scenario)
    monkeypatch.setattr(module, "MOST_RECORDS", 100)  # of them 7
    monkeypatch.setattr(module, "OF_PATTERN", 40)
    assert relations_of(data, scenario) == whole
    assert {"total", "wage", "rest", "year"} <= {relation.of for relation in whole}


def test_arithmetic_is_found_and_nothing_else() -> None:
    formulas = found(of_pay())
    assert "wage + rest" in formulas["total"]
    assert formulas["annual"] >= {"12 * wage"}
    assert formulas["log pay"] >= {"round(log(wage), 6)"}
    assert formulas["hourly"] >= {"round(wage / hours, 2)"}
    assert formulas["age"] == {"a part of born"}
    assert not {"bonus", "other"} & set(formulas)


@pytest.mark.parametrize("share", [0.005, 0.02])
def test_it_holds_for_99_percent_of_the_records(share: float) -> None:
    data = pay().select("wage", "rest", "total")
    off = np.arange(N) < share * N
    data = data.with_columns(total=pl.col("total") + 40 * off)
    assert ("total" in found(exact_relations(data, data.columns))) is (share < 0.01)


def test_unrelated_numbers_have_no_relation() -> None:
    rng = np.random.default_rng(3)
    data = pl.DataFrame({f"x{at}": rng.integers(0, 5 if at % 2 else 3000, N) for at in range(8)})
    assert exact_relations(data, data.columns) == ()


def mended(*steps: dict[str, Any], **scenario: Any) -> Any:
    return mend_relations(of_pay(), steps, sdc.Scenario(**{"keys": ["age", "sex"], **scenario}))


def test_totals_are_computed_and_not_their_parts() -> None:
    made = mended(NOISE)
    assert made.derived == {
        "annual": "12 * wage", "log pay": "round(log(wage), 6)", "total": "wage + rest",
        "hourly": "round(wage / hours, 2)",
    }  # fmt: skip
    assert (made.left_out, made.stay) == ({}, {})
    assert made.why[0].startswith("Computed anew after the last step: who knows how log pay, ")


def test_what_cannot_be_computed_is_left_out_or_named() -> None:
    made = mended(BANDS)
    assert (made.derived, made.left_out) == ({}, {"born": ("age", ["born"])})
    assert made.steps == [
        (
            {"method": "drop_identifiers", "columns": ["born"]},
            ["born is left out: age could be computed from born, whatever a step makes of it. Or recode it alike."],
        )
    ]
    needed = mended(BANDS, sensitive=["born"])
    assert (needed.left_out, needed.stay) == ({}, {("born",): "age"})
    assert needed.steps[0][0] is None


def test_nothing_changed_nothing_mended() -> None:
    made = mended({"method": "random_order"}, {"method": "drop_identifiers", "columns": ["wage", "annual"]})
    assert (made.derived, made.left_out, made.stay) == ({}, {}, {})


def test_no_column_follows_from_itself() -> None:
    relations = [
        ExactRelation("a", ("x", "b"), "x + b"), ExactRelation("b", ("x", "a"), "x + a"),
        ExactRelation("c", ("a",), "2 * a"),
    ]  # fmt: skip
    made = mend_relations(relations, [{"method": "add_noise", "columns": ["x"]}], sdc.Scenario(keys=["k"]))
    assert made.derived == {"a": "x + b", "c": "2 * a"}


def test_a_starter_and_a_proposal_mend_them() -> None:
    wage = np.random.default_rng(2).lognormal(8, 1.2, N).round()  # some of which dominate their group
    data = pay().select("sex", "age", "rest", "born").with_columns(wage=wage)
    data = data.with_columns(total=pl.col("wage") + pl.col("rest"), months=12 * pl.col("age"))
    scenario = sdc.Scenario(keys=["age", "sex"], magnitudes=["wage"], thresholds={"k": 3, "exact_numbers": 0.05})
    start = sdc.starter_recipe(data, scenario=scenario, share=1)
    assert start.recipe.derived == {"months": "12 * age"}
    assert 'derived = {months = "12 * age"}' in start.text
    assert [step.arguments["columns"] for step in start.recipe.steps[:2]] == [["born"], ["total"]]
    released = start.recipe.apply(data, scenario=scenario).data
    assert released["months"].equals(12 * released["age"])
    assert released["age"].null_count() > 0
    proposal = sdc.propose(data, scenario=scenario, alternatives=0)
    left = {name for step in proposal.recipe.steps for name in step.arguments.get("columns", ())}
    assert {"born", "total"} <= left
    assert "months" in left | {*proposal.recipe.derived}
    assert len(proposal.reasons) == len(proposal.recipe.steps)


def test_a_code_table_tells_a_key_and_the_column_is_left_out() -> None:
    rng = np.random.default_rng(5)
    region = rng.integers(0, 4, N)
    data = pl.DataFrame(
        {
            "region": np.array(["n", "e", "s", "w"])[region],
            "density": np.array([12.5, 80.0, 33.1, 412.7])[region],
            "district": [f"d{3 * a + b}" for a, b in zip(region, rng.integers(0, 3, N), strict=True)],
            "mostly": np.where(rng.random(N) < 0.9, region, 9),  # a tenth is of any region
            "number": [f"{place}" for place in range(N)],  # tells nothing about others
            "rare": np.where(np.arange(N) == 5, 1, 0),
            "noise": rng.integers(0, 30, N),
        }
    )
    relations = exact_relations(data, data.columns, keys=["region", "rare"])
    assert {(relation.of, *relation.inputs) for relation in relations} == {
        ("region", "density"),
        ("region", "district"),
    }
    scenario = sdc.Scenario(keys=["region"], insensitive=["density", "district", "mostly", "number", "rare", "noise"])
    assert set(relations_of(data, scenario)) == set(relations)
    mended = mend_relations(relations, [{"method": "local_suppression"}], scenario)
    assert set(mended.left_out) == {"density", "district"}
    assert not mended.derived
    untouched = mend_relations(relations, [{"method": "local_suppression", "keys": ["noise"]}], scenario)
    assert not untouched.left_out  # what no step changes need not be hidden
    kept = sdc.Scenario(keys=["region"], sensitive=["density"])
    assert [*mend_relations(relations[:1], [{"method": "local_suppression"}], kept).stay.values()] == ["region"]
