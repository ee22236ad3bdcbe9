"""What was found, by value and by column."""

from __future__ import annotations

import polars as pl

from sdckit import joint_audit

WHOLE = pl.DataFrame({"age": [31, 35, 42, 45, 45], "sex": ["f", "m", "f", "m", "m"]})
SAFE = WHOLE.with_columns(
    age=pl.Series(["30-39", "30-39", "42", "45", None]), sex=pl.Series(["f", "m", None, None, "m"])
)


def test_a_column_has_figures_by_how_its_values_are_hidden():
    found = joint_audit(SAFE, WHOLE, tables=[["age", "sex"]])
    (columns,) = found.columns
    shown = {(one.column, one.kind): (one.hidden, one.certain, one.right, one.narrowed) for one in columns}
    assert shown == {
        ("age", "suppressed"): (1, 1, 1, 0), ("age", "in groups"): (2, 2, 2, 0), ("sex", "suppressed"): (2, 2, 2, 0),
    }  # fmt: skip
    assert {one.share for one in columns} == {1.0}
    assert found.joint_recoverable == 1


def test_what_is_certain_and_wrong_is_not_given_back():
    """A table of other figures, that fits all the same: the audit says what it says, and the original that it errs."""
    wrong = pl.DataFrame({"age": [31, 35, 42, 45], "sex": ["f", "m", "m", "m"], "n": [1, 1, 1, 2]})
    found = joint_audit(SAFE, WHOLE, tables=[wrong])
    assert (found.certain, found.right) == (5, 4)
    assert found.undone()["sex"].to_list() == ["f", "m", None, "m", "m"]


def test_a_release_with_nothing_hidden():
    found = joint_audit(WHOLE, WHOLE, tables=[["age"]])
    assert (found.hidden, found.joint_recoverable, found.columns) == (0, 0, ((),))
    assert "no value" in found.notes["hidden"]
    assert len(found.records) == 0
