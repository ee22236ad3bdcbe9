"""Headers, and records that stand in their place: nothing of a record is ever told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdckit.data.files.csv_header import header_names
from sdckit.errors import ColumnError, DataError

PATH = Path("x.csv")
BELOW = [["f", "34", "north", ""], ["m", "51", "south", "x"], ["f", "8", "east", ""]]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (["f", "34", "north", "y"], "field 2 is a number"),
        (["f", "34", "1-2", "y"], "fields 2, 3 are each a number"),
        (["a", "1990-05-06", "b", "c"], "field 2 is a number, a date"),
        (["f", "NA", "north", "y"], "field 2 is a code for missing"),
        (["f", "unknown", "north", "x"], "most of its fields stand again further down"),
        (["", "", "", ""], "all its fields are empty"),
    ],
)
def test_a_record_in_place_of_the_header(header, why):
    with pytest.raises(
        DataError, match=rf"^x\.csv: the first line does not look like a header .*: {why}"
    ) as caught:
        header_names(PATH, header, BELOW)
    told = str(caught.value)
    assert "north" not in told
    assert "34" not in told
    assert "1990" not in told


def test_names():
    found = header_names(PATH, [" sex ", "age", "", "other"], BELOW)
    assert (found.names, found.certain) == (("sex", "age", "column_3", "other"), True)


def test_without_a_column_of_numbers_nothing_is_certain():
    assert not header_names(PATH, ["sex", "area"], [["f", "north"], ["m", "south"]]).certain
    assert not header_names(PATH, ["", "area"], [["1", "north"], ["2", "south"]]).certain
    assert header_names(PATH, ["sex", "ages"], [["f", "15-29"], ["m", "NA"]]).certain


def test_names_that_repeat():
    with pytest.raises(ColumnError, match=r"'a' \(1, 3\)"):
        header_names(PATH, ["a", "b", "a"], [["1", "2", "3"]])
    with pytest.raises(DataError, match="some of its fields are the same") as caught:
        header_names(PATH, ["yes", "no", "yes"], [["a", "b", "c"]])
    assert "yes" not in str(caught.value)


def test_one_value_that_is_called_like_its_column_is_no_reason():
    found = header_names(PATH, ["id", "other"], [["1", "other"], ["2", "none"]])
    assert found.names == ("id", "other")


def test_lines_of_another_width_are_left_to_others():
    assert header_names(PATH, ["a", "b"], [["1"], ["1", "2", "3"]]).names == ("a", "b")


@given(st.lists(st.sampled_from(["Zyxw", "Qvut", "12", "1-2", "NA", "x@y.z"]), min_size=1, max_size=5))
def test_no_refusal_tells_a_field(fields):
    below = [["Zyxw"] * len(fields)]
    told = ""
    try:
        header_names(PATH, fields, below)
    except DataError as error:
        told = str(error)
    except ColumnError:
        pass  # repeated names above columns of numbers are told
    assert not any(field in told for field in fields if field != "12")
