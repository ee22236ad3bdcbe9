"""The ledger on disk: whole or not at all, and random bytes to whoever has no key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdckit.data.ledger import ledger_file
from sdckit.data.ledger.digests import WIDTH, Digester, Sketch, sorted_part
from sdckit.data.ledger.ledger_file import LedgerFile, create_file, make_key, open_file, read_key, upgrade_file
from sdckit.data.scenarios.scenario_toml import write_toml
from sdckit.errors import DataError, FileFormatError

KEY = Digester(b"k" * 32)
DIGESTS = np.random.default_rng(5).integers(0, 256, (8, WIDTH), dtype=np.uint8)
SKETCH = Sketch({
    ("counts", "a"): sorted_part(DIGESTS[:3], np.array([5, 1, 70_000]))[0],
    ("counts", 'b "x"', "a"): sorted_part(DIGESTS[:5], np.arange(1, 6))[0],
    ("people", "id", "a"): sorted_part(DIGESTS[5:5], np.zeros(0))[0],
})  # fmt: skip


def create(folder: Path, key: Digester = KEY) -> LedgerFile:
    return create_file(folder, "Survey", key, folder.with_name("head"))


def opened(folder: Path, key: Digester = KEY) -> LedgerFile:
    return open_file(folder, key, folder.with_name("head"))


def test_a_sketch_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = create(tmp_path / "ledger").with_entry("2024", SKETCH, date="2024-05", people="all")
    again = opened(tmp_path / "ledger")
    (entry,) = again.entries
    assert (again.survey, entry.name, entry.date, entry.people) == ("Survey", "2024", "2024-05", "all")
    assert entry.columns == ("a", 'b "x"')
    assert made.entries == again.entries
    found = again.read(entry)
    assert found.parts.keys() == SKETCH.parts.keys()
    for place, part in SKETCH.parts.items():
        assert (found.parts[place].digests == part.digests).all()
        assert (found.parts[place].numbers == part.numbers).all()


def test_only_the_owner_can_read_its_files(tmp_path: Path) -> None:
    create(tmp_path / "ledger").with_entry("2024", SKETCH)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "ledger").iterdir()} == {0o600}
    assert (tmp_path / "head").stat().st_mode & 0o777 == 0o600


def test_neither_digests_nor_numbers_nor_their_order_can_be_seen(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH).with_entry("b", SKETCH)
    rows = []
    for entry in ledger.entries:
        raw = (ledger.folder / entry.file).read_bytes()
        assert not any(bytes(one) in raw for one in DIGESTS)
        rows.append(set(pq.read_table(ledger.folder / entry.file)["sealed"].to_pylist()))
    assert len(rows[0]) == 8
    assert not rows[0] & rows[1]  # the same release twice


def test_another_key_is_told(tmp_path: Path) -> None:
    create(tmp_path / "ledger")
    with pytest.raises(DataError, match="this is not the key of the ledger"):
        opened(tmp_path / "ledger", Digester(b"l" * 32))


def test_a_name_goes_once_and_dates_are_dates(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("2024", SKETCH)
    with pytest.raises(DataError, match="has a release '2024' already"):
        ledger.with_entry("2024", SKETCH)
    with pytest.raises(DataError, match="name is empty"):
        ledger.with_entry(" ", SKETCH)
    with pytest.raises(DataError, match="date is a year"):
        ledger.with_entry("2025", SKETCH, date="May")
    assert len(opened(ledger.folder).entries) == 1
    assert len(list(ledger.folder.glob("*.parquet"))) == 1


def test_what_another_process_added_meanwhile_stays(tmp_path: Path) -> None:
    first = create(tmp_path / "ledger")
    first.with_entry("a", SKETCH)
    assert [one.name for one in first.with_entry("b", SKETCH).entries] == ["a", "b"]


# Pending releases: they go out, or are taken back.


def test_a_pending_release_goes_out_or_is_taken_back(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH, pending=True).with_entry("b", SKETCH, pending=True)
    assert [entry.pending for entry in ledger.with_released("a").entries] == [False, True]
    assert [entry.name for entry in ledger.without_pending("b").entries] == ["a"]
    again = opened(ledger.folder)
    assert [(entry.name, entry.pending) for entry in again.entries] == [("a", False)]
    assert (again.head.number, len(list(ledger.folder.glob("*.parquet")))) == (4, 1)
    assert again.with_released("a").head == again.head  # it went out already
    with pytest.raises(DataError, match="'a' went out; what went out stays"):
        again.without_pending("a")
    with pytest.raises(DataError, match="has no release 'b'"):
        again.without_pending("b")
    assert len(again.with_entry("b", SKETCH).entries) == 2  # its name is free again


def test_a_pending_release_is_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH, pending=True)
    with pytest.raises(DataError, match="which is pending: 'sdckit ledger withdraw' removes it"):
        ledger.with_entry("a", SKETCH, pending=True)
    ledger = ledger.with_entry("a", SKETCH, pending=True, again=True)
    assert (len(ledger.entries), ledger.head.number) == (1, 3)
    with pytest.raises(DataError, match="which went out and stays in it"):
        ledger.with_released("a").with_entry("a", SKETCH, again=True)


def test_what_was_added_meanwhile_has_to_be_looked_at(tmp_path: Path) -> None:
    checked = create(tmp_path / "ledger").with_entry("a", SKETCH, pending=True)
    checked.with_entry("b", SKETCH)
    with pytest.raises(DataError, match="the ledger got b meanwhile, which 'a' was not held against"):
        checked.with_released("a")
    assert opened(checked.folder).entries[0].pending


# Ledgers of the version before chains.


def make_older(ledger: LedgerFile) -> bytes:
    """Write a ledger as the version before wrote it, and take its head away."""
    plain = {"schema": "sdckit/ledger", "schema_version": "1", "survey": ledger.survey, "number": ledger.number}
    plain["check"] = KEY.check(f"{ledger.number}\0{ledger.survey}")
    names = ("date", "people", "file", "nonce", "seal", "sets")
    tables = [(("releases", one.name), {name: one.stored[name] for name in names}) for one in ledger.entries]
    (ledger.folder / "ledger.toml").write_text(write_toml(plain, tables), encoding="utf-8")
    ledger.head_file.unlink(missing_ok=True)
    return (ledger.folder / "ledger.toml").read_bytes()


def test_an_older_ledger_is_sealed_once(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH)
    shorter = make_older(ledger)
    ledger = upgrade_file(ledger.folder, KEY, ledger.head_file).with_entry("b", SKETCH)
    make_older(ledger)
    with pytest.raises(FileFormatError, match="seal it once: 'sdckit ledger upgrade'"):
        opened(ledger.folder)
    upgraded = upgrade_file(ledger.folder, KEY, ledger.head_file)
    assert upgraded.entries == ledger.entries == opened(ledger.folder).entries
    with pytest.raises(FileFormatError, match="has a chain already"):
        upgrade_file(ledger.folder, KEY, ledger.head_file)
    (ledger.folder / "ledger.toml").write_bytes(shorter)
    with pytest.raises(FileFormatError, match="was upgraded before, and ledger is an older copy"):
        upgrade_file(ledger.folder, KEY, ledger.head_file)


def test_an_older_ledger_that_was_changed_is_not_sealed(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH)
    toml = ledger.folder / "ledger.toml"
    toml.write_bytes(make_older(ledger).replace(b'date = ""', b'date = "2024"'))
    with pytest.raises(FileFormatError, match="is not what was added"):
        upgrade_file(ledger.folder, KEY, ledger.head_file)
    assert not ledger.head_file.exists()


def test_a_changed_file_or_entry_is_noticed(tmp_path: Path) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH, people="all")
    sketch = ledger.folder / ledger.entries[0].file
    raw = bytearray(sketch.read_bytes())
    raw[len(raw) // 2] ^= 1
    sketch.write_bytes(raw)
    with pytest.raises(FileFormatError, match="is not what was added"):
        ledger.read(ledger.entries[0])
    sketch.unlink()
    with pytest.raises(FileFormatError, match="the sketch of 'a' cannot be read"):
        ledger.read(ledger.entries[0])


def test_a_folder_without_a_ledger_or_with_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no ledger in"):
        opened(tmp_path)
    create(tmp_path)
    with pytest.raises(FileFormatError, match="holds a ledger already"):
        create(tmp_path)
    with pytest.raises(FileFormatError, match="could not make the folder"):
        create(tmp_path / "no" / "where")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('schema = "sdckit/ledger"', 'schema = "other"', "is no ledger that this version reads"),
        ("survey = ", "surveys = ", "is damaged"),
        ("digest = ", "digests = ", "is damaged"),
    ],
)
def test_a_damaged_ledger_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    folder = create(tmp_path / "ledger").with_entry("a", SKETCH).folder
    toml = folder / "ledger.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(FileFormatError, match=told):
        opened(folder)


# The key: its owner's alone, and never lost in silence.


def test_a_key_is_read_as_it_was_made_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "ledger.key"
    key = make_key(file)
    assert read_key(file) == key
    assert len(key) == 32
    assert file.stat().st_mode & 0o777 == 0o600
    assert make_key(tmp_path / "other.key") != key


def test_a_key_replaces_no_file(tmp_path: Path) -> None:
    file = tmp_path / "ledger.key"
    key = make_key(file)
    with pytest.raises(FileFormatError, match="may be the key of another ledger"):
        make_key(file)
    assert read_key(file) == key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "ledger.key"
    make_key(file)
    file.chmod(mode)
    with pytest.raises(DataError, match=r"others can read the key ledger\.key"):
        read_key(file)


def test_a_lost_key_says_what_that_means(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"there is no key lost\.key; the ledger answers nothing without its key"):
        read_key(tmp_path / "lost.key")


@pytest.mark.parametrize("text", ["", "xyz", "00" * 16, "é", "00" * 40])
def test_what_is_no_key_is_refused_without_its_text(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ledger.key"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(FileFormatError, match=r"ledger\.key is no key of a ledger") as caught:
        read_key(file)
    assert not text or text not in str(caught.value)


def test_a_folder_is_no_key_and_none_can_be_made_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot read the key"):
        read_key(tmp_path)
    with pytest.raises(FileFormatError, match="could not write the key"):
        make_key(tmp_path / "none" / "ledger.key")


def test_sketches_and_heads_that_are_too_large_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = create(tmp_path / "ledger").with_entry("a", SKETCH)
    (entry,) = ledger.entries
    monkeypatch.setattr(ledger_file, "free_bytes", lambda: 1000)
    with pytest.raises(FileFormatError, match="the sketch of 'a' is not read"):
        ledger.read(entry)
    monkeypatch.setattr(ledger_file, "free_bytes", lambda: None)
    ledger.read(entry)
    with (ledger.folder / entry.file).open("r+b") as file:
        file.truncate(ledger_file.LARGEST + 1)  # of holes
    with pytest.raises(FileFormatError, match="larger than fits into memory, or than any sketch is"):
        ledger.read(entry)
    with (tmp_path / "head").open("ab") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileFormatError, match="is no head of a ledger"):
        opened(ledger.folder)
