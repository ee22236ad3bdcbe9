"""The task that looks around a recipe: its numbers varied, risk against loss, each one held against the limits."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sdckit.errors import ScenarioError, SdcError, SdcWarning
from sdckit.report.chapters.map import plain_map
from sdckit.report.wording import say
from sdckit.workflow.recipes.step_forms import form_of
from sdckit.workflow.sessions.map_points import LOSS, RISK, can_be_drawn, in_language, of_map
from sdckit.workflow.sessions.protecting import (
    Plain,
    Steps,
    data_for,
    digest,
    make_recipe,
    passed_of,
    plain_steps,
    run_steps,
)

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.recipes.explore import Point
    from sdckit.workflow.recipes.recipe import Recipe
    from sdckit.workflow.sessions.answering import Desk, Tell

MOST = 60  # recipes
USUAL = 24  # tried where nobody says which values
SECONDS = 60.0  # after which no further recipe is begun
SEED = 1  # the same for all, so that they differ by their arguments; no release is made with it
SMALL = 10  # whole numbers below it have neighbours; larger ones are halved and doubled
NOTHING = "no step has a number or bands that could be varied; give a step a number, such as a smaller k, first"


def values_around(recipe: Recipe, scenario: Scenario) -> dict[str, list[Any]]:
    """Values to try by argument, as `explore` takes them: near those of the steps, or of the limit of that name.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> from sdckit.workflow.recipes.recipe import Recipe
    >>> steps = [{"method": "recode", "column": "age", "bands": 8}, {"method": "pram", "columns": ["job"], "pd": 0.8}]
    >>> values_around(Recipe(steps), Scenario(keys=["age"]))
    {'1.bands': [7, 8, 9, 10], '2.pd': [0.4, 0.8, 0.9]}
    """
    grid: dict[str, list[Any]] = {}
    for at, step in enumerate(recipe.steps, 1):
        for entry in form_of(step.method).entries:
            values = _around(step.arguments.get(entry.name, getattr(scenario.limits, entry.name, None)))
            if len(values) > 1 and math.prod(map(len, grid.values())) * len(values) <= USUAL:
                grid[f"{at}.{entry.name}"] = values
    return grid


def _around(value: Any) -> list[Any]:
    """A number with others near it, edges of bands with fewer of them; of anything else nothing.

    >>> _around(3), _around(100), _around(0.5), _around([None, 20, 40, 60, None])
    ([2, 3, 4, 5], [50, 100, 200], [0.25, 0.5, 0.75], [[None, 20, 40, 60, None], [None, 40, None]])
    """
    if isinstance(value, list | tuple):
        edges = [None if isinstance(edge, float) and math.isinf(edge) else edge for edge in value]
        fewer = [edges[0], *edges[2:-1:2], edges[-1]] if len(edges) > 3 else edges
        plain = all(edge is None or isinstance(edge, int | float) for edge in edges)
        return [edges, fewer] if plain and fewer != edges else []
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return []
    if isinstance(value, int):
        return [number for number in range(value - 1, value + 3) if number] if value < SMALL else [
            value // 2, value, 2 * value,
        ]  # fmt: skip
    return [round(number, 4) for number in (value / 2, value, (1 + value) / 2 if value < 1 else 2 * value)]


def explore(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, grid: Mapping[str, Sequence[Any]],
    seconds: float = SECONDS, exact: bool = False, language: str = "en",
) -> dict[str, Any]:  # fmt: skip
    """The map of the recipes of a grid, an empty one for values near those at hand; what was tried is kept."""
    from sdckit.workflow.recipes.explore import Exploration
    from sdckit.workflow.recipes.recipe_figures import Watch

    chosen, recipe, end = desk.scenario(scenario), make_recipe(desk, steps), time.monotonic() + seconds
    values = {path: list(entries) for path, entries in grid.items()} or values_around(recipe, chosen)
    if not values:
        raise ScenarioError(NOTHING, argument="grid")
    if (n := math.prod(map(len, values.values()))) > MOST:
        raise ScenarioError(f"the grid has {n:,} combinations; at most {MOST:,} are tried", argument="grid")
    data = data_for(desk, recipe, chosen)
    points, recipes, named, why = [], [], [], "the time was over before a recipe was tried"
    for at, combination in enumerate(_combinations(values), 1):
        if time.monotonic() > end:
            _warn("the time was over before every recipe was tried; ask again to go on")
            break
        tell(f"{at} of {n} recipes")
        point = _point(desk, data, chosen, recipe, combination)
        if isinstance(point, str):
            why = point
            _warn(f"a recipe is left out: {why}")
            continue
        points.append(point)
        recipes.append(_with(recipe, combination))
        named.append(_named(values, combination, language))
    if not points:
        raise ScenarioError(why, argument="grid")
    exploration = Exploration(tuple(points), RISK, LOSS, data.height, Watch(data, chosen).k, recipe, "polars")
    plain = plain_map(exploration, internal=exact)
    fronts = [bool(point["front"]) for point in plain["points"]]
    for at in sorted(range(len(recipes)), key=lambda at: not fronts[at]):  # the best first, while there is time
        if time.monotonic() < end and passed_of(desk, chosen, recipes[at]) is None:
            tell(f"holding {at + 1} of {len(recipes)} recipes against the limits")
            if not _hold(desk, chosen, recipes[at], secret):
                break
    rows = [
        {"words": words, "passed": passed_of(desk, chosen, made), "steps": plain_steps(made)}
        for words, made in zip(named, recipes, strict=True)
    ]
    return {"map": in_language(of_map(plain, rows), language, desk.data.columns), "grid": values}


def _named(values: Mapping[str, Sequence[Any]], combination: Mapping[str, Any], language: str) -> str:
    """What is varied of a recipe in words; a list is a choice with its number."""
    parts = (
        f"{path} = {say('choice', language)} {values[path].index(value) + 1}"
        if isinstance(value, list | dict) else f"{path} = {say(str(value), language)}"
        for path, value in combination.items()
    )  # fmt: skip
    return ", ".join(parts)


def _combinations(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values()))


def _with(recipe: Recipe, combination: Mapping[str, Any]) -> Recipe:
    for path, value in combination.items():
        recipe = recipe.with_argument(path, value)
    return recipe


def _point(desk: Desk, data: Any, scenario: Scenario, recipe: Recipe, combination: dict[str, Any]) -> Point | str:
    """Risk and loss of one recipe, measured once; why there is none where it cannot be carried out."""
    from sdckit.workflow.recipes.explore import explore as tried

    known: dict[str, Point] = desk.memo.setdefault("recipes explored", {})
    name = digest(scenario.to_toml(), recipe.to_toml(), combination)
    if name not in known:
        grid = {path: [value] for path, value in combination.items()}
        try:
            known[name] = tried(data, recipe, grid=grid, scenario=scenario, seed=SEED, workers=1).points[0]
        except SdcError as error:
            return str(error)
    point = known[name]
    return point if can_be_drawn(point) else point.note or "it has no risk or no loss"


def _hold(desk: Desk, scenario: Scenario, recipe: Recipe, secret: str) -> bool:
    """Hold the release of a recipe against the limits, as the page Release does; False where there is none."""
    from sdckit.workflow.check import check_assessment

    made = run_steps(desk, recipe, scenario, secret, lambda _: None, watch=False)
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        try:
            passed_of(desk, scenario, recipe, passed=check_assessment(made.assess()).passed)
        except ScenarioError:
            return False
    return True


def _warn(text: str) -> None:
    warnings.warn(text, SdcWarning, stacklevel=2)
