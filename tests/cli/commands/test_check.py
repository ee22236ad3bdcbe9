"""``sdckit check`` fails closed: 0 only where every declared threshold was checked and holds."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from cli.conftest import make_survey
from sdckit.cli.commands.check import NO_LEDGER, exit_code
from sdckit.report.chapters.coverage_chapter import coverage_sentence

MARKER = "Zq7Qx"
PROGRAM = Path(sys.executable).with_name("sdckit")


@pytest.fixture
def scenario(tmp_path: Path):
    """Write a scenario with these thresholds."""

    def write(limits: str, more: str = "") -> Path:
        path = tmp_path / "s.toml"
        path.write_text(f'keys = ["sex", "age"]\nweight = "w"\n{more}\n[thresholds]\n{limits}\n')
        return path

    return write


def test_within_every_threshold(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 2\nrisk = 0.5"))
    assert (done.code, done.err) == (0, "")
    assert done.out.count("holds") >= 2
    assert done.out.splitlines()[-1] == "survey.csv: passed"


def test_the_population_is_said_and_weights_on_a_wrong_scale_are_not_judged(
    sdckit, survey: Path, scenario, tmp_path: Path
) -> None:
    declared = scenario("risk = 0.5")
    words = "The file is taken for a sample of a population of about"
    assert words in " ".join(sdckit("check", survey, "--scenario", declared).out.split())
    data = sdc.read_file(survey)
    data.with_columns(w=pl.col("w") * 1_000_000).write_csv(scaled := tmp_path / "scaled.csv")
    done = sdckit("check", scaled, "--scenario", declared)
    assert done.code == 2
    assert "more people than there are" in done.err


@pytest.mark.parametrize("beside", [True, False])
def test_tables_that_no_limit_asks_about_are_named_with_a_command_that_runs(
    sdckit, survey: Path, scenario, tmp_path: Path, beside: bool
) -> None:
    gone = pl.int_range(pl.len()) % 8 == 3
    data = pl.read_csv(survey)
    data.with_columns(sex=pl.when(~gone).then("sex")).write_csv(released := tmp_path / "our release.csv")
    data.group_by("sex", "age").len(name="n").write_csv(tmp_path / "counts.csv")
    declared = scenario("recoverable = 0.0", "aligned = true")
    files = (survey, "--released", released) if beside else (released,)
    assert "joint-audit" not in sdckit("check", *files, "--scenario", declared).out
    text = declared.read_text()
    declared.write_text(f'{text}[[tables]]\nfile = "counts.csv"\n')
    done = sdckit("check", *files, "--scenario", declared)
    command = next(line.strip() for line in done.out.splitlines() if "sdckit joint-audit" in line)
    assert ("--original" in command) == beside
    audited = sdckit(*shlex.split(command)[1:])
    assert (audited.code, "counts.csv" in audited.out) == (0, True)
    if beside:
        limited = sdckit("check", *files, "--scenario", declared, "--joint-recoverable", "0.5")
        assert "joint-audit" not in limited.out


def test_a_threshold_exceeded(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 2\nglobal_risk = 0.0001"))
    assert (done.code, done.err) == (1, "")
    assert ["exceeded", "the", "expected", "share"] in [line.split()[:4] for line in done.out.splitlines()]
    assert done.out.splitlines()[-1] == "survey.csv: NOT passed"


def test_what_was_not_looked_at_is_said_of_the_questions_of_limits_alone(sdckit, survey: Path, scenario) -> None:
    """A report asks more of the same file, whether the income would be learnt: both sentences hold."""
    declared = scenario("k = 2", 'sensitive = ["income"]')
    checked = " ".join(sdckit("check", survey, "--scenario", declared).out.split())
    assert "sensitive: 1; not looked at by any question that a limit asks (assess asks more): 5." in checked
    assessed = sdc.assess(sdc.read_file(survey), scenario=sdc.Scenario.from_toml(declared))
    assert coverage_sentence(assessed.coverage.rows()).endswith("sensitive: 1; not looked at by any question: 4.")


def test_the_intruder_is_named_where_there_are_several(sdckit, survey: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[intruders]\nneighbour = ["sex"]\nregister = ["sex", "age", "region"]\n[thresholds]\nk = 3\n')
    rows = [line.split()[:2] for line in sdckit("check", survey, "--scenario", path).out.splitlines()]
    assert ["holds", "neighbour:"] in rows
    assert ["exceeded", "register:"] in rows


def test_quiet_leaves_the_exit_code(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 100"), "--quiet")
    assert (done.code, done.out, done.err) == (1, "", "")


def test_a_threshold_whose_measure_cannot_run_is_named(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 2\nl = 2"))
    assert done.code == 2
    assert any("threshold l" in line and "could not be checked" in line for line in done.lines)
    assert "NOT passed" in done.out


def test_an_unchecked_threshold_outweighs_an_exceeded_one(sdckit, survey: Path, scenario) -> None:
    for more in ((), ("--protected",)):
        done = sdckit("check", survey, "--scenario", scenario("k = 100\nl = 2"), *more)
        assert done.code == 2
        both = "survey.csv: NOT passed: a limit is exceeded, and another is not judged"
        assert done.out.splitlines()[-1] == both  # what is exceeded is not taken for something that was not looked at


def test_without_thresholds_nothing_passes(sdckit, survey: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["sex"]\n')
    done = sdckit("check", survey, "--scenario", path)
    assert (done.code, done.out) == (2, "")
    assert "declares no threshold" in done.err


def test_a_guess_is_no_gate_until_it_is_confirmed(sdckit, survey: Path, tmp_path: Path) -> None:
    """From `scenario init` to the gate: refused as it is, and as long as one name stands in the list."""
    path = tmp_path / "guess.toml"
    assert sdckit("scenario", "init", survey, "-o", path).code == 0
    guessed = path.read_text(encoding="utf-8")
    limits = guessed + "\n[thresholds]\nk = 2\n"
    for text in (guessed, limits):
        path.write_text(text, encoding="utf-8")
        done = sdckit("check", survey, "--scenario", path)
        assert (done.code, done.out) == (2, "")
        assert "not confirmed" in done.err
        assert "'income'" in done.err
        assert len(done.lines) == 1
    done = sdckit("assess", survey, "--scenario", path)
    assert done.code == 0
    assert "not confirmed" in " ".join(done.out.split())
    start = limits.index("unconfirmed = [")
    path.write_text(limits[:start] + limits[limits.index("]\n", start) + 2 :], encoding="utf-8")
    done = sdckit("check", survey, "--scenario", path)
    assert done.code in {0, 1}
    assert "not confirmed" not in done.err


def test_the_scenario_is_required(sdckit, survey: Path) -> None:
    done = sdckit("check", survey)
    assert done.code == 2
    assert "--scenario" in done.err


@pytest.mark.parametrize("spoil", ["gone", "column", "weight"])
def test_bad_input_is_2_and_shows_no_value(sdckit, survey: Path, scenario, frame: pl.DataFrame, spoil) -> None:
    path = scenario("k = 2")
    if spoil == "gone":
        survey.unlink()
    elif spoil == "column":
        frame.drop("age").write_csv(survey)
    else:
        frame.with_columns(w=pl.lit(MARKER)).write_csv(survey)
    done = sdckit("check", survey, "--scenario", path)
    assert (done.code, done.out) == (2, "")
    assert len([line for line in done.lines if line.startswith("error: ")]) == 1
    assert MARKER not in done.err


def test_a_fault_of_ours_is_3(sdckit, survey: Path, scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError(MARKER)

    monkeypatch.setattr("sdckit.workflow.assess.assess_read", broken)
    done = sdckit("check", survey, "--scenario", scenario("k = 2"))
    assert (done.code, done.out) == (3, "")
    assert MARKER not in done.err


def test_the_program_in_a_pipeline(sdckit, survey: Path, scenario) -> None:
    def line(limits: str) -> list[object]:
        return ["check", survey, "--scenario", scenario(limits), "--quiet"]

    done = subprocess.run([PROGRAM, *line("k = 100")], capture_output=True, check=False)
    assert done.returncode == 1  # the program ends with what `run` returns
    assert [sdckit(*line(limits)).code for limits in ("k = 2", "l = 2")] == [0, 2]


@pytest.mark.parametrize(
    ("passed", "undefined", "code"), [(True, (), 0), (False, (), 1), (False, (object(),), 2), (True, (object(),), 2)]
)
def test_the_exit_code(passed: bool, undefined: tuple[object, ...], code: int) -> None:
    assert exit_code(SimpleNamespace(passed=passed, undefined=undefined)) == code


def test_a_limit_on_attacks_needs_people_never_in_the_file(sdckit, survey: Path, scenario, tmp_path: Path) -> None:
    released, control = tmp_path / "released.csv", tmp_path / "control.csv"
    frame = pl.read_csv(survey)
    frame.sample(fraction=1, shuffle=True, seed=1).write_csv(released)
    pl.DataFrame(
        [frame[name].sample(fraction=1, shuffle=True, seed=i) for i, name in enumerate(frame.columns)]
    ).write_csv(control)
    limits = scenario("residual_risk = 0.9")
    given = ("check", survey, "--scenario", limits, "--released", released)
    assert sdckit(*given).code == 2
    done = sdckit(*given, "--control", control, "--seed", "1")
    assert done.code in {0, 1}
    assert "residual risk of the simulated attacks" in " ".join(done.out.split())
    assert sdckit("check", survey, "--scenario", limits, "--control", control).code == 2


def rare_file(tmp_path: Path, rare: int = 3) -> Path:
    """People of two large groups, and a few who are alone with their age; one code that means missing."""
    ages = [30] * 100 + [50] * 100 + list(range(60, 60 + rare))
    path = tmp_path / "rare.csv"
    pl.DataFrame(
        {"sex": ["f", "m"] * 100 + ["f"] * rare, "age": ages, "w": [2.0] * (199 + rare) + [None]}
    ).with_columns(job=pl.when(pl.col("age") == 60).then(pl.lit("NA")).otherwise(pl.lit("cook"))).write_csv(path)
    return path


GATE = 'keys = ["sex", "age", "job"]\n[thresholds]\nk = 3\n'


def test_a_log_that_others_read_has_protected_figures(sdckit, tmp_path: Path) -> None:
    file, gate = rare_file(tmp_path), tmp_path / "gate.toml"
    gate.write_text(GATE)
    exact, told = (sdckit("check", file, "--scenario", gate, *more) for more in ((), ("--protected",)))
    assert (exact.code, told.code) == (1, 1)
    assert "exceeded 3 records are" in exact.out
    assert "exceeded <" in told.out or "exceeded A number of" in told.out
    assert "3 records are" not in told.out
    assert told.out.splitlines()[-1] == "rare.csv: NOT passed"
    assert "'NA' in job (1 record)" in exact.err
    assert "1 record" not in told.err
    assert "some warnings about the files are left out" in told.err


def test_a_quiet_protected_check_says_nothing_of_limits(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 100"), "--quiet", "--protected")
    assert (done.code, done.out, done.err) == (1, "", "")


def test_a_protected_check_names_what_could_not_be_judged(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 2\nl = 2"), "--protected")
    assert done.code == 2
    assert any(line.startswith("error: for intruder 'default': l-diversity") for line in done.lines), done.err


def test_sarif_names_the_file_as_it_was_typed(sdckit, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rare_file(tmp_path)
    (tmp_path / "gate.toml").write_text(GATE)
    done = sdckit("check", "rare.csv", "--scenario", "gate.toml", "--sarif", "out.sarif")
    assert done.code == 1
    text = (tmp_path / "out.sarif").read_text()
    (run,) = json.loads(text)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "sdckit/k"
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "rare.csv"}
    assert "3 of 203" not in text
    assert str(tmp_path) not in text


def test_sarif_is_refused_in_the_place_of_what_is_read(sdckit, survey: Path, scenario) -> None:
    path = scenario("k = 2")
    for target in (survey, path):
        done = sdckit("check", survey, "--scenario", path, "--sarif", target)
        assert done.code == 2
        assert "the command reads this file" in done.err


def test_few_records_give_no_protected_document(sdckit, tmp_path: Path, scenario) -> None:
    path = tmp_path / "few.csv"
    pl.DataFrame({"sex": ["f"] * 10, "age": [3] * 10, "w": [1.0] * 10}).write_csv(path)
    done = sdckit("check", path, "--scenario", scenario("k = 2"), "--sarif", tmp_path / "a.sarif")
    assert done.code == 2
    assert "fewer than 50 records" in done.err
    assert not (tmp_path / "a.sarif").exists()


def test_limits_are_options_as_in_assess_and_win(sdckit, survey: Path, scenario) -> None:
    declared = scenario("k = 2")
    assert sdckit("check", survey, "--scenario", declared).code == 0
    done = sdckit("check", survey, "--scenario", declared, "--k", 240, "--global-risk", 1.0)
    assert done.code == 1
    words = " ".join(done.out.split())
    assert "(k = 240)" in words
    assert "the expected share of records re-identified is" in words
    assert "%, not above 100 %" in words


def test_a_release_by_itself_is_judged_with_all_its_columns(sdckit, tmp_path: Path) -> None:
    """The column that gives the values back is none of the scenario's."""
    office = [row % 30 for row in range(600)]
    region = [None if row % 11 == 0 else str(number % 5) for row, number in enumerate(office)]
    path = tmp_path / "released.csv"
    pl.DataFrame({"region": region, "sex": ["f", "m"] * 300, "office": office}).write_csv(path)
    declared = tmp_path / "s.toml"
    roles = 'sensitive = []\nhousehold = "none"\nmagnitudes = []\ninsensitive = ["office"]\n'
    declared.write_text(f'keys = ["region", "sex"]\nrelease = "public-use"\n{roles}')
    done = sdckit("check", path, "--scenario", declared)
    assert done.code == 1
    words = " ".join(done.out.split())
    assert "100 % of the changed values of region can be reconstructed from the release alone (rule: office)" in words
    assert "the original was not there" in words
    dry = sdckit("assess", path, "--scenario", declared, "--dry-run").out
    assert "would run recoverable_values" in " ".join(dry.split())


# Every column of the file has a role, also those that the command does not read.


def people_of(folder: Path, **columns: object) -> Path:
    path = folder / "people.csv"
    pl.DataFrame({"sex": ["f", "m"] * 60, "age": [30, 41] * 60, **columns}).write_csv(path)
    return path


def said_of(folder: Path, more: str = "") -> Path:
    path = folder / "said.toml"
    roles = 'keys = ["sex", "age"]\nsensitive = []\nhousehold = "none"\nmagnitudes = []\n'
    path.write_text(f'{roles}sampling_fraction = 0.01\nrelease = "teaching"\n{more}', encoding="utf-8")
    return path


def test_columns_that_are_not_read_need_a_role(sdckit, tmp_path):
    file = people_of(tmp_path, note=["x", "y"] * 60, diary=list(range(120)))
    done = sdckit("check", file, "--scenario", said_of(tmp_path))
    assert done.code == 2
    assert "error: roles could not be checked: nobody said what these columns are: 'note', 'diary';" in done.err
    because = 'insensitive_because = "looked through"\n'
    done = sdckit("check", file, "--scenario", said_of(tmp_path, f'insensitive = ["*"]\n{because}'))
    assert done.code == 2
    assert "'diary'; give each" in done.err
    assert "'note'" not in done.err
    done = sdckit("check", file, "--scenario", said_of(tmp_path, f'insensitive = ["diary", "*"]\n{because}'))
    assert done.code == 0, done.err
    assert "1 column of 4 covered by a pattern as insensitive: looked through" in " ".join(done.out.split())
    told = sdckit("check", file, "--scenario", said_of(tmp_path), "--protected")
    assert told.code == 2
    assert "error: Roles of the columns could not be judged: nobody said" in told.err


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_an_engine_looks_at_the_columns_of_a_pattern(sdckit, tmp_path, engine):
    file = people_of(tmp_path, note=["x", "y"] * 60, diary=list(range(120)))
    more = 'insensitive = ["*"]\ninsensitive_because = "looked through"\n'
    done = sdckit("check", file, "--scenario", said_of(tmp_path, more), "--engine", engine)
    assert done.code == 2
    assert "nobody said what these columns are: 'diary'; give each" in done.err


def test_identifiers_are_left_out_of_a_file_and_go_out_with_a_release(sdckit, tmp_path):
    file = people_of(tmp_path, name=[f"n{i}" for i in range(120)])
    scenario = said_of(tmp_path, 'identifiers = ["name"]\naligned = true\n[thresholds]\nrecoverable = "none"\n')
    assert sdckit("check", file, "--scenario", scenario).code == 0
    sarif, given = tmp_path / "log.sarif", tmp_path / "given.csv"
    given.write_bytes(file.read_bytes())
    done = sdckit("check", file, "--scenario", scenario, "--released", given, "--sarif", sarif, "--seed", "1")
    assert done.code == 1
    assert "a direct identifier goes out: 'name'" in " ".join(done.out.split())
    (run,) = json.loads(sarif.read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["sdckit/roles"]
    rules = {rule["id"]: rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
    assert rules["sdckit/roles"] == "Every column that goes out has a role."
    without = tmp_path / "released.csv"
    pl.read_csv(file).drop("name").write_csv(without)
    assert sdckit("check", file, "--scenario", scenario, "--released", without, "--seed", "1").code == 0


def test_without_a_type_one_line_names_the_columns(sdckit, tmp_path):
    file = people_of(tmp_path, note=["x", "y"] * 60)
    scenario = tmp_path / "s.toml"
    scenario.write_text('keys = ["sex", "age"]\n[thresholds]\nk = 3\n', encoding="utf-8")
    done = sdckit("check", file, "--scenario", scenario)
    assert done.code == 0
    line = "1 column that goes out has no role: 'note'; name a type of release to have it judged."
    assert line in " ".join(done.out.split())


def test_a_control_file_is_read_with_every_column_that_goes_out(sdckit, tmp_path: Path) -> None:
    everybody = releases.original(160).drop("pid")
    paths = {name: tmp_path / f"{name}.csv" for name in ("survey", "released", "control", "few")}
    everybody[:80].write_csv(paths["survey"])
    everybody[:80].write_csv(paths["released"])
    everybody[80:].with_columns(unused=1).write_csv(paths["control"])
    everybody[80:].drop("ill").write_csv(paths["few"])
    scenario = tmp_path / "s.toml"
    scenario.write_text('keys = ["sex"]\nweight = "w"\n[thresholds]\nresidual_risk = 0.99\n')
    given = ("check", paths["survey"], "--scenario", scenario, "--released", paths["released"], "--seed", "1")
    done = sdckit(*given, "--control", paths["control"])
    assert done.code == 1
    assert "with 1 and with 5 of 5 columns that go out" in " ".join(done.out.split())
    assert "Columns" in done.out
    commands = [line for line in done.out.splitlines() if line.startswith("  sdckit ")]
    assert max(len(line) for line in done.out.splitlines() if line not in commands) <= 80
    assert [f"--control {paths['control']}" in line for line in commands] == [True]
    few = sdckit(*given, "--control", paths["few"])
    assert "attacks with 1 and with 4 of 5 columns that go out" in " ".join(few.out.split())


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_release_on_an_engine_is_judged_as_in_memory(sdckit, tmp_path: Path, engine: str) -> None:
    """By what its limits read alone: no measure of utility, no model, nothing that no verdict is about."""
    rng = np.random.default_rng(1)
    whole = {name: rng.integers(0, levels, 400) for name, levels in (("sex", 2), ("age", 60), ("job", 4))}
    file, out, log = (tmp_path / name for name in ("file.parquet", "out.parquet", "log.json"))
    pl.DataFrame({"pid": np.arange(400), **whole, "w": rng.integers(10, 40, 400)}).write_parquet(file)
    recipe, scenario = tmp_path / "r.toml", tmp_path / "s.toml"
    recipe.write_text(
        'steps = [{method = "recode", column = "age", bands = [0, 20, 40, 60]}, {method = "pram", columns = ["job"]}, '
        '{method = "local_suppression", keys = ["sex", "age"], k = 70}]'
    )
    limits = "k = 70\nl = 2\nmatch_risk = 0.001\ncorrectly_disclosed = 0.9\nrecoverable = 0.5\ncopied_records = 0.9"
    scenario.write_text(f'keys = ["sex", "age"]\nsensitive = ["job"]\nweight = "w"\n[thresholds]\n{limits}\n')
    assert sdckit("protect", recipe, file, "--out", out, "--log", log, "--seed", "1", "--quiet").code == 0
    command = ("check", file, "--scenario", scenario, "--released", out, "--log", log, "--id", "pid", "--seed", "1")
    told = {}
    for name, given in (("memory", ()), (engine, ("--engine", engine))):
        figures = tmp_path / f"{name}.csv"
        done = sdckit(*command, *given, "--figures", figures)
        told[name] = (done.code, pl.read_csv(figures).sort("threshold", "variable").to_dicts(), done.err)
        assert "NOT passed" in done.out
    assert told["memory"] == told[engine]
    assert told["memory"][0] == 1
    sarif = (tmp_path / "memory.sarif", tmp_path / "engine.sarif")
    shown = [
        sdckit(*command, *given, "--protected", "--sarif", path)
        for given, path in zip(((), ("--engine", engine)), sarif, strict=True)
    ]
    assert [line for line in shown[0].lines if "job" in line] == [line for line in shown[1].lines if "job" in line]
    assert sarif[0].read_text() == sarif[1].read_text()


@pytest.fixture
def told_by_districts(tmp_path: Path) -> tuple[str, ...]:
    """A release whose districts tell the regions that were taken out, and what it is checked with."""
    rng = np.random.default_rng(3)
    n = 600
    region = rng.choice(list("nsew"), n)
    district = [f"{of}{number}" for of, number in zip(region, rng.integers(0, 9, n), strict=True)]
    whole = pl.DataFrame({"region": region, "sex": rng.choice(["m", "f"], n), "district": district})
    whole.write_csv(tmp_path / "whole.csv")
    gone = pl.when(pl.int_range(n) % 12 > 0).then("region")
    whole.with_columns(region=gone).write_csv(tmp_path / "out.csv")
    gate = tmp_path / "s.toml"
    gate.write_text('keys = ["region", "sex"]\naligned = true\n[thresholds]\nk = 100\nrecoverable = 0\n')
    return (tmp_path / "whole.csv", "--released", tmp_path / "out.csv", "--scenario", gate)


def test_what_would_open_the_gate_is_said_with_the_limits_it_is_for(sdckit, told_by_districts) -> None:
    remedy = (
        "Coarsen or leave out district, or suppress it together with region: it tells region. (recoverable, k_undone)"
    )
    for more in ((), ("--protected",)):
        done = sdckit("check", *told_by_districts, *more)
        printed = " ".join(done.out.partition("What to do next:")[2].split())
        assert done.code == 1
        assert printed.startswith(f"- {remedy} - Make what is known coarser")
        assert "assess it again" not in printed
    open_gate = [*told_by_districts[:-1], told_by_districts[-1].with_name("open.toml")]
    open_gate[-1].write_text('keys = ["region", "sex"]\naligned = true\n[thresholds]\nk = 2\n')
    done = sdckit("check", *open_gate)
    assert (done.code, "What to do next" in done.out) == (0, False)


# How a file is read is said of the original; a release that the house wrote is read by its own shape.


def german(path: Path) -> Path:
    people = make_survey().with_columns(pl.lit("Köln").alias("ort"), (pl.int_range(pl.len()) * 1.5).alias("lohn"))
    text = people.with_columns(pl.col("lohn").cast(pl.String).str.replace(".", ",", literal=True))
    path.write_bytes(text.write_csv(separator=";").encode("latin-1"))
    return path


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb"), ("--engine", "polars")])
def test_a_release_of_the_house_beside_an_original_that_is_written_otherwise(
    sdckit, tmp_path: Path, engine: tuple[str, ...]
) -> None:
    original, control, safe = german(tmp_path / "o.csv"), german(tmp_path / "c.csv"), tmp_path / "safe.csv"
    (tmp_path / "s.toml").write_text('keys = ["sex", "age"]\nnumeric = ["lohn"]\n[thresholds]\nk = 2\n')
    (tmp_path / "r.toml").write_text('[[steps]]\nmethod = "drop_identifiers"\ncolumns = ["name", "w", "hh"]\n')
    how = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1", "--scenario", tmp_path / "s.toml")
    assert sdckit("protect", tmp_path / "r.toml", original, *how, "--out", safe).code == 0
    assert sdc.read_file(safe)["lohn"].to_list()[:2] == [0.0, 1.5]
    beside = ("--released", safe, "--control", control)
    done = sdckit("check", original, *how, *(beside[:2] if engine else beside), *engine)
    ways = "the encoding, the delimiter ',' and the decimal mark '.' of its own, not as o.csv is"
    line = f"warning: safe.csv: read by {ways}"
    assert (done.code, [text for text in done.lines if "read by" in text]) == (0, [line])
    told = sdckit("check", original, *how, "--released", safe, "--protected", *engine)
    assert line in told.lines
    assert "some warnings about the files are left out" not in told.err  # it tells no count
    dry = sdckit("assess", original, *how, "--released", safe, "--control", control, "--dry-run")
    assert (dry.code, "safe.csv" in dry.out) == (0, True)


def test_a_release_that_can_be_read_in_two_ways_stops(sdckit, tmp_path: Path) -> None:
    original, safe = tmp_path / "o.csv", tmp_path / "safe.csv"
    original.write_text("sex;a;b\nf;1,5;2,5\nm;2,5;3,5\n")
    safe.write_text("sex;a;b\nf;1.5;2,5\nm;2.5;3,5\n")
    (tmp_path / "s.toml").write_text('keys = ["sex"]\n[thresholds]\nk = 2\n')
    done = sdckit("check", original, "--scenario", tmp_path / "s.toml", "--decimal", ",", "--released", safe)
    assert done.code == 2
    assert done.err == (
        "error: safe.csv can be read by the decimal mark '.' and by ',', which gives other records, so nobody can tell "
        "whether the --decimal of the original is meant: write it as Parquet with sdckit.write_file, or as the "
        "original is written\n"
    )


def test_without_a_ledger_it_says_that_earlier_releases_were_not_looked_at(sdckit, tmp_path):
    """Two releases with k = 3 and k = 5 passed, and together showed what the first had taken out."""
    file = people_of(tmp_path, note=["x", "y"] * 60)
    done = sdckit("check", file, "--scenario", said_of(tmp_path, 'insensitive = ["note"]\n'))
    assert (done.code, NO_LEDGER in " ".join(done.out.split())) == (0, True)
    done = sdckit("check", file, "--scenario", said_of(tmp_path))
    assert (done.code, NO_LEDGER in " ".join(done.out.split())) == (2, False)


@pytest.mark.parametrize(
    ("more", "words"),
    [("", ""), ("9,S\n", "belong to no record of the first"), ("8,\n7,NA\n", "in several ways (region)")],
)
def test_a_second_file_goes_out_whole(sdckit, tmp_path: Path, more: str, words: str) -> None:
    """A household whose persons were all taken out was left out of the figures, and of nothing else."""
    (tmp_path / "people.csv").write_text("hid,sex\n" + "1,f\n2,f\n7,f\n8,f\n" * 3)
    (tmp_path / "homes.csv").write_text("hid,region\n1,N\n2,N\n" + (more if "7" in more else f"7,N\n8,N\n{more}"))
    (tmp_path / "s.toml").write_text('keys = ["sex"]\n')
    joined = ["--join", tmp_path / "homes.csv", "--join-key", "hid", "--scenario", tmp_path / "s.toml", "--k", 2]
    done = sdckit("check", tmp_path / "people.csv", *joined)
    assert (done.code, words in " ".join(done.out.split())) == (2 if words else 0, True)
