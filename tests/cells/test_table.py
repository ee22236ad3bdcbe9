"""`Cells`: figures per cell, per household and per record, in the caller's order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import as_cells
from sdckit.cells.table import MAX_LEVELS, check_result_names
from sdckit.errors import ColumnError

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
    records = cells.records(
        ["cell_size", "sample_frequency", "population_frequency", "sample_unique"], prefix="x_"
    )
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
    with pytest.warns(match="1 records have no household id in 'hh': each is a household of its own"):
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
    for role, call in (("household", cells.household_of_row), ("sensitive", cells.code)):
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
