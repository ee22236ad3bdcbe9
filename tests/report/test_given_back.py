"""Columns of which values are given back: in which order, which are named, and the table of the file put back."""

from __future__ import annotations

from typing import Any

from sdckit.report.given_back import columns_given_back, put_back_tables, shown_share


def test_small_numbers_stand_at_their_bound() -> None:
    assert {shown_share(few, 40) for few in range(1, 6)} == {5 / 40}
    assert shown_share(0, 40) == 0
    assert shown_share(3, 4) == 1
    assert shown_share(6, 40) == 6 / 40


def test_a_hidden_number_is_something_given_back() -> None:
    columns = [
        {"column": name, "back": {"value": value}} for name, value in (("a", None), ("b", 0), ("a", 7))
    ]
    assert columns_given_back({"x": {"releases": [{"columns": columns}]}}, "x") == ["a"]
    assert columns_given_back({"x": {"releases": [{"columns": columns[1:2]}]}}, "x") == []
    assert columns_given_back({"x": {"releases": [{"columns": []}]}}, "x") is None


def test_the_table_has_a_column_for_each_release_that_was_put_back() -> None:
    def release(n: str) -> dict[str, Any]:
        return {"k": 3, "below": {"value": 5, "text": n}}

    words = {"below": "fewer than {k}"}
    (table,) = put_back_tables({"releases": [release("10"), release("15"), {}]}, words, head="h", title="t")
    assert table.rows == (("fewer than 3", "10", "15"),)
    assert len(table.columns) == 3
    assert put_back_tables({"releases": [{}]}, words, head="h", title="t") == []
