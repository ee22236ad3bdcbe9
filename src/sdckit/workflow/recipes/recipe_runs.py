"""Run the steps of a recipe on an eager frame, or on a lazy frame (plan) evaluated by its engine."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import with_plain_numbers
from sdckit.cells.plans.changed_plan import RECOUNT, Blanked, Changing, Distinct, open_changing
from sdckit.data import arguments, replace, seeds
from sdckit.data.frames import count_records, has_repeats, is_lazy, open_frame
from sdckit.data.methods import ADVICE, METHODS, MIXING
from sdckit.data.outgoing.only_records import on_the_way, only_records
from sdckit.data.rule_conditions import EditRule, RuleBreakers
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, SdcError, SdcWarning
from sdckit.numerics.array_types import Ints
from sdckit.protect import by_household, random_order
from sdckit.protect.change import Change, check_made, check_room, with_files
from sdckit.protect.recoding.coarsen_weights import TELLS, told_by
from sdckit.protect.suppression.suppression_choices import read_combinations
from sdckit.protect.synthesis.synthesize import columns_read as synthesis
from sdckit.workflow.recipes import recipe_steps
from sdckit.workflow.recipes.recipe_checks import StepLike, check_against, computed_twice, placed
from sdckit.workflow.recipes.recipe_figures import StepFigures, Watch
from sdckit.workflow.recipes.recipe_steps import GIVEN_BACK, columns_made, columns_named, method_of
from sdckit.workflow.recipes.run_step import added, call_of, drawn_order, run_step

# Weights that reveal suppressed values of a key, because each occurs with one value of it only.


CHANGED = ("column", "columns", "keys", "replace", "hierarchy", "carry_along")  # arguments that name what is changed
WEIGHTS = ("column", "columns", "weight", "replace", "together", "carry_along")


def warn_of_weights(steps: Sequence[StepLike], data: Any, *, scenario: Scenario | None, done: bool = False) -> None:
    """Warn where the scenario's weight reveals a key that a step suppresses or perturbs.

    `done`: whether `data` is what came of the steps; a weight is looked at before them where none changes it, and
    after them where one does.
    """
    if scenario is None or scenario.weight is None:
        return
    whole = data[0] if isinstance(data, list) else data
    frame: Any = whole if isinstance(whole, Changing) else open_frame(whole)
    changes_it = any(scenario.weight in _named(step, WEIGHTS, scenario) for step in steps)
    if scenario.weight not in frame.columns or changes_it is not done:
        return
    at_stake = {name for step in steps for name in _hidden(step, scenario)} & {*frame.columns}
    keys = [name for name in scenario.all_keys if name in at_stake and name != scenario.weight]
    unit = scenario.household or scenario.person  # its rows share one weight anyway
    home = unit if unit in frame.columns else None
    names = [name for name, how_far in _shares_told(frame, scenario.weight, keys, home).items() if how_far > TELLS]
    if names:
        warnings.warn(
            f"{scenario.weight}: many of its values occur with one value of {', '.join(names)} only, and so tell what "
            f"is taken out or changed there; {ADVICE['weight_told']} or leave it out of the release",
            SdcWarning,
            stacklevel=4 if done else 5,
        )


NO_PANEL = (
    "{person}: people have several rows, and {method} draws each row by itself: what it makes is no panel, and tells "
    "nothing of how the rows of a person go together, what stays and what changes"
)


def warn_of_panels(steps: Sequence[StepLike], data: Any, *, scenario: Scenario | None) -> None:
    """Warn where rows are made up one by one, and the scenario says whose they are, of whom some have several."""
    making = next((step.method for step in steps if METHODS[step.method].new_rows), None)
    if making is None or scenario is None or scenario.person is None:
        return
    frame = open_frame(data)
    if scenario.person in frame.collect_schema().names() and has_repeats(frame, scenario.person):
        warnings.warn(NO_PANEL.format(person=scenario.person, method=making), SdcWarning, stacklevel=5)


def _shares_told(frame: Any, weight: str, keys: Sequence[str], household: str | None) -> dict[str, float]:
    """Share of each key that the weight determines; for a lazy frame only with few enough distinct combinations."""
    if not isinstance(frame, Changing):
        return told_by(frame, weight, keys, household=household)

    def shares_of(names: Sequence[str]) -> dict[str, float]:
        if household is None:
            return told_by(frame.distinct([weight, *names]).tallied, weight, names)
        first = open_frame(frame.first_of(household, [weight, *names]))  # stands for its household, as in memory
        return told_by(first, weight, names, household=household)

    if household is not None and keys:
        with contextlib.suppress(DataError):  # else those of which there is room, or that are restored exactly
            return shares_of(keys)
    shares: dict[str, float] = {}
    for name in keys:
        with contextlib.suppress(DataError):
            shares |= shares_of([name])
    return shares


def _hidden(step: StepLike, scenario: Scenario) -> set[str]:
    """Columns in which a step suppresses or perturbs single records; empty for a recoding, which treats all alike."""
    method = method_of(step.method, "step")
    of_nobody = method.kind.new_rows and not columns_named(method, step.arguments, "columns")
    return set() if method.kind.alike or of_nobody else _named(step, CHANGED, scenario)


def _named(step: StepLike, roles: Sequence[str], scenario: Scenario) -> set[str]:
    method = method_of(step.method, "step")
    columns = {name for role in roles for name in columns_named(method, step.arguments, role)}
    for role in method.kind.keeps:
        columns -= set(columns_named(method, step.arguments, role))
    if method.kind.scenario_keys and "keys" in roles and "keys" not in step.arguments:
        intruder = step.arguments.get("intruder")
        columns |= set(scenario.all_keys if intruder is None else scenario.intruders.get(intruder, ()))
    return columns


def check_computed_once(steps: Sequence[StepLike], derived: Collection[str], scenario: Scenario) -> None:
    """Raise ScenarioError where a step changes, by the keys of the scenario, a column that is computed in the end."""
    for number, step in enumerate(steps, 1):
        if METHODS[step.method].scenario_keys and (twice := sorted(_named(step, CHANGED, scenario) & {*derived})):
            raise computed_twice(twice[0], step.place(number))


# Edit rules that a step breaks.


OF_PLAN = (
    "the edit rules of the scenario were not held against the steps of a plan; write the file and check it, or call "
    "edit_rules"
)


def rules_broken(
    number: int, step: StepLike, before: RuleBreakers, after: RuleBreakers, rules: Iterable[EditRule]
) -> list[str]:
    """Sentences on the edit rules that records keep before a step, and break after it."""
    if METHODS[step.method].plan == "order":
        return []
    broken = []
    for rule in rules:
        if (flags := before.beside(after, rule)) is None:
            continue
        was, now = flags
        newly = (now & ~was).any() if len(was) == len(now) else now.mean() > was.mean()
        if newly:
            broken.append(f"{step.place(number)} breaks an edit rule in records that kept it: {rule.words}")
    return broken


# Record-wise steps on a lazy frame: the columns they read are brought into memory, new values are joined back.


def columns_read(step: StepLike, columns: Sequence[str], scenario: Scenario | None) -> list[str]:
    """Columns that a step reads, in file order: those it names, and those it takes from the scenario.

    Raises ColumnError: the file does not have one that it names.
    """
    method, given = method_of(step.method, "step"), step.arguments
    named = [name for role in method.columns for name in columns_named(method, given, role)]
    if method.kind.predictors == "others":  # whatever is not drawn predicts, where nothing is said of it
        needed = synthesis(columns, given.get("columns"), given.get("predictors"), given.get("rules"))
        named += [*needed, *([given["rows"]] if isinstance(given.get("rows"), str) else [])]
    if method.kind.predictors == "all" or given.get("n") is not None:  # with n all records are others
        named += columns
    if absent := [name for name in named if name not in columns]:
        raise ColumnError(f"no column {absent[0]!r} in the data")
    wanted = {*named, *_of_scenario(method, step, scenario)}
    return [name for name in columns if name in wanted]  # as in memory: methods go by the order of the file


def _of_scenario(method: recipe_steps.Method, step: StepLike, scenario: Scenario | None) -> list[str]:
    if scenario is None:
        return []
    if step.arguments.get("risk") in recipe_steps.RISK_MEASURES:
        return [name for name in scenario.columns if name not in scenario.identifiers]
    home = [] if scenario.household is None else [scenario.household, *scenario.household_variables]
    household_columns = home if method.takes_households else []
    if "scenario" not in method.parameters:
        return household_columns
    intruder = step.arguments.get("intruder")
    return [*(scenario if intruder is None else scenario.intruder(intruder)).all_keys, *household_columns]


def check_step(step: StepLike, n: int, columns: Sequence[str], scenario: Scenario | None, plan: Any = None) -> None:
    """Raise, before any work, where a step would bring or make more values in memory than allowed for a lazy frame.

    Raises ColumnError: as `columns_read`. DataError: they are more.
    """
    check_room(n, columns_read(step, columns, scenario), plan)
    given = step.arguments
    m = recipe_steps.n_files(method_of(step.method, "step"), given)
    size = given.get("n") or n
    if m > 1 or size != n:
        drawn = given.get("masked") or given.get("columns") or columns
        check_made(m, size, len(drawn))


def run_on_records(
    number: int, step: StepLike, plan: Changing, *, scenario: Scenario | None, folder: Path | None, mixed: seeds.Mixed,
    key: bytes | str | None = None,
) -> tuple[list[Changing], Change]:  # fmt: skip
    """Run a step in memory on the columns it reads, and write the result back to the lazy frame: one file or several.

    Raises SdcError: as the method in memory; more values than come from a plan.
    """
    try:
        names = columns_read(step, plan.columns, scenario)
        check_step(step, plan.n, plan.columns, scenario)
        brought = plan.brought(names)
    except SdcError as error:
        raise placed(error, step.place(number)) from None
    changed, change = run_step(number, step, brought.table, scenario=scenario, folder=folder, mixed=mixed, key=key)
    suffix = str(step.arguments.get("suffix"))
    like = {name: name.removesuffix(suffix) for name in columns_made(method_of(step.method, "step"), step.arguments)}
    return with_files(plan, brought, changed, like), change


# How steps run on a lazy frame, and which do not.
# A recoding is a function of the values of a few columns: the engine counts their distinct rows, the
# method changes these in memory as it changes any frame, and the engine puts the new values back. Local
# suppression is decided on the cells. What is drawn or chosen for every record is drawn here, on the
# columns that it needs, and goes back by place.


Given = Mapping[str, Any]
Way = Callable[[Any, Changing, Given], "tuple[Changing, Change]"]


def _by_values(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    """Run a method that is a function of values on the distinct rows of the columns it reads."""
    rows = plan.distinct(_read(method_of(function.__name__, "step"), given))
    changed, change = function(rows.tallied, **given)
    return plan.with_values(rows, {name: changed[name] for name in rows.columns if name in change.changed}), change


def _read(method: Any, given: Given) -> list[str]:
    named = [name for role in method.columns for name in columns_named(method, given, role)]
    return list(dict.fromkeys(named))


def _dropped(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    names = list(arguments.names(given["columns"], "columns", single=True) or ())
    if len(names) == len(plan.columns):
        raise ColumnError("columns: no column would remain; keep at least one", argument="columns")
    return plan.without(names), Change(function.__name__, plan.n, plan.present(names), {"columns": names})


def _shuffled(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    """Shuffle as for an eager frame; where records have no places, Spark sorts them by a hash with the seed."""
    household, seed = given.get("household"), given["seed"]
    notes = {"order": "no value is changed; row i is no longer made from row i"}
    homes = None
    if household is not None:
        check_room(plan.n, [household], plan.frame)
        homes = by_household.read_homes(replace.open_eager(plan.brought([household]).table, {}), household)
    order = None if plan.hashed else random_order.row_order(plan.n, homes, seed)
    secret = {"hashed": str(seed)} if plan.hashed else {"seed": seed}
    change = Change(function.__name__, plan.n, {}, {"household": household}, secret, notes)
    return plan.shuffled(order, str(seed)), change


def _by_cells(function: Any, plan: Changing, given: Given) -> tuple[Changing, Change]:
    """Local suppression: cells of k records or more stay one row; smaller cells are expanded to records."""
    scenario, strata = given.get("scenario"), given.get("strata") or ()
    roles = resolve_roles(scenario=scenario, keys=given.get("keys"), alpha=given.get("alpha"))
    k = given.get("k")
    if k is None and given.get("combinations") is None and scenario is not None:
        k = scenario.limits.k
    asked = read_combinations(roles.keys, k, given.get("combinations"), plan.n)
    rows = plan.distinct([*roles.keys, *([strata] if isinstance(strata, str) else strata)])
    cell, counts = _records_of(plan, rows, max(level for _, level in asked))
    frame = rows.table.take(cell)
    changed, change = function(replace.Tallied(frame, counts), **given)
    gone = {name: np.asarray(changed[name].is_null()) & ~np.asarray(frame[name].is_null()) for name in roles.keys}
    return plan.blanked(rows, _as_blanked(rows, cell, gone)), change


def _records_of(plan: Changing, rows: Distinct, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cell index of each row of the reduced file, in file order, and the number of records it represents."""
    several = np.flatnonzero((rows.size > 1) & (rows.size < k))
    once = np.flatnonzero((rows.size == 1) | (rows.size >= k))
    cell, place = once, rows.first[once]
    if len(several):
        of_cell, where = plan.places_in(rows, several)
        if (np.bincount(of_cell, minlength=len(rows.size))[several] != rows.size[several]).any():
            raise DataError(RECOUNT)
        cell, place = np.concatenate([cell, of_cell]), np.concatenate([place, where])
    cell = cell[np.argsort(place, kind="stable")]
    return cell, np.where(rows.size[cell] < k, 1, rows.size[cell])


def _as_blanked(rows: Distinct, cell: NDArray[np.int64], gone: Mapping[str, NDArray[np.bool_]]) -> Blanked:
    """Suppressions by cell: whole cells where all records lose a value, else record by record."""
    n, size = len(rows.size), np.bincount(cell, minlength=len(rows.size))
    losing = {name: np.bincount(cell[hit], minlength=n) for name, hit in gone.items()}
    whole = {name: lost == size for name, lost in losing.items()}
    mixed = np.any([(lost > 0) & ~whole[name] for name, lost in losing.items()], axis=0)
    split = np.flatnonzero(mixed)
    order = np.argsort(cell, kind="stable")
    order = order[mixed[cell[order]]]  # cell after cell, in the order of the file
    return Blanked(whole, split, {name: hit[order] for name, hit in gone.items()})


WAYS: dict[str, Way] = {"values": _by_values, "columns": _dropped, "cells": _by_cells, "order": _shuffled}


NO_PLACES = "Spark knows places of records only where the plan reads Parquet files and does nothing else"


def _on_records(step: StepLike, household: str | None) -> bool:
    """Whether a step runs record by record. `household`: that of the scenario, if still in the file."""
    given = step.arguments
    kind = METHODS[step.method]
    if kind.plan == "records":
        return True
    if any(given.get(name) in values if values else given.get(name) for name, values in kind.by_record.items()):
        return True
    return kind.plan == "cells" and household is not None and given.get("household_variables") != []


def _why_not(step: StepLike, by_record: bool, *, hashed: bool, mixed_up: bool) -> str:
    """Why a step does not run on a plan; empty where it does. `mixed_up`: whether records were put in random order."""
    if step.arguments.get("risk") == GIVEN_BACK:
        return f'risk = "{GIVEN_BACK}" is measured beside the original, in memory'
    if hashed and METHODS[step.method].plan == "order" and step.arguments.get("household"):
        return f"household: {NO_PLACES}, so that members of a household cannot be kept together"
    if hashed and by_record and mixed_up:
        return f"{NO_PLACES}, so that no record is found again in random order: make {MIXING.name} the last step"
    return ""


def check_on_plan(steps: Sequence[StepLike], plan: Changing, scenario: Scenario | None) -> None:
    """Raise, before any work, where a step of a recipe does not run on a lazy frame.

    Raises DataError: which step, and why.
    """
    household = None if scenario is None else scenario.household
    n, columns, mixed_up = plan.n, plan.columns, False
    for number, step in enumerate(steps, 1):
        by_record = _on_records(step, household)
        if why := _why_not(step, by_record, hashed=plan.hashed, mixed_up=mixed_up):
            elsewhere = "" if step.arguments.get("risk") == GIVEN_BACK else ", or take another engine"
            raise DataError(
                f"{step.place(number)} does not run on a plan: {why}. Bring the file into memory for it{elsewhere}"
            )
        if by_record:
            try:
                check_step(step, n, columns, scenario, plan.frame)
            except ColumnError:
                pass  # told with the nearest name when the recipe is held against the columns
            except DataError as error:
                raise placed(error, step.place(number)) from None
        n = step.arguments.get("n") or n
        columns = [*columns, *columns_made(method_of(step.method, ""), step.arguments)]
        kind = METHODS[step.method]
        mixed_up |= kind.plan == "order"
        if kind.effect == "gone":
            gone = _read(method_of(step.method, ""), step.arguments)
            columns = [name for name in columns if name not in gone]
            household = None if household in gone else household


def run_on_plan(
    number: int, step: StepLike, plan: Changing, *, scenario: Scenario | None, folder: Path | None, mixed: seeds.Mixed,
    key: bytes | str | None = None,
) -> tuple[list[Changing], Change]:  # fmt: skip
    """Run a step on a plan, as `run_step` does in memory: one file comes of it, or several."""
    home = None if scenario is None else scenario.household
    if _on_records(step, home if home in plan.columns else None):
        return run_on_records(number, step, plan, scenario=scenario, folder=folder, mixed=mixed, key=key)
    method, given = call_of(number, step, scenario=scenario, folder=folder, mixed=mixed, key=key)
    try:
        made, change = WAYS[method.kind.plan](method.function, plan, given)
    except SdcError as error:
        raise placed(error, step.place(number)) from None
    return [made], change


Steps = Sequence[StepLike]
Begun = tuple[Any, Sequence[Change]]


def _breakers(data: Any, rules: Sequence[EditRule]) -> RuleBreakers:
    """What breaks rules in a file, whose columns of objects may be numbers to them."""
    frame = replace.open_eager(data, {})
    return RuleBreakers(with_plain_numbers(frame) if rules else frame)


class InMemory:
    """A file in memory; `begun`: what came of the first steps, which were run before, and their changes."""

    def __init__(
        self, data: Any, scenario: Scenario | None, *, trial: bool = False, begun: Begun | None = None
    ) -> None:
        self.frame = replace.open_eager(data, {})
        self.scenario, self.trial = scenario, trial
        self.n, self.columns = len(self.frame), tuple(self.frame.columns)
        whole: Begun = (self.frame, ())
        self.current, self.begun = begun or whole
        self.owed = False  # whether what the last step made is yet to be stripped
        self.states: dict[int, Any] = {}  # of a trial: the file after so many steps, where others may go on otherwise
        self.orders: dict[int, Ints] = {}  # by the steps before, the former row of each row that a step moved
        self.watcher = Watch(self.frame, scenario)
        self.rules = () if scenario is None else scenario.edit_rules
        self.breakers, self.broken = _breakers(self.frame, self.rules), list[str]()

    def check(self, steps: Steps, folder: Path | None) -> None:
        """Validate the steps against the file without running them."""
        frame = self.frame
        check_against(
            steps, frame.schema, self.n, lambda names: frame[names].to_native(), scenario=self.scenario, folder=folder,
            trial=self.trial,
        )  # fmt: skip
        if not self.trial:
            warn_of_weights(steps, self.frame, scenario=self.scenario)
            warn_of_panels(steps, self.frame, scenario=self.scenario)

    def step(self, number: int, step: StepLike, **how: Any) -> Change:
        """Run a step and keep its result as the current file."""
        if number <= len(self.begun):
            return self.begun[number - 1]
        before = self.current
        if self.trial and (METHODS[step.method].plan == "order" or step.arguments.get("risk") == GIVEN_BACK):
            self.states[number - 1] = before
        with on_the_way() as owed:
            files = before if isinstance(before, list) else [before]
            made = [run_step(number, step, file, scenario=self.scenario, **how) for file in files]
        self.owed = bool(owed)
        self.current = [file for file, _ in made] if isinstance(before, list) else made[0][0]
        change = added([own for _, own in made])
        if not isinstance(before, list) and (order := drawn_order(change, before)) is not None:
            self.orders[number - 1] = order
            self.watcher = self.watcher if self.trial else self.watcher.in_order(order)
        self._hold_rules(number, step)
        return change

    def _hold_rules(self, number: int, step: StepLike) -> None:
        """Hold the current file against the edit rules, beside the file before the step, whose flags are kept."""
        if not self.rules:
            return
        current = self.current[0] if isinstance(self.current, list) else self.current
        before, self.breakers = self.breakers, _breakers(current, self.rules)
        self.broken += rules_broken(number, step, before, self.breakers, self.rules)

    def figures(self, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Figures of the current file."""
        return self.watcher.after(number, method, self.current, changed)

    def check_risks(self) -> None:
        """Refuse a file whose risks cannot be measured."""
        self.watcher.check_risks(self.current if isinstance(self.current, list) else [self.current])

    def data(self) -> Any:
        """The current file, or several: nothing but records."""
        if self.owed:
            made = self.current
            self.current = [*map(only_records, made)] if isinstance(made, list) else only_records(made)
            self.owed = False
        return self.current

    def differing(self) -> dict[str, int]:
        """Number of values per column of the original that differ now; none is counted on trial."""
        if self.trial:
            return {}
        return self.watcher.differing(self.current[0] if isinstance(self.current, list) else self.current)

    def done(self, steps: Steps) -> None:
        """Warn of weights that reveal suppressed values, and of edit rules that steps broke."""
        if self.trial:
            return
        warn_of_weights(steps, self.current, scenario=self.scenario, done=True)
        for sentence in self.broken:
            warnings.warn(sentence, SdcWarning, stacklevel=4)


class OnPlan:
    """A lazy frame; its engine counts what the steps need."""

    def __init__(self, data: Any, scenario: Scenario | None) -> None:
        self.n = count_records(data)
        if self.n == 0:
            raise DataError("the data has no records")
        self.scenario = scenario
        self.files = [open_changing(data, self.n)]
        self.columns = self.plan.own
        self.watcher: Watch = Watch(data, scenario)
        self.broken: list[str] = []

    @property
    def plan(self) -> Changing:
        """The current lazy frame; the first where the last step made several."""
        return self.files[0]

    def check(self, steps: Steps, folder: Path | None) -> None:
        """Validate the steps without running them: first whether they run on a lazy frame at all."""
        check_on_plan(steps, self.plan, self.scenario)
        plan = self.plan
        check_against(
            steps, plan.kinds, plan.n, lambda names: plan.distinct(names).tallied, scenario=self.scenario,
            folder=folder, counted=True,
        )  # fmt: skip
        warn_of_weights(steps, self.plan, scenario=self.scenario)
        warn_of_panels(steps, self.plan.plan(), scenario=self.scenario)

    def step(self, number: int, step: StepLike, **how: Any) -> Change:
        """Run a step and keep its result as the current lazy frame."""
        made = [run_on_plan(number, step, file, scenario=self.scenario, **how) for file in self.files]
        self.files = [file for files, _ in made for file in files]
        return added([change for _, change in made])

    def figures(self, number: int, method: str, changed: int) -> tuple[StepFigures, ...]:
        """Figures of the current lazy frame: its risks, and the share of values that differ."""
        return self.watcher.of_plans(number, method, self.files, changed)

    def check_risks(self) -> None:
        """Refuse a lazy frame whose risks cannot be measured."""
        self.watcher.check_risks([file.bare() for file in self.files])

    def data(self) -> Any:
        """The current lazy frame, or several."""
        plans = [file.plan() for file in self.files]
        return plans if len(plans) > 1 else plans[0]

    def differing(self) -> dict[str, int]:
        """Number of values per column of the original that differ now."""
        return self.plan.differing()

    def done(self, steps: Steps) -> None:
        """Warn of weights that reveal suppressed values, and that edit rules were not held against the steps."""
        warn_of_weights(steps, self.plan, scenario=self.scenario, done=True)
        if self.scenario is not None and self.scenario.rules:
            warnings.warn(OF_PLAN, SdcWarning, stacklevel=4)


Run = InMemory | OnPlan  # a file while the steps of a recipe run on it


def start(data: Any, scenario: Scenario | None, *, trial: bool = False, begun: Begun | None = None) -> Run:
    """Open a file for a recipe; on `trial` a file in memory is not held beside what comes of it.

    `begun`: what came of the first steps of a file in memory, and their changes.

    Raises DataError: no frame, no records, a plan of an engine that is not supported.
    """
    opened = open_frame(data)
    return OnPlan(data, scenario) if is_lazy(opened) else InMemory(opened, scenario, trial=trial, begun=begun)
