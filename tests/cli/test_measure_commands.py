"""The commands made of measures: every measure of the catalogue has one, it says what it takes, and it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from every_measure import KEYS, NUMBERS, changed, options, people, taken
from sdckit.catalogue import CATALOGUE, Measure
from sdckit.cli.app import command_tree
from sdckit.cli.measure_commands import MeasureCommand
from sdckit.data.scenarios.scenario_toml import write_toml

OWN = {"explain", "canaries"}  # they have a file of their own
MADE = [row for row in CATALOGUE if row.name not in OWN]
INTERVALS = {"lower": [1.0, 2.0, 0.5], "upper": [3.0, 4.5, 0.9]}
# Files that hold figures, and no records.
FIGURES: dict[str, list[str]] = {
    "combine": ["estimates.csv", "--variances", "variances.csv", "--kind", "partial"],
    "interval_overlap": ["before.csv", "--released", "after.csv"],
    "compare_intervals": ["before.csv", "--released", "after.csv", "--names", "a,b,c"],
}
SECOND = {
    "recoverable_values": "original",
    "joint_audit": "original",
    "k_map": "population",
    "delta_presence": "population",
}


def texts(value: Any) -> list[str]:
    """A value of Python as it is typed, once or several times."""
    if isinstance(value, tuple):
        return [text for part in value for text in texts(part)]
    return [",".join(value) if isinstance(value, list) else str(value)]


def line(row: Measure) -> list[str]:
    """The command line of the call that `every_measure` makes."""
    if row.name in FIGURES:
        return [row.kind, *FIGURES[row.name]]
    first, *others = taken(row)
    typed = [row.kind, "first.csv"]
    first.write_csv("first.csv")
    given: dict[str, Any] = options(row)
    for frame in others:
        frame.write_csv("second.csv")
        given[SECOND.get(row.name, "released")] = "second.csv"
    if row.files == "attack" and row.name != "probabilistic_linkage":
        given["control"] = "control.csv"
    if row.name == "differencing":
        given |= {"earlier": "changed.csv", "sensitive": ["ill"]}
    if row.name == "edit_rules":
        rules = [{"column": column, **rule} for column, rule in given["rules"].items()]
        Path("rules.toml").write_text("".join(f"[[rules]]\n{write_toml(rule, ())}" for rule in rules), encoding="utf-8")
        given["rules"] = "rules.toml"
    if row.name == "generalization_loss":
        (column, levels), *_ = given["hierarchies"].items()
        Path("levels.csv").write_text("".join(f"{v};{';'.join(up)}\n" for v, up in levels.items()), encoding="utf-8")
        given["hierarchies"] = [f"{column}=levels.csv"]
    if row.name == "joint_audit":
        given["counted"] = given.pop("tables")[0]
    if row.name == "bayesian_attribute_risk":
        np.savez("draws.npz", **given["draws"])
        given["draws"] = "draws.npz"
    for name, value in given.items():
        typed += [word for text in texts(value) for word in (f"--{name.replace('_', '-')}", text)]
    return typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people(2).write_csv("control.csv")
    changed().write_csv("changed.csv")
    people(1).write_csv("survey.csv")
    pl.DataFrame(INTERVALS).write_csv("before.csv")
    pl.DataFrame(INTERVALS).select(pl.all() + 0.1).write_csv("after.csv")
    pl.DataFrame({"mean": [3.0, 3.2, 2.9]}).write_csv("estimates.csv")
    pl.DataFrame({"mean": [0.1, 0.2, 0.1]}).write_csv("variances.csv")
    return tmp_path


def test_every_measure_has_a_command_of_its_kind() -> None:
    commands: Mapping[str, Any] = command_tree().commands
    assert {row.kind for row in CATALOGUE} <= commands.keys()
    assert {name for name, one in commands.items() if isinstance(one, MeasureCommand)} == {row.kind for row in MADE}


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
def test_its_help_says_what_it_takes(sdckit, row: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = sdckit(row.kind, "--help")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    summary = (getattr(sdc, row.name).__doc__ or "").strip().partition("\n")[0]
    assert " ".join(summary.split()) in " ".join(done.out.split())
    assert "Exact figures for your own session." in " ".join(done.out.split())


@pytest.mark.parametrize("row", MADE, ids=lambda row: row.name)
@pytest.mark.filterwarnings("ignore")
def test_it_runs_and_prints(sdckit, row: Measure, folder: Path) -> None:
    done = sdckit(*line(row))
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) >= (1 if row.no_chart else 4), done.out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("k-anonymity survey.csv --keys sex --k two", "--k takes whole numbers, such as --k 2,3,5"),
        ("risky-cells survey.csv --keys sex --threshold 1=x", "--threshold takes a whole number or N=N"),
        ("record-linkage survey.csv --released changed.csv --variables sex --weights x", "--weights takes"),
        ("l-diversity survey.csv --keys sex", "say which variables are sensitive: --sensitive A,B"),
        ("prediction-risk survey.csv --released changed.csv --keys sex", "--target T, or a scenario"),
        ("household-structure survey.csv --keys sex", "--household COLUMN, or a scenario"),
        ("matching-risk survey.csv --released changed.csv", "say which variables are known: --known A,B"),
        ("propensity survey.csv --released survey.csv", "is the original itself"),
        ("propensity survey.csv --released changed.csv --released changed.csv", "--released names changed.csv"),
        ("membership survey.csv --released changed.csv --control changed.csv", "--control changed.csv"),
        ("key-frequencies survey.csv", "--keys sex,age,region, or --scenario FILE.toml"),
        ("recoverable-values survey.csv --keys sex --log survey.csv", "survey.csv"),
        (
            "bayesian-attribute-risk survey.csv --released changed.csv --target ill --draws survey.csv",
            "survey.csv is no .npz file of arrays",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_bad_input_is_one_line_before_any_file_is_read(
    sdckit, typed: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr("sdckit.data.files.readers.read_file", forbidden)
    done = sdckit(*typed.split())
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert said in done.err


def test_values_take_the_form_that_their_kind_has(sdckit, folder: Path) -> None:
    pair = ("survey.csv", "--released", "changed.csv")
    matching = ("matching-risk", *pair, "--known", "sex", "--synthetic", "income", "--id", "row")
    one, by_name = (sdckit(*matching, "--width", width) for width in ("0.2", "income=0.2"))
    assert one.out == by_name.out
    assert one.out != sdckit(*matching, "--width", "0.2", "--relative", "no").out
    shares = ("attribute-disclosure", *pair, "--keys", "sex,size", "--target", "ill")
    assert sdckit(*shares).out != sdckit(*shares, "--exclude-levels", "no").out
    assert sdckit(*shares).out != sdckit(*shares, "--exclude-pairs", "sex=f,yes").out
    assert sdckit("linkability", *pair, "--known", "sex,income").code == 2


def test_a_release_in_another_order_is_named(sdckit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    survey = pl.DataFrame({"age": [at * 37 % 89 for at in range(400)], "job": [at * 7 % 9 for at in range(400)]})
    survey.write_csv("survey.csv")
    survey.sample(400, shuffle=True, seed=1).write_csv("mixed.csv")
    line = ("few-matches", "survey.csv", "--keys", "age,job", "--k", 3)
    assert "in no column are they more alike" in sdckit(*line, "--released", "mixed.csv").err
    assert "alike" not in sdckit(*line, "--released", "survey.csv").err
    attack = ("attack", "survey.csv", "--released", "mixed.csv", "--aligned", "--known", "age,job", "--n-attacks", 5)
    assert "in no column are they more alike" in sdckit(*attack).err


def test_subgroups_and_intervals_are_printed(sdckit, folder: Path) -> None:
    line = ("k-anonymity", "survey.csv", "--keys", ",".join(KEYS), "--seed", 1)
    told = sdckit(*line, "--by", "ill", "--interval", "bootstrap").out
    assert "By ill, the riskiest first" in told
    assert "95 % intervals" in told
    assert "By ill" not in sdckit(*line).out


def test_identifiers_are_never_read(sdckit, folder: Path) -> None:
    pair = ("compare-distributions", "survey.csv", "--released", "changed.csv")
    assert "home" in sdckit(*pair).out
    assert "home" not in sdckit(*pair, "--identifiers", "row,home").out
    assert all(name in sdckit(*pair, "--identifiers", "row,home").out for name in NUMBERS)


def test_a_log_names_the_columns_that_were_made_coarser(sdckit, folder: Path) -> None:
    made = sdc.Recipe([{"method": "recode", "column": "income", "bands": 3}]).apply(pl.read_csv("survey.csv"))
    made.data.write_csv("coarse.csv")
    made.log.write("log.json")
    done = sdckit("generalization-loss", "survey.csv", "--released", "coarse.csv", "--log", "log.json", "--aligned")
    assert done.code == 0, done.err
    assert done.out.count("income") == 1
