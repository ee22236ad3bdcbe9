"""The object that is given back."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc

FRAME = pl.DataFrame({"sex": [1, 2] * 20, "item": [1, 2, 3, 4] * 10, "income": [1, 2, 3, 3] * 10})


def test_guesses_are_found_by_column_and_by_role():
    found = sdc.guess_roles(FRAME)
    assert [guess.column for guess in found] == FRAME.columns
    assert len(found) == 3
    assert found["income"].role == "sensitive"
    assert found.of("key") == ("sex",)
    assert found.unconfirmed == ("item", "income")
    with pytest.raises(sdc.ColumnError, match="there is no column 'incom'; did you mean 'income'"):
        found["incom"]


def test_it_prints_a_line_for_each_column():
    lines = str(sdc.guess_roles(FRAME)).splitlines()
    assert len(lines) == 3
    assert lines[0].split()[:3] == ["sex", "key", "sure"]
