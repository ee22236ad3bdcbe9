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
from sdckit.data.files.csv_shape import csv_shape
from sdckit.data.files.csv_text import CsvText, open_text
from sdckit.data.files.readers import read_file
from sdckit.errors import SdcWarning


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
        patch.setattr("sdckit.data.files.csv_text._BLOCK", block)
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
