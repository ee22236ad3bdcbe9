"""What is kept between two starts: scenario and recipe, for their owner only."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.app.autosave import NAME, Autosave
from sdckit.app.work import Step, Work

WORK = Work(
    path="/data/survey.csv", name="survey.csv", scenario={"keys": ["sex"]},
    steps=(Step("round_values", {"base": 10}, False),), secret="5ec4e7", facts={"records": 5, "example": "a value"},
    release={"path": "x"}, control="/data/control.csv",
)  # fmt: skip


def test_the_next_start_finds_scenario_and_recipe_and_nothing_else(tmp_path: Path) -> None:
    kept = Autosave(tmp_path)
    assert kept.found is None
    kept.keep(WORK)
    path = tmp_path / NAME
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert not [one for one in ("5ec4e7", "/data", "a value", "facts", "release") if one in text]
    found = Autosave(tmp_path).found
    assert found is not None
    taken = Work(language="de").taken_up(found)
    assert (taken.scenario, taken.steps, taken.path, taken.language) == (WORK.scenario, WORK.steps, "", "de")
    assert [one.name for one in tmp_path.iterdir()] == [NAME]


def test_an_empty_session_leaves_what_is_there(tmp_path: Path) -> None:
    kept = Autosave(tmp_path)
    kept.keep(WORK)
    kept.keep(Work(name="other.csv"))
    again = Autosave(tmp_path)
    assert again.found is not None
    assert again.found["name"] == "survey.csv"
    again.forget()
    assert again.found is None
    assert Autosave(tmp_path).found is None
    again.forget()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"scenario": {}}', '{"scenario": {}, "steps": [1]}', '{"scenario": {}, "steps": []}'],
)  # fmt: skip
def test_a_file_that_is_not_ours_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert Autosave(tmp_path).found is None


def test_a_folder_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    Autosave(tmp_path / "nowhere").keep(WORK)
    assert not (tmp_path / "nowhere").exists()
