"""``sdckit budget``: what it starts and shows, and how a run spends of it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from cli.commands.test_synthesize_margins import DOMAIN, PLAIN, PRIVATE, Runner, text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text(PLAIN), encoding="utf-8")
    (tmp_path / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    return tmp_path


def test_a_budget_is_spent_and_ends(sdckit: Runner, folder: Path) -> None:
    created = sdckit("budget", "create", "budget.toml", "--dataset", "survey", "--epsilon", 1.6, "--delta", "1e-6")
    assert created.out.startswith(
        "Budget of survey: ε = 0 of 1.6 spent, a run may still have 1.6, at δ = 1e-06; head 0 "
    )
    run = ("synthesize-margins", "a.csv", "--domain", "domain.toml", *PRIVATE, "--budget", "budget.toml", "--out")
    assert "ε = 1 of 1.6 spent" in sdckit(*run, "made1.csv").out
    assert sdckit(*run, "made2.csv").code == 0
    (folder / "a.csv").write_text("id,sex,age,job\n")  # would be read otherwise: a header alone is
    third = sdckit(*run, "made3.csv")
    assert (third.code, (folder / "made3.csv").exists()) == (2, False)
    assert "the budget of 'survey' does not reach" in third.err
    assert "no data were read" in third.err
    shown = sdckit("budget", "show", "budget.toml").out
    assert len(re.findall("done", shown)) == 2
    assert stat.S_IMODE((folder / "budget.toml").stat().st_mode) == 0o600
    (folder / "domain.toml").write_text(DOMAIN.replace('"survey"', '"another"'))
    assert "names the dataset 'another'" in sdckit(*run, "made4.csv").err


def test_an_audit_is_thrown_away(sdckit: Runner, folder: Path) -> None:
    sdckit("budget", "create", "budget.toml", "--dataset", "survey", "--epsilon", 1, "--delta", "1e-6")
    run = ("synthesize-margins", "a.csv", "--domain", "domain.toml", *PRIVATE, "--budget", "budget.toml", "--out")
    assert sdckit(*run, "coins.csv").code == 0
    assert sdckit(*run, "made.csv").code == 2
    thrown = sdckit("budget", "throw-away", "budget.toml", "--run", 1, "--reason", "an audit with coins")
    assert "ε = 0 of 1 spent" in thrown.out
    assert "; 1 run declared thrown away, ε = 1 with it; head" in thrown.out
    assert sdckit(*run, "made.csv").code == 0
    shown = sdckit("budget", "show", "budget.toml").out
    assert "declared thrown away" in shown
    assert "an audit" in shown
