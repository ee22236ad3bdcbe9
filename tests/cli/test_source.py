"""The options that commands on one file share: a scenario, one of its intruders, how to read the file."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest

from sdckit.cli.progress import Steps
from sdckit.cli.source import Source, read_population, reads_a_file, reads_keys
from sdckit.errors import ColumnError, ScenarioError

TWO = """
weight = "w"
household = "hh"
sensitive = ["income"]
identifiers = ["name"]

[intruders.neighbour]
keys = ["sex", "age"]

[intruders.register]
keys = ["sex", "age", "region"]
"""
COMMANDS = (
    ("suda",),
    ("risky-cells",),
    ("population-risk",),
    ("k-map",),
    ("explain", "--row", 1, "--internal"),
)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_scenario_gives_what_the_options_give(sdckit, survey: Path, stored: Path, command) -> None:
    name, *options = command
    design = ("--weight", "w") if name in {"population-risk", "k-map"} else ()
    fraction = ("--sampling-fraction", 240 / pl.read_csv(survey)["w"].sum()) if name == "suda" else ()
    typed = sdckit(name, survey, "--keys", "sex,age,region", *design, *fraction, *options)
    from_file = sdckit(name, survey, "--scenario", stored, "--intruder", "register", *options)
    assert (typed.code, from_file.code) == (0, 0)
    assert from_file.out == typed.out
    other = sdckit(name, survey, "--scenario", stored, "--intruder", "neighbour", *options)
    assert other.out != typed.out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_several_intruders_need_a_name(sdckit, survey: Path, stored: Path, command) -> None:
    name, *options = command
    done = sdckit(name, survey, "--scenario", stored, *options)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert "several intruders (neighbour, register); --intruder NAME takes one" in done.err
    done = sdckit(name, survey, "--scenario", stored, "--intruder", "registre", *options)
    assert (done.code, len(done.lines)) == (2, 1)
    assert "did you mean 'register'" in done.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_without_keys_it_says_what_to_do(sdckit, survey: Path, command) -> None:
    name, *options = command
    done = sdckit(name, survey, *options)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert "--keys sex,age,region, or --scenario FILE.toml" in done.err


def source(**given) -> Source:
    return Source(**({"file": Path("x.csv")} | given))


def test_roles_without_a_use_are_left_out(stored: Path) -> None:
    one = source(scenario=stored, intruder="neighbour")
    assert one.declared().columns == ("sex", "age")
    assert one.declared(design=True).columns == ("sex", "age", "w")
    assert one.declared().identifiers == ("name",)


def test_an_option_wins_over_the_file(stored: Path) -> None:
    one = source(scenario=stored, keys=["region"], missing=["-9"])
    assert one.declared(missing_rule=["category"]).missing == "category"
    assert (one.declared().keys, one.declared().missing_codes) == (("region",), ("-9",))


def test_keys_and_an_intruder_are_refused(stored: Path) -> None:
    with pytest.raises(ScenarioError, match="leave --intruder out"):
        source(scenario=stored, keys=["sex"], intruder="neighbour").declared()


def test_a_population_lacks_a_key(survey: Path, tmp_path: Path) -> None:
    pl.DataFrame({"sex": ["f"]}).write_csv(tmp_path / "people.csv")
    one = source(file=survey, keys=["sex,age"])
    with pytest.raises(ColumnError, match=r"population people\.csv: .*'age'"):
        read_population(one, tmp_path / "people.csv", one.declared(), Steps(quiet=True))


def test_a_command_takes_the_shared_options_and_its_own() -> None:
    @reads_keys
    def with_keys(source: Source, *, own: int = 3) -> None:
        """What it does."""
        seen.append((source.keys, source.no_progress, own))

    @reads_a_file
    def without_keys(source: Source, *, own: int) -> None:
        seen.append((source.keys, source.intruder, own))

    seen: list[tuple[object, ...]] = []
    names = list(inspect.signature(with_keys).parameters)
    assert names[:5] == ["file", "keys", "scenario", "intruder", "own"]
    assert names[5:] == [
        "missing", "user_missing", "delimiter", "encoding", "decimal", "join", "join_key", "no_progress",
    ]  # fmt: skip
    assert {"keys", "intruder"}.isdisjoint(inspect.signature(without_keys).parameters)
    assert (with_keys.__name__, with_keys.__doc__) == ("with_keys", "What it does.")
    shared = dict.fromkeys(names[2:3] + names[5:-1])
    with_keys(file=Path("x"), keys=["a"], intruder=None, no_progress=True, own=4, **shared)
    without_keys(file=Path("x"), no_progress=False, own=5, **shared)
    assert seen == [(["a"], True, 4), (None, None, 5)]


def test_quiet_shows_no_progress() -> None:
    with source(no_progress=True).steps() as steps:
        steps.step("something")
    assert steps._wanted is False
