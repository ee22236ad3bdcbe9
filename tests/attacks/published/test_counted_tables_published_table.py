"""What is said of a published table."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import ColumnError, DataError, PublishedTable, Scenario
from sdckit.attacks.published.counted_tables import as_tables, declared_tables


def test_what_can_be_given():
    frame = pl.DataFrame({"sex": ["f"], "n": [1]})
    found = as_tables([["sex", "age"], frame, "counts.csv", PublishedTable(variables=["sex"], name="T1")])
    assert [one.called for one in found] == ["sex × age", "a table of counts", "counts.csv", "T1"]


@pytest.mark.parametrize("given", [[], "sex", [3], {"variables": ["sex"]}])
def test_what_is_none_is_refused(given):
    with pytest.raises(DataError, match="tables"):
        as_tables(given)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, DataError), ({"variables": []}, DataError), ({"variables": ["a"], "rounded": 1}, DataError),
        ({"variables": ["a"], "rounding": "up"}, DataError), ({"variables": ["a"], "suppressed_below": 1}, DataError),
        ({"variables": "a"}, ColumnError), ({"variables": ["n"]}, ColumnError),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(given, error):
    with pytest.raises(error):
        PublishedTable(**given)


def test_a_scenario_declares_tables_and_writes_them(tmp_path):
    tables = [{"variables": ["sex", "age"], "rounded": 5}, {"file": "counts.csv", "total": "all"}]
    scenario = Scenario(keys=["sex"], tables=tables, thresholds={"joint_recoverable": 0.0})
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    again = Scenario.from_toml(path)
    assert again == scenario
    assert scenario.columns == ("sex", "age")
    first, second = declared_tables(again.tables, again.folder)
    assert (first.rounded, second.counts, second.total) == (5, tmp_path / "counts.csv", "all")


def test_its_print_holds_no_count():
    shown = PublishedTable(counts=pl.DataFrame({"sex": ["Zq7"], "n": [8]}), name="T1", suppressed_below=3)
    assert repr(shown) == "PublishedTable(T1, suppressed below 3)"
