"""A release is remembered as whoever has the file reads it, before it is there, with the id of its original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import people
from draw import quiet
from sdckit.data.files.file_labels import FileLabels
from sdckit.data.frames import open_frame
from sdckit.errors import DataError, FileFormatError, ScenarioError
from sdckit.workflow.recipes.release_files import PendingRelease, check_ledger, open_ledger, own_entries, write_release

DATA = people(120)
PLACE = {"folder": "ledger", "key": "ledger.key", "people": "wave 1", "id": "id"}
SCENARIO = sdc.Scenario(keys=["part", "sex"], sensitive=["job"], identifiers=["id"], ledger=PLACE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    sdc.ReleaseLedger.create("ledger", key="ledger.key", survey="Survey")
    return tmp_path


def ids(name: str) -> Any:
    frame: Any = open_frame(DATA)
    return frame[name]


def pending(*names: str, again: bool = False) -> PendingRelease:
    return PendingRelease(open_ledger(SCENARIO), SCENARIO, names, ids, "2024", again)


def released(steps: Sequence[Any], out: str, remembered: PendingRelease) -> list[Path]:
    """Write a release of the people without their ids."""
    with quiet():
        applied = sdc.Recipe(steps).apply(DATA.drop("id"), scenario=SCENARIO)

    def remember(parts: Sequence[Path], paths: Sequence[Path]) -> None:
        assert not any(path.exists() for path in paths)
        remembered.remember(applied, parts, paths)

    return write_release(
        applied.data, Path(out), log=None, log_path=None, sources=[], excel_safe=False, labels=FileLabels(),
        remember=remember,
    )  # fmt: skip


def test_the_rows_of_the_original_have_the_ids(folder: Path) -> None:
    files = released([{"method": "random_order"}], "safe.csv", pending("safe"))
    ledger = open_ledger(SCENARIO)
    (entry,) = ledger.entries
    assert (entry.name, entry.date, entry.people, entry.pending) == ("safe", "2024", "wave 1", True)
    assert own_entries(ledger, files) == ("safe",)
    assert own_entries(ledger, [Path("nowhere.csv")]) == ()
    found = sdc.differencing(DATA, ledger=ledger, keys=["part", "sex"], sensitive=["job"], id="id")
    assert found.entries[0].linked == DATA.height
    assert found.entries[0].pending
    assert found.n_pending == 1
    assert not found.people
    assert not sdc.differencing(DATA, ledger=ledger.without(["safe"]), keys=["part"], first=True).entries


def test_made_up_people_have_no_ids(folder: Path) -> None:
    step = {"method": "synthesize", "m": 2}
    files = released([step], "made.parquet", pending("made 1", "made 2"))
    ledger = open_ledger(SCENARIO)
    assert own_entries(ledger, files) == ("made 1", "made 2")
    assert not any(kind == "people" for entry in ledger.entries for kind, *_ in entry.sets)


def test_a_column_that_was_left_out_is_not_missed(folder: Path) -> None:
    released([{"method": "drop_identifiers", "columns": ["part", "job"]}], "less.csv", pending("less"))
    (entry,) = open_ledger(SCENARIO).entries
    assert {"part", "job"}.isdisjoint(entry.columns)


def test_the_same_file_is_remembered_once(folder: Path) -> None:
    (file,) = released([{"method": "random_order"}], "safe.csv", pending("safe"))
    pl.read_csv(file).write_csv("copy.csv")
    assert Path("copy.csv").read_bytes() == file.read_bytes()
    applied = sdc.Recipe([{"method": "random_order"}]).apply(DATA.drop("id"), scenario=SCENARIO)
    pending("again").remember(applied, [Path("copy.csv")], [Path("copy.csv")])
    assert [entry.name for entry in open_ledger(SCENARIO).entries] == ["safe"]


def test_a_name_that_is_taken_is_told(folder: Path) -> None:
    released([{"method": "random_order"}], "safe.csv", pending("safe"))
    with pytest.raises(DataError, match="'safe' already, which is pending: 'sdckit ledger withdraw' removes it"):
        pending("safe").check_names()
    assert pending("safe", again=True).check_names().names == ("safe",)
    open_ledger(SCENARIO).release("safe")
    with pytest.raises(DataError, match="'safe' already, which went out"):
        pending("safe", again=True).check_names()


def test_a_scenario_without_a_ledger_names_none() -> None:
    with pytest.raises(ScenarioError, match="name the ledger and its key"):
        open_ledger(sdc.Scenario(keys=["sex"]))


def test_a_ledger_that_cannot_be_opened_is_told_by_itself(folder: Path) -> None:
    check_ledger(SCENARIO)
    check_ledger(None)
    (folder / "ledger.key").unlink()
    check_ledger(SCENARIO.changed(ledger=None))
    with pytest.raises(FileFormatError, match=r"there is no key ledger\.key"):
        check_ledger(SCENARIO)
