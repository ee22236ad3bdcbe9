"""A release beside its original: every fault at once, one coding, rows in one order."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.cells.pair import Pair, open_pair
from sdckit.errors import ColumnError, DataError

ORIGINAL = {"id": [1, 2, 3], "a": ["x", "y", None], "v": [1.0, 2.5, 4.0]}
RELEASED = {"id": [3, 1, 2], "a": ["z", "x", "y"], "v": [4.0, 1.0, None]}


def pair(original=ORIGINAL, released=RELEASED, **options):
    given = {"categories": {"keys": ["a"]}, "numeric": {"numeric": ["v"]}, **options}
    return open_pair(pl.DataFrame(original), pl.DataFrame(released), **given)


def test_codes_are_shared_and_ascending():
    found = pair().codes("a")
    assert [codes.tolist() for codes in found.codes] == [[1, 2, 0], [3, 1, 2]]
    assert (found.n_levels, found.kind, found.labels()) == (3, "text", ["(missing)", "x", "y", "z"])


def test_numbers_and_sizes():
    found = pair(released={**RELEASED, "id": [9, 8, 7]})
    assert found.numbers("v")[0].tolist() == [1.0, 2.5, 4.0]
    assert np.isnan(found.numbers("v")[1]).tolist() == [False, False, True]
    assert (found.n, found.m, found.sizes, found.names) == (3, 1, (3,), ("the original", "the release"))


def test_rows_are_brought_into_order_by_the_id():
    found = pair(aligned=True, id="id")
    assert found.codes("a").codes[1].tolist() == [1, 2, 3]
    assert found.numbers("v")[1][[0, 2]].tolist() == [1.0, 4.0]
    assert found.records({"risk": np.array([0.1, 0.2, 0.3])}).to_dict(as_series=False) == {
        "id": [1, 2, 3], "risk": [0.1, 0.2, 0.3]
    }  # fmt: skip


def test_groups_count_every_file():
    many = open_pair(
        pl.DataFrame({"a": [1, 1, None], "b": [0, 0, 0]}),
        [pl.DataFrame({"a": [1.0, None], "b": [0, 0]}), pa.table({"a": [2], "b": [0]})],
        categories={"keys": ["a", "b"]},
    )
    groups = many.groups(["a", "b"])
    at = groups.of_row[0]
    assert [size[at[0]] for size in groups.size] == [2, 1, 0]
    assert [size[at[2]] for size in groups.size] == [1, 1, 0]
    assert groups.n_groups == 3
    assert many.names == ("the original", "release 1", "release 2")
    assert many.groups([]).n_groups == 1


def test_an_identical_release_is_seen():
    assert pair(released=ORIGINAL).identical(["a", "v"]) == (True,)
    assert pair().identical(["a"]) == (False,)
    assert pair(released={**ORIGINAL, "v": [1.0, 2.5, 4.5]}).identical(["a", "v"]) == (False,)


def test_every_absent_column_is_named_at_once():
    with pytest.raises(ColumnError) as caught:
        open_pair(
            pl.DataFrame({"a": [1]}), [pl.DataFrame({"b": [1]}), pl.DataFrame({"a": [1], "b": [1]})],
            categories={"keys": ["a"], "target": ["b"]},
        )  # fmt: skip
    message = str(caught.value)
    assert "the original has no column 'b' (target)" in message
    assert "release 1 has no column 'a' (keys)" in message
    assert "release 2" not in message


def test_every_clash_of_types_is_named_at_once():
    left, right = (
        pl.DataFrame({"a": ["1"], "b": [1], "v": [1.0]}),
        pl.DataFrame({"a": [1], "b": ["1"], "v": ["u"]}),
    )
    with pytest.raises(ColumnError) as caught:
        open_pair(left, right, categories={"keys": ["a", "b"]}, numeric={"numeric": ["v"]})
    message = str(caught.value)
    assert "column 'a' holds text in the original and numbers in the release" in message
    assert "column 'b' holds numbers in the original and text in the release" in message
    assert "the release: numeric 'v' is" in message


REFUSED = {
    "nothing released": (lambda: open_pair(pl.DataFrame(ORIGINAL), categories={}), "released= is missing"),
    "no release": (
        lambda: open_pair(pl.DataFrame(ORIGINAL), [], categories={}),
        "released= is an empty list",
    ),
    "lengths": (
        lambda: pair(released={"a": ["x"], "v": [1.0]}, aligned=True),
        "the release has 1 rows, the original 3: rows must belong together",
    ),
    "id missing": (
        lambda: pair(released={**RELEASED, "id": [None, 1, 2]}, aligned=True, id="id"),
        "the release: id 'id' is missing in 1 rows",
    ),
    "id repeated": (
        lambda: pair(released={**RELEASED, "id": [1, 1, 2]}, aligned=True, id="id"),
        "1 values of id 'id' occur more than once",
    ),
    "other ids": (
        lambda: pair(released={**RELEASED, "id": [7, 1, 2]}, aligned=True, id="id"),
        "the original: 1 values of id 'id' that another file has are not there; the release: 1 values",
    ),
    "all missing": (
        lambda: pair(released={**RELEASED, "v": [None, None, None]}),
        "the release: numeric 'v' has no value at all",
    ),
    "infinite": (
        lambda: pair(released={**RELEASED, "v": [1.0, float("inf"), 2.0]}),
        "the release: numeric 'v' is infinite in row 2",
    ),
    "empty": (lambda: pair(released={"a": [], "v": []}), "the release: the data has no records"),
    "plan": (
        lambda: open_pair(
            pl.LazyFrame(ORIGINAL), pl.LazyFrame(RELEASED), categories={"keys": ["a"]}, aligned=True
        ),
        "rows of a plan have no order: give id=",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, words = REFUSED[case]
    with pytest.raises(DataError, match=words):
        call()


def test_plans_are_brought_here_and_ordered_by_id():
    connection = duckdb.connect()
    table = pa.table(ORIGINAL)
    connection.register("original", table)
    found = open_pair(
        connection.table("original"),
        pl.LazyFrame(RELEASED),
        categories={"keys": ["a"]},
        aligned=True,
        id="id",
    )
    released = dict(zip(found.original["id"].to_list(), found.codes("a").codes[1].tolist(), strict=True))
    assert released == {1: 1, 2: 2, 3: 3}
    assert found.brought
    assert set(found.records({"r": np.zeros(3)}).column_names) == {"id", "r"}


def test_a_pair_is_opened_once():
    first = pair(id="id")
    again = open_pair(first, categories={"keys": ["a"]})
    assert again is first
    aligned = open_pair(first, categories={"keys": ["a"]}, aligned=True)
    assert aligned.aligned
    assert aligned.codes("a").codes[1].tolist() == [1, 2, 3]
    with pytest.raises(ColumnError, match="the original has no column 'q'"):
        open_pair(first, categories={"keys": ["q"]})
    with pytest.raises(DataError, match="fixed by the pair given"):
        open_pair(first, pl.DataFrame(RELEASED), categories={"keys": ["a"]})


def test_records_of_some_rows_keep_the_index():
    frame = pd.DataFrame(ORIGINAL, index=[10, 20, 30])
    found = open_pair(frame, frame, categories={"keys": ["a"]})
    out = found.records({"r": np.array([1.0, 2.0])}, rows=np.array([0, 2]))
    assert out.index.tolist() == [10, 30]
    assert isinstance(found, Pair)


def test_a_result_column_may_not_hide_the_id():
    with pytest.raises(ColumnError, match="id 'id' has the name of a result column; give prefix="):
        pair(id="id").records({"ID": np.zeros(3)})
