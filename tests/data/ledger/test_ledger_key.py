"""The key: its owner's alone, and never lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.ledger.ledger_key import make_key, read_key
from sdckit.errors import DataError, FileFormatError


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
    with pytest.raises(
        FileFormatError, match=r"there is no key lost\.key; the ledger answers nothing without its key"
    ):
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
