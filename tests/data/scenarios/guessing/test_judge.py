"""One column at a time: role, confidence, warning, question."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.judge import Setting, judge
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import Units
from sdckit.data.scenarios.guessing.weights import Weights

ALONE = Setting(Units(), Weights(), {})
DAYS = [date(2000, 1, 1) + timedelta(i) for i in range(200)]


def one(name, values, label="", value_labels=()):
    facts = facts_of(pl.Series(name, values), value_labels)
    return judge(facts, spoken_of([facts], {name: label})[name], ALONE)


@pytest.mark.parametrize(
    ("name", "values", "role", "confidence"),
    [
        ("sex", [1, 2] * 100, "key", "sure"),
        ("sex", list(range(40)) * 5, "key", "unsure"),  # the values do not fit
        ("region", [1, 2, 3, 4] * 50, "key", "likely"),  # the values cannot tell
        ("sexcode", [1, 2] * 100, "key", "likely"),
        ("age", [i * 50 for i in range(200)], "identifier", "likely"),
        ("income", [1, 2, 3, 4] * 50, "sensitive", "likely"),
        ("v1", [1, 2, 3, 4] * 50, "ignore", "unsure"),
        ("county", [f"c{i}" for i in range(200)], "key", "likely"),  # one record per county: no identifier
        ("_psu", list(range(200)), "identifier", "likely"),
        ("gestation", [i % 12 for i in range(200)], "ignore", "unsure"),
        ("v1", list(range(200)), "identifier", "likely"),
        ("id", list(range(200)), "identifier", "sure"),
        ("v1", [i / 7 for i in range(200)], "numeric", "likely"),
        ("v1", [i // 2 / 7 for i in range(200)], "numeric", "likely"),
        ("v1", DAYS, "ignore", "unsure"),
        ("admission", DAYS, "key", "unsure"),
        ("interview_date", DAYS, "ignore", "unsure"),
        ("stratum", [1, 2, 3, 4] * 50, "ignore", "likely"),
        ("wave", [1, 2, 3, 4] * 50, "ignore", "likely"),
        ("height", [150 + i % 50 for i in range(200)], "numeric", "likely"),
        ("class_id", [i // 20 for i in range(200)], "key", "unsure"),
        ("customer_id", [i % 70 for i in range(200)], "ignore", "likely"),
        ("utilityid", [i % 70 for i in range(200)], "ignore", "unsure"),
        ("brandname", [f"b{i % 90}" for i in range(200)], "identifier", "unsure"),
        ("school", ["a school name", "another"] * 100, "key", "sure"),
    ],
)
def test_roles(name, values, role, confidence):
    guess = one(name, values)
    assert (guess.role, guess.confidence) == (role, confidence)
    assert guess.evidence


def test_two_kinds_of_evidence_make_sure():
    assert one("region", [1, 2, 3] * 50).confidence == "likely"
    assert one("region", [1, 2, 3] * 50, label="Bundesland").confidence == "sure"


def test_disputes_are_unsure_and_asked():
    guess = one("age", [1, 2, 3] * 50, label="Monthly income")
    assert (guess.role, guess.confidence) == ("sensitive", "unsure")
    assert "disagree" in guess.reason
    assert guess.question is not None


def test_religion_is_a_key_that_is_asked_about():
    guess = one(
        "religion", [1, 2, 3] * 50, label="Religion of the person", value_labels=["catholic", "muslim"]
    )
    assert (guess.role, guess.confidence) == ("key", "likely")
    assert "sensitive" in guess.question


def test_a_column_that_is_not_sure_of_its_key_is_asked_about():
    assert one("class_id", [i // 20 for i in range(200)]).question is not None
    assert one("region", [1, 2, 3, 4] * 50).question is None


def test_names_in_a_few_records_are_no_identifier_by_their_letters_alone():
    texts = ["San Jose", "New York", "Los Angeles"] * 70
    assert one("v1", texts).role == "ignore"
