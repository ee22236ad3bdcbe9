"""What memory is free, and what a file takes of it."""

from __future__ import annotations

from pathlib import Path

from sdckit.data.memory import bytes_of_file, bytes_of_records


def test_what_is_packed_takes_more(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).write_bytes(b"0" * 1000)
    assert 1000 < bytes_of_file(tmp_path / "a.csv") < bytes_of_file(tmp_path / "a.parquet")
    assert bytes_of_records(20, 3) == 2 * bytes_of_records(10, 3)
    assert bytes_of_records(10, 2) < bytes_of_records(10, 3) < 2 * bytes_of_records(10, 2)
