"""Project files: written and read again; a hostile one is one clear error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sdckit.errors import SdcError
from sdckit.workflow.sessions.projects import FORMAT, LARGEST, load, project_text, read_project

STEP = {"method": "round_to", "arguments": {"column": "age", "base": 5}, "on": False}
SAVED: dict[str, Any] = {"name": "a.csv", "scenario": {"keys": ["age"]}, "steps": [STEP]}
SAVED["versions"] = [{"name": "mine", "why": "", "time": "", "scenario": None, "steps": [STEP], "secret": "5ec4e7"}]


def test_a_project_is_read_as_it_was_written_and_holds_no_secret(tmp_path: Path) -> None:
    text = project_text({**SAVED, "secret": "5ec4e7", "release": {"path": "x"}})
    assert "5ec4e7" not in text
    assert "release" not in text
    file = tmp_path / "project.sdckit"
    file.write_text(text, encoding="utf-8")
    project = read_project(file)
    assert {name: project[name] for name in ("name", "scenario", "steps")} == {
        name: SAVED[name] for name in ("name", "scenario", "steps")
    }
    assert project["versions"][0]["name"] == "mine"
    assert project_text(project) == text
    assert load(None, lambda _: None, path=str(file)) == project  # type: ignore[arg-type]


def text_of(**changed: Any) -> str:
    return json.dumps({"format": FORMAT, **SAVED, **changed})


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "3", "[]", "{", "{}", "[" * 100_000, "\ud800" * 0 + '{"format": 3}',
        text_of(scenario=3), text_of(scenario={"no such": 1}), text_of(scenario={"keys": 3}), text_of(steps=3),
        text_of(steps=[3]), text_of(steps=[{**STEP, "method": "nothing"}]), text_of(steps=[{**STEP, "method": 3}]),
        text_of(steps=[{**STEP, "arguments": {"seed": 5}}]), text_of(steps=[{**STEP, "arguments": {"method": "x"}}]),
        text_of(versions=[3]), text_of(versions=None), text_of(versions={"a": 1}), " " * (LARGEST + 1),
    ],
)  # fmt: skip
def test_what_is_no_project_is_one_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "project.sdckit"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SdcError):
        read_project(file)


def test_a_file_that_is_no_text_or_not_there_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "a.sdckit").write_bytes(b"PK\x03\x04\xff")
    for name in ("a.sdckit", "none.sdckit", "."):
        with pytest.raises(SdcError):
            read_project(tmp_path / name)
