"""Plan which measures run on which files and why others do not; a dry run prints it, `carry_out` runs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdckit.catalogue import Context, Knowledge, Measure, further, rows
from sdckit.catalogue.attacks import ALONE, COLUMNS_AT_ONCE, INTRUDERS, LINKABILITY, SINGLING
from sdckit.catalogue.row import raising
from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.errors import DataError, ScenarioError, SdcError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.result import Result

# How simulated attacks were asked for, and what their intruders know.


Halves = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    """Parameters of the simulated attacks: what is needed to judge and to repeat them.

    `columns`: those attacked. `n_columns`: of the original; None for a lazy frame, of which only the declared columns
    were read. `columns_at_once`: of a singling-out query over several columns. `halves`: the two parts of the keys
    that a linkability attack joins, by intruder.
    """

    columns: tuple[str, ...]
    n_columns: int | None
    columns_at_once: int | None
    halves: Mapping[str, Halves]
    n_attacks: int
    seed: int | None


def declared_knowledge(scenario: Scenario, variables: Sequence[str], *, n_attacks: int) -> dict[str, Knowledge]:
    """Knowledge of each intruder for the attacks: the key variables, and their two halves for linkability.

    `variables` are the columns of the attacks that are told none.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> knowledge = declared_knowledge(Scenario(keys=["sex", "age", "region"]), ["sex"], n_attacks=100)
    >>> knowledge["default"].halves
    (('sex', 'age'), ('region',))
    """
    numeric = tuple(scenario.numeric) or None
    knowledge = {}
    for name, keys in scenario.intruders.items():
        half = (len(keys) + 1) // 2
        halves = (keys[:half], keys[half:]) if len(keys) > 1 else None
        knowledge[name] = Knowledge(
            variables=tuple(variables), known=keys, halves=halves, targets=tuple(scenario.sensitive),
            numeric=numeric, n_attacks=n_attacks,
        )  # fmt: skip
    return knowledge


def attack_parameters(
    knowledge: Mapping[str, Knowledge], places: Iterable[str], *, n_columns: int | None, seed: int | None
) -> Asked:
    """Summarise the attack parameters from the intruders' knowledge and the places of the attacks made or tried."""
    first = next(iter(knowledge.values()))
    names = {place.partition(":")[0] for place in places}
    several = min(COLUMNS_AT_ONCE, len(first.variables)) if SINGLING.name in names else 1
    halves = {name: knows.halves for name, knows in knowledge.items() if knows.halves and LINKABILITY.name in names}
    return Asked(first.variables, n_columns, several if several > 1 else None, halves, first.n_attacks, seed)


ALL = "all"
# Of each intruder by name.
Plans = Mapping[str, tuple["Planned", ...]]


@dataclass(frozen=True)
class Planned:
    """One measure planned against one intruder.

    `lacks` says why it will not run; "" where it will.
    """

    row: Measure
    context: Context
    lacks: str

    @property
    def place(self) -> str:
        """Place of its result among the results of the intruder."""
        return self.row.place(self.context)


@dataclass(frozen=True)
class Outcome:
    """Results of a plan that was carried out.

    `results` by place; `skipped`: place and reason of what did not run. `failed`: places of the skipped attacks with
    a residual risk that were tried, for which a limit on it cannot be judged.
    """

    results: dict[str, Result]
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Places of everything that was planned."""
        return (*self.results, *(place for place, _ in self.skipped))


def chosen_measures(measures: Sequence[str] | str) -> tuple[str, ...]:
    """Read `measures=`: names of further measures, or "all".

    Examples
    --------
    >>> chosen_measures("outliers"), chosen_measures(["outliers", "risky_cells"])
    (('outliers',), ('risky_cells', 'outliers'))
    """
    asked = arguments.texts(measures, "measures")
    known = further()
    for name in asked:
        if name not in (*known, ALL):
            near = did_you_mean(name, (*known, ALL))
            raise ScenarioError(f"measures: no further measure {name!r}; {near}", argument="measures")
    return known if ALL in asked else tuple(name for name in known if name in asked)


def shared_variables(scenario: Scenario, columns: Collection[str]) -> tuple[str, ...]:
    """Key, sensitive and numeric variables of the scenario that are among `columns`."""
    named = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric])
    return tuple(name for name in named if name in columns)


def plan_file(scenario: Scenario, *, measures: Sequence[str] = (), alone: bool = False, **known: Any) -> Plans:
    """Plan the measures of one file against every intruder.

    `known` is what else a `Context` holds: ``n``, ``data``, ``tell``. `alone`: no original is beside it, and a limit
    on what a release gives back is held against the file by itself.
    """
    plans = _by_intruder(scenario, "one", measures, known)
    if not alone:
        return plans
    contexts = [planned[0].context for planned in plans.values()]
    contexts[0].shared[INTRUDERS] = contexts
    return {name: (*planned, *_planned_rows([ALONE], planned[0].context, ())) for name, planned in plans.items()}


def plan_release(scenario: Scenario, **known: Any) -> Plans:
    """Plan the measures of a release beside its original; `known` has columns, n, sizes, aligned, pair, seed."""
    return _by_intruder(scenario, "release", (), known)


def plan_utility(scenario: Scenario, **known: Any) -> tuple[Planned, ...]:
    """Plan the utility measures of a release; `known` as for `plan_release`, with models."""
    return tuple(_planned("utility", Context(scenario=scenario, **known), ()))


def plan_attacks(
    scenario: Scenario, knowledge: Mapping[str, Knowledge], *, kinds: Collection[str] = (), **known: Any
) -> tuple[Planned, ...]:
    """Plan the simulated attacks: first those that need no intruder, then those of each.

    `kinds` are names of attacks, all unless given; `known` is what else a `Context` holds.
    """
    planned: list[Planned] = []
    for number, (name, knows) in enumerate(knowledge.items()):
        context = Context(scenario=scenario.intruder(name), knowledge=knows, **known)
        attacks = [attack for attack in _planned("attack", context, ()) if not kinds or attack.row.name in kinds]
        if not number:
            planned += [attack for attack in attacks if not attack.row.of_intruder]
        planned += [attack for attack in attacks if attack.row.of_intruder]
    return tuple(planned)


def _by_intruder(scenario: Scenario, files: str, asked: Sequence[str], known: Mapping[str, Any]) -> Plans:
    shared: dict[str, Any] = {}
    return {
        name: tuple(_planned(files, Context(scenario=scenario.intruder(name), shared=shared, **known), asked))
        for name in scenario.intruders
    }


def _planned(files: str, context: Context, asked: Sequence[str]) -> Iterator[Planned]:
    yield from _planned_rows(rows(files), context, asked)


def _planned_rows(measures: Iterable[Measure], context: Context, asked: Sequence[str]) -> Iterator[Planned]:
    for row in measures:
        if row.on_request and row.name not in asked:
            continue
        if row.when is not None and not row.when(context):
            continue
        for target in _targets(row, context):
            yield Planned(row, target, row.lacks(target))


def _targets(row: Measure, context: Context) -> list[Context]:
    if not row.per_target or not context.targets:
        return [context]
    return [context.about(target) for target in context.targets]


def carry_out(planned: Iterable[Planned], *, strict: Collection[str] = ()) -> Outcome:
    """Run every planned measure; collect results, and the reasons of those that could not run.

    Errors of the measures named in `strict` and of essential measures are raised.
    """
    results: dict[str, Result] = {}
    skipped: list[tuple[str, str]] = []
    failed: list[str] = []
    for measure in planned:
        if measure.lacks:
            skipped.append((measure.place, measure.lacks))
            continue
        measure.context.tell(measure.row.doing(measure.context))
        # One file: a column that is not there, or a wrong argument, is the caller's; its data may be odd.
        kind = DataError if measure.row.files == "one" else SdcError
        for detail, call in _parts(measure, kind):
            place = measure.row.place(measure.context, detail)
            try:
                results[place] = call()
            except kind as error:
                if (measure.row.essential and not detail) or measure.row.name in strict:
                    raise
                skipped.append((place, str(error)))
                if measure.row.residual_risk:
                    failed.append(place)
    return Outcome(results, tuple(skipped), tuple(failed))


def _parts(planned: Planned, kind: type[SdcError]) -> Iterator[tuple[str, Callable[[], Result]]]:
    """The calls of a measure by detail; an error while they are listed is raised by a call instead."""
    try:
        yield from planned.row.run(planned.context)
    except kind as error:
        yield "", raising(error)
