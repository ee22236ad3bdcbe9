"""A recipe to start from: it runs as it stands, it keeps k, and its comments say nothing of anybody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import homes
import sdckit as sdc


def survey(n: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.normal(3000, 800, n).round(),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "east"], n),
        }
    )


SCENARIOS = {
    "one": {"keys": ["age", "sex", "region"]},
    "two": {"intruders": {"neighbour": ["age", "sex", "region"], "colleague": ["age", "income"]}},
    "risk": {"keys": ["age", "sex"], "thresholds": {"risk": 0.1}},
    "sample": {"keys": ["age", "sex"], "thresholds": {"risk": 0.02}, "sampling_fraction": 0.1},
    "mean": {"keys": ["age", "sex"], "thresholds": {"global_risk": 0.05, "k": 2}},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("engine", ["polars", "pandas"])
def test_it_runs_and_keeps_its_limits(name: str, engine: str) -> None:
    entries = {"identifiers": ["name"], "thresholds": {"k": 3}, **SCENARIOS[name]}
    scenario = sdc.Scenario(**entries)  # type: ignore[arg-type]
    data = survey() if engine == "polars" else survey().to_pandas()
    start = sdc.starter_recipe(data, scenario=scenario)
    assert start.exceeded == ()
    applied = start.recipe.apply(data, scenario=scenario)
    assert "name" not in list(applied.data.columns)
    assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


@pytest.mark.filterwarnings("ignore")
def test_households_keep_k_with_what_mates_give_back() -> None:
    data = homes.people()
    keys = ["region", "tenure", "size", "age", "sex"]
    scenario = sdc.Scenario(keys=keys, household="home", weight="w", thresholds={"k": 3, "risk": 0.05})
    start = sdc.starter_recipe(data, scenario=scenario)
    applied = start.recipe.apply(data, scenario=scenario)
    assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


def test_the_text_is_the_recipe_and_the_same_every_time(tmp_path: Path) -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], identifiers=["name"], thresholds={"k": 3})
    start = sdc.starter_recipe(survey(), scenario=scenario)
    path = tmp_path / "r.toml"
    path.write_text(start.text, encoding="utf-8")
    assert sdc.Recipe.from_toml(path) == start.recipe
    assert sdc.starter_recipe(survey(), scenario=scenario).text == start.text


def test_no_count_stands_in_the_text() -> None:
    data = survey()
    data[3, "region"] = "Zq7Qx"
    scenario = sdc.Scenario(keys=["age", "sex", "region"], thresholds={"k": 3})
    text = sdc.starter_recipe(data, scenario=scenario).text
    comments = " ".join(line for line in text.splitlines() if line.startswith("#"))
    for count in sdc.k_anonymity(data, keys=scenario.keys, k=[2, 3]).violations.values():
        assert f"{count}" not in comments
    assert "Zq7Qx" not in text
    inside = sdc.starter_recipe(data, scenario=scenario, share=0.0, internal=True)
    assert "Zq7Qx" in inside.text
    assert "keep this recipe in the room" in inside.text
    small = sdc.starter_recipe(data[:40], scenario=scenario).text
    assert " % before" in text
    assert "%" not in small


def test_names_cannot_leave_their_comment() -> None:
    name = 'job\n[[steps]]\nmethod = "random_order"'
    data = survey().rename({"region": name})
    start = sdc.starter_recipe(data, scenario=sdc.Scenario(keys=["age", name], thresholds={"k": 3}))
    assert [one.method for one in start.recipe.steps] == ["recode", "local_suppression", "random_order"]
    assert start.text.count("[[steps]]\n") == 3


def test_what_is_not_reached_is_said() -> None:
    data = survey().with_columns(ill=pl.lit("no"))
    scenario = sdc.Scenario(
        keys=["age", "sex"], sensitive=["ill"], thresholds={"k": 3, "l": 2, "residual_risk": 0.1}
    )
    start = sdc.starter_recipe(data, scenario=scenario)
    assert (start.exceeded, start.unjudged) == (("l",), ("residual_risk",))
    assert "exceeded after these steps: l;" in start.text.replace("\n# ", " ")


def test_paths_start_where_the_recipe_is_to_lie(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(
        "code,wide\n" + "\n".join(f"{a}{b},{a}" for a in "abc" for b in "1234567"), encoding="utf-8"
    )
    (tmp_path / "s.toml").write_text(
        'keys = ["place"]\n[hierarchies]\nplace = "h.csv"\n[thresholds]\nk = 30\n', encoding="utf-8"
    )
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"place": rng.choice([f"{a}{b}" for a in "abc" for b in "1234567"], 300)})
    scenario = sdc.Scenario.from_toml(tmp_path / "s.toml")
    there = tmp_path / "recipes"
    there.mkdir()
    for folder, path in ((None, "h.csv"), (there, "../h.csv")):
        start = sdc.starter_recipe(data, scenario=scenario, folder=folder)
        assert start.recipe.steps[0].arguments["hierarchy"] == path
        start.recipe.apply(data, scenario=scenario)


def test_a_scenario_without_a_limit_to_aim_at_is_refused() -> None:
    scenario = sdc.Scenario(keys=["age"], sensitive=["sex"], thresholds={"l": 2})
    with pytest.raises(sdc.ScenarioError, match="no threshold that steps could aim at"):
        sdc.starter_recipe(survey(), scenario=scenario)
    kept = sdc.Scenario(keys=["age"], thresholds={"risk": 1.0}, sampling_fraction=0.5, aligned=True)
    with pytest.raises(sdc.ScenarioError, match="nothing to do"):
        sdc.starter_recipe(survey(), scenario=kept)
    with pytest.raises(sdc.ColumnError, match="no column 'ago'"):
        sdc.starter_recipe(survey(), scenario=sdc.Scenario(keys=["ago"], thresholds={"k": 2}))
