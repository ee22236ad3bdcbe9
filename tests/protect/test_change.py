"""The record of a change keeps its secrets."""

from __future__ import annotations

import json

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
    data, found = Protected([1], change)
    assert (data, found.n_changed) == ([1], 0)
