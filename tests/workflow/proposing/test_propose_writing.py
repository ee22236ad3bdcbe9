"""The recipe that is written: paths start where it lies."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from proposals import survey

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def test_paths_of_hierarchies_start_in_the_folder_of_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "areas.csv").write_text("".join(f"{one};{one[0]}\n" for one in ("11", "12", "21", "22", "23")))
    (tmp_path / "s.toml").write_text(
        'keys = ["age", "sex", "area"]\n[hierarchies]\narea = "areas.csv"\n[thresholds]\nk = 25\n'
    )
    scenario = sdc.Scenario.from_toml(tmp_path / "s.toml")
    (tmp_path / "recipes").mkdir()
    found = sdc.propose(
        survey(), scenario=scenario, alternatives=0, folder=tmp_path / "recipes", share=0.02,
        prefer={"age": [{"bands": [0, 60, None]}]}, importance={"age": 1, "sex": 1, "area": 9},
    )  # fmt: skip
    (tmp_path / "recipes" / "r.toml").write_text(found.text, encoding="utf-8")
    recipe = sdc.Recipe.from_toml(tmp_path / "recipes" / "r.toml")
    assert recipe == found.recipe
    applied = recipe.apply(survey(), scenario=scenario, watch=False)
    assert isinstance(applied.data, pl.DataFrame)
    levels = [step.arguments["hierarchy"] for step in recipe.steps if "hierarchy" in step.arguments]
    assert levels == ["../areas.csv"]
