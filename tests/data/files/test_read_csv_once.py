"""A CSV file is gone through once for its header and its records, and anew once it has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sdckit.data.files import read_csv
from sdckit.data.files.readers import read_file, scan_header


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[bytes], Path]:
    def save(content: bytes) -> Path:
        path = tmp_path / "survey.csv"
        path.write_bytes(content)
        return path

    return save


@pytest.fixture
def gone_through(monkeypatch) -> list[Path]:
    """The files whose lines were checked; each may be remembered at once."""
    paths: list[Path] = []
    shape_of = read_csv.csv_shape

    def csv_shape(text, delimiter):
        paths.append(text.path)
        return shape_of(text, delimiter)

    monkeypatch.setattr(read_csv, "csv_shape", csv_shape)
    monkeypatch.setattr(read_csv, "_SEEN", {})
    monkeypatch.setattr(read_csv, "_SETTLED", -(10**15))
    return paths


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_are_checked_once(saved, gone_through: list[Path], encoding: str) -> None:
    path = saved("a;b\nä;1\nö;2\n".encode(encoding))
    for _ in range(2):
        assert scan_header(path).columns == ("a", "b")
        assert read_file(path)["a"].to_list() == ["ä", "ö"]
    assert gone_through == [path]
    scan_header(path, delimiter=";")
    assert gone_through == [path, path]


def test_a_file_that_changed_is_gone_through_anew(saved, gone_through: list[Path]) -> None:
    path = saved(b"a;b\nx;1\n")
    scan_header(path)
    path.write_bytes(b"c,d\ny,2\nz,3\n")
    assert scan_header(path).columns == ("c", "d")
    assert read_file(path).rows() == [("y", 2), ("z", 3)]
    assert gone_through == [path, path]


def test_a_file_just_written_is_not_remembered(saved, gone_through: list[Path], monkeypatch) -> None:
    """Another change may have the same time and size."""
    monkeypatch.setattr(read_csv, "_SETTLED", 10**15)
    path = saved(b"a;b\nx;1\n")
    scan_header(path)
    assert read_csv._SEEN == {}
    assert read_file(path).columns == ["a", "b"]
    assert gone_through == [path, path]


def test_few_are_remembered(tmp_path: Path, gone_through: list[Path]) -> None:
    for number in range(20):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(b"a;b\nx;1\n")
        scan_header(path)
    assert len(read_csv._SEEN) == read_csv._MOST_SEEN
