"""A kernel over the records of a plan: the same numbers on every engine, wherever the records are."""

from __future__ import annotations

from types import SimpleNamespace

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from plans import FEW, collected, duckdb_relation, on_engines, opened, polars_plan
from sdckit.cells.plans.batches import map_columns
from sdckit.errors import DataError

positive = st.floats(1e-300, 1e300)


def ratio(a, b):
    return np.sqrt(a) / (1 + b)


@on_engines
@FEW
@given(pairs=st.lists(st.tuples(positive, positive), min_size=1, max_size=30))
def test_as_on_arrays(plan, pairs):
    a, b = np.array(pairs).T
    frame = opened(plan, {"a": a, "b": b, "kept": [str(x) for x in a]})
    found = collected(map_columns(frame, "out", ratio, ["a", "b"]))
    assert found.columns == ["a", "b", "kept", "row", "out"]
    assert found["kept"].to_list() == [str(x) for x in a]
    np.testing.assert_allclose(found["out"].to_numpy(), ratio(a, b), rtol=1e-12)


@on_engines
def test_whole_numbers_reach_the_kernel_as_floats(plan):
    seen = []

    def kernel(f):
        seen.append(f.dtype)
        return 1 / f

    frame = opened(plan, {"f": [1, 2, 4, 2]})
    assert collected(map_columns(frame, "r", kernel, ["f"]))["r"].to_list() == [1.0, 0.5, 0.25, 0.5]
    assert set(seen) == {np.dtype(np.float64)}


@on_engines
def test_inputs_in_the_order_named(plan):
    frame = opened(plan, {"a": [3.0, 5.0], "b": [1.0, 2.0]})
    assert collected(map_columns(frame, "d", np.subtract, ["b", "a"]))["d"].to_list() == [-2.0, -3.0]


@on_engines
def test_the_result_is_a_plan_of_the_same_engine(plan):
    frame = opened(plan, {"a": [3.0]})
    mapped = map_columns(frame, "b", np.sqrt, ["a"])
    assert isinstance(mapped, nw.LazyFrame)
    assert mapped.implementation == frame.implementation


def test_polars_runs_nothing_before_it_is_asked():
    def never(values):
        raise AssertionError("the plan was run")

    mapped = map_columns(opened(polars_plan, {"a": [3.0]}), "b", never, ["a"])
    assert mapped.collect_schema()["b"] == nw.Float64


def test_a_sum_that_wavers_from_run_to_run_finds_its_result():
    # DuckDB runs the plan twice, for the distinct inputs and for the records; threads add up in another order
    values = np.exp(np.arange(1, 200) / 7)
    relation = duckdb_relation(pl.DataFrame({"row": range(len(values)), "exact": values}))
    wavering = nw.from_native(relation.project("row, exact * (1 + 1e-13 * (random() - 0.5)) as a"))
    found = collected(map_columns(wavering, "b", np.reciprocal, ["a"]))
    assert found["b"].null_count() == 0
    assert len(found) == len(values)
    np.testing.assert_allclose(found["b"].to_numpy(), 1 / values, rtol=1e-12)


def test_duckdb_hands_over_distinct_inputs_only():
    lengths = []

    def kernel(a):
        lengths.append(len(a))
        return a + 1

    frame = opened(duckdb_relation, {"a": [1.0, 2.0] * 500})
    assert collected(map_columns(frame, "b", kernel, ["a"]))["b"].to_list() == [2.0, 3.0] * 500
    assert sum(lengths) <= 4  # 1000 records, two different inputs, perhaps asked for twice


def test_another_engine_is_refused_by_name():
    frame = SimpleNamespace(implementation=nw.Implementation.DASK)
    with pytest.raises(DataError, match="plans of dask are not supported; collect the data first"):
        map_columns(frame, "b", np.sqrt, ["a"])


@on_engines
def test_a_column_that_stood_there_is_not_touched(plan):
    frame = opened(plan, pl.DataFrame({"a": [4.0, 9.0], "none": [None, "x"]}))
    found = collected(map_columns(frame, "b", np.sqrt, ["a"]))
    assert found.select("a", "none", "b").rows() == [(4.0, None, 2.0), (9.0, "x", 3.0)]
