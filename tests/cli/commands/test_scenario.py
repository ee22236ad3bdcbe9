"""``sdckit scenario init``: a file that can be used at once, and never a file lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.scenarios.scenario import Scenario

MARKER = "Zq7Qx"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_it_writes_a_scenario_that_can_be_used(sdckit, survey: Path, tmp_path: Path) -> None:
    done = sdckit("scenario", "init", survey)
    assert (done.code, done.err) == (0, "")
    assert "Wrote scenario.toml" in done.out
    written = Scenario.from_toml(tmp_path / "scenario.toml")
    assert {"sex", "age"} <= set(written.all_keys)
    assert "name" not in written.columns
    assert sdckit("assess", survey, "--scenario", "scenario.toml").code == 0


def test_the_terminal_shows_roles_and_how_sure_they_are(sdckit, survey: Path, monkeypatch) -> None:
    monkeypatch.chdir(survey.parent)
    done = sdckit("scenario", "init", survey.name)
    told = " ".join(done.out.split())
    for row in ("name identifier sure", "sex key sure", "region key likely", "hh household sure"):
        assert row in told
    assert "asked about in it, under unconfirmed" in told
    assert max(map(len, done.out.splitlines())) <= 80
    assert MARKER not in done.out


def test_without_a_key_the_file_is_written_to_be_filled_in(sdckit, tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("v1,v2\n" + "1,2\n3,4\n" * 20)
    done = sdckit("scenario", "init", data)
    assert done.code == 0
    assert "No column looks like a key" in done.out
    done = sdckit("assess", data, "--scenario", "scenario.toml")
    assert (done.code, done.out) == (2, "")
    assert "keys is empty" in done.err


def test_the_guesses_are_explained_without_values(sdckit, survey: Path, tmp_path: Path) -> None:
    sdckit("scenario", "init", survey)
    text = (tmp_path / "scenario.toml").read_text(encoding="utf-8")
    assert text.count("#") >= 5
    assert MARKER not in text


def test_a_file_is_not_replaced_unless_told(sdckit, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "scenario.toml"
    target.write_text("# my comments\n")
    done = sdckit("scenario", "init", survey)
    assert (done.code, done.out) == (2, "")
    assert "--force" in done.err
    assert target.read_text() == "# my comments\n"
    assert sdckit("scenario", "init", survey, "--force").code == 0
    assert "keys" in target.read_text()


def test_another_name_or_standard_output(sdckit, survey: Path, tmp_path: Path) -> None:
    assert sdckit("scenario", "init", survey, "-o", tmp_path / "mine.toml").code == 0
    printed = sdckit("scenario", "init", survey, "-o", "-")
    assert printed.code == 0
    assert printed.out == (tmp_path / "mine.toml").read_text(encoding="utf-8")


def test_it_does_not_overwrite_the_data(sdckit, survey: Path) -> None:
    before = survey.read_bytes()
    assert sdckit("scenario", "init", survey, "-o", survey, "--force").code == 2
    assert survey.read_bytes() == before


def test_a_file_that_is_not_there(sdckit, tmp_path: Path) -> None:
    done = sdckit("scenario", "init", tmp_path / "no.csv")
    assert done.code == 2
    assert "no.csv" in done.err
    assert not list(tmp_path.iterdir())
