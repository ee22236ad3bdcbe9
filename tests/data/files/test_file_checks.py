"""What is known of a file before it is read (refusals by format stand in test_readers)."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from sdckit.data.files import file_checks as room
from sdckit.data.files.file_checks import (
    FORMATS,
    PACKED,
    bare_name,
    clear_errors,
    file_format,
    is_code,
    is_value,
    pick_columns,
    refuse_duplicates,
    unpacked,
    warn_of_absent,
)
from sdckit.data.files.readers import describe_file, read_file, scan_header
from sdckit.errors import ColumnError, FileFormatError, SdcWarning


@pytest.mark.parametrize("suffix", [suffix for suffix, kind in FORMATS.items() if kind in ("CSV", "Stata")])
def test_formats_without_a_mark_are_taken_at_their_name(tmp_path, suffix):
    path = tmp_path / f"x{suffix.upper()}"
    path.write_text("a,b\n")
    assert file_format(path) == FORMATS[suffix]


def test_columns_are_picked_once_each_in_the_order_asked():
    assert pick_columns(Path("x"), ["a", "b", "c"], ["c", "a", "c"]) == ("c", "a")
    assert pick_columns(Path("x"), ["a", "b"], None) == ("a", "b")


def test_names_that_may_be_a_record_are_not_told():
    names = ["Zyxw", "34", "north"]
    with pytest.raises(ColumnError) as caught:
        pick_columns(Path("x.parquet"), names, ["north", "age"])
    assert "'age'; the names there are not told" in str(caught.value)
    assert "Zyxw" not in str(caught.value)
    with pytest.raises(ColumnError, match=r"repeated column names, .*: \(1, 2\)"):
        refuse_duplicates(Path("x"), ["34", "34"])


def test_identifiers():
    assert pick_columns(Path("x"), ["a", "b"], None, identifiers=["a"]) == ("b",)
    with pytest.warns(SdcWarning, match=r"no identifier 'c', 'aa' \(did you mean 'aab'\?\)"):
        warn_of_absent(["c", "b", "aa"], ["aab", "b"])
    with pytest.warns(SdcWarning) as caught:
        warn_of_absent(["Zyx"], ["Zyxw", "34"])
    assert "Zyxw" not in str(caught[0].message)


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


@pytest.mark.parametrize(
    "text",
    ["0", " 12 ", "-3.5", "1.234,5", "0012", "1e5", "15-29", "60+", "<5", "€ 1,200", "50%", "2020-01-31",
     "31.12.1990", "1/2/90", "2020-01-31T10:00:00Z", "12-Mar-1990", "3. Oktober 1971", "1st jan 2000",
     "anna@example.org", "٣"],
)  # fmt: skip
def test_values(text):
    assert is_value(text)


@pytest.mark.parametrize(
    "text", ["age", "v12", "q1_2", "1st_job", "income 2019", "w.x", "", " ", "größe", "e5", "a-b", "2019q1", "@"]
)
def test_names(text):
    assert not is_value(text)


def test_codes():
    assert all(map(is_code, ["", " ", "NA", " . ", "null"]))
    assert not any(map(is_code, ["na", "None", "0"]))


# Compressed CSV files.


TEXT = b"sex;age;postcode\nf;31;0012\nm;NA;9000\n"


def _zst(raw: bytes) -> bytes:
    return pa.compress(raw, codec="zstd", asbytes=True)


WRITERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": _zst,
}  # fmt: skip


def test_every_kind_is_tried() -> None:
    assert set(WRITERS) == set(PACKED)


@pytest.mark.parametrize("ending", PACKED)
def test_read_as_the_file_it_holds(tmp_path: Path, ending: str) -> None:
    plain, packed = tmp_path / "survey.csv", tmp_path / f"survey.csv{ending}"
    plain.write_bytes(TEXT)
    packed.write_bytes(WRITERS[ending](TEXT))
    assert read_file(packed, missing="NA").equals(read_file(plain, missing="NA"))
    assert scan_header(packed) == scan_header(plain)
    assert describe_file(packed, missing="NA").frame.equals(read_file(plain, missing="NA"))


def test_another_encoding_within(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv.gz"
    file.write_bytes(gzip.compress("ort\nKöln\nUlm\n".encode("cp1252")))
    assert read_file(file, encoding="cp1252")["ort"].to_list() == ["Köln", "Ulm"]


@pytest.mark.parametrize("ending", PACKED)
def test_a_file_cut_off(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"survey.csv{ending}"
    whole = WRITERS[ending](TEXT * 500)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="cannot be unpacked"):
        read_file(file)


def test_what_is_no_compressed_file(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv.gz"
    file.write_bytes(TEXT)
    with pytest.raises(FileFormatError, match="is not gzip"):
        read_file(file)
    file.write_bytes(bz2.compress(TEXT))
    with pytest.raises(FileFormatError, match="its content is bzip2"):
        read_file(file)
    packed = tmp_path / "survey.csv"
    packed.write_bytes(gzip.compress(TEXT))
    with pytest.raises(FileFormatError, match="its content is gzip"):
        read_file(packed)


def test_other_formats_are_unpacked_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "survey.parquet.gz"
    file.write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(FileFormatError, match="only CSV"):
        read_file(file)
    file = tmp_path / "survey.gz"
    file.write_bytes(gzip.compress(TEXT))
    with pytest.raises(FileFormatError, match=r"\.csv before \.gz"):
        read_file(file)


def test_a_file_that_fills_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "zeros.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"0" * 2_000_000))
    monkeypatch.setattr(room, "UNPACKED", (200, 1_000_000))
    with pytest.raises(FileFormatError, match="200 times as large"):
        unpacked(file)


def test_names_of_unpacked() -> None:
    assert bare_name(Path("a.CSV.GZ")) == Path("a.CSV")
    assert unpacked(Path("a.csv")) is None


def test_what_a_library_prints_while_it_gives_up_is_withheld(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with clear_errors(tmp_path / "a.arrow", "Arrow"), clear_errors(tmp_path / "a.arrow", "Arrow"):
        os.write(2, b"a hint\n")
    assert capfd.readouterr().err == "a hint\n"

    def gives_up() -> None:
        os.write(2, b"thread 'async-executor-0' panicked at a.rs:1:2:\nsecret\n")
        raise pl.exceptions.PanicException("secret")

    with pytest.raises(FileFormatError, match="cannot be read as Arrow"), clear_errors(tmp_path / "a.arrow", "Arrow"):
        gives_up()
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "after\n"
