"""What memory is free, and what a file takes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data import memory
from sdckit.data.memory import bytes_of_file, bytes_of_records, free_bytes


def test_free_memory_is_read_from_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    monkeypatch.setattr(memory, "MEMORY", told)
    assert free_bytes() == 50 * 1024
    monkeypatch.setattr(memory, "MEMORY", tmp_path / "nothing")  # as on other systems
    monkeypatch.setattr(memory.os, "sysconf", {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert free_bytes() == 40_960

    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert free_bytes() is None


def test_what_is_packed_takes_more(tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        (tmp_path / name).write_bytes(b"0" * 1000)
    assert 1000 < bytes_of_file(tmp_path / "a.csv") < bytes_of_file(tmp_path / "a.parquet")
    assert bytes_of_records(20, 3) == 2 * bytes_of_records(10, 3)
    assert bytes_of_records(10, 2) < bytes_of_records(10, 3) < 2 * bytes_of_records(10, 2)
