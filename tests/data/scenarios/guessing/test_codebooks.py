"""Names of well-known surveys: believed only where several are there that nothing else explains."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.guessing.codebooks import codebook_topics


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
