"""A recipe to start from: it runs as it stands, it keeps k, and its comments say nothing of anybody."""

from __future__ import annotations

import hashlib
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import homes
import sdckit as sdc
from sdckit.data.limits import LIMITS
from sdckit.errors import DataError, SdcWarning
from sdckit.report.wording import say
from sdckit.workflow.recipes.given_back import SEED
from sdckit.workflow.recipes.recipe import TRIAL
from sdckit.workflow.recipes.starter_recipe import (
    Way,
    about_share,
    before_suppression,
    coarsen_keys,
    comments_in,
    last_step,
    over_limits,
    suppressions,
    wanted_k,
    write_starter,
)

SUPPRESS = {"method": "local_suppression", "hide_implied": True}  # what is lost must not be told by the rest


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


def alike_weights(data: pl.DataFrame) -> pl.DataFrame:
    """The same weights, told apart as before but so alike that coarser ones hardly move a total."""
    return data.with_columns(w=100.0 + pl.col("w") / 100.0)


@pytest.mark.filterwarnings("ignore")
def test_households_keep_k_with_what_mates_give_back() -> None:
    """By every secret: in what order the households come tells nothing of one that is taken out whole."""
    data = alike_weights(homes.people())
    keys = ["region", "tenure", "size", "age", "sex"]
    scenario = sdc.Scenario(keys=keys, household="home", weight="w", thresholds={"k": 3, "risk": 0.05})
    start = sdc.starter_recipe(data, scenario=scenario)
    for number in (0, 3, 7, 11):  # the last three gave a value back by the order of the rows
        secret = hashlib.sha256(b"%d" % number).digest()
        applied = start.recipe.apply(data, scenario=scenario, secret=secret)
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


def test_it_says_where_k_holds_by_missing_values_alone() -> None:
    """With keys that differ in nearly every record, three records without theirs are like all the others."""
    rng = np.random.default_rng(1)
    born = pl.Series(rng.choice(20_000, 300, replace=False)).cast(pl.Date)
    post, sex = rng.choice(9_000, 300, replace=False).astype(str), rng.choice(["f", "m"], 300)
    data = pl.DataFrame({"born": born, "post": post, "sex": sex})
    entries = {"keys": [*data.columns], "thresholds": {"k": 3}}
    with pytest.warns(SdcWarning, match="^Most records hold k only because others lost values"):
        start = sdc.starter_recipe(data, scenario=sdc.Scenario(**entries))
    assert start.exceeded == ()
    assert "found as before by who takes the record that agrees" in " ".join(start.text.replace("#", "").split())
    german = comments_in(start.text, lambda text: say(text, "de"))
    assert "Die meisten Sätze halten k nur" in german.replace("\n# ", " ")
    start = sdc.starter_recipe(data, scenario=sdc.Scenario(**entries, missing="category"))
    assert start.exceeded == ("k",)
    assert "Most records" not in start.text


def test_names_cannot_leave_their_comment() -> None:
    name = 'job\n[[steps]]\nmethod = "random_order"'
    data = survey().rename({"region": name})
    start = sdc.starter_recipe(data, scenario=sdc.Scenario(keys=["age", name], thresholds={"k": 3}))
    assert [one.method for one in start.recipe.steps] == ["recode", "local_suppression", "random_order"]
    assert start.text.count("[[steps]]\n") == 3


def test_records_still_too_risky_where_a_missing_key_may_be_any_value_lose_their_keys() -> None:
    """Of a sample no k follows from the limit on the risk: what suppression leaves above it is taken out, too."""
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"job": rng.choice([*"abcdefghijklmnopqrstuvwxyz"], 120), "sex": rng.choice(["f", "m"], 120)})
    scenario = sdc.Scenario(
        keys=["job", "sex"], missing="wildcard", sampling_fraction=0.5, thresholds={"k": 2, "risk": 0.1}
    )
    start = sdc.starter_recipe(data, scenario=scenario)
    assert [step.method for step in start.recipe.steps] == ["local_suppression", "suppress_above", "random_order"]
    assert start.recipe.steps[1].arguments["threshold"] == 0.1
    assert "whose risk is still above the threshold lose their keys" in start.text.replace("\n# ", " ")
    assert start.exceeded == ()


def test_what_is_not_reached_is_said() -> None:
    data = survey().with_columns(ill=pl.lit("no"))
    scenario = sdc.Scenario(keys=["age", "sex"], sensitive=["ill"], thresholds={"k": 3, "l": 2, "residual_risk": 0.1})
    start = sdc.starter_recipe(data, scenario=scenario)
    assert (start.exceeded, start.unjudged) == (("l",), ("residual_risk",))
    assert "exceeded after these steps: l;" in start.text.replace("\n# ", " ")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENARIOS)
def test_it_names_the_thresholds_that_an_assessment_of_its_release_finds_exceeded(name: str) -> None:
    """The trial measures only what limits read, and nothing of what the release is still good for."""
    limits = {"k": 3, "l": 2, "recoverable": 0.01, "match_risk": 0.05, "residual_risk": 0.1}
    data = survey().with_columns(ill=pl.lit("no"), born=2020 - pl.col("age"))
    entries = {**SCENARIOS[name], "sensitive": ["ill"]}
    scenario = sdc.Scenario(**{**entries, "thresholds": {**limits, **entries.get("thresholds", {})}})  # type: ignore
    start = sdc.starter_recipe(data, scenario=scenario)
    applied = start.recipe.apply(data, scenario=scenario, secret=TRIAL, watch=False)
    verdicts = applied.assess(seed=SEED).verdicts
    of = {holds: {LIMITS[v.name].words if LIMITS[v.name].of else v.name for v in verdicts if v.holds is holds}
          for holds in (False, None)}  # fmt: skip
    assert {*start.exceeded} == of[False] >= {"l"}
    assert {*start.unjudged} == of[None] == {"residual_risk"}


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


# The comments of a recipe to start from: ranges that tell nobody, lines that are comments.


@pytest.mark.parametrize("n", [50, 60, 73, 99, 100, 199, 200, 944, 6366, 100_000])
def test_every_range_holds_the_share_and_ten_records(n: int) -> None:
    told: dict[str, list[int]] = {}
    for count in range(n + 1):
        told.setdefault(about_share(count, n), []).append(count)
    for text, counts in told.items():
        ends = [int(one) for one in re.findall(r"\d+", text)]
        low, high = ends if len(ends) == 2 else [0, *ends]
        assert low <= 100 * min(counts) / n
        assert 100 * max(counts) / n <= high
        assert len(counts) >= 10


def test_of_a_small_file_nothing_is_said() -> None:
    assert {about_share(count, 49) for count in range(50)} == {""}


def test_long_lines_are_folded_and_commands_are_not() -> None:
    command = "  sdckit protect " + "x" * 120
    text = write_starter("T", ["word " * 60, command], [(None, ["alone"]), ({"method": "random_order"}, ["why"])])
    lines = text.splitlines()
    assert f"# {command}" in lines
    assert max(len(line) for line in lines if command not in line) <= 102
    assert "\n\n# alone\n\n# why\n[[steps]]\n" in text
    assert tomllib.loads(text) == {"title": "T", "steps": [{"method": "random_order"}]}


def test_comments_are_said_as_a_whole_and_the_recipe_stays() -> None:
    long = "word " * 40 + "end."
    text = write_starter("A # title", [long, "  sdckit check"], [({"method": "pram", "columns": ["#a"]}, ["Short."])])
    heard: list[str] = []
    said = comments_in(text, lambda one: heard.append(one) or one.replace("end", "done"))  # type: ignore[func-returns-value]
    assert heard == [long, "Short."]
    assert tomllib.loads(said) == tomllib.loads(text)
    assert "done." in said
    assert "#   sdckit check" in said
    assert comments_in(text, lambda one: one) == text


# The way from keys to coarser keys: what comes first, what comes after it, and where it ends.


def keys_survey(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.normal(2500, 500, n).round(1),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["cook", "vet", "clerk"], n),
        }
    )


def scenario(**entries: object) -> sdc.Scenario:
    return sdc.Scenario(**{"keys": ["age", "sex"], "thresholds": {"k": 3}, **entries})


@pytest.mark.parametrize(
    ("entries", "k"),
    [
        ({"thresholds": {"k": 3}}, 3),
        ({"thresholds": {"risk": 0.2}}, 5),
        ({"thresholds": {"k": 7, "risk": 0.2}}, 7),
        ({"thresholds": {"risk": 0.3}}, 4),
        ({"thresholds": {"risk": 1.0}}, 2),
        ({"thresholds": {"risk": 0.2}, "sampling_fraction": 0.1}, None),
        ({"thresholds": {"k": 3, "risk": 0.2}, "weight": "w"}, 3),
        ({"thresholds": {}, "release": "public-use"}, 20),
    ],
)
def test_the_k_that_is_needed(entries: dict[str, object], k: int | None) -> None:
    assert wanted_k(scenario(**entries)) == k


def test_records_over_a_limit_are_those_of_the_measures() -> None:
    data = keys_survey()
    both = scenario(
        intruders={"a": ["age", "sex"], "b": ["pay"]}, keys=None, thresholds={"k": 3, "risk": 0.004},
        sampling_fraction=0.01,
    )  # fmt: skip
    below = sdc.k_anonymity(data, keys=["age", "sex"], k=[3]).violations[3]
    above = sdc.individual_risk(data, keys=["pay"], sampling_fraction=0.01, threshold=0.004).n_above
    alone = sdc.k_anonymity(data, keys=["pay"], k=[3]).violations[3]
    risky = sdc.individual_risk(data, keys=["age", "sex"], sampling_fraction=0.01, threshold=0.004).n_above
    assert risky is not None
    assert above is not None
    assert over_limits(data, both) == {"a": max(below, risky), "b": max(alone, above)}


def test_a_mean_risk_has_to_hold_whatever_is_left_to_suppression() -> None:
    data = keys_survey()
    assert sdc.individual_risk(data, keys=["age", "sex"]).global_risk > 0.1
    way = coarsen_keys(data, scenario(thresholds={"global_risk": 0.1}), share=1.0, internal=False)
    assert way.done[0].before["default"].expected > 0
    assert way.over["default"].expected == 0
    assert sdc.individual_risk(way.data, keys=["age", "sex"]).global_risk <= 0.1


def test_bands_become_wider_until_few_are_left_over() -> None:
    way = coarsen_keys(keys_survey(), scenario(thresholds={"k": 20}), share=0.05, internal=False)
    assert [one.key for one in way.done] == ["age"] * len(way.done)
    assert len(way.done) > 1
    assert way.over["default"].records <= 30 < way.done[-1].before["default"].records
    edges = [one.step["bands"][1:-1] for one in way.done]
    assert all(set(after) < set(before) for before, after in pairwise(edges))
    recoded = sdc.recode(keys_survey(), column="age", bands=way.steps["age"]["bands"]).data
    assert way.data["age"].to_list() == recoded["age"].to_list()


def test_wider_bands_of_decimals_stay_even() -> None:
    rng = np.random.default_rng(3)
    data = pl.DataFrame({"rate": rng.normal(1, 0.4, 600).round(2), "sex": rng.choice(["f", "m"], 600)})
    way = coarsen_keys(data, scenario(keys=["rate", "sex"], thresholds={"k": 12}), share=0.0, internal=False)
    edges = [np.array(one.step["bands"][1:-1]) for one in way.done if one.key == "rate"]
    assert len(edges) > 1
    assert all(np.allclose(np.diff(one), one[1] - one[0]) for one in edges)


def test_the_step_that_brings_most_per_bit_comes_first() -> None:
    data, one = keys_survey(), scenario(keys=["age", "pay", "sex"])
    way = coarsen_keys(data, one, share=0.0, internal=False)
    gains = {}
    for name in ("age", "pay"):
        found = sdc.key_contributions(data, scenario=one).coarsenings[name]
        gains[name] = (600 - found.violations_without[3]) / found.entropy_lost
    assert way.done[0].key == max(gains, key=gains.__getitem__)


def test_nothing_is_coarsened_within_the_share_or_without_a_step() -> None:
    assert not coarsen_keys(keys_survey(), scenario(), share=1.0, internal=False).done
    way = coarsen_keys(keys_survey(), scenario(keys=["job", "sex"]), share=0.0, internal=False)
    assert not way.done
    assert way.unstepped == {"job": "codes"}
    assert not [line for _, why in before_suppression(way, ["job"]) for line in why if "were tried" in line]


def test_keys_that_help_together_alone_are_coarsened_together() -> None:
    """Born on a day and admitted on another: everybody stays alone however coarse one of the two is."""
    days = pl.date_range(pl.date(1940, 1, 1), pl.date(2019, 12, 31), eager=True)
    born, admitted = (days.sample(900, seed=seed, with_replacement=True) for seed in (1, 2))
    data = pl.DataFrame({"born": born, "admitted": admitted})
    asked = scenario(keys=["born", "admitted"], thresholds={"k": 3})
    way = coarsen_keys(data, asked, share=0.5, internal=False)
    assert {one.key for one in way.done} == {"born", "admitted"}
    assert not way.done[0].helps
    assert way.over["default"].records < 900 / 2
    start = sdc.starter_recipe(data, scenario=asked)
    assert [step.arguments.get("period") for step in start.recipe.steps[:2]] == ["decade", "decade"]
    german = comments_in(start.text, lambda text: say(text, "de"))
    assert "by " not in german
    # beside a text that nothing makes coarser: what does not help is not done, and the text is named
    alone = data.with_columns(street=pl.int_range(900).floordiv(2).cast(pl.String))
    asked = scenario(keys=["born", "admitted", "street"], thresholds={"k": 3})
    way = coarsen_keys(alone, asked, share=0.5, internal=False)
    assert not way.done
    assert way.unstepped == {"street": "rare"}
    lines = [line for _, why in before_suppression(way, alone.columns) for line in why]
    assert lines[-1].startswith("No step for street: nearly each of its values is that of few records")
    assert say(lines[-1], "de", ["street"]).startswith("Kein Schritt für street: Fast jeder")
    assert lines[-2].startswith("No step for born and admitted: no bands or periods that were tried bring a record")
    assert say(lines[-2], "de", ["born", "admitted"]).startswith("Kein Schritt für born und admitted: Keine der")


def test_values_are_named_only_inside() -> None:
    data = keys_survey().with_columns(job=pl.when(pl.int_range(600) < 2).then(pl.lit("smith")).otherwise("job"))
    one = scenario(keys=["job", "sex"])
    assert not coarsen_keys(data, one, share=0.0, internal=False).steps
    assert "smith" in str(coarsen_keys(data, one, share=0.0, internal=True).steps["job"])


def test_a_hierarchy_is_climbed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    codes = [f"{a}{b}{c}" for a in "12" for b in "123" for c in "1234"]
    rows = ["code,wide,widest", *(f"{code},{code[:2]},{code[0]}" for code in codes)]
    (tmp_path / "h.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'keys = ["place"]\n[hierarchies]\nplace = "h.csv"\n[thresholds]\nk = 40\n', encoding="utf-8"
    )
    data = pl.DataFrame({"place": rng.choice([f"{code}" for code in codes], 200)})
    way = coarsen_keys(data, sdc.Scenario.from_toml(tmp_path / "s.toml"), share=0.0, internal=False)
    assert [one.step["level"] for one in way.done] == [2]  # at level 1 nobody would reach 40
    assert sorted(set(way.data["place"])) == ["1", "2"]


# The steps before and after the recodings: identifiers, weights, households, what is left, the order.


def way_of(data: pl.DataFrame, **entries: object) -> Way:
    scenario = sdc.Scenario(**{"thresholds": {"k": 3}, **entries})
    return coarsen_keys(data, scenario, share=1.0, internal=False)


def steps(told: object) -> list[dict[str, object]]:
    return [dict(step) for step, _ in told if step is not None]  # type: ignore[attr-defined]


def comments(told: object) -> str:
    return " ".join(line for _, lines in told for line in lines)  # type: ignore[attr-defined]


def test_identifiers_that_the_file_has_are_left_out_and_numbers_replaced() -> None:
    data = homes.people().with_columns(no=pl.int_range(pl.len()), name=pl.lit("x"))
    way = way_of(data, keys=["age", "sex"], identifiers=["name", "phone"], household="home", person="no", weight=None)
    found = steps(before_suppression(way, data.columns))
    assert found == [
        {"method": "drop_identifiers", "columns": ["name"]},
        {"method": "new_ids", "column": "home"},
        {"method": "new_ids", "column": "no"},
    ]


def test_a_weight_that_tells_a_key_is_coarsened_and_another_stays() -> None:
    data = alike_weights(homes.people())
    told = before_suppression(way_of(data, keys=["region", "sex"], weight="w", household="home"), data.columns)
    assert {"method": "coarsen_weights", "weight": "w", "hide": ["region"]} in steps(told)
    left = before_suppression(way_of(data, keys=["age", "sex"], weight="w", household="home"), data.columns)
    assert "coarsen_weights" not in [one["method"] for one in steps(left)]


def firms(*, apart: float, most: int = 200, n: int = 400) -> pl.DataFrame:
    """Firms without households, whose weights differ by region: `apart` times as high in the second one."""
    region = ["a" if number < most else "b" for number in range(n)]
    weight = [10.0 + (number // 2 % 4) / 100 for number in range(n)]
    weight = [w * (apart if place == "b" else 1.0) for w, place in zip(weight, region, strict=True)]
    turnover = [float(1 + number % 50) for number in range(n)]
    return pl.DataFrame({"region": region, "size": ["1", "2"] * (n // 2), "turnover": turnover, "w": weight})


def weight_told(data: pl.DataFrame) -> list[tuple[object, str]]:
    way = way_of(data, keys=["region", "size"], weight="w", numeric=["turnover"])
    return [
        (step, " ".join(lines)) for step, lines in before_suppression(way, data.columns) if "weight" in " ".join(lines)
    ]


def test_weights_are_coarsened_where_totals_hardly_move() -> None:
    ((step, _),) = weight_told(firms(apart=1.02))
    assert step == {"method": "coarsen_weights", "weight": "w", "hide": ["region"]}


def test_the_rows_of_a_person_keep_one_weight() -> None:
    """Weights coarsened row by row differ within people, and the file could not be assessed any more."""
    once = firms(apart=1.0).with_row_index("firm").with_columns(w=pl.col("w") + pl.int_range(pl.len()) // 2 / 1e4)
    panel = pl.concat([once.with_columns(year=pl.lit(year)) for year in (1, 2, 3)]).sort("firm", "year")
    scenario = sdc.Scenario(keys=["region", "size"], weight="w", person="firm", time="year", thresholds={"k": 3})
    start = sdc.starter_recipe(panel, scenario=scenario)
    released = start.recipe.apply(panel, scenario=scenario).data
    assert released["w"].n_unique() < once["w"].n_unique()
    assert released.group_by("firm").agg(pl.col("w").n_unique())["w"].to_list() == [1] * once.height


def test_weights_that_move_totals_are_left_and_the_recipe_says_what_to_choose() -> None:
    ((step, why),) = weight_told(firms(apart=3.0))
    assert step is None
    assert "it would move weighted totals, means or counts of region by more than 5 %" in why
    assert "Choose: leave the weight out of the release" in why


def test_a_region_of_nearly_all_records_is_no_error_on_households() -> None:
    """Its share is above that which weights may have of a value: no group of weights would do."""
    ((step, _),) = weight_told(firms(apart=1.02, most=380))
    assert step == {"method": "coarsen_weights", "weight": "w", "hide": ["region"], "share": 0.95}
    ((step, why),) = weight_told(firms(apart=1.02, most=3970, n=4000))
    assert step is None
    assert "one value of region has nearly all of the records" in why


def test_each_intruder_has_a_suppression_with_the_k_of_the_scenario() -> None:
    data = homes.people()
    way = way_of(data, intruders={"a": ["age"], "b": ["age", "sex"]})
    assert steps(suppressions(way)) == [
        {"method": "local_suppression", "intruder": "a", "hide_implied": True},
        {"method": "local_suppression", "intruder": "b", "hide_implied": True},
    ]
    assert steps(suppressions(way_of(data, keys=["age"]))) == [SUPPRESS]


def test_a_limit_on_the_risk_alone_becomes_a_k_or_none() -> None:
    data = homes.people()
    whole = way_of(data, keys=["age"], thresholds={"risk": 0.1})
    assert steps(suppressions(whole)) == [SUPPRESS | {"k": 10}]
    sample = way_of(data, keys=["age"], thresholds={"risk": 0.1}, sampling_fraction=0.1)
    assert steps(suppressions(sample)) == []


def test_the_size_of_a_household_goes_with_its_number() -> None:
    data = homes.people()
    way = way_of(data, keys=["size", "age", "region"], household="home")
    assert steps(suppressions(way)) == [SUPPRESS | {"together": [["size", "home"]]}]


def born_alike(n_homes: int) -> pl.DataFrame:
    """People of households whose members were mostly born in the same country."""
    rng = np.random.default_rng(501)
    size = rng.choice([1, 2, 3, 4, 5, 6], n_homes, p=[0.2, 0.25, 0.2, 0.2, 0.1, 0.05])
    home = np.repeat(np.arange(n_homes), size)
    n, shares = len(home), [0.7, 0.1, 0.08, 0.05, 0.04, 0.03]
    common, own = rng.choice([*"abcdef"], n_homes, p=shares)[home], rng.choice([*"abcdef"], n, p=shares)
    return pl.DataFrame(
        {
            "home": home, "region": rng.choice([*"NESW"], n_homes)[home], "sex": rng.choice(["f", "m"], n),
            "age": rng.choice(["0", "20", "40", "60", "80"], n, p=[0.25, 0.27, 0.27, 0.17, 0.04]),
            "born": np.where(rng.random(n) < 0.96, common, own),
        }
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_what_most_households_share_goes_with_their_number() -> None:
    """Whoever the mixed order put first told what was taken out of the others."""
    data, keys = born_alike(800), ["region", "sex", "age", "born"]
    scenario = sdc.Scenario(keys=keys, household="home", thresholds={"k": 3, "risk": 0.2})
    start = sdc.starter_recipe(data, scenario=scenario, share=1.0)
    assert "born: most households have one value" in start.text
    assert "count it" not in start.text
    step = next(step for step in start.recipe.steps if step.method == "local_suppression")
    assert step.arguments["together"] == [["born", "home"]]
    for number in (1, 2, 3):  # each of thirty broke the limits by what mates told
        applied = start.recipe.apply(data, scenario=scenario, secret=bytes([number]) * 32)
        gone = applied.data.filter(pl.col("born").is_null())
        assert gone["home"].null_count() == len(gone) > 0
        assert sdc.check(data, applied.data, scenario=scenario, log=applied.log, seed=1).passed


@pytest.mark.parametrize("missing", ["category", "error", {"age": "category"}])
def test_no_value_is_taken_out_where_that_protects_nobody(missing: object) -> None:
    told = list(suppressions(way_of(homes.people(), keys=["age", "sex"], missing=missing)))
    assert steps(told) == []
    assert "No local_suppression" in comments(told)


def test_the_order_is_mixed_unless_rows_correspond() -> None:
    data = homes.people()
    one = sdc.Scenario(keys=["age"], household="home")
    assert steps(last_step(one, data.columns)) == [{"method": "random_order", "household": "home"}]
    assert steps(last_step(sdc.Scenario(keys=["age"]), data.columns)) == [{"method": "random_order"}]
    told = list(last_step(one.changed(aligned=True), data.columns))
    assert steps(told) == []
    assert "aligned = true" in comments(told)


def test_what_no_step_looks_for_is_named() -> None:
    """People are followed through their rows: the recipe says what would help."""
    jobs = ["a", "b", *["a", "a"] * 24, *["b", "b"] * 25]
    panel = pl.DataFrame({"who": [at // 2 for at in range(100)], "year": [1, 2] * 50, "job": jobs})
    limits = {"k": 5, "known_points": 0.01}
    told = sdc.Scenario(keys=["job"], person="who", time="year", missing="category", thresholds=limits)
    start = sdc.starter_recipe(panel, scenario=told)
    text = start.text.replace("\n# ", " ")
    assert start.exceeded == ("known_points",)
    assert "Give new identifiers after some waves (new_ids with block)" in text
    assert "With block = 2 and time = year everybody gets new ones after two waves" in text


def test_a_key_of_people_with_several_rows_loses_no_values() -> None:
    """A missing key of theirs is a level of its own, which hides nobody: what was blanked could not be judged."""
    panel = pl.DataFrame({"who": [at // 2 for at in range(100)], "job": ["a", "b", *["c", "d"] * 49]})
    scenario = sdc.Scenario(keys=["job"], person="who", thresholds={"k": 3, "risk": 0.1})
    start = sdc.starter_recipe(panel, scenario=scenario)
    assert [step.method for step in start.recipe.steps] == ["new_ids", "random_order"]
    assert start.exceeded == ("k", "risk")
    assert "No local_suppression: people have several rows" in start.text.replace("\n# ", " ")


def test_a_key_that_would_lose_all_values_is_named_before_the_release_is_judged() -> None:
    """It ended with the error of a release whose key is empty, which nobody had given."""
    days = pl.Series("born", np.random.default_rng(1).permutation(20_000)[:300]).cast(pl.Int32).cast(pl.Date)
    people = pl.DataFrame([days, days.cast(pl.String).alias("code")])
    with pytest.raises(DataError, match=r"no value of born: make it coarser .*; sdckit propose searches"):
        sdc.starter_recipe(people, scenario=sdc.Scenario(keys=["born", "code"], thresholds={"k": 3}))


def test_records_that_lose_a_key_for_their_risk_lose_the_number_of_a_household_that_mostly_shares_it() -> None:
    """Of 142 values taken out of six such files 128 stood beside those of mates, which were the same for 105."""
    rng = np.random.default_rng(3)
    home = np.repeat(np.arange(500), rng.choice([2, 3, 4, 5], 500, p=[0.4, 0.25, 0.25, 0.1]))
    n, of_home = len(home), rng.choice(12, 500, p=np.r_[0.5, np.full(11, 0.5 / 11)])
    born = np.where(rng.random(n) < 0.06, rng.integers(0, 12, n), of_home[home])
    weight = np.where(rng.random(500) < 0.6, 1.2, 40.0)[home]
    people = pl.DataFrame({
        "home": home, "born": born, "sex": rng.choice(["f", "m"], n), "age": rng.integers(0, 5, n), "w": weight,
    })  # fmt: skip
    scenario = sdc.Scenario(
        keys=["born", "sex", "age"], weight="w", household="home", aligned=True, thresholds={"k": 3, "risk": 0.12}
    )
    for file, own in ((people, ["born", "sex", "age", "home"]), (people.with_columns(born=of_home[home]), None)):
        recipe = sdc.starter_recipe(file, scenario=scenario).recipe
        (columns,) = [step.arguments["columns"] for step in recipe.steps if step.method == "suppress_above"] or [None]
        assert columns is None or ("home" in columns) is (own is not None)
        if own is not None:
            assert columns == own
            safe = recipe.apply(file, scenario=scenario, watch=False).data
            assert safe.filter(pl.col("born").is_null() & pl.col("home").is_not_null()).is_empty()
