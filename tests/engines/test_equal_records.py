"""Copied records of files that fit neither as cells nor as columns: counted by their engine, the figures of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from engines.comparing import assert_same_figures
from engines.conftest import duckdb_relation, polars_plan
from plans import new_connection
from sdckit.cells.plans import count_cells, lazy
from sdckit.data.frames import is_lazy
from sdckit.errors import DataError

HOME = sdc.Scenario(keys=["a"], household="home")


@st.composite
def files(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Original, release and control: whole numbers of two types, amounts shown with fewer decimals, texts, dates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(20, 40))

    def people(m: int) -> pl.DataFrame:
        columns = {
            "a": rng.integers(-1, 3, m),
            "b": rng.choice(["x", "y", "naïve", ""], m),
            "c": rng.choice([-0.0, 0.0, 0.25, 0.35, 2.5, np.nan], m),
            "d": rng.integers(0, 3, m).astype("datetime64[D]"),
            "home": rng.integers(0, 9, m),
        }
        frame = pl.DataFrame(columns).with_columns(e=pl.Series(rng.random(m) < 0.5))
        gaps = {name: pl.Series(rng.random(m) < 0.1) for name in frame.columns}
        return frame.with_columns(
            pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
        )

    original = people(n)
    release = pl.concat([original[: n // 2], people(n // 2)])
    amounts = pl.col("c").round(1) if draw(st.booleans()) else pl.col("c")
    release = release.with_columns(amounts, pl.col("a").cast(draw(st.sampled_from([pl.Int32, pl.Float64]))))
    if draw(st.booleans()):  # no record is equal, and one column has no value of the original
        release = release.with_columns(home=pl.lit(1000, pl.Int64))
    return original, release.with_columns(pl.col("b").cast(pl.Categorical)), people(n)


def on_engine(make: Any, frames: tuple[pl.DataFrame, ...]) -> list[Any]:
    connection = new_connection()
    return [make(frame) if make is polars_plan else make(frame, connection) for frame in frames]


def without_room(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(count_cells, "MOST_CELLS", 3)
    patch.setattr(lazy, "COLLECT_LIMIT", 9)


def assert_same_but_for_moved(expected: sdc.CopiedRecords, counted: sdc.CopiedRecords) -> None:
    """The same figures; numbers that moved are not looked at on an engine, and the result says so."""
    figures = [result.to_dict()["figures"] for result in (expected, counted)]
    for moved in ("moved_copies", "moved_copies_by_chance"):
        figures[0].pop(moved)
        assert figures[1].pop(moved) is None
    assert_same_figures(*figures)
    assert "not looked at where the columns stay on an engine" in counted.notes["moved_copies"]
    assert (1.0, counted.notes["moved_copies"]) in counted.doubtful


@pytest.mark.parametrize("make", [polars_plan, duckdb_relation])
@settings(max_examples=6, deadline=None)
@given(files(), st.booleans(), st.sampled_from([None, HOME]))
def test_figures_are_those_of_memory(make: Any, frames: Any, with_control: bool, scenario: Any) -> None:
    expected = sdc.copied_records(*frames[:2], control=frames[2] if with_control else None, scenario=scenario)
    original, release, control = on_engine(make, frames)
    with pytest.MonkeyPatch.context() as patch:
        without_room(patch)
        counted = sdc.copied_records(original, release, control=control if with_control else None, scenario=scenario)
    assert is_lazy(counted.pair.original)
    assert_same_but_for_moved(expected, counted)
    notes = {name: words for name, words in counted.notes.items() if name != "moved_copies"}
    assert (notes, counted.left_out, counted.variables) == (expected.notes, expected.left_out, expected.variables)


def test_columns_that_do_not_hash_alike_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": [*range(11), 10]})
    without_room(monkeypatch)
    with pytest.raises(DataError, match="needs 12 records of 1 columns in memory"):
        sdc.copied_records(frame.lazy(), frame.cast(pl.String).lazy())
    assert sdc.copied_records(frame.lazy(), frame.lazy()).copies == 10 / 12


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
def test_spark_counts_the_same(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    amounts, days = [0.25, 0.35, 2.5, -0.0, None], np.arange(5).astype("datetime64[D]")
    original = pl.DataFrame({"a": [1, 2, 3, 3, 5], "b": ["x", "y", None, "z", "z"], "c": amounts, "d": days})
    release = original[:4].with_columns(pl.col("c").round(1), pl.col("a").cast(pl.Float64))
    expected = sdc.copied_records(original, release)
    without_room(monkeypatch)
    counted = sdc.copied_records(*(spark.createDataFrame(frame.to_arrow()) for frame in (original, release)))
    assert_same_but_for_moved(expected, counted)
    assert counted.left_out == expected.left_out
