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
    assert internal == {**public, "secret": {"seed": 4711}}
    assert public["changed"] == {"a": 2, "b": 3}


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
