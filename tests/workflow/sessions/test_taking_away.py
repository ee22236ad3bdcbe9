"""What is taken away: files in the session's folder, made by the same gate, and the same bytes again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import FileFormatError, ScenarioError
from sdckit.report.chapters.decision import TOGETHER
from sdckit.workflow.sessions import taking_away
from session_files import BANDS, GROUPS, SCENARIO, SECRET, STEPS, a_desk

HOW: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET}
RANDOM = [{"method": "pram", "arguments": {"columns": ["ill"], "pd": 0.9}}, {"method": "random_order", "arguments": {}}]
IDS = {"method": "new_ids", "arguments": {"column": "name"}}


def tell(_: str) -> None:
    """Nobody listens."""


def test_every_file_is_there_and_the_log_is_for_its_owner(tmp_path: Path) -> None:
    found = taking_away.prepare(a_desk(tmp_path), tell, steps=STEPS, **HOW)
    what = {one["what"]: Path(one["path"]) for one in found["files"]}
    assert list(what) == ["release", "scenario", "recipe", "log", "script", "commands"]
    assert all(path.is_file() for path in what.values())
    assert what["log"].name == "log-secret.json"
    assert what["log"].stat().st_mode & 0o777 == 0o600
    secret = SECRET.encode()
    assert [name for name, path in what.items() if secret in path.read_bytes()] == ["log"]


def test_a_release_beyond_a_limit_is_taken_only_where_somebody_says_so(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    with pytest.raises(ScenarioError, match="a limit is exceeded"):
        taking_away.prepare(desk, tell, steps=[BANDS], **HOW)
    assert not (tmp_path / "taken").exists()
    found = taking_away.prepare(desk, tell, steps=[BANDS], accepted=True, **HOW)
    assert found["files"][0]["name"] == "release-limits-exceeded.csv"
    assert not any(entry["goes_out"] for entry in found["files"])
    assert "limit of the scenario is exceeded" in found["script"]
    assert "limit of the scenario is exceeded" in found["commands"]


def test_a_file_with_labels_is_the_same_again(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    found = taking_away.prepare(desk, tell, steps=[*STEPS, *RANDOM], kind=".dta", **HOW)
    what = {one["what"]: Path(one["path"]) for one in found["files"]}
    data = sdc.read_file(desk.path, identifiers=["name"])
    again = sdc.Recipe.replay(data, what["log"], watch=False).data
    written = sdc.write_file(again, tmp_path / "again.dta", labels=sdc.read_labels(desk.path))
    assert written.read_bytes() == what["release"].read_bytes()


def test_script_and_commands_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    desk = a_desk(tmp_path / "session")
    steps = [IDS, *STEPS, *RANDOM]
    found = taking_away.prepare(desk, tell, steps=steps, **HOW)
    away = tmp_path / "away"
    away.mkdir()
    for one in found["files"]:
        shutil.copy(one["path"], away)
    shutil.copy(desk.path, away)
    released = away / "release.csv"
    again = away / "release-again.csv"
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "sdckit"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sdckit "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    paths = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for call in (["sh", "repeat.sh"], [sys.executable, "repeat.py"]):
        again.unlink(missing_ok=True)
        done = subprocess.run(call, cwd=away, env=paths, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert again.read_bytes() == released.read_bytes()


def test_a_hierarchy_goes_along(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    lines = [f"{one};work" for one in desk.data["job"].unique()]
    (tmp_path / "jobs.csv").write_text("\n".join(lines), encoding="utf-8")
    up = {"method": "recode", "arguments": {"column": "job", "hierarchy": "jobs.csv", "level": 1}}
    found = taking_away.prepare(desk, tell, steps=[BANDS, up, STEPS[-1]], **HOW)
    assert [one["name"] for one in found["files"] if one["what"] == "hierarchy"] == ["jobs.csv"]


def test_the_report_is_written_in_the_language_of_the_session(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    one, _ = taking_away.report(desk, tell, steps=[BANDS, GROUPS], language="de", **HOW)["files"]
    text = Path(one["path"]).read_text(encoding="utf-8")
    assert 'lang="de"' in text
    assert one["name"] == "report.html"
    exact, public = taking_away.report(desk, tell, steps=[BANDS, GROUPS], exact=True, **HOW)["files"]
    assert exact["name"] == "report-confidential.html"
    assert [(file["name"], file["goes_out"]) for file in (exact, public)] == [
        ("report-confidential.html", False), ("report-public.html", True),
    ]  # fmt: skip


def test_what_goes_out_with_the_release_is_of_the_release_by_itself(tmp_path: Path) -> None:
    """The same for every original that gives this release: no figure of it, of its path, or of a secret."""
    texts, named = set(), []
    for place, (secret, name) in enumerate([(SECRET, "a"), ("0b" * 32, "b")]):
        (tmp_path / name).mkdir()
        desk = a_desk(tmp_path / name)
        if place:  # ages in the same bands, and another job that is taken out
            banded, job = pl.col("age").clip(20, 70), pl.col("job").replace("clerk", "baker")
            pl.read_csv(desk.path).with_columns(banded, job).write_csv(desk.path)
            desk.open(str(desk.path), {})
        how = {"scenario": SCENARIO, "secret": secret, "steps": STEPS}
        files = taking_away.report(desk, tell, **how)["files"] + taking_away.prepare(desk, tell, **how)["files"]
        goes = {file["what"]: Path(file["path"]) for file in files if file["goes_out"]}
        texts.add(tuple(path.read_text(encoding="utf-8") for path in goes.values()))
        named.append(list(goes))
    assert len(texts) == 1
    assert named == [["public", "release", "recipe"]] * 2
    assert TOGETHER not in str(texts)


def test_the_public_report_knows_nothing_of_what_was_left_out(tmp_path: Path) -> None:
    gone = {"method": "drop_identifiers", "arguments": {"columns": ["job"]}, "on": True}
    _, public = taking_away.report(a_desk(tmp_path), tell, steps=[BANDS, gone], **HOW)["files"]
    text = Path(public["path"]).read_text(encoding="utf-8")
    assert "age" in text
    assert "job" not in text
    assert "Name, signature" not in text


def test_without_a_key_there_is_no_report_of_the_release_by_itself(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    keys = [key for keys in SCENARIO["intruders"].values() for key in keys]
    gone = {"method": "drop_identifiers", "arguments": {"columns": keys}, "on": True}
    files = taking_away.report(desk, tell, steps=[gone], **HOW)["files"]
    assert [file["name"] for file in files] == ["report.html"]


def test_formats_that_are_not_there_are_refused(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    with pytest.raises(FileFormatError, match="no format"):
        taking_away.prepare(desk, tell, steps=STEPS, kind=".exe", **HOW)
    with pytest.raises(FileFormatError, match="no format"):
        taking_away.report(desk, tell, steps=STEPS, kind=".md", **HOW)


def test_a_release_is_remembered_where_the_scenario_says_so(tmp_path: Path) -> None:
    """As `sdckit protect` does it; the id of the ledger is an identifier, which does not go out."""
    desk = a_desk(tmp_path)
    place = {name: str(tmp_path / f"kept.{name}") for name in ("folder", "key")}
    sdc.ReleaseLedger.create(**place, survey="Survey")
    told = {**SCENARIO, "ledger": {**place, "id": "name", "add": True}}
    how = {"scenario": told, "secret": SECRET, "accepted": True}
    found = taking_away.prepare(desk, tell, steps=STEPS, **how)
    (entry,) = sdc.ReleaseLedger.open(**place).entries
    assert (entry.name, entry.pending) == (f"{desk.path.stem} 1", True)
    assert any(kind == "people" for kind, *_ in entry.sets)
    release = next(Path(file["path"]) for file in found["files"] if file["what"] == "release")
    assert sdc.ReleaseLedger.open(**place).names_of(release) == (entry.name,)
    assert "name" not in sdc.read_file(release).columns
