"""`Cells`: figures per cell, per household and per record, in the caller's order."""

from __future__ import annotations

import math
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import brute
import sdckit as sdc
from draw import files, quiet
from sdckit import as_cells
from sdckit.cells.table import MAX_LEVELS, CellValues, PartedValues, check_result_names, count_levels, group_column
from sdckit.errors import ColumnError, DataError, SdcWarning

FRAME = pl.DataFrame(
    {
        "sex": ["f", "m", None, "f", "m", "f"],
        "age": [30, 40, 30, 30, 40, None],
        "w": [3.0, 2.0, 4.0, 5.0, 6.0, 7.0],
        "hh": [1, 1, 2, 2, 3, None],
        "row": list("abcdef"),
    }
)


@pytest.fixture
def cells():
    return as_cells(FRAME, keys=["sex", "age"], weight="w", id="row")


def test_what_it_holds(cells):
    assert (cells.n, cells.n_cells, cells.keys) == (6, 4, ("sex", "age"))
    assert cells.n_missing == (1, 1)
    assert cells.has_wildcards
    assert cells.missing_rule == "a missing key value may stand for any value"
    assert set(cells.columns) == {
        "cell_size", "sample_frequency", "strict_frequency", "population_frequency",
    }  # fmt: skip
    assert not any(name in repr(cells) for name in ("source", "table", "group_columns", "memo"))


def test_no_missing_value_needs_no_rule():
    complete = as_cells(FRAME, keys=["age"], missing="category")
    assert not complete.has_wildcards
    assert complete.missing_rule == "a missing key value is a category of its own"
    with quiet():
        assert as_cells(FRAME.drop_nulls(), keys=["sex", "age"]).missing_rule == "no key value is missing"


def test_records_in_the_caller_s_order(cells):
    records = cells.records(["cell_size", "sample_frequency", "population_frequency", "sample_unique"], prefix="x_")
    assert records.to_dict(as_series=False) == {
        "row": list("abcdef"),
        "x_cell_size": [2, 2, 1, 2, 2, 1],
        "x_sample_frequency": [4, 2, 4, 4, 2, 4],
        "x_population_frequency": [19.0, 8.0, 19.0, 19.0, 8.0, 19.0],
        "x_sample_unique": [False] * 6,
    }


def test_a_figure_per_cell(cells):
    more = cells.with_column("twice", lambda f: 2 * f, "sample_frequency")
    whole = cells.with_column("half", lambda f: f / 2, "sample_frequency", whole=True)
    assert more.records(["twice"])["twice"].to_list() == [8, 4, 8, 8, 4, 8]
    assert whole.columns["half"].dtype == np.int64
    assert "twice" not in cells.columns
    assert more.values("twice").n == 6
    assert more.values("twice").total() == 40
    assert cells.with_cells({"zero": np.zeros(4)}).values("zero").total() == 0


def test_a_figure_per_household(cells):
    with pytest.warns(match="1 record has no household id in 'hh': each is a household of its own"):
        more = cells.with_household(
            "sum", "sample_frequency", "hh", before=lambda f: f * 10.0, after=lambda sums: sums + 1
        )
    assert more.records(["cell_size", "sum"])["sum"].to_list() == [61, 61, 81, 81, 21, 41]
    assert (more.values("sum").n, more.values("sum").total()) == (6, 61 * 2 + 81 * 2 + 21 + 41)
    of_row, n_households = more.household_of_row("hh")  # the second time there is no second warning
    assert n_households == 4
    ids = more.with_groups("hh", {"number": np.arange(4.0)}).records(["number"])["number"].to_list()
    assert ids == of_row.tolist()
    assert cells.weight_of_row().tolist() == FRAME["w"].to_list()
    assert as_cells(FRAME, keys=["age"]).weight_of_row() is None


def test_households_by_two_columns_do_not_mix():
    frame = FRAME.select("sex", "age", hh=pl.Series([1, 1, 2, 2, 3, 3]))
    frame = frame.with_columns(pl.Series("hh sizes", list("aaabbb")))
    cells = as_cells(frame, keys=["age"])
    same = {"before": lambda f: f * 1.0, "after": lambda sums: sums}
    one, two = (cells.with_household("x", "cell_size", name, **same) for name in ("hh", "hh sizes"))
    assert (one.values("x").size.tolist(), two.values("x").size.tolist()) == ([2, 2, 2], [3, 3])


def test_other_columns_must_exist(cells):
    for role, call in (("household", cells.household_of_row), ("sensitive", cells.count_levels)):
        with pytest.raises(ColumnError, match=f"{role}: no column 'helth' in the data; there are: sex, age"):
            call("helth")


def test_rows_beyond_a_limit(cells):
    risky = cells.with_cells({"risk": np.where(cells.table.size == 1, 0.9, 0.1)})
    found = risky.rows_where(3, 0.5, 3)
    assert [one["row"] for one in found] == [3, 6, 2]  # the riskiest first
    assert found[0]["keys"] == {"sex": None, "age": 30}
    assert (found[0]["sample_frequency"], found[0]["risk"], found[2]["risk"]) == (4, 0.9, 0.1)
    assert [one["row"] for one in risky.rows_where(3, None, 10)] == [2, 5]
    assert risky.rows_where(1, None, 10) == []
    assert (risky.count_where(3, 0.5), risky.count_where(3, None), risky.count_where(1, None)) == (4, 2, 0)


def test_the_kind_of_a_key(cells):
    assert (cells.kind("sex"), cells.kind("age")) == ("text", "integer")


def test_cells_by_size(cells):
    assert cells.count_cells([1, 2, 3, 1 << 62]) == [2, 2, 0]


@given(files())
def test_as_categories_is_tabulating_with_categories(file):
    for known in ({"weight": "w"}, {"sampling_fraction": 0.1}, {}):
        with quiet():
            wild = as_cells(file.frame(), keys=file.keys, missing="wildcard", **known).as_categories()
            anew = as_cells(file.frame(), keys=file.keys, missing="category", **known)
        assert wild.rules == wild.roles.rules == anew.rules
        assert set(wild.columns) == set(anew.columns)
        for name, values in anew.columns.items():
            np.testing.assert_allclose(wild.columns[name], values, rtol=1e-12)


def test_the_levels_of_a_key(cells):
    assert cells.level_counts("sex") == ([("f", 3), ("m", 2)], 2, 0)
    many = pl.DataFrame({"k": list(range(300)) + [7] * 5, "b": [1, 2] * 152 + [1]})
    pairs, n_levels, large = as_cells(many, keys=["k", "b"]).level_counts("k")
    assert (len(pairs), n_levels, large) == (MAX_LEVELS, 300, 1)
    assert pairs[0] == ("7", 6)


@given(st.lists(st.sampled_from(["x", "y", None]), min_size=1, max_size=20).filter(any))
def test_the_levels_add_up(values):
    with quiet():
        found = as_cells(pl.DataFrame({"k": values}), keys=["k"])
    pairs, n_levels, large = found.level_counts("k")
    counts = {value: values.count(value) for value in {*values} - {None}}
    assert dict(pairs) == counts
    assert (n_levels, large) == (len(counts), sum(count >= 5 for count in counts.values()))


@pytest.mark.parametrize("taken", ["risk", "Risk", "RISK"])
def test_a_name_that_is_taken(taken):
    with pytest.raises(ColumnError, match=f"already has a column '{taken}', .* prefix="):
        check_result_names(["sex", taken], ["sample_frequency", "risk"])
    check_result_names(["sex", taken], ["sample_frequency", "new_risk"])


def test_an_id_named_as_a_result():
    frame = FRAME.rename({"row": "Cell_Size"})
    found = as_cells(frame, keys=["age"], id="Cell_Size")
    with pytest.raises(ColumnError, match="prefix="):
        found.records(["cell_size"])
    assert found.records(["cell_size"], prefix="p_").columns == ["Cell_Size", "p_cell_size"]


@pytest.mark.parametrize("native", [FRAME.to_pandas(), FRAME.to_arrow()], ids=["pandas", "pyarrow"])
def test_the_id_comes_along_on_every_engine(native):
    records = as_cells(native, keys=["age"], id="row").records(["cell_size"])
    assert type(records) is type(native)
    rows = records["row"].tolist() if isinstance(records, pd.DataFrame) else records["row"].to_pylist()
    assert rows == list("abcdef")
    assert isinstance(records, (pd.DataFrame, pa.Table))


# Levels within cells, counted from rows that stand for records.


def column(values, dtype=pl.String):
    return nw.from_native(pl.Series("s", values, dtype=dtype), series_only=True)


def test_an_order_that_is_declared():
    for dtype, ordered in ((pl.Enum(["q", "p"]), True), (pl.Categorical(), False), (pl.String, False)):
        found = count_levels(np.zeros(2, np.int64), column(["p", "q"], dtype), 1)
        assert found.ordered is ordered
        assert sorted(found.coded.labels(found.level)) == ["p", "q"]


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["p", "q", None]), st.integers(1, 5)), min_size=1))
def test_a_row_of_several_records_is_several_rows(rows):
    rows = [*rows, *((cell, "p", 1) for cell in range(4))]  # every cell has a record
    cell, values, records = (list(one) for one in zip(*rows, strict=True))
    found = count_levels(np.array(cell), column(values), 4, np.array(records))
    alone = [(c, v) for c, v, n in rows for _ in range(n)]
    expected = count_levels(np.array([c for c, _ in alone]), column([v for _, v in alone]), 4)
    assert found.edges.tolist() == expected.edges.tolist()
    assert found.level.tolist() == expected.level.tolist()
    assert found.count.tolist() == expected.count.tolist()
    assert found.missing == expected.missing
    assert found.count.sum() == len(alone)


def test_a_variable_without_any_value():
    with pytest.raises(DataError, match="sensitive variable 's' has no value in any record; leave it out"):
        count_levels(np.zeros(2, np.int64), column([None, None]), 1)


# Figures per record, held per cell, against the same figures of the records written out.


values_cells = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 7.5]), st.integers(1, 5)), min_size=1, max_size=12
)


def both(pairs):
    values, size = np.array([v for v, _ in pairs]), np.array([n for _, n in pairs])
    return CellValues(values, size), np.repeat(values, size)


@given(values_cells, st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_as_if_written_out(pairs, shares):
    held, rows = both(pairs)
    assert held.n == len(rows)
    assert held.total() == pytest.approx(rows.sum(), rel=1e-12)
    assert held.extremes() == (rows.min(), rows.max())
    limits = [0.1, 0.3, 7.5]
    assert held.count_below(limits) == [int((rows < limit).sum()) for limit in limits]
    assert held.count_above(limits) == [int((rows > limit).sum()) for limit in limits]
    assert held.quantiles(shares) == pytest.approx(np.quantile(rows, shares).tolist(), rel=1e-12)
    median = np.median(rows)
    assert held.median_and_deviation() == pytest.approx((median, np.median(np.abs(rows - median))))


@given(values_cells, st.floats(0, 60))
def test_the_cap(pairs, total):
    held, rows = both(pairs)
    assert held.cap_for(total) == pytest.approx(brute.cap(rows.tolist(), total), nan_ok=True)


def test_no_cap_is_low_enough():
    assert math.isnan(CellValues(np.array([0.5]), np.array([4])).cap_for(2.0))
    assert CellValues(np.array([0.5]), np.array([4])).cap_for(2.1) == 0.5


@given(values_cells)
def test_the_distribution_is_sorted_and_complete(pairs):
    held, rows = both(pairs)
    values, counts = held.distribution()
    expected = np.unique(rows, return_counts=True)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(counts, expected[1])
    assert counts.dtype == np.int64


@given(values_cells, values_cells, st.lists(st.floats(0, 1), min_size=1, max_size=3), st.floats(0, 60))
def test_parts_are_as_one(first, second, shares, total):
    (a, _), (b, _), (whole, _) = both(first), both(second), both(first + second)
    parts = PartedValues(((a.values, a.size), (b.values, b.size)))
    limits = [0.1, 0.3, 7.5]
    assert (parts.n, parts.extremes()) == (whole.n, whole.extremes())
    assert parts.total() == pytest.approx(whole.total(), rel=1e-14)
    assert (parts.count_below(limits), parts.count_above(limits)) == (
        whole.count_below(limits), whole.count_above(limits),
    )  # fmt: skip
    assert parts.quantiles(shares) == whole.quantiles(shares)
    assert parts.median_and_deviation() == whole.median_and_deviation()
    assert parts.cap_for(total) == pytest.approx(whole.cap_for(total), nan_ok=True)


# Groups of single records, whatever stands in the columns.


def test_groups_of_a_column():
    frame = nw.from_native(pl.DataFrame({"hh": ["a", None, "b", "a", None, None]}))
    with pytest.warns(SdcWarning, match="3 records have no household id in 'hh'"):
        of_row, n_groups = group_column(frame, "hh")
    assert n_groups == 5
    assert of_row[0] == of_row[3]
    assert len(set(of_row.tolist())) == 5
    assert sorted(set(of_row.tolist())) == list(range(5))


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([3, 9, 3, 4]),
        pl.Series([3, 9, 3, 4], dtype=pl.UInt64),
        pl.Series([3, 9 * 10**12, 3, 4]),
        pl.Series([300, 900, 300, 4], dtype=pl.Int16),
        pl.Series(["b", "c", "b", "a"]),
        pl.Series(["b", "c", "b", "a"], dtype=pl.Categorical),
        pl.Series(["b", "c", "b", "a"], dtype=pl.Enum(["z", "c", "y", "b", "a"])),
        pl.Series([0.5, 0.7, 0.5, -1.0]),
    ],
    ids=lambda one: str(one.dtype)[:12],
)
def test_ids_of_any_type(ids):
    of_row, n_groups = group_column(nw.from_native(pl.DataFrame({"hh": ids})), "hh")
    assert n_groups == 3
    assert of_row[0] == of_row[2]
    assert set(of_row.tolist()) == {0, 1, 2}


def test_no_household_id_at_all():
    frame = nw.from_native(pl.DataFrame({"hh": [None, None]}))
    with pytest.raises(DataError, match="no value in any record"):
        group_column(frame, "hh")


@pytest.mark.parametrize("made", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_a_person_of_several_rows_stands_for_people_once(made: Any) -> None:
    """Six waves of 200 people were "a sample of a population of about" six times as many."""
    person = [i // 6 for i in range(1_200)]
    rows = pl.DataFrame({"pid": person, "sex": [i % 2 for i in person], "job": [0, 1, 2] * 400})
    rows = made(rows.with_columns(w=500.0 + pl.col("sex")))
    given = {"keys": ["sex", "job"], "person": "pid", "missing": "category"}
    for known, people in (({"sampling_fraction": 0.01}, 20_000), ({"weight": "w"}, 100_100), ({}, None)):
        assert sdc.assess(rows, scenario=sdc.Scenario(**given, **known)).stands_for == people
