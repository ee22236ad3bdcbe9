"""What is known of columns: what the writer takes, what is user-missing, and how it is shown."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.files.file_labels import ColumnLabels, FileLabels, as_labels, coded_column, codes_of_levels
from sdckit.errors import DataError


def test_what_the_writer_takes():
    told = FileLabels.of({"a": "A"})
    assert as_labels(told) is told
    assert as_labels({"a": "A"}) == told
    assert as_labels(None) == FileLabels()
    for wrong in ("a", ["a"], {"a": 1}, {1: "a"}):
        with pytest.raises(DataError, match="read_labels"):
            as_labels(wrong)


def test_user_missing_codes_and_letters():
    known = ColumnLabels(codes={"yes": 1}, missing=((8, 9), ("a", "a")))
    assert [code for code in (1, 7.5, 8, 8.5, 9, "a", "b", "9") if known.is_missing(code)] == [8, 8.5, 9, "a"]


def test_a_column_of_which_nothing_is_known():
    assert FileLabels().get("x") == ColumnLabels()
    assert FileLabels({"x": ColumnLabels(measure="scale")}).variables == {}


# Categories as codes: those the file had, never the code of another category, nothing of what no record
# has.


SEX = ColumnLabels("Sex", {"m": 1, "f": 2, "refused": 98, "don't know": 99}, ((98, 99),), "ordinal")


def test_codes_of_the_file_and_only_of_what_is_there():
    series = pl.Series("sex", ["f", None, "refused", "f"], dtype=pl.Enum([*SEX.codes]))
    found = coded_column(series, SEX, "SPSS")
    assert found.values.to_list() == [2, None, 98, 2]
    assert (found.labels, found.missing, found.measure) == ({2: "f", 98: "refused"}, (98,), "ordinal")


def test_user_missing_codes_are_letters_in_stata():
    series = pl.Series("sex", ["f", None, "refused", "don't know"])
    found = coded_column(series, SEX, "Stata")
    assert found.values.to_list() == [2, None, "a", "b"]
    assert found.missing == ("a", "b")
    of_stata = ColumnLabels(codes={"f": 1, "refused": "c", "unknown": "a"}, missing=(("c", "c"), ("a", "a")))
    assert codes_of_levels(["f", "refused"], of_stata, "Stata") == {"f": 1, "refused": "c"}
    back = coded_column(pl.Series("sex", ["f", "refused"]), of_stata, "SPSS")
    assert (back.values.to_list(), back.missing) == ([1, 2], (2,))


def test_bands_and_groups_are_counted_on():
    bands = pl.Series("age", ["0-9", "10+"], dtype=pl.Enum(["0-9", "10+"]))
    assert coded_column(bands, ColumnLabels(), "SPSS").labels == {1: "0-9", 2: "10+"}
    assert codes_of_levels(["m", "other"], SEX, "SPSS") == {"m": 1, "other": 100}
    high = ColumnLabels(codes={"m": 1, "f": 3}, missing=((4, float("inf")),))
    assert codes_of_levels(["m", "x", "y"], high, "SPSS") == {"m": 1, "x": -1, "y": -2}
    below = ColumnLabels(codes={"none": -1})
    assert codes_of_levels(["none", "x"], below, "SPSS") == {"none": -1, "x": 1}


def test_values_without_a_label_keep_their_number():
    codes = ColumnLabels(codes={"one": 1, "2": 3})
    assert codes_of_levels(["one", "7", "2 (no label)", "4.5"], codes, "SPSS") == {
        "one": 1, "7": 7, "2 (no label)": 2, "4.5": 4.5,
    }  # fmt: skip
    assert codes_of_levels(["1"], codes, "SPSS") == {"1": 4}  # the code of another category
    assert codes_of_levels(["one", "4.5"], codes, "Stata") == {"one": 1, "4.5": 2}


def test_text_codes_stay_in_spss():
    known = ColumnLabels(codes={"Graz": "G", "Linz": "L"})
    series = pl.Series("town", ["Graz", "south", None])
    found = coded_column(series, known, "SPSS")
    assert (found.values.to_list(), found.labels) == (["G", "south", None], {"G": "Graz", "south": "south"})
    assert codes_of_levels(["Graz", "L"], known, "SPSS") == {"Graz": "G", "L": "L (no label)"}
    assert codes_of_levels(["Graz", "south"], known, "Stata") == {"Graz": 1, "south": 2}


def test_numbers_keep_labels_of_values_that_are_there():
    known = ColumnLabels(codes={"none": 0, "top": 99, "refused": -9}, missing=((-9, -9),), measure="scale")
    series = pl.Series("n", [0, 5, -9])  # noise made -9: the reader had taken out the code
    found = coded_column(series, known, "SPSS")
    assert (found.labels, found.missing, found.measure) == ({0: "none"}, (), "scale")


@pytest.mark.parametrize("kind", ["SPSS", "Stata"])
def test_other_kinds(kind):
    flags = coded_column(pl.Series("a", [True, None]), ColumnLabels(), kind)
    assert (flags.values.to_list(), flags.labels) == ([1, None], {1: "true"})
    days = pl.Series("d", [dt.date(2020, 1, 1)])
    assert coded_column(days, ColumnLabels(), kind).values.equals(days)
    text = pl.Series("t", ["b", "a"])
    assert coded_column(text, ColumnLabels(), kind).labels == {}
    named = coded_column(text.cast(pl.Categorical), ColumnLabels(), kind)
    assert named.labels == {1: "a", 2: "b"}


LEVELS = st.lists(st.text("ab12. ", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)
CODES = st.dictionaries(st.text("ab12. ", min_size=1, max_size=3), st.integers(-3, 5) | st.floats(-3, 5), max_size=4)


@given(LEVELS, CODES, st.sampled_from(["SPSS", "Stata"]))
def test_no_two_categories_share_a_code(levels, codes, kind):
    distinct = {text: code for text, code in codes.items() if list(codes.values()).count(code) == 1}
    known = ColumnLabels(codes=distinct, missing=((2, 3),))
    found = codes_of_levels(levels, known, kind)
    assert set(found) == set(levels)
    assert len(set(found.values())) == len(levels)
    if kind == "SPSS":
        assert all(found[level] == distinct[level] for level in levels if level in distinct)
        new = [code for level, code in found.items() if level not in distinct]
        assert not any(known.is_missing(code) or code in distinct.values() for code in new)
