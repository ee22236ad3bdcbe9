"""Cells by the levels of another variable, with and without wildcards."""

from __future__ import annotations

import datetime
import datetime as dt
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import as_cells
from sdckit.cells import crosstab as module, frequencies
from sdckit.cells.crosstab import crosstab, holds_ranges, is_spread_like_numbers, levels_of, scale_of, wildcard_crosstab
from sdckit.data.columns import code_column
from sdckit.errors import ColumnError, DataError


def tables(cells, table):
    """Counters of level codes, one per record."""
    per_cell = [
        Counter(dict(zip(table.level[a:b].tolist(), table.count[a:b].tolist(), strict=True)))
        for a, b in zip(table.edges[:-1], table.edges[1:], strict=True)
    ]
    return [per_cell[cell] for cell in cells.table.of_row]


@given(files(max_keys=3, max_rows=30), st.data())
def test_agrees_with_counting(file, data):
    n = len(file.rows)
    values = [1, *data.draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=n - 1, max_size=n - 1))]
    with quiet():
        cells = as_cells(file.frame(s=pl.Series(values, dtype=pl.Int64)), keys=file.keys, missing=file.missing)
    coded = code_column(cells.records_frame()["s"])
    code_of = dict(zip(values, coded.codes().tolist(), strict=True))
    found = crosstab(cells, "s")
    assert found.missing == (coded.span if None in values else -1)
    both = [(found, [False] * len(file.keys))]
    if cells.has_wildcards:
        both.append((wildcard_crosstab(cells, "s"), file.wild))
    for made, wild in both:
        expected = [Counter(code_of[v] for v in group) for group in brute.classes(file.rows, values, wild)]
        assert tables(cells, made) == expected
        assert (made.count > 0).all()


def test_a_variable_without_any_value():
    frame = pl.DataFrame({"a": [1, 2, 1], "s": pl.Series([None] * 3, dtype=pl.String)})
    cells = as_cells(frame, keys=["a"])
    for made in (crosstab, wildcard_crosstab):
        with pytest.raises(DataError, match="sensitive variable 's' has no value in any record; leave it out"):
            made(cells, "s")


def test_a_table_too_large_for_wildcards(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 5)
    cells = as_cells(pl.DataFrame({"a": [1, None, 2], "s": [1, 2, 3]}), keys=["a"])
    with pytest.raises(DataError, match=r"3 cells by 3 levels of 's' are too many .* missing='category' or recode"):
        wildcard_crosstab(cells, "s")


@pytest.mark.parametrize("per_kind", [0, 200], ids=["joined", "compared"])
@given(files(max_keys=3, max_rows=30), st.data())
def test_of_many_levels_matching_cells_are_listed_once(per_kind, file, data):
    n = len(file.rows)
    values = [1, *data.draw(st.lists(st.sampled_from([1, 2, 3, None]), min_size=n - 1, max_size=n - 1))]
    with quiet():
        frame = file.frame(s=pl.Series(values, dtype=pl.Int64))
        cells, again = (as_cells(frame, keys=file.keys, missing=file.missing) for _ in range(2))
    whole = wildcard_crosstab(cells, "s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MANY", 1)
        patch.setattr(frequencies, "JOINS", 100)
        patch.setattr(frequencies, "CELLS_PER_KIND", per_kind)
        patch.setattr(frequencies, "COMPARED", 0)
        if per_kind or not file.wide:  # cells of no word are compared, or counted level by level
            patch.setattr(module, "wildcard_counter", None)
        listed = wildcard_crosstab(again, "s")
    for name in ("edges", "level", "count"):
        assert getattr(listed, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.parametrize("kept", [0, 100])
def test_matching_cells_are_listed_once_for_all_variables_where_they_are_few(kept, monkeypatch):
    """A variable that most cells lack has fewer counts to add up, never more."""
    frame = pl.DataFrame({"a": [1, 2, 3, None], "b": [1, 1, None, 2], "s": [1, 2, 3, 4], "t": [None, 7, None, 7]})
    whole = [wildcard_crosstab(as_cells(frame, keys=["a", "b"]), name) for name in "st"]
    listings = []

    def counted(*given, **how):
        listings.append(how["most"])
        return frequencies.wildcard_pairs(*given, **how)

    for name, value in {"MANY": 1, "KEPT": kept, "wildcard_pairs": counted}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(frequencies, "JOINS", 100)
    cells = as_cells(frame, keys=["a", "b"])
    for name, expected in zip("st", whole, strict=True):
        listed = wildcard_crosstab(cells, name)
        for part in ("edges", "level", "count"):
            assert getattr(listed, part).tolist() == getattr(expected, part).tolist()
    assert listings == ([100] if kept else [0, module.LARGEST, module.LARGEST])


def test_where_too_many_cells_match_they_are_counted_level_by_level(monkeypatch):
    frame = pl.DataFrame({"a": [1, 2, 3, None], "b": [1, 1, None, 2], "s": [1, 2, 3, 4]})
    whole = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    monkeypatch.setattr(module, "MANY", 1)
    monkeypatch.setattr(module, "LARGEST", 16)
    monkeypatch.setattr(module, "wildcard_pairs", lambda *a, **k: frequencies.wildcard_pairs(*a, **k | {"most": 1}))
    counted = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    assert (counted.edges.tolist(), counted.count.tolist()) == (whole.edges.tolist(), whole.count.tolist())


@pytest.mark.parametrize("at_once", [1, 40, 90, 400])
def test_levels_are_matched_some_at_a_time(at_once, monkeypatch):
    """Cells and levels may be too many for one pass; what is counted is the same."""
    rng = np.random.default_rng(5)
    columns = {name: pl.Series(rng.integers(0, 4, 300)).set(pl.Series(rng.random(300) < 0.2), None) for name in "ab"}
    frame = pl.DataFrame({**columns, "s": rng.choice([3, 5, 8, 13, 21], 300)})
    whole = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    found = wildcard_crosstab(as_cells(frame, keys=["a", "b"]), "s")
    for name in ("edges", "level", "count"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist()
    assert whole.count.sum() > 300


def test_many_levels():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"a": rng.integers(0, 300, 5000), "s": rng.integers(0, 2**40, 5000)})
    cells = as_cells(frame, keys=["a"])
    found = crosstab(cells, "s")
    assert found.count.sum() == 5000
    assert np.diff(found.edges).sum() == frame.group_by("a", "s").len().height


def test_it_is_counted_once_for_all_who_ask():
    frame = pl.DataFrame({"a": [1, None, 2], "s": [1, 2, 3]})
    cells = as_cells(frame, keys=["a"])
    assert crosstab(cells, "s") is crosstab(cells.as_categories(), "s")
    assert wildcard_crosstab(cells, "s") is wildcard_crosstab(cells, "s")
    assert crosstab(cells, "s") is not wildcard_crosstab(cells, "s")


@pytest.mark.parametrize("wide", [True, False])
def test_more_levels_than_are_matched_at_once(wide):
    rng = np.random.default_rng(3)
    keys = {f"k{j}": pl.Series(rng.integers(0, 3, 400)).cast(pl.Int64) for j in range(3)}
    gone = {name: pl.when(pl.Series(rng.random(400) > 0.2)).then(pl.col(name)).alias(name) for name in keys}
    frame = pl.DataFrame(keys).with_columns(*gone.values()).with_columns(s=pl.Series(rng.integers(0, 21, 400)))
    cells = as_cells(frame, keys=[*keys])
    if wide:
        cells = replace(cells, table=replace(cells.table, words=None, layout=None))
    rows, values = frame.select(*keys).rows(), frame["s"].to_list()
    expected = [Counter(group) for group in brute.classes(rows, values, [True] * 3)]
    assert tables(cells, wildcard_crosstab(cells, "s")) == expected


# The levels of a sensitive variable on every kind of column: sizes, numbers and declared orders.


def levels(values):
    """The levels of a column of as many records as it has values."""
    if isinstance(values, (pl.Series, list)):
        frame = pl.DataFrame({"k": range(len(values)), "s": values})
    elif isinstance(values, pd.Series):
        frame = pd.DataFrame({"k": range(len(values)), "s": values})
    else:
        frame = pa.table({"k": list(range(len(values))), "s": values})
    with quiet():
        return levels_of(as_cells(frame, keys=["k"], missing="category"), "s")


def by_label(found):
    return dict(zip(found.labels(), found.size.tolist(), strict=True))


def test_whole_numbers():
    found = levels([7, 5, 5, None, 7, 5])
    assert by_label(found) == {"5": 3, "7": 2}
    assert (found.n_missing, found.numbers.tolist(), found.declared) == (1, [5.0, 7.0], False)
    assert (np.diff(found.codes) > 0).all()


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([1.0, -0.0, 0.0, float("nan")], [0, 1]),
        ([-1.5, 2.5, -3.25, 2.5], [-3.25, -1.5, 2.5]),
        ([True, False, None], [0, 1]),
        ([2**40, 5, -(2**41)], [-(2**41), 5, 2**40]),
        ([Decimal("1.50"), Decimal("0.25")], [0.25, 1.5]),
        ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], [18262, 18263]),
    ],
)
def test_what_lies_on_a_scale(values, numbers):
    found = levels(pl.Series(values, strict=False))
    assert sorted(found.numbers.tolist()) == numbers
    assert len(found.labels()) == len(numbers)


def test_times_far_apart():
    values = [datetime.datetime(1900, 1, 1, 0, 0, i) for i in (5, 1)] + [datetime.datetime(2020, 1, 1)]
    found = levels(pl.Series(values))
    assert np.argsort(found.numbers).tolist() == np.argsort(found.labels()).tolist()


@pytest.mark.parametrize(
    ("values", "declared"),
    [
        (pl.Series(["b", "a", "b"]), False),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), False),
        (pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])), True),
        (pd.Series(pd.Categorical(["b", "a", "b"], ["c", "b", "a"], ordered=True)), True),
        (pd.Series(pd.Categorical(["b", "a", "b"], ["c", "b", "a"], ordered=False)), False),
        (pa.DictionaryArray.from_arrays([1, 2, 1], ["c", "b", "a"], ordered=True), True),
        (pa.DictionaryArray.from_arrays([1, 2, 1], ["c", "b", "a"]), False),
    ],
)
def test_a_declared_order_is_that_of_the_codes(values, declared):
    found = levels(values)
    assert (found.numbers, found.declared) == (None, declared)
    assert by_label(found) == {"b": 2, "a": 1}
    if declared:
        assert found.labels() == ["b", "a"]


def test_numbers_stored_as_a_dictionary_are_numbers():
    found = levels(pa.DictionaryArray.from_arrays([1, 2, 1], [30, 10, 20]))
    assert found.numbers.tolist() == [10.0, 20.0]


def test_few_records_of_a_wide_range():
    found = levels([10**9, 5, 5])
    assert by_label(found) == {"5": 2, str(10**9): 1}


def test_they_are_listed_once_and_checked():
    cells = as_cells(pl.DataFrame({"k": [1, 1, 2], "s": [1, 2, 2], "no": [None] * 3}), keys=["k"])
    assert levels_of(cells, "s") is levels_of(cells.with_cells({"more": np.ones(2)}), "s")
    with pytest.raises(DataError, match="'no' has no value in any record"):
        levels_of(cells, "no")
    with pytest.raises(ColumnError, match="no column 'x'"):
        levels_of(cells, "x")


# What is a number, what an ordered scale, and what a code.


RNG = np.random.default_rng(12)


def scale(values, **declared):
    frame = values if isinstance(values, pd.DataFrame | pl.DataFrame | pa.Table) else pl.DataFrame({"x": values})
    with quiet():
        cells = as_cells(frame, keys=["x"])
    codes, size = cells.level_sizes("x")
    known = codes < cells.levels[0].span
    return scale_of(cells.levels[0], codes[known], size[known], **declared)


NUMBERS = {
    "ages": np.clip(RNG.normal(45, 20, 3000), 0, 99).astype(int),
    "few ages": RNG.integers(20, 65, 200),
    "ages with a code of missing values": [*RNG.integers(0, 90, 4000), *[999] * 30],
    "years of birth": RNG.integers(1920, 2010, 5000),
    "incomes": (10 ** RNG.normal(3.2, 0.5, 3000)).astype(int),
    "fractions": [0.5, 1.25, 3.0],
}
PROVINCES = RNG.dirichlet(np.full(81, 0.7))
MAYBE_CODES = {
    "employment status": RNG.integers(1, 10, 3000),
    "provinces from 1 to 81": RNG.choice(81, 5000, p=PROVINCES) + 1,
    "occupations of two digits": RNG.choice([10 * a + b for a in range(1, 10) for b in range(1, 6)], 3000),
    "municipalities": RNG.choice(RNG.integers(10101, 90001, 2000), 5000),
    "sizes of households": [1, 2, 2, 3, 4, 7],
    "codes as floats": [1.0, None, 2.0, 5.0],
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_what_is_spread_like_numbers(values):
    assert scale(values) == "number"
    assert scale([-one for one in values] if len(values) == 3 else values) == "number"
    assert scale([str(one) for one in values]) == "codes"
    assert scale(values, ordered=True) == "ordered"


@pytest.mark.parametrize("values", MAYBE_CODES.values(), ids=MAYBE_CODES)
def test_what_may_be_codes(values):
    assert scale(values) == "unknown"
    assert scale(values, numeric=True) == "number"
    assert scale(values, ordered=True) == "ordered"


def test_categories_are_ordered_where_they_or_their_labels_say_so():
    bands = ["under 15", "15-19", "20-24", "25 and over"]
    names = ["b", "a", "c"]
    assert scale(pd.DataFrame({"x": pd.Categorical(names, names, ordered=True)})) == "ordered"
    assert scale(pd.DataFrame({"x": pd.Categorical(names, names)})) == "codes"
    indices = pa.array([0, 1, 2])
    for ordered in (True, False):
        table = pa.table({"x": pa.DictionaryArray.from_arrays(indices, pa.array(names), ordered=ordered)})
        assert scale(table) == ("ordered" if ordered else "codes")
    # an Enum is what value labels become: their order is that of codes, unless they are ranges
    assert scale(pl.DataFrame({"x": pl.Series(names, dtype=pl.Enum(names))})) == "codes"
    assert scale(pl.DataFrame({"x": pl.Series(bands, dtype=pl.Enum(bands))})) == "ordered"
    assert scale(bands) == "codes"
    assert scale(pl.DataFrame({"x": pl.Series(names, dtype=pl.Categorical)})) == "codes"


def test_dates_and_flags():
    assert scale([dt.date(2020, 1, 1), dt.date(2020, 1, 5)]) == "date"
    assert scale([True, False]) == "codes"


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["0-4", "5-9", "10-14"], True),
        (["up to 1,000", "1,000 to 2,000", "2,000 to 10,000", "10,000+"], True),
        (["[0, 10)", "[10, 20)", "[20, 30)"], True),
        (["10-14", "0-4", "5-9"], False),
        (["Region 1", "Region 2", "Region 3"], False),
        (["1", "2", "3"], False),
        (["0-4", "5-9", "unknown"], False),
        (["0-4", "5-9"], False),
        ([], False),
    ],
)
def test_labels_that_are_ranges(labels, found):
    assert holds_ranges(labels) == found


def test_heaped_ages_are_asked_about():
    ages = np.arange(15.0, 90.0)
    assert is_spread_like_numbers(ages, np.full(75, 200))
    assert not is_spread_like_numbers(ages, np.where(ages % 5 == 0, 900, 60))
