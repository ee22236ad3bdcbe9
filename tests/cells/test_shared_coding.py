"""One coding for two files: equal values meet whatever holds them, different types are refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from draw import files, quiet
from sdckit import as_cells
from sdckit.cells.pair import open_pair
from sdckit.cells.shared_coding import classes_of, matching_cells, share_coding
from sdckit.errors import ColumnError

DAY = dt.date(2020, 1, 2)
NOON = dt.datetime(2020, 1, 2, 12, 30)


def cells(frame, keys=("x",)):
    with quiet():
        return as_cells(frame, keys=list(keys), missing="category")


def matches(left, right):
    """For each record of `left` the records of `right` with its key."""
    a, b = cells(left), cells(right)
    at = matching_cells(a, b)
    return np.where(at >= 0, b.table.size[at], 0)[a.table.of_row].tolist()


PAIRS = {
    "integer and float": (pl.Series([1, 2, 3]), pl.Series([2.0, 3.0, 3.0])),
    "float and integer": (pl.Series([1.5, 2.0, 3.0]), pl.Series([2, 3, 3])),
    "small and large integers": (pl.Series([1, 2, 3], dtype=pl.UInt8), pl.Series([2, 3, 3, 1 << 40])),
    "integers far apart": (pl.Series([1 << 50, 2, 3]), pl.Series([2, 3, 3])),
    "decimals and integers": (pl.Series([Decimal("1.5"), Decimal("2"), Decimal("3")]), pl.Series([2, 3, 3])),
    "text and category": (
        pl.Series(["one", "two", "three"]), pl.Series(["two", "three", "three"], dtype=pl.Categorical)
    ),
    "enum and long text": (
        pl.Series(["a", "b", "c"], dtype=pl.Enum(["c", "b", "a", "z"])), pl.Series(["b", "c", "c", "a long text " * 3])
    ),
    "booleans": (pl.Series([False, True, True]), pl.Series([True, True])),
    "dates and days at midnight": (
        pl.Series([dt.date(2020, 1, 1), DAY, NOON.date()]),
        pl.Series([dt.datetime(2020, 1, 2)] * 2, dtype=pl.Datetime("ms")),
    ),
    "units of time": (
        pl.Series([NOON.replace(hour=1), NOON, NOON], dtype=pl.Datetime("us")),
        pl.Series([NOON, NOON], dtype=pl.Datetime("ns")),
    ),
    "times of day": (pl.Series([dt.time(1), dt.time(2), dt.time(2)]), pl.Series([dt.time(2)] * 2)),
}  # fmt: skip
EXPECTED = {"booleans": [0, 2, 2], "dates and days at midnight": [0, 2, 2], "units of time": [0, 2, 2],
            "times of day": [0, 2, 2]}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_compared_not_their_storage(name):
    left, right = PAIRS[name]
    assert matches(pl.DataFrame({"x": left}), pl.DataFrame({"x": right})) == EXPECTED.get(name, [0, 1, 2])


def test_engines_meet():
    left = pd.DataFrame({"x": pd.Categorical(["a", "b", None, "b"])})
    right = pa.table({"x": pa.array(["b", None, None, "c"]).dictionary_encode()})
    assert matches(left, right) == [0, 1, 2, 1]
    numbers = pa.table({"x": pa.array([1, 2, 2]).dictionary_encode()})
    assert matches(numbers, pl.DataFrame({"x": [2.0, 2.0, 7.0]})) == [0, 2, 2]
    days = pd.DataFrame({"x": pd.to_datetime(["2020-01-02", "2020-01-03", "2020-01-03"])})
    assert matches(days, pl.DataFrame({"x": [DAY, DAY]})) == [2, 0, 0]


def test_a_missing_value_is_a_level_and_matches_any_type():
    assert matches(pl.DataFrame({"x": [1, None, None]}), pl.DataFrame({"x": [None, 1.0, 1.0]})) == [2, 1, 1]
    with quiet():
        a = as_cells(pl.DataFrame({"x": [1, None]}), keys=["x"], missing="category")
        b = as_cells(pl.DataFrame({"x": ["t", None]}), keys=["x"], missing="category")
    gone = a.levels[0].span
    left, right = share_coding("x", [(a.levels[0], np.array([gone])), (b.levels[0], b.table.codes[0])]).codes
    assert left.tolist() == [0]
    assert sorted(right.tolist()) == [0, 1]


REFUSED = {
    "text in one file and numbers": (["1", "2", "2"], [1, 2, 2]),
    "numbers in one file and text": ([1.5, 2.0, 2.0], ["1.5", "2", "2"]),
    "true and false in one file and numbers": ([True, False, True], [1, 0, 1]),
    "dates in one file and text": ([DAY, DAY, NOON.date()], ["02.01.2020", "x", "x"]),
    "times in one file and dates": ([dt.time(1), dt.time(2), dt.time(2)], [DAY, DAY]),
    "bytes in one file and text": ([b"a", b"b", b"b"], ["a", "b", "b"]),
}


@pytest.mark.parametrize("words", REFUSED)
def test_different_types_are_refused_by_name(words):
    left, right = (pl.DataFrame({"x": values}) for values in REFUSED[words])
    with pytest.raises(ColumnError, match=f"column 'x' holds {words} in the other; give both the same type"):
        matches(left, right)


def test_days_in_words_are_days():
    masked = pl.DataFrame({"x": ["2020-01-02", "2020-01-**", None]})
    days = pl.DataFrame({"x": [DAY, dt.date(2021, 1, 1), None]})
    assert matches(days, masked) == matches(days, pl.DataFrame({"x": ["2020-01-02", "z", None]}))
    assert sorted(matches(days, masked)) == [0, 1, 1]
    times = pl.DataFrame({"x": [NOON, NOON, NOON]})
    with pytest.raises(ColumnError, match="dates in one file and text in the other"):
        matches(times, masked)


def test_time_zones_are_a_type():
    left = pl.DataFrame({"x": pl.Series([NOON, NOON]).dt.replace_time_zone("UTC")})
    with pytest.raises(ColumnError, match="dates with a time zone in one file and dates in the other"):
        matches(left, pl.DataFrame({"x": [NOON, NOON]}))


@given(files(), files())
def test_cells_meet_as_records_do(left, right):
    keys = [key for key in left.keys if key in right.keys]
    with quiet():
        a, b = (as_cells(file.frame(), keys=keys, missing="category") for file in (left, right))
    at = matching_cells(a, b)
    scale = [2**30 if file.wide else 1 for file in (left, right)]
    values = [
        [tuple(None if v is None else v * s for v in row[: len(keys)]) for row in file.rows]
        for file, s in zip((left, right), scale, strict=True)
    ]
    for i, row in enumerate(values[0]):
        cell = at[a.table.of_row[i]]
        assert values[1].count(row) == (b.table.size[cell] if cell >= 0 else 0)


@pytest.mark.parametrize(
    "columns",
    [
        ([3, None, 1], [1.0, 7.0, 7.0]),
        (["b", "a", None], ["c", "a", "a"]),
        ([DAY, None, DAY], [dt.date(2019, 1, 1), DAY, DAY]),
    ],
)
def test_one_level_prints_as_among_all(columns):
    coding = open_pair(*(pl.DataFrame({"x": one}) for one in columns), categories={"keys": ["x"]}).codes("x")
    assert [coding.label(code) for code in range(coding.n_levels + 1)] == coding.labels()
    assert classes_of("x", [np.arange(9.0)], 3).label(2) == classes_of("x", [np.arange(9.0)], 3).labels()[2]


@pytest.mark.parametrize("values", [[5, 2, 9], [2.5, 0.5, 1.5], [1 << 50, 3, 4]])
def test_files_of_the_same_numbers_are_numbered_in_their_order(values):
    """As of ids: nothing is sorted where both files have the same, and the order is that of the numbers."""
    frame = pl.DataFrame({"x": values})
    pair = open_pair(frame, frame.reverse(), categories={"keys": ["x"]})
    before, after = pair.codes("x").codes
    assert before.tolist() == [sorted(values).index(value) + 1 for value in values]
    assert after.tolist() == before.tolist()[::-1]
    assert pair.codes("x").labels()[1:] == [f"{value:g}" if value < 100 else str(value) for value in sorted(values)]
