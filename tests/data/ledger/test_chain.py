"""The chain of a ledger: an older copy, a gap and another branch are refused, and no entry is lost to two at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from data.ledger.test_ledger_file import SKETCH, create, opened
from sdckit.data.ledger import chain
from sdckit.errors import FileFormatError


def test_an_older_copy_that_is_put_back_is_refused(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger")
    empty = (ledger.folder / "ledger.toml").read_bytes()
    ledger = ledger.with_entry("a", SKETCH)
    older = (ledger.folder / "ledger.toml").read_bytes()
    ledger.with_entry("b", SKETCH)
    for copy in (empty, older):
        (ledger.folder / "ledger.toml").write_bytes(copy)
        with pytest.raises(FileFormatError, match="its head beside the key with 2: this is an older copy"):
            opened(ledger.folder)
        with pytest.raises(FileFormatError, match="an older copy"):
            ledger.with_entry("c", SKETCH)


def test_another_branch_of_the_same_length_is_refused(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger")
    toml, head = ledger.folder / "ledger.toml", tmp_path / "head"
    empty = toml.read_bytes(), head.read_bytes()
    ledger.with_entry("a", SKETCH)
    branch = toml.read_bytes()
    toml.write_bytes(empty[0])
    head.write_bytes(empty[1])
    ledger.with_entry("b", SKETCH)
    toml.write_bytes(branch)
    with pytest.raises(FileFormatError, match="entry 1 of the ledger is not that of its head"):
        opened(ledger.folder)


def test_a_link_that_was_taken_out_or_changed_is_told(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger")
    for name in "abc":
        ledger = ledger.with_entry(name, SKETCH, people="all")
    toml = ledger.folder / "ledger.toml"
    whole = toml.read_text(encoding="utf-8")
    start, *links = whole.split("[[chain]]")
    gap = "[[chain]]".join([start, links[0], links[2]])
    swapped = "[[chain]]".join([start, links[1], links[0], links[2]])
    for text, place in ((gap, 2), (swapped, 1), (whole.replace('people = "all"', 'people = "no"'), 1)):
        toml.write_text(text, encoding="utf-8")
        with pytest.raises(FileFormatError, match=f"entry {place} of the ledger does not follow from those before"):
            opened(ledger.folder)
    toml.write_text(whole.replace('what = "released"', 'what = "pending"'), encoding="utf-8")
    with pytest.raises(FileFormatError, match="does not follow"):
        opened(ledger.folder)


def test_a_process_that_was_stopped_before_the_head_loses_nothing(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH)
    before = (tmp_path / "head").read_bytes()
    ledger.with_entry("b", SKETCH)
    (tmp_path / "head").write_bytes(before)
    assert [entry.name for entry in opened(ledger.folder).entries] == ["a", "b"]
    assert opened(ledger.folder).with_entry("c", SKETCH).head.number == 3
    assert (tmp_path / "head").read_text(encoding="ascii").startswith("3 ")


def test_a_head_that_is_gone_can_be_written_from_what_was_printed(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH)
    (tmp_path / "head").unlink()
    with pytest.raises(FileFormatError, match="there is no head beside the key"):
        opened(ledger.folder)
    (tmp_path / "head").write_text("one", encoding="ascii")
    with pytest.raises(FileFormatError, match="is no head of a ledger; write into it the number"):
        opened(ledger.folder)
    (tmp_path / "head").write_text(str(ledger.head), encoding="ascii")
    assert opened(ledger.folder).entries == ledger.entries


# One process at a time writes.


def test_who_cannot_have_the_lock_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = create(tmp_path / "ledger")
    monkeypatch.setattr(chain, "WAIT", 0.1)
    with chain.locked(ledger.folder), pytest.raises(FileFormatError, match="another process is writing"):
        ledger.with_entry("a", SKETCH)
    assert opened(ledger.folder).entries == ()
    assert len(ledger.with_entry("a", SKETCH).entries) == 1


def test_of_several_at_once_no_entry_is_lost(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger")
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda name: ledger.with_entry(str(name), SKETCH), range(12)))
    assert {entry.name for entry in opened(ledger.folder).entries} == {str(name) for name in range(12)}
