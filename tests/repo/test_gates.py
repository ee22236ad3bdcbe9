"""The hook and the action are run as pre-commit and a runner run them; what they print, a log may hold."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import sdckit as sdc
from pages import FENCED
from redteam.marked import make_files, traces_in, write
from sdckit.cli.app import command_tree
from tree import ROOT, none_offends

FILES = make_files()
BIN = Path(sys.executable).parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "gates.md"
INPUT = re.compile(r"\$\{\{ *inputs\.([a-z-]+) *\}\}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files with a marked record, a gate that they do not pass and one that they do."""
    write(FILES, tmp_path)
    scenario = sdc.Scenario(keys=["region", "sex", "band"], weight="w", thresholds={"k": 3})
    (tmp_path / "strict.toml").write_text(scenario.to_toml(), encoding="utf-8")
    lenient = scenario.changed(thresholds={"risk": 1.0})
    (tmp_path / "lenient.toml").write_text(lenient.to_toml(), encoding="utf-8")
    return tmp_path


def run(words: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("gate", "code"), [("strict", 1), ("lenient", 0)])
def test_the_hook(folder: Path, gate: str, code: int) -> None:
    (hook,) = HOOKS
    words = [*shlex.split(hook["entry"]), "survey.parquet", f"--scenario={gate}.toml"]
    done = run(words, folder)
    assert done.returncode == code, done.stderr
    assert not traces_in(done.stdout + done.stderr)
    assert ("exceeded" in done.stdout) == (code == 1)


def test_the_hook_is_installed_from_here_and_asks_for_no_file_names() -> None:
    (hook,) = HOOKS
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    assert (ROOT / "pyproject.toml").is_file()


def step(of: dict[str, Any], folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a runner does: inputs by their defaults where nothing is given, and its own files."""
    inputs = {name: one.get("default", "") for name, one in ACTION["inputs"].items()} | given
    env = {
        name: INPUT.sub(lambda found: inputs[found[1]], text).replace("${{ github.action_path }}", str(ROOT))
        for name, text in of["env"].items()
    }
    assert not any("${{" in text for text in env.values())
    output = folder / "output"
    output.touch()
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", of["run"]]
    return run(words, folder, RUNNER_TEMP=str(folder / "temp"), GITHUB_OUTPUT=str(output), **env)


@pytest.fixture
def runner(folder: Path) -> Path:
    """A runner on which the first step has been made."""
    programs = folder / "temp" / "sdckit" / "bin"
    programs.mkdir(parents=True)
    (programs / "sdckit").symlink_to(BIN / "sdckit")
    return folder


@pytest.mark.parametrize(("gate", "code"), [("strict", 1), ("lenient", 0)])
def test_the_action(runner: Path, gate: str, code: int) -> None:
    done = step(CHECK, runner, file="survey.parquet", scenario=f"{gate}.toml", sarif="out.sarif")
    assert done.returncode == code, done.stderr
    assert (runner / "output").read_text(encoding="utf-8") == f"exit-code={code}\n"
    log = (runner / "out.sarif").read_text(encoding="utf-8")
    assert len(json.loads(log)["runs"][0]["results"]) == code
    assert not traces_in(done.stdout + done.stderr + log)


def test_the_action_on_releases(runner: Path) -> None:
    done = step(
        CHECK, runner, file="survey.parquet", scenario="strict.toml", released="made1.parquet\nmade2.parquet\n",
        control="control.parquet", seed="3",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Release" in done.stdout
    assert not traces_in(done.stdout + done.stderr)


def test_what_an_input_says_is_no_command(runner: Path) -> None:
    done = step(CHECK, runner, file="$(touch made); touch made", scenario="`touch made`", id='"; touch made')
    assert done.returncode == 2
    assert not (runner / "made").exists()


def test_the_action_installs_what_it_is_part_of(folder: Path) -> None:
    python = folder / "python"
    python.write_text('#!/bin/sh\necho "$0 $@" >> asked\nmkdir -p "$3/bin"\ncp "$0" "$3/bin/python"\n')
    python.chmod(0o755)
    done = step(INSTALL, folder, python=str(python))
    assert done.returncode == 0, done.stderr
    made, installed = (folder / "asked").read_text().splitlines()
    assert made == f"{python} -m venv {folder}/temp/sdckit"
    assert installed.startswith(f"{folder}/temp/sdckit/bin/python -m pip install ")
    assert installed.endswith(f" {ROOT}")


def test_the_action_rests_on_no_other_and_passes_options_that_exist() -> None:
    steps = ACTION["runs"]["steps"]
    assert not any("uses" in one for one in steps)
    assert all(one["shell"] == "bash" for one in steps)
    named = {name for one in steps for text in one["env"].values() for name in INPUT.findall(text)}
    assert named == set(ACTION["inputs"])
    none_offends((one["name"] for one in steps if "${{" in one["run"]), "a script reads no expression")
    check = command_tree().commands["check"]
    known = {option for one in check.params for option in one.opts}
    none_offends(
        (name for name in ACTION["inputs"] if name not in {"file", "python"} and f"--{name}" not in known),
        "an input is an option of the command",
    )


def blocks(language: str) -> list[str]:
    return [match[2] for match in FENCED.finditer(PAGE.read_text("utf-8")) if match[1] == language]


def test_the_yaml_of_the_page_names_what_there_is() -> None:
    hooks, workflow = map(yaml.safe_load, blocks("yaml"))
    (repo,) = hooks["repos"]
    assert [one["id"] for one in repo["hooks"]] == [one["id"] for one in HOOKS]
    steps = [one for job in workflow["jobs"].values() for one in job["steps"] if "sdckit" in one["uses"]]
    assert steps
    none_offends(
        (name for one in steps for name in one["with"] if name not in ACTION["inputs"]),
        "what a step is given is an input of the action",
    )
    required = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert all(required <= set(one["with"]) for one in steps)


class Dbt:
    """What dbt hands to a Python model."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self.tables = tables

    def ref(self, name: str) -> Any:
        return self.tables[name]

    def config(self, **_: object) -> None:
        """Take the settings of a model."""


def function(name: str) -> Any:
    """A function that the page defines."""
    (text,) = (one for one in blocks("python") if f"def {name}(" in one)
    names: dict[str, Any] = {}
    exec(text, names)
    return names[name]


def test_the_model_of_the_page_stops_what_is_beyond_a_limit(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    import duckdb

    connection = duckdb.connect()
    tables = {
        "survey": connection.read_parquet("survey.parquet"),
        "survey_protected": connection.read_parquet("made1.parquet"),
    }
    (folder / "lenient.toml").rename(folder / "scenario.toml")
    found = function("model")(Dbt(tables), None)
    assert len(found) == FILES["made1"].height
    (folder / "strict.toml").replace(folder / "scenario.toml")
    with pytest.raises(AssertionError) as caught:
        function("model")(Dbt(tables), None)
    assert not traces_in(str(caught.value))


def test_the_task_of_the_page(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    gate = function("gate")
    assert gate("survey.parquet", "made1.parquet", "lenient.toml") is None
    with pytest.raises(AssertionError, match="not within the declared limits") as caught:
        gate("survey.parquet", "made1.parquet", "strict.toml")
    assert not traces_in(str(caught.value))
