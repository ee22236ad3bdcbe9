"""The ledger on disk: whole or not at all, and random bytes to whoever has no key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdckit.data.ledger.digests import WIDTH, Digester, Sketch, sorted_part
from sdckit.data.ledger.ledger_file import create_file, make_key, open_file, read_key
from sdckit.errors import DataError, FileFormatError

KEY = Digester(b"k" * 32)
DIGESTS = np.random.default_rng(5).integers(0, 256, (8, WIDTH), dtype=np.uint8)
SKETCH = Sketch({
    ("counts", "a"): sorted_part(DIGESTS[:3], np.array([5, 1, 70_000]))[0],
    ("counts", 'b "x"', "a"): sorted_part(DIGESTS[:5], np.arange(1, 6))[0],
    ("people", "id", "a"): sorted_part(DIGESTS[5:5], np.zeros(0))[0],
})  # fmt: skip


def test_a_sketch_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = create_file(tmp_path / "ledger", "Survey", KEY).with_entry("2024", SKETCH, date="2024-05", people="all")
    again = open_file(tmp_path / "ledger", KEY)
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
    create_file(tmp_path / "ledger", "Survey", KEY).with_entry("2024", SKETCH)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "ledger").iterdir()} == {0o600}
    assert not (tmp_path / "ledger" / "ledger.lock").exists()


def test_neither_digests_nor_numbers_nor_their_order_can_be_seen(tmp_path: Path) -> None:
    ledger = create_file(tmp_path / "ledger", "Survey", KEY).with_entry("a", SKETCH).with_entry("b", SKETCH)
    rows = []
    for entry in ledger.entries:
        raw = (ledger.folder / entry.file).read_bytes()
        assert not any(bytes(one) in raw for one in DIGESTS)
        rows.append(set(pq.read_table(ledger.folder / entry.file)["sealed"].to_pylist()))
    assert len(rows[0]) == 8
    assert not rows[0] & rows[1]  # the same release twice


def test_another_key_is_told(tmp_path: Path) -> None:
    create_file(tmp_path / "ledger", "Survey", KEY)
    with pytest.raises(DataError, match="this is not the key of the ledger"):
        open_file(tmp_path / "ledger", Digester(b"l" * 32))


def test_a_name_goes_once_and_dates_are_dates(tmp_path: Path) -> None:
    ledger = create_file(tmp_path / "ledger", "Survey", KEY).with_entry("2024", SKETCH)
    with pytest.raises(DataError, match="has a release '2024' already"):
        ledger.with_entry("2024", SKETCH)
    with pytest.raises(DataError, match="name is empty"):
        ledger.with_entry(" ", SKETCH)
    with pytest.raises(DataError, match="date is a year"):
        ledger.with_entry("2025", SKETCH, date="May")
    assert len(open_file(ledger.folder, KEY).entries) == 1
    assert len(list(ledger.folder.iterdir())) == 2


def test_what_another_process_added_meanwhile_stays(tmp_path: Path) -> None:
    first = create_file(tmp_path / "ledger", "Survey", KEY)
    first.with_entry("a", SKETCH)
    assert [one.name for one in first.with_entry("b", SKETCH).entries] == ["a", "b"]


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    ledger = create_file(tmp_path / "ledger", "Survey", KEY)
    (ledger.folder / "ledger.lock").touch()
    with pytest.raises(FileFormatError, match="somebody is adding to this ledger"):
        ledger.with_entry("a", SKETCH)
    assert open_file(ledger.folder, KEY).entries == ()


def test_a_changed_file_or_entry_is_noticed(tmp_path: Path) -> None:
    ledger = create_file(tmp_path / "ledger", "Survey", KEY).with_entry("a", SKETCH, people="all")
    toml, sketch = ledger.folder / "ledger.toml", ledger.folder / ledger.entries[0].file
    whole = toml.read_text(encoding="utf-8")
    toml.write_text(whole.replace('people = "all"', 'people = "other"'), encoding="utf-8")
    changed = open_file(ledger.folder, KEY)
    with pytest.raises(FileFormatError, match="is not what was added"):
        changed.read(changed.entries[0])
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
        open_file(tmp_path, KEY)
    create_file(tmp_path, "Survey", KEY)
    with pytest.raises(FileFormatError, match="holds a ledger already"):
        create_file(tmp_path, "Survey", KEY)
    with pytest.raises(FileFormatError, match="could not make the folder"):
        create_file(tmp_path / "no" / "where", "Survey", KEY)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('schema = "sdckit/ledger"', 'schema = "other"', "is no ledger that this version reads"),
        ("survey = ", "surveys = ", "is damaged"),
        ('nonce = "', 'nonce = "x', "is damaged"),
        ('file = "', 'file = "../', "is damaged"),
    ],
)
def test_a_damaged_ledger_is_told(tmp_path: Path, old: str, new: str, told: str) -> None:
    folder = create_file(tmp_path / "ledger", "Survey", KEY).with_entry("a", SKETCH).folder
    toml = folder / "ledger.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(FileFormatError, match=told):
        open_file(folder, KEY)


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
