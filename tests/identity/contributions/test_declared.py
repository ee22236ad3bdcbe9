"""What is declared of keys, by arguments and by a scenario."""

from __future__ import annotations

import pytest

from sdckit import Scenario
from sdckit.errors import ColumnError
from sdckit.identity.contributions.declared import declared_kinds

TREE = {"11": ["1"], "12": ["1"]}


def test_an_argument_wins(tmp_path):
    (tmp_path / "tree.csv").write_text("11;1\n12;1\n")
    scenario = Scenario(
        keys=["a", "b"],
        numeric=["a"],
        ordered=["b"],
        sensitive=["c"],
        hierarchies={"b": tmp_path / "tree.csv"},
    )
    found = declared_kinds(scenario.keys, scenario)
    assert (found.numeric, found.ordered) == (("a",), ("b",))
    assert found.hierarchies["b"].at(1) == {"11": "1", "12": "1"}
    assert found.files == {"b": (tmp_path / "tree.csv").as_posix()}
    other = declared_kinds(scenario.keys, scenario, numeric=[], ordered=["a"], hierarchies={"b": TREE})
    assert (other.numeric, other.ordered, other.files) == ((), ("a",), {})
    assert other.hierarchies["b"].levels == (("1", "1"),)


def test_only_keys_count():
    scenario = Scenario(keys=["a"], numeric=["c"], sensitive=["c"])
    assert declared_kinds(scenario.keys, scenario).numeric == ()
    with pytest.raises(ColumnError, match="numeric: 'c' is no key"):
        declared_kinds(["a"], scenario, numeric=["c"])
