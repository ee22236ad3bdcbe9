"""Compressed CSV files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from sdckit.data.files import unpacked as room
from sdckit.data.files.readers import describe_file, read_file, scan_header
from sdckit.data.files.unpacked import PACKED, bare_name, unpacked
from sdckit.errors import FileFormatError

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
    monkeypatch.setattr(room, "_MOST_ANYWAY", 1_000_000)
    with pytest.raises(FileFormatError, match="200 times as large"):
        unpacked(file)


def test_names() -> None:
    assert bare_name(Path("a.CSV.GZ")) == Path("a.CSV")
    assert unpacked(Path("a.csv")) is None
