"""A file without weight and sampling fraction is said to be taken for the whole population, in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import KEYS

TAKEN = "is taken for the whole population."
SCENARIO = 'keys = ["sex", "age", "region"]\nidentifiers = ["name"]\n{more}\n[thresholds]\nk = 2\n'
RECIPE = '[[steps]]\nmethod = "local_suppression"\n'


@pytest.mark.parametrize(
    ("more", "said"), [((), True), (("--weight", "w"), False), (("--sampling-fraction", 0.1), False)]
)
def test_an_assessment_says_so(sdckit, survey: Path, more: tuple[object, ...], said: bool) -> None:
    done = sdckit("assess", survey, *KEYS, *more)
    assert (f"survey.csv {TAKEN}" in done.out) == said
    assert ("--weight W or --sampling-fraction X" in done.out) == said
    assert TAKEN not in sdckit("assess", survey, *KEYS, *more, "-q").out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("more", "said"), [("", True), ('weight = "w"', False), ("sampling_fraction = 1.0", False)]
)
def test_the_gate_and_protection_say_so(sdckit, survey: Path, tmp_path: Path, more: str, said: bool) -> None:
    scenario, recipe = tmp_path / "s.toml", tmp_path / "r.toml"
    scenario.write_text(SCENARIO.format(more=more), encoding="utf-8")
    recipe.write_text(RECIPE, encoding="utf-8")
    for call in (
        ("check", survey, "--scenario", scenario),
        ("protect", recipe, survey, "--scenario", scenario, "--out", tmp_path / "o.csv"),
    ):
        done = sdckit(*call)
        assert (TAKEN in done.out) == said, done.err
        assert ("sampling_fraction = X in the scenario" in done.out) == said
        assert done.err == ""


def test_a_guessed_scenario_says_so(sdckit, survey: Path, tmp_path: Path, frame, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "whole population" not in sdckit("scenario", "init", survey).out
    frame.drop("w").write_csv(tmp_path / "whole.csv")
    assert "whole.csv will be taken for the whole population" in sdckit(
        "scenario", "init", tmp_path / "whole.csv", "--out", "other.toml"
    ).out  # fmt: skip
