"""Which variables are numbers, known or synthetic: declared first, else as the files are."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.matching_files import Asked, files_to_match

N = 30
SURVEY = pl.DataFrame(
    {
        "id": range(N),
        "sex": ["f", "m"] * 15,
        "code": [1, 2, 3] * 10,
        "age": range(20, 50),
        "pay": [0.5 + i for i in range(N)],
    }
)
RELEASE = SURVEY.with_columns(age=pl.col("age").reverse(), pay=pl.col("pay") * 1.05)
NAMES = {"known": ["sex", "code"], "synthetic": ["age", "pay"]}
KEYS = Scenario(keys=["sex", "code", "age", "pay"])


def settled(released=RELEASE, *, id=None, **asked):
    return files_to_match(SURVEY, released, Asked(**asked), id=id)


def with_matching(**entries):
    return Scenario(keys=KEYS.keys, matching=entries)


def test_numbers_by_type():
    by = settled(**NAMES).by
    assert (by.numeric, by.widths) == (("age", "pay"), {"age": (0.1, True), "pay": (0.1, True)})
    assert by.equal == ("sex", "code")


def test_declarations_win():
    assert settled(**NAMES, numeric=["pay"]).by.widths == {"pay": (0.1, True)}
    assert settled(**NAMES, numeric=[]).by.widths == {}
    declared = Scenario(keys=["sex"], numeric=["age"])
    assert settled(**NAMES, scenario=declared).by.numeric == ("age",)
    assert settled(**NAMES, width={"code": 1, "age": 2, "pay": 0}, relative=False).by.widths["code"] == (
        1.0,
        False,
    )


def test_a_scenario_says_what_is_known():
    by = settled(scenario=KEYS).by
    assert (by.known, by.synthetic) == (("sex", "code"), ("age", "pay"))
    said = with_matching(known=["age"], synthetic=["sex"], width=0.2, relative={"pay": False})
    by = settled(scenario=said).by
    assert (by.known, by.synthetic) == (("code", "age"), ("sex", "pay"))
    assert by.widths == {"pay": (0.2, False)}


def test_an_argument_wins_over_the_scenario():
    said = with_matching(width=0.2, relative=False)
    assert settled(scenario=said, width=0.3, relative=True).by.widths["age"] == (0.3, True)
    assert settled(**NAMES, scenario=said).by.widths["age"] == (0.2, False)


def test_rows_that_belong_together_by_an_id():
    shuffled = RELEASE.reverse()
    assert settled(shuffled, scenario=KEYS, id="id").by.known == ("sex", "code")
    assert settled(shuffled, scenario=KEYS).by.known == ("age",)  # row by row only that one is as it was


def test_files_that_are_read_when_asked_for():
    found = files_to_match(SURVEY.lazy(), RELEASE.lazy(), Asked(scenario=KEYS), id="id")
    assert found.by.widths == {"age": (0.1, True), "pay": (0.1, True)}


def test_a_width_that_no_variable_uses():
    with pytest.raises(
        DataError, match="width is used by no variable: none of the variables is a synthetic number"
    ):
        settled(known=["sex"], synthetic=["code"], width=0.2)
    with pytest.raises(DataError, match=r"age is left as it was; .* width=\{'age': ...\}"):
        settled(known=["sex", "age"], width=0.2)
    with pytest.raises(DataError, match="width names no width for 'pay'"):
        settled(**NAMES, width={"age": 2})
    assert settled(known=["sex"], synthetic=["code"]).notes == {}
    unused = Scenario(keys=["sex", "code"], matching={"width": 0.2})
    assert "the scenario's width is used by no variable" in settled(scenario=unused).notes["width"]
