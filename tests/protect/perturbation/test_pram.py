"""E4: who changes, into what, and what is kept secret."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import pram
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation import pram_levels
from sdckit.protect.perturbation.pram import around_diagonal, given_matrix, invariant_of, staying

N = 3000
RNG = np.random.default_rng(1)
SURVEY = pl.DataFrame(
    {
        "job": RNG.choice(["clerk", "smith", "none"], N, p=[0.6, 0.3, 0.1]),
        "code": RNG.integers(1, 5, N),
        "area": RNG.choice(["n", "s"], N),
        "id": np.arange(N),
    }
).with_columns(code=pl.when(pl.col("id") % 10 > 0).then("code"))
LEVELS = ["1", "2", "3"]
GIVEN = {1: {1: 0.9, 2: 0.1}, 2: {2: 1.0}, "3": {3.0: 0.5, 1: 0.5}}


def test_a_matrix_of_your_own_is_used_as_it_is():
    row = {"clerk": 0.8, "smith": 0.2}
    matrix = {"job": {"clerk": row, "smith": {"smith": 1}, "none": {"none": 0.5, "clerk": 0.5}}}
    data, change = pram(SURVEY, columns=["job"], matrix=matrix, seed=2)
    moves = SURVEY.select(before="job").with_columns(after=data["job"]).group_by("before", "after").len()
    count = {(a, b): n for a, b, n in moves.rows()}
    size = dict(SURVEY["job"].value_counts().rows())
    assert set(count) == {
        ("clerk", "clerk"), ("clerk", "smith"), ("smith", "smith"), ("none", "none"), ("none", "clerk"),
    }  # fmt: skip
    assert count["clerk", "smith"] / size["clerk"] == pytest.approx(0.2, abs=0.04)
    assert count["none", "clerk"] / size["none"] == pytest.approx(0.5, abs=0.12)
    assert change.changed == {"job": count["clerk", "smith"] + count["none", "clerk"]}
    assert change.parameters["invariant"] is False
    expected = (0.2 * size["clerk"] + 0.5 * size["none"]) / N
    assert change.notes["expected job"] == f"{expected:.4f} of the values were expected to change"
    assert data.drop("job").equals(SURVEY.drop("job"))


def test_missing_values_stay():
    data, change = pram(SURVEY, columns=["code", "job"], seed=3)
    assert (data["code"].is_null() == SURVEY["code"].is_null()).all()
    assert change.changed["code"] == (data["code"] != SURVEY["code"]).sum() > 0
    assert data.schema == SURVEY.schema


def test_the_matrix_is_secret_and_may_be_used_again():
    change = pram(SURVEY, columns=["job"], seed=3).change
    assert "smith" not in json.dumps(change.to_dict())
    (matrix,) = change.secret["matrix"]["job"]
    again = pram(SURVEY, columns=["job"], matrix={"job": matrix}, seed=3).change
    assert again.secret["matrix"]["job"][0] == {
        level: pytest.approx(row) for level, row in matrix.items()
    }  # fmt: skip
    assert again.notes == change.notes


def shares(frame, matrix, **where):
    there = frame.filter(**where)["job"].value_counts(normalize=True)
    before = dict(there.rows())
    after = dict.fromkeys(before, 0.0)
    for level, row in matrix.items():
        for target, chance in row.items():
            after[target] += before[level] * chance
    return before, after


@pytest.mark.parametrize(
    "options", [{}, {"pd": 0.2, "alpha": 1}, {"pd": {"job": {"clerk": 0, "smith": 1, "none": 0.3}}}]
)
def test_invariant_matrices_keep_the_shares(options):
    matrices = pram(SURVEY, columns=["job"], strata=["area"], seed=4, **options).change.secret["matrix"][
        "job"
    ]
    areas = SURVEY["area"].unique(maintain_order=True)
    assert len(matrices) == 2
    assert matrices[0] != matrices[1]
    for area, matrix in zip(areas, matrices, strict=True):
        before, after = shares(SURVEY, matrix, area=area)
        assert after == pytest.approx(before)
    ((plain,),) = (
        pram(SURVEY, columns=["job"], invariant=False, pd=0.2, seed=4).change.secret["matrix"].values()
    )
    before, after = shares(SURVEY, plain)
    assert after != pytest.approx(before, abs=0.01)


def test_alpha_mixes_with_staying():
    rows = {"clerk": {"smith": 1}, "smith": {"clerk": 1}, "none": {"none": 1}}
    (found,) = pram(SURVEY, columns=["job"], matrix={"job": rows}, alpha=0.25, seed=1).change.secret[
        "matrix"
    ]["job"]
    assert found["clerk"] == pytest.approx({"clerk": 0.75, "smith": 0.25})
    assert pram(SURVEY, columns=["job"], alpha=0, seed=1).change.changed == {"job": 0}


def test_a_stratum_of_one_level_stays():
    frame = pl.DataFrame({"s": [1, 1, 2, 2, 2, 2], "x": ["a", "a", "a", "b", "a", "b"]})
    for seed in range(5):
        data, change = pram(frame, columns=["x"], strata=["s"], pd=0, alpha=1, seed=seed)
        assert data["x"][:2].to_list() == ["a", "a"]
        assert change.notes["strata x"] == "1 strata have one level and stay as they are"
    absent = frame.with_columns(x=pl.when(pl.col("s") == 2).then("x"))
    assert pram(absent, columns=["x"], strata=["s"], seed=1).data["x"][:2].to_list() == [None, None]


@pytest.mark.parametrize("span", [1 << 16, 2])
def test_columns_of_any_type(span, monkeypatch):
    monkeypatch.setattr(pram_levels, "WIDE", span)
    start = dt.date(2000, 1, 1)
    frame = pl.DataFrame(
        {
            "text": ["a", "b", None, "c"] * 50,
            "number": [0.5, 2.0, 7.25, None] * 50,
            "wide": [1, 10**12, -5, 3] * 50,
            "flag": [True, False] * 100,
            "day": [start, start, dt.date(2020, 2, 2), None] * 50,
        }
    ).with_columns(category=pl.col("text").cast(pl.Categorical))
    data, change = pram(frame, columns=frame.columns, pd=0.5, alpha=1, seed=1)
    assert data.schema == frame.schema
    for name in frame.columns:
        assert set(data[name].to_list()) == set(frame[name].to_list())
        assert (data[name].is_null() == frame[name].is_null()).all()
        assert change.changed[name] == (data[name] != frame[name]).sum() > 0


def test_the_same_draw_on_every_engine():
    frame = SURVEY.to_pandas().set_index(pd.RangeIndex(N)[::-1])
    expected, change = pram(SURVEY, columns=["job", "area"], seed=9)
    for other in (frame, frame.astype({"job": "category"}), SURVEY.to_arrow()):
        data, found = pram(other, columns=["job", "area"], seed=9)
        assert list(data["job"].to_pylist() if hasattr(data["job"], "to_pylist") else data["job"]) == list(
            expected["job"]
        )
        assert found.changed == change.changed
    assert pram(frame, columns=["job"], seed=9).data.index.equals(frame.index)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["jobs"]}, ColumnError, "columns: no column 'jobs'"),
        ({"strata": ["jobs"]}, ColumnError, "strata: no column 'jobs'"),
        ({"columns": ["id"]}, DataError, "'id' has 3,000 levels; recode it to fewer"),
        ({"columns": ["one"]}, DataError, "'one' has 1 level; there is nothing to change it to"),
        ({"columns": ["empty"]}, DataError, "'empty' has no value"),
        ({"pd": 1.2}, DataError, "pd is the least probability of staying"),
        ({"pd": {"clerk": 0.5}}, ColumnError, "pd= is given by column"),
        ({"pd": {"job": 0.5}}, DataError, "pd= of a column is given by level"),
        ({"alpha": -1}, DataError, "alpha is the weight of the matrix"),
        ({"matrix": [[1]]}, DataError, "matrix= is written"),
        ({"matrix": {"area": {}}}, ColumnError, "matrix= is given by column"),
        ({"matrix": {"job": {"clerk": {"clerk": 0.5}}}}, DataError, "row 1 sums to 0.5, not to 1"),
        ({"seed": "x"}, DataError, "seed= takes"),
    ],
)
def test_bad_input(options, error, message):
    frame = SURVEY.with_columns(one=pl.lit("a"), empty=pl.lit(None, pl.String))
    with pytest.raises(error, match=message):
        pram(frame, **{"columns": ["job"], **options})


def test_the_rest_of_a_row_is_spread_evenly():
    made = around_diagonal(np.array([0.8, 0.5, 1.0]))
    assert made == pytest.approx(np.array([[0.8, 0.1, 0.1], [0.25, 0.5, 0.25], [0, 0, 1]]))
    assert around_diagonal(np.array([0.3])).tolist() == [[1.0]]


def test_invariant_by_the_reverse():
    rng = np.random.default_rng(1)
    shares = np.array([0.7, 0.2, 0.1])
    matrix = rng.dirichlet([1, 1, 1], 3)
    found = invariant_of(matrix, shares)
    assert shares @ found == pytest.approx(shares)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    back = np.array([[matrix[j, i] * shares[j] for j in range(3)] for i in range(3)])
    back /= back.sum(axis=1, keepdims=True)
    assert found == pytest.approx(matrix @ back)


def test_a_level_that_is_never_reached():
    found = invariant_of(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.5, 0.5]))
    assert found == pytest.approx(np.full((2, 2), 0.5))
    rows = invariant_of(np.eye(3), np.array([0.5, 0.5, 0.0]))
    assert rows == pytest.approx(np.eye(3))  # a level that nobody has is one too


def test_levels_by_any_spelling():
    expected = [[0.9, 0.1, 0], [0, 1, 0], [0.5, 0, 0.5]]
    assert given_matrix(GIVEN, LEVELS, True, "x").tolist() == expected
    texts = {str(float(a)): dict(row) for a, row in GIVEN.items()}
    assert given_matrix(texts, LEVELS, True, "x").tolist() == expected
    with pytest.raises(DataError, match="leads to a level that no record has"):
        given_matrix({"1": {"1.0": 1}}, LEVELS, False, "x")


def test_levels_of_nobody_may_stand_in_it():
    more = {**GIVEN, 4: {1: 1.0}, 2: {2: 1.0, 4: 0.0}}
    assert given_matrix(more, LEVELS, True, "x")[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({1: {1: 0.9}}, "'x' is not stochastic: row 1 sums to 0.9, not to 1"),
        ({2: {1: 1.5, 2: -0.5}}, "row 2: a probability is a number from 0 to 1"),
        ({2: {2: "all"}}, "a probability is a number"),
        ({2: {2: float("nan")}}, "a probability is a number"),
        ({2: 1.0}, "write it as"),
        ({2: {9: 1.0}}, "row 2 leads to a level that no record has"),
    ],
)
def test_not_a_matrix(change, message):
    with pytest.raises(DataError, match=message):
        given_matrix({**GIVEN, **change}, LEVELS, True, "x")


def test_a_level_without_a_row():
    with pytest.raises(DataError, match="has no row for 2 of the 3 levels"):
        given_matrix({1: {1: 1}}, LEVELS, True, "x")


def test_the_chance_of_staying():
    rng = np.random.default_rng(1)
    drawn = staying(0.8, LEVELS * 100, True, rng)
    assert 0.8 <= drawn.min() < 0.81
    assert 0.99 < drawn.max() <= 1
    assert staying({1: 0.5, 2: 0.6, 3: 1, 9: 0}, LEVELS, True, rng).tolist() == [0.5, 0.6, 1.0]
    with pytest.raises(DataError, match="no chance of staying for 1 levels"):
        staying({1: 0.5, 2: 0.6}, LEVELS, True, rng)
