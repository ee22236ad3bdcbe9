"""Levels stand in the order of their categories, whatever holds them; text by the alphabet, numbers by value."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.cells.pair import open_pair
from sdckit.data.columns import code_column
from sdckit.data.files.readers import read_file
from sdckit.data.frames import open_frame
from sdckit.data.level_order import categories_of, in_order, joint_categories, places_in_order
from sdckit.protect.perturbation.pram import read_levels
from sdckit.protect.synthesis.synthesis_variables import read_variable

ORDER = ["never", "unasked", "seldom", "often"]  # nobody answered "unasked"
ANSWERS = ["seldom", "often", "never", None, "often", "never", "seldom", "often"]
USED = ["never", "seldom", "often"]


def dictionary(values, order):
    places = [None if value is None else order.index(value) for value in values]
    return pa.table({"x": pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(order))})


MAKERS = {
    "pandas": lambda values, order: pd.DataFrame({"x": pd.Categorical(values, order)}),
    "pandas, ordered": lambda values, order: pd.DataFrame({"x": pd.Categorical(values, order, ordered=True)}),
    "Polars Enum": lambda values, order: pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(order))}),
    "Arrow": dictionary,
}
PLAIN = {
    "pandas text": lambda values, _: pd.DataFrame({"x": values}),
    "Polars text": lambda values, _: pl.DataFrame({"x": values}),
    "Polars Categorical": lambda values, _: pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
}


def levels_beside(one, other):
    return open_pair(one, other, categories={"x": ["x"]}).codes("x").labels()[1:]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_categories_keep_their_order_and_unused_ones_are_no_levels(make):
    frame = make(ANSWERS, ORDER)
    assert categories_of(code_column(open_frame(frame)["x"])) == ORDER
    assert levels_beside(frame, frame) == USED
    assert read_levels(open_frame(frame), "x").labels == USED
    assert read_variable(open_frame(frame)["x"]).labels == tuple(USED)


@pytest.mark.parametrize("make", PLAIN.values(), ids=PLAIN)
def test_text_goes_by_the_alphabet(make):
    pl.Series(["often", "seldom", "never"], dtype=pl.Categorical)  # seen before: no matter
    frame = make(ANSWERS, ORDER)
    assert categories_of(code_column(open_frame(frame)["x"])) == []
    assert levels_beside(frame, frame) == sorted(USED)
    assert read_levels(open_frame(frame), "x").labels == sorted(USED)
    assert read_variable(open_frame(frame)["x"]).labels == tuple(sorted(USED))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_original_leads_where_two_files_have_different_orders(make):
    original = make(["b", "c", "b"], ["c", "b"])
    released = make(["a", "b", "d", "c"], ["a", "b", "c", "d"])
    assert levels_beside(original, released) == ["c", "b", "a", "d"]
    assert levels_beside(released, original) == ["a", "b", "c", "d"]
    text = pl.DataFrame({"x": ["a", "z", "c"]})
    assert levels_beside(text, original) == ["c", "b", "a", "z"]  # the only order that is declared


def test_an_order_that_the_original_declares_holds_for_levels_only_a_release_has():
    original = pd.DataFrame({"x": pd.Categorical(["low", "high"], ["low", "middle", "high"])})
    released = pd.DataFrame({"x": pd.Categorical(["middle", "high"], ["low", "middle", "high"])})
    assert levels_beside(original, released) == ["low", "middle", "high"]


def test_numbers_go_by_value():
    frame = pd.DataFrame({"x": pd.Categorical([10, 2, 1])})
    assert levels_beside(frame, frame) == ["1", "2", "10"]
    table = pa.table({"x": pa.array([10, 2, 1]).dictionary_encode()})
    assert levels_beside(table, table) == ["1", "2", "10"]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_first_category_is_the_base_of_a_model(make):
    many = [value or "often" for value in ANSWERS] * 5
    numbers = [float(i * 7 % 11) for i in range(len(many))]

    def with_pay(frame):
        if isinstance(frame, pa.Table):
            return frame.append_column("pay", pa.array(numbers))
        return (
            frame.assign(pay=numbers)
            if isinstance(frame, pd.DataFrame)
            else frame.with_columns(pay=pl.Series(numbers))
        )

    files = [with_pay(make(values, ORDER)) for values in (many, many[3:] + many[:3])]
    found = sdc.compare_models(*files, formula="pay ~ x")
    terms = open_frame(found.table)["term"].to_list()
    assert terms == ["Intercept", "x[T.seldom]", "x[T.often]"]
    shares = sdc.compare_estimates(*files, statistic="proportion", variables=["x"])
    assert open_frame(shares.table)["term"].to_list() == ["x=never", "x=seldom", "x=often"]
    table = sdc.compare_distributions(*files, variables=["x"]).table("x")
    assert open_frame(table)["level"].to_list() == USED


def test_value_labels_keep_the_order_of_their_codes(tmp_path):
    frame = pd.DataFrame({"x": [3, 1, 2, 3, 1, 2], "band": [1, 2, 3, 1, 2, 3]})
    bands = {1: "under 15", 2: "15-19", 3: "20-24"}
    labels = {"x": {1: "never", 2: "seldom", 3: "often", 4: "unasked"}, "band": bands}
    pyreadstat.write_sav(frame, str(tmp_path / "x.sav"), variable_value_labels=labels)
    found = read_file(tmp_path / "x.sav")
    assert levels_beside(found, found) == USED
    kinds = sdc.key_contributions(pl.concat([found] * 5), keys=["x", "band"]).coarsenings
    assert {key: one.scale for key, one in kinds.items()} == {"x": "codes", "band": "ordered"}


@given(
    st.lists(st.text("abc", min_size=1, max_size=2), unique=True),
    st.lists(st.text("abc", max_size=2), unique=True),
)
def test_every_value_once_in_the_declared_order(values, declared):
    found = in_order(values, declared)
    assert sorted(found) == sorted(values)
    known = [value for value in found if value in declared]
    assert known == [value for value in declared if value in values] == found[: len(known)]
    assert found[len(known) :] == sorted(found[len(known) :])
    assert [values[place] for place in places_in_order(values, declared)] == found


def test_the_joint_order_names_every_category_once():
    files = [code_column(open_frame(make(ANSWERS, ORDER))["x"]) for make in MAKERS.values()]
    assert joint_categories(files) == ORDER
    assert joint_categories([]) == []
