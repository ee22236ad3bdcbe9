"""Every combination once, the same figures on any number of workers, and no run twice."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from recipes import STEPS, scenario, survey
from sdckit.data.losses import COARSENING
from sdckit.errors import DataError, FileFormatError, ScenarioError
from sdckit.report.chapters.map import plain_map
from sdckit.workflow.recipes import explore as module
from sdckit.workflow.recipes.explore import Exploration, Point, Runs, key_of
from sdckit.workflow.recipes.recipe_figures import FIGURES, CoarseningLoss
from sdckit.workflow.recipes.run_step import run_step

RECIPE = sdc.Recipe([STEPS[0], STEPS[1], STEPS[3]])
GRID: dict[str, list[Any]] = {"local_suppression.k": [2, 3], "2.pd": [0.5, 0.9]}


def run(grid: dict[str, list[Any]] = GRID, recipe: sdc.Recipe = RECIPE, **more: Any) -> sdc.Exploration:
    return sdc.explore(survey(), recipe, grid=grid, **{"scenario": scenario(), "seed": 4, **more})


def test_every_combination_is_the_recipe_applied() -> None:
    found = run()
    assert found.table.select("local_suppression.k", "2.pd").rows() == [(2, 0.5), (2, 0.9), (3, 0.5), (3, 0.9)]
    for row, one in enumerate(found.points, 1):
        last = found.recipe_of(row).apply(survey(), scenario=scenario(), seed=4, secret=module.NO_SECRET).figures[-1]
        assert one.figures["below_k"] == last.below_k
        assert one.figures["share_changed"] == last.share_changed


def test_steps_before_those_that_differ_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def counted(number: int, step: Any, *given: Any, **more: Any) -> Any:
        ran.append(step.method)
        return run_step(number, step, *given, **more)

    monkeypatch.setattr("sdckit.workflow.recipes.recipe_runs.run_step", counted)
    steps = [step.method for step in RECIPE.steps]
    run({"local_suppression.k": [2, 3]})
    assert ran == [*steps, steps[-1]]
    ran.clear()
    run({"local_suppression.k": [2]})
    assert ran == steps


def test_a_random_order_changes_no_figure() -> None:
    steps = [{"method": one.method, **one.arguments} for one in RECIPE.steps]
    mixed = run({"local_suppression.k": [2, 3]}, sdc.Recipe([*steps, {"method": "random_order"}]))
    plain = run({"local_suppression.k": [2, 3]})
    for one, other in zip(mixed.points, plain.points, strict=True):
        assert one.figures == pytest.approx(other.figures)
    bands = {"method": "recode", "column": "age", "bands": 2}
    recipes = (sdc.Recipe([bands]), sdc.Recipe([bands, {"method": "random_order"}]))
    in_order, moved = (run({"1.bands": [3]}, coarser, loss_figure="loss") for coarser in recipes)
    assert moved.points[0].figures["loss"] == in_order.points[0].figures["loss"] > 0


def test_records_of_another_number_in_random_order() -> None:
    steps: list[dict[str, Any]] = [
        {"method": "drop_identifiers", "columns": ["name"]},
        {"method": "synthesize", "models": "sample", "n": 80},
        {"method": "random_order"},
    ]
    found = run({"synthesize.n": [40, 80]}, sdc.Recipe(steps))
    assert [(one.figures["share_changed"], one.note) for one in found.points] == [(1, ""), (1, "")]


def test_any_number_of_workers() -> None:
    assert run(workers=1).table.equals(run(workers=3).table)


def test_it_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, told = tmp_path / "runs.jsonl", []
    whole = run()
    run({"local_suppression.k": [2], "2.pd": [0.5, 0.9]}, resume=path)
    assert run(resume=path, step=told.append).table.equals(whole.table)
    assert told == ["2 of 4 recipes known", "3 of 4 recipes tried", "4 of 4 recipes tried"]
    monkeypatch.setattr(module, "_measure", lambda *_: lambda _: pytest.fail("measured again"))
    assert run(resume=path).table.equals(whole.table)
    kept = [(one.behind, one.small) for one in run(resume=path).points]
    assert kept == [(one.behind, one.small) for one in whole.points] != [(1, 1)] * 4
    assert "cook" not in path.read_text(encoding="utf-8")


def test_runs_of_an_older_version_are_told_as_if_one_record_stood_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    run({"local_suppression.k": [2], "2.pd": [0.5]}, resume=path)
    older = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for one in older:
        del one["figures"]["behind"], one["figures"]["small"]
    path.write_text("".join(json.dumps(one) + "\n" for one in older), encoding="utf-8")
    (point,) = run({"local_suppression.k": [2], "2.pd": [0.5]}, resume=path).points
    assert (point.behind, point.small) == (1, 1)


def test_another_seed_or_scenario_is_another_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    grid = {"2.pd": [0.5]}
    run(grid, resume=path)
    run(grid, resume=path, seed=5)
    run(grid, resume=path, scenario=scenario(keys=["sex", "job"]))
    sdc.explore(survey().head(100), RECIPE, grid=grid, scenario=scenario(), seed=4, resume=path)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


def test_what_fails_while_it_runs_keeps_its_reason() -> None:
    steps = [{"method": "recode", "column": "job", "groups": {"x": ["cook"]}, "outside": "missing"}]
    failing = sdc.Recipe([*steps, {"method": "recode", "column": "job", "groups": {"y": ["x"]}}])
    found = run({"2.groups": [{"y": ["x"]}, {"y": ["z"]}]}, failing)
    assert [bool(one.note) for one in found.points] == [False, True]
    assert "step 2 (recode)" in found.points[1].note
    assert found.table["note"].to_list()[0] == ""


def test_the_worst_intruder_counts() -> None:
    several = scenario(keys=None, intruders={"a": ["sex"], "b": ["sex", "job", "age"]})
    recipe = sdc.Recipe([STEPS[1]])
    found = run({"pram.pd": [0.9]}, recipe, scenario=several)
    rows = recipe.with_argument("pram.pd", 0.9).apply(survey(), scenario=several, seed=4, secret=module.NO_SECRET).steps
    assert found.points[0].figures["below_k"] == rows.filter(pl.col("step") == 1)["below_k"].max()


@pytest.mark.parametrize(
    ("more", "kind", "said"),
    [
        ({"grid": {}}, ScenarioError, "grid names arguments"),
        ({"grid": {"2.pd": 0.5}}, ScenarioError, "takes a list"),
        ({"grid": {"2.dp": [0.5]}}, ScenarioError, "no argument 'dp'"),
        ({"grid": {"prma.pd": [0.5]}}, ScenarioError, "did you mean 'pram'"),
        ({"grid": {"2.pd": [0.5, "x"]}}, ScenarioError, "pd takes"),
        ({"grid": {"3.k": [2, 500]}}, DataError, r"with 3.k = 500: step 3 .* more than the 120 records"),
        ({"grid": {"3.k": [*range(2, 200)], "2.pd": [0.5] * 200}}, ScenarioError, "at most 10,000"),
        ({"risk_figure": "risk"}, ScenarioError, "is no figure of the map"),
        ({"loss_figure": "below_k"}, ScenarioError, "is no figure of the map"),
        ({"scenario": None}, ScenarioError, "under a scenario"),
        ({"workers": 0}, DataError, "workers counts"),
        ({"seed": None, "resume": "runs.jsonl"}, ScenarioError, "needs a seed"),
        ({"recipe": [STEPS[0]]}, ScenarioError, "takes the data and a Recipe"),
    ],
)
def test_a_bad_call(more: dict[str, Any], kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_run_all", lambda *_: pytest.fail("it ran"))
    with pytest.raises(kind, match=said):
        run(**more)


# The map: its table, its front, its recipes.


EXPLORATION_RECIPE = sdc.Recipe([{"method": "pram", "columns": ["a"]}])


def point(risk: float, loss: float, pd: float, note: str = "") -> Point:
    figures = {**dict.fromkeys(FIGURES, 0.0), "below_k": risk, "pmse": loss}
    return Point({"pram.pd": pd}, figures, note, behind=100, small=0)


POINTS = (point(4, 0.2, 0.5), point(9, 0.1, 0.9), point(math.nan, math.nan, 0.0, "why"), point(9, 0.2, 0.8))
MAP = Exploration(POINTS, "below_k", "pmse", 120, 3, EXPLORATION_RECIPE, pl.__name__)


def test_the_table_and_the_front() -> None:
    assert MAP.on_front == (True, True, False, False)
    assert MAP.table["pram.pd"].to_list() == [0.5, 0.9, 0.0, 0.8]
    assert MAP.table["note"].to_list() == ["", "", "why", ""]
    assert MAP.front["row"].to_list() == [1, 2]
    assert MAP.recipe_of(2).steps[0].arguments["pd"] == 0.9
    assert "2 on the front" in repr(MAP)


def test_the_chart_shows_protected_figures() -> None:
    shown = MAP.plot().to_dict()
    text = str(shown)
    assert "'risk_text': '<20'" in text
    assert "'risk_text': '4'" not in text
    assert "'risk_text': '4'" in str(MAP.plot(internal=True).to_dict())


# Runs that were finished are known again; a torn line is forgotten, a foreign file refused.


RUN = {**dict.fromkeys(FIGURES, 1.5), "pmse": math.nan, "note": "none"}


def test_kept_and_known_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Runs(path).add("a", RUN)
    Runs(path).add("b", {**RUN, "below_k": 3.0})
    assert path.stat().st_mode & 0o777 == 0o600
    again = Runs(path)
    assert again.get("b")["below_k"] == 3.0
    assert math.isnan(again.get("a")["pmse"])
    assert again.get("c") is None
    assert [json.loads(line)["key"] for line in path.read_text(encoding="utf-8").splitlines()] == ["a", "b"]


def test_a_torn_line_is_forgotten_and_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Runs(path).add("a", RUN)
    whole = path.read_text(encoding="utf-8")
    for cut in (1, 10, 30, len(whole) - 1):
        path.write_text(whole + whole[:cut], encoding="utf-8")
        runs = Runs(path)
        assert path.read_text(encoding="utf-8") == whole
        runs.add("b", RUN)
        assert Runs(path).get("b") is not None


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "secret", '{"key": 1}\n', "[1]\n", '{"format": "x", "key": "a"}\n'])
def test_another_file_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 1: not a run of explore") as caught:
        Runs(path)
    assert "secret" not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_no_place_for_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "runs.jsonl"):
        with pytest.raises(FileFormatError, match="folder"):
            Runs(path)


def test_without_a_file_and_keys() -> None:
    runs = Runs(None)
    runs.add("a", RUN)
    assert runs.get("a") == RUN
    assert key_of("a", [1]) != key_of("a", [2])
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})


@pytest.mark.parametrize("figure", COARSENING)
def test_what_coarser_keys_lost_may_be_the_loss_of_the_map(figure: str, tmp_path: Path) -> None:
    recipe = sdc.Recipe([{"method": "recode", "column": "age", "bands": 2}, {"method": "local_suppression", "k": 2}])
    path = tmp_path / "runs.jsonl"
    found = run({"1.bands": [2, 4], "2.k": [2, 3]}, recipe, loss_figure=figure, resume=path)
    for row, point in enumerate(found.points, 1):
        done = found.recipe_of(row).apply(survey(), scenario=scenario(), seed=4, secret=module.NO_SECRET, watch=False)
        assert point.figures[figure] == CoarseningLoss(figure, scenario())(survey(), done.data)
    assert found.table[figure].to_list() == [point.figures[figure] for point in found.points]
    assert any(found.on_front)
    assert run({"1.bands": [2, 4], "2.k": [2, 3]}, recipe, loss_figure=figure, resume=path).table.equals(found.table)
    points = plain_map(found)["points"]
    assert all(one["loss"]["value"] > 0 for one in points)
    few = replace(found, points=tuple(replace(point, coarser=4) for point in found.points))
    assert {one["loss"]["text"] for one in plain_map(few)["points"]} == {"withheld"}


def test_a_recipe_that_perturbs_a_key_has_no_loss_of_coarsening() -> None:
    found = run({"2.pd": [0.5]}, loss_figure="loss")
    assert math.isnan(found.points[0].figures["loss"])
    assert "one value became several" in found.points[0].note
    assert not math.isnan(found.points[0].figures["share_changed"])
