"""Weights and groups of single records, whatever stands in the columns."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from draw import quiet
from sdckit.cells.record_columns import bad_weights, checked_weight, group_column
from sdckit.errors import SdcWarning


def test_the_message_about_weights_without_rows():
    assert bad_weights("w", 0, 2, 0).startswith("weight 'w': 2 zero or negative; every record")


def test_whole_weights_are_weights():
    frame = nw.from_native(pl.DataFrame({"w": [1, 2]}))
    assert checked_weight(frame["w"]).tolist() == [1.0, 2.0]


def test_groups_of_a_column():
    frame = nw.from_native(pl.DataFrame({"hh": ["a", None, "b", "a", None, None]}))
    with pytest.warns(SdcWarning, match="3 records have no household id in 'hh'"):
        of_row, n_groups = group_column(frame, "hh")
    assert n_groups == 5
    assert of_row[0] == of_row[3]
    assert len(set(of_row.tolist())) == 5
    assert sorted(set(of_row.tolist())) == list(range(5))


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([3, 9, 3, 4]),
        pl.Series([3, 9, 3, 4], dtype=pl.UInt64),
        pl.Series([3, 9 * 10**12, 3, 4]),
        pl.Series([300, 900, 300, 4], dtype=pl.Int16),
        pl.Series(["b", "c", "b", "a"]),
        pl.Series(["b", "c", "b", "a"], dtype=pl.Categorical),
        pl.Series(["b", "c", "b", "a"], dtype=pl.Enum(["z", "c", "y", "b", "a"])),
        pl.Series([0.5, 0.7, 0.5, -1.0]),
    ],
    ids=lambda one: str(one.dtype)[:12],
)
def test_ids_of_any_type(ids):
    of_row, n_groups = group_column(nw.from_native(pl.DataFrame({"hh": ids})), "hh")
    assert n_groups == 3
    assert of_row[0] == of_row[2]
    assert set(of_row.tolist()) == {0, 1, 2}


def test_no_household_id_at_all():
    frame = nw.from_native(pl.DataFrame({"hh": [None, None]}))
    with quiet():
        of_row, n_groups = group_column(frame, "hh")
    assert (sorted(of_row.tolist()), n_groups) == ([0, 1], 2)
