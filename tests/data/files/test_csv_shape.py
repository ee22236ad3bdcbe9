"""Shape of CSV files (records, widths and refusals are tested through test_read_csv)."""

from __future__ import annotations

import csv
import io
import random
import warnings
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.data.files import csv_shape as shape_module
from sdckit.data.files.csv_shape import CsvText, csv_shape, header_names, open_text
from sdckit.data.files.readers import read_file
from sdckit.errors import ColumnError, DataError, SdcWarning


def shape_of(text):
    return csv_shape(CsvText(Path("x.csv"), text.encode()), None)


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ("a;b\n1,5;2,5\n", ";", ("a", "b")),
        ("a\n1\n", ",", ("a",)),
        ("a,b;c,d\n1,2;3,4\n", ",", ("a", "b;c", "d")),
        ("a|b|c\nx, y|2|3\n", "|", ("a", "b", "c")),
        ('"a;x","b"\n1,2\n', ",", ("a;x", "b")),
        ('"x",n,"z""a;"\n"y""a;",1,2\n', ",", ("x", "n", 'z"a;')),  # cut at ; it would be one line
    ],
)
def test_delimiter(text, delimiter, names):
    shape = shape_of(text)
    assert (shape.delimiter, shape.names) == (delimiter, names)


def test_positions():
    shape = shape_of('\n"a\nb",c\n\n1,2\n\n\n3,4\n\n')
    assert shape.skip_lines == 4
    assert shape.n_rows == 2
    assert shape.blank.tolist() == [1, 2, 4]
    assert shape.quoted


def test_only_the_end_of_one_column_may_be_blank():
    shape = shape_of("a\n\n1\n\n2\n\n\n")
    assert (shape.n_rows, shape.blank.tolist()) == (4, [4, 5])


def test_quotes_that_open_nothing():
    assert not shape_of('a,b\n5",x\n').quoted


# --- the vectorised pass against the csv module -----------------------------------------------------

cells = st.text(st.sampled_from('ab,;"\n\r1 é'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    table=st.integers(2, 4).flatmap(
        lambda w: st.lists(st.lists(cells, min_size=w, max_size=w), min_size=1, max_size=8)
    ),
    end=st.sampled_from(["\n", "\r\n"]),
    block=st.integers(1, 40),
)
def test_shape_and_values_as_the_csv_module(tmp_path_factory, table, end, block):
    names = [f"name{i}" for i in range(len(table[0]))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([names, *table])
    path = tmp_path_factory.getbasetemp() / "property.csv"
    path.write_bytes(out.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sdckit.data.files.csv_shape._BLOCK", block)
        shape = csv_shape(open_text(path, None), ",")
    assert (shape.names, shape.n_rows, len(shape.blank)) == (tuple(names), len(table), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)  # "1," may be a number with a decimal comma
        text = read_file(path, delimiter=",", missing=["no such code"]).select(pl.all().cast(pl.String))
    wanted = [[value or None for value in row] for row in table]
    numbers = [i for i in range(len(names)) if all(_numeric(row[i]) for row in table)]
    for i in range(len(names)):
        if i not in numbers:
            assert text.to_series(i).to_list() == [row[i] for row in wanted]


def _numeric(value):
    return not value.strip() or value.strip(" ").lstrip("+-").isdigit()


def test_the_pass_counts_as_the_exact_reading(tmp_path):
    random.seed(3)
    for _ in range(100):
        fields = ["a", '"b"', '"x,\ny"', '"say ""b"""', "", " "]
        lines = [",".join(random.choices(fields, k=random.randint(0, 4))) for _ in range(12)]
        body = "".join(line + random.choice(["\n", "\r\n"]) for line in lines)
        text = CsvText(tmp_path / "x.csv", f"p,q\n{body}".encode())
        counted, quoted = shape_module._count(text, ",")
        rows = list(csv.reader(text.lines()))
        assert quoted or '"' not in body
        assert counted.widths == {len(row) for row in rows if row}
        assert counted.records == len(rows)
        assert counted.blank.tolist() == [i for i, row in enumerate(rows) if not row]


# Headers, and records that stand in their place: nothing of a record is ever told.


PATH = Path("x.csv")
BELOW = [["f", "34", "north", ""], ["m", "51", "south", "x"], ["f", "8", "east", ""]]


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (["f", "34", "north", "y"], "field '2' is a number"),
        (["f", "34", "1-2", "y"], "fields '2', '3' are each a number"),
        (["a", "1990-05-06", "b", "c"], "field '2' is a number, a date"),
        (["f", "NA", "north", "y"], "field '2' is a code for missing"),
        (["f", "unknown", "north", "x"], "most of its fields stand again further down"),
        (["", "", "", ""], "all its fields are empty"),
    ],
)
def test_a_record_in_place_of_the_header(header, why):
    with pytest.raises(DataError, match=rf"^x\.csv: the first line does not look like a header .*: {why}") as caught:
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


# The text of CSV files, in blocks of any size.


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_and_blocks_say_the_same(tmp_path, monkeypatch, block, encoding):
    monkeypatch.setattr("sdckit.data.files.csv_shape._BLOCK", max(block, 3 if encoding == "utf-8-sig" else 1))
    path = tmp_path / "x.csv"
    wanted = "é,b\n日本,2\n\nlast"
    path.write_bytes(wanted.encode(encoding))
    text = open_text(path, None)
    assert b"".join(text.blocks()).decode() == wanted
    assert "".join(text.lines()) == wanted
    assert text.source == (path if encoding != "utf-16" else wanted.encode())


def test_old_macintosh_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\r1,2\r")
    assert open_text(path, None).source == b"a,b\n1,2\n"
