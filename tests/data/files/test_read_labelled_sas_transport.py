"""SAS transport files: the letters of missing numbers, and files of several data sets."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

import sdckit as sdc
from sdckit.data.files import read_labelled
from sdckit.data.files.beside_records import beside_records
from sdckit.data.files.read_labelled import beside_transport

SAID = "letters of SAS for missing values (pay)"
MISSING = b"." + bytes(7)


def transport(path: Path, letters: bytes, version: int = 5) -> None:
    """Pay, with these first bytes of its missing values in turn, between a number and a text."""
    pay = [float("nan")] * len(letters) + [1500.0, 1.0]
    n = len(pay)
    frame = pd.DataFrame({"region": [1.0, 2.0] * n, "pay": pay * 2, "size": ["S", "A"] * n})
    pyreadstat.write_xport(frame, str(path), file_format_version=version)
    content = path.read_bytes()
    for letter in letters:
        content = content.replace(MISSING, bytes([letter]) + bytes(7), 1)
    path.write_bytes(content)


@pytest.mark.parametrize("version", [5, 8])
@pytest.mark.parametrize(("letters", "several"), [(b".A", True), (b"ABAB", True), (b"_.", True), (b"..", False)])
def test_letters_are_said_where_they_tell_missing_values_apart(
    tmp_path: Path, letters: bytes, several: bool, version: int
) -> None:
    path = tmp_path / "release.xpt"
    transport(path, letters, version)
    assert sdc.read_file(path)["pay"].null_count() == 2 * len(letters)
    assert [SAID in words for words in beside_records(path)] == [True] * several
    again = sdc.write_file(sdc.read_file(path), tmp_path / "again.sav")
    assert beside_records(again) == ()


def test_one_letter_alone_and_no_missing_values_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "release.xpt"
    transport(path, b"AAAA")
    path.write_bytes(path.read_bytes().replace(MISSING, b"A" + bytes(7)))
    assert beside_transport(path)[0] == []
    transport(path, b"")
    assert beside_transport(path)[0] == []


def test_a_gate_does_not_pass_letters_that_no_measure_looks_at(tmp_path: Path) -> None:
    path = tmp_path / "release.xpt"
    scenario = sdc.Scenario(keys=["region"], thresholds={"k": 2})
    transport(path, b"." * 30)
    sdc.assert_within_limits(path, scenario=scenario)
    transport(path, b".A" * 15)
    with pytest.raises(AssertionError, match="letters of SAS"):
        sdc.assert_within_limits(path, scenario=scenario)


def test_letters_of_a_sas_file_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # No open tool writes .sas7bdat: Stata's reader gives letters the same way.
    path, stata = tmp_path / "release.sas7bdat", tmp_path / "a.dta"
    path.write_bytes(b"records")
    frame = pd.DataFrame({"pay": pd.Series(["a", None, 1500.0], dtype=object)})
    labels = {"pay": {"a": "refused"}}
    pyreadstat.write_dta(frame, str(stata), missing_user_values={"pay": ["a"]}, variable_value_labels=labels)

    def read_sas7bdat(name: str, **options: object) -> tuple[object, object]:
        frame, meta = pyreadstat.read_dta(str(stata), **options)
        meta.file_format = "sas7bdat"
        return frame, meta

    monkeypatch.setattr(read_labelled.file_checks, "file_format", lambda path: "SAS")
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", read_sas7bdat)
    assert SAID in beside_records(path)[0]


def test_a_file_of_several_data_sets_is_refused(tmp_path: Path) -> None:
    path, other = tmp_path / "two.xpt", tmp_path / "other.xpt"
    transport(path, b".")
    transport(other, b".A")
    second = other.read_bytes()
    path.write_bytes(path.read_bytes() + second[second.index(b"HEADER RECORD*******MEMBER") :])
    for read in (sdc.read_file, sdc.read_labels):
        with pytest.raises(sdc.FileFormatError, match=r"two.xpt holds 2 data sets"):
            read(path)


def test_a_text_that_looks_like_a_header_is_no_second_data_set(tmp_path: Path) -> None:
    path = tmp_path / "one.xpt"
    text = "HEADER RECORD*******MEMBER  HEADER RECORD!"
    pyreadstat.write_xport(pd.DataFrame({"age": [1.0, 2.0], "text": [text, "other"]}), str(path))
    assert sdc.read_file(path)["text"].to_list() == [text, "other"]


@pytest.mark.parametrize("version", [5, 8])
def test_what_follows_the_last_record_is_said(tmp_path: Path, version: int) -> None:
    path = tmp_path / "release.xpt"
    frame = pd.DataFrame({"region": [1.0, 2.0] * 9, "size": ["S", "A"] * 9})  # 18 of 9 bytes: 78 blanks follow
    pyreadstat.write_xport(frame, str(path), file_format_version=version)
    content = path.read_bytes()
    assert content.endswith(b" " * 78)
    assert beside_records(path) == ()
    path.write_bytes(content[:-4] + b"9100" if version == 5 else content + b"the mayor has 9100".ljust(80))
    assert sdc.read_file(path).height == 18
    assert "notes" in beside_records(path)[0]


def test_a_file_without_records_holds_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "release.xpt"
    pyreadstat.write_xport(pd.DataFrame({"region": pd.Series([], dtype=float)}), str(path), file_format_version=8)
    assert (beside_transport(path)[0], beside_records(path)) == ([], ())


def test_records_are_looked_at_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.xpt"
    transport(path, b"." * 20_000 + b"A")
    monkeypatch.setattr(read_labelled, "_PIECE", 1 << 14, raising=False)
    tracemalloc.start()
    found = beside_transport(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == ([1], False)
    assert peak < path.stat().st_size / 4
    path.write_bytes(path.read_bytes()[:-80])  # in version 5 no header says how many records there are
    assert beside_transport(path)[0] == [1]
