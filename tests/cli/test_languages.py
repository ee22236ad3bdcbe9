"""What an option is refused for is said in options: no argument of Python, no entry of a file, no internal error."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli.test_same_options import commands
from redteam.calls import RECIPE
from redteam.marked import make_files, write
from redteam.test_marked_commands import LINES, SCENARIO
from sdckit.cli.app import run

FILES = make_files()
WRONG = ("nothing", "-1", "")
BUSY = {"demo", "doctor", "warm-up"}  # they take no figures
READING = {"encoding", "delimiter", "decimal"}  # of text files: how a Parquet file is read is no question
NEVER_WRONG = {"missing"}  # any text may mean missing
OUTPUTS = {"out", "report", "json", "log", "key", "resume", "plot"}
PYTHON = re.compile(r"(?<![-\w])[a-z_]+=(?=[\s,.;:)]|$)")
COMMANDS = dict(commands())
MADE = "made-"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(FILES, tmp_path)
    for name, frame in FILES.items():
        frame.write_csv(f"{name}.csv")
    (tmp_path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")


def refused(option: Any) -> tuple[str, ...]:
    """Values that an option cannot take: numbers take no words; a name of a column is one that no file has."""
    return WRONG if len(option.metavar or "") == 1 else WRONG[:1]


def in_place(line: str) -> list[str]:
    """A command line without its documents, which writes what it must beside the files it reads, under other names."""
    words = re.sub(r"--(report|json|plot) \S+", "", line)
    return shlex.split(words.replace("out/", MADE).replace("kept/", ""))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - BUSY))
def test_a_wrong_value_is_refused_in_the_words_of_the_command_line(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    base = in_place(LINES[name])
    for one in COMMANDS[name].params:
        if one.param_type_name != "option" or one.is_flag or one.name in OUTPUTS | NEVER_WRONG:
            continue
        option = max(one.opts, key=len)
        line = [re.sub(r"\.parquet\b", ".csv", word) for word in base] if one.name in READING else base
        for value in refused(one):
            for made in Path().glob(f"{MADE}*"):
                made.unlink()
            code = run([*line, f"{option}={value}"])
            said = capfd.readouterr().err
            errors = [told for told in said.splitlines() if told.startswith(("error", "internal"))]
            assert code == 2 or one.name not in READING, (option, value)
            for error in errors:
                assert not error.startswith("internal"), (option, value, error)
                assert not PYTHON.search(error), (option, value, error)
                assert not re.match(rf"error: (thresholds\.|matching\.)?{one.name} ", error), (option, value, error)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--k", 1), "--k must be at least 2"),
        (("--risk", 2), "--risk must be at most 1"),
        (("--sampling-fraction", 0), "--sampling-fraction must be greater than 0"),
        (("--alpha", 7), "--alpha must be at most 1"),
        (("--weight", "nowhere"), "no column 'nowhere'"),
        (("--missing-rule", ""), "--missing-rule takes one rule"),
    ],
)
def test_an_assessment_names_the_option(typed: tuple[object, ...], said: str, capfd: Any) -> None:
    assert run([str(one) for one in ("assess", "survey.parquet", "--keys", "region,sex", *typed)]) == 2
    told = capfd.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_a_scenario_names_its_entry_and_a_recipe_its_step(capfd: Any) -> None:
    Path("scenario.toml").write_text(SCENARIO.replace("k = 3", "k = 1"), encoding="utf-8")
    assert run(["check", "survey.parquet", "--scenario", "scenario.toml"]) == 2
    assert "scenario.toml: thresholds.k must be at least 2" in capfd.readouterr().err
    Path("scenario.toml").write_text(SCENARIO, encoding="utf-8")
    Path("recipe.toml").write_text(RECIPE.replace("pd = 0.8", "pd = 2.0"), encoding="utf-8")
    assert run(["protect", "recipe.toml", "survey.parquet", "--out", "o.csv"]) == 2
    told = capfd.readouterr().err
    assert "step 3 (pram): pd " in told
    assert "pd=" not in told
