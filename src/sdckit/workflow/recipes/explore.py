"""E10: the map of risk and utility over the arguments of a recipe."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.arguments import Seed
from sdckit.data.frames import open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.seeds import open_rng
from sdckit.display import counted
from sdckit.errors import ScenarioError, SdcError, SdcWarning
from sdckit.numerics.threads import n_threads
from sdckit.workflow.recipes.exploration import Exploration, Point
from sdckit.workflow.recipes.explore_runs import FEW, Runs, key_of
from sdckit.workflow.recipes.recipe import Recipe
from sdckit.workflow.recipes.recipe_figures import FIGURES, LOSSES, RISKS, Watch, worst_of
from sdckit.workflow.recipes.recipe_rows import other_number

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


MOST_POINTS = 10_000
NO_SECRET = bytes(32)  # the files made here do not go out, so that a seed may be all there is


def explore(
    data: Any,
    recipe: Recipe,
    *,
    grid: Mapping[str, Sequence[Any]],
    scenario: Scenario | None = None,
    seed: Seed = None,
    risk_figure: str = "expected_reidentifications",
    loss_figure: str = "share_changed",
    workers: int | None = None,
    resume: str | Path | None = None,
    step: Callable[[str], None] | None = None,
) -> Exploration:
    """Apply a recipe with every combination of some arguments, and set risk against what is lost.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    recipe : Recipe
    grid : mapping of str to sequence
        Values to try, by argument: ``{"2.k": [2, 3, 5]}`` for step 2, or ``{"pram.pd": [0.7, 0.9]}`` where one
        step has that method.
    scenario : Scenario, optional
        Measures the risk; default the recipe's.
    seed : int, numpy.random.Generator or None
        The same for every combination, so that they differ by their arguments and not by luck. Needed with
        `resume` where the recipe draws random numbers. No release is made of it: `Recipe.apply` draws others.
    risk_figure : {"expected_reidentifications", "sample_uniques", "below_k"}
    loss_figure : {"share_changed", "pmse"}
        The two figures of the map, see `Applied.steps`; of several intruders the worst.
    workers : int, optional
        Combinations at a time; default as many as there are processors. The figures do not depend on it.
    resume : path, optional
        A file that keeps every finished combination, so that an interrupted run goes on where it stopped. It
        knows a combination by recipe, arguments, seed, scenario, and the names of the columns and number of
        records of the data: for other data with the same header take another file. It holds exact figures
        and no record's value.
    step : callable, optional
        Is told in words how far it is.

    Returns
    -------
    Exploration
        ``table``, ``front`` (recipes that no other beats), ``recipe_of(row)``, ``plot()``.

    Raises
    ------
    ScenarioError
        No scenario, an argument that no step has, an unknown figure, a grid of more than 10,000 combinations.
    SdcError
        A combination that does not fit the data: told before the first one runs.

    Notes
    -----
    A combination that fails while it runs stays in the table, without figures and with the reason.

    References
    ----------
    Duncan, G. T., Keller-McNulty, S. and Stokes, S. L. (2001). Disclosure risk vs. data utility: the R-U
    confidentiality map. Technical Report 121, National Institute of Statistical Sciences.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [31, 33, 58, 61, 62], "job": ["cook", "cook", "cook", "smith", "smith"]})
    >>> recipe = Recipe([{"method": "recode", "column": "age", "bands": 2}, {"method": "pram", "columns": ["job"]}])
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> found = explore(
    ...     survey, recipe, grid={"1.bands": [2, 4], "pram.pd": [0.6, 1.0]}, scenario=Scenario(keys=["age", "job"]),
    ...     risk_figure="sample_uniques", seed=3,
    ... )
    >>> found.table.select("1.bands", "pram.pd", "sample_uniques").rows()
    [(2, 0.6, 3.0), (2, 1.0, 1.0), (4, 0.6, 3.0), (4, 1.0, 1.0)]
    """
    if not isinstance(recipe, Recipe):
        raise ScenarioError("explore takes the data and a Recipe; read one by Recipe.from_toml(path)")
    _check_figure("risk_figure", risk_figure, RISKS)
    _check_figure("loss_figure", loss_figure, LOSSES)
    chosen = recipe.find_scenario(scenario)
    if chosen is None:
        raise ScenarioError("explore measures risk under a scenario; give scenario= (--scenario S.toml)")
    if resume is not None and seed is None and recipe.is_random:
        raise ScenarioError("resume needs a seed: without one, every run draws others", argument="resume")
    if workers is not None:
        arguments.count(workers, "workers", "counts combinations at a time")
    _, entropy = open_rng(seed)
    combinations = _combinations(recipe, grid)
    recipes = [_changed(recipe, one) for one in combinations]
    for one, made in zip(combinations, recipes, strict=True):
        try:
            made.check(data, scenario=chosen)
        except SdcError as error:
            told = ", ".join(f"{path} = {value}" for path, value in one.items())
            raise type(error)(f"with {told}: {error}", argument=error.argument) from None
    runs = Runs(None if resume is None else Path(resume))
    frame: Any = open_frame(data)
    about = (list(frame.columns), len(frame), chosen.to_toml(), entropy)
    keys = [key_of(made.to_toml(), *about) for made in recipes]
    measure = _measure(data, chosen, entropy)
    _run_all(recipes, keys, runs, measure, workers or n_threads(), step or (lambda _: None))
    points = []
    for one, key in zip(combinations, keys, strict=True):
        known = runs.get(key)
        assert known is not None
        few = {name: known.get(name, 1) for name in FEW}
        points.append(Point(one, {name: known[name] for name in FIGURES}, known["note"], **few))
    watch = Watch(data, chosen)
    return Exploration(
        tuple(points), risk_figure, loss_figure, len(frame), watch.k, recipe, frame.implementation
    )


def _check_figure(role: str, name: str, offered: Sequence[str]) -> None:
    if name not in offered:
        known = ", ".join(offered)
        raise ScenarioError(f"{role}={name!r} is no figure of the map; give one of {known}", argument=role)


def _combinations(recipe: Recipe, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not isinstance(grid, Mapping) or not grid:
        raise ScenarioError(
            'grid names arguments and values to try, as {"pram.pd": [0.7, 0.9]}', argument="grid"
        )
    n = 1
    for path, values in grid.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Sequence) or len(values) == 0:
            raise ScenarioError(f"grid: {path} takes a list of values to try")
        _check_path(recipe, path)
        n *= len(values)
    if n > MOST_POINTS:
        raise ScenarioError(f"the grid has {n:,} combinations; at most {MOST_POINTS:,} are tried")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _check_path(recipe: Recipe, path: str) -> None:
    from sdckit.workflow.recipes.recipe_steps import method_of

    at, name = recipe.locate(path)
    offered = method_of(recipe.steps[at].method, f"step {at + 1}").offered
    if name not in offered:
        raise ScenarioError(f"grid: {path}: there is no argument {name!r}; {did_you_mean(name, offered)}")


def _changed(recipe: Recipe, values: Mapping[str, Any]) -> Recipe:
    for path, value in values.items():
        recipe = recipe.with_argument(path, value)
    return recipe


def _measure(data: Any, scenario: Scenario, entropy: int) -> Callable[[Recipe], dict[str, Any]]:
    watch = Watch(data, scenario)

    def measure(recipe: Recipe) -> dict[str, Any]:
        try:
            done = recipe.apply(data, scenario=scenario, seed=entropy, secret=NO_SECRET, watch=False)
            others = other_number(done.log.steps, done.log.n)
            rows = None if others else done.log.rows(data, folder=recipe.folder)
            found = watch.in_order(rows).after(len(recipe.steps), "explore", done.data, 0)
        except SdcError as error:
            return {**dict.fromkeys(FIGURES, float("nan")), "note": str(error)}
        return {**worst_of(found), "note": ""}

    return measure


def _run_all(
    recipes: Sequence[Recipe], keys: Sequence[str], runs: Runs, measure: Callable[[Recipe], dict[str, Any]],
    workers: int, tell: Callable[[str], None],
) -> None:  # fmt: skip
    """Measure what is not known yet; every finished point is kept, also when the program is interrupted."""
    waiting = {key: recipe for key, recipe in zip(keys, recipes, strict=True) if runs.get(key) is None}
    n = len(set(keys))
    tell(
        f"{n - len(waiting)} of {counted(n, 'recipe')} known"
        if len(waiting) < n
        else f"trying {counted(n, 'recipe')}"
    )
    with warnings.catch_warnings():  # the same warnings for every combination say nothing of any
        warnings.simplefilter("ignore", SdcWarning)
        with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sdckit-explore") as pool:
            futures = {pool.submit(measure, recipe): key for key, recipe in waiting.items()}
            try:
                for done, future in enumerate(as_completed(futures), n - len(waiting) + 1):
                    runs.add(futures[future], future.result())
                    tell(f"{done} of {counted(n, 'recipe')} tried")
            finally:
                for future in futures:
                    future.cancel()
