"""Whether a task fits the memory that is free."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.workflow.sessions import memory_of_tasks as memory
from sdckit.workflow.sessions.memory_of_tasks import lacking, needed_bytes

MILLION = {"records": 1_000_000, "columns": 20}


def test_needs_grow_with_records_columns_and_copies(tmp_path: Path) -> None:
    risk = needed_bytes("risk.risk", {}, MILLION)
    assert needed_bytes("risk.risk", {}, {**MILLION, "columns": ["a"] * 20}) == risk
    assert needed_bytes("risk.risk", {}, {**MILLION, "records": 2_000_000}) > risk
    assert needed_bytes("releasing.compare", {}, MILLION) > risk
    file = tmp_path / "a.csv"
    file.write_bytes(b"0" * 10_000)
    packed = tmp_path / "a.parquet"
    packed.write_bytes(b"0" * 10_000)
    read = needed_bytes("opening.open_file", {"path": str(file)}, None)
    assert 0 < read < needed_bytes("opening.open_file", {"path": str(packed)}, None)
    assert needed_bytes("opening.demo", {}, None) == 0


def test_the_message_says_how_much_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 2**30)
    text = lacking("risk.risk", {}, {"records": 100_000_000, "columns": 50})
    assert "and 1.0 GB are free" in text
    assert lacking("risk.risk", {}, {"records": 1000, "columns": 5}) == ""
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert lacking("risk.risk", {}, {"records": 100_000_000, "columns": 50}) == ""
