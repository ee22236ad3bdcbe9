"""B1 against robosynth and IdentificationRiskCalculation, and against the published figures of a lecture.

Both packages compute open intervals: their figures are compared with ``bounds="open"``, the definition with
closed ones with the default. Where sdckit deliberately differs:

- IdentificationRiskCalculation says T = 1 for a record without any match; here, as in robosynth, T = 0. No figure
  but the sum of T depends on it.
- Its ``euclideanDist=TRUE`` enlarges the radius of the synthetic variables and then compares each of them with it
  by itself: a larger box, not a ball. It is not followed (`idrisk_ce_rel10_euclid_m1`).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from golden.compare import agree
from golden.rebuild import rebuild
from sdckit import few_matches, matching_risk

CASE = json.loads((Path(__file__).parent / "portable" / "matching_fair.json").read_text(encoding="utf-8"))
file = cache(rebuild)


def measured(case, **options):
    releases = [file(f"fair_syn{j + 1}") for j in range(case["m"])]
    frames = [frame.iloc[: case["rows"]] for frame in (file("fair"), *releases)]
    width = {} if case["width"] is None else {"width": case["width"], "relative": case["relative"]}
    names = {role: case[role] for role in ("known", "synthetic", "numeric")}
    return matching_risk(frames[0], frames[1:], **names, **width, **options)


def per_file(result, column):
    return result.records_by_release.groupby("release")[column].sum().tolist()


@pytest.mark.parametrize("name", CASE["cases"])
def test_the_affairs_survey_with_open_intervals(name):
    case = CASE["cases"][name]
    result, expected = measured(case, bounds="open"), case["open"]
    by_release = result.by_release
    for figure in ("expected_match_risk", "true_match_rate", "false_match_rate", "unique_matches"):
        assert by_release[figure].tolist() == pytest.approx(expected[figure], rel=CASE["tolerance"])
        assert getattr(result, figure) == pytest.approx(np.mean(expected[figure]), rel=CASE["tolerance"])
    for column, figure in {
        "unique_true_match": "unique_true",
        "unique_false_match": "unique_false",
        "match_count": "sum_of_counts",
        "true_match": "sum_of_true",
    }.items():
        assert per_file(result, column) == expected[figure]
    first = result.records_by_release.query("release == 1")
    for column, figure in {"match_count": "count", "true_match": "true", "match_risk": "risk"}.items():
        agree(first[column], expected[figure], CASE["tolerance"])


@pytest.mark.parametrize("name", [name for name, case in CASE["cases"].items() if "closed" in case])
def test_the_affairs_survey_with_closed_intervals(name):
    case = CASE["cases"][name]
    result = measured(case)
    columns = {
        "match_risk": "expected_match_risk",
        "unique_true_match": "unique_true",
        "unique_false_match": "unique_false",
        "match_count": "sum_of_counts",
    }
    for column, figure in columns.items():
        expected = [one[figure] for one in case["closed"]]
        assert per_file(result, column) == pytest.approx(expected, rel=CASE["tolerance"])


@pytest.mark.parametrize("name", [name for name, case in CASE["cases"].items() if not case["numeric"]])
def test_matches_of_true_keys(name):
    case, expected = CASE["cases"][name], CASE["cases"][name]["open"]
    frames = [file(frame).iloc[: case["rows"]] for frame in ("fair", *(f"fair_syn{j + 1}" for j in range(case["m"])))]
    result = few_matches(frames[0], frames[1:], keys=[*case["known"], *case["synthetic"]], k=2)
    assert (result.by_release["few_matches"] * result.n).round(6).tolist() == expected["unique_true"]
    assert result.records["match_count"].sum() * case["m"] == pytest.approx(sum(expected["sum_of_counts"]))


# --- files that are not ours: read where SDCKIT_REFERENCE points --------------------------------------------


def load(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def read(folder, name, rows):
    return pl.read_csv(folder / "data" / f"{name}.csv", n_rows=rows)


def acs(reference, m, rows=None):
    return [read(reference, f"ACS_{part}", rows) for part in ("org", "syn", "syn2", "syn3")[: m + 1]]


LECTURE = {1: (41.37, 0.0005, 0.97, 195), 3: (41.47, 0.0006, 0.96, 161)}


@pytest.mark.parametrize("m", LECTURE)
def test_the_lecture(reference, m):
    case = load(reference, f"idrisk_acs_cat_m{m}_full")
    original, *releases = acs(reference, m)
    result = matching_risk(original, releases, **case["arguments"])
    expected, true, false, unique = LECTURE[m]
    assert result.n == 10_000
    assert round(result.expected_match_risk, 2) == expected
    assert round(result.true_match_rate, 4) == true
    assert round(result.false_match_rate, 2) == false
    assert round(result.unique_matches) == unique
    assert result.high_risk_counts(0.5) == ((5,) if m == 1 else (5, 7, 5))  # robosynth counts file by file
    assert all(one.matched == "exactly" for one in result.variables)  # codes, though stored as numbers
    peer = case["expected"]["IRC"]
    counted = few_matches(original, releases, keys=[*case["arguments"]["known"], *case["arguments"]["synthetic"]], k=2)
    assert counted.few_matches * 10_000 * m == pytest.approx(np.sum(peer["K_sum"]))
    assert counted.records["match_count"].sum() * m == pytest.approx(np.sum(peer["c_sum"]))
    by_release = result.by_release
    for figure, name in {
        "expected_match_risk": "exp.risk_vector",
        "true_match_rate": "true.rate_vector",
        "false_match_rate": "false.rate_vector",
        "unique_matches": "s_vector",
    }.items():
        assert by_release[figure].to_list() == pytest.approx(np.atleast_1d(peer[name]).tolist(), rel=1e-9)


@pytest.mark.parametrize("name", ["acs_cat_m1_first3000", "acs_cat_allvars_m1_first3000", "acs_cat_m1_full"])
def test_categories_record_by_record(reference, name):
    case = load(reference, f"idrisk_{name}")
    original, released = acs(reference, 1, case["expected"]["n"])
    result = matching_risk(original, released, **case["arguments"])
    records, peer = result.records_by_release, case["expected"]["IRC"]
    for column, figure in {"match_count": "c_m1", "match_risk": "risk_m1"}.items():
        expected = peer[figure]
        if isinstance(expected, list):
            assert records[column].to_list() == pytest.approx(expected, rel=1e-9)
            continue
        assert records[column].sum() == pytest.approx(expected["sum"], rel=1e-9)
        assert records[column].head(50).to_list() == pytest.approx(expected["first50"], rel=1e-9)
    assert records["match_count"].sum() == peer["c_sum"]
    assert records["unique_true_match"].sum() == peer["K_sum"]
    assert records["unique_false_match"].sum() == peer["F_sum"]
    no_match = int((records["match_count"] == 0).sum())
    if "robosynth" in case["expected"]:
        assert records["true_match"].sum() == case["expected"]["robosynth"]["I_sum"]
    assert peer["T_sum"] - records["true_match"].sum() in (0, no_match)


@pytest.mark.parametrize("name", ["abs", "rel10"])
def test_incomes_record_by_record(reference, name):
    case = load(reference, f"idrisk_ce_{name}_m1")
    given, peer = case["arguments"], case["expected"]["robosynth"]
    frames = [read(reference, f"CE_{part}", None) for part in ("org", "syn1")]
    roles = {
        **{name: given[name] for name in ("known", "synthetic", "width", "relative")},
        "numeric": given["synthetic"],
    }
    result = matching_risk(*frames, **roles, bounds="open")
    undeclared = {name: one for name, one in roles.items() if name != "numeric"}
    assert matching_risk(*frames, **undeclared, bounds="open").details().equals(result.details())
    records = result.records_by_release
    assert records["match_count"].to_list() == peer["c_m1"]
    assert records["true_match"].cast(pl.Int64).to_list() == peer["I_m1"]
    assert result.expected_match_risk == pytest.approx(peer["expected_risk"], rel=1e-9)
    assert records["unique_true_match"].sum() == peer["true_match_count"]
    assert records["unique_false_match"].sum() == peer["false_match_count"]
    assert result.false_match_rate == pytest.approx(case["expected"]["IRC"]["false.rate_vector"], rel=1e-9)


# The examples of robosynth's manual on its own data, written as there: what the package prints.

ROBOSYNTH = {
    "example_1": {"synthetic": ["age"]},
    "example_1_width": {"synthetic": ["age"], "width": 0.10},
    "example_2": {"known": ["sex"], "synthetic": ["age"], "width": 1.0, "relative": False},
    "example_3": {"known": ["sex"], "synthetic": ["sexpref", "age"], "width": {"age": 0.05}},
    "known_number": {"known": ["age"], "synthetic": ["sexpref"]},
    "known_number_width": {"known": ["age"], "synthetic": ["sexpref"], "width": 0.2},
    "known_number_and_category": {"known": ["age", "sex"], "synthetic": ["sexpref"], "width": 0.1},
}


@pytest.mark.parametrize("engine", ["polars", "pandas"])
@pytest.mark.parametrize("name", ROBOSYNTH)
def test_the_examples_of_robosynth_as_they_are_written(reference, name, engine):
    folder = reference / "lectures" / "robosynth"
    expected = load(folder, "compute_risk")
    assert list(expected) == list(ROBOSYNTH)
    frames = [pl.read_csv(folder / f"{file}.csv") for file in ("original", *(f"synthetic_{j}" for j in range(1, 6)))]
    if engine == "pandas":
        frames = [frame.to_pandas() for frame in frames]
    result = matching_risk(frames[0], frames[1:], **ROBOSYNTH[name], bounds="open")
    figures = result.by_release
    assert figures["expected_match_risk"].to_list() == pytest.approx(expected[name]["expected_risk"], rel=1e-9)
    true = [round(rate * result.n) for rate in figures["true_match_rate"].to_list()]
    assert true == expected[name]["true_match"]
    unique = figures["unique_matches"].to_list()
    assert [n - right for n, right in zip(unique, true, strict=True)] == expected[name]["false_match"]
    assert result.read_otherwise == ()
