"""Synthesis of a plan gives what it gives in memory, as a plan of the same engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from plans import on_engines, polars_plan
from sdckit.errors import ColumnError, DataError
from sdckit.protect import on_plans

rng = np.random.default_rng(5)
N = 120
FILE = pl.DataFrame(
    {
        "name": [f"n{i}" for i in range(N)],
        "home": rng.integers(0, 40, N),
        "town": rng.choice(["Wels", "Graz", "Ä"], N),
        "size": pl.Series(rng.choice(["S", "M", "L"], N), dtype=pl.Enum(["S", "M", "L", "XL"])),
        "age": rng.integers(15, 80, N).astype(np.int32),
        "income": np.round(rng.lognormal(7, 1, N), 2),
        "born": rng.integers(0, 9000, N).astype("datetime64[D]"),
        "flag": rng.choice([True, False], N),
    }
).with_columns(pl.when(pl.col("age") > 20).then("income"), tenure=pl.col("home") % 3)
VARIABLES = ["town", "size", "age", "income", "born", "flag"]


def rows(plan: Any) -> pl.DataFrame:
    """The records of a plan."""
    found: pl.DataFrame = plan.collect() if isinstance(plan, pl.LazyFrame) else plan.pl()
    return found


@on_engines
@pytest.mark.parametrize(
    "how",
    [
        {"columns": VARIABLES},
        {"columns": ["income", "age"], "order": ["age", "income"], "models": "normal"},
        {"columns": ["income"], "predictors": ["size", "town"], "smoothing": 1.0},
        {"columns": ["income"], "predictors": {"income": "~ age * size"}, "models": "normal", "proper": True},
        {"columns": ["town"], "rows": "flag", "fit_to": "all"},
        {"columns": ["town"], "rows": np.arange(N) % 3 == 0, "predictors": ["age"]},
        {"columns": ["tenure", "age"], "household": "home"},
        {
            "columns": ["age", "tenure"],
            "predictors": [],
            "household": "home",
            "household_variables": ["tenure"],
        },
        {"columns": ["size", "born"], "m": 3},
    ],
    ids=lambda one: "-".join(map(str, one)),
)
def test_the_values_are_those_of_memory(plan: Any, how: dict[str, Any]) -> None:
    here, there = sdc.synthesize(FILE, seed=3, **how), sdc.synthesize(plan(FILE), seed=3, **how)
    alike(here, there)
    assert sum(here.change.changed.values()) > 0


@on_engines
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("n", [7, N, 500])
def test_files_of_another_size(plan: Any, n: int, m: int) -> None:
    survey = FILE.drop("name").with_columns(land=pl.lit("here"))
    here, there = (sdc.synthesize(one, n=n, m=m, seed=3) for one in (survey, plan(survey)))
    alike(here, there)
    assert "copies" in there.change.notes


def alike(here: Any, there: Any) -> None:
    """The same records, in plans, and the same log."""
    several = isinstance(here.data, list)
    assert isinstance(there.data, list) is several
    for one, other in zip(*((x.data if several else [x.data]) for x in (here, there)), strict=True):
        assert not isinstance(other, pl.DataFrame)
        expected = one.with_columns(pl.col(pl.Enum).cast(pl.String))
        assert rows(other).schema == expected.schema
        assert rows(other).equals(expected)
    assert there.change.to_dict() == here.change.to_dict()
    assert there.change.secret["seed"] == here.change.secret["seed"]


@on_engines
def test_what_does_not_fit_is_told(plan: Any) -> None:
    survey = plan(FILE)
    for how, kind, says in [
        ({"columns": ["twon"]}, ColumnError, "no column 'twon' in the data; .*town"),
        ({"columns": ["town"], "predictors": ["aeg"]}, ColumnError, "no column 'aeg' in the data; .*age"),
        ({"columns": ["town"], "household": "hoem"}, ColumnError, "no column 'hoem' in the data; .*home"),
        ({"columns": ["name"]}, DataError, "would hand real ones out"),
        ({"columns": ["town"], "n": 5}, DataError, "n= makes 5 records, and 'name' is not drawn"),
        ({"columns": ["town"], "rows": [True] * 3}, DataError, "or the name of the column|3 flags"),
    ]:
        with pytest.raises(kind, match=says):
            sdc.synthesize(survey, **how)
    with pytest.raises(DataError, match="no records"):
        sdc.synthesize(plan(FILE.head(0)))
    lists = pl.LazyFrame({"many": [[1], [2]], "b": ["x", "y"]})
    with pytest.raises(DataError, match="column 'many' holds List"):
        sdc.synthesize(lists, columns=["b"])


def test_more_than_a_plan_takes_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.cells.plans.changing import Changing

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("columns were brought")

    monkeypatch.setattr(Changing, "brought", work)
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 5 * N)
    for how, says in [
        ({}, "brings 9 columns of 120 records here"),
        (
            {"columns": ["town"], "predictors": ["age"], "m": 6},
            "makes 1 columns of 120 records for each of 6 files",
        ),
    ]:
        with pytest.raises(DataError, match=says):
            sdc.synthesize(polars_plan(FILE), **how)
    with pytest.raises(AssertionError, match="were brought"):
        sdc.synthesize(polars_plan(FILE), columns=["town"], predictors=["age"], m=5)


@on_engines
def test_the_engine_writes_it(plan: Any, tmp_path: Any) -> None:
    made = sdc.synthesize(plan(FILE), columns=VARIABLES, seed=1)
    file = sdc.write_file(made.data, tmp_path / "made.parquet")
    expected = sdc.synthesize(FILE, columns=VARIABLES, seed=1).data.with_columns(
        pl.col(pl.Enum).cast(pl.String)
    )
    assert pl.read_parquet(file).equals(expected)
    assert [one.name for one in tmp_path.iterdir()] == ["made.parquet"]
