"""Published tables as a scenario declares them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit import Scenario, ScenarioError
from sdckit.data.scenarios.tables import read_tables


def test_entries_are_plain():
    found = read_tables([{"variables": ("sex", "age"), "rounded": 5}, {"file": Path("a") / "counts.csv"}])
    assert found == ({"variables": ["sex", "age"], "rounded": 5}, {"file": "a/counts.csv"})
    assert read_tables([]) == ()


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ([{"variable": ["sex"]}], r"tables\[1\].variable.*did you mean 'variables'"),
        ([{"rounded": 3}], r"tables\[1\] has neither"),
        ([{"variables": []}], r"tables\[1\].variables"),
        ([{"variables": ["sex"], "rounding": "up"}], r"tables\[1\].rounding"),
        ([{"variables": ["sex"]}, {"file": 3}], r"tables\[2\].file"),
        ([{"variables": ["sex"], "rounded": 1}], r"tables\[1\]"),
        ({"variables": ["sex"]}, "list of tables"),
        (["sex"], "list of tables"),
    ],
)
def test_a_wrong_entry_of_a_scenario_is_named(tables, says):
    with pytest.raises(ScenarioError, match=says):
        Scenario(keys=["sex"], tables=tables)
