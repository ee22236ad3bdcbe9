"""Record linkage by hand, on every engine's frames, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, record_linkage
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.identity.matching import record_linkage as home
from sdckit.identity.matching.record_linkage import encoders, linked_variables, options

SURVEY = pl.DataFrame(
    {"id": [1, 2, 3, 4], "age": [20.0, 40.0, 60.0, 60.0], "pay": [1.0, 2.0, 4.0, 3.0], "sex": list("fmff")}
)
RELEASE = SURVEY.with_columns(age=pl.Series([25.0, 41.0, 58.0, 30.0]), pay=pl.Series([1.0, 2.5, 3.6, 3.0]))
BOTH = ["age", "pay"]


def test_gower_by_hand():
    result = record_linkage(SURVEY, RELEASE, variables=["age", "sex"])
    records = result.records.to_dict(as_series=False)
    assert records["linked_row"] == [1, 2, 3, 1]
    assert records["correct"] == [1.0, 1.0, 0.5, 0.0]  # 58 is as near to the third as to the fourth
    assert records["distance"] == pytest.approx([5 / 80, 1 / 80, 2 / 80, 10 / 80])
    assert records["second_distance"] == pytest.approx([35 / 80, 19 / 80 + 0.5, 2 / 80, 30 / 80])
    assert (result.n, result.correct_links, result.rate, result.baseline) == (4, 2.5, 0.625, 0.25)
    assert result.mean_distance == pytest.approx(18 / 320)
    assert result.notes == {"numeric": "compared as numbers: age"}


@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "mahalanobis"])
@pytest.mark.parametrize("n_best", [1, 2, 4])
def test_other_distances_by_brute_force(distance, n_best):
    x, y = (frame.select(BOTH).to_numpy() for frame in (SURVEY, RELEASE))
    away = y[:, None] - x[None]
    if distance == "manhattan":
        expected = np.abs(away).sum(axis=2)
    else:
        form = np.linalg.inv(np.cov(np.concatenate([x, y]).T)) if distance == "mahalanobis" else np.eye(2)
        expected = np.sqrt(np.einsum("ijk,kl,ijl->ij", away, form, away))
    result = record_linkage(SURVEY, RELEASE, variables=BOTH, distance=distance, n_best=n_best)
    true = np.diag(expected)[:, None]
    assert result.records["correct"].to_list() == ((expected < true).sum(axis=1) < n_best).tolist()
    assert result.records["distance"].to_list() == pytest.approx(expected.min(axis=1))
    assert result.records["second_distance"].to_list() == pytest.approx(np.sort(expected, axis=1)[:, 1])
    assert result.baseline == n_best / 4


def test_ranks_compare_order_only():
    scaled = SURVEY.with_columns(age=pl.col("age") * 7 + 3, pay=pl.col("pay") ** 3)
    result = record_linkage(SURVEY, scaled, variables=BOTH, method="rank")
    assert (result.rate, result.mean_distance) == (1.0, 0.0)
    weighted = record_linkage(SURVEY, RELEASE, variables=BOTH, method="rank", weights={"age": 0.0})
    assert weighted.rate == record_linkage(SURVEY, RELEASE, variables=["pay"], method="rank").rate


def test_assignment_is_one_to_one_and_equal_originals_are_interchangeable():
    original = pl.DataFrame({"x": [0.0, 0.0, 10.0]})
    result = record_linkage(original, pl.DataFrame({"x": [0.1, 8.0, 9.0]}), variables=["x"], method="assignment")
    assert sorted(result.records["linked_row"]) == [1, 2, 3]
    assert result.records["correct"].to_list() == [0.5, 0.5, 1.0]
    assert result.records["second_distance"].to_list() == pytest.approx([0.01, 0.2, 0.9])


def test_rows_are_brought_together_by_the_id():
    shuffled = RELEASE[[2, 0, 3, 1]]
    given = {"variables": ["age", "sex"], "id": "id", "prefix": "a_"}
    result = record_linkage(SURVEY, shuffled, **given)
    assert result.to_dict() == record_linkage(SURVEY, RELEASE, **given).to_dict()
    assert result.records.columns == ["id", "a_linked_row", "a_correct", "a_distance", "a_second_distance"]


def test_several_releases_and_engines():
    files = [RELEASE, SURVEY]
    result = record_linkage(SURVEY, files, variables=["age", "sex"])
    assert [one["rate"] for one in result.per_release] == [0.625, 0.75]
    assert result.rate == 0.6875
    assert result.records.columns == ["correct", "distance", "second_distance"]
    assert result.records["correct"].to_list() == [1.0, 1.0, 0.5, 0.25]
    long = result.records_by_release
    assert long["release"].to_list() == [1] * 4 + [2] * 4
    assert long["linked_row"].to_list() == [1, 2, 3, 1, 1, 2, 3, 3]
    assert result.notes["released"].startswith("1 of 2 releases have the original's values")
    same = record_linkage(SURVEY.to_pandas(), [one.to_arrow() for one in files], variables=["age", "sex"])
    assert same.to_dict() == result.to_dict()
    assert isinstance(same.records, pd.DataFrame)


def test_what_is_a_number():
    coded = SURVEY.with_columns(party=pl.Series([1, 2, 9, 3]))
    masked = coded.with_columns(party=pl.Series([2, 1, 8, 3]))
    by_storage = record_linkage(coded, masked, variables=["party"])
    assert by_storage.rate == pytest.approx(0.5)
    assert record_linkage(coded, masked, variables=["party"], numeric=[]).rate == pytest.approx((0 + 0 + 0.25 + 1) / 4)
    scenario = Scenario(keys=["sex"], numeric=["age"])
    assert record_linkage(SURVEY, RELEASE, scenario=scenario).rate == 0.625
    plain = Scenario(keys=["party"])
    assert "numeric" not in record_linkage(coded, masked, scenario=plain).notes


def test_weights():
    by_name = record_linkage(SURVEY, RELEASE, variables=["sex", "age"], weights={"age": 3.0})
    listed = record_linkage(SURVEY, RELEASE, variables=["sex", "age"], weights=[1.0, 3.0])
    assert by_name.records.equals(listed.records)
    assert by_name.records["distance"].to_list() == pytest.approx([15 / 160, 3 / 160, 6 / 160, 30 / 160])


def test_one_record_and_constant_variables():
    one = record_linkage(SURVEY[:1], RELEASE[:1], variables=["age", "sex"])
    assert (one.rate, one.baseline) == (1.0, 1.0)
    assert np.isnan(one.records["second_distance"].item())
    assert one.notes["second_distance"] == "there is one original only"
    assigned = record_linkage(SURVEY[:1], RELEASE[:1], variables=["age"], method="assignment")
    assert assigned.rate == 1.0
    constant = pl.DataFrame({"x": [1.0, 1.0, 1.0, 1.0]})
    assert record_linkage(constant, constant, variables=["x"]).rate == 0.25


def test_a_pickled_result_keeps_its_figures_only():
    result = record_linkage(SURVEY, RELEASE, variables=["age"])
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    for name in ("records", "records_by_release"):
        with pytest.raises(DataError, match="let go of the data"):
            getattr(kept, name)


REFUSED = [
    ({"method": "closest"}, DataError, "method 'closest' is unknown"),
    ({"distance": "cosine"}, DataError, "distance 'cosine' is unknown"),
    ({"method": "rank", "distance": "euclidean"}, DataError, "has a distance of its own"),
    ({"method": "assignment", "n_best": 2}, DataError, "links each record to one original"),
    ({"n_best": 0}, DataError, "n_best counts .* whole number of 1 or more"),
    ({"n_best": 5}, DataError, "n_best=5 of 4 originals"),
    (
        {"variables": ["age", "sex"], "distance": "euclidean"},
        DataError,
        "distance='euclidean' compares numbers; 'sex' is none",
    ),
    (
        {"variables": ["age", "sex"], "numeric": ["age"], "method": "rank"},
        DataError,
        "method='rank' compares numbers; 'sex' is none",
    ),
    ({"numeric": ["pay"], "variables": ["age"]}, ColumnError, "'pay' is none of the variables"),
    ({"weights": {"sex": 1.0}}, ColumnError, "weights: 'sex' is none of the columns"),
    ({"weights": [1.0]}, DataError, "one number per column: 2"),
    ({"weights": [1.0, -1.0]}, DataError, "of 0 or more for each column, one of them above 0"),
    ({"weights": {"age": 0.0, "pay": 0.0}}, DataError, "of 0 or more for each column, one of them above 0"),
    ({"weights": [1.0, 1.0], "distance": "mahalanobis"}, DataError, "weighs by the covariance"),
    ({"variables": ["age", "income"]}, ColumnError, "no column 'income'"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED)
def test_bad_options(given, error, words):
    with pytest.raises(error, match=words):
        record_linkage(SURVEY, RELEASE, **{"variables": BOTH, **given})


def test_bad_files(monkeypatch):
    with pytest.raises(ScenarioError, match="which variables the intruder knows"):
        record_linkage(SURVEY, RELEASE)
    with pytest.raises(DataError, match="the release has 3 rows, the original 4"):
        record_linkage(SURVEY, RELEASE[:3], variables=BOTH)
    with pytest.raises(DataError, match="empty list"):
        record_linkage(SURVEY, [], variables=BOTH)
    with pytest.raises(DataError, match="'age' has no value at all"):
        record_linkage(SURVEY, RELEASE.with_columns(age=pl.lit(None, pl.Float64)), variables=BOTH)
    with pytest.raises(ColumnError, match="'age' holds numbers in the original and text in the release"):
        record_linkage(SURVEY, RELEASE.with_columns(age=pl.lit("x")), variables=BOTH)
    gap = RELEASE.with_columns(age=pl.Series([25.0, None, 58.0, 30.0]))
    with pytest.raises(DataError, match=r"the release: 'age' is missing in 1 row;.*needs every value"):
        record_linkage(SURVEY, gap, variables=BOTH, distance="mahalanobis")
    doubled = [frame.with_columns(pay=pl.col("age") * 2) for frame in (SURVEY, RELEASE)]
    with pytest.raises(DataError, match="covariance of the variables is singular"):
        record_linkage(*doubled, variables=BOTH, distance="mahalanobis")
    monkeypatch.setattr(home, "ASSIGNED_ROWS", 3)
    with pytest.raises(DataError, match="takes up to 3 records, these are 4; use method='nearest'"):
        record_linkage(SURVEY, RELEASE, variables=BOTH, method="assignment")


def test_missing_values():
    left = pl.DataFrame({"x": [None, 0.0, 8.0], "c": ["a", None, "b"]})
    right = pl.DataFrame({"x": [None, 4.0, 8.0], "c": ["a", None, None]})
    result = record_linkage(left, right, variables=["x", "c"])
    assert result.records["distance"].to_list() == pytest.approx([0.0, 0.25, 0.5])
    assert result.records["linked_row"].to_list() == [1, 2, 2]
    assert result.records["correct"].to_list() == [1.0, 1.0, 0.5]
    assert "a missing value is 0 from a missing one" in result.to_dict()["missing_rule"]


# Options are brought together before any distance is computed.


FILE = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": [3, 4]})


def chosen(**given):
    return options(**{"method": "nearest", "distance": "gower", "n_best": 1, "weights": None, **given})


def found(options=None, **given):
    given = {"variables": None, "numeric": None, "scenario": None, "id": None, **given}
    return linked_variables(FILE, FILE, chosen=options or chosen(), **given)[1:]


def test_which_variables_are_numbers():
    assert found(variables=["a", "b", "c"]) == (("a", "c"), ("a", "b", "c"))
    assert found(variables=["a", "b", "c"], numeric=["a"]) == (("a",), ("a", "b", "c"))
    scenario = Scenario(keys=["b", "c"], numeric=["a"])
    assert found(scenario=scenario) == (("a",), ("b", "c", "a"))
    assert found(scenario=scenario, variables=["c"]) == ((), ("c",))
    ranks = chosen(method="rank")
    assert found(ranks, scenario=scenario, variables=["c"]) == (("c",), ("c",))


def test_weights_follow_their_variables():
    given = chosen(weights={"b": 2.0})
    pair, numbers, names = linked_variables(
        FILE, FILE, variables=["b", "a"], numeric=["a"], chosen=given, scenario=None, id=None
    )
    known, masked = encoders(pair, names, numbers, given)(0)
    assert known.metric.caps.tolist() == pytest.approx([1 / 3])
    assert masked.metric.weights.tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize("n_best", [True, 1.5, "1", -1])
def test_n_best_is_a_count(n_best):
    with pytest.raises(DataError, match="n_best counts candidates"):
        chosen(n_best=n_best)


@pytest.mark.parametrize("weights", ["ab", [1.0, True], [1.0, "2"], [float("inf"), 1.0]])
def test_weights_are_numbers(weights):
    with pytest.raises(DataError, match="weights"):
        found(chosen(weights=weights), variables=["a", "b"])


@pytest.mark.parametrize(
    "options",
    [
        *({"distance": distance} for distance in ("euclidean", "manhattan", "mahalanobis")),
        {"distance": "euclidean", "method": "assignment"},
        {"distance": "euclidean", "targets": 20, "id": "id", "seed": 1},
    ],
)
def test_numbers_whose_squares_are_infinite_are_linked_as_others(options):
    dice = np.random.default_rng(2)
    survey = pl.DataFrame({"id": range(50), "x": dice.normal(size=50), "y": dice.normal(size=50)})
    release = survey.with_columns(pl.col("x", "y") + dice.normal(size=50) / 3)
    factor = 2.0**532
    large = [frame.with_columns(pl.col("x", "y") * factor) for frame in (survey, release)]
    plain, found = (record_linkage(*files, variables=["x", "y"], **options) for files in ((survey, release), large))
    assert (found.rate, found.correct_links) == (plain.rate, plain.correct_links)
    assert 0.1 < plain.rate < 1
    unit = 1.0 if options["distance"] == "mahalanobis" else factor
    assert found.mean_distance / unit == pytest.approx(plain.mean_distance)
    for column in ("distance", "second_distance"):
        expected = plain.records_by_release[column].to_numpy()
        assert (found.records_by_release[column].to_numpy() / unit).tolist() == pytest.approx(expected)
    ends = [np.array(result.intervals.get("mean_distance", ())) for result in (plain, found)]
    assert (ends[1] / unit).tolist() == pytest.approx(ends[0])
