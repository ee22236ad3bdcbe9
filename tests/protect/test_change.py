"""The record of a change keeps its secrets."""

from __future__ import annotations

import json
import pickle

import polars as pl

from sdckit.protect.change import Change, Protected


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
    change = pickle.loads(
        pickle.dumps(Change("recode", 60, {"a": 3}, {}, {"outside": ["ZQX"], "seed": 4711}))
    )
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
