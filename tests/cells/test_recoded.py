"""What was done to a column is a plain statement that cannot be changed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import polars as pl
import pytest

from sdckit.cells.pair import open_pair
from sdckit.cells.recoded import Recoded


def test_it_is_a_statement() -> None:
    one = Recoded("age", "numbers in bands", "log")
    assert one == Recoded("age", "numbers in bands", "log")
    with pytest.raises(FrozenInstanceError):
        one.kind = "values in groups"  # type: ignore[misc]


def test_files_opened_as_they_are_were_not_recoded() -> None:
    frame = pl.DataFrame({"x": ["a", "b"]})
    pair = open_pair(frame, frame, categories={"keys": ["x"]})
    assert pair.raw is None
    assert pair.recoded == ()
