"""`explore`: the risk-utility map of a recipe over a grid of its arguments."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments, frames, losses, nearest, seeds
from sdckit.data.arguments import Seed
from sdckit.data.files.file_limits import json_of, text_in
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import EXACT, Displayed, counted, exact_shown
from sdckit.errors import FileFormatError, ScenarioError, SdcError, SdcWarning, sure
from sdckit.numerics.threads import job, n_threads
from sdckit.report.chapters.map import pareto
from sdckit.result import json_ready
from sdckit.workflow.recipes.margins_first import refuse
from sdckit.workflow.recipes.recipe import Applied, Recipe, TrialRecipe
from sdckit.workflow.recipes.recipe_figures import COARSER, FIGURES, LOSSES, RISKS, CoarseningLoss, Watch, worst_of
from sdckit.workflow.recipes.recipe_steps import method_of

if TYPE_CHECKING:
    import altair as alt

# Result of `explore`: risk and loss of every recipe tried, and the Pareto front.


@dataclass(frozen=True)
class Point:
    """One recipe of the grid with its figures.

    Attributes
    ----------
    parameters : dict
        Its arguments by their paths.
    figures : dict of str to float
        Risk and loss in the end; those of the worst intruder.
    note : str
        Why there are no figures, where the recipe could not be applied.
    behind, small, coarser : int
        Records that carry the pMSE, at least, those in groups of fewer than five that estimates could tell, and those
        that lost something in a key made coarser, at least.
    """

    parameters: dict[str, Any]
    figures: dict[str, float]
    note: str = ""
    behind: int = 1
    small: int = 1
    coarser: int = 1


@dataclass(frozen=True, eq=False)
class Exploration(Displayed):
    """Risk and loss of the recipes of a grid.

    Attributes
    ----------
    points : tuple of Point
        In the order of the grid, the last argument changing fastest.
    risk, loss : str
        The figures of the map; of both, less is better.
    on_front : tuple of bool
        Whether no other recipe has less of one and not more of the other.
    n : int
        Records of the file.
    """

    points: tuple[Point, ...]
    risk: str
    loss: str
    n: int
    k: int
    recipe: Recipe = field(repr=False)
    backend: Any = field(repr=False)

    @property
    def on_front(self) -> tuple[bool, ...]:
        """Whether each point is on the Pareto front of risk and loss."""
        return pareto([(point.figures[self.risk], point.figures[self.loss]) for point in self.points])

    @property
    def table(self) -> Any:
        """A row per recipe: its arguments, the figures, ``front``, and a ``note`` where it could not be applied."""
        return self._frame(range(len(self.points)))

    @property
    def front(self) -> Any:
        """Rows of the table on the Pareto front, least risk first."""
        chosen = [at for at, drawn in enumerate(self.on_front) if drawn]
        chosen.sort(key=lambda at: (self.points[at].figures[self.risk], self.points[at].figures[self.loss]))
        return self._frame(chosen)

    def recipe_of(self, row: int) -> Recipe:
        """The recipe of a row of the table, counted from 1."""
        return self.recipe.with_arguments(self.points[row - 1].parameters)

    def plot(self, *, internal: bool = False) -> alt.Chart:
        """An Altair chart of the map; figures protected unless `internal`, the front that of the figures shown."""
        from sdckit.report.chapters.map import map_chart, plain_map

        chart: alt.Chart = map_chart(plain_map(self, internal=internal or exact_shown.get()))
        return chart.properties(title=f"{EXACT} Risk and loss of every recipe tried") if exact_shown.get() else chart

    def _frame(self, chosen: Sequence[int]) -> Any:
        marks, points = self.on_front, [self.points[at] for at in chosen]
        columns: dict[str, list[Any]] = {"row": [at + 1 for at in chosen]}
        columns |= {path: _column([point.parameters[path] for point in points]) for path in self.points[0].parameters}
        columns |= {name: [float(point.figures[name]) for point in points] for name in self.points[0].figures}
        columns |= {"front": [marks[at] for at in chosen], "note": [point.note for point in points]}
        return frames.frame_of(columns, self.backend)

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import map_html

        return map_html(self)

    def __repr__(self) -> str:
        return (
            f"Exploration({counted(len(self.points), 'recipe')} on {counted(self.n, 'record')}, "
            f"{sum(self.on_front)} on the front of {self.risk} and {self.loss})"
        )


def _column(values: list[Any]) -> list[Any]:
    """Values of one argument as a column: numbers and texts as they are, others in words."""
    simple = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if simple or all(isinstance(value, str) for value in values):
        return [float(value) for value in values] if any(isinstance(value, float) for value in values) else values
    return [str(value) for value in values]


# Cache of finished runs: one line of JSON each, keyed by a hash, without microdata.


FORMAT = "sdckit/explore"
PRIVATE = 0o600
# Smallest counts behind a figure, for output checking; absent in runs kept by older versions.
FEW = ("behind", "small", COARSER)


def key_of(*parts: object) -> str:
    """Hash of everything a run depends on.

    Examples
    --------
    >>> key_of("recipe", {"k": 3}) == key_of("recipe", {"k": 3}), len(key_of("recipe", {"k": 4}))
    (True, 32)
    """
    text = json.dumps([FORMAT, *parts], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Runs:
    """Figures by key, kept in a file where one is named; every finished run is on disk at once.

    The file of JSON lines is made if it is not there, readable by its owner alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known = {} if path is None else _read(path)

    def get(self, key: str) -> dict[str, Any] | None:
        """The figures of a run, if it was finished."""
        return self._known.get(key)

    def add(self, key: str, figures: Mapping[str, Any]) -> None:
        """Keep the figures of a run: one whole line in one write."""
        with self._lock:
            self._known[key] = dict(figures)
            if self._path is None:
                return
            line = json.dumps({"format": FORMAT, "key": key, "figures": json_ready(figures)}, ensure_ascii=False)
            try:
                handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
                try:
                    os.write(handle, f"{line}\n".encode())
                finally:
                    os.close(handle)
            except OSError as error:
                why = os.strerror(error.errno) if error.errno else "unknown reason"
                raise FileFormatError(f"cannot write {self._path.name}: {why}") from None


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise FileFormatError(f"cannot keep runs in {path.name}: it is a folder, or has none that exists")
    try:
        lines = text_in(path).splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise FileFormatError(f"{path.name} cannot be read as runs of explore") from None
    torn = lines.pop() if lines and not lines[-1].endswith("\n") else ""  # the program ended while it wrote
    start = json.dumps({"format": FORMAT})[:-1]
    if torn and not (torn.startswith(start) or start.startswith(torn)):
        raise _foreign(path, len(lines) + 1)
    runs = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json_of(line)
            if entry["format"] != FORMAT:
                raise _foreign(path, number)
            runs[entry["key"]] = _restored(entry["figures"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _foreign(path, number) from None
    if torn:
        os.truncate(path, len("".join(lines).encode()))
    return runs


def _restored(figures: Mapping[str, Any]) -> dict[str, Any]:
    names = [*FIGURES, *(name for name in losses.COARSENING if name in figures)]
    measured = {name: math.nan if figures[name] is None else float(figures[name]) for name in names}
    few = {name: int(figures[name]) for name in FEW if name in figures}
    return {**measured, **few, "note": str(figures["note"])}


def _foreign(path: Path, number: int) -> FileFormatError:
    return FileFormatError(f"{path.name}, line {number}: not a run of explore; name another file, or delete this one")


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
    loss_figure : {"share_changed", "pmse"}, or name of another figure
        The two figures of the map, see `Applied.steps`; of several intruders the worst. The other losses are those of
        `generalization_loss` on the keys: "loss", "precision" (what it lacks to 1), "entropy_share", "entropy",
        "height", "discernibility", "average_class_size", "ambiguity"; undefined where a recipe perturbs a key.
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
    with job():
        if not isinstance(recipe, Recipe):
            raise ScenarioError("explore takes the data and a Recipe; read one by Recipe.from_toml(path)")
        _check_figure("risk_figure", risk_figure, RISKS)
        _check_figure("loss_figure", loss_figure, (*LOSSES, *losses.COARSENING))
        if recipe.reads_alone:
            raise refuse(recipe.steps[0], "explore", "each recipe of its grid would spend; compare ε on a public file")
        chosen = recipe.find_scenario(scenario)
        if chosen is None:
            raise ScenarioError("explore measures risk under a scenario; give scenario= (--scenario S.toml)")
        if resume is not None and seed is None and recipe.is_random:
            raise ScenarioError("resume needs a seed: without one, every run draws others", argument="resume")
        if workers is not None:
            arguments.count(workers, "workers", "counts combinations at a time")
        _, entropy = seeds.open_rng(seed)
        combinations = _combinations(recipe, grid)
        recipes = [*map(recipe.with_arguments, combinations)]
        for values, made in zip(combinations, recipes, strict=True):
            try:
                made.check(data, scenario=chosen)
            except SdcError as error:
                where = ", ".join(f"{path} = {value}" for path, value in values.items())
                raise type(error)(f"with {where}: {error}", argument=error.argument) from None
        runs = Runs(None if resume is None else Path(resume))
        frame: Any = frames.open_frame(data)
        coarsening = CoarseningLoss(loss_figure, chosen) if loss_figure in losses.COARSENING else None
        about = (list(frame.columns), len(frame), chosen.to_toml(), entropy, *([loss_figure] if coarsening else []))
        keys = [key_of(made.to_toml(), *about) for made in recipes]
        names = list(dict.fromkeys([*FIGURES, loss_figure]))

        def applied(made: Recipe, begun: Begun) -> Applied:
            return TrialRecipe.of(made, begun).apply(data, scenario=chosen, seed=entropy, secret=NO_SECRET, watch=False)

        def begin() -> Begun:
            alike = min(recipe.locate(path)[0] for path in grid)
            with contextlib.suppress(SdcError):  # which every combination tells
                return applied(recipe.prefix(alike), None) if alike else None
            return None

        measure = _measure(data, chosen, applied, coarsening)
        _run_all(recipes, keys, runs, begin, measure, workers or n_threads(), step or (lambda _: None))
        points = []
        for values, key in zip(combinations, keys, strict=True):
            known = sure(runs.get(key))
            few = {name: known.get(name, 1) for name in FEW}
            points.append(Point(values, {name: known[name] for name in names}, known["note"], **few))
        watch = Watch(data, chosen)
        return Exploration(tuple(points), risk_figure, loss_figure, len(frame), watch.k, recipe, frame.implementation)


def _check_figure(role: str, name: str, offered: Sequence[str]) -> None:
    if name not in offered:
        known = ", ".join(offered)
        raise ScenarioError(f"{role}={name!r} is no figure of the map; give one of {known}", argument=role)


def _combinations(recipe: Recipe, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    if not isinstance(grid, Mapping) or not grid:
        raise ScenarioError('grid names arguments and values to try, as {"pram.pd": [0.7, 0.9]}', argument="grid")
    n = 1
    for path, values in grid.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Sequence) or len(values) == 0:
            raise ScenarioError(f"grid: {path} takes a list of values to try")
        at, name = recipe.locate(path)
        offered = method_of(recipe.steps[at].method, f"step {at + 1}").offered
        if name not in offered:
            raise ScenarioError(f"grid: {path}: there is no argument {name!r}; {nearest.did_you_mean(name, offered)}")
        n *= len(values)
    if n > MOST_POINTS:
        raise ScenarioError(f"the grid has {n:,} combinations; at most {MOST_POINTS:,} are tried")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


Begun = Applied | None  # the steps before those that differ, carried out once


def _measure(
    data: Any, scenario: Scenario, applied: Callable[[Recipe, Begun], Applied], coarsening: CoarseningLoss | None
) -> Callable[[Recipe, Begun], dict[str, Any]]:
    watch = Watch(data, scenario)
    unknown = dict.fromkeys([*FIGURES, *([coarsening.figure] if coarsening else [])], math.nan)

    def measure(recipe: Recipe, begun: Begun) -> dict[str, Any]:
        figures: dict[str, float] = {}
        try:
            done = applied(recipe, begun)
            before = watch.beside(done.log, data, recipe.folder)
            figures = worst_of(before.after(len(recipe.steps), "explore", done.data, 0))
            if coarsening is not None:
                measured = coarsening.measured(before.original, done.data)
                figures |= {name: measured[name] for name in (coarsening.figure, COARSER)}
        except SdcError as error:
            return {**unknown, **figures, "note": str(error)}
        return {**figures, "note": ""}

    return measure


def _run_all(
    recipes: Sequence[Recipe], keys: Sequence[str], runs: Runs, begin: Callable[[], Begun],
    measure: Callable[[Recipe, Begun], dict[str, Any]], workers: int, tell: Callable[[str], None],
) -> None:  # fmt: skip
    """Measure the recipes without known figures; every finished run is kept, also on interruption."""
    waiting = {key: recipe for key, recipe in zip(keys, recipes, strict=True) if runs.get(key) is None}
    n = len(set(keys))
    known = n - len(waiting)
    tell(f"{known} of {counted(n, 'recipe')} known" if known else f"trying {counted(n, 'recipe')}")
    # the same warnings for every combination say nothing of any
    with (
        warnings.catch_warnings(action="ignore", category=SdcWarning),
        ThreadPoolExecutor(max_workers=workers, thread_name_prefix="sdckit-explore") as pool,
    ):
        begun = pool.submit(begin if len(waiting) > 1 else lambda: None)
        futures = {pool.submit(lambda own: measure(own, begun.result()), own): key for key, own in waiting.items()}
        try:
            for done, future in enumerate(as_completed(futures), known + 1):
                runs.add(futures[future], future.result())
                tell(f"{done} of {counted(n, 'recipe')} tried")
        finally:
            for future in futures:
                future.cancel()
