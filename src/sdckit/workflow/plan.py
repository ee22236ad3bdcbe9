"""Plan which measures run on which files and why others do not; a dry run prints it, `carry_out` runs it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdckit.attacks.attack_files import numeric_variables
from sdckit.catalogue import Context, Knowledge, Measure, further, rows
from sdckit.catalogue.attacks import ALONE, COLUMNS_AT_ONCE, INTRUDERS, LINKABILITY, SINGLING
from sdckit.catalogue.row import raising
from sdckit.cells.pair import Pair
from sdckit.data import arguments, frames, limits, nearest
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError, SdcError
from sdckit.report.chapters.sentences import columns_words
from sdckit.result import Result

# How simulated attacks were asked for, and what their intruders know.


Halves = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    """Parameters of the simulated attacks: what is needed to judge and to repeat them.

    `columns`: those attacked. `n_columns`: of the original; None for a lazy frame, of which only the declared columns
    were read. `columns_at_once`: of a singling-out query over several columns. `halves`: the two parts of the keys
    that a linkability attack joins, by intruder. `n_drawn`: people drawn by their id in place of `n_attacks`, None
    where none are. `every_column`, `lacking` and `n_going_out` as `AttackedColumns`.
    """

    columns: tuple[str, ...]
    n_columns: int | None
    columns_at_once: int | None
    halves: Mapping[str, Halves]
    n_attacks: int
    seed: int | None
    every_column: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    n_going_out: int | None = None
    n_drawn: int | None = None

    @property
    def words(self) -> str:
        """With how many columns the attacks were made."""
        return columns_words(len(self.columns), len(self.every_column), self.n_going_out)


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
    knowledge: Mapping[str, Knowledge], places: Iterable[str], *, n_columns: int | None, seed: int | None,
    columns: AttackedColumns | None = None, n_drawn: int | None = None,
) -> Asked:  # fmt: skip
    """Summarise the attack parameters from the intruders' knowledge and the places of the attacks made or tried."""
    first = next(iter(knowledge.values()))
    names = {place.partition(":")[0] for place in places}
    several = min(COLUMNS_AT_ONCE, len(first.variables)) if SINGLING.name in names else 1
    halves = {name: knows.halves for name, knows in knowledge.items() if knows.halves and LINKABILITY.name in names}
    chosen = columns or AttackedColumns(first.variables)
    again = (chosen.every, chosen.lacking, chosen.n_going_out)
    return Asked(
        first.variables, n_columns, several if several > 1 else None, halves, first.n_attacks, seed, *again, n_drawn
    )


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

    def with_others(self, others: Outcome) -> Outcome:
        """These results and those of another plan."""
        return Outcome(self.results | others.results, (*self.skipped, *others.skipped), (*self.failed, *others.failed))


def put_off(planned: Iterable[Planned], reason: str) -> Outcome:
    """The outcome of a plan that has not been carried out yet: nothing, for its own reasons or this one."""
    return Outcome({}, tuple((measure.place, measure.lacks or reason) for measure in planned))


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
            near = nearest.did_you_mean(name, (*known, ALL))
            raise ScenarioError(f"measures: no further measure {name!r}; {near}", argument="measures")
    return known if ALL in asked else tuple(name for name in known if name in asked)


def shared_variables(scenario: Scenario, columns: Collection[str]) -> tuple[str, ...]:
    """Key, sensitive and numeric variables of the scenario that are among `columns`, and those of groups of numbers."""
    named = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric, *scenario.number_groups])
    return tuple(name for name in named if name in columns)


@dataclass(frozen=True)
class AttackedColumns:
    """Columns of the attacks: those declared, and `every` one of a second time; empty where there is no second time.

    `n_going_out` are the columns of the releases that can be attacked, all but identifiers, weights and numbers of
    persons and households; `lacking`: those of original and releases that the control file does not have.
    """

    declared: tuple[str, ...]
    every: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    n_going_out: int | None = None


def attacked_columns(
    scenario: Scenario, original: Collection[str], released: Sequence[Collection[str]],
    control: Collection[str] | None, *, id: str | None = None, declared: Sequence[str] | None = None,
) -> AttackedColumns:  # fmt: skip
    """Choose the columns of the attacks by those of the files; without a control file there is no second time.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> columns = ["sex", "opinion", "w"]
    >>> attacked_columns(Scenario(keys=["sex"], weight="w"), columns, [columns], columns).every
    ('sex', 'opinion')
    """
    shared = set(original).intersection(*released)
    named = tuple(shared_variables(scenario, shared) if declared is None else declared)
    apart = {*scenario.not_compared, id}
    listed = dict.fromkeys([*named, *(name for columns in released for name in columns)])
    going_out = tuple(name for name in listed if name in named or name not in apart)
    if control is None:
        return AttackedColumns(named, n_going_out=len(going_out))
    both = [name for name in going_out if name in shared]
    every = tuple(name for name in both if name in control)
    lacking = tuple(name for name in both if name not in control)
    return AttackedColumns(named, () if set(every) <= set(named) else every, lacking, len(going_out))


def plan_file(scenario: Scenario, *, measures: Sequence[str] = (), compared: bool | None = None, **known: Any) -> Plans:
    """Plan the measures of one file against every intruder.

    `compared`: the file is one of those of a release, which other measures compare; False: no original is beside it,
    and limits on what a release gives back are held against the file by itself. `known` is what else a `Context`
    holds: ``n``, ``data``, ``tell``.
    """
    plans = _by_intruder(scenario, "one", measures, known)
    if compared:
        return {name: tuple(planned for planned in plan if not planned.row.alone) for name, plan in plans.items()}
    if compared is None:
        return plans
    contexts = [planned[0].context for planned in plans.values()]
    contexts[0].shared[INTRUDERS] = contexts
    return {name: (*planned, *_planned([ALONE], planned[0].context, ())) for name, planned in plans.items()}


UNREAD = "no limit of the scenario reads it"


def read_by_limits(scenario: Scenario, *, compared: bool = True, drawn: bool = False) -> frozenset[str]:
    """Names of the measures that a limit of the scenario reads: of a release beside its original, or of one file.

    `drawn`: what the release gives back is looked for in records drawn, which no limit with values put back reads but
    k, of which what the keys of all records tell is counted.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> sorted(read_by_limits(Scenario(keys=["sex"], thresholds={"k": 3})))
    ['differencing', 'k_anonymity', 'recoverable_values']
    """
    declared = scenario.limits_of(compared=compared).declared
    return frozenset(
        kind.measure for kind in limits.limits_asked(declared) if not drawn or kind.judged != "undone" or kind.of == "k"
    )


def read_at_gate(scenario: Scenario, *, compared: bool, drawn: bool = False, on_engine: bool = False) -> frozenset[str]:
    """As `read_by_limits`, and of households what the gate tells where no limit reads it; not on an engine.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> of_homes = Scenario(keys=["sex"], household="home", thresholds={"k": 3})
    >>> sorted(read_at_gate(of_homes, compared=False))
    ['differencing', 'household_structure', 'k_anonymity', 'recoverable_values']
    """
    told = () if on_engine or scenario.household is None else (limit_on_homes().measure,)
    return read_by_limits(scenario, compared=compared, drawn=drawn).union(told)


def limit_on_homes() -> limits.LimitKind:
    """The limit on households as a whole."""
    return next(kind for kind in limits.LIMITS.values() if kind.needs == "household" and kind.judged == "share")


def chosen_of(planned: Sequence[Planned], only: Collection[str] | None) -> tuple[Planned, ...]:
    """The measures of a plan that are named or without which there is no assessment; all unless `only` is given."""
    return tuple(measure for measure in planned if only is None or measure.row.essential or measure.row.name in only)


def unread_of(planned: Sequence[Planned], only: Collection[str] | None) -> Outcome:
    """The outcome of the measures that are not among them: no limit reads these."""
    chosen = chosen_of(planned, only)
    return put_off((measure for measure in planned if measure not in chosen), UNREAD)


def carry_out_chosen(planned: Sequence[Planned], only: Collection[str] | None) -> Outcome:
    """Carry out those of the plan; the others have their reason: records would be drawn, or no limit reads it."""
    drawn = [measure for measure in planned if measure.row.records_drawn is not None and measure.context.draws_records]
    others = [measure for measure in planned if measure not in drawn]
    chosen = chosen_of(planned, only)
    left = put_off((measure for measure in drawn if measure not in chosen), planned[0].context.not_searched)
    return carry_out(chosen).with_others(left).with_others(unread_of(others, only))


def plan_release(scenario: Scenario, **known: Any) -> Plans:
    """Plan the measures of a release beside its original; `known` has columns, n, sizes, aligned, pair, seed."""
    return _by_intruder(scenario, "release", (), known)


def plan_utility(scenario: Scenario, **known: Any) -> tuple[Planned, ...]:
    """Plan the utility measures of a release; `known` as for `plan_release`, with models."""
    return tuple(_planned(rows("utility"), Context(scenario=scenario, **known), ()))


def plan_attacks(
    scenario: Scenario, knowledge: Mapping[str, Knowledge], *, kinds: Collection[str] = (), **known: Any
) -> tuple[Planned, ...]:
    """Plan the simulated attacks: first those that need no intruder, then those of each.

    `kinds` are names of attacks, all unless given; `known` is what else a `Context` holds.
    """
    planned: list[Planned] = []
    for number, (name, knows) in enumerate(knowledge.items()):
        context = Context(scenario=scenario.intruder(name), knowledge=knows, **known)
        attacks = [attack for attack in _planned(rows("attack"), context, ()) if not kinds or attack.row.name in kinds]
        if not number:
            planned += [attack for attack in attacks if not attack.row.of_intruder]
        planned += [attack for attack in attacks if attack.row.of_intruder]
    return tuple(planned)


def plan_every_column(
    scenario: Scenario, variables: Sequence[str], *, numeric: Sequence[str] = (), n_attacks: int,
    kinds: Collection[str] = (), **known: Any,
) -> tuple[Planned, ...]:  # fmt: skip
    """Plan the simulated attacks that need no intruder with every column of the release.

    `numeric` are those compared by their differences; `kinds` and `known` as for `plan_attacks`.
    """
    knows = Knowledge(variables=tuple(variables), numeric=tuple(numeric), n_attacks=n_attacks, every=True)
    planned = _planned(rows("attack"), Context(scenario=scenario, knowledge=knows, **known), ())
    return tuple(attack for attack in planned if not attack.row.of_intruder and (not kinds or attack.row.name in kinds))


def attack_every_column(
    scenario: Scenario, variables: Sequence[str], open_files: Callable[[Sequence[str]], Pair], **known: Any
) -> Outcome:
    """Make the attacks that need no intruder with every column of the release.

    The files are opened here: where a column cannot be compared, every attack is one that could not be made.
    """
    try:
        pair = open_files(variables)
        left = frames.is_lazy(pair.original)  # too many: the attacks say so
        numeric = () if left else numeric_variables(pair, variables, declared=scenario.numeric)
    except SdcError as error:
        planned = plan_every_column(scenario, variables, **known)
        failed = tuple(attack.place for attack in planned if attack.row.residual)
        return Outcome({}, tuple((attack.place, str(error)) for attack in planned), failed)
    return carry_out(plan_every_column(scenario, variables, numeric=numeric, **{**known, "pair": pair}))


def _by_intruder(scenario: Scenario, files: str, asked: Sequence[str], known: Mapping[str, Any]) -> Plans:
    shared: dict[str, Any] = {}
    return {
        name: tuple(_planned(rows(files), Context(scenario=scenario.intruder(name), shared=shared, **known), asked))
        for name in scenario.intruders
    }


def _planned(measures: Iterable[Measure], context: Context, asked: Sequence[str]) -> Iterator[Planned]:
    for row in measures:
        if (row.on_request and row.name not in asked) or not row.applies(context):
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
            if measure.row.residual and measure.row.too_large(measure.context):
                failed.append(measure.place)
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
                if measure.row.residual:
                    failed.append(place)
    return Outcome(results, tuple(skipped), tuple(failed))


def _parts(planned: Planned, kind: type[SdcError]) -> Iterator[tuple[str, Callable[[], Result]]]:
    """The calls of a measure by detail; an error while they are listed is raised by a call instead."""
    try:
        yield from planned.row.run(planned.context)
    except kind as error:
        yield "", raising(error)
