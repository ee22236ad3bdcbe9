"""From a frame to cells: what is refused, what is warned of, weights and persons."""

from __future__ import annotations

import tracemalloc
import warnings

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from sdckit import as_cells
from sdckit.cells.plans.count_cells import Counted, key_columns
from sdckit.cells.tabulate import MANY_LEVELS, tabulate_counts
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import DataError, SdcWarning

GOOD = {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "x"]}


def cells(more=None, **options):
    frame = pl.DataFrame({**GOOD, **(more or {})})
    return as_cells(frame, **{"keys": ["a", "b"], **options})


def test_nothing_odd_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cells().n_cells == 3


def test_no_records():
    with pytest.raises(DataError, match="the data has no records"):
        as_cells(pl.DataFrame({"a": []}), keys=["a"])


def test_a_key_without_any_value():
    for values in ([None] * 4, [float("nan")] * 4):
        with pytest.raises(DataError, match="key 'c' has no value in any record; leave it out"):
            cells({"c": values}, keys=["a", "c"])


def test_missing_values_that_are_errors():
    gaps = {"c": [1, None, 2, None]}
    with pytest.raises(DataError, match=r"key 'c' is missing in 2 records \(rows 2, 4\), and missing='error'"):
        cells(gaps, keys=["a", "c"], missing="error")
    with pytest.raises(DataError, match="missing='error'"):
        cells(gaps, keys=["a", "c"], missing={"c": "error"})
    assert cells(gaps, keys=["a", "c"], missing={"a": "error"}).n == 4


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([7, 7, 7, 7], "key 'c' has the same value in every record"),
        ([4, 3, 2, 1], "key 'c' is different for every record: is it an identifier"),
        (["d", "c", "b", "a"], "key 'c' is different for every record"),
    ],
)
def test_keys_that_say_little(column, words):
    with pytest.warns(SdcWarning, match=words):
        cells({"c": column}, keys=["a", "c"])


@pytest.mark.parametrize("column", [[7, 7, 7, None], [4, 3, 2, None]])
def test_keys_that_only_seem_to(column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cells({"c": column}, keys=["a", "c"])


def test_a_key_of_numbers_far_apart_takes_no_table_of_all_between():
    data = pl.DataFrame({"a": [0, 4_000_000_000, 17] * 500, "b": [1, 2] * 750})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tracemalloc.start()
        as_cells(data, keys=["a", "b"])
        largest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert largest < 50_000_000


def test_a_key_with_thousands_of_values():
    values = list(range(MANY_LEVELS)) * 2
    for column in (values, [value + 0.5 for value in values], [f"t{value}" for value in values]):
        with pytest.warns(SdcWarning, match=f"key 'a' has {MANY_LEVELS} different values: recode it into fewer"):
            as_cells(pl.DataFrame({"a": column}), keys=["a"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_cells(pl.DataFrame({"a": [value // 2 * 2000 for value in values]}), keys=["a"])


WEIGHTS = [
    ([1.0, None, 2.0, 3.0], "1 missing", "row 2"),
    ([1.0, float("nan"), None, 3.0], "2 missing", "rows 2, 3"),
    ([0.0, 1.0, -4.0, 3.0], "2 zero or negative", "rows 1, 3"),
    ([1.0, 1.0, 1.0, float("inf")], "1 infinite", "row 4"),
    ([0, -1, 2, 3], "2 zero or negative", "rows 1, 2"),
    ([float("-inf"), float("inf"), None, 1.0], "1 missing, 1 zero or negative, 1 infinite", "rows 1, 2, 3"),
]


@pytest.mark.parametrize(("weight", "what", "where"), WEIGHTS)
def test_weights_that_cannot_be(weight, what, where):
    words = rf"weight 'w': {what}; every record .* \({where}, counting from 1\)"
    with pytest.raises(DataError, match=words):
        cells({"w": weight}, weight="w")


def test_weights_that_are_text():
    with pytest.raises(DataError, match=r"weight 'w' is text, not numbers; convert it first"):
        cells({"w": ["1", "2", "3", "4"]}, weight="w")


def test_persons():
    rows = {"p": [1, 1, 2, 2], "w": [5.0, 5.0, 7.0, 7.0]}
    found = cells(rows, person="p", weight="w")
    assert found.columns["sample_frequency"][found.table.of_row].tolist() == [1, 1, 1, 1]
    assert found.columns["population_frequency"][found.table.of_row].tolist() == [5, 5, 7, 7]
    assert found.columns["cell_size"][found.table.of_row].tolist() == [1, 1, 2, 2]


def test_persons_that_cannot_be():
    with pytest.raises(DataError, match=r"person 'p' is missing in 2 records \(rows 1, 3\)"):
        cells({"p": [None, 1, None, 2]}, person="p")
    with pytest.raises(DataError, match="the weight is not constant within a person in 1 record;"):
        cells({"p": [1, 1, 2, 2], "w": [5.0, 6.0, 7.0, 7.0]}, person="p", weight="w")
    gaps = {"p": [1, 1, 2, 2], "c": [1, None, 2, 1]}
    with pytest.raises(DataError, match=r"key 'c' has missing values: with person= .* missing='category'"):
        cells(gaps, keys=["a", "c"], person="p")
    with pytest.raises(
        DataError, match=r"under which none is taken out until k holds: make keys coarser, or take values out by risk$"
    ):
        cells(gaps, keys=["a", "c"], person="p")
    assert cells(gaps, keys=["a", "c"], person="p", missing="category").n == 4


def test_cells_counted_by_an_engine():
    frame = pl.DataFrame({"a": [1, 1, None, 2], "b": ["x", "y", "x", "x"], "w": [5.0, 6.0, 7.0, 8.0]})
    rows = frame.sample(50, with_replacement=True, seed=1)
    counted = rows.group_by("a", "b").agg(sdckit__size=pl.len(), sdckit__weight=pl.col("w").sum())
    for alpha in (0.5, 1):
        known = {"keys": ["a", "b"], "weight": "w", "alpha": alpha}
        here = as_cells(rows, **known)
        keys = key_columns(nw.from_native(rows.lazy()), ["a", "b"])
        there = tabulate_counts(Counted(nw.from_native(counted), keys, 50), resolve_roles(**known))
        assert (there.n, there.n_cells, there.n_missing) == (here.n, here.n_cells, here.n_missing)
        for name, values in here.columns.items():
            assert sorted(there.columns[name].tolist()) == pytest.approx(sorted(values.tolist()), rel=1e-12)
