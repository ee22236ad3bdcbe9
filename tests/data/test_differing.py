"""How many values differ: by value, not by type."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import pandas as pd
import polars as pl
import pytest

from sdckit.data.differing import n_differing
from sdckit.errors import DataError


def count(before: object, after: object) -> int:
    frames = [nw.from_native(pl.DataFrame({"a": one}, strict=False)) for one in (before, after)]
    return n_differing(*frames)["a"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1, 2, 3], [1, 2, 4], 1),
        ([1, 2, None], [1.0, 2.5, None], 1),
        ([1, None, 3], [None, None, 3], 1),
        (["a", "b"], ["a", None], 1),
        ([1, 2, None], ["1", "2", None], 2),
        ([1, 2], [None, None], 2),
        ([float("nan"), 1.0], [float("nan"), None], 1),
        ([True, False], [True, True], 1),
        ([[1], [2]], [[1], [3]], 1),
        (["a", "b"], pl.Series(["a", "c"], dtype=pl.Categorical), 1),
        ([1, 3], pl.Series(["0-2", "3+"], dtype=pl.Enum(["0-2", "3+"])), 2),
    ],
)
def test_counts(before: object, after: object, expected: int) -> None:
    assert count(before, after) == expected


def test_a_column_left_out_differs_wholly_and_a_new_one_does_not_count() -> None:
    before = nw.from_native(pl.DataFrame({"a": [1, 2], "b": [1, 2]}))
    after = nw.from_native(pl.DataFrame({"b": [1, 2], "c": [1, 2]}))
    assert n_differing(before, after) == {"a": 2, "b": 0}


def test_pandas_types() -> None:
    before = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", None])})
    after = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": ["x", "z", None]})
    assert n_differing(nw.from_native(before), nw.from_native(after)) == {"a": 1, "b": 1}


def test_other_rows_are_refused() -> None:
    with pytest.raises(DataError, match="2 and 1 rows"):
        count([1, 2], [1])
