"""E4: who changes, into what, and what is kept secret."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ways
from sdckit import pram
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import PIECE, draw
from sdckit.protect.perturbation import pram as pram_levels
from sdckit.protect.perturbation.pram import EVERY, around_diagonal, given_matrix, invariant_of, read_levels, staying

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
    matrices = pram(SURVEY, columns=["job"], strata=["area"], seed=4, **options).change.secret["matrix"]["job"]
    areas = SURVEY["area"].unique(maintain_order=True)
    assert len(matrices) == 2
    assert matrices[0] != matrices[1]
    for area, matrix in zip(areas, matrices, strict=True):
        before, after = shares(SURVEY, matrix, area=area)
        assert after == pytest.approx(before)
    ((plain,),) = pram(SURVEY, columns=["job"], invariant=False, pd=0.2, seed=4).change.secret["matrix"].values()
    before, after = shares(SURVEY, plain)
    assert after != pytest.approx(before, abs=0.01)


def test_alpha_mixes_with_staying():
    rows = {"clerk": {"smith": 1}, "smith": {"clerk": 1}, "none": {"none": 1}}
    (found,) = pram(SURVEY, columns=["job"], matrix={"job": rows}, alpha=0.25, seed=1).change.secret["matrix"]["job"]
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
    with pytest.raises(DataError, match="no chance of staying for 1 level of"):
        staying({1: 0.5, 2: 0.6}, LEVELS, True, rng)


# Levels of a column and moving between them.


FRAME = pl.DataFrame(
    {"text": ["b", None, "a", "b", "c"], "number": [10, 9, None, 9, -1], "half": [0.5, 2, 10, 2, None]}
)


def levels(name, frame=FRAME):
    return read_levels(open_frame(frame), name)


def test_a_canonical_order():
    found = levels("number")
    assert found.labels == ["-1", "9", "10"]
    assert found.numeric
    assert found.of_record.tolist() == [2, 1, -1, 1, 0]
    assert found.first.tolist() == [4, 1, 0]
    assert found.count.tolist() == [1, 2, 1]
    shifted = levels("number", pl.DataFrame({"number": [10, 9, 9, -1]}))
    assert shifted.of_record.tolist() == [2, 1, 1, 0]
    assert levels("half").labels == ["0.5", "2.0", "10.0"]
    plain, category = levels("text"), levels("text", FRAME.with_columns(pl.col("text").cast(pl.Categorical)))
    for one in (plain, category, levels("text", FRAME.to_pandas())):
        assert one.labels == ["a", "b", "c"]
        assert one.of_record.tolist() == [1, -1, 0, 1, 2]
        assert not one.numeric


def test_counts_by_stratum():
    found = levels("text")
    assert found.counts(EVERY).tolist() == [1, 2, 1]
    assert found.counts(np.array([0, 1, 3])).tolist() == [0, 2, 0]


def test_many_records_on_threads():
    n = 200_000
    frame = pl.DataFrame({"x": np.arange(n) % 7})
    found = levels("x", frame)
    assert found.first.tolist() == list(range(7))
    assert found.count.sum() == n
    matrix, source = np.full((7, 7), 1 / 7), np.empty(n, np.int64)
    moved = found.move(EVERY, matrix, source, np.random.default_rng(1))
    assert moved == (source % 7 != np.arange(n) % 7).sum()
    assert moved / n == pytest.approx(6 / 7, abs=0.01)
    pairs = np.bincount((np.arange(n) % 7) * 7 + source % 7)
    assert pairs / n == pytest.approx(np.full(49, 1 / 49), abs=0.002)


@pytest.mark.parametrize("kind", [pl.Int64, pl.Categorical])
def test_the_chances_of_a_long_file_are_those_of_its_pieces(kind):
    n = 2 * PIECE + 77
    before = np.random.default_rng(3).integers(0, 3, n)
    text = pl.DataFrame({"x": before}).with_columns(pl.col("x").cast(pl.String))
    found = levels("x", text.with_columns(pl.col("x").cast(kind)))
    assert found.of_record.tolist() == before.tolist()
    chance = draw(np.random.default_rng(5), n, lambda one, piece: one.random(out=piece))
    source, stay = np.empty(n, np.int64), np.array([0.9, 0.5, 0.7])
    matrix = np.array([[0.9, 0.0, 0.1], [0.5, 0.5, 0.0], [0.0, 0.3, 0.7]])
    moved = found.move(EVERY, matrix, source, np.random.default_rng(5))
    goes = chance >= stay[before]
    assert moved == goes.sum()
    assert (before[source] == np.where(goes, np.array([2, 0, 1])[before], before)).all()


def test_only_the_rows_of_a_stratum():
    found, source = levels("text"), np.full(5, -9)
    certain = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert found.move(np.array([1, 2, 4]), certain, source, np.random.default_rng(1)) == 2
    assert source.tolist() == [-9, 1, 4, -9, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, None], "'x' has no value; there is nothing"),
        ([1, 1, None], "'x' has 1 level; there is nothing"),
        (list(range(2001)), "'x' has 2,001 levels; recode"),
        ([0, *range(10**6, 10**6 + 2001)], "'x' has 2,002 levels; recode"),
    ],
)
def test_too_few_or_too_many(values, message):
    with pytest.raises(DataError, match=message):
        levels("x", pl.DataFrame({"x": values}))


@pytest.mark.usefixtures("nothing_compiled")
def test_few_are_moved_alike_without_compiling(monkeypatch):
    frame = pl.DataFrame({"x": np.random.default_rng(1).integers(0, 5, 400)})
    matrix = np.full((5, 5), 0.1) + 0.5 * np.eye(5)

    def moved():
        found, source = levels("x", frame), np.zeros(400, np.int64)
        some = np.arange(0, 400, 3)
        n = found.move(EVERY, matrix, source, np.random.default_rng(2))
        return found.count.tolist(), found.first.tolist(), found.counts(some).tolist(), source.tolist(), n

    ways.take(monkeypatch, few=True)
    plain = moved()
    ways.take(monkeypatch, few=False)
    assert moved() == plain
    assert plain[-1] > 0
