"""Tasks on the map of recipes: those that were carried out, and those around the recipe at hand."""

from __future__ import annotations

import itertools
import math
import time
import warnings
from collections.abc import Iterator
from typing import Any

from sdckit.data.losses import DIFFERING, drawn
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ScenarioError, SdcError, SdcWarning
from sdckit.report.chapters.map import plain_map, points_to_click
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.step_forms import form_of
from sdckit.workflow.sessions.answering import Desk, Tell
from sdckit.workflow.sessions.protecting import RISK, Plain, Steps, applied, make_recipe, plain_steps, tried
from sdckit.workflow.sessions.releasing import document_of, judged, verdict_of

MOST = 60  # recipes on a map, the latest
USUAL = 24  # recipes around one
SECONDS = 60.0  # after which no further recipe is begun
NOTHING = "no step has a number or bands that could be varied; give a step a number, such as a smaller k, first"
NO_LOSS = "no recipe that was run has this loss: it is of keys that are made coarser and not changed otherwise"
OVER = "the time was over before every recipe was tried and held against the limits; ask again to go on"


def map_of_recipes(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, loss: str = DIFFERING, exact: bool = False,
    language: str = "en",  # noqa: ARG001 - the page puts it into words
) -> dict[str, Any]:  # fmt: skip
    """Risk and a loss of every recipe that was run under the scenario in the session."""
    chosen = desk.scenario(scenario)
    applied(desk, chosen, steps, secret, tell)
    return _drawn(desk, chosen, loss, exact=exact)


def explore(
    desk: Desk, tell: Tell, *, scenario: Plain, steps: Steps, secret: str, loss: str = DIFFERING,
    seconds: float = SECONDS, exact: bool = False, language: str = "en",  # noqa: ARG001 - the page puts it into words
) -> dict[str, Any]:  # fmt: skip
    """The same once the recipes around one were run and held against the limits, the best first, as time allows."""
    chosen, recipe, end = desk.scenario(scenario), make_recipe(desk, steps), time.monotonic() + seconds
    recipes = [recipe, *around(recipe, chosen)]
    if len(recipes) == 1:
        raise ScenarioError(NOTHING)
    for at, made in enumerate(recipes, 1):
        tell(f"{at} of {len(recipes)} recipes")
        try:
            applied(desk, chosen, plain_steps(made), secret, lambda _: None)
        except SdcError as error:
            warnings.warn(f"a recipe is left out: {error}", SdcWarning, stacklevel=2)
        if time.monotonic() > end:
            break
    shown = _drawn(desk, chosen, loss, exact=exact)
    points = shown["map"]["points"]
    for at in sorted(range(len(points)), key=lambda at: not points[at]["front"]):
        if points[at]["passed"] is None and time.monotonic() < end:
            getattr(tell, "partial", lambda _: None)(shown)
            tell(f"holding {at + 1} of {len(points)} recipes against the limits")
            document_of(desk, judged(desk, chosen, points[at]["steps"], secret, lambda _: None), exact=exact)
            shown = _drawn(desk, chosen, loss, exact=exact)
    if time.monotonic() > end:
        warnings.warn(OVER, SdcWarning, stacklevel=2)
    return shown


def _drawn(desk: Desk, scenario: Scenario, loss: str, *, exact: bool) -> dict[str, Any]:
    """The points of what was run, protected together; a verdict is the printed one of the recipe's own release."""
    from sdckit.workflow.recipes.explore import Exploration

    loss = drawn(loss)
    pairs = tried(desk, scenario, loss)[-MOST:]
    if not pairs:
        raise ScenarioError(NO_LOSS)
    points, recipes = zip(*pairs, strict=True)
    exploration = Exploration(points, RISK, loss, desk.data.height, 0, recipes[0], "polars")  # no figure is of a k
    about = [{"steps": plain_steps(made), "passed": verdict_of(desk, scenario, made, exact=exact)} for made in recipes]
    return {"map": points_to_click(plain_map(exploration, internal=exact), about)}


def around(recipe: Recipe, scenario: Scenario) -> Iterator[Recipe]:
    """The recipes with numbers and bands near those of the steps, or near the limit of the argument's name.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> from sdckit.workflow.recipes.recipe import Recipe
    >>> recipe = Recipe([{"method": "recode", "column": "age", "bands": 8}])
    >>> [made.steps[0].arguments["bands"] for made in around(recipe, Scenario(keys=["age"]))]
    [4, 12, 16]
    """
    grid: dict[str, list[Any]] = {}
    for at, step in enumerate(recipe.steps, 1):
        for entry in form_of(step.method).entries:
            own = step.arguments.get(entry.name, getattr(scenario.limits, entry.name, None))
            values = [own, *_near(own)]
            if len(values) > 1 and math.prod(map(len, grid.values())) * len(values) <= USUAL:
                grid[f"{at}.{entry.name}"] = values
    for combination in itertools.islice(itertools.product(*grid.values()), 1, None):
        yield recipe.with_arguments(dict(zip(grid, combination, strict=True)))


def _near(value: Any) -> list[Any]:
    """Numbers near one, edges of bands with fewer of them; of anything else nothing.

    >>> _near(3), _near(100), _near(0.5), _near([None, 20, 40, 60, None])
    ([2, 4, 5], [50, 150, 200], [0.25, 0.75], [[None, 40, None]])
    """
    if isinstance(value, list | tuple):
        edges = [None if isinstance(edge, float) and math.isinf(edge) else edge for edge in value]
        plain = len(edges) > 3 and all(edge is None or isinstance(edge, int | float) for edge in edges)
        return [[edges[0], *edges[2:-1:2], edges[-1]]] if plain else []
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return []
    if isinstance(value, int):
        step = max(1, value // 2)
        return [number for number in (value - step, value + step, value + 2 * step) if number > 1]
    between = [value / 2, (1 + value) / 2 if value <= 1 else 2 * value]
    return [round(number, 4) for number in between if number != value]
