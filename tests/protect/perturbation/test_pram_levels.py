"""Levels of a column and moving between them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.numerics import compiling
from sdckit.protect.draws import PIECE, draw
from sdckit.protect.perturbation import pram_levels
from sdckit.protect.perturbation.pram_levels import EVERY, read_levels

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

    plain = moved()
    monkeypatch.setattr(compiling, "STEPS", -1)
    monkeypatch.setattr(pram_levels, "FEW", -1)
    assert moved() == plain
    assert plain[-1] > 0
