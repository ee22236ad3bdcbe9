"""Names, labels, categories and surveys brought together."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.spoken import codebook_topics, spoken_of, topic_of_values


def said(label="", name="v1", values=(1, 2), value_labels=()):
    facts = facts_of(pl.Series(name, list(values)), value_labels)
    return spoken_of([facts], {name: label})[name]


def test_kinds_of_evidence_are_counted():
    assert said().topic is None
    assert said("Geschlecht").kinds == 1
    assert said("Geschlecht", name="sex").kinds == 2
    both = said("Geschlecht", name="sex", value_labels=("Mann", "Frau"))
    assert both.kinds == 3
    assert both.why == "its label, its name and its categories speak of sex or gender"


def test_a_label_that_repeats_the_name_is_no_evidence_of_its_own():
    assert said("SEX", name="sex").kinds == 1


def test_a_label_wins_over_a_name_and_the_dispute_is_told():
    found = said("Monthly income of the household", name="age")
    assert found.name == "money"
    assert found.disputed
    assert not said("Age in years", name="age").disputed


def test_a_word_within_a_name_is_a_hint():
    found = said(name="sexcode")
    assert (found.name, found.kinds) == ("sex or gender", 0)


def test_countries_fit_what_is_asked_of_them():
    found = said("Country of birth", value_labels=("Austria", "Germany", "Turkey"))
    assert (found.name, found.kinds) == ("a country of birth", 2)


def test_weights_of_samples_and_of_bodies():
    assert said("Sampling weight").sampling
    assert said("Weight in kg").body
    assert not said("Weight in kg").sampling


# Names of well-known surveys: believed only where several are there that nothing else explains.


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("DB030 RB050 RB090 RX020", ["a household", "a sampling weight", "sex or gender", "age"]),
        ("v005 v012 v024 v501", ["a sampling weight", "age", "geography", "marital status"]),
        ("AGEP MSP RAC1P PWGTP", ["age", "marital status", "ethnicity or citizenship", "a sampling weight"]),
        ("SEQN RIAGENDR RIDAGEYR WTMEC2YR", ["an id", "sex or gender", "age", "a sampling weight"]),
    ],
)
def test_surveys(columns, expected):
    names = columns.split()
    found = codebook_topics(names)
    assert [found[name][1].name for name in names] == expected


def test_the_name_in_a_survey_is_evidence():
    columns = [facts_of(pl.Series(name, [1, 2])) for name in ("db030", "rb050", "rb090", "colour")]
    of_name = spoken_of(columns, {})
    survey = codebook_topics(["db030", "rb050", "rb090"])["rb090"][0]
    assert of_name["rb090"].topic.name == "sex or gender"
    assert of_name["rb090"].why == f"its name in {survey} speaks of sex or gender"
    assert of_name["rb050"].topic.role == "weight"
    assert of_name["colour"].topic is None


def test_names_that_every_file_may_have_are_no_survey():
    assert codebook_topics(["SEX", "AGE", "REGION", "MARSTAT", "EDUC1", "OCC1", "INCOME"]) == {}
    assert codebook_topics(["V5", "V12", "x", "y"]) == {}
    assert codebook_topics(["np", "serial", "age"]) == {}


def test_a_number_within_something_has_no_topic():
    found = codebook_topics(["v001", "v002", "v003", "v005", "v012"])
    assert found["v002"][1] is None
    assert found["v003"][1] is None
    assert found["v001"][1].role == "design"


def test_what_is_made_of_a_variable_has_its_topic():
    assert codebook_topics(["INDP_CAT", "AGEP", "RAC1P"])["INDP_CAT"][1].name == "occupation"


# Categories in several languages.


@pytest.mark.parametrize(
    ("texts", "topic"),
    [
        (["m", "f"], "sex or gender"),
        (["M", "W", "D"], "sex or gender"),
        (["1 - male", "2 - female", "9 - no answer"], "sex or gender"),
        (["Kobieta", "Mężczyzna"], "sex or gender"),
        (["ledig", "verheiratet", "geschieden"], "marital status"),
        (["célibataire", "marié(e)", "veuf/veuve"], "marital status"),
        (["Soltero/a", "Casado/a", "Viudo/a"], "marital status"),
        (["primary", "lower secondary", "tertiary"], "education"),
        (["Pflichtschule", "Lehre", "Matura", "Universität"], "education"),
        (["catholic", "protestant", "muslim", "none"], "religion"),
        (["White", "Black", "Asian", "Other"], "ethnicity or citizenship"),
        (["employed", "unemployed", "retired"], "occupation"),
        (["head", "spouse", "child", "other relative"], "the household's make-up"),
        (["urban", "rural"], "geography"),
        (["Austria", "Germany", "Turkey", "other"], "geography"),
        (["AT", "DE", "FR", "IT"], "geography"),
        (["AZ", "CA", "NY", "TX", "OH"], "geography"),
        (["I21.0", "C50.9", "J44"], "health"),
        (["18-29", "30-44", "45-59", "60+"], "age"),
        (["unter 15", "15 bis 29", "30 bis 59", "60 und älter"], "age"),
        (["yes", "no"], None),
        (["agree", "disagree", "neither"], None),
        (["0-5", "6-10", "11-20"], None),  # bands, but of something small
        (["a"], None),
        ([], None),
    ],
)
def test_categories(texts, topic):
    found = topic_of_values(texts)
    assert (found and found.name) == topic
