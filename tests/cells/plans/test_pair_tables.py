"""Tables of plans that their engines count: the same as of the records one by one."""

from __future__ import annotations

import itertools
from collections import Counter

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from plans import FEW, on_engines
from sdckit.cells.pair import open_files
from sdckit.cells.plans import pair_tables as module
from sdckit.cells.plans.pair_tables import count_sets, in_passes, mean_of, pair_tables
from sdckit.errors import ColumnError, DataError

VALUES = {
    "sex": st.sampled_from(["f", "m", None]),
    "age": st.sampled_from([1, 2, 30, None]),
    "pay": st.sampled_from([-0.0, 0.0, 1.5, 2.5, 9.0, float("nan"), None]),
}
TYPES = {"sex": pl.String, "age": pl.Int64, "pay": pl.Float64}
FILES = st.lists(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=12), min_size=2, max_size=3)


def tables_of(plan, files, names=tuple(TYPES)):
    frames = [plan(pl.DataFrame(rows, schema=TYPES)) for rows in files]
    return pair_tables(open_files(frames[0], frames[1:]), names)


def printed(value):
    """A value as the labels print it; the two zeros are one."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "(missing)"
    return f"{value + 0.0:g}" if isinstance(value, float) else str(value)


@on_engines
@FEW
@given(files=FILES)
def test_every_table_is_that_of_the_records(plan, files):
    tables = tables_of(plan, files)
    codings = [tables.coding(name) for name in TYPES]
    labels = {coding.name: [label.removesuffix(".0") for label in coding.labels()] for coding in codings}
    sets = [list(some) for k in (1, 2, 3) for some in itertools.combinations(codings, k)]
    for of_set, counted in zip(sets, tables.count(sets), strict=True):
        for file, rows in enumerate(files):
            words = [
                [labels[coding.name][code] for code in column[file]]
                for coding, column in zip(of_set, counted.columns, strict=True)
            ]
            found = dict(zip(zip(*words, strict=True), counted.sizes[file].tolist(), strict=True))
            assert found == Counter(tuple(printed(row[coding.name]) for coding in of_set) for row in rows)


@on_engines
@FEW
@given(files=FILES)
def test_classes_are_cut_on_the_engine_as_here(plan, files):
    files = [[*rows, {"sex": "f", "age": 1, "pay": 1.5}] for rows in files]
    tables = tables_of(plan, files)
    coding = tables.classes("pay", 3)
    (counted,) = tables.count([[coding]])
    for file in range(len(files)):
        by_engine = np.bincount(counted.columns[0][file], counted.sizes[file], coding.n_levels + 1)
        assert by_engine.tolist() == coding.counts[file].tolist()
    assert coding.counts.sum(axis=1).tolist() == [len(rows) for rows in files]


def holds(monkeypatch, n):
    """Let so many cells fit here, of whatever keys."""
    for name in ("most_cells", "cells_within"):
        monkeypatch.setattr(module, name, lambda *_: n)


@on_engines
def test_what_does_not_fit_in_one_pass_is_counted_in_several(plan, monkeypatch):
    rows = [{"sex": sex, "age": age, "pay": 1.0} for sex in "fm" for age in (1, 2, 30)]
    whole = tables_of(plan, [rows, rows[:4]])
    sets = [[whole.coding("sex"), whole.coding("age")], [whole.coding("sex")], [whole.coding("age")]]
    expected = whole.count(sets)
    passes = []
    counted = module.count_sets
    whole.counted.clear()
    holds(monkeypatch, 7)
    monkeypatch.setattr(
        module, "count_sets", lambda frame, columns, some: passes.append(some) or counted(frame, columns, some)
    )
    for before, after in zip(expected, whole.count(sets), strict=True):
        assert [size.sum() for size in before.sizes] == [size.sum() for size in after.sizes]
    assert len(passes) == 4
    whole.count(sets)
    assert len(passes) == 4
    whole.counted.clear()
    holds(monkeypatch, 3)
    with pytest.raises(DataError, match="2 columns have 6 different combinations"):
        whole.count(sets)
    with pytest.raises(DataError, match="1 columns have 4 different"):
        tables_of(plan, [rows, rows[:4]])


def test_passes_hold_what_fits(monkeypatch):
    holds(monkeypatch, 10)
    assert list(in_passes([["a"], ["b"], ["c"]], [4, 6, 1])) == [[0, 1], [2]]
    assert list(in_passes([], [])) == []


@on_engines
def test_sums_come_with_their_groups(plan):
    frame = nw.from_native(plan(pl.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 2], "w": [1.0, None, 4.0]})))
    first, second = count_sets(
        frame, {"g": nw.col("a"), "h": nw.col("b")}, [["g"], ["h"]], {"v": nw.col("w")},
        {"s": ("sum", "v"), "m": ("max", "v")},
    )  # fmt: skip
    assert sorted(zip(*first.to_pydict().values(), strict=True)) == [("x", 2, 1.0, 1.0), ("y", 1, 4.0, 4.0)]
    assert sorted(zip(*second.to_pydict().values(), strict=True)) == [(1, 1, 1.0, 1.0), (2, 2, 4.0, 4.0)]


@on_engines
def test_values_are_brought_once_and_checked(plan):
    rows = [{"sex": "f", "age": 1, "pay": float("inf")}, {"sex": "m", "age": 2, "pay": None}]
    frame = plan(pl.DataFrame(rows, schema=TYPES))
    opened = open_files(frame, [frame])
    tables = pair_tables(opened, ["sex", "pay"])
    assert pair_tables(opened, ["pay"]) is tables
    with pytest.raises(DataError, match=r"^the original: numeric 'pay' is infinite in some records$"):
        tables.numbers("pay")
    with pytest.raises(ColumnError, match="the original has no column 'wage'"):
        pair_tables(opened, ["wage"])
    empty = plan(pl.DataFrame([], schema=TYPES))
    with pytest.raises(DataError, match="the release: the data has no records"):
        pair_tables(open_files(frame, [empty]), ["sex"])


def test_a_mean_is_as_near_as_floats_allow():
    values = 1e9 + np.array([0.0, 1.0])
    assert mean_of(values, np.array([1.0, 3.0])) == 1e9 + 0.75
