"""Guessed roles: by names in several languages, by types, by numbers of values."""

from __future__ import annotations

import re
import tomllib

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, strategies as st

import sdckit.data.scenarios.guess as module
from draw import CHARACTERS
from sdckit.data.files import readers
from sdckit.data.missing_values.missing import MissingNotes
from sdckit.data.scenarios.guess import guess_roles, scenario_toml, write_guesses
from sdckit.data.scenarios.guessing.judge import Guess
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, FileFormatError, ScenarioError, SdcWarning

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
    ["income", "hh_income", "Einkommen", "revenu", "wage_2020", "health", "diagnosis", "icd10", "affairs",
     "special_educational_need", "SEN", "sen_status", "learning_disability", "dyslexia", "Förderschwerpunkt",
     "sonderpädagogischer_Förderbedarf", "Lernbehinderung", "free_school_meals", "fsm", "welfare", "Sozialhilfe",
     "Bürgergeld", "Arbeitslosengeld", "Kostenbefreiung", "adhd", "Pflegegrad", "Vorerkrankung", "vaccination",
     "Vorstrafen", "suspension"],
)  # fmt: skip
def test_sensitive_by_name(name):
    assert one(name, codes(5)).role == "sensitive"
    assert one(name, codes(5)).question is not None


@pytest.mark.parametrize("name", ["religion", "Konfession", "disability", "Schwerbehinderung", "GdB", "impairment"])
def test_what_is_known_or_learnt_is_asked(name):
    guess = one(name, codes(5))
    assert (guess.role, guess.confidence) == ("key", "likely")
    assert guess.question == "is it known to strangers, or is it what they would learn? Then move it to sensitive"


@pytest.mark.parametrize("name", ["education", "school_type", "Schulform", "sex", "sender", "consent", "occupation"])
def test_what_is_like_special_needs_in_letters_only_is_as_before(name):
    assert one(name, codes(5)).role in ("key", "ignore")


def test_special_needs_by_label():
    (guess,) = guess_roles(pl.DataFrame({"v17": codes(2)}), labels={"v17": "Special educational need of the pupil"})
    assert guess.role == "sensitive"


@pytest.mark.parametrize(
    "name", ["name", "Vorname", "last_name", "email", "phone_no", "Telefon", "ssn", "address", "IBAN"]
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


@pytest.mark.parametrize("name", ["sexcode", "agecat", "hhsex", "regioncode", "RESPAGE", "maritalst", "subregion"])
def test_a_known_word_within_a_word_is_a_key_if_its_values_are_few(name):
    assert one(name, codes(4)).role == "key"
    assert one(name, ["a", "b"] * (N // 2)).role == "key"
    assert one(name, codes(150)).warning or one(name, codes(150)).role in ("ignore", "numeric")


@pytest.mark.parametrize("name", ["usage", "average", "percentage", "agent", "statement", "laughs", "opinion"])
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
        "identifier", "identifier", "numeric", "numeric", "ignore", "insensitive", "ignore", "ignore",
    ]  # fmt: skip
    assert "stranger know" in found["v5"].question
    assert "same in every record" in found["v6"].reason
    assert "no value" in found["v7"].reason


def test_constant_columns_are_insensitive_whatever_their_name():
    assert one("sex", [1] * N).role == "insensitive"
    assert one("sex", [1] * N).question is None
    for name, values in (("sex", [1, None] * 200), ("s*x", [1] * N)):  # missing tells records apart; "*" is a pattern
        found = one(name, values)
        assert found.role == "ignore"
        assert "Give it a role" in found.question


def test_what_stays_without_a_role_is_asked_about():
    found = guessed(number=[i * 0.37 for i in range(N)], psu=codes(9), v1=codes(200), empty=[None] * N, v2=[7] * N)
    assert {name: bool(guess.question) for name, guess in found.items()} == {
        "number": True, "psu": True, "v1": True, "empty": True, "v2": False,
    }  # fmt: skip


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
    found = guess_roles(frame, labels={"V1": "Geschlecht", "V2": "Alter"}, value_labels={"V1": ["Mann", "Frau"]})
    assert [(guess.role, guess.confidence) for guess in found] == [("key", "sure"), ("key", "sure")]
    assert "its label and its categories speak of sex" in found["V1"].reason


def test_a_path_brings_its_own_labels(tmp_path):
    path = tmp_path / "x.sav"
    frame = pl.DataFrame({"V1": codes(2), "V2": [i * 7 % 97 for i in range(N)]}).cast(pl.Float64)
    pyreadstat.write_sav(frame.to_pandas(), str(path), column_labels=["Sexe", "Âge"],
                         variable_value_labels={"V1": {0: "homme", 1: "femme"}})  # fmt: skip
    assert [guess.confidence for guess in guess_roles(path)] == ["sure", "sure"]
    assert guess_roles(str(path), labels={"V2": "Puls"})["V2"].role == "ignore"


# The commented scenario: valid, explained, and without a value of a record.


MARK = "Zyxw-4711"
TOML_N = 300


def survey():
    return pl.DataFrame(
        {
            "full name": [MARK] + [f"P{i}" for i in range(TOML_N - 1)],
            "sex": ["m", "f"] * (TOML_N // 2),
            'q "x"\ny': [f"{i % 150:04d}" for i in range(TOML_N)],
            "dob": [f"1980-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(TOML_N)],
            "hh": [i // 3 for i in range(TOML_N)],
            "wgt": [1.5 + i % 4 for i in range(TOML_N)],
            "income": [1000.5 + i for i in range(TOML_N)],
            "empty": ["NA"] * TOML_N,
        }
    )


def scenario_of(text, tmp_path):
    path = tmp_path / "guessed.toml"
    path.write_bytes(text.encode())
    return Scenario.from_toml(path)


def counts_of(text):
    """The counts that comments state, whatever they count."""
    bare = " ".join(line.strip().lstrip("# ") for line in text.splitlines())
    return re.findall(r"(<?\d[\d,]*) (values?|ids?|records?|of them)\b", re.sub(r'"(?:[^"\\]|\\.)*"', "", bare))


def with_codes(n):
    """People of whom one has answered otherwise, and one lives alone."""
    return pl.DataFrame({
        "hh": [*(at // 2 for at in range(n - 1)), n], "sex": ["f", "m"] * (n // 2), "age": [-999, *range(20, 19 + n)],
        "job": ["astronaut", "refused", *["cook", "clerk"] * (n // 2 - 1)],
    })  # fmt: skip


def test_comments_count_as_documents_do(tmp_path):
    """A scenario goes out with a release: nobody reads in it that one household or one answer is alone."""
    path = tmp_path / "x.csv"
    with_codes(84).write_csv(path)
    with pytest.warns(SdcWarning, match="-999 in 1 record"):  # the session has exact figures
        counts = counts_of(scenario_toml(path))
    assert {what for _, what in counts} == {"values", "ids", "of them", "records"}
    assert [n for n, _ in counts if n != "<5" and int(n.replace(",", "")) % 5] == []
    assert ("<5", "records") in counts
    assert ("<5", "values") in counts
    exact = [guess.reason for guess in guess_roles(with_codes(84))]
    assert any("43 ids, 41 of them in several records" in reason for reason in exact)


def test_comments_of_a_file_with_a_household_more_are_the_same(tmp_path):
    """Up to where a count is rounded the other way."""
    texts = []
    for n in (84, 86):
        path = tmp_path / "x.csv"
        with_codes(n).write_csv(path)
        with pytest.warns(SdcWarning, match="refused"):
            texts.append(scenario_toml(path))
    assert texts[0] == texts[1]


def test_is_valid_and_explains_every_column(tmp_path):
    path = tmp_path / "survey.csv"
    survey().write_csv(path)
    text = scenario_toml(path, missing=["NA", "-999"])
    scenario = scenario_of(text, tmp_path)
    assert scenario.keys == ("sex", "dob")
    assert scenario.weight == "wgt"
    assert scenario.household == "hh"
    assert scenario.sensitive == ("income",)
    assert scenario.identifiers == ("full name",)
    assert scenario.missing_codes == ("NA", "-999")
    assert scenario.thresholds.declared == {}
    scenario.check_columns(survey().columns)
    assert '# Disclosure scenario for "survey.csv".' in text
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert "WARNING: recode to a year" in told
    assert '"q \\"x\\"\\ny": unsure: 150 values; neither name nor label says' in told
    assert '#   "empty": sure: it holds no value' in text
    assert {*scenario.unconfirmed} == {"wgt", "income", 'q "x"\ny', "empty"}
    assert scenario.insensitive == ()
    assert "# sensitive = []" not in text
    assert '# household = "none"' not in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "# k = 3" in text
    assert MARK not in text
    assert "1980" not in text


def test_the_example_limits_are_valid_once_uncommented(tmp_path):
    text = scenario_toml(survey())
    wanted = ("release", "missing", "[thresholds]", "k =", "risk =", "l =")
    lines = [line[2:] if line.startswith("# ") and line[2:].startswith(wanted) else line for line in text.splitlines()]
    scenario = scenario_of("\n".join(lines), tmp_path)
    assert scenario.thresholds.declared == {"k": 3, "risk": 0.1, "l": 2}
    assert scenario.release == "scientific-use"


def test_several_rows_per_person_say_what_the_line_does(tmp_path):
    text = scenario_toml(
        survey().drop("dob").with_columns(pid=pl.int_range(TOML_N) // 2, sex=pl.int_range(TOML_N) // 2 % 2)
    )
    scenario = scenario_of(text, tmp_path)
    assert (scenario.person, scenario.missing) == ("pid", "category")
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert "with this role each person counts once" in told
    assert '\nperson = "pid"\n' in text
    assert "make one row per person" not in text


def test_codes_that_may_mean_missing_are_a_line_to_uncomment(tmp_path):
    path = tmp_path / "x.csv"
    pl.DataFrame({"sex": ["m", "f", "NA", "m"] * 20, "a\nb": [1, 2, 3, -999] * 20}).write_csv(path)
    with pytest.warns(SdcWarning):
        text = scenario_toml(path)
    assert scenario_of(text, tmp_path).missing_codes == ()
    assert "# Taken for missing: 'NA' in \"sex\" (20 records)." in text
    assert '# "a\\nb" holds -999 in 20 records. If that means missing:\n# missing_codes = ["NA", "-999"]' in text
    assert '# Does a code mean "not asked of this person"' in text
    chosen = text.replace("# missing_codes", "missing_codes")
    assert scenario_of(chosen, tmp_path).missing_codes == ("NA", "-999")
    with pytest.warns(SdcWarning):
        text = scenario_toml(path, missing=["NA"])
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert 'write instead of the line above: missing_codes = ["NA", "-999"]' in told
    assert scenario_of(text, tmp_path).missing_codes == ("NA",)
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert 'missing_codes = [""], says that there are no others' in told
    text = scenario_toml(path, missing=["", "NA"])  # -999 is a value, and nothing is warned of
    assert scenario_of(text, tmp_path).missing_codes == ("", "NA")
    assert "-999" not in text


def test_without_weight_a_sampling_fraction_is_offered(tmp_path):
    text = scenario_toml(survey().drop("wgt"))
    assert "# sampling_fraction = 0.05" in text
    uncommented = text.replace("# sampling_fraction", "sampling_fraction")
    assert scenario_of(uncommented, tmp_path).sampling_fraction == 0.05


def test_a_large_file_says_that_only_a_sample_was_read(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_MOST", 100)
    monkeypatch.setattr(readers, "_FEWEST", 10)
    path = tmp_path / "x.parquet"
    pl.DataFrame({"sex": [1, 2] * 51}).write_parquet(path)
    assert "# Only the first 100 of 102 records were looked at." in scenario_toml(path)


def test_no_key_to_guess(tmp_path):
    """The file is written for the keys to be filled in, and is no scenario before."""
    path = tmp_path / "x.csv"
    path.write_text("v1,v2\n" + "1,2\n3,4\n" * 20)
    text = scenario_toml(path)
    assert "keys = []" in text
    with pytest.raises(ScenarioError, match="keys is empty"):
        scenario_of(text, tmp_path)
    assert scenario_of(text.replace("keys = []", 'keys = ["v1"]'), tmp_path).keys == ("v1",)


def test_questions_stand_together_and_the_names_are_those_to_delete(tmp_path):
    frame = pl.DataFrame({"sex": [1, 2] * 30, **{f"item{i}": [i % 3, 1, 2] * 20 for i in range(40)}})
    text = scenario_toml(frame)
    scenario = scenario_of(text, tmp_path)
    assert scenario.unconfirmed == tuple(f"item{i}" for i in range(40))
    assert text.count("Could a stranger know it?") == 1
    assert max(len(line) for line in text.splitlines()) <= 80
    answered = text[: text.index("unconfirmed = [")] + text[text.index("]\n", text.index("unconfirmed")) + 2 :]
    assert scenario_of(answered, tmp_path).unconfirmed == ()


def test_what_members_of_a_household_share_is_told():
    found = guess_roles(survey().with_columns(region=pl.int_range(TOML_N) // 3 % 4, sex=pl.Series([1, 1, 2] * 100)))
    assert found.household_variables == ("region",)
    text = write_guesses(found, name="x", looked_at="", notes=MissingNotes())
    assert 'household_variables = ["region"]' in text


def test_absent_file(tmp_path):
    with pytest.raises(FileFormatError, match="there is no file"):
        scenario_toml(tmp_path / "none.csv")


names = st.text(CHARACTERS, min_size=1, max_size=8) | st.sampled_from(
    ["hh", "w", "weight", "pid", "id", "income", "age", "name", "region", "weight2", "hh_id"]
)
values = st.sampled_from(
    [
        [i % 3 for i in range(60)],
        list(range(60)),
        [i // 3 for i in range(60)],
        [i + 0.5 for i in range(60)],
        ["x"] * 60,
        [None] * 60,
    ]
)


@given(st.dictionaries(names, values, max_size=6))
def test_any_file_gives_a_valid_scenario(tmp_path_factory, columns):
    frame = pl.DataFrame({"sex": [1, 2] * 30, **{name: v for name, v in columns.items() if name != "sex"}})
    scenario = scenario_of(scenario_toml(frame), tmp_path_factory.getbasetemp())
    assert "sex" in scenario.keys
    roles = {guess.column: guess.role for guess in guess_roles(frame)}
    used = {name for name, role in roles.items() if role not in ("ignore", "identifier", "insensitive")}
    assert used == set(scenario.columns)
    named = {*scenario.columns, *scenario.identifiers, *scenario.insensitive, *scenario.unconfirmed}
    assert named == {*frame.columns}  # each has a role, or is asked about


def test_magnitudes_are_proposed_and_their_absence_is_left_to_say():
    amounts = pl.DataFrame({"sex": [1, 2] * 100, "turnover": [float(round(1.06**i)) for i in range(200)]})
    text = scenario_toml(amounts)
    assert tomllib.loads(text)["magnitudes"] == ["turnover"]
    without = scenario_toml(amounts.select("sex"))
    assert "# magnitudes = []" in without
    assert "magnitudes" not in tomllib.loads(without)


def test_a_pair_of_coordinates_is_as_fine_as_the_finer_one():
    """The latitude of blocks was an identifier, and the longitude beside it a key."""
    places = guessed(
        latitude=[48 + i % 150 / 100 for i in range(3_000)], longitude=[9 + i % 50 / 100 for i in range(3_000)]
    )
    assert {place.role for place in places.values()} == {"identifier"}


def test_times_of_day_in_text_are_no_ids_of_households():
    """Of an event log in the order of time some stamps stood twice, side by side: "who are they, a household?"."""
    stamps = [f"2023-03-{1 + i // 100:02}T{i // 10 % 10:02}:{i % 10 + 10}:00.000" for i in range(2_000)]
    found = guessed(ts=sorted(stamps + stamps[::9]))["ts"]
    assert found.evidence[0].startswith("days, ")
    assert "could a stranger know it" in found.question


def test_purchases_say_whose_they_are():
    """With more than fifteen rows each, customers were "a number within a household?"."""
    people = [i * 7 % 100 for i in range(4_000)]
    known = {"sex": [i % 2 + 1 for i in people], "age": [20 + i % 60 for i in people]}
    for name in ("customer_id", "card_no"):
        assert guessed(**{name: [900_000 + 31 * i for i in people]}, **known)[name].role == "person"
    assert guessed(pid=[i % 5 + 1 for i in people], **known)["pid"].role == "ignore"


def test_a_weight_of_single_waves_is_left_out_of_a_panel():
    """It was a weight for sure, and every command then ended with an error."""
    person = [i // 5 for i in range(1_000)]
    rows = {"pid": person, "sex": [i % 2 + 1 for i in person], "syear": [2018 + i % 5 for i in range(1_000)]}
    by_wave = guessed(**rows, weight=[1_000.5 + i * 37 % 501 for i in range(1_000)])
    assert (by_wave["pid"].role, by_wave["weight"].role) == ("person", "ignore")
    assert by_wave["weight"].reason.startswith("it differs between the rows of a person")
    assert guessed(**rows, weight=[1_000.5 + i * 37 % 501 for i in person])["weight"].role == "weight"
