"""What is told of an opened file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.workflow.sessions.answering import Desk
from sdckit.workflow.sessions.opening import MARK, MOST_ROWS, open_demo, open_file, rows
from session_files import MARKER, a_desk


def quiet(_: str) -> None:
    """Nobody listens."""


def coded(folder: Path) -> Path:
    """Ages of -9, a job that was refused, jobs not asked."""
    path = folder / "coded.csv"
    jobs = ["cook", "clerk", "refused", "NA", "nurse"]
    lines = [f"{-9 if at % 10 == 0 else 20 + at % 40};{jobs[at % 5]}" for at in range(300)]
    path.write_text("\n".join(["age;job", *lines]), encoding="utf-8")
    return path


def test_codes_are_told_with_what_they_do(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = str(coded(tmp_path))
    first = open_file(desk, quiet, path=path, reading={})
    assert first["missing"] == ["NA"]
    assert first["suspected"] == ["-9", "refused"]
    assert first["records"] == 300
    assert first["columns"] == ["age", "job"]
    assert "May mean missing" in first["html"]
    told: list[str] = []
    then = open_file(desk, told.append, path=path, reading={"missing": ["-9", "NA", "refused"]}, exact=True)
    assert then["missing"] == ["-9", "NA", "refused"]
    assert then["suspected"] == []
    assert [one for one in (">30<", ">60<", ">120<") if one in then["html"]] == [">30<", ">60<", ">120<"]
    assert told == ["reading coded.csv", "counting missing values"]


def test_counts_are_rounded_unless_they_may_be_exact(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = tmp_path / "few.csv"
    path.write_text("age,job\n" + "30,NA\n" * 3 + "30,cook\n" * 299, encoding="utf-8")
    html = open_file(desk, quiet, path=str(path), reading={})["html"]
    assert "&lt;5" in html
    assert ">302<" not in html
    assert ">302<" in open_file(desk, quiet, path=str(path), reading={}, exact=True)["html"]


def test_the_demo_comes_with_its_scenario(tmp_path: Path) -> None:
    found = open_demo(Desk(tmp_path), quiet, language="de")
    assert Path(found["path"]).parent == tmp_path
    assert found["scenario"]["intruders"]["acquaintance"][0] == "age"
    assert found["scenario"]["release"] == "public-use"
    assert "Was gelesen wurde" in found["html"]
    json.dumps(found)


def test_a_second_file_is_joined(tmp_path: Path) -> None:
    homes = tmp_path / "homes.csv"
    homes.write_text("hh,rooms\n" + "".join(f"{at},{at % 4}\n" for at in range(60)), encoding="utf-8")
    people = tmp_path / "people.csv"
    people.write_text("hh,age\n" + "".join(f"{at},{at % 50}\n" for at in range(60)), encoding="utf-8")
    reading = {"join": str(homes), "join_key": "hh"}
    found = open_file(Desk(tmp_path), quiet, path=str(people), reading=reading)
    assert found["columns"] == ["hh", "age", "rooms"]
    with pytest.raises(ColumnError, match="did you mean 'hh'"):
        open_file(Desk(tmp_path), quiet, path=str(people), reading={**reading, "join_key": "hhh"})


def test_labels_are_told(tmp_path: Path) -> None:
    import polars as pl

    from sdckit import write_file

    path = write_file(pl.DataFrame({"sex": ["f", "m"] * 40}), tmp_path / "a.sav", labels={"sex": "Sex of the person"})
    found = open_file(Desk(tmp_path), quiet, path=str(path), reading={})
    assert found["labels"] == {"sex": "Sex of the person"}
    assert "Sex of the person" in found["html"]


def test_codes_that_the_file_declares_are_named_as_applied(tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat

    ages, jobs = [20.0, 30.0, -9.0, 40.0, 95.0] * 60, [1.0, 2.0, 9.0, 1.0, 2.0] * 60
    pyreadstat.write_sav(
        pd.DataFrame({"age": ages, "job": jobs}), str(tmp_path / "a.sav"),
        missing_ranges={"age": [{"lo": -9, "hi": -1}], "job": [9]},
        variable_value_labels={"job": {1: "cook", 2: "clerk", 9: "refused"}},
    )  # fmt: skip
    path = str(tmp_path / "a.sav")
    html = open_file(Desk(tmp_path), quiet, path=path, reading={})["html"]
    assert "Declared missing by the file itself, and applied" in html
    assert "9 (refused)" in html
    assert "-9 … -1" in html
    assert html.count(">60<") >= 2
    kept = open_file(Desk(tmp_path), quiet, path=path, reading={"user_missing": True})["html"]
    assert "Declared missing" not in kept


def test_records_are_shown_a_page_at_a_time_and_marked(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    page = rows(desk, quiet, exact=True, hidden=["name"])
    assert MARK in page["html"]
    assert page["html"].count("<tr>") == MOST_ROWS + 1
    assert "person 1<" not in page["html"]
    assert MARKER in page["html"]  # it is the job of one of them
    german = rows(desk, quiet, exact=True, hidden=["name"], language="de")["html"]
    assert ">age<" in german  # names and values are those of the file
    unsaid = rows(desk, quiet, exact=True)["html"]  # no role is declared yet
    assert "person 1<" not in unsaid
    assert ">age<" in unsaid
    last = rows(desk, quiet, exact=True, start=999)
    assert last["next"] is None
    assert page["next"] == MOST_ROWS


def test_no_record_is_shown_where_figures_are_protected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="exact figures"):
        rows(a_desk(tmp_path), quiet)


def test_nothing_told_of_the_file_names_a_value(tmp_path: Path) -> None:
    found: dict[str, Any] = open_file(desk := a_desk(tmp_path), quiet, path=str(tmp_path / "small.csv"), reading={})
    assert desk.path.name == "small.csv"
    assert MARKER not in json.dumps(found)


def test_an_upload_that_cannot_be_read_is_removed_and_one_with_a_wrong_option_is_not(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "session")
    for name, reading, there in (("bad.csv", {}, False), ("good.csv", {"decimal": "x"}, True)):
        path = desk.folder / "files" / name / name
        path.parent.mkdir(parents=True)
        path.write_text("a,b\n1,2,3\n4\n" if name == "bad.csv" else "a,b\n1,2\n", encoding="utf-8")
        with pytest.raises(SdcError):
            open_file(desk, quiet, path=str(path), reading=reading, upload=True)
        assert path.parent.is_dir() == there
    elsewhere = tmp_path / "own.csv"  # a file of the user's is never removed
    elsewhere.write_text("a,b\n1,2,3\n4\n", encoding="utf-8")
    for upload in (True, False):
        with pytest.raises(SdcError):
            open_file(desk, quiet, path=str(elsewhere), reading={}, upload=upload)
    assert elsewhere.exists()
