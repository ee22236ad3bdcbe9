"""`recompute`: columns by their formulas, in every kind of frame."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import DataError, ScenarioError

PAY = pl.DataFrame(
    {
        "wage": [1100, 2000, None, 70],
        "rest": [10, 20, 30, 5],
        "total": [1110, 2120, 530, None],
        "note": ["a", "b", "c", "d"],
    }
)
ENGINES: dict[str, Any] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "nullable": lambda frame: frame.to_pandas().convert_dtypes(),
    "arrow": lambda frame: frame.to_arrow(),
}


def back(data: Any) -> pl.DataFrame:
    made = pl.from_arrow(data) if type(data).__module__.startswith("pyarrow") else data
    return made if isinstance(made, pl.DataFrame) else pl.from_pandas(made)


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree(engine: str) -> None:
    given = ENGINES[engine](PAY)
    data, change = sdc.recompute(given, derived={"total": "wage + rest"})
    assert type(data) is type(given)
    assert back(data)["total"].to_list() == [1110, 2020, None, 75]
    assert change.changed == {"total": 3}
    assert back(data).drop("total").equals(back(given).drop("total"))
    assert back(given)["total"].to_list() == [1110, 2120, 530, None]
    if engine in ("polars", "nullable", "arrow"):
        assert back(data)["total"].dtype == pl.Int64
    assert change.notes == ({} if engine != "pandas" else change.notes)


def test_whole_numbers_stay_whole_where_they_can() -> None:
    half, change = sdc.recompute(PAY, derived={"total": "rest / 4"})
    assert half["total"].to_list() == [2.5, 5.0, 7.5, 1.25]
    assert change.notes == {"type": "total was Int64, is Float64"}
    whole, change = sdc.recompute(PAY, derived={"total": "round(rest / 4)"})
    assert whole["total"].to_list() == [2, 5, 8, 1]
    assert change.notes == {}


def test_what_is_right_already_stays() -> None:
    frame = pl.DataFrame({"a": [0.1, 0.5], "b": [0.2, 0.5], "sum": [0.3, 2.0]})
    data, change = sdc.recompute(frame, derived={"sum": "a + b"})
    assert data["sum"].to_list() == [0.3, 1.0]
    assert change.changed == {"sum": 1}
    large = pl.DataFrame({"a": [2**60 + 1, 4], "sum": [2**60 + 1, 5]})
    assert sdc.recompute(large, derived={"sum": "a + 0"}).data["sum"].to_list() == [2**60 + 1, 4]


def test_decimals_keep_their_digits() -> None:
    frame = pl.DataFrame({"a": [1, 2], "sum": [Decimal("1.00"), Decimal("7.25")]})
    data, _ = sdc.recompute(frame, derived={"sum": "a / 4"})
    assert data["sum"].to_list() == [Decimal("0.25"), Decimal("0.50")]


def test_columns_that_follow_from_each_other() -> None:
    frame = PAY.with_columns(annual=pl.lit(0), all=pl.lit(1.0))
    data, change = sdc.recompute(
        frame, derived={"all": "annual + total", "annual": "12 * total", "total": "wage + rest"}
    )
    assert data["all"].to_list() == [13 * 1110.0, 13 * 2020.0, None, 13 * 75.0]
    assert [*change.changed] == ["total", "annual", "all"]
    assert change.parameters == {"derived": {"total": "wage + rest", "annual": "12 * total", "all": "annual + total"}}


@pytest.mark.parametrize(
    ("derived", "error", "says"),
    [
        ({"total": "wagge"}, ScenarioError, "derived: total: no column 'wagge' in the data; did you mean 'wage'"),
        ({"totl": "wage"}, ScenarioError, "derived: totl: no column 'totl' in the data; did you mean 'total'"),
        ({"total": "note + 1"}, DataError, "'note'"),
        ({"note": "wage + 1"}, DataError, "'note'"),
    ],
)
def test_what_is_refused(derived: dict[str, str], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        sdc.recompute(PAY, derived=derived)
