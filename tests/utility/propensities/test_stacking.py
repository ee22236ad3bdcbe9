"""Two files below each other, as codes and numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.cells.pair import open_pair
from sdckit.errors import DataError
from sdckit.utility.propensities import stacking
from sdckit.utility.propensities.stacking import features_of, stack

ORIGINAL = pl.DataFrame({"x": [1.0, 3.0, None], "c": ["p", None, "q"], "k": ["u"] * 3, "z": [7.0, 7.0, None]})
RELEASED = pl.DataFrame({"x": [5.0, 3.0], "c": ["q", "r"], "k": ["u"] * 2, "z": [7.0, 7.0]})


def stacked(names=("x", "c", "k", "z"), *, scale, original=ORIGINAL, released=RELEASED, release=0):
    numeric = [name for name in ("x", "z") if name in names]
    pair = open_pair(
        original,
        released,
        categories={"v": [name for name in names if name not in numeric]},
        numeric={"n": numeric},
    )
    return stack(pair, release, names, numeric, scale=scale)


def test_numbers_and_gaps():
    rows = stacked(scale=False)
    assert [(atom.variable, atom.kind) for atom in rows.atoms] == [
        ("x", "value"),
        ("x", "gap"),
        ("c", "level"),
        ("z", "gap"),
    ]
    assert rows.values.tolist() == [[1.0, 3.0, 0.0, 5.0, 3.0]]
    assert rows.codes.tolist() == [[0, 0, 1, 0, 0], [0, 3, 1, 1, 2], [0, 0, 1, 0, 0]]
    assert rows.constant == ("k",)
    assert (rows.share, rows.total.tolist()) == (0.4, [1.0] * 5)
    assert rows.atoms[2].labels == ("=q", "=r", "=(missing)")


def test_numbers_in_standard_deviations():
    values = stacked(scale=True).values[0]
    known = np.array([1.0, 3.0, 5.0, 3.0])
    assert values[[0, 1, 3, 4]] == pytest.approx((known - 3) / known.std())
    assert values[2] == 0.0


def test_very_large_numbers():
    large = [frame.with_columns(x=pl.col("x") * 1e300) for frame in (ORIGINAL, RELEASED)]
    assert stacked(scale=True, original=large[0], released=large[1]).values == pytest.approx(
        stacked(scale=True).values
    )


def test_equal_rows_of_categories_are_counted():
    many = [pl.concat([frame.select("c", "k")] * 20) for frame in (ORIGINAL, RELEASED)]
    rows = stacked(["c", "k"], scale=True, original=many[0], released=many[1])
    assert rows.codes.tolist() == [[0, 1, 2, 3]]
    assert rows.original.tolist() == [20.0, 20.0, 0.0, 20.0]
    assert rows.released.tolist() == [0.0, 20.0, 20.0, 0.0]
    assert rows.share == 0.4
    assert len(stacked(["c"], scale=False, original=many[0], released=many[1]).total) == 100


def test_combinations_that_are_too_many_are_not_counted(monkeypatch):
    monkeypatch.setattr(stacking, "DENSE", 0)
    assert len(stacked(["c"], scale=True).total) == 5


def test_levels_of_another_release_have_no_column():
    rows = stacked(["c"], scale=True, released=[RELEASED, RELEASED.with_columns(c=pl.lit("w"))], release=1)
    assert rows.atoms[0].labels == ("=q", "=w", "=(missing)")


def test_the_order_of_rows():
    rows = stacked(["x", "c"], scale=False)
    mixed = stacked(["x", "c"], scale=False, original=ORIGINAL[[2, 0, 1]], released=RELEASED[[1, 0]])
    one, two = rows.in_order(), mixed.in_order()
    for name in ("codes", "values", "original", "released"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert stacked(["k"], scale=True).in_order().total.tolist() == [1.0] * 5


def test_a_matrix_of_features():
    matrix, variables = features_of(stacked(scale=False), np.float32, level=0.5)
    assert matrix.dtype == np.float32
    assert variables == ["x", "x", "c", "c", "c", "c", "z"]
    assert matrix[1].tolist() == [3.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]
    assert matrix[2].tolist() == [0.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0]


def test_a_matrix_that_would_be_too_large(monkeypatch):
    monkeypatch.setattr(stacking, "FEATURES", 10)
    with pytest.raises(DataError, match="5 rows of 7 columns"):
        features_of(stacked(scale=False), np.float64)
