"""What is known of a file before it is read (refusals by format stand in test_readers)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.file_checks import FORMATS, clear_errors, file_format, pick_columns
from sdckit.errors import ColumnError, FileFormatError


@pytest.mark.parametrize("suffix", [suffix for suffix, kind in FORMATS.items() if kind in ("CSV", "Stata")])
def test_formats_without_a_mark_are_taken_at_their_name(tmp_path, suffix):
    path = tmp_path / f"x{suffix.upper()}"
    path.write_text("a,b\n")
    assert file_format(path) == FORMATS[suffix]


def test_columns_are_picked_once_each_in_the_order_asked():
    assert pick_columns(Path("x"), ["a", "b", "c"], ["c", "a", "c"]) == ("c", "a")
    assert pick_columns(Path("x"), ["a", "b"], None) == ("a", "b")


@pytest.mark.parametrize("kind", [OSError, ValueError, KeyError, OverflowError])
def test_errors_that_may_quote_records_are_replaced(kind):
    refusal = pytest.raises(FileFormatError, match=r"x\.csv cannot be read as CSV: because")
    with refusal as caught, clear_errors(Path("x.csv"), "CSV", lambda: "because"):
        raise kind("Zyxw-4711")
    assert caught.value.__suppress_context__


def test_our_own_errors_and_bugs_pass():
    with pytest.raises(ColumnError, match="ours"), clear_errors(Path("x"), "CSV"):
        raise ColumnError("ours")
    with pytest.raises(ZeroDivisionError), clear_errors(Path("x"), "CSV"):
        _ = 1 / 0
