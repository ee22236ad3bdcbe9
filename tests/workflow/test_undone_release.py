"""The trial of a household survey: a release that gives itself back fails the gate, one that does not passes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from attacks.recovery.made import survey, told_by_absence
from draw import quiet
from recipes import SECRET
from sdckit import Recipe, Scenario, assess, check, exact_numbers, household_structure, individual_risk, starter_recipe
from sdckit.errors import DataError, SdcWarning
from sdckit.report.chapters.decision import next_steps
from sdckit.report.formats.write import plain_document

KEYS = ["region", "size", "age", "sex", "tenure"]
SURVEY = survey(2500, seed=21).with_columns(
    weight=pl.col("weight").first().over("home"), tenure=pl.col("wage").first().over("home") % 3
)
SCENARIO = Scenario(keys=KEYS, weight="weight", household="home", sensitive=["edu"], thresholds={"k": 3})
BANDS = {"method": "recode", "column": "age", "bands": [0, 20, 40, 60, 80, None]}
TOP = {"method": "top_bottom_code", "column": "size", "top": 5}
NO_YEAR = {"method": "drop_identifiers", "columns": ["born"]}
OLD = [NO_YEAR, BANDS, TOP, {"method": "local_suppression", "k": 3, "household_variables": []}]
ADVISED = [
    NO_YEAR,
    BANDS,
    TOP,
    {"method": "coarsen_weights", "weight": "weight", "hide": ["region"], "household": "home", "k": 60},
    {"method": "local_suppression", "k": 3, "together": [["size", "home"]]},
    {"method": "limit_households", "household": "home", "largest": 5},
    {"method": "random_order", "household": "home"},
]


def undo(released: pl.DataFrame) -> pl.DataFrame:
    """What a script of a few lines puts back, with nothing but the release in its hands."""
    for clue in ("weight", "home"):
        known = pl.col("region").drop_nulls()
        told = pl.when(known.n_unique() == 1).then(known.first()).over(clue)
        released = released.with_columns(region=pl.col("region").fill_null(told))
    counted = pl.len().over("home")
    gone = pl.col("size").is_null() | (pl.col("size") == 5)
    return released.with_columns(size=pl.when(gone & pl.col("home").is_not_null()).then(counted).otherwise("size"))


def right(made: pl.DataFrame, truth: pl.DataFrame, released: pl.DataFrame, column: str) -> tuple[int, int]:
    """Changed values of a column, and those of them that are as they were."""
    changed = released[column].is_null() | (released[column] != truth[column])
    return int(changed.sum()), int((made[column] == truth[column]).filter(changed).sum())


@pytest.mark.parametrize("hide", [False, True])
def test_what_is_told_by_the_absence_of_all_other_values_undoes_k(hide):
    """Whether or not a limit on what is given back was asked for; the first recipe hides it."""
    data = told_by_absence(18)
    scenario = Scenario(keys=data.columns, thresholds={"k": 3})
    recipe = Recipe([{"method": "local_suppression"}, {"method": "random_order"}])
    if hide:
        recipe = starter_recipe(data, scenario=scenario, share=1.0).recipe
    done = recipe.apply(data, scenario=scenario, secret=SECRET)
    assert sum(done.data.null_count().row(0)) > 0
    with quiet():
        checked = check(data, done.data, scenario=scenario, log=done.log)
    assert [verdict.name for verdict in checked.verdicts if not verdict.holds] == ([] if hide else ["k_undone"])
    assert checked.passed is hide


@pytest.fixture(scope="module")
def old():
    with pytest.warns(SdcWarning, match="tell what is taken out"):
        return Recipe(OLD).apply(SURVEY, scenario=SCENARIO, seed=5, secret=SECRET)


@pytest.fixture(scope="module")
def advised():
    return Recipe(ADVISED).apply(SURVEY, scenario=SCENARIO, seed=5, secret=SECRET)


def test_the_old_recipe_is_undone_by_a_script_and_fails_the_gate(old):
    undone = undo(old.data)
    for column in ("region", "size"):
        touched, back = right(undone, SURVEY, old.data, column)
        assert back == touched > 0
    with pytest.warns(SdcWarning):
        result = check(SURVEY, old.data, scenario=SCENARIO, log=old.log, seed=1)
    verdicts = {one.name: one for one in result.verdicts}
    assert verdicts["k"].holds
    assert verdicts["k_undone"].holds is False
    for clue in ("weight", "the rows of a household counted (home)"):
        assert clue in verdicts["k_undone"].sentence
    assert not result.passed


def test_a_recipe_that_follows_the_advice_passes_and_a_script_finds_no_more_than_a_guess(advised):
    with pytest.warns(SdcWarning):
        result = check(SURVEY, advised.data, scenario=SCENARIO, log=advised.log, seed=1)
    assert result.passed, [one.sentence for one in result.verdicts]
    found = result.assessment["default"]["recoverable_values"]
    assert found.right == 0
    truth = SURVEY[advised.log.rows(SURVEY)]
    undone = undo(advised.data)
    for column in ("region", "size"):
        touched, back = right(undone, truth, advised.data, column)
        counts = advised.data[column].drop_nulls().value_counts()
        usual = counts["count"].max() / counts["count"].sum()
        assert touched > 0
        assert back <= usual * touched


# Arithmetic that everybody knows: limits on numbers and households are held against what it gives back, too.


N = 300
LIMITS = {"k": 3, "exact_numbers": 0.0, "household_risk": 0.5, "household_uniques": 0.5}
RULES = np.random.default_rng(8)
AGE, PAY, REST = RULES.integers(20, 65, N), RULES.lognormal(8, 1.2, N).round(), RULES.integers(0, 300, N)
WHOLE = pl.DataFrame(
    {
        "home": np.repeat(np.arange(N // 3), 3), "sex": RULES.choice(["f", "m"], N), "age": AGE, "pay": PAY,
        "rest": REST, "total": PAY + REST, "born": [f"{2024 - age}-05-01" for age in AGE],
    }
)  # fmt: skip
BANDED = pl.when(pl.col("age") < 40).then(pl.lit("20-39")).otherwise(pl.lit("40-64"))
OUT = WHOLE.with_columns(pay=pl.col("pay").shuffle(seed=3), age=BANDED)


def verdicts_of(released: pl.DataFrame, *sensitive: str, **limits: float) -> dict:
    told = Scenario(
        keys=["sex", "age"], magnitudes=["pay"], household="home", aligned=True, thresholds=limits or LIMITS,
        sensitive=sensitive,
    )  # fmt: skip
    with quiet():
        return {one.name: one for one in assess(WHOLE, released, scenario=told, seed=1).verdicts}


@pytest.mark.parametrize("name", LIMITS)
def test_what_holds_of_the_release_is_exceeded_by_who_knows_how_its_columns_are_made(name):
    found = verdicts_of(OUT)
    assert found[name].holds
    assert found[f"{name}_undone"].holds is False
    rules = {"k": "born", "exact_numbers": "total - rest"}
    assert rules.get(name, "born") in found[f"{name}_undone"].sentence


def test_a_sensitive_column_that_was_left_out_leaves_no_limit_open():
    """Households at risk with what is given back were not judged for want of a column that they do not read."""
    found = verdicts_of(OUT.drop("rest"), "rest")
    judged = {name: verdict.holds for name, verdict in found.items() if name.endswith("_undone")}
    assert judged["household_risk_undone"] is judged["household_uniques_undone"] is judged["k_undone"] is False
    assert None not in judged.values()
    assert found["household_risk_undone"].n_records == verdicts_of(OUT)["household_risk_undone"].n_records


def test_without_the_number_of_the_household_l_is_judged_with_what_is_given_back():
    found = verdicts_of(OUT.drop("home"), "rest", k=3, l=5)["l"]
    assert found.holds is None
    assert "born" in found.reason
    assert "groups have too few values of rest" in found.reason


def test_the_figures_are_those_of_the_original_where_everything_is_given_back():
    found = verdicts_of(OUT)
    roles = Scenario(keys=["sex", "age"], magnitudes=["pay"], household="home", thresholds=LIMITS)
    risk = individual_risk(WHOLE, scenario=roles)
    assert found["household_risk_undone"].n_records == risk.count_households_above(0.5)
    assert found["exact_numbers_undone"].value == exact_numbers(WHOLE, scenario=roles).share
    households = household_structure(WHOLE, scenario=roles)
    assert found["household_uniques_undone"].value == households.share_unique_compositions


def test_nothing_is_judged_again_where_the_columns_that_tell_are_left_out_or_computed_anew():
    again = OUT.drop("born").with_columns(total=pl.col("pay") + pl.col("rest"))
    for released in (OUT.drop("born", "total"), again):
        assert not [name for name in verdicts_of(released) if name.endswith("_undone")]


def test_a_limit_is_judged_only_where_what_it_looks_at_is_given_back():
    names = verdicts_of(OUT.drop("born"))
    assert "exact_numbers_undone" in names
    assert not {"household_risk_undone", "k_undone"} & names.keys()


def test_a_share_at_its_limit_is_not_beyond_it():
    exact = verdicts_of(OUT)["exact_numbers_undone"].value
    assert 0 < exact < 1
    assert verdicts_of(OUT, k=3, exact_numbers=exact)["exact_numbers_undone"].holds
    assert verdicts_of(OUT, k=3, exact_numbers=exact - 1e-9)["exact_numbers_undone"].holds is False


def test_what_cannot_be_measured_is_not_judged(monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise DataError("it is too large")

    monkeypatch.setattr("sdckit.catalogue.attacks.public_function", lambda _: refused)
    found = verdicts_of(OUT)["exact_numbers_undone"]
    assert (found.holds, found.reason) == (None, "it is too large")


def test_of_a_file_by_itself_what_it_gives_back_is_held_against_the_limits_too():
    blank = WHOLE.drop("born").with_columns(
        copy=pl.col("age"), age=pl.when(pl.int_range(N) < 60).then(None).otherwise("age")
    )
    told = Scenario(
        keys=["sex", "age"], magnitudes=["pay"], household="home", thresholds={**LIMITS, "recoverable": 0.0}
    )
    with quiet():
        assessment = assess(blank, scenario=told)
    found = {one.name: one for one in assessment.verdicts}
    assert {"household_risk_undone", "exact_numbers_undone"} <= found.keys()
    assert found["household_risk_undone"].alone
    printed = {one["name"]: one for one in plain_document(assessment)["verdicts"]}
    assert printed["household_risk_undone"]["value"]["value"] > 0
    assert printed["exact_numbers_undone"]["holds"]["value"] is False
    wide = told.changed(thresholds={**LIMITS, "recoverable": 0.0, "exact_numbers": 0.9})
    with quiet():
        printed = {one["name"]: one for one in plain_document(assess(blank, scenario=wide))["verdicts"]}
    assert printed["exact_numbers_undone"]["holds"]["value"] is True
    assert 0 < printed["exact_numbers_undone"]["value"]["value"] < 0.9


def test_documents_say_of_both_releases_what_is_known_with_what_is_put_back():
    told = Scenario(keys=["sex", "age"], magnitudes=["pay"], household="home", aligned=True, thresholds=LIMITS)
    with quiet():
        assessed = assess(WHOLE, [OUT, OUT.drop("born")], scenario=told, seed=1)
    exact = {one.name: one for one in assessed.verdicts}
    plain = plain_document(assessed)
    for printed in (one for one in plain["verdicts"] if one["name"].endswith("_undone")):
        verdict = exact[printed["name"]]
        share = verdict.value if verdict.n_records is None else verdict.n_records / N
        assert printed["value"]["value"] == pytest.approx(share, abs=0.01), printed["name"]
        assert printed["holds"]["value"] is verdict.holds
    assert sum(one["name"].endswith("_undone") for one in plain["verdicts"]) == 4


def test_the_next_steps_name_first_what_gives_the_values_back(old):
    plain = plain_document(old.assess(seed=1))
    told = plain["intruders"][0]["measures"]["recoverable_values"]["advice"]
    steps = next_steps(plain)
    assert steps[: min(3, len(told))] == [f"{words[0].upper()}{words[1:]}." for words in told[:3]]
    assert any("weight" in step for step in steps[:3])
    assert not {f"{words[0].upper()}{words[1:]}." for words in told} & {*steps[3:]}
