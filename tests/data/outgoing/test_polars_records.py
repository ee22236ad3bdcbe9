"""Polars frames with nothing but their records."""

from __future__ import annotations

import datetime as dt
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sdckit.data.outgoing.polars_records import polars_records, polars_use

LONG = "a hidden word that is long"


def bare(frame: pl.DataFrame) -> pl.DataFrame:
    return polars_records(frame, polars_use(frame))


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 77], [1.5, None, 77.0], [True, None, False], ["short", None, LONG], [b"x", None, LONG.encode()],
        [["a"], None, [LONG]], [{"x": "a"}, None, {"x": LONG}], [dt.date(2020, 1, 1), None, dt.date(1999, 9, 9)],
        [dt.timedelta(1), None, dt.timedelta(77)], [None, None, None],
    ],
    ids=lambda values: type(values[2]).__name__,
)  # fmt: skip
def test_the_same_values_of_the_same_type(values):
    frame = pl.DataFrame({"x": values})
    assert_frame_equal(bare(frame), frame)
    cut = frame.filter(pl.int_range(3) < 2).with_columns(pl.when(pl.int_range(2) < 1).then("x"))
    assert bare(cut)["x"].to_list() == [values[0], None]
    assert b"hidden" not in pickle.dumps(bare(cut))


@pytest.mark.parametrize(
    "kind", [pl.Int128, pl.UInt8, pl.Decimal(12, 3), pl.Time, pl.Datetime("ms", "UTC"), pl.Null]
)
def test_types_of_every_kind(kind):
    frame = pl.DataFrame({"x": pl.Series([None, None], dtype=kind)})
    assert bare(frame).schema == frame.schema


def test_two_files_that_differ_beneath_a_missing_value_are_one():
    made = []
    for value in (77, 5):
        cut = pl.DataFrame({"x": [1, value], "f": [1.0, value]}).with_columns(
            pl.when(pl.int_range(2) < 1).then(pl.all())
        )
        made.append(pickle.dumps(bare(cut)))
    assert made[0] == made[1]


def test_an_enum_keeps_what_is_used_in_its_order():
    frame = pl.DataFrame({"x": pl.Series(["c", None, "a"], dtype=pl.Enum(["d", "c", "b", "a"]))})
    assert bare(frame).schema["x"] == pl.Enum(["c", "a"])
    assert bare(frame)["x"].to_list() == ["c", None, "a"]
    empty = pl.DataFrame({"x": pl.Series([None], dtype=pl.Enum(["d"]))})
    assert bare(empty).schema["x"] == pl.Enum([])
    nested = pl.DataFrame({"x": pl.Series([["c"]], dtype=pl.List(pl.Enum(["c", "hidden"])))})
    assert bare(nested).schema["x"] == pl.List(pl.String)


def test_a_categorical_takes_no_other_category_to_another_process():
    frame = pl.DataFrame({"x": ["seen", LONG]}).cast(pl.Categorical)
    cut = frame.with_columns(pl.when(pl.int_range(2) < 1).then("x"))
    assert bare(cut).schema["x"] == pl.Categorical
    assert b"hidden" not in pickle.dumps(bare(cut))
    assert b"seen" in pickle.dumps(bare(cut))


def test_objects_are_left_alone():
    frame = pl.DataFrame({"x": pl.Series([object(), None], dtype=pl.Object)})
    assert bare(frame)["x"].to_list() == frame["x"].to_list()
