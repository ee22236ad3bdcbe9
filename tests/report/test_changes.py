from __future__ import annotations

import pytest

from sdckit.report.changes import protected_change


@pytest.mark.parametrize(("n", "text"), [(49, "<50"), (50, "50"), (1003, "1,005")])
def test_the_number_of_records(n: int, text: str) -> None:
    assert protected_change(n, {}, {})["n"]["text"] == text


def test_counts_in_notes_are_protected() -> None:
    note = protected_change(400, {"a": 3}, {"a": "3 values of 2 records"})["notes"]["a"]
    assert "3 values" not in note
    assert "2 records" not in note
