"""How the keys of a plan are grouped, brought here and matched."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from plans import collected, on_engines, opened, polars_plan
from sdckit.cells.plans.key_columns import KeyColumn, type_name
from sdckit.errors import DataError


def facts(plan, values, dtype):
    frame = opened(plan, pl.DataFrame({"k": pl.Series(values, dtype=dtype)}))
    key = KeyColumn.of("k", 3, frame.collect_schema()["k"])
    shown = collected(
        frame.with_columns(key.value.alias(key.column), key.absent.alias("gone"), key.present.alias("known"))
    )
    return key, shown


@on_engines
@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, None, 0], pl.Int32),
        ([1.5, None, float("nan")], pl.Float64),
        ([True, None, False], pl.Boolean),
        (["x", None, ""], pl.String),
        ([dt.date(2020, 2, 29), None, dt.date(1970, 1, 1)], pl.Date),
    ],
)
def test_a_value_and_what_is_missing(plan, values, dtype):
    key, shown = facts(plan, values, dtype)
    assert shown["sdckit__key3"].to_list() == [None if str(value) == "nan" else value for value in values]
    missing = [value is None or str(value) == "nan" for value in values]
    assert shown["gone"].to_list() == missing
    assert shown["known"].is_null().to_list() == missing
    assert key.is_float == (dtype == pl.Float64)
    assert not key.as_text


def test_categories_are_grouped_as_they_are_and_brought_as_text():
    key, shown = facts(polars_plan, ["x", None, "y"], pl.Categorical)
    assert key.as_text
    assert shown["sdckit__key3"].dtype == pl.Categorical
    assert (shown["known"].dtype, shown["known"].to_list()) == (pl.String, ["x", None, "y"])


@on_engines
def test_lists_and_structures_are_no_keys(plan):
    for values in ([[1], [2]], [{"q": 1}, {"q": 2}]):
        schema = opened(plan, {"k": values}).collect_schema()
        with pytest.raises(
            DataError, match=r"column 'k' holds (List|Struct): a variable needs one plain value"
        ):
            KeyColumn.of("k", 0, schema["k"])


def test_the_name_of_a_type_tells_no_value_of_it():
    kind = pl.Enum(["secret", "other"])
    schema = opened(polars_plan, pl.DataFrame({"e": pl.Series(["secret"], dtype=kind)})).collect_schema()
    assert "secret" in str(schema["e"])
    assert type_name(schema["e"]) == "Enum"
    with pytest.raises(DataError, match="holds Struct:"):
        KeyColumn.of("s", 0, opened(polars_plan, pl.DataFrame({"s": [{"q": 1}]})).collect_schema()["s"])
