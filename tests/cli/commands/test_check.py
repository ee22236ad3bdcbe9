"""``sdckit check`` fails closed: 0 only where every declared threshold was checked and holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from sdckit.cli.commands.check import exit_code

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


def test_a_threshold_exceeded(sdckit, survey: Path, scenario) -> None:
    done = sdckit("check", survey, "--scenario", scenario("k = 2\nglobal_risk = 0.0001"))
    assert (done.code, done.err) == (1, "")
    assert ["exceeded", "the", "expected", "share"] in [line.split()[:4] for line in done.out.splitlines()]
    assert done.out.splitlines()[-1] == "survey.csv: NOT passed"


def test_the_intruder_is_named_where_there_are_several(sdckit, survey: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[intruders]\nneighbour = ["sex"]\nregister = ["sex", "age", "region"]\n[thresholds]\nk = 3\n'
    )
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
    assert sdckit("check", survey, "--scenario", scenario("k = 100\nl = 2")).code == 2


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
def test_bad_input_is_2_and_shows_no_value(
    sdckit, survey: Path, scenario, frame: pl.DataFrame, spoil
) -> None:
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

    monkeypatch.setattr("sdckit.workflow.assess.assess", broken)
    done = sdckit("check", survey, "--scenario", scenario("k = 2"))
    assert (done.code, done.out) == (3, "")
    assert MARKER not in done.err


def test_the_program_in_a_pipeline(survey: Path, scenario) -> None:
    def code(limits: str) -> int:
        command = [PROGRAM, "check", survey, "--scenario", scenario(limits), "--quiet"]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert [code("k = 2"), code("k = 100"), code("l = 2")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("passed", "undefined", "code"),
    [(True, (), 0), (False, (), 1), (False, (object(),), 2), (True, (object(),), 2)],
)
def test_the_exit_code(passed: bool, undefined: tuple[object, ...], code: int) -> None:
    assert exit_code(SimpleNamespace(passed=passed, undefined=undefined)) == code


def test_a_limit_on_attacks_needs_people_never_in_the_file(
    sdckit, survey: Path, scenario, tmp_path: Path
) -> None:
    released, control = tmp_path / "released.csv", tmp_path / "control.csv"
    frame = pl.read_csv(survey)
    frame.sample(fraction=1, shuffle=True, seed=1).write_csv(released)
    frame.with_columns(pl.col("age").reverse()).write_csv(control)
    limits = scenario("residual_risk = 0.9")
    given = ("check", survey, "--scenario", limits, "--released", released)
    assert sdckit(*given).code == 2
    done = sdckit(*given, "--control", control, "--seed", "1")
    assert done.code in {0, 1}
    assert "residual risk of the simulated attacks" in " ".join(done.out.split())
    assert sdckit("check", survey, "--scenario", limits, "--control", control).code == 2
