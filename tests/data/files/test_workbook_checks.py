"""Workbooks before they are read; `tests/redteam` has those that would end the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from redteam.hostile_files import BODY, HEAD, workbook
from sdckit import read_file
from sdckit.data.files.workbook_checks import _lengths, _Sheet, check_workbook
from sdckit.errors import FileFormatError


def cells(*blocks: bytes) -> int:
    sheet = _Sheet(_lengths(b""))
    for block in blocks:
        sheet.add(block)
    return sheet.cells


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([b'<row r="1"><c r="A1"/><c r="C1"/></row>'], 3),
        ([b"<x:row r='4'>", b"<x:c r = 'b2'/>"], 8),
        ([b"<row><c/><c/></row>", b"<row><c/></row>"], 4),
        ([b"<row><c/>", b"<c/>", b"<c/></row><row/>"], 6),
        ([b'<row r="7"/>'], 0),
        ([b"<cols/><cellStyle/>"], 0),
    ],
)
def test_cells_from_the_first_to_the_farthest(blocks: list[bytes], expected: int) -> None:
    assert cells(*blocks) == expected


def test_a_plain_workbook_passes(tmp_path: Path) -> None:
    workbook(tmp_path / "a.xlsx", strings="<si><t>x</t></si>")
    check_workbook(tmp_path / "a.xlsx")
    assert read_file(tmp_path / "a.xlsx").rows() == [(1, 34)]


def test_a_cell_is_seen_wherever_the_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdckit.data.files.workbook_checks._BLOCK", 300)
    workbook(tmp_path / "a.xlsx", HEAD + BODY + '<row r="1048576"><c r="XFD1048576"/></row>')
    with pytest.raises(FileFormatError, match="reaches over 17,179,869,184 cells"):
        check_workbook(tmp_path / "a.xlsx")


def test_what_is_no_workbook_is_a_value_error(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"^$"):
        check_workbook(tmp_path / "a.xlsx")
    with pytest.raises(FileFormatError, match="damaged or protected by a password"):
        read_file(tmp_path / "a.xlsx")
