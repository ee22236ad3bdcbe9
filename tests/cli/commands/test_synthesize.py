"""``sdckit synthesize``: as many files as asked for, named columns only, the same for the same seed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc

Runner = Callable[..., object]


def test_several_files_of_some_columns(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    out, log = tmp_path / "syn.csv", tmp_path / "log.json"
    done = sdckit(
        "synthesize", survey, "--out", out, "--m", 2, "--columns", "sex,age", "--models", "sex=sample,age=sample",
        "--identifiers", "name", "--log", log,
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    one, two = (pl.read_csv(tmp_path / f"syn_{j}.csv") for j in (1, 2))
    original = pl.read_csv(survey)
    assert one.columns == [name for name in original.columns if name != "name"]
    assert one["w"].to_list() == original["w"].to_list()
    assert not one.equals(two)
    assert log.stat().st_mode & 0o777 == 0o600
    assert "Written: syn_1.csv, syn_2.csv" in done.out
    assert not out.exists()


def test_the_log_repeats_and_a_seed_does_not(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    given = ("synthesize", survey, "--columns", "income", "--models", "income=sample")
    assert sdckit(*given, "--out", tmp_path / "a.csv", "--seed", 2**64, "--log", log, "-q").code == 0
    assert sdckit(*given, "--out", tmp_path / "b.csv", "--replay", log, "-q").code == 0
    done = sdckit(*given, "--out", tmp_path / "c.csv", "--seed", 2**64)
    assert "Without --log these files cannot be made again" in done.out
    a, b, c = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b != c
    done = sdckit(*given, "--out", tmp_path / "d.csv", "--replay", log, "--m", 2)
    assert done.code == 2
    assert "log.json is the log of another recipe" in done.err


def test_formulas_and_another_size(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    out, log = tmp_path / "syn.csv", tmp_path / "log.json"
    done = sdckit(
        "synthesize", survey, "--out", out, "--n", 37, "--identifiers", "name", "--formula", "age ~ sex",
        "--formula", "`sex` ~ 1", "--models", "sex=probit", "--proper", "--log", log,
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    made = pl.read_csv(out)
    assert made.height == 37
    assert set(made["sex"]) <= set(pl.read_csv(survey)["sex"])
    parameters = json.loads(log.read_text())["steps"][0]["parameters"]
    assert parameters["predictors"] == {"age": "~ sex", "sex": "~ 1"}
    assert (parameters["n"], parameters["proper"]) == (37, True)
    assert parameters["order"].index("sex") < parameters["order"].index("age")
    # The log makes the same file again.
    again = ("synthesize", survey, "--out", tmp_path / "b.csv", "--n", 37, "--identifiers", "name", "--formula",
             "age ~ sex", "--formula", "sex ~ 1", "--models", "sex=probit", "--proper", "--replay", log)  # fmt: skip
    assert sdckit(*again).code == 0
    assert (tmp_path / "b.csv").read_bytes() == out.read_bytes()


def test_larger_leaves_and_noise_for_a_file_that_goes_out(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    """What the pages say to begin with can be said on the command line."""
    log = tmp_path / "log.json"
    given = ("synthesize", survey, "--identifiers", "name", "--out", tmp_path / "syn.csv", "--log", log)
    done = sdckit(*given, "--min-leaf", 100, "--smoothing", 1)
    assert (done.code, done.err) == (0, "")
    parameters = json.loads(log.read_text())["steps"][0]["parameters"]
    assert parameters["min_leaf"] == 100
    assert set(parameters["smoothing"].values()) == {1.0}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--min-leaf", 0), "min_leaf counts the records of a leaf"),
        (("--m", 0), "--m counts files"),
        (("--columns", "sexx"), "did you mean 'sex'?"),
        (("--formula", "age"), "is not 'COLUMN ~ TERMS'"),
        (("--formula", "age ~ sex", "--formula", "age ~ w"), "--formula names 'age' twice"),
        (("--columns", "age,income", "--formula", "age ~ income", "--formula", "income ~ age"), "in a circle"),
        (("--n", 0), "n counts the records of each file"),
        (("--n", 10, "--columns", "sex"), "is not drawn"),
        (("--models", "sex=crat", "--columns", "sex"), "did you mean 'cart'?"),
        (("--models", "sex"), "--models takes name=value"),
        (("--excel-safe", "--out", "a.parquet"), "--excel-safe is for CSV"),
    ],
)
def test_bad_options(
    sdckit: Runner, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = sdckit("synthesize", survey, *(() if "--out" in more else ("--out", "out.csv")), *more)
    assert done.code == 2
    assert said in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


def test_the_command_that_says_what_it_tells_runs(
    sdckit: Runner, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text('keys = ["sex"]\nhousehold = "none"\n', encoding="utf-8")
    for roles in ((), ("--scenario", "s.toml", "--m", 2)):
        made = sdckit("synthesize", survey, "--out", "our file.csv", "--columns", "sex,age", *roles)
        (command,) = (line for line in made.out.splitlines() if line.startswith("  sdckit "))
        done = sdckit(*shlex.split(command)[1:])
        assert (done.code, command.split()[1]) == (0, "assess" if roles else "attack"), done.err


def test_the_input_is_never_overwritten(sdckit: Runner, survey: Path) -> None:
    raw = survey.read_bytes()
    assert sdckit("synthesize", survey, "--out", survey).code == 2
    assert survey.read_bytes() == raw


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("given", [("--columns", "sex,age"), ("--n", 37, "--m", 2)], ids=["some", "all"])
def test_an_engine_writes_what_memory_makes(
    sdckit: Runner, survey: Path, tmp_path: Path, engine: str, given: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from sdckit.data.files import readers

    file, log = tmp_path / "survey.parquet", tmp_path / "log.json"
    sdc.read_file(survey).write_parquet(file)
    line = ("synthesize", file, "--identifiers", "name", *given, "-q")
    with monkeypatch.context() as patched:
        patched.setattr(readers, "read_file", None)  # nothing is read whole
        assert sdckit(*line, "--out", tmp_path / "there.parquet", "--engine", engine, "--log", log).code == 0
    assert sdckit(*line, "--out", tmp_path / "here.parquet", "--replay", log).code == 0
    files = sorted(one.name for one in tmp_path.glob("here*"))
    assert len(files) == (2 if "--m" in given else 1)
    for name in files:
        expected = pl.read_parquet(tmp_path / name).with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
        assert "name" not in expected.columns
        assert pl.read_parquet(tmp_path / name.replace("here", "there")).equals(expected)


def test_what_no_engine_writes(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    for options, says in [
        (("--out", tmp_path / "a.csv"), "a.csv: an engine writes Parquet"),
        (("--out", tmp_path / "a.parquet", "--labels"), "--labels: an engine writes none"),
        (("--out", tmp_path / "a.parquet", "--user-missing"), "--user-missing, --sheet, --header-row out"),
    ]:
        done = sdckit("synthesize", survey, *options, "--engine", "duckdb")
        assert done.code == 2
        assert says in done.err
    done = sdckit("synthesize", survey, "--out", tmp_path / "a.csv", "--memory", "1GB")
    assert "--memory is what an engine may take" in done.err
    assert not list(tmp_path.glob("a.*"))


def test_a_scenario_says_what_is_no_variable(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    out, scenario = tmp_path / "syn.csv", tmp_path / "roles.toml"
    read = pl.read_csv(survey)
    read.with_columns(home=pl.int_range(read.height) // 2).write_csv(tmp_path / "homes.csv")
    scenario.write_text('keys = ["sex", "age"]\nidentifiers = ["name"]\nhousehold = "home"\n', encoding="utf-8")
    done = sdckit("synthesize", tmp_path / "homes.csv", "--out", out, "--scenario", scenario)
    assert (done.code, done.err) == (0, "")
    made = pl.read_csv(out)
    assert "name" not in made.columns
    assert made["home"].to_list() == [place // 2 for place in range(read.height)]  # no variable of a model
    assert "home has the numbers of homes.csv" in done.out
    scenario.write_text('keys = ["sex", "age"]\nidentifiers = ["name"]\nperson = "home"\n', encoding="utf-8")
    done = sdckit("synthesize", tmp_path / "homes.csv", "--out", out, "--scenario", scenario, "--force")
    assert "home has the numbers of homes.csv" in done.out


def test_numbers_of_households_are_said_without_a_scenario_too(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    homes = tmp_path / "homes.csv"
    read = pl.read_csv(survey).drop("name")
    read.write_csv(homes)
    given = ("synthesize", homes, "--columns", "sex", "--models", "sex=sample")
    words = "hh looks like the numbers of people or households, and may have those of homes.csv: give new ones"
    assert words in sdckit(*given, "--out", tmp_path / "a.csv").out
    assert words in sdckit(*given, "--out", tmp_path / "b.csv", "--m", 2).out
    assert "looks like" not in sdckit(*given, "--out", tmp_path / "c.csv", "--identifiers", "hh").out


def test_another_size_and_the_household_of_a_scenario(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    scenario, homes = tmp_path / "roles.toml", tmp_path / "homes.csv"
    read = pl.read_csv(survey).drop("name")
    read.with_columns(home=pl.int_range(read.height) // 2).write_csv(homes)
    scenario.write_text('keys = ["sex", "age"]\nhousehold = "home"\n', encoding="utf-8")
    done = sdckit("synthesize", homes, "--n", 37, "--scenario", scenario, "--out", tmp_path / "a.csv")
    assert done.code == 2
    assert f"a household (household=, or that of a scenario) keeps the {read.height} of the file" in done.err
    assert "rows" not in done.err
