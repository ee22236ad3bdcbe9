"""`Recipe`: protection steps, applied, logged, undone and replayed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial, reduce
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data import arguments, frames, seeds
from sdckit.data.arguments import Seed
from sdckit.data.columns import n_differing
from sdckit.data.derived_formula import ENTRY
from sdckit.data.files import domain_files, file_limits
from sdckit.data.methods import METHODS
from sdckit.data.nearest import did_you_mean
from sdckit.data.replace import open_eager
from sdckit.data.scenarios import scenario_toml, thresholds
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import Displayed, counted, plain_html
from sdckit.errors import DataError, ScenarioError, SdcWarning, sure
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.threads import job
from sdckit.protect.change import Change
from sdckit.workflow.recipes import recipe_checks, recipe_steps
from sdckit.workflow.recipes.given_back import lacking_records
from sdckit.workflow.recipes.margins_first import MarginsFirst, refuse, refuse_draws
from sdckit.workflow.recipes.recipe_checks import reads_alone
from sdckit.workflow.recipes.recipe_figures import FIGURES, StepFigures
from sdckit.workflow.recipes.recipe_log import RecipeLog, versions_here
from sdckit.workflow.recipes.recipe_runs import InMemory, Run, check_computed_once, start
from sdckit.workflow.recipes.run_step import changes_number

if TYPE_CHECKING:
    from sdckit.workflow.assessment import ReleaseAssessment
    from sdckit.workflow.recoded_original.published_recodings import Recodings


# Result of a recipe: the changed data, the log, and the figures after each step.


@dataclass(frozen=True)
class WhatWasDone:
    """Description of a recipe and its effects for a report, without data.

    Attributes
    ----------
    log : RecipeLog
        Without its secrets: what is kept of an assessment may be kept in another place than the log.
    arguments : tuple of dict
        Of each step, as the recipe has them.
    figures : tuple of StepFigures
    k : int
        Of ``below_k``.
    searched : dict
        Where a search found the recipe, what documents tell of it: why each step is there, and the recipes beside it.
    """

    log: RecipeLog
    arguments: tuple[dict[str, Any], ...]
    figures: tuple[StepFigures, ...]
    k: int
    searched: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Applied(Displayed):
    """The outcome of a recipe.

    Attributes
    ----------
    data : data frame, or list of them
        The protected file, of the caller's engine; a list where the last step synthesises several; a plan of a plan.
    log : RecipeLog
        What each step changed; ``log.write(path)`` keeps what repeats it.
    figures : tuple of StepFigures
        Risk and utility before the first step (step 0) and after each; ``steps`` has them as a frame.
    differing : dict of str to int
        Values of each column of the original that are others in the end.
    broken : tuple of str
        Which steps break which edit rule of the scenario; none of a plan, whose steps are not looked through.
    """

    instead_of_a_frame = "give its .data"

    data: Any
    log: RecipeLog
    figures: tuple[StepFigures, ...]
    differing: dict[str, int]
    recipe: Recipe = field(repr=False)
    k: int
    original: Any = field(repr=False)
    scenario: Scenario | None = field(repr=False)
    broken: tuple[str, ...] = ()

    @property
    def steps(self) -> Any:
        """The figures as a frame: a row per step and intruder, ``step`` 0 being the file before."""
        names = ("step", "method", "intruder", "values_changed", *FIGURES)
        columns = {name: [getattr(figure, name) for figure in self.figures] for name in names}
        return frames.frame_of(columns, self._backend())

    @property
    def variables(self) -> Any:
        """The columns of the original as a frame: ``variable``, values ``changed`` and their ``share``."""
        columns = {
            "variable": list(self.differing),
            "changed": list(self.differing.values()),
            "share": [count / self.log.n for count in self.differing.values()],
        }
        return frames.frame_of(columns, self._backend())

    @property
    def what_was_done(self) -> WhatWasDone:
        """The steps and the figures after each, as a report tells them."""
        arguments = tuple(dict(step.arguments) for step in self.recipe.all_steps)
        return WhatWasDone(self.log.without_secrets(), arguments, self.figures, self.k)

    def assess(
        self, *, seed: int | None = None, measures: Any = (), models: Any = (), control: Any = None,
        attacks: bool = False, step: Callable[[str], None] | None = None,
    ) -> ReleaseAssessment:  # fmt: skip
        """Assess the release against its original, as `assess` does; the report tells what was done.

        Raises
        ------
        ScenarioError
            The recipe was applied without a scenario.
        DataError
            It was applied to a plan.
        """
        from sdckit.workflow.assess import assess
        from sdckit.workflow.assessment import ReleaseAssessment
        from sdckit.workflow.recoded_original.published_recodings import read_recodings

        if self.scenario is None:
            raise ScenarioError("an assessment needs a scenario; give one to apply (--scenario)")
        if self._by_path:
            raise DataError(
                "the original was read by its first step alone; assess(original, made, log=...) reads it to compare"
            )
        if frames.is_lazy(frames.open_frame(self.original)):
            raise DataError(
                "a plan is not compared with its original row by row; write it, and assess or check the file written"
            )
        known = frames.open_frame(self.original).columns
        left = tuple(name for name in self.scenario.identifiers if name in known)
        scenario = self.scenario.changed(identifiers=left, aligned=self._aligned())
        recodings = replace(sure(read_recodings(self.recipe, self.log)), own=True)
        assessment = assess(
            self.original, self.data, scenario=scenario, seed=seed, measures=measures, models=models,
            control=control, attacks=attacks, recipe=recodings, step=step,
        )  # fmt: skip
        assert isinstance(assessment, ReleaseAssessment)
        declared = assessment.scenario.changed(identifiers=self.scenario.identifiers)
        return replace(assessment, scenario=declared, what_was_done=self.what_was_done)

    def _aligned(self) -> bool:
        """Whether row i of the release was made from row i of the original; fully synthetic rows were not."""
        assert self.scenario is not None
        full = self.scenario.release == thresholds.SYNTHETIC or any(
            recipe_steps.is_all_new(step.method, step.arguments) for step in self.recipe.steps
        )
        return self.scenario.aligned if full else True

    def report(self, path: str | Path, *, internal: bool = False, seed: int | None = None) -> None:
        """Write the report of the release against its original, with what was done to it.

        Raises
        ------
        ScenarioError
            The recipe was applied without a scenario.
        DataError
            Fewer than 50 records, unless internal.
        FileFormatError
            The file cannot be written.
        """
        self.assess(seed=seed).report(path, internal=internal)

    @property
    def _by_path(self) -> bool:
        """Whether the original was named by its path, and read by the first step alone."""
        return isinstance(self.original, str | Path | domain_files.DomainFile)

    def _backend(self) -> Any:
        made = self.data[0] if isinstance(self.data, list) else self.data
        frame = frames.open_frame(made if self._by_path else self.original)
        return "pyarrow" if frames.is_lazy(frame) else frame.implementation

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import recipe_html

        return recipe_html(self.what_was_done)

    def __repr__(self) -> str:
        files = len(self.data) if isinstance(self.data, list) else 1
        head = f"{counted(len(self.log.steps), 'step')} on {counted(self.log.n, 'record')}"
        steps = (
            f"  {number}. {change.method}: {counted(change.n_changed, 'value')} changed"
            for number, change in enumerate(self.log.steps, 1)
        )
        return "\n".join([head + f", {files} files" * (files > 1), *steps])


Keys = Mapping[str, bytes | str]


@dataclass(frozen=True, init=False)
class Recipe(Displayed):
    """Protection steps in their order, to be applied to this file and to next year's.

    Parameters
    ----------
    steps : sequence of mapping
        Each with ``method``, the name of a protection function, and that function's keyword arguments by
        their names. Seeds, keys and scenarios are not part of a step: a
        recipe can be passed on, since what it drew follows from a secret that only the log holds.
    title : str
    scenario : str, optional
        File of the scenario under which risk is measured.
    folder : str or Path, optional
        Where the paths in the recipe start; `from_toml` takes the recipe's own folder.
    derived : mapping of str to str, optional
        Columns that are computed from released ones after the last step, each with its formula as `recompute` takes
        it: ``{"total": "wage + benefits"}``. So sums still add up, and tell nothing of what was changed.

    Raises
    ------
    ScenarioError
        No steps, an unknown method or argument (the nearest is told), an argument of the wrong kind or
        lacking, or one that does not belong in a recipe; a scenario that is no name of a file. A derived column that a
        step changes, too, whose formula cannot be read, or which follows from itself.

    Notes
    -----
    ``risk = "individual_risk"`` in a step stands for the individual risk of the file at that step under the
    scenario, and ``risk = "recoverable_values"`` for the records that a group lacks to its threshold k with the values
    put back that the file at that step gives back; of ``threshold = 0`` the step then runs until it changes nothing, up
    to three times. ``intruder = "name"`` chooses one of several in a step that takes keys from the scenario.

    Examples
    --------
    >>> import polars as pl
    >>> recipe = Recipe([
    ...     {"method": "recode", "column": "age", "bands": [0, 40, None]},
    ...     {"method": "local_suppression", "keys": ["age", "job"], "k": 2},
    ... ])
    >>> survey = pl.DataFrame({"age": [31, 33, 58, 61], "job": ["cook", "cook", "cook", "smith"]})
    >>> applied = recipe.apply(survey)
    >>> applied.data.rows()
    [('0-39', 'cook'), ('0-39', 'cook'), ('40+', None), ('40+', 'smith')]
    >>> [change.changed for change in applied.log.steps]
    [{'age': 4}, {'age': 0, 'job': 1}]
    """

    steps: tuple[recipe_checks.StepLike, ...]
    title: str
    scenario: str | None
    folder: Path | None = field(compare=False, repr=False)
    derived: Mapping[str, str]

    def __init__(
        self, steps: Sequence[Mapping[str, Any]], *, title: str = "", scenario: str | None = None,
        folder: str | Path | None = None, derived: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        if isinstance(steps, str | Mapping) or not isinstance(steps, Sequence):
            raise ScenarioError('steps= is a list, each step like {"method": "pram", "columns": ["job"]}')
        if not steps:
            raise ScenarioError("a recipe has at least one step; start each with [[steps]] in TOML")
        if not isinstance(scenario, str | None):
            raise ScenarioError("scenario= of a recipe names its file; a Scenario goes to apply(data, scenario=)")
        made = tuple(recipe_checks.checked_step(number, table) for number, table in enumerate(steps, 1))
        reads_alone(made)
        object.__setattr__(self, "derived", dict(derived or {}) if recipe_checks.derived_steps(derived, made) else {})
        object.__setattr__(self, "steps", made)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "scenario", scenario)
        object.__setattr__(self, "folder", None if folder is None else Path(folder))

    @classmethod
    def from_toml(cls, path: str | Path) -> Recipe:
        """Read a recipe file.

        Raises
        ------
        FileFormatError
            The file is absent or cannot be read.
        ScenarioError
            It is not TOML (with the line), or not a recipe (with the step).
        """
        file = Path(path)
        with recipe_checks.naming(file):
            entries = recipe_steps.read_entries(scenario_toml.read_toml(file))
            return cls(
                entries.get("steps", ()), title=entries.get("title", ""), scenario=entries.get("scenario"),
                folder=file.parent, derived=entries.get(ENTRY),
            )  # fmt: skip

    def _repr_html_(self) -> str:
        return plain_html(self.to_toml())

    def to_toml(self) -> str:
        """Write the recipe as TOML; `from_toml` gives it back."""
        steps = [(step.method, step.arguments) for step in self.steps]
        return recipe_steps.write_recipe(self.title, self.scenario, steps, self.derived)

    @property
    def reads_alone(self) -> bool:
        """Whether its first step alone reads the original (`synthesize_margins`), and the others what it made."""
        return reads_alone(self.steps)

    def _opened(self, data: Any, scenario: Scenario | None) -> Run:
        alone = self.reads_alone
        return MarginsFirst(data, scenario, self.steps[0], self.folder) if alone else start(data, scenario)

    @property
    def all_steps(self) -> tuple[recipe_checks.StepLike, ...]:
        """The steps as they are carried out: the last one computes the derived columns, where there are some."""
        return (*self.steps, *recipe_checks.derived_steps(self.derived, self.steps))

    def prefix(self, n: int) -> Recipe:
        """The recipe without what follows step `n`: applied with the secret of the log, it undoes the later steps.

        Derived columns are computed after the last step, so they are left out, too.

        Raises
        ------
        ScenarioError
            `n` is not between 1 and the number of steps.
        """
        if self.reads_alone:
            raise refuse(self.steps[0], "a prefix", "its noise is not drawn again; apply later steps to the file made")
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(self.steps):
            raise ScenarioError(f"the recipe has steps 1 to {len(self.steps)}; give one of these numbers")
        return self._with_steps(self.steps[:n], {})

    def with_argument(self, path: str, value: Any) -> Recipe:
        """The recipe with one argument changed, named ``"2.k"`` or, where one step has it, ``"pram.pd"``.

        Raises
        ------
        ScenarioError
            There is no such step, several of that method, or no such argument.
        """
        at, name = self.locate(path)
        steps = list(self.steps)
        steps[at] = recipe_checks.StepLike(steps[at].method, {**steps[at].arguments, name: value})
        return self._with_steps(steps, self.derived)

    def with_arguments(self, values: Mapping[str, Any]) -> Recipe:
        """The recipe with several arguments changed, by their paths."""
        return reduce(lambda made, path: made.with_argument(path, values[path]), values, self)

    def locate(self, path: str) -> tuple[int, str]:
        """Position of the step, from 0, and the argument that a path such as ``"2.k"`` names."""
        step, dot, name = path.partition(".")
        if not dot or not name:
            raise ScenarioError(f"{path!r} names no argument of a step; write 2.k or local_suppression.k")
        if step.isdecimal():
            if not 1 <= int(step) <= len(self.steps):
                raise ScenarioError(f"{path!r}: the recipe has steps 1 to {len(self.steps)}")
            return int(step) - 1, name
        places = [at for at, candidate in enumerate(self.steps) if candidate.method == step]
        if not places:
            raise ScenarioError(
                f"{path!r}: no step of the recipe is {step!r}; {did_you_mean(step, [s.method for s in self.steps])}"
            )
        if len(places) > 1:
            numbers = ", ".join(str(at + 1) for at in places)
            raise ScenarioError(f"{path!r}: steps {numbers} are {step}; name one by its number")
        return places[0], name

    def _with_steps(self, steps: Sequence[recipe_checks.StepLike], derived: Mapping[str, str]) -> Recipe:
        tables = [{"method": step.method, **step.arguments} for step in steps]
        return Recipe(tables, title=self.title, scenario=self.scenario, folder=self.folder, derived=derived)

    @property
    def is_random(self) -> bool:
        """Whether any step draws random numbers."""
        return any(recipe_steps.method_of(step.method, "step").draws(step.arguments) for step in self.steps)

    def find_scenario(self, given: Scenario | None = None) -> Scenario | None:
        """The scenario given, else the one the recipe names, else None."""
        given = arguments.scenario_or_none(given)
        if given is not None or self.scenario is None:
            return given
        return Scenario.from_toml((self.folder or Path()) / self.scenario)

    def check(self, data: Any, *, scenario: Scenario | None = None) -> None:
        """Hold the recipe against a file without changing anything.

        Raises
        ------
        SdcError
            As `apply` does before its first step.
        """
        self._check(self._opened(data, self.find_scenario(scenario)))

    def _check(self, running: Run) -> None:
        if running.scenario is not None:
            recipe_checks.check_roles(self.steps, running.columns, running.scenario)
            check_computed_once(self.steps, self.derived, running.scenario)
        running.check(self.all_steps, self.folder)

    def apply(
        self, data: Any, *, scenario: Scenario | None = None, seed: Seed = None, secret: bytes | str | None = None,
        id_keys: Keys | None = None, watch: bool = True, step: Callable[[str], None] | None = None,
    ) -> Applied:  # fmt: skip
        """Apply every step; the whole recipe is held against the data before the first one runs.

        Parameters
        ----------
        data : data frame or plan
            pandas, Polars or PyArrow; it is not modified. Of a plan (Polars, DuckDB, Spark) the engine counts what
            the steps ask for, columns of steps that go record by record come here (200 million values at most), and
            ``data`` of the result is a plan, or a list of them. Values, order and log are those of memory, on Spark
            where it reads the records in their order; a step that does not run there is refused.
        scenario : Scenario, optional
            Measures risk after each step, and gives keys and k to steps that name none. Default the recipe's.
        seed : int, numpy.random.Generator or None
            Mixed into the secret. By itself it repeats nothing, and short ones warn: leave it out.
        secret : bytes or hexadecimal str, optional
            What makes the draws, 16 bytes or more; 32 random ones, kept in the log, where not given. Each step
            draws from a seed of its own made of this secret, `seed` and its position, so that the first n steps
            give the same whatever follows: ``secret=applied.log.secret`` draws again what was drawn.
        id_keys : mapping of str to bytes or hexadecimal str, optional
            The secret of `new_ids`, by its column; made up and kept in the log where not given.
        watch : bool
            Whether risk and utility are measured after each step.
        step : callable, optional
            Is told in words what is being done.

        Returns
        -------
        Applied
            ``data``, ``log``, ``steps``, ``variables``; ``report(path)`` where there is a scenario.

        Raises
        ------
        SdcError
            A secret that is too short; what does not fit, with the step: an absent column, a text where numbers are
            needed, a k larger than the file, values that a hierarchy misses (how many). Nothing is changed then.

        Warns
        -----
        SdcWarning
            A seed below 2^64 where the secret is made up.
        """
        with job():
            alone = self.reads_alone
            if alone:
                refuse_draws(self.steps[0], seed, secret)
            mixed = seeds.Mixed(seeds.read_secret(secret), 0 if seed is None else seeds.open_rng(seed)[1])
            chosen = self.find_scenario(scenario)
            running = self._opened(data, chosen)
            self._check(running)
            if secret is None and self.is_random and not alone:
                seeds.warn_of_short(seed, keeper="log")
            own = self._own_keys(id_keys)
            files = recipe_checks.digests(self.steps, self.folder)
            tell = step or (lambda _: None)
            watch = watch and not alone  # of records that are made up it would say nothing
            figures: list[StepFigures] = [*self._figures(running, 0, "before", 0)] if watch else []
            changes: list[Change] = []
            steps = self.all_steps
            for number, recipe_step in enumerate(steps, 1):
                tell(f"step {number} of {len(steps)}: {recipe_step.method}")
                how: dict[str, Any] = {"folder": self.folder, "mixed": mixed, "key": own.get(number)}
                if recipe_step.arguments.get("risk") == recipe_steps.GIVEN_BACK and isinstance(running, InMemory):
                    how["given_back"] = partial(self._given_back, running, [*changes], mixed, sure(chosen))
                change = running.step(number, recipe_step, **how)
                changes.append(change)
                if watch:
                    figures += self._figures(running, number, recipe_step.method, change.n_changed)
            log = self._log(running, changes, mixed, chosen, files)
            running.done(steps)
            made_of = (self._differing(running), self, running.watcher.k, data, chosen, tuple(running.broken))
            return Applied(running.data(), log, tuple(figures), *made_of)

    def _figures(self, running: Run, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Figures of the file after a step; 0: before the first."""
        return running.figures(number, method, changed)

    def _differing(self, running: Run) -> dict[str, int]:
        return running.differing()

    def _log(
        self, running: Run, changes: Sequence[Change], mixed: seeds.Mixed, scenario: Scenario | None,
        files: Mapping[str, str],
    ) -> RecipeLog:  # fmt: skip
        """The log of a run of all steps."""
        made = {number: change.secret["key"] for number, change in enumerate(changes, 1) if "key" in change.secret}
        return RecipeLog(
            recipe=self.to_toml(), steps=tuple(changes), n=running.n, columns=running.columns,
            versions=versions_here(), date=date.today().isoformat(), secret=mixed.secret.hex(), seed=mixed.seed,
            keys=made, scenario="" if scenario is None else scenario.to_toml(), files=dict(files),
        )  # fmt: skip

    def _given_back(
        self, running: InMemory, changes: Sequence[Change], mixed: seeds.Mixed, scenario: Scenario, current: Any,
        intruder: Scenario,
    ) -> Floats:  # fmt: skip
        """`lacking_records` of the file after the first steps, `changes` of which are given, or in a later step."""
        if not changes:
            return lacking_records(running.frame.to_native(), None, current, intruder)
        steps = [{"method": step.method, **step.arguments} for step in self.all_steps[: len(changes)]]
        first = Recipe(steps, folder=self.folder)
        log = first._log(running, changes, mixed, scenario, recipe_checks.digests(first.steps, self.folder))
        recodings = _recodings(first, log, running)
        kept = self.kept if isinstance(self, TrialRecipe) else None
        known = None if kept is None else kept.recovered(current, recodings)
        return lacking_records(running.frame.to_native(), recodings, current, intruder, known)

    @classmethod
    def replay(
        cls, data: Any, log: RecipeLog | str | Path, *, folder: str | Path | None = None, watch: bool = True,
        step: Callable[[str], None] | None = None,
    ) -> Applied:  # fmt: skip
        """Apply the recipe of a log again, to the same file: bit for bit the same release.

        Parameters
        ----------
        data : data frame or plan
            The file that the log is about.
        log : RecipeLog or path
            An internal log.
        folder : str or Path, optional
            Where the paths of hierarchies start.
        watch, step
            As of `apply`.

        Raises
        ------
        DataError
            Another file, another hierarchy, or a step changed other values than then.
        FileFormatError
            No such log.

        Warns
        -----
        SdcWarning
            The versions are not those of the log.
        """
        then = log if isinstance(log, RecipeLog) else RecipeLog.read(log)
        if then.margins is not None:
            raise ScenarioError(f"{then.margins.method} is not replayed: its noise is in no log, and never drawn again")
        entries = recipe_steps.read_entries(file_limits.toml_of(then.recipe))
        recipe = cls(entries["steps"], title=entries.get("title", ""), folder=folder, derived=entries.get(ENTRY))
        frame = start(data, None)
        if frame.columns != then.columns or frame.n != then.n:
            raise DataError("the log is about another file: its columns or the number of its records differ")
        if recipe_checks.digests(recipe.steps, recipe.folder) != then.files:
            raise DataError("a hierarchy is not the one of the log; find the file as it was")
        here = versions_here()
        if other := [name for name in then.versions if here.get(name) != then.versions[name]]:
            versions = ", ".join(f"{name} {then.versions[name]}" for name in other)
            warnings.warn(f"the log was made with {versions}; the result may differ", SdcWarning, stacklevel=2)
        scenario = Scenario(**file_limits.toml_of(then.scenario)) if then.scenario else None
        keys = {recipe.steps[number - 1].arguments["column"]: key for number, key in then.keys.items()}
        applied = recipe.apply(
            data, scenario=scenario, seed=then.seed, secret=then.secret, id_keys=keys, watch=watch, step=step,
        )  # fmt: skip
        for number, (now, before) in enumerate(zip(applied.log.steps, then.steps, strict=True), 1):
            if now.changed != before.changed:
                raise DataError(
                    f"step {number} ({now.method}) changed other values than the log says; "
                    "the file is not the one of the log, or the versions differ"
                )
        return applied

    def _own_keys(self, keys: Keys | None) -> dict[int, bytes | str]:
        """Key by step number, for the steps that make identifiers and whose column has one in `keys`."""
        keyed = [(n, step) for n, step in enumerate(self.steps, 1) if recipe_steps.method_of(step.method, "").keyed]
        steps = {n: step.arguments["column"] for n, step in keyed}
        for column in keys or {}:
            if column not in steps.values():
                near = did_you_mean(column, steps.values())
                raise ScenarioError(f"id_keys: no step makes new identifiers of {column!r}; {near}", argument="id_keys")
        twice = [step for n, step in keyed if list(steps.values()).count(steps[n]) > 1]
        if twice:
            column = twice[0].arguments["column"]
            raise ScenarioError(f"{twice[0].method}: two steps make identifiers of {column!r}; one is enough")
        return {n: keys[column] for n, column in steps.items() if keys and column in keys}


class UnseenRecipe(Recipe):
    """A recipe whose figures nobody sees: risks are measured before its first step and after its last one alone.

    A file of which they cannot be measured is refused as ever; release and log are the same.
    """

    def _figures(self, running: Run, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:  # noqa: ARG002
        if number in (0, len(self.all_steps)):
            running.check_risks()
        return ()

    def _differing(self, running: Run) -> dict[str, int]:  # noqa: ARG002
        return {}


class TrialRecipe(Recipe):
    """A recipe whose file and log go nowhere: no values are counted (``differing``), and nothing is warned of.

    `begun`: a trial of the same file, scenario and secret. Where its steps are the first ones, they are not run again:
    they draw by their positions, so that they give the same whatever follows. With `kept`, no step is run again either
    that is the same in both and comes before what draws the order, or takes out what is given back.
    """

    begun: Applied | None = None
    kept: Kept | None = None
    running: InMemory | None = None  # with `kept`

    @classmethod
    def of(cls, recipe: Recipe, begun: Applied | None) -> TrialRecipe:
        """A trial of a recipe."""
        steps = [{"method": step.method, **step.arguments} for step in recipe.steps]
        made = cls(steps, title=recipe.title, scenario=recipe.scenario, folder=recipe.folder, derived=recipe.derived)
        made.begun = begun
        return made

    def _opened(self, data: Any, scenario: Scenario | None) -> Run:
        known = {} if self.begun is None else self._known(self.begun)
        n, begun = max(known, default=0), self.begun
        running = start(data, scenario, trial=True, begun=(known[n], sure(begun).log.steps[:n]) if known else None)
        if self.kept is not None and isinstance(running, InMemory):
            running.states = {at: state for at, state in known.items() if at < n}
            earlier = None if begun is None else _running(begun)
            running.orders = {} if earlier is None else {at: o for at, o in earlier.orders.items() if at < n}
            running.owed = n == len(self.all_steps)  # no further step is run
            self.running = running
        return running

    def _given_back(
        self, running: InMemory, changes: Sequence[Change], mixed: seeds.Mixed, scenario: Scenario, current: Any,
        intruder: Scenario,
    ) -> Floats:  # fmt: skip
        steps = [
            step for step in self.all_steps[: len(changes)] if step.arguments.get("risk") != recipe_steps.GIVEN_BACK
        ]
        by_log = any(METHODS[step.method].plan == "order" for step in steps)  # which tells the rows of the original
        looked = [] if self.kept is None else self.kept.looked
        for file, before, whom, lacking in looked:
            same = file is current or (not by_log and _same_values(file, current))
            if whom == intruder and before == steps and same:
                return lacking
        lacking = super()._given_back(running, changes, mixed, scenario, current, intruder)
        looked.append((current, steps, intruder, lacking))
        return lacking

    def _known(self, begun: Applied) -> dict[int, Any]:
        """Files after so many of the steps, as another trial left them."""
        before = begun.recipe.all_steps
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, self.all_steps, strict=False)))
        running = _running(begun)
        states = {**({} if running is None else running.states), len(before): begun.data}
        return {n: state for n, state in states.items() if n <= same}


def _same_values(file: Any, other: Any) -> bool:
    """Whether two files have the same columns and values."""
    first, second = open_eager(file, {}), open_eager(other, {})
    return first.schema == second.schema and not any(n_differing(first, second).values())


def _running(applied: Applied) -> InMemory | None:
    """The run of a trial that keeps its states."""
    recipe = applied.recipe
    return recipe.running if isinstance(recipe, TrialRecipe) else None


TRIAL = bytes(32)  # secret of a trial, of which nothing is kept


@dataclass(eq=False)
class Kept:
    """What trials of one file and scenario keep for those after them.

    `last`: by secret, the last one. `looked`: files that were looked at for what they give back, the steps that made
    them but for those that take this out, the intruder, and what was found. `searched`: the last of them, the rows of
    the original that its rows were made from, and what the search keeps, whoever asks for it.
    """

    last: dict[bytes, Applied] = field(default_factory=dict)
    looked: list[tuple[Any, list[recipe_checks.StepLike], Scenario, Floats]] = field(default_factory=list)
    searched: tuple[Any, Ints | None, dict[Any, Any]] | None = None

    def recovered(self, released: Any, recodings: Recodings) -> dict[Any, Any] | None:
        """What was found before in a release of these values and rows, to be added to; None where rows are not kept."""
        if not recodings.keeps_rows:
            return None
        if self.searched is not None:
            file, rows, found = self.searched
            some, others = (np.zeros(0) if own is None else own for own in (rows, recodings.rows))
            if np.array_equal(some, others) and (file is released or _same_values(file, released)):
                return found
            found.clear()  # it holds itself, so that nobody else would let it go
        self.searched = (released, recodings.rows, {})
        return self.searched[2]


def tried(
    data: Any, scenario: Scenario, steps: Sequence[Mapping[str, Any]],
    derived: Mapping[str, str] = MappingProxyType({}), step: Callable[[str], None] | None = None,
    secret: bytes = TRIAL, kept: Kept | None = None,
) -> Applied:  # fmt: skip
    """Trial run of steps on data that need not hold direct identifiers; `kept` as of `TrialRecipe`."""
    recipe = TrialRecipe(steps or [{"method": "random_order"}], folder=scenario.folder, derived=derived)
    recipe.kept = kept = kept or Kept()
    recipe.begun = kept.last.get(secret)
    keys = {str(step["column"]): TRIAL for step in steps if recipe_steps.method_of(step["method"], "").keyed}
    own = scenario.changed(identifiers=())
    applied = recipe.apply(data, scenario=own, secret=secret, id_keys=keys, watch=False, step=step)
    kept.last[secret] = applied
    recipe.begun = recipe.kept = None  # whose files are let go
    return applied


def recodings_of(applied: Applied) -> Recodings:
    """What a trial recoded, and the order that it drew: no step is run again to know it."""
    return _recodings(applied.recipe, applied.log, _running(applied))


def _recodings(recipe: Recipe, log: RecipeLog, running: InMemory | None) -> Recodings:
    from sdckit.workflow.recoded_original.published_recodings import read_recodings

    rows, orders = None, {} if running is None else running.orders
    moving = sum(METHODS[change.method].plan == "order" for change in log.steps)
    if len(orders) == moving and not changes_number(log.steps, log.n):  # else the log draws again, or says why not
        for _, order in sorted(orders.items()):
            rows = order if rows is None else rows[order]
    return replace(sure(read_recodings(recipe, log)), rows=rows)
