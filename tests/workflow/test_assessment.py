"""What an assessment gives: figures, records at risk, documents, and what is left of it once pickled."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from plans import duckdb_relation, on_engines
from sdckit.cells.as_cells import is_cells
from sdckit.errors import ColumnError, DataError
from sdckit.report.chapters.sentences import headline
from sdckit.report.formats.write import plain_document
from sdckit.result import SCHEMA_VERSION
from sdckit.workflow.assessment import Assessed, IntruderAssessment, listed_reasons

N = 64
FRAME = pl.DataFrame(
    {
        "sex": ["f", "m"] * (N // 2),
        "age": [20 + 10 * (i // 16) for i in range(N - 1)] + [99],
        "job": [None if i % 9 == 4 else "abc"[i % 3] for i in range(N)],
        "ill": ["pqr"[i % 3] for i in range(N)],
        "home": [i // 2 for i in range(N)],
        "w": [10.0 + i % 7 for i in range(N)],
    }
)
LIMITS = {"k": 2, "risk": 0.05, "l": 2, "global_risk": 0.5, "household_risk": 0.9}
EAGER = [lambda frame: frame, lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()]


def assessed(data: Any = FRAME, **entries: Any) -> sdc.Assessment:
    with quiet():
        return sdc.assess(data, scenario=sdc.Scenario(**{"keys": ["sex", "age"], **entries}))


def test_a_limit_that_no_measure_judged_is_not_taken_to_hold() -> None:
    """Documents wrote "within every declared limit" without it; only `check` asked."""
    whole = assessed(thresholds={"global_risk": 1.0, "risk": 1.0})
    assert whole.passed is True
    (intruder,) = whole.intruders
    kept, gone = intruder.verdicts
    lacking = replace(whole, intruders=(replace(intruder, verdicts=(kept,)),))
    assert [(verdict.name, verdict.holds) for verdict in lacking.verdicts] == [(kept.name, True), (gone.name, None)]
    assert lacking.passed is None
    assert "could not be judged" in headline(plain_document(lacking))


def full(data: Any = FRAME) -> sdc.Assessment:
    return assessed(
        data,
        keys=None,
        intruders={"boss": ["sex", "job"], "friend": ["sex", "age"]},
        weight="w",
        household="home",
        sensitive=["ill"],
        thresholds=LIMITS,
    )


# --- verdicts together ------------------------------------------------------------------------------


def test_passed():
    assert assessed().passed is None  # nothing declared
    assert assessed(keys=["sex"], thresholds={"k": 2}).passed is True
    assert assessed(thresholds={"k": 2}).passed is False
    assert assessed(keys=["sex"], thresholds={"k": 2, "l": 2}).passed is None  # l cannot be judged
    assert assessed(thresholds={"k": 2, "l": 2}).passed is False  # one exceeded decides


def test_the_verdicts_of_all_intruders():
    found = full()
    assert found.verdicts == found["boss"].verdicts + found["friend"].verdicts
    assert len(found.verdicts) == 10
    assert [v.holds for v in found.verdicts if v.name == "k"] == [True, False]


def test_an_intruder_by_name():
    found = full()
    assert found["friend"] is found.intruders[1]
    with pytest.raises(KeyError, match=r"no intruder 'fiend'; did you mean 'friend'\?"):
        found["fiend"]
    with pytest.raises(KeyError, match=r"\[intruder\]\[measure\]"):  # where one intruder is all there is
        found["k_anonymity"]


def test_a_measure_that_is_not_there_says_why() -> None:
    """The key alone did not tell a slip of the pen from what could not run."""
    file = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 30, 40, 50] * 10})
    one = sdc.assess(file, scenario=sdc.Scenario(keys=["sex", "age"]))["default"]
    with pytest.raises(KeyError, match=r"kanonymity: did you mean 'k_anonymity'\?"):
        one["kanonymity"]
    with pytest.raises(KeyError, match=r"household_structure: .*household"):
        one["household_structure"]


def test_the_measures_that_ran():
    found = assessed(keys=["sex"])["default"]
    assert list(found) == ["key_frequencies", "k_anonymity", "individual_risk"]
    assert all(result.n == N for result in found.results.values())


# --- figures ----------------------------------------------------------------------------------------


def test_the_dict_is_json_and_whole():
    found = full()
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told == found.to_dict()
    assert (told["schema_version"], told["sdckit"]) == (SCHEMA_VERSION, sdc.__version__)
    assert told["date"] == found.date == dt.date.fromisoformat(told["date"]).isoformat()
    assert (told["n"], told["engine"], told["passed"], told["warnings"]) == (N, "polars", False, [])
    declared = {name: limit for name, limit in told["scenario"]["thresholds"].items() if limit is not None}
    assert declared == LIMITS
    boss = told["intruders"]["boss"]
    assert (boss["keys"], boss["skipped"]) == (["sex", "job"], [])
    assert list(boss["measures"]) == list(found["boss"])
    assert boss["verdicts"][0] == {
        "name": "k", "intruder": "boss", "variable": None, "limit": 2, "holds": True, "n_records": 0, "value": None,
        "reason": "", "because": "", "n_category": 0, "n_resting": 0, "origin": "", "alone": False, "remedy": "",
        "columns": "", "beside": "", "single_rows": False, "unmatched": False, "ends": None, "singly": False,
        "keyless": "", "sentence": "every record is in a group of at least 2 with the same keys (k = 2) when a missing "
        "value may be any value; with a missing value as a category, no record is in a group of fewer than 2",
    }  # fmt: skip


def test_the_dict_says_what_did_not_run():
    told = assessed(keys=["sex"], thresholds={"l": 2}).to_dict()["intruders"]["default"]
    assert {"measure": "l_diversity", "reason": "the scenario names no sensitive variable"} in told["skipped"]
    assert (told["verdicts"][0]["holds"], told["verdicts"][0]["n_records"]) == (None, None)
    assert "l_diversity" not in told["measures"]


def test_the_summary_is_the_figures_one_by_one():
    found = full()
    rows = found.details().rows()
    assert rows == [
        (one.name, name, figure, value)
        for one in found.intruders
        for name, result in one.results.items()
        for figure, value in result._flat()
    ] or any(value != value for *_, value in rows)  # noqa: PLR0124 - undefined figures equal nothing
    assert ("friend", "key_frequencies", "sample_uniques", 1.0) in rows
    assert {row[0] for row in rows} == {"boss", "friend"}


def test_the_text():
    assert repr(assessed(keys=["sex"], thresholds={"k": 2, "l": 2})) == (
        "Assessment of 64 records against 1 intruder\n"
        "  default (sex): 0 sample uniques, global risk 0.03125\n"
        "    holds: every record is in a group of at least 2 with the same keys (k = 2)\n"
        "    not judged: l = 2: the scenario names no sensitive variable"
    )
    found = assessed(thresholds={"k": 2})
    assert repr(found["default"]) == (
        "default (sex, age): 1 sample uniques, global risk 0.1406\n"
        "  exceeded: 1 record is in a group of fewer than 2 with the same keys (k = 2)"
    )
    assert "99" not in repr(found["default"].key_facts)


# --- records at risk --------------------------------------------------------------------------------


@pytest.mark.parametrize("make", EAGER, ids=["polars", "pandas", "pyarrow"])
def test_records_at_risk_by_row(make):
    (row,) = assessed(make(FRAME), weight="w").at_risk()
    assert (row["intruder"], row["row"], row["keys"]) == ("default", N, {"sex": "m", "age": 99})
    assert (row["sample_frequency"], row["cell_size"], row["population_frequency"]) == (1, 1, 10.0)
    assert 0 < row["risk"] < 1
    assert assessed(make(FRAME), keys=["sex"]).at_risk() == []


@on_engines
def test_records_at_risk_of_a_plan(plan):
    (row,) = assessed(plan(FRAME), weight="w").at_risk()
    assert (row["row"], row["keys"], row["sample_frequency"]) == (None, {"sex": "m", "age": 99}, 1)
    assert assessed(plan(FRAME), keys=["sex"]).at_risk() == []


def test_records_beyond_the_thresholds():
    by_k = assessed(thresholds={"k": 8}).at_risk()
    assert [row["row"] for row in by_k] == [64, *range(50, 63, 2)]  # the one of 99, then seven men of 50
    by_risk = assessed(thresholds={"risk": 0.13}).at_risk()
    assert [row["row"] for row in by_risk] == [row["row"] for row in by_k]  # 1/7 > 0.13 > 1/8
    assert all(row["risk"] > 0.13 for row in by_risk)


def test_no_more_records_than_asked_for():
    both = {"keys": None, "intruders": {"boss": ["sex", "age"], "friend": ["sex"]}, "thresholds": {"k": 33}}
    found = assessed(**both)
    assert found.n_at_risk() == {"boss": N, "friend": N}
    some = found.at_risk(3)
    assert [row["intruder"] for row in some] == ["boss"] * 3 + ["friend"] * 3
    assert [row["row"] for row in some if row["intruder"] == "friend"] == [1, 2, 3]
    assert some[:3] == found.at_risk()[:3]
    assert found.at_risk(0) == []
    assert full().n_at_risk() == {"boss": 0, "friend": 1}


# --- documents --------------------------------------------------------------------------------------


def test_documents_are_written(tmp_path: Path):
    found = assessed(keys=["sex"], thresholds={"k": 2})
    found.report(tmp_path / "report.html")
    found.to_json(tmp_path / "report.json")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["schema_version"]
    assert "<" in found._repr_html_()


@pytest.mark.parametrize("make", [pl.DataFrame.lazy, duckdb_relation], ids=["polars", "duckdb"])
def test_internal_documents_of_a_plan(make, tmp_path: Path):
    complete = assessed(make(FRAME), keys=["sex", "age"], household="home", sensitive=["ill"], thresholds=LIMITS)
    complete.report(tmp_path / "report.md", internal=True)
    assert "confidential" in (tmp_path / "report.md").read_text(encoding="utf-8")


# --- pickled ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.lazy], ids=["frame", "plan"])
def test_a_pickled_assessment_lets_go_of_the_data(make):
    marked = FRAME.with_columns(job=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("ZQX-7741")).otherwise("job"))
    found = assessed(make(marked), keys=["sex", "age"], sensitive=["ill"], household="home", thresholds=LIMITS)
    packed = pickle.dumps(found)
    assert b"ZQX-7741" not in packed
    again = pickle.loads(packed)
    assert again.to_dict() == found.to_dict()
    assert repr(again) == repr(found)
    assert again.details().shape == found.details().shape
    assert not any(is_cells(result.cells) for result in again["default"].results.values())


def test_what_a_pickled_assessment_cannot_do(tmp_path: Path):
    again = pickle.loads(pickle.dumps(assessed()))
    for door in (again.at_risk, lambda: again.report(tmp_path / "r.html"), lambda: again.to_json(tmp_path / "r.json")):
        with pytest.raises(DataError, match=r"let go of the data \(it was pickled\); assess again"):
            door()
    assert list(tmp_path.iterdir()) == []
    assert "let go of the data" in again._repr_html_()


# --- records of its measures ------------------------------------------------------------------------


@on_engines
def test_a_result_whose_name_is_taken(plan):
    taken = FRAME.with_columns(Sample_Frequency=pl.lit(0))
    found = assessed(plan(taken))["default"]["key_frequencies"]
    with pytest.raises(ColumnError, match="already has a column 'Sample_Frequency', the name of a result"):
        _ = found.records
    prefixed = sdc.key_frequencies(taken, keys=["sex"], id="Sample_Frequency", prefix="r_").records
    assert prefixed.columns[0] == "Sample_Frequency"
    with pytest.raises(ColumnError, match="rename it or give prefix="):
        _ = sdc.key_frequencies(taken, keys=["sex"], id="Sample_Frequency").records


# What the assessments of a file and of a release share: results by intruder and place, verdicts, words.


@pytest.fixture(scope="module", params=["file", "release"])
def found(request: pytest.FixtureRequest) -> Any:
    intruders = {"near": ["sex", "age"], "far": ["sex", "age", "region"]}
    scenario = releases.scenario(keys=None, intruders=intruders, thresholds={"k": 2, "match_risk": 0.9})
    with quiet():
        if request.param == "file":
            return sdc.assess(releases.original(), scenario=scenario)
        return sdc.assess(releases.original(), releases.release(), scenario=scenario, seed=1)


def test_results_are_found_by_intruder_and_place(found: Assessed) -> None:
    assert list(found) == ["near", "far"]
    assert len(found) == 2
    for name in found:
        one = found[name]
        assert isinstance(one, IntruderAssessment)
        assert len(one) == len(list(one)) == len(one.results)
        assert all(one[place] is one.get(place) is one.results[place] for place in one)
    with pytest.raises(KeyError, match="nobody"):
        _ = found["nobody"]


def test_what_did_not_run_is_none_and_has_a_reason(found: Assessed) -> None:
    one = found["far"]
    missing = dict(one.skipped)
    assert missing
    for place in missing:
        assert one.get(place) is None
        assert place not in one
        with pytest.raises(KeyError):
            _ = one[place]


def test_verdicts_are_those_of_all_intruders(found: Assessed) -> None:
    assert found.verdicts == found["near"].verdicts + found["far"].verdicts
    assert {verdict.intruder for verdict in found.verdicts} == {"near", "far"}


def test_the_dict_holds_every_result_at_its_place(found: Assessed) -> None:
    told = found.to_dict()["intruders"]
    for name in found:
        assert list(told[name]["measures"]) == list(found[name])
        assert told[name]["skipped"] == listed_reasons(found[name].skipped)
        assert told[name]["keys"] == list(found[name].keys)
        assert [one["sentence"] for one in told[name]["verdicts"]] == [v.sentence for v in found[name].verdicts]


def test_the_summary_is_every_figure(found: Assessed) -> None:
    rows = found.details().rows()
    for name in found:
        for place, result in found[name].results.items():
            figures = {row[2] for row in rows if row[:2] == (name, place)}
            assert figures == {figure for figure, _ in result._flat()}


def test_it_reads_as_words(found: Assessed) -> None:
    text = repr(found)
    assert "near (sex, age)" in text
    assert all(verdict.sentence in text for verdict in found.verdicts)


# The assessment of a release: its figures as a frame, a dict, documents and words.


@pytest.fixture(scope="module")
def assessment_found():
    with quiet():
        return sdc.assess(
            releases.original(), [releases.release(seed=1), releases.release(seed=2)],
            scenario=releases.scenario(thresholds={"k": 2}), seed=1,
        )  # fmt: skip


def test_the_dict_is_json_and_whole_of_release_assessment(assessment_found):
    told = json.loads(json.dumps(assessment_found.to_dict(), allow_nan=False))
    assert (told["n"], told["m"], len(told["released"])) == (releases.N, 2, 2)
    one = told["intruders"]["default"]
    assert set(one["measures"]) == set(assessment_found["default"])
    assert len(one["measures"]["matching_risk"]["by_release"]) == 2
    assert one["verdicts"][0]["sentence"].endswith("(k = 2)")


def test_the_summary_names_the_files(assessment_found):
    frame = assessment_found.details()
    assert frame.columns == ["intruder", "measure", "figure", "file", "value"]
    assert set(frame["file"]) == {"original", "released 1", "released 2", "both"}


def test_it_reads_as_words_of_release_assessment(assessment_found):
    text = repr(assessment_found)
    assert text.startswith("2 releases against an original of 240 records")
    assert "matching_risk" in text
    assert "exceeded" in text


def test_an_intruder_by_name_of_release_assessment(assessment_found):
    assert assessment_found["default"] is assessment_found.intruders[0]
    with pytest.raises(KeyError):
        assessment_found["nobody"]


def test_documents(assessment_found, tmp_path):
    assessment_found.report(tmp_path / "r.html")
    assessment_found.to_json(tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert told["schema"] == "sdckit/release-assessment"
    assert "Can rows be matched back?" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_notebook_shows_protected_figures(assessment_found):
    assert "against" not in assessment_found._repr_html_()
    assert "within the declared limits" in assessment_found._repr_html_()


def test_it_draws(assessment_found):
    assert assessment_found.plot().to_dict()["vconcat"]


def test_without_attacks_nothing_was_asked(assessment_found):
    assert assessment_found.attacks_asked is None


def test_a_summary_is_small_and_part_of_the_details(assessment_found) -> None:
    for one in (assessment_found, assessment_found.original):
        small, every = one.summary(), one.details()
        assert 10 < small.height <= 20 < every.height
        assert small.columns == every.columns
        named = [name for name in small.columns if name != "value"]
        assert set(small.select(named).rows()) <= set(every.select(named).rows())
    assert set(assessment_found.original.summary()["measure"]) == set(assessment_found.original.details()["measure"])
    assert "released 1" in assessment_found.summary()["file"].to_list()
