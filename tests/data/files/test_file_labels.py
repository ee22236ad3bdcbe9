"""What is known of columns: what the writer takes, what is user-missing, and how it is shown."""

from __future__ import annotations

import pytest

from sdckit.data.files.file_labels import ColumnLabels, FileLabels, as_labels
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
