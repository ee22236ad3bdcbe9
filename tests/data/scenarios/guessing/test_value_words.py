"""Categories in several languages."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.guessing.value_words import topic_of_values


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
