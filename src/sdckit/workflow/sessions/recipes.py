"""What the tasks on recipes share: steps as plain values, the recipe they make, and its run, kept while it is used."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sdckit.errors import ScenarioError, SdcWarning
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.recipe_steps import method_of
from sdckit.workflow.recipes.release_files import unread

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.explore import Point
    from sdckit.workflow.recipes.recipe import Applied
    from sdckit.workflow.sessions.answering import Desk, Tell


Steps = Sequence[Mapping[str, Any]]
MOST_FILES = 2  # of a kind in memory at a time: each is as large as the one that is open
TRIED = "recipes tried"
TITLE = "Made in sdckit app"


def make_recipe(desk: Desk, steps: Steps) -> Recipe:
    """The recipe of the steps that are switched on."""
    tables = [{"method": one["method"], **one["arguments"]} for one in steps if one.get("on", True)]
    if not tables:
        raise ScenarioError("the recipe has no step that is switched on; add one")
    return Recipe(tables, title=TITLE, folder=desk.folder)


def plain_steps(recipe: Recipe) -> list[dict[str, Any]]:
    """The steps of a recipe as plain values; an open end of a band is None.

    >>> plain_steps(Recipe([{"method": "recode", "column": "age", "bands": [0, 40, math.inf]}]))[0]["arguments"]
    {'column': 'age', 'bands': [0, 40, None]}
    """
    return [{"method": one.method, "arguments": _plain(one.arguments), "on": True} for one in recipe.steps]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def digest(*parts: Any) -> str:
    """A name for what a release is made of, to see whether it is still that of the steps."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def data_for(desk: Desk, recipe: Recipe, scenario: Scenario) -> Any:
    """The file without the identifiers that no step deals with, as ``sdckit protect`` reads it."""
    left_out = [name for name in unread(recipe, scenario) if name in desk.data.columns]
    return desk.data.drop(left_out)


def applied(desk: Desk, scenario: Scenario, steps: Steps, secret: str, tell: Tell) -> Applied:
    """Run the steps with the session's secret, once; the figures after each step are measured."""
    made = make_recipe(desk, steps)

    def run() -> Applied:
        return _run(desk, made, scenario, secret, tell, watch=True)

    found: Applied = kept(desk, "recipes run", [scenario.to_toml(), made.to_toml(), secret], run)
    _remember(desk, found)
    return found


def tried(desk: Desk) -> tuple[Point, ...]:
    """The recipes that were run while the file is open, as points of a map."""
    return tuple(desk.memo.get(TRIED, {}).values())


def _remember(desk: Desk, made: Applied) -> None:
    from sdckit.workflow.recipes.explore import Point
    from sdckit.workflow.recipes.recipe_figures import worst_of

    points: dict[str, Point] = desk.memo.setdefault(TRIED, {})
    name = digest(made.recipe.to_toml(), made.log.scenario)
    if name not in points:
        figures = worst_of([one for one in made.figures if one.step == len(made.recipe.steps)])
        behind, small = (int(figures.pop(few)) for few in ("behind", "small"))
        points[name] = Point({"recipe": len(points) + 1}, figures, "", behind, small)


def prefix_data(desk: Desk, scenario: Scenario, recipe: Recipe, n: int, secret: str, tell: Tell) -> Any:
    """The file after the first `n` steps, or before any."""
    if n == 0:
        return data_for(desk, recipe, scenario)
    first = recipe.prefix(n)

    def run() -> Any:
        return _run(desk, first, scenario, secret, tell, watch=False).data

    found = kept(desk, "files on the way", [scenario.to_toml(), first.to_toml(), secret], run)
    return found[0] if isinstance(found, list) else found


def _run(desk: Desk, recipe: Recipe, scenario: Scenario, secret: str, tell: Tell, *, watch: bool) -> Applied:
    data = data_for(desk, recipe, scenario)
    keys = {
        str(one.arguments["column"]): _key(secret, str(one.arguments["column"]))
        for one in recipe.steps
        if method_of(one.method, "step").keyed
    }
    with warnings.catch_warnings():  # they stand in the assessment of the release
        warnings.simplefilter("ignore", SdcWarning)
        return recipe.apply(
            data, scenario=scenario, secret=secret, id_keys=keys or None, watch=watch, step=tell
        )


def _key(secret: str, column: str) -> str:
    """The key of new identifiers: of the session's secret, so that every run gives the same."""
    return hashlib.sha256(bytes.fromhex(secret) + column.encode()).hexdigest()


def kept(desk: Desk, kind: str, parts: list[Any], make: Callable[[], Any]) -> Any:
    """Keep the last few of what holds a file."""
    files: dict[str, Any] = desk.memo.setdefault(kind, {})
    name = digest(*parts)
    if name not in files:
        made = make()
        while len(files) >= MOST_FILES:
            del files[next(iter(files))]
        files[name] = made
    return files[name]
