"""The options that commands on one file share: a scenario, one of its intruders, how to read the file."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit import operating_system
from sdckit.cells.plans import count_cells
from sdckit.cli import source as engine_options
from sdckit.cli.app import run
from sdckit.cli.progress import Steps
from sdckit.cli.source import BEHIND, Source, read_declared, read_release, release_header, takes
from sdckit.data.files import readers, scan_file as scanning
from sdckit.data.files.scan_file import scan_file
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, ScenarioError
from stages import people

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
COMMANDS = (("suda",), ("risky-cells",), ("population-risk",), ("k-map",), ("explain", "--row", 1, "--internal"))


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


def test_a_command_takes_the_shared_options_and_its_own() -> None:
    @takes(Source, behind=BEHIND)
    def with_keys(source: Source, *, own: int = 3) -> None:
        """What it does."""
        seen.append((source.keys, source.no_progress, own))

    @takes(Source, leave_out=("keys", "intruder"), behind=BEHIND)
    def without_keys(source: Source, *, own: int) -> None:
        seen.append((source.keys, source.intruder, own))

    seen: list[tuple[object, ...]] = []
    names = list(inspect.signature(with_keys).parameters)
    assert names[:5] == ["file", "keys", "scenario", "intruder", "own"]
    assert names[5:] == [
        "missing", "user_missing", "delimiter", "encoding", "decimal", "sheet", "header_row", "join", "join_key",
        "no_progress",
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


# The declared columns of a file, and nothing else.


def test_only_declared_columns_are_read(survey: Path) -> None:
    scenario = Scenario(keys=["sex", "age"], weight="w", identifiers=["name"])
    assert read_declared(survey, scenario, steps=Steps(quiet=True)).columns == ["sex", "age", "w"]


def test_columns_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    """A search that stops at its first answers gave others here than from Python: the verdict changed."""
    file = tmp_path / "release.csv"
    pl.DataFrame({"w": [1], "region": ["n"], "note": ["x"], "sex": ["f"]}).write_csv(file)
    scenario = Scenario(keys=["sex", "region"], weight="w")
    assert read_release(file, scenario, steps=Steps(quiet=True), whole=True).columns == ["w", "region", "note", "sex"]


def test_an_absent_column_is_named_by_its_role(survey: Path) -> None:
    scenario = Scenario(keys=["sex"], weight="wt")
    with pytest.raises(ColumnError, match="weight"):
        read_declared(survey, scenario, steps=Steps(quiet=True))


def test_a_release_without_an_optional_column_is_read_without_it(
    survey: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    scenario = Scenario(keys=["sex", "age"], weight="w", sensitive=["income"], identifiers=["name"])
    release = tmp_path / "release.csv"
    frame.drop("w", "name").write_csv(release)
    read = read_release(release, scenario.model_copy(update={"identifiers": ()}), steps=Steps(quiet=True))
    assert read.columns == ["sex", "age", "income"]
    assert "hh" in release_header(release, scenario).columns


def test_a_release_needs_every_key_and_the_id(survey: Path) -> None:
    with pytest.raises(ColumnError, match=r"survey\.csv has no column 'job'; a release and a control"):
        release_header(survey, Scenario(keys=["sex", "job"]))
    with pytest.raises(ColumnError, match="has no column 'pid'"):
        release_header(survey, Scenario(keys=["sex"]), also=("pid",))
    with pytest.raises(ColumnError, match="has no column 'pid'"):
        read_release(survey, Scenario(keys=["sex"]), steps=Steps(quiet=True), also=("pid",))


# ``--engine``: the figures of memory, from a file that is never read whole.


KEYS = ["--keys", "sex,age,region", "--weight", "w", "--sensitive", "job", "--k", "3"]


@pytest.fixture
def options_survey(tmp_path: Path) -> Path:
    people(400).with_columns(age=pl.when(pl.int_range(pl.len()) % 40 == 0).then(None).otherwise("age")).write_parquet(
        tmp_path / "survey.parquet"
    )
    return tmp_path / "survey.parquet"


def figures(path: Path) -> object:
    told = json.loads(path.read_text())
    return {name: told[name] for name in ("intruders", "verdicts") if name in told} or told["intruders"]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_same_document(options_survey: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ["assess", str(options_survey), *KEYS, "--quiet"]
    assert run([*line, "--json", str(tmp_path / "here.json")]) == 0
    monkeypatch.setattr(readers, "read_file", None)  # nothing is read whole
    assert run([*line, "--engine", engine, "--json", str(tmp_path / "there.json")]) == 0
    assert figures(tmp_path / "there.json") == figures(tmp_path / "here.json")


def test_the_gate_and_a_folder(options_survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scenario.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 3\n')
    (tmp_path / "parts").mkdir()
    pl.read_parquet(options_survey)[:200].write_parquet(tmp_path / "parts" / "0.parquet")
    pl.read_parquet(options_survey)[200:].write_parquet(tmp_path / "parts" / "1.parquet")
    line = ["check", str(tmp_path / "parts"), "--scenario", str(tmp_path / "scenario.toml")]
    assert run([*line, "--engine", "duckdb", "--memory", "500MB"]) == 0
    assert "k" in capsys.readouterr().out
    report = ["--report", str(tmp_path / "r.html")]
    assert run(["assess", str(tmp_path / "parts"), *KEYS, "--engine", "polars", "--quiet", *report]) == 0
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.parametrize("by", ["duckdb", "polars"])
def test_a_folder_and_what_does_not_fit_go_to_an_engine(
    options_survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    (tmp_path / "parts").mkdir()
    pl.read_parquet(options_survey)[:200].write_parquet(tmp_path / "parts" / "a.parquet")
    pl.read_parquet(options_survey)[200:].write_parquet(tmp_path / "parts" / "b.parquet")
    opened: list[tuple[str, str]] = []

    def noted(path: Path, *, engine: str, **how: Any) -> Any:
        opened.append((Path(path).name, engine))
        return scan_file(path, engine=engine, **how)

    monkeypatch.setattr(scanning, "scan_file", noted)
    if by == "polars":
        monkeypatch.setattr(engine_options, "find_spec", lambda _name: None)  # DuckDB is not installed
    assert run(["assess", str(tmp_path / "parts"), *KEYS, "--quiet"]) == 0
    assert run(["assess", str(options_survey), *KEYS, "--quiet"]) == 0
    assert opened == [("parts", by)]
    told = tmp_path / "meminfo"
    told.write_text("MemAvailable:   20 kB\n")
    monkeypatch.setattr(operating_system, "MEMORY", told)
    monkeypatch.setattr(count_cells, "free_bytes", lambda: 2**30)
    monkeypatch.setattr(engine_options, "SHARE", 1e-3)  # DuckDB starts with no less than some megabytes
    (tmp_path / "scenario.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 2\n')
    assert run(["check", str(options_survey), "--scenario", str(tmp_path / "scenario.toml"), "--quiet"]) == 0
    assert opened == [("parts", by), ("survey.parquet", by)]
    assert run(["assess", str(options_survey), *KEYS, "--quiet", "--engine", "memory"]) == 0
    assert len(opened) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "dask"], "engine"),
        (["--memory", "4GB"], "--memory is what an engine may take; give --engine duckdb"),
        (["--engine", "memory", "--memory", "4GB"], "--memory is what an engine may take"),
        (["--engine", "polars", "--memory", "4GB"], "is what DuckDB may take"),
        (["--engine", "duckdb", "--user-missing"], "leave --join, --user-missing, --sheet, --header-row out"),
        (["--engine", "duckdb", "--header-row", "2"], "leave --join, --user-missing, --sheet, --header-row out"),
    ],
)
def test_what_is_refused(
    options_survey: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["assess", str(options_survey), *KEYS, *options]) == 2
    assert words in capsys.readouterr().err


RECIPE = """[[steps]]
method = "recode"
column = "age"
bands = [18, 40, 60, 80]
[[steps]]
method = "local_suppression"
keys = ["sex", "region", "age"]
k = 5
[[steps]]
method = "random_order"
"""


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_release_is_written_by_the_engine(
    options_survey: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    line = ["protect", str(tmp_path / "recipe.toml"), str(options_survey), "--quiet"]
    there, here, log = (tmp_path / name for name in ("there.parquet", "here.parquet", "log.json"))
    with monkeypatch.context() as patched:
        patched.setattr(readers, "read_file", None)  # nothing is read whole
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine]) == 0
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine]) == 2
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine, "--force"]) == 0
    assert run([*line, "-o", str(here), "--replay", str(log)]) == 0
    expected = pl.read_parquet(here).with_columns(pl.col(pl.Enum).cast(pl.String))
    assert pl.read_parquet(there).equals(expected)
    assert run([*line, "-o", str(tmp_path / "again.parquet"), "--replay", str(log), "--engine", engine]) == 0
    assert pl.read_parquet(tmp_path / "again.parquet").equals(expected)
    assert {one.name for one in tmp_path.iterdir()} >= {"there.parquet", "here.parquet", "again.parquet"}
    assert not list(tmp_path.glob(".sdckit*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "out.csv"], "out.csv: an engine writes Parquet"),
        (["-o", "out.parquet", "--labels"], "--labels: an engine writes none"),
        (["-o", "out.parquet", "--report", "r.html", "--scenario", "s.toml"], "--report compares in memory"),
    ],
)
def test_what_no_engine_writes(
    options_survey: Path, tmp_path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "s.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 3\n')
    assert run(["protect", "recipe.toml", str(options_survey), "--engine", "duckdb", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / options[1]).exists()


def test_a_dry_run_says_which_step_does_not_run(
    options_survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdckit.protect import change as on_plans

    recipe = tmp_path / "recipe.toml"
    line = [
        "protect",
        str(recipe),
        str(options_survey),
        "-o",
        str(tmp_path / "out.parquet"),
        "--engine",
        "polars",
        "--dry-run",
    ]
    recipe.write_text(RECIPE)
    assert run(line) == 0
    assert "recipe.toml fits" in capsys.readouterr().out
    recipe.write_text(RECIPE + '[[steps]]\nmethod = "synthesize"\nm = 2\n')
    assert run(line) == 0
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 50)
    assert run(line) == 2
    assert "step 4 (synthesize): it brings " in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()


def test_a_dry_run_of_a_folder_reads_its_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in "ab":
        pl.DataFrame({"sex": ["f", "m"], "age": [30, 40]}).write_parquet(tmp_path / f"{part}.parquet")
    assert run(["assess", str(tmp_path), "--keys", "sex,age", "--k", "3", "--engine", "polars", "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert f"Would read 2 of 2 columns of {tmp_path.name} (2 files, Parquet):" in told
    assert "4 records would be left with polars, and never read whole" in told
