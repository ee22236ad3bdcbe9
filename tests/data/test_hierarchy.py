"""Hierarchies: read from files as others write them, checked line by line, no value in a message."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from draw import CHARACTERS
from sdckit.data.hierarchy import Hierarchy, as_hierarchy, range_of_label, read_band, read_hierarchy
from sdckit.errors import DataError, FileFormatError

LINES = "1101;11;1\n1102;11;1\n2201;22;2\n"


@pytest.fixture
def write(tmp_path):
    def written(text, **options):
        file = tmp_path / "nace.csv"
        file.write_bytes(text.encode(options.pop("as_encoding", "utf-8")))
        return read_hierarchy(file, **options)

    return written


def test_a_file_without_a_header(write):
    found = write(LINES)
    assert found.leaves == ("1101", "1102", "2201")
    assert found.levels == (("11", "11", "22"), ("1", "1", "2"))
    assert found.names is None
    assert found.at(2) == {"1101": "1", "1102": "1", "2201": "2"}
    assert repr(found) == "Hierarchy(3 values, 2 coarser levels)"


def test_a_header_names_the_levels(write):
    found = write("code;division;section\n" + LINES, header=True)
    assert found.names == ("division", "section")
    assert found.at("section") == found.at(2)
    with pytest.raises(DataError, match=r"no level of that name; it has levels 1 to 2 \(division, section\)"):
        found.at("sektion")


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
def test_the_delimiter_is_found(write, mark):
    assert write(LINES.replace(";", mark)) == write(LINES)


def test_quotes_blanks_and_marks_of_byte_order(write):
    found = write('\ufeff"Graz";"Styria, south"\r\n\r\n Linz ; Upper Austria\r\n')
    assert found.at(None) == {"Graz": "Styria, south", "Linz": "Upper Austria"}
    western = write("Köln;Rhein\n", as_encoding="cp1252", encoding="cp1252")
    assert western.leaves == ("Köln",)


def test_commas_inside_names_need_the_delimiter_only_where_both_fit(write):
    assert write("a;x, y\nb;x, y\nc;z\n").levels == (("x, y", "x, y", "z"),)
    with pytest.raises(FileFormatError, match="semicolons and commas cut the lines alike"):
        write("a;x, y\nb;x, y\n")
    assert write("a;x, y\nb;x, y\n", delimiter=";").levels == (("x, y", "x, y"),)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("zq7;1;2\nb;1\n", {}, "nace.csv, line 2: another number of fields"),
        ("zq7;1\nb;\n", {}, "nace.csv, line 2: an empty field"),
        ("zq7;1\nb;1\nzq7;2\n", {}, "nace.csv, line 3: this value stands further up already"),
        ("zq7;1;A\nb;1;B\n", {}, "nace.csv, line 2: its name at level 1 .* under another name at level 2"),
        ("zq7\nb\n", {}, "each line needs a value and its coarser names"),
        ("zq7;1\nb;1\n", {"delimiter": "|"}, "line 1: a value without a coarser name"),
        ("zq7;1\n", {"delimiter": "||"}, "one character"),
        ("zq7;1\n", {"header": True}, "a header, and no value below it"),
        ("zq7;a;a\nb;1;1\n", {"header": True}, "two levels have the same name"),
        ("\n\n", {}, "holds only blank lines"),
    ],
)
def test_a_bad_file_is_refused_by_line(write, text, options, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        write(text, **options)
    assert "zq7" not in str(caught.value)


def test_an_absent_file(tmp_path):
    with pytest.raises(FileFormatError, match=r"none\.csv: there is no such file"):
        read_hierarchy(tmp_path / "none.csv")


def test_a_quote_that_never_closes(write):
    with pytest.raises(FileFormatError):
        write('"a;1\nb;2\n')


def test_dictionaries(tmp_path):
    given = {1: ["low", "all"], 2: ["low", "all"], 3: ["high", "all"]}
    found = as_hierarchy(given)
    assert found.at(1) == {1: "low", 2: "low", 3: "high"}
    assert as_hierarchy(found) is found
    assert as_hierarchy({"a": "x", "b": "x"}).levels == (("x", "x"),)
    file = tmp_path / "h.csv"
    file.write_text(LINES, encoding="utf-8")
    assert as_hierarchy(file) == as_hierarchy(str(file)) == read_hierarchy(file)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the path of a CSV file, or"),
        (5, "the path of a CSV file, or"),
        ({"zq7": ["x"], "b": ["x", "y"]}, "different numbers of levels"),
        ({"zq7": []}, "no coarser names"),
        ({"zq7": [None]}, "is empty"),
        ({"zq7": [["x"]]}, "a list itself"),
        ({"zq7": {"x": 1}}, "or a table"),
        ({"zq7": ["x", "A"], "b": ["x", "B"]}, "entry 2: its name at level 1"),
    ],
)
def test_a_bad_dictionary(given, message):
    with pytest.raises((DataError, FileFormatError), match=message) as caught:
        as_hierarchy(given)
    assert "zq7" not in str(caught.value)


@pytest.mark.parametrize("level", [0, 3, -1, True, 1.5, None, "top"])
def test_a_level_that_is_not_there(level):
    found = Hierarchy(("a", "b"), (("x", "x"), ("all", "all")))
    with pytest.raises(DataError, match="levels 1 to 2"):
        found.at(level)
    assert Hierarchy(("a",), (("x",),)).at(None) == {"a": "x"}


# Names of bands read as ranges, and ends that do not belong to them.


INF = math.inf


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("7", (7, 7)), ("-3.5", (-3.5, -3.5)), ("30-39", (30, 39)), ("30–39", (30, 39)), ("30 to 39", (30, 39)),
        (" 30 - 39 ", (30, 39)), ("5+", (5, INF)), ("65 or more", (65, INF)), ("at least 65", (65, INF)),
        (">=65", (65, INF)), ("≥ 65", (65, INF)), ("up to 17", (-INF, 17)), ("<= 17", (-INF, 17)),
        ("under 18", (-INF, 17)), ("< 18", (-INF, 17)), ("over 64", (65, INF)), ("[20, 30)", (20, 29)),
        ("(20, 30]", (21, 30)), ("(20.0, 30.0]", (21, 30)), ("-10--5", (-10, -5)), ("05-09", (5, 9)),
        ("0-0.5", (0, 0.5)),
        ("30-39 years", (30, 39)),
    ],
)  # fmt: skip
def test_spellings(label, expected):
    assert range_of_label(label) == expected


@pytest.mark.parametrize(
    "label", ["", "north", "30-", "-", "39-30", "(5, 5)", "3 of 4", "unknown", "1-2-3", "a1", "25-00703", "1-01"]
)
def test_what_is_no_range(label):
    assert range_of_label(label) is None


@given(st.integers(-500, 500), st.integers(1, 300), st.booleans(), st.booleans())
def test_numbers_within_and_beyond_an_interval(low, width, opened, closed):
    label = f"{'(' if opened else '['}{low}, {low + width}{']' if closed else ')'}"
    inside = range(low + opened, low + width + closed)
    found = range_of_label(label)
    assert found == ((min(inside), max(inside)) if inside else None)
    assert range_of_label(label, whole=False) == (low, low + width)


@given(st.text(CHARACTERS, max_size=30))
def test_no_text_is_too_odd(text):
    found = range_of_label(text)
    assert found is None or found[0] <= found[1]
    band = read_band(text)
    assert band is None or band.low <= band.high
