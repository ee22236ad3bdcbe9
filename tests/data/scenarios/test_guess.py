"""Guessed roles: by names in several languages, by types, by numbers of values."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest

import sdckit.data.scenarios.guess as module
from sdckit.data.scenarios.guess import guess_roles
from sdckit.data.scenarios.guessing.guesses import Guess
from sdckit.errors import DataError

N = 400


def codes(levels, n=N):
    return [i % levels for i in range(n)]


def guessed(**columns):
    return {guess.column: guess for guess in guess_roles(pl.DataFrame(columns))}


def one(name, values):
    return guessed(**{name: values})[name]


@pytest.mark.parametrize(
    "name",
    ["sex", "Gender", "GESCHLECHT", "sexe", "sexo", "age", "Alter", "edad", "age_group", "region",
     "Province", "educ", "education2", "Bildung", "occupation", "occupation_husb", "Beruf",
     "marital_status", "Zivilstand", "religious", "ethnicity", "nationality", "countryOfBirth", "yob",
     "children", "n_children", "hh_size", "householdType", "yrs_married", "disability",
     "größe_haushaltsgroesse", "Nationalität", "wykształcenie", "płeć", "leeftijd", "estado_civil", "SocialGrade"],
)  # fmt: skip
def test_keys_by_name(name):
    assert one(name, codes(5)).role == "key"
    assert one(name, codes(5)).warning is None


@pytest.mark.parametrize(
    "name",
    ["income", "hh_income", "Einkommen", "revenu", "wage_2020", "health", "diagnosis", "icd10", "affairs"],
)
def test_sensitive_by_name(name):
    assert one(name, codes(5)).role == "sensitive"


@pytest.mark.parametrize(
    "name",
    ["name", "Vorname", "last_name", "email", "phone_no", "Telefon", "ssn", "address", "IBAN"],
)
def test_identifiers_by_name(name):
    assert one(name, ["x", "y"] * (N // 2)).role == "identifier"


def test_whether_somebody_has_a_telephone_is_no_identifier():
    assert one("telephone", [0, 1] * (N // 2)).role != "identifier"
    assert one("telephone", [True, False] * (N // 2)).role != "identifier"


def test_latitude_and_longitude_are_judged_together():
    fine = [47.0 + i / 1000 for i in range(N)]
    found = guessed(lat=fine, long=[13.5 + i / 999 for i in range(N)])
    assert [guess.role for guess in found.values()] == ["identifier", "identifier"]
    assert 'with "long" a place' in found["lat"].reason
    coarse = [47.0 + i % 3 / 10 for i in range(N)]
    found = guessed(lat=coarse, long=coarse)
    assert [guess.role for guess in found.values()] == ["key", "key"]
    assert "area" in found["lat"].question
    assert one("lat", fine).role != "identifier"
    assert one("long", fine).role != "identifier"
    assert [g.role for g in guessed(lat=codes(3), long=codes(2)).values()] == ["ignore", "ignore"]


@pytest.mark.parametrize(
    "name", ["weight", "wgt", "w", "Gewicht", "poids", "peso", "pspwght", "sampling_weight", "hhWeight"]
)
def test_weights(name):
    weights = [1.5 + i % 7 for i in range(N)]
    assert one(name, weights).role == "weight"
    assert "with decimals" in one(name, weights).reason
    assert one(name, [1 + i % 7 for i in range(N)]).role == "weight"


@pytest.mark.parametrize("name", ["weight", "wgt", "gewicht", "poids", "peso", "waga"])
def test_a_name_of_two_meanings_is_no_weight_of_the_sample_where_bodies_are_weighed(name):
    assert one(name, [45.0 + i % 60 for i in range(N)]).role == "numeric"
    assert one(name, [45.0 + i % 60 for i in range(N)]).question is not None
    assert one(f"survey_{name}", [45.0 + i % 60 for i in range(N)]).role == "weight"


def test_what_is_named_like_a_weight_and_is_none():
    assert one("weight", [-1.0, 2.5] * 200).role == "ignore"
    assert one("weight", ["a", "b"] * 200).role == "ignore"
    assert one("weight_kg", [60.5 + i % 90 for i in range(N)]).role == "numeric"


def test_only_the_first_weight_is_taken():
    found = guessed(dweight=[1.5, 2.5] * 200, longitudinal_weight=[2.5, 3.5] * 200)
    assert [guess.role for guess in found.values()] == ["weight", "ignore"]
    assert '"dweight" is taken' in found["longitudinal_weight"].reason


@pytest.mark.parametrize("name", ["hh", "HHID", "household_id", "Haushalt", "menage", "hogar"])
def test_households(name):
    assert one(name, [i // 3 for i in range(N)]).role == "household"
    assert one(name, [f"H{i // 3}" for i in range(N)]).role == "household"
    assert one(name, list(range(N))).role == "identifier"
    assert one(name, codes(4)).role == "key"


@pytest.mark.parametrize("name", ["pid", "person_id", "id", "caseID"])
def test_several_rows_per_person(name):
    guess = one(name, [i // 3 for i in range(N)])
    assert guess.role == "person"
    assert "several rows per person" in guess.warning
    assert one(name, list(range(N))).role == "identifier"
    assert one(name, codes(4)).role == "ignore"


@pytest.mark.parametrize(
    "name", ["sexcode", "agecat", "hhsex", "regioncode", "RESPAGE", "maritalst", "subregion"]
)
def test_a_known_word_within_a_word_is_a_key_if_its_values_are_few(name):
    assert one(name, codes(4)).role == "key"
    assert one(name, ["a", "b"] * (N // 2)).role == "key"
    assert one(name, codes(150)).warning or one(name, codes(150)).role in ("ignore", "numeric")


@pytest.mark.parametrize(
    "name", ["usage", "average", "percentage", "agent", "statement", "laughs", "opinion"]
)
def test_a_known_word_within_a_word_by_chance(name):
    assert one(name, codes(4)).role == "ignore"


def test_a_number_of_things_is_no_id():
    assert one("number_visits", codes(90)).role == "ignore"


def test_dates_of_birth_and_fine_geography_are_warned_of():
    assert "recode" in one("date_of_birth", codes(300)).warning
    assert "recode" in one("dob", codes(5)).warning
    assert "recode" in one("birth_date", codes(300)).warning
    assert "merge areas" in one("postcode", [f"{i:04d}" for i in codes(150)]).warning
    assert "recode to fewer groups" in one("age", [i / 3 for i in codes(300)]).warning


def test_a_measured_sensitive_number_is_warned_of():
    guess = one("income", [i * 1.5 for i in range(N)])
    assert guess.role == "sensitive"
    assert "bands" in guess.warning


def test_silent_names_are_judged_by_their_values():
    n = 3000
    found = guessed(
        v1=list(range(n)), v2=[f"t{i}" for i in range(n)], v3=[i * 0.37 for i in range(n)],
        v4=codes(2000, n), v5=codes(3, n), v6=[1] * n, v7=[None] * n, v8=[[1]] * n,
    )  # fmt: skip
    assert [guess.role for guess in found.values()] == [
        "identifier", "identifier", "numeric", "numeric", "ignore", "ignore", "ignore", "ignore",
    ]  # fmt: skip
    assert "stranger know" in found["v5"].question
    assert "same in every record" in found["v6"].reason
    assert "no value" in found["v7"].reason


def test_constant_columns_are_left_out_whatever_their_name():
    assert one("sex", [1] * N).role == "ignore"
    assert one("sex", [1, None] * 200).role == "ignore"


def test_in_a_tiny_file_being_unique_says_nothing():
    assert one("v1", [1, 2, 3]).role == "ignore"


@pytest.mark.parametrize("engine", ["pandas", "pyarrow", "lazy"])
def test_any_frame(engine):
    frame = pl.DataFrame({"sex": ["a", "b"] * 20, "wgt": [1.5, float("nan")] * 20})
    made = {
        "pandas": lambda: pd.DataFrame(frame.to_dict(as_series=False)),
        "pyarrow": lambda: pa.table(frame.to_dict(as_series=False)),
        "lazy": frame.lazy,
    }[engine]()
    assert [guess.role for guess in guess_roles(made)] == ["key", "ignore"]
    assert guess_roles(made) == guess_roles(frame)


def test_only_a_sample_is_looked_at(monkeypatch):
    monkeypatch.setattr(module, "SAMPLE", 100)
    frame = pl.DataFrame({"v": [1] * 100 + [2] * 5})
    assert "same in every record" in guess_roles(frame)["v"].reason
    assert guess_roles(frame).n_records == 100
    assert guess_roles(frame.lazy()).n_records == 100


def test_facts_beyond_the_first_records_count():
    """A column that repeats late is no identifier, one that changes late is not constant."""
    late = pl.DataFrame({"v": [*range(150_000), *range(10)], "sex": [1] * 150_000 + [2] * 10})
    found = guess_roles(late)
    assert (found["v"].role, found["sex"].role) == ("numeric", "key")


def test_no_records():
    with pytest.raises(DataError, match="no records"):
        guess_roles(pl.DataFrame({"sex": []}))
    with pytest.raises(DataError, match="no records"):
        guess_roles(pl.DataFrame())


def test_no_guess_tells_a_value():
    mark = "Zyxw-4711"
    frame = pl.DataFrame({name: [mark, "b"] * 20 for name in ("sex", "income", "hh", "v", "id", "name", "w")})
    for guess in guess_roles(frame):
        assert isinstance(guess, Guess)
        assert mark not in guess.reason + (guess.warning or "") + (guess.question or "")


def test_sensitive_columns_are_never_sure_and_always_asked():
    found = guessed(income=codes(7), health=["good", "bad"] * 200, party=codes(5), religion=codes(4))
    assert {guess.confidence for guess in found.values()} <= {"likely", "unsure"}
    assert all(guess.question for guess in found.values())


def test_labels_of_a_frame():
    frame = pl.DataFrame({"V1": codes(2), "V2": codes(60)})
    found = guess_roles(
        frame, labels={"V1": "Geschlecht", "V2": "Alter"}, value_labels={"V1": ["Mann", "Frau"]}
    )
    assert [(guess.role, guess.confidence) for guess in found] == [("key", "sure"), ("key", "sure")]
    assert "its label and its categories speak of sex" in found["V1"].reason


def test_a_path_brings_its_own_labels(tmp_path):
    path = tmp_path / "x.sav"
    frame = pl.DataFrame({"V1": codes(2), "V2": [i * 7 % 97 for i in range(N)]}).cast(pl.Float64)
    pyreadstat.write_sav(frame.to_pandas(), str(path), column_labels=["Sexe", "Âge"],
                         variable_value_labels={"V1": {0: "homme", 1: "femme"}})  # fmt: skip
    assert [guess.confidence for guess in guess_roles(path)] == ["sure", "sure"]
    assert guess_roles(str(path), labels={"V2": "Puls"})["V2"].role == "ignore"
