"""Earlier releases that are at hand: what a ledger does not keep of them is compared, too, and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdckit as sdc
from attacks.differencing.test_linking_columns import waves
from sdckit.cli.app import run

SCENARIO = """keys = ["sex", "region"]
[thresholds]
differencing = 0.1
[ledger]
folder = "ledger"
key = "ledger.key"
new = ["sex", "region"]
"""
CHECK = ["check", "second.csv", "--scenario", "scenario.toml"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two waves of the same people, whose numbers moved; the ledger remembers keys of the first."""
    monkeypatch.chdir(tmp_path)
    first, second = waves(1)
    first.drop("person").write_csv("first.csv")
    second.drop("person").write_csv("second.csv")
    second.select("sex", "region").write_csv("coarse.csv")
    said()
    ledger = sdc.ReleaseLedger.create("ledger", key="ledger.key", survey="Survey")
    ledger.add(sdc.read_file("first.csv"), name="wave 1", keys=["school", "age"], file="first.csv")
    return tmp_path


def said(*lines: str, k: int = 30) -> None:
    """Write the scenario with more lines of its table [ledger]."""
    text = SCENARIO.replace("[ledger]", f"k = {k}\n[ledger]")
    Path("scenario.toml").write_text(text + "\n".join(lines), encoding="utf-8")


def words(capfd: pytest.CaptureFixture[str]) -> str:
    captured = capfd.readouterr()
    return " ".join((captured.out + captured.err).split())


def test_a_wave_is_not_judged_by_a_sketch_alone_and_is_by_the_file(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The file says that near numbers lead from one wave to the other, and so to school and age."""
    assert run(CHECK) == 2
    printed = words(capfd)
    assert "not judged differencing = 0.1: not all columns were tried as links together" in printed
    assert "the earlier file itself tells (--earlier FILE" in printed
    assert run([*CHECK, "--earlier", "first.csv"]) == 1
    printed = words(capfd)
    assert "holds of 0 % of the records something is disclosed together with 1 earlier release" in printed
    assert "exceeded with the keys of wave 1 (linked by" in printed
    assert "by near values))" in printed
    assert "tried as links" not in printed
    said('files = {"wave 1" = "first.csv"}')
    assert run(CHECK) == 1
    assert words(capfd) == printed
    assert run(["ledger", *CHECK]) == 1
    assert "by near values))" in words(capfd)
    assert run(["check", "coarse.csv", "--scenario", "scenario.toml"]) == 0


def test_a_file_that_the_ledger_does_not_know_is_refused_before_any_work(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*CHECK, "--earlier", "coarse.csv"]) == 2
    assert "the ledger does not know coarse.csv by its bytes" in words(capfd)
    for lines, message in (
        ('files = {"wave 1" = "coarse.csv"}', "coarse.csv is not the file that the ledger remembers as 'wave 1'"),
        ('files = {"wave 2" = "first.csv"}', "the ledger has no release 'wave 2'; did you mean 'wave 1'?"),
        ('files = {"wave 1" = "gone.csv"}', "cannot read gone.csv"),
    ):
        said(lines)
        assert run(CHECK) == 2
        assert message in words(capfd)
    Path("scenario.toml").write_text('keys = ["sex"]\n[thresholds]\nk = 2\n', encoding="utf-8")
    assert run([*CHECK, "--earlier", "first.csv"]) == 2
    assert "the scenario names no ledger" in words(capfd)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_on_an_engine_the_gate_says_what_it_says_in_memory(
    engine: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All columns of the release are compared, and not those of the scenario alone; the earlier file is left there."""

    def told(*command: str) -> tuple[int, list[str]]:
        code = run(command)
        captured = capfd.readouterr()
        lines = (captured.out + captured.err).splitlines()
        return code, [line for line in lines if not line.startswith(("opening", "reading", "assessing"))]

    gates = ["check", "second.csv"], ["check", "first.csv", "--released", "second.csv"], ["ledger", *CHECK[:2]]
    for gate in gates:
        for known in ([], ["--earlier", "first.csv"]):
            command = [*gate, *CHECK[2:], *known, *([] if gate[0] == "ledger" else ["--protected"])]
            code, lines = told(*command)
            assert ("not judged" in " ".join(lines), code == 2) == (not known, not known), lines
            on_engine, told_there = told(*command, "--engine", engine)  # which the command that is named has, too
            assert (on_engine, [line.replace(f" --engine {engine}", "") for line in told_there]) == (code, lines)
    said('files = {"wave 1" = "first.csv"}')
    opened = told("ledger", *CHECK)
    assert told("ledger", *CHECK, "--engine", engine) == opened
    assert any("by near values" in line for line in opened[1])
