"""The record of a change keeps its secrets."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from plans import collected, on_engines
from sdckit.cells.plans.changed_plan import open_changing
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics import threads
from sdckit.protect import change as draws, change as on_plans
from sdckit.protect.change import (
    Change,
    Protected,
    at_least,
    became_fractions,
    check_made,
    check_room,
    chosen,
    count_changed,
    draw,
    key,
    numbers,
    strata_rows,
    with_files,
)


def test_secrets_are_written_only_for_an_internal_log():
    change = Change("pram", 10, {"a": 2, "b": 3}, {"alpha": 0.5}, {"seed": 4711}, {"a": "note"})
    assert change.n_changed == 5
    public, internal = change.to_dict(), change.to_dict(internal=True)
    assert "4711" not in json.dumps(public) + repr(change)
    assert internal["secret"] == {"seed": 4711}
    assert (internal["n"], internal["changed"], internal["notes"]) == (10, {"a": 2, "b": 3}, {"a": "note"})
    assert public["method"] == internal["method"] == "pram"
    assert public["parameters"] == internal["parameters"]


def test_small_counts_are_hidden_as_in_documents():
    for n in (60, 1003):
        for count in (0, 1, 4, 5, 7, n - 3, n):
            change = Change("pram", n, {"a": count, "b": 33})
            public = change.to_dict()
            leaf = public["changed"]["a"]
            assert (leaf["value"] is None) == (0 < count < 5), (n, count)
            assert leaf["value"] is None or leaf["value"] % 5 == 0
            assert public["n"]["value"] % 5 == 0
            told = json.dumps(public)
            assert f" {n}," not in told or n % 5 == 0
            assert change.to_dict(internal=True)["changed"]["a"] == count


def test_of_a_small_file_no_count_is_told():
    public = Change("pram", 49, {"a": 17}, notes={"a": "17 records"}).to_dict()
    assert "17" not in json.dumps(public)
    assert "49" not in json.dumps(public)
    assert public["changed"] == {"a": {"text": "withheld", "value": None}}


def test_a_pickle_keeps_no_secret():
    change = pickle.loads(pickle.dumps(Change("recode", 60, {"a": 3}, {}, {"outside": ["ZQX"], "seed": 4711})))
    assert (change.secret, change.changed) == ({}, {"a": 3})


def test_a_protected_file_unpacks():
    change = Change("round_to", 1, {})
    frame = pl.DataFrame({"x": [1]})
    data, found = Protected(frame, change)
    assert (data.rows(), found.n_changed) == ([(1,)], 0)
    assert [one.rows() for one in Protected([frame, frame], change).data] == [[(1,)], [(1,)]]


def test_a_protected_file_holds_its_records_only():
    kept = Protected(pl.DataFrame({"x": pl.Series([None], dtype=pl.Enum(["a"]))}), Change("round_to", 1, {}))
    for one in (kept, pickle.loads(pickle.dumps(kept))):
        assert one.data.schema["x"] == pl.Enum([])
        assert isinstance(one, Protected)


# What a method makes of columns of a plan: one file or several, of the same records or of others; limits.


FILE = pl.DataFrame({"row": range(4), "a": ["x", "y", None, "x"]})


@on_engines
def test_a_table_or_several(plan: Any) -> None:
    changing = open_changing(plan(FILE), 4)
    found = changing.brought(["a"])
    (same,) = with_files(changing, found, found.table)
    assert same is changing
    tables = [pa.table({"a": ["y", "y", None, None]}), pa.table({"a": ["x", "x", "x", "x"]})]
    for one, table in zip(with_files(changing, found, tables), tables, strict=True):
        assert collected(one.plan())["a"].to_list() == table["a"].to_pylist()
        assert collected(one.plan())["row"].to_list() == [0, 1, 2, 3]


@on_engines
def test_other_records(plan: Any) -> None:
    changing = open_changing(plan(FILE), 4)
    found = changing.brought(["row", "a"])
    (made,) = with_files(changing, found, pa.table({"row": [9, 9], "a": ["x", None]}))
    assert (made.n, made.n_file, made.columns) == (2, 4, ["row", "a"])
    assert collected(made.plan()).rows() == [(9, "x"), (9, None)]
    assert made.differing() == {"row": 4, "a": 4}
    assert made.brought(["a"]).table["a"].to_pylist() == ["x", None]


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 100)
    check_room(50, ["a", "b"])
    with pytest.raises(DataError, match=r"brings 3 columns of 50 records here, .* at most 100 values come"):
        check_room(50, ["a", "b", "c"])
    check_made(5, 10, 2)
    with pytest.raises(DataError, match=r"makes 2 columns of 10 records for each of 6 files here, .* at most 100"):
        check_made(6, 10, 2)


# Columns of numbers at the door.


def test_some_column_is_chosen():
    assert chosen(("a", "b")) == ("a", "b")
    with pytest.raises(ColumnError, match="columns= names no column"):
        chosen([])
    with pytest.raises(ColumnError, match=r"write columns=\['ab'\]"):
        chosen("ab")
    with pytest.raises(ColumnError, match="listed more than once"):
        chosen(["a", "a"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", "b"], "'x' is .*, not numbers"),
        ([True, False], "not numbers"),
        ([1.0, float("inf"), float("-inf")], r"infinite values \(rows 2, 3\)"),
        ([None, float("nan")], "has no value at all"),
        ([3, 3, None], "'x' is constant, so it is; leave it out"),
    ],
)
def test_what_is_refused(values, message):
    with pytest.raises(DataError, match=message):
        numbers(open_frame(pl.DataFrame({"x": values}, strict=False)), ["x"], constant="so it is")


def test_what_is_read():
    frame = open_frame(pl.DataFrame({"x": [3, None], "y": [2.5, float("nan")]}))
    found = numbers(frame, ["y", "x"])
    assert list(found) == ["y", "x"]
    assert np.array_equal(found["x"], [3.0, np.nan], equal_nan=True)


def test_what_changed():
    before = {"x": np.array([1.0, np.nan, 2.0]), "y": np.array([1.0, 1.0, 1.0])}
    after = {"x": np.array([1.5, np.nan, 2.0]), "y": np.array([1.0, 1.0, 1.0])}
    assert count_changed(before, after) == {"x": 1, "y": 0}
    old, new = pl.DataFrame({"x": [1], "y": [1]}), pl.DataFrame({"x": [1.5], "y": [1]})
    assert became_fractions(open_frame(old), new, ["x", "y"]) == {"type": "x was Int64, is Float64"}
    assert became_fractions(open_frame(old), old, ["x", "y"]) == {}


# Draws: the same whatever the threads.


def uniform(rng, n):
    return draw(rng, n, lambda one, piece: one.random(out=piece))


def test_pieces_do_not_depend_on_the_threads(monkeypatch):
    monkeypatch.setattr(draws, "PIECE", 10)
    many = uniform(np.random.default_rng(1), 95)
    monkeypatch.setattr(threads, "n_threads", lambda: 1)
    assert (uniform(np.random.default_rng(1), 95) == many).all()
    assert len(np.unique(many)) == 95
    assert ((many >= 0) & (many < 1)).all()


def test_a_draw_is_not_the_next_one():
    rng = np.random.default_rng(1)
    assert (uniform(rng, 5) != uniform(rng, 5)).all()
    assert len(uniform(rng, 0)) == 0
    assert key(rng) != key(rng)
    assert key(rng).dtype == np.uint64


# Strata, and those that are too small.


FRAME = open_frame(pl.DataFrame({"a": ["x", None, "y", "x", None], "b": [1, 1, 2, 1, 2]}))


def rows(names):
    return [part.tolist() for part in strata_rows(FRAME, names)]


def test_rows_by_stratum():
    assert rows([]) == [[0, 1, 2, 3, 4]]
    assert rows(["a"]) == [[0, 3], [1, 4], [2]]
    assert rows(["a", "b"]) == [[0, 3], [1], [2], [4]]


def test_small_strata_are_stated():
    at_least(1, strata_rows(FRAME, ["a"]), ["a"], 5)
    with pytest.raises(DataError, match=r"1 of 3 strata of a have fewer than k = 2 records \(row 3\)"):
        at_least(2, strata_rows(FRAME, ["a"]), ["a"], 5)
    with pytest.raises(DataError, match="k = 6 records to a group, and the data has 5 in all"):
        at_least(6, strata_rows(FRAME, []), [], 5)
    with pytest.raises(DataError, match=r"^k = 4 records to a group, and only 3 have a value; lower k$"):
        at_least(4, [np.arange(3)], [], 5)  # of the others nothing is known: there are no strata to name
