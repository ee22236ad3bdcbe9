"""Names that would move the cursor, colour the terminal or end a line: neither output lets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.test_hostile_names import KEY, LEARNT, OTHER, hidden, survey


def test_neither_output_holds_them(sdckit, tmp_path: Path) -> None:
    file = tmp_path / "fi\x1ble.parquet"
    survey().write_parquet(file)
    keys = ("--keys", f'"{KEY}","{OTHER}"')
    for command in (
        ("assess", file, *keys, "--sensitive", f'"{LEARNT}"'),
        ("assess", file, *keys, "--dry-run"),
        ("assess", file, "--keys", f'"{KEY}x"'),
        ("suda", file, *keys),
        ("scenario", "init", file, "-o", tmp_path / "s.toml"),
        ("assess", file, *keys, "--report", tmp_path / "r\x1b.html"),
    ):
        done = sdckit(*command)
        assert not hidden(done.out), command
        assert not hidden(done.err), command
        assert done.code in {0, 2}
        assert "internal error" not in done.err


@pytest.mark.parametrize("name", ["a\x1b.csv", "no\nfile.csv"])
def test_names_of_files(sdckit, name: str) -> None:
    done = sdckit("assess", name, "--keys", "a")
    assert done.code == 2
    assert not hidden(done.err)
    assert done.err.count("\n") == 1
