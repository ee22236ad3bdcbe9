"""Shape of CSV files (records, widths and refusals are tested through test_read_csv)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.csv_shape import csv_shape
from sdckit.data.csv_text import CsvText


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
