"""One column at a time: role, confidence, warning, question."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.judge import Setting, coordinates_of, fits_topic, judge
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import Units, Weights

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
    guess = one("religion", [1, 2, 3] * 50, label="Religion of the person", value_labels=["catholic", "muslim"])
    assert (guess.role, guess.confidence) == ("key", "likely")
    assert "sensitive" in guess.question


def test_a_column_that_is_not_sure_of_its_key_is_asked_about():
    assert one("class_id", [i // 20 for i in range(200)]).question is not None
    assert one("region", [1, 2, 3, 4] * 50).question is None


def test_names_in_a_few_records_are_no_identifier_by_their_letters_alone():
    texts = ["San Jose", "New York", "Los Angeles"] * 70
    assert one("v1", texts).role == "ignore"


# Whether values fit what a name says.


@pytest.mark.parametrize(
    ("topic", "values", "fits"),
    [
        ("age", list(range(99)), True),
        ("age", [*range(90), 999], True),
        ("age", [1, 2, 3, 9], True),
        ("age", ["15-24", "25+"], True),
        ("age", [i * 10 for i in range(99)], False),
        ("a birth", list(range(1920, 2010)), True),
        ("a birth", list(range(1, 13)), True),
        ("a birth", [*range(1920, 2010), 9999], None),
        ("a birth", ["may", "june"], None),
        ("a date of birth", [date(1990, 1, 1)], True),
        ("a date of birth", ["1.1.1990"], None),
        ("sex or gender", [1, 2], True),
        ("sex or gender", list(range(40)), False),
        ("marital status", [1, 2, 3], True),
        ("marital status", [1.5, 2.5], False),
        ("the household's make-up", [1.0, 1.5, 1.8], True),
        ("occupation", list(range(40)), None),
    ],
)
def test_topics(topic, values, fits):
    assert fits_topic(facts_of(pl.Series("x", values)), topic) is fits


# The object that is given back.


FRAME = pl.DataFrame({"sex": [1, 2] * 20, "item": [1, 2, 3, 4] * 10, "income": [1, 2, 3, 3] * 10})


def test_guesses_are_found_by_column_and_by_role():
    found = sdc.guess_roles(FRAME)
    assert [guess.column for guess in found] == FRAME.columns
    assert len(found) == 3
    assert found["income"].role == "sensitive"
    assert found.of("key") == ("sex",)
    assert found.unconfirmed == ("item", "income")
    with pytest.raises(sdc.ColumnError, match="there is no column 'incom'; did you mean 'income'"):
        found["incom"]


def test_it_prints_a_line_for_each_column():
    lines = str(sdc.guess_roles(FRAME)).splitlines()
    assert len(lines) == 3
    assert lines[0].split()[:3] == ["sex", "key", "sure"]


# Latitude and longitude.


def places(labels=None, **columns):
    facts = {name: facts_of(pl.Series(name, values)) for name, values in columns.items()}
    return coordinates_of(facts, spoken_of(tuple(facts.values()), labels or {}), labels or {})


FINE = [47.1234 + i / 100 for i in range(30)]


@pytest.mark.parametrize(
    ("up", "across"),
    [("lat", "long"), ("latitude", "longitude"), ("GPS_LAT", "GPS_LON"), ("breitengrad", "laengengrad"),
     ("latitud", "longitud"), ("latitude_dec", "lng")],
)  # fmt: skip
def test_pairs(up, across):
    found = places(**{up: FINE, across: FINE, "age": FINE})
    assert set(found) == {up, across}
    assert across in found[up]


def test_labels_say_it_too():
    assert set(places({"v1": "Latitude of dwelling", "v2": "Longitude of dwelling"}, v1=FINE, v2=FINE)) == {"v1", "v2"}


def test_what_is_no_pair():
    assert places(lat=FINE) == {}
    assert places(long=FINE, short=FINE) == {}
    assert places(lat=[one * 100 for one in FINE], long=FINE) == {}  # not on the globe
    assert places(lat=[1, 2] * 15, long=[0, 1] * 15) == {}  # answers
    assert places(x=FINE, y=FINE) == {}  # nothing says that they are places
    assert places(lat=["a", "b"] * 15, long=FINE) == {}


def test_metres_of_a_grid():
    assert set(places(easting=[i * 1000 for i in range(30)], northing=[5_000_000 + i for i in range(30)])) == {
        "easting", "northing",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "values", "magnitude"),
    [
        ("turnover", [float(round(1.05**i)) + i / 7 for i in range(200)], True),
        ("v1", [1.06**i for i in range(200)], True),
        ("v1", [i / 7 for i in range(200)], False),  # the largest hold twice their share
        ("v1", [-1.0, *(1.06**i for i in range(200))], True),  # a loss among incomes
        ("v1", [*(-float(i) for i in range(20)), *(1.06**i for i in range(200))], False),  # losses are no exceptions
        ("region", [1, 2, 3, 4] * 50, False),
        ("income", [1, 2, 3, 9000] * 50, False),  # too few values to be a measurement
    ],
)
def test_amounts_of_which_few_hold_most(name, values, magnitude):
    assert one(name, values).magnitude is magnitude
