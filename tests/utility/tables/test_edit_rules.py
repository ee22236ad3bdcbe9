"""Edit rules: who breaks them before and after, and what cannot be judged."""

from __future__ import annotations

import math

import duckdb
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit import edit_rules
from sdckit.data.rule_conditions import breaking
from sdckit.errors import DataError

RULES = {
    "marital": {"when": {"age": {"below": 16}}, "value": "single"},
    "age": {"when": {"marital": ["widowed", "divorced"]}, "value": {"at_least": 18}},
    "pay": {"when": {"job": {"missing": True}}, "value": None},
}
SURVEY = pl.DataFrame(
    {
        "id": [1, 2, 3, 4, 5], "age": [12, 15, 40, 17, 30],
        "marital": ["single", "single", "widowed", "divorced", "married"],
        "job": [None, None, "cook", "cook", None], "pay": [None, None, 5.0, 6.0, None],
    }
)  # fmt: skip


def shares(release: pl.DataFrame, **how) -> list[tuple[float, ...]]:
    return [tuple(row) for row in edit_rules(SURVEY, release, rules=RULES, **how).shares[0]]


def test_each_rule_has_its_shares() -> None:
    release = SURVEY.with_columns(
        marital=pl.Series(["married", "single", "widowed", "single", "married"]),
        age=pl.Series([12, 15, 12, 17, 30]), pay=pl.Series([None, 1.0, 5.0, 6.0, 2.0]),
    )  # fmt: skip
    assert shares(release, aligned=True) == [(0.0, 0.4, 0.4), (0.2, 0.2, 0.2), (0.0, 0.4, 0.4)]
    assert shares(release) == [(0.0, 0.4, 0.4), (0.2, 0.2, 0.0), (0.0, 0.4, 0.4)]
    assert edit_rules(SURVEY, release, rules=RULES).broken_rules == 0.4


def test_an_id_says_which_records_belong_together() -> None:
    release = SURVEY.with_columns(age=pl.Series([12, 15, 12, 20, 30]))[::-1]
    assert shares(release, id="id")[1] == (0.2, 0.2, 0.2)


def test_a_suppressed_value_breaks_only_rules_on_missing_values() -> None:
    release = SURVEY.with_columns(age=pl.lit(None, pl.Int64), job=pl.lit(None, pl.String))
    assert shares(release, aligned=True) == [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.4, 0.4)]


@pytest.mark.parametrize(
    "release", [SURVEY.drop("age"), SURVEY.with_columns(age=pl.Series(["10-19", "10-19", "40+", "10-19", "20-39"]))]
)
def test_what_cannot_be_held_against_the_files_is_not_judged(release: pl.DataFrame) -> None:
    result = edit_rules(SURVEY, release, rules=RULES, aligned=True)
    assert [math.isnan(row[2]) for row in result.shares[0]] == [True, True, False]
    assert len(result.unjudged) == 2
    assert "not judged: where age below 16" in result.notes["rules"]


def test_a_column_whose_texts_are_others_was_recoded() -> None:
    release = SURVEY.with_columns(marital=pl.lit("alone"))
    assert len(edit_rules(SURVEY, release, rules=RULES, aligned=True).unjudged) == 2


def test_the_rules_of_the_scenario_count_unless_others_are_given() -> None:
    scenario = sdc.Scenario(keys=["age"], rules=RULES)
    assert edit_rules(SURVEY, SURVEY, scenario=scenario).rules == edit_rules(SURVEY, SURVEY, rules=RULES).rules
    assert scenario.columns == ("age", "marital", "job", "pay")
    only = edit_rules(SURVEY, SURVEY, scenario=scenario, rules={"pay": RULES["pay"]})
    assert only.rules == ("where job is missing: pay is missing",)
    with pytest.raises(DataError, match="there is no edit rule"):
        edit_rules(SURVEY, SURVEY)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow", "lazy", "duckdb"])
def test_every_engine_gives_the_same(kind: str) -> None:
    release = SURVEY.with_columns(age=pl.Series([12, 15, 12, 17, 30]))

    def other(frame: pl.DataFrame):
        if kind == "duckdb":
            return duckdb.from_arrow(frame.to_arrow())
        return {"pandas": frame.to_pandas, "pyarrow": frame.to_arrow, "lazy": frame.lazy}[kind]()

    result = edit_rules(other(SURVEY), other(release), rules=RULES)
    assert result.shares == edit_rules(SURVEY, release, rules=RULES).shares


def test_a_verdict_says_what_it_could_not_look_at() -> None:
    whole = pl.concat([SURVEY] * 30)
    scenario = sdc.Scenario(keys=["age"], rules=RULES, aligned=True, thresholds={"broken_rules": 0.1})
    for release, word in (
        (whole, "holds"),
        (whole.with_columns(marital=pl.lit("single")), "holds"),
        (whole.with_columns(marital=pl.lit("married")), "exceeded"),
        (whole.drop("pay"), "not judged"),
    ):
        with quiet():
            verdicts = sdc.assess(whole, release, scenario=scenario, seed=1).verdicts
        assert [verdict.word for verdict in verdicts if verdict.name == "broken_rules"] == [word]
    without = scenario.changed(rules=())
    with quiet():
        (verdict,) = sdc.assess(whole, whole, scenario=without, seed=1).verdicts
    assert verdict.word == "not judged"
    assert "declares no edit rule" in verdict.sentence


def test_the_original_is_held_against_each_rule_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []
    monkeypatch.setattr(
        "sdckit.data.rule_conditions.breaking", lambda rule, frame: held.append(rule.words) or breaking(rule, frame)
    )
    edit_rules(SURVEY, [SURVEY] * 4, rules=RULES)
    assert len(held) == 3 * 5
