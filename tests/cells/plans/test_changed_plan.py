"""A plan that is changed: its places, its distinct rows, and what goes back to its records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from plans import collected, on_engines, opened as bringing_opened
from sdckit.cells.plans.changed_plan import Blanked, as_codes, bring, is_text, open_changing, others, put_back
from sdckit.data.frames import collect
from sdckit.errors import ColumnError, DataError

SURVEY = pl.DataFrame(
    {"row": range(6), "a": ["x", "x", None, "y", "x", None], "b": [1.0, 1.0, 2.0, float("nan"), 1.0, 2.0]}
)


def opened(plan: Any, frame: pl.DataFrame = SURVEY) -> Any:
    """The survey, ready to be changed."""
    return open_changing(plan(frame), len(frame))


@on_engines
def test_distinct_rows_come_with_their_records_and_the_first_place(plan: Any) -> None:
    found = opened(plan).distinct(["a", "b"])
    rows = pl.DataFrame(found.table).with_columns(n=pl.Series(found.size), first=pl.Series(found.first))
    assert rows.sort("first").rows() == [("x", 1.0, 3, 0), (None, 2.0, 2, 2), ("y", None, 1, 3)]
    assert found.tallied.counts.sum() == 6


@on_engines
def test_the_first_record_stands_for_its_unit_and_a_record_without_one_for_itself(plan: Any) -> None:
    changing = opened(plan)
    assert changing.first_of("a", ["row", "b"]).to_pylist() == [
        {"a": "x", "row": 0, "b": 1.0}, {"a": None, "row": 2, "b": 2.0}, {"a": "y", "row": 3, "b": None},
        {"a": None, "row": 5, "b": 2.0},
    ]  # fmt: skip
    assert changing.first_of("b", ["row"])["row"].to_pylist() == [0, 2, 3]


def test_firsts_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdckit.cells.plans.changed_plan.most_cells", lambda *_: 3)
    with pytest.raises(DataError, match="these 2 columns have 4 different combinations"):
        opened(pl.DataFrame.lazy).first_of("a", ["b"])
    assert len(opened(pl.DataFrame.lazy).first_of("b", ["a"])) == 3


@on_engines
def test_new_values_take_the_place_of_the_old_ones(plan: Any) -> None:
    changing = opened(plan)
    rows = changing.distinct(["a"])
    new = pl.Series([None if a is None else a.upper() for a in rows.table["a"].to_pylist()]).to_arrow()
    changed = changing.with_values(rows, {"a": new})
    assert changed.columns == ["row", "a", "b"]
    assert collected(changed.plan())["a"].to_list() == ["X", "X", None, "Y", "X", None]
    assert changed.differing() == {"row": 0, "a": 4, "b": 0}
    again = changed.with_values(rows := changed.distinct(["a"]), {"a": np.arange(len(rows.size)) * 1.5})
    assert again.differing() == {"row": 0, "a": 6, "b": 0}  # a number is no text, a missing one no number
    assert again.without(["b"]).differing()["b"] == 6


@on_engines
def test_values_that_are_the_same_number_do_not_differ(plan: Any) -> None:
    changing = opened(plan)
    rows = changing.distinct(["b"])
    assert changing.with_values(rows, {"b": rows.table["b"]}).differing() == {"row": 0, "a": 0, "b": 0}


@on_engines
def test_missing_values_are_not_present(plan: Any) -> None:
    assert opened(plan).present(["a", "b"]) == {"a": 4, "b": 5}


@on_engines
def test_cells_lose_values_whole_or_in_parts(plan: Any) -> None:
    changing = opened(plan)
    rows = changing.distinct(["a"])
    values = rows.table["a"].to_pylist()
    cells, where = changing.places_in(rows, np.array([values.index("x")]))
    assert (set(cells.tolist()), sorted(where.tolist())) == ({values.index("x")}, [0, 1, 4])
    whole = {"a": np.array([value == "y" for value in values])}
    split = np.array([values.index("x")])
    found = changing.blanked(rows, Blanked(whole, split, {"a": np.array([False, True, False])}))
    assert found.loose
    assert collected(found.plan())["a"].to_list() == ["x", None, None, None, "x", None]
    assert found.differing() == {"row": 0, "a": 2, "b": 0}
    nothing = Blanked({"a": np.zeros(3, bool)}, split[:0], {"a": np.zeros(0, bool)})
    assert changing.blanked(rows, nothing) is changing


@on_engines
def test_another_order(plan: Any) -> None:
    order = np.array([5, 3, 1, 0, 2, 4])
    moved = opened(plan).shuffled(order, "")
    native = moved.plan()
    frame = native.collect() if isinstance(native, pl.LazyFrame) else native.pl()
    assert frame["row"].to_list() == order.tolist()


@on_engines
def test_names_and_types_that_a_plan_does_not_take(plan: Any) -> None:
    with pytest.raises(ColumnError, match="stands for several"):
        opened(plan, SURVEY.rename({"a": "*"})).distinct(["*"])
    lists = SURVEY.with_columns(a=pl.lit([1]))
    with pytest.raises(DataError, match="one plain value"):
        opened(plan, lists).distinct(["a"])


def test_categories_are_brought_as_texts() -> None:
    frame = SURVEY.with_columns(pl.col("a").cast(pl.Enum(["x", "y", "unused"])))
    changing = open_changing(frame.lazy(), 6)
    assert sorted(filter(None, changing.distinct(["a"]).table["a"].to_pylist())) == ["x", "y"]
    assert changing.plan().collect_schema()["a"] == pl.String


@on_engines
def test_records_that_are_no_longer_those_counted_are_refused(plan: Any) -> None:
    changing = replace(opened(plan), n=7)
    with pytest.raises(DataError, match="no longer those that were counted"):
        changing.brought(["a"])


@on_engines
def test_what_was_brought_goes_back_where_it_is_another(plan: Any) -> None:
    changing = opened(plan)
    found = changing.brought(["a", "b"])
    assert changing.with_records(found, found.table) is changing
    new = found.table.set_column(0, "a", [["x", "z", None, None, "x", "w"]])
    changed = changing.with_records(found, new)
    assert collected(changed.plan())["a"].to_list() == ["x", "z", None, None, "x", "w"]
    assert changed.differing() == {"row": 0, "a": 3, "b": 0}
    assert set(changed.before) == {"a"}


@on_engines
def test_columns_made_beside_others_and_left_out(plan: Any) -> None:
    changing = opened(plan)
    found = changing.brought(["a"])
    beside = found.table.append_column("a_z", pa.array(["p", None, "q", "p", "p", "p"]))
    changed = changing.with_records(found, beside, {"a_z": "a"})
    assert changed.columns == ["row", "a", "b", "a_z"]
    assert changed.differing() == {"row": 0, "a": 0, "b": 0}
    assert collected(changed.plan())["a_z"].to_list() == ["p", None, "q", "p", "p", "p"]
    assert collected(changed.plan())["a"].to_list() == SURVEY["a"].to_list()
    again = changed.brought(["a_z", "a"])
    less = again.table.drop(["a_z"]).set_column(0, "a", pa.array(["x", "x", None, "y", "x", "new"]))
    gone = changed.with_records(again, less)
    assert gone.columns == ["row", "a", "b"]
    assert collected(gone.plan())["a"].to_list() == ["x", "x", None, "y", "x", "new"]
    assert gone.differing() == {"row": 0, "a": 1, "b": 0}


@on_engines
def test_a_file_that_is_here_whole_does_not_go_back(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.cells.plans import changed_plan as module

    def put_back(*_: Any) -> None:
        raise AssertionError("it went back")

    changing = opened(plan)
    monkeypatch.setattr(module, "put_back", put_back)
    found = changing.brought(["b", "row", "a"])
    new = found.table.set_column(0, "b", pa.array([1.0, 7.0, 2.0, None, 1.0, None]))
    changed = changing.with_records(found, new)
    assert changed.columns == ["row", "a", "b"]
    assert collected(changed.plan())["b"].to_list() == [1.0, 7.0, 2.0, None, 1.0, None]
    assert changed.differing() == {"row": 0, "a": 0, "b": 2}
    rows = changed.distinct(["a"])
    assert rows.size.sum() == 6
    part = changed.brought(["a"])
    with pytest.raises(AssertionError, match="went back"):  # of columns that were others before, these are kept
        changed.with_records(part, part.table.set_column(0, "a", pa.array(["z"] * 6)))


# Columns brought here in the order of the file, and values put back by place.


COLUMNS = {
    "t": ["b", None, "a", "b", "Ä", None],
    "x": [1.5, None, float("nan"), 2.0, 1.5, 0.0],
    "i": pl.Series([3, 1, None, 3, 2, 1], dtype=pl.Int16),
    "d": np.arange(6).astype("datetime64[D]"),
}


@on_engines
def test_columns_come_in_the_order_of_their_places(plan: Any) -> None:
    frame = bringing_opened(plan, COLUMNS)
    found = bring(frame, ["t", "x", "i", "d"], "row", {})
    assert found.place.tolist() == list(range(6))
    assert found.table["t"].to_pylist() == COLUMNS["t"]
    assert found.table["t"].chunk(0).dictionary.to_pylist() == ["a", "b", "Ä"]
    assert np.isnan(found.table["x"].to_pylist()[2])
    assert found.table["x"].null_count == 1
    assert found.table["i"].type == pa.int16()
    assert found.table["d"].type == pa.date32()
    back = bring(frame.with_columns(row=(50 - nw.col("row") * 10)), ["t", "i"], "row", {})
    assert back.place.tolist() == [0, 10, 20, 30, 40, 50]
    assert back.table["t"].to_pylist() == COLUMNS["t"][::-1]
    assert back.table["i"].to_pylist() == COLUMNS["i"].to_list()[::-1]


@on_engines
def test_values_go_back_to_their_places(plan: Any) -> None:
    frame = bringing_opened(plan, COLUMNS)
    found = bring(frame, list(COLUMNS), "row", {})
    hit = np.array([True, False, False, True, False, True])
    text = pa.chunked_array([pa.array(["q", "q", "q", None, "q", "r"]).dictionary_encode()])
    half = pa.chunked_array([pa.array([0.5, 9, 9, 7, 9, None])])
    made = collected(put_back(frame, "row", found, hit, {"t": text, "i": half}).to_native())
    assert made.columns == [*COLUMNS, "row"]
    assert made["t"].to_list() == ["q", None, "a", None, "Ä", "r"]
    assert (made["i"].dtype, made["i"].to_list()) == (pl.Float64, [0.5, 1, None, 7, 2, None])
    assert made["x"].is_nan().to_list() == [False, None, True, False, False, False]


@on_engines
@pytest.mark.parametrize("column", ["t", "x", "i", "d"])
def test_records_that_are_numbered_anew_get_no_values_of_others(plan: Any, column: str) -> None:
    frame = bringing_opened(plan, COLUMNS)
    found = bring(frame, [column], "row", {})
    new = {column: found.table.column(column).take(pa.array([1] * 6))}
    every, first = np.ones(6, bool), np.array([True, *[False] * 5])
    assert collected(put_back(frame, "row", found, every, new).to_native()).height == 6
    turned = frame.with_columns(row=5 - nw.col("row"))
    with pytest.raises(DataError, match="numbers the records of this plan anew each time"):
        collect(put_back(turned, "row", found, every, new))
    if column != "t":  # the last text is another than the first
        return
    with pytest.raises(DataError, match="sort the plan, or write it first"):
        collect(put_back(turned, "row", found, first, new).select(column))


def test_texts_become_codes_in_their_order() -> None:
    whole = pa.chunked_array([pa.array(["S", "L"]).dictionary_encode(), pa.array([None, "M", "?"]).dictionary_encode()])
    table = pa.table({"size": whole, "n": [1, 2, 3, 4, 5]})
    codes = as_codes(table, {"size": ["none", "S", "M", "L"]})
    assert codes["size"].chunk(0).dictionary.to_pylist() == ["S", "M", "L", "?"]
    assert codes["size"].to_pylist() == ["S", "L", None, "M", "?"]
    assert as_codes(table, {}, every=False) is table
    views = pa.table({"a": pa.array(["x", None, "b"], pa.string_view()), "b": pa.nulls(3, pa.string())})
    assert as_codes(views, {}).to_pydict() == {"a": ["x", None, "b"], "b": [None] * 3}
    assert as_codes(views.slice(0, 0), {}).num_rows == 0
    assert not is_text(pa.dictionary(pa.int8(), pa.int64()))


def test_others_are_told_exactly() -> None:
    before = pa.table({"i": [2**60, 2**60, None, None], "x": [1.0, float("nan"), None, 0.0]})
    after = pa.table({"i": [2**60 + 1, 2**60, None, 5], "x": [1.0, float("nan"), 2.0, -0.0]})
    assert others(before, after, "i").tolist() == [True, False, False, True]
    assert others(before, after, "x").tolist() == [False, False, True, False]


def test_what_cannot_come_is_refused() -> None:
    frame = bringing_opened(lambda one: one.lazy(), {"many": [[1], [2]], "^a$": ["x", "y"]})
    with pytest.raises(DataError, match="column 'many' holds List: a variable needs one plain value"):
        bring(frame, ["many"], "row", {})
    with pytest.raises(ColumnError, match="is not the name of one column"):
        bring(frame, ["^a$"], "row", {})
