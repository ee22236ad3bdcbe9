"""Attacks on files that are too large to be brought and compared: people drawn by their id, and what is judged."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan  # noqa: F401 (a fixture)
from every_measure import figures
from sdckit.catalogue import row
from sdckit.cells.plans import lazy
from sdckit.cli.app import run

N, DRAWN = 400, 150
SCENARIO = sdc.Scenario(
    keys=["sex", "age", "region"], sensitive=["ill"],
    thresholds={"residual_risk": 0.2, "membership_tpr": 5, "copied_records": 0.0},
)  # fmt: skip


def people(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "pid": np.arange(n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(list("abcde"), n),
            "ill": rng.choice(["y", "n"], n),
        }
    )


ORIGINAL, CONTROL = people(N, 1), people(300, 2)
RELEASED = ORIGINAL.with_columns(ill=pl.col("ill").reverse()).sample(fraction=1.0, shuffle=True, seed=1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 400 records for too many."""
    monkeypatch.setattr(row, "MOST_ON_ENGINE", N - 1)
    monkeypatch.setattr(row, "TARGETS", DRAWN)


@pytest.mark.usefixtures("few")
def test_people_are_drawn_and_the_rest_is_counted(plan: Any) -> None:  # noqa: F811
    known: dict[str, Any] = {"scenario": SCENARIO, "control": CONTROL, "id": "pid", "seed": 1}
    here = quiet(sdc.assess, ORIGINAL, RELEASED, **known)
    there = quiet(sdc.assess, plan(ORIGINAL), [plan(RELEASED)], **known)
    drawn = {"control": CONTROL, "id": "pid", "seed": 1, "targets": DRAWN}
    linked = quiet(sdc.linkability, ORIGINAL, RELEASED, known=(["sex", "region"], ["age"]), **drawn)
    guessed = quiet(sdc.inference, ORIGINAL, RELEASED, known=["sex", "age", "region"], target="ill", **drawn)
    assert there.attacks["inference:default:ill"].n_attacks == guessed.n_attacks == DRAWN
    assert figures(there.attacks["inference:default:ill"]) == figures(guessed)
    assert there.attacks["linkability:default"].n_attacks == linked.n_attacks
    assert there.attacks["membership"].notes["targets"] == "of 150 people drawn by their id"
    assert there.attacks_skipped == ()
    near = there.attacks["distance_to_closest_record"], there["default"]["record_linkage"]
    assert all(found.notes["targets"] == "of 150 people drawn by their id" for found in near)
    copies = [result["default"]["copied_records"] for result in (here, there)]
    assert copies[0].to_dict() == copies[1].to_dict()
    assert copies[0].chance == "control"
    assert there["default"]["identity_disclosure"].pair.times is not None
    verdicts = {verdict.name: verdict for verdict in there["default"].verdicts}
    worst = max(
        attack.risk_high if "targets" in attack.notes else attack.risk
        for attack in there.attacks.values() if not math.isnan(getattr(attack, "risk", math.nan))
    )  # fmt: skip
    assert verdicts["residual_risk"].value == worst
    assert "people drawn: the upper end of the interval" in str(verdicts["residual_risk"])
    assert verdicts["membership_tpr"].holds is None
    assert "distances" in verdicts["membership_tpr"].reason


@pytest.mark.usefixtures("few")
def test_without_an_id_nobody_is_drawn(plan: Any) -> None:  # noqa: F811
    result = quiet(sdc.assess, plan(ORIGINAL), [plan(RELEASED)], scenario=SCENARIO, control=CONTROL, seed=1)
    assert result.attacks == {}
    assert {place.partition(":")[0] for place, _ in result.attacks_skipped} >= {"inference", "linkability"}


@pytest.mark.usefixtures("few")
def test_households_in_the_control_file_are_told(plan: Any) -> None:  # noqa: F811
    frames = [frame.with_columns(home=pl.col("pid") // 2) for frame in (ORIGINAL, RELEASED, CONTROL)]
    known: dict[str, Any] = {"scenario": SCENARIO.changed(household="home"), "control": frames[2], "seed": 1}
    result = quiet(sdc.assess, plan(frames[0]), plan(frames[1]), id="pid", **known)
    assert any(warning.startswith("150 values of home (household)") for warning in result.warnings)


@pytest.mark.usefixtures("few")
def test_what_is_too_much_to_bring_is_not_attacked(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 1500)
    known: dict[str, Any] = {"scenario": SCENARIO, "control": CONTROL, "seed": 1}
    for id in ("pid", None):
        result = quiet(sdc.assess, plan(ORIGINAL), plan(RELEASED), id=id, **known)
        assert result.attacks == {}
        assert all("stay on the engine" in reason for _, reason in result.attacks_skipped)
        assert any("too much from a plan" in warning for warning in result.warnings)
        verdicts = {verdict.name: verdict.holds for verdict in result["default"].verdicts}
        assert verdicts["residual_risk"] is None


@pytest.mark.usefixtures("few")
def test_a_dry_run_names_who_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    original, released, scenario = (tmp_path / name for name in ("o.parquet", "r.parquet", "s.toml"))
    ORIGINAL.write_parquet(original)
    RELEASED.write_parquet(released)
    scenario.write_text(SCENARIO.to_toml(), encoding="utf-8")
    given = ["assess", str(original), "--scenario", str(scenario), "--released", str(released), "--attacks"]
    given += ["--engine", "polars", "--dry-run"]
    for named, runs in ((["--id", "pid"], True), ([], False)):
        assert run([*given, *named]) == 0
        out = capsys.readouterr().out
        lines = [line for line in out.splitlines() if "inference" in line]
        assert lines
        assert all(("records stay on the engine" not in line) == runs for line in lines), lines


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_by_command(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"o": ORIGINAL, "r": RELEASED, "c": CONTROL}
    for name, frame in files.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    (tmp_path / "s.toml").write_text(SCENARIO.to_toml(), encoding="utf-8")
    o, r, c = (str(tmp_path / f"{name}.parquet") for name in files)
    report, given = tmp_path / "report.json", ["--scenario", str(tmp_path / "s.toml"), "--released", r, "--control", c]
    given += ["--id", "pid", "--engine", engine]
    assert quiet(run, ["assess", o, *given, "--seed", "1", "--internal", "--json", str(report)]) == 0
    assert "of 150 people drawn by their id" in report.read_text(encoding="utf-8")
    assert quiet(run, ["check", o, *given]) == 2  # membership_tpr is not judged
    assert "upper end of the interval" in capsys.readouterr().out
