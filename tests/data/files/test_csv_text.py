"""The text of CSV files, in blocks of any size."""

from __future__ import annotations

import pytest

from sdckit.data.files.csv_text import open_text


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_and_blocks_say_the_same(tmp_path, monkeypatch, block, encoding):
    monkeypatch.setattr("sdckit.data.files.csv_text._BLOCK", max(block, 3 if encoding == "utf-8-sig" else 1))
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
