"""The arguments of `matching_risk`: what they come to, and one clear error each."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.identity.matching.matching_options import Asked, files_to_match, match_by, matched_variables, target_rows

PLAIN = {
    "known": ["sex", "age"],
    "synthetic": ["job", "income"],
    "numeric": ["age", "income"],
    "width": 0.1,
    "relative": True,
    "missing": None,
    "scenario": None,
}


def found(**options):
    return match_by(**{**PLAIN, **options})


def test_a_width_reaches_known_numbers():
    assert found().widths == {"age": (0.1, True), "income": (0.1, True)}
    assert found().equal == ("sex", "job")
    assert found(width=[2, 0.3], relative=[False, True]).widths == {"age": (2.0, False), "income": (0.3, True)}
    assert found(exact=["sex", "age"]).widths == {"income": (0.1, True)}
    assert found(width={"age": 0, "income": 0.2}).widths["age"] == (0.0, True)
    assert found(width={"income": 0.2}).equal == ("sex", "age", "job")
    both = found(width={"age": 2, "income": 0.2}, relative={"age": False, "income": True})
    assert both.widths == {"age": (2.0, False), "income": (0.2, True)}
    assert both.equal == ("sex", "job")


def test_a_width_makes_a_variable_numeric():
    assert found(numeric=[], width={"income": 0.1}).numeric == ("income",)
    assert found(numeric=[]).equal == ("sex", "age", "job", "income")


def test_the_rule_for_missing_values():
    assert found().in_words == "a missing value matches a missing value only"
    assert found(missing="wildcard").in_words == "a missing value matches any value"
    assert found(missing={"job": "wildcard"}).in_words.startswith("a missing value of job matches any value")


def test_a_scenario():
    scenario = Scenario(keys=["sex", "age"], numeric=["age", "income"])
    by = found(known=[], synthetic=[], numeric=[], scenario=scenario)
    assert (by.known, by.synthetic, by.widths) == (("sex",), ("age",), {"age": (0.1, True)})
    two = Scenario(intruders={"a": ["sex"], "b": ["age"]})
    with pytest.raises(ScenarioError, match="several intruders"):
        found(known=[], synthetic=[], numeric=[], scenario=two)
    assert found(scenario=two).known == ("sex", "age")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"known": [], "synthetic": [], "numeric": []}, DataError, "no variable to match by"),
        ({"known": "sex"}, ColumnError, r"known must be a list of column names; write known=\['sex'\]"),
        ({"known": ["sex", "job"], "numeric": []}, ColumnError, "'job' is known and synthetic"),
        ({"synthetic": ["job", "job"]}, ColumnError, "synthetic: 'job' is listed more than once"),
        ({"numeric": ["incme"]}, ColumnError, "numeric: 'incme' is neither known nor synthetic.*'income'"),
        ({"width": {"wage": 1}}, ColumnError, "width: 'wage' is neither known nor synthetic"),
        ({"relative": {"wage": True}}, ColumnError, "relative: 'wage' is neither"),
        ({"width": {"age": 1}}, DataError, "width names no width for 'income'"),
        ({"width": -0.1}, DataError, "width is half the length of an interval; give a number of 0 or more"),
        ({"width": {"income": float("nan")}}, DataError, "width of 'income' is half the length"),
        ({"width": True}, DataError, "give a number of 0 or more"),
        ({"width": None, "numeric": []}, DataError, "give a number of 0 or more"),
        ({"relative": {"age": True}}, DataError, "relative says nothing of 'income'"),
        ({"relative": 1}, DataError, "relative is True where"),
        ({"missing": "drop"}, ScenarioError, "missing: 'drop' is no rule"),
        ({"missing": {"wage": "category"}}, ColumnError, "missing: 'wage' is not one of"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        found(**options)


def test_targets():
    assert target_rows(None, 3).tolist() == [0, 1, 2]
    assert target_rows(range(2, 4), 3).tolist() == [1, 2]
    assert target_rows(np.array([True, False, True]), 3).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0], "counts from 1 to 3"),
        ([4], "counts from 1 to 3"),
        ([1, 1], "names a record more than once"),
        ([], "names no record"),
        ([False] * 3, "names no record"),
        ([True, False], "one value for each of the 3 records"),
        ([1.0], "takes row numbers"),
        ("first", "takes row numbers"),
        ([[1]], "takes row numbers"),
    ],
)
def test_bad_targets(rows, message):
    with pytest.raises(DataError, match=message):
        target_rows(rows, 3)


def test_how_each_variable_is_matched():
    by = found(width={"age": 2, "income": 0.25}, relative={"age": False, "income": True})
    closed = matched_variables(by, bounds="closed", around="original")
    assert [(one.name, one.role, one.kind, one.matched) for one in closed] == [
        ("sex", "known", "category", "exactly"),
        ("age", "known", "number", "within ± 2 of the value"),
        ("job", "synthetic", "category", "exactly"),
        ("income", "synthetic", "number", "within ± 25 % of the value"),
    ]
    ends = matched_variables(by, bounds="open", around="released")[1]
    assert ends.matched == "within ± 2 of the released value, without the ends"
    none = found(width=0)
    assert [one.matched for one in matched_variables(none, bounds="closed", around="original")] == ["exactly"] * 4
    assert closed[3].stated == {
        "name": "income", "role": "synthetic", "kind": "number", "width": 0.25, "relative": True,
        "matched": "within ± 25 % of the value",
    }  # fmt: skip


# Which variables are numbers, known or synthetic: declared first, else as the files are.


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
    assert settled(**NAMES, width={"code": 1, "age": 2, "pay": 0}, relative=False).by.widths["code"] == (1.0, False)


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
    with pytest.raises(DataError, match="width is used by no variable: none of the variables is a number"):
        settled(known=["sex"], width=0.2)
    with pytest.raises(DataError, match=r"age is left as it was; .* width=\{'age': ...\}"):
        settled(SURVEY, scenario=Scenario(keys=["sex", "age"]), width=0.2)
    with pytest.raises(DataError, match="width names no width for 'pay'"):
        settled(**NAMES, width={"age": 2})
    assert settled(known=["sex"], synthetic=["code"]).notes == {}
    unused = Scenario(keys=["sex", "code"], matching={"width": 0.2})  # the code is as it was
    assert "the scenario's width is used by no variable" in settled(scenario=unused).notes["width"]


# What is a number where nothing is declared, decided over all files.


def test_decimals_in_any_file_make_a_number():
    for decimals, whole in ((RELEASE.with_columns(code=pl.col("code") + 0.5), SURVEY), (SURVEY, RELEASE)):
        name = "code" if whole is SURVEY else "pay"
        files = files_to_match(whole, [SURVEY, decimals], Asked(synthetic=[name]), id=None)
        assert files.by.widths == {name: (0.1, True)}
        assert files.readings == ()  # decimals are no codes
    assert settled(RELEASE.with_columns(code=pl.col("code") * 1.5), synthetic=["code"], numeric=[]).by.widths == {}


NEW = SURVEY.with_columns(code=pl.col("code").replace(3, 99))


def test_new_whole_numbers_make_a_number_of_a_synthetic_code():
    files = settled(NEW, synthetic=["code"])
    assert files.by.widths == {"code": (0.1, True)}
    assert [(other.widths, riskier) for other, riskier in files.readings] == [({}, False)]
    assert settled(NEW, known=["code"]).by.widths == {}
    assert settled(NEW, synthetic=["code", "pay"], width={"pay": 0.1}).by.widths == {"pay": (0.1, True)}
    for role in ({"ordered": ["code"]}, {"hierarchies": {"code": "code.csv"}}):
        declared = settled(NEW, scenario=Scenario(keys=["sex", "code"], **role))
        assert (declared.by.widths, declared.readings) == ({}, ())
    files = settled(NEW, scenario=Scenario(keys=["sex", "code"]))
    assert files.by.widths == {"code": (0.1, True)}


def test_a_width_that_can_only_be_meant_for_one_variable():
    assert settled(known=["sex"], synthetic=["code"], width=0.2).by.widths == {"code": (0.2, True)}
    assert settled(known=["code"], synthetic=["sex"], width=0.2).by.widths == {"code": (0.2, True)}
    assert settled(known=["code"], synthetic=["pay"], width=0.2).by.widths == {"pay": (0.2, True)}
    assert settled(synthetic=["code", "pay"], width=[2, 0.1], relative=[False, True]).by.widths == {
        "code": (2.0, False), "pay": (0.1, True),
    }  # fmt: skip
    assert settled(known=["code"], synthetic=["pay"], width=[0.1]).by.widths == {"pay": (0.1, True)}
    assert settled(known=["code"], synthetic=["pay"], width=[0.2, 0.1]).by.widths["code"] == (0.2, True)
    two = SURVEY.with_columns(other=pl.col("code"))
    with pytest.raises(DataError, match="width is used by no variable"):
        files_to_match(two, two, Asked(synthetic=["code", "other"], width=0.2), id=None)


def test_known_numbers_have_a_width_unless_they_are_keys_of_a_scenario():
    both = {"age": (0.1, True), "pay": (0.1, True)}
    assert settled(SURVEY, known=["age"], synthetic=["pay"]).by.widths == both
    assert settled(SURVEY, known=["age"], synthetic=["pay"], numeric=["pay"]).by.widths == {"pay": (0.1, True)}
    assert settled(SURVEY, known=["age"], synthetic=["pay"], known_exact=True).by.widths == {"pay": (0.1, True)}
    release = SURVEY.with_columns(pay=pl.col("pay") * 1.05)
    scenario = {"keys": ["age", "pay"]}
    files = settled(release, scenario=Scenario(**scenario))
    assert (files.by.known, files.by.widths) == (("age",), {"pay": (0.1, True)})
    assert "values are numbers: age;" in files.notes["exact"]
    assert settled(release, scenario=Scenario(**scenario, numeric=["age", "pay"])).by.widths == both
    widths = {"width": {"age": 0.1, "pay": 0.1}}
    assert settled(release, scenario=Scenario(**scenario, matching=widths)).by.widths == both


def test_numbers_matched_exactly_are_named():
    assert "exact" not in settled(**NAMES).notes
    assert "values are numbers: age, pay;" in settled(**NAMES, numeric=[]).notes["exact"]
    assert "exact" not in settled(**NAMES, width={"age": 0, "pay": 0}).notes
    assert "values are numbers: age;" in settled(known=["age"], synthetic=["pay"], width={"pay": 0.1}).notes["exact"]


def test_readings_of_whole_numbers():
    files = settled(synthetic=["code", "age"])  # codes as they were, and thirty ages
    assert files.by.widths == {"age": (0.1, True)}
    assert [(set(other.widths), riskier) for other, riskier in files.readings] == [
        ({"code", "age"}, False), (set(), True),
    ]  # fmt: skip
    assert settled(synthetic=["code", "age"], numeric=["age"]).readings == ()
    assert settled(synthetic=["code", "age"], width=[0.1]).readings == ()
    known = settled(known=["code", "sex"], synthetic=["sex"][:0])
    assert known.readings == ()  # equal codes never have more matches than near ones


def test_infinite_and_missing_numbers_stay_categories():
    empty = SURVEY.with_columns(pay=pl.lit(None, pl.Float64))
    assert files_to_match(SURVEY, empty, Asked(synthetic=["pay"]), id=None).by.widths == {}
    infinite = SURVEY.with_columns(pay=pl.lit(float("inf")))
    assert files_to_match(SURVEY, infinite, Asked(synthetic=["pay"]), id=None).by.widths == {}
