"""The one form of a value, whatever file it comes from."""

from __future__ import annotations

from datetime import date, datetime

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from sdckit.data.columns import code_column
from sdckit.data.ledger.canonical import Levels, canonical


def told(values: object, dtype: object = None) -> list[str | None]:
    series = pl.Series("a", values, dtype)  # type: ignore[arg-type]
    found = canonical(code_column(nw.from_native(series, series_only=True)))
    return [None if code == 0 else found.texts[code - 1] for code in found.codes]


@pytest.mark.parametrize(
    "values",
    [[1, 2, None], [1.0, 2.0, None], ["1", "2", None]],
    ids=["integer", "number", "text"],
)
def test_one_value_has_one_text_in_every_type_of_storage(values: list[object]) -> None:
    assert told(values) == ["1", "2", None]


def test_categories_and_decimals_are_their_values() -> None:
    assert told(["x", "y", "x"], pl.Categorical) == ["x", "y", "x"]
    assert told([1.5, 2.0], pl.Decimal(10, 2)) == ["1.5", "2"]


def test_a_day_is_a_day_with_and_without_a_time() -> None:
    assert told([date(2024, 5, 1)]) == told([datetime(2024, 5, 1)]) == ["2024-05-01"]


def test_texts_that_differ_stay_apart() -> None:
    assert told(["01", "1", "1.0"]) == ["01", "1", "1.0"]


def test_wide_numbers_are_numbered_by_those_in_use() -> None:
    assert told([10**12, 5, 10**12]) == ["1000000000000", "5", "1000000000000"]


def test_counts_begin_with_the_missing_ones_and_codes_can_be_renumbered() -> None:
    series = nw.from_native(pl.Series("a", ["x", None, "y", "y"]), series_only=True)
    found = canonical(code_column(series))
    assert isinstance(found, Levels)
    assert found.counts().tolist() == [1, 1, 2]
    assert found.renumbered(("z", "y", "x")).tolist() == [3, 0, 2, 2]
