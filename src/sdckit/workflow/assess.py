"""`assess`: run every applicable measure on a file or a release, and judge every threshold of the scenario."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from sdckit.catalogue import Context, Measure
from sdckit.catalogue.attacks import ALONE, RECOVERABLE
from sdckit.catalogue.row import as_numbers, draws_records
from sdckit.cells.comparable_files import written_apart
from sdckit.cells.pair import IN_BANDS, Pair, keep_rows, open_files
from sdckit.data import arguments, drawn_rows
from sdckit.data.frames import Frame, count_records, has_repeats, is_lazy, open_frame
from sdckit.data.limits import declarable
from sdckit.data.scenarios.column_roles import check_insensitive, look_at_columns
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_checks import SINGLE, unconfirmed_words
from sdckit.data.scenarios.thresholds import SYNTHETIC, a_release
from sdckit.errors import ScenarioError, SdcWarning
from sdckit.numerics.threads import job
from sdckit.report.chapters.sentences import NOT_YET
from sdckit.report.common_blocks import drawn_size
from sdckit.utility.utility_overview import families_of
from sdckit.workflow import left_open, opened_release, plan, released_intruders
from sdckit.workflow.assessment import Assessment, Collected, IntruderAssessment, KeyFacts, ReleaseAssessment
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recoded_original import open_recoded
from sdckit.workflow.recoded_original.published_recodings import Recodings, left_of
from sdckit.workflow.recoded_original.recoded_plans import stays_on_engines
from sdckit.workflow.verdicts import judge, judge_alone, of_single_rows, with_origins

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe import Recipe


N_ATTACKS = 500
Step = Callable[[str], None]
GivenRecipe: TypeAlias = "Recipe | str | Path | Recodings | None"
Soonest: TypeAlias = tuple[Measure, Callable[[Sequence[Any]], bool]]
GivenLog: TypeAlias = "RecipeLog | str | Path | None"


@overload
def assess(
    data: Any, released: None = None, *, scenario: Scenario | None = None, keys: Sequence[str] | None = None,
    weight: str | None = None, sampling_fraction: float | None = None, household: str | None = None,
    person: str | None = None, sensitive: Sequence[str] | str = (), numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (), by: Sequence[str] | str | None = None, id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (), seed: int | None = None, control: Any = None,
    attacks: bool = False, n_attacks: int = N_ATTACKS, recipe: GivenRecipe = None, log: GivenLog = None,
    step: Step | None = None, targets: int | None = None,
) -> Assessment: ...  # fmt: skip
@overload
def assess(
    data: Any, released: Any, *, scenario: Scenario | None = None, keys: Sequence[str] | None = None,
    weight: str | None = None, sampling_fraction: float | None = None, household: str | None = None,
    person: str | None = None, sensitive: Sequence[str] | str = (), numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (), by: Sequence[str] | str | None = None, id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (), seed: int | None = None, control: Any = None,
    attacks: bool = False, n_attacks: int = N_ATTACKS, recipe: GivenRecipe = None, log: GivenLog = None,
    step: Step | None = None, targets: int | None = None,
) -> ReleaseAssessment: ...  # fmt: skip
def assess(
    data: Any,
    released: Any = None,
    *,
    scenario: Scenario | None = None,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    person: str | None = None,
    sensitive: Sequence[str] | str = (),
    numeric: Sequence[str] | str = (),
    measures: Sequence[str] | str = (),
    by: Sequence[str] | str | None = None,
    id: str | None = None,
    models: Mapping[str, str] | Sequence[str] | str = (),
    seed: int | None = None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = N_ATTACKS,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
    step: Step | None = None,
    targets: int | None = None,
) -> Assessment | ReleaseAssessment:
    """Assess a file, or a release against its original: who can be recognised, and what would be learnt.

    Parameters
    ----------
    data : data frame
        One row per record; pandas, Polars (eager or lazy), PyArrow, DuckDB or Spark. The original, where
        `released` is given.
    released : data frame or list of data frames, optional
        What is to go out, made from `data`: one file, or m synthetic ones.
    scenario : Scenario, optional
        Intruders, roles, thresholds. Without one, the arguments below make it.
    keys, weight, sampling_fraction, household, person, sensitive, numeric
        Roles of a scenario with one intruder and no threshold.
    measures : str or sequence of str
        Further measures by name, or "all" of them (`sdckit assess --help` lists them). The others always run.
    by : str or sequence of str, optional
        Columns of `data` whose combinations are subgroups: measures that have figures of them have ``by_group``, and
        a confidential document has a table. Of a release by itself those columns that it has, too.
    id : str, optional
        Column that says which row of a release was made from which row of the original; without it, rows
        belong together by position where the scenario says ``aligned``.
    models : str, sequence of str, or dict of str to str, optional
        Regressions that users of a release will fit, as formulas; a dict gives each its family ("linear",
        "logistic", "poisson", "multinomial").
    seed : int, optional
        For what is random in the comparison of two files.
    control : data frame, optional
        People of the same kind who were never used to make the release; starts the simulated attacks.
    attacks : bool
        Make the simulated attacks without a control file, too.
    n_attacks : int
        Attempts of each attack, 1 or more.
    recipe, log : Recipe, RecipeLog or path, optional
        The recipe that made the release, or the internal log of its run: what it recodes by a rule (bands, groups,
        limits, multiples) is done to the original and the control file first; what is random or suppresses is the
        protection to be measured, and is not. The figures of the original are then those of the recoded original. A
        log is held against the files, and says that rows belong together; of records drawn from protected margins
        (`synthesize_margins`) its noise is added up again, and the report says what it promises. Without either, bands
        are recognised by their names and, where rows belong together, groups, limits and multiples; ``.recoded`` and
        the report say so.
    step : callable, optional
        Is told in words what is being done, for a progress display.
    targets : int, optional
        People drawn by a hash of `id` who are looked up in the files by attacks and by what measures the nearest
        records, in place of everybody or of `n_attacks`; 1,000 or more with `by`. Unless given, 10,000 where an engine
        has more than 2 million records and there is an `id`. A limit is held against the worse end of the 95 %
        interval.

    Returns
    -------
    Assessment
        ``assessment[intruder][measure]``: every measure that the roles permit (``skipped`` says why one did not
        run),
        ``verdicts``, ``passed``, ``summary()``, ``to_dict()``, ``report(path)``, ``to_json(path)``.
    ReleaseAssessment
        For a release: ``original`` and ``released`` (an Assessment each), ``intruders`` with the measures of
        two files, ``utility`` and ``attacks``; verdicts are those of the worst release.

    Raises
    ------
    ScenarioError
        Neither scenario nor keys, or both; a measure that does not exist.
    ColumnError, DataError
        As `key_frequencies`; a column named insensitive that no file has; a log of another file or another release, or
        that contradicts itself, a hierarchy that is not the log's.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41]})
    >>> print(assess(survey, scenario=Scenario(keys=["sex", "age"], thresholds={"k": 2})))
    Assessment of 3 records against 1 intruder
      default (sex, age): 1 sample uniques, global risk 0.6667
        exceeded: 1 record is in a group of fewer than 2 with the same keys (k = 2)
    """
    with job():
        roles: dict[str, Any] = {
            "keys": arguments.names(keys, "keys"),
            "weight": arguments.column_or_none(weight, "weight"),
            "sampling_fraction": arguments.sampling_fraction_or_none(sampling_fraction),
            "household": arguments.column_or_none(household, "household"),
            "person": arguments.column_or_none(person, "person"),
            "sensitive": arguments.names(sensitive, "sensitive", single=True) or None,
            "numeric": arguments.names(numeric, "numeric", single=True) or None,
        }
        scenario = arguments.scenario_or_none(scenario)
        given = {name: value for name, value in roles.items() if value is not None}
        if scenario is None:
            if keys is None:
                raise ScenarioError("say which variables an intruder knows: scenario= or keys=[...]", argument="keys")
            scenario = Scenario(**given)
        elif given:
            raise ScenarioError(
                f"{', '.join(given)} and scenario= are both given; put everything into the scenario",
                argument=next(iter(given)),
            )
        return assess_read(
            data, released, scenario=scenario, measures=measures, by=by, id=id, models=models, seed=seed,
            control=control, attacks=attacks, n_attacks=n_attacks, recipe=recipe, log=log, step=step, whole=True,
            targets=targets,
        )  # fmt: skip


def assess_read(
    data: Any, released: Any = None, *, scenario: Scenario, measures: Sequence[str] | str = (),
    by: Sequence[str] | str | None = None, id: str | None = None, models: Any = (), seed: int | None = None,
    control: Any = None, attacks: bool = False, n_attacks: int = N_ATTACKS, recipe: GivenRecipe = None,
    log: GivenLog = None, step: Step | None = None, whole: bool = False, lean: bool = False,
    soonest: Soonest | None = None, targets: int | None = None, gate: bool = False,
    recovered: dict[Any, Any] | None = None,
) -> Assessment | ReleaseAssessment:  # fmt: skip
    """Assess files of which, unless `whole`, only the columns that are needed were read; see `assess`.

    `lean`: of a release only what verdicts and its own risks need, nothing of the original by itself and no utility.
    `gate`: only what a limit reads; nothing but the verdicts is to be shown.
    `soonest`: a measure of a release that is made first, and whether its results by intruder are enough; then the
    assessment has nothing else, and no verdict.
    `recovered`: what the search for what these files give back kept, and keeps; as of `Context`.
    """
    with job():
        arguments.column_or_none(id, "id")
        arguments.seed(seed)
        arguments.flag(attacks, "attacks")
        arguments.count(n_attacks, "n_attacks", "is how many attacks are made")
        chosen = plan.chosen_measures(measures)
        groups = arguments.names(by, "by", single=True) or ()
        if groups:  # looked for before any data is read
            arguments.present(groups, open_frame(data).collect_schema().names(), "by", argument="by")
        tell = step or (lambda _: None)
        if released is None:
            attacked = control is not None or attacks or n_attacks != N_ATTACKS or targets is not None
            if id is not None or seed is not None or models or attacked or recipe is not None or log is not None:
                raise ScenarioError(
                    "id=, models=, seed=, control=, attacks=, n_attacks=, targets=, recipe= and log= are for a release "
                    "against its original; give released="
                )
            if whole:
                check_insensitive(scenario, open_frame(data).collect_schema().names())
            only = plan.read_at_gate(scenario, compared=False, on_engine=is_lazy(open_frame(data))) if gate else None
            if not scenario.intruders:
                raise ScenarioError(KEYLESS)
            return _assess_file(data, scenario=scenario, measures=chosen, step=tell, by=groups, only=only)
        from sdckit.workflow.recoded_original.published_recodings import read_recodings

        drawn_rows.people_drawn(targets, groups, data.id if isinstance(data, Pair) else id)
        return assess_release(
            data, released, scenario=scenario, measures=chosen, by=groups, id=id, models=models, seed=seed,
            control=control, attacks=attacks, n_attacks=n_attacks, tell=tell, recodings=read_recodings(recipe, log),
            whole=whole, lean=lean, soonest=soonest, targets=targets, gate=gate, recovered=recovered,
        )  # fmt: skip


KEYLESS = (
    "no key of any intruder is left in the file, so that nothing is known by which somebody could be looked for in it: "
    "assess it beside its original"
)


def _assess_file(data: Any, **how: Any) -> Assessment:
    """Assess one file and raise its warnings; see `assess_in_turn`."""
    *_, whole = assess_in_turn(data, **how)
    for message in whole.warnings:
        warnings.warn(message, SdcWarning, stacklevel=4)
    return whole


def assess_in_turn(
    data: Any, *, scenario: Scenario, step: Step, measures: Sequence[str] = (), compared: bool = False,
    by: Sequence[str] = (), several: bool | None = None, early: bool = False, only: Collection[str] | None = None,
) -> Iterator[Assessment]:  # fmt: skip
    """Assess one file: the last assessment is whole.

    Where the file is searched for what it gives back by itself, which takes longer than all the rest, an assessment
    without it comes before if it is to be `early`: its limits are not judged there.

    `compared`: it is one of the files of a release, so subgroup columns `by` may be absent. `several`: whether a person
    has several rows, which a release without the number of the person does not tell. `only`: measures that are made,
    beside those without which there is no assessment; None for all.
    """
    frame = open_frame(data)
    present = frame.collect_schema().names()
    if several is None:
        several = _has_several_rows(frame, scenario)
    groups = tuple(by) if all(name in present for name in by) else ()
    told: dict[str, list[str]] = {"": unconfirmed_note(scenario)}
    with _heard(told, ""):
        plans = plan.plan_file(scenario, measures=measures, compared=compared, data=frame, tell=step, by=groups)
        unread = {name: plan.unread_of(planned, only) for name, planned in plans.items()}
        plans = {name: plan.chosen_of(planned, only) for name, planned in plans.items()}
    later = {name: [row for row in planned if row.row is ALONE] for name, planned in plans.items()}
    outcomes = {}
    for name, planned in plans.items():
        with _heard(told, name):
            planned[0].context.tell(f"tabulating the keys of {name}")
            _ = planned[0].context.cells  # what is wrong with the file is told here, not by the first measure
            outcomes[name] = plan.carry_out([row for row in planned if row.row is not ALONE])

    column_roles = None if compared else look_at_columns(scenario, [frame])
    beside = () if compared else written_apart(frame)

    def made(outcomes: Mapping[str, plan.Outcome]) -> Assessment:
        intruders = tuple(
            _against(name, planned[0].context, outcomes[name], frame, compared=compared, several=several)
            for name, planned in plans.items()
        )
        n = intruders[0]["key_frequencies"].n if intruders else count_records(frame)
        return Assessment(
            scenario=scenario, n=n, engine=frame.implementation.value,
            intruders=intruders, warnings=tuple(dict.fromkeys(text for texts in told.values() for text in texts)),
            version=__version__, date=date.today().isoformat(), measures=tuple(measures), by=groups,
            backend="pyarrow" if is_lazy(frame) else frame.implementation, column_roles=column_roles, beside=beside,
            stands_for=next((planned[0].context.cells.stand_for() for planned in plans.values()), None),
        )  # fmt: skip

    from sdckit import __version__

    if early and any(not row.lacks for rows in later.values() for row in rows):
        yield made({name: outcomes[name].with_others(plan.put_off(rows, NOT_YET)) for name, rows in later.items()})
    for name, rows in later.items():
        with _heard(told, name):
            outcomes[name] = outcomes[name].with_others(plan.carry_out(rows)).with_others(unread[name])
    yield made(outcomes)


@contextmanager
def _heard(told: dict[str, list[str]], name: str) -> Iterator[None]:
    """Add the distinct messages of `SdcWarning` that are raised meanwhile to those told of a name."""
    with warnings.catch_warnings(record=True, action="always", category=SdcWarning) as caught:
        yield
    told.setdefault(name, []).extend(str(w.message) for w in caught if issubclass(w.category, SdcWarning))


def _has_several_rows(frame: Any, scenario: Scenario) -> bool:
    """Whether a person has several rows, where the scenario says whose row it is."""
    person = scenario.person
    return person is not None and person in frame.collect_schema().names() and has_repeats(frame, person)


def unconfirmed_note(scenario: Scenario) -> list[str]:
    """A warning of guesses that nobody has confirmed; no figure depends on them."""
    if not scenario.unconfirmed:
        return []
    guessed = f"the scenario is a guess that is not confirmed: {unconfirmed_words(scenario)}"
    return [f"{guessed}. Figures and verdicts below are for exploring; check refuses it as a gate"]


def _against(
    name: str, context: Context, outcome: plan.Outcome, frame: Frame, *, compared: bool, several: bool
) -> IntruderAssessment:
    scenario = context.scenario
    verdicts = judge(
        scenario.limits, name, outcome.results, sensitive=scenario.sensitive, skipped=outcome.skipped, compared=compared
    )  # fmt: skip
    verdicts = of_single_rows(verdicts, scenario, compared=compared) if several else verdicts
    verdicts = left_open.answered(left_open.told_apart(verdicts, frame), outcome.results, scenario.missing_codes)
    verdicts = with_origins(verdicts, scenario)
    if not compared:
        verdicts += judge_alone(scenario, name, outcome.results, skipped=outcome.skipped)
        verdicts = left_open.counted_alone(verdicts, frame, outcome.results["key_frequencies"])
        verdicts = left_open.weighed(verdicts, context.cells)
    return IntruderAssessment(
        name, scenario.keys, outcome.results, verdicts, outcome.skipped, _key_facts(context.cells)
    )


def _key_facts(cells: Any) -> tuple[KeyFacts, ...]:
    facts = []
    for key, rule, gone in zip(cells.keys, cells.rules, cells.n_missing, strict=True):
        counts, n_levels, large = cells.level_counts(key)
        facts.append(KeyFacts(key, cells.kind(key), n_levels, tuple(counts), gone, large, rule))
    return tuple(facts)


# Assessing a release: the original, the releases, and the measures that compare them.


NAMED = 3  # columns named in a message
LEFT_OUT = "{column}: left out of the release, so it is no key of an intruder there"
WITHOUT = "{file} has no column {column!r} ({role}); its figures are those of a file without it"


def assess_release(
    original: Any, released: Any, *, scenario: Scenario, measures: Sequence[str], by: Sequence[str], id: str | None,
    models: Any, seed: int | None, control: Any, attacks: bool, n_attacks: int, tell: Step,
    recodings: Recodings | None, whole: bool, lean: bool, soonest: Soonest | None, targets: int | None, gate: bool,
    recovered: dict[Any, Any] | None,
) -> ReleaseAssessment:  # fmt: skip
    """Assess a release against its original; see `assess`.

    `recodings` are those of a recipe or a log. `whole`: the files have all of their columns. `lean`, `soonest`,
    `gate` and `recovered` as for `assess_read`.
    """
    tell("comparing the columns of the files")
    promise = None if recodings is None else recodings.promise
    opened = open_files(original, released, id=id)  # each file once, whatever is measured
    if whole:
        check_insensitive(scenario, sorted(opened_release.columns_of([opened.original, *opened.released])))
    control = None if control is None else open_frame(control)
    _check_synthetic(scenario, opened, recodings)
    every = scenario
    scenario, gone = left_of(scenario, recodings, opened_release.columns_of(opened.released), judged=True)
    attacked = bool(scenario.intruders) and (attacks or control is not None)
    files, attacked_files, aligned = opened_release.open_release(
        opened, control, scenario, recodings, by, attacked=attacked
    )
    pair, own_file = files.pair, opened_release.without_numbers(files.opened.original)
    columns = opened_release.in_every_file(pair)
    known: dict[str, Any] = {
        "n": pair.n, "sizes": pair.sizes, "columns": columns, "aligned": aligned, "pair": pair, "seed": seed,
        "tell": tell, "has_control": pair.control is not None, "by": tuple(by), "on_engine": stays_on_engines(pair),
        "named": pair.id is not None, "asked": targets, "lean": lean or gate,
        "recovered": recovered,
        "left_out": {name: tuple(key for key in keys if key in gone) for name, keys in every.intruders.items()},
    }  # fmt: skip
    if soonest is not None:
        alone = tuple(
            _measured(soonest[0], name, planned) for name, planned in plan.plan_release(scenario, **known).items()
        )
        if soonest[1]([intruder.get(soonest[0].name) for intruder in alone]):
            nothing = _unmeasured(own_file, scenario)
            return ReleaseAssessment(
                scenario=scenario, original=nothing, released=(), intruders=alone, warnings=(), version="", date=""
            )
    column_roles = look_at_columns(every, opened.released, id=id, original=opened.original)
    some = known["on_engine"] and draws_records(pair, scenario)
    only = _read_by_limits(
        scenario, drawn=some, left_out=bool(gone), told=gate and not known["on_engine"],
    ) if gate or lean else None  # fmt: skip
    going_out = opened_release.with_ledger_id(files, scenario, aligned=aligned)
    with warnings.catch_warnings(record=True, action="always", category=SdcWarning) as caught:
        several = _has_several_rows(own_file, scenario)
        one_file: dict[str, Any] = {"measures": measures, "step": tell, "compared": True, "by": by, "several": several}
        in_bands = [recoding.column for recoding in pair.recoded if IN_BANDS in recoding.kind]
        own = opened_release.with_bands(_of_original(scenario), in_bands)
        before, collected = _before(own_file, pair, own, one_file, lean=lean, gated=gate)
        fitted = [
            _fitted(
                opened_release.with_bands(scenario if file is released else scenario.keeping_back_id(), in_bands),
                file,
                label,
            )
            for released, file, label in zip(files.opened.released, going_out, pair.names[1:], strict=True)
        ]
        after = tuple(
            _assess_file(opened_release.without_numbers(file), scenario=own, only=only, **one_file)
            for file, (own, _) in zip(going_out, fitted, strict=True)
        )
        attempts = plan.Outcome({}, ())
        asked: plan.Asked | None = None
        if attacked:
            drawn = {**known, "pair": attacked_files.pair, "has_control": control is not None,
                     "named": pair.id is not None and attacked_files is not files}  # fmt: skip
            attempts, asked = _attacked(scenario, attacked_files, drawn, control, n_attacks=n_attacks)
        plans = plan.plan_release(as_numbers(scenario, pair), **known)
        if known["on_engine"] and any(_by_cells(planned, only) for planned in plans.values()):
            for file, measured in enumerate((before, *after)):
                for intruder in measured.intruders:
                    keep_rows(pair, file, getattr(intruder.get("key_frequencies"), "cells", None))
            opened_release.count_ahead(pair, scenario, by)
        intruders = left_open.counted_beside(
            released_intruders.compared_intruders(
                every, plans, before, after, attempts, asked, control=len(pair.control or ()), several=several,
                only=only, like=released_intruders.like_keyless(plans, as_numbers(scenario, pair), every, known),
            ), scenario, before, after, pair, opened, drawn=_are_drawn(scenario, recodings),
        )  # fmt: skip
        planned = () if lean else plan.plan_utility(scenario, models=families_of(models), **known)
        utility = plan.carry_out(planned) if only is None else plan.put_off(planned, plan.UNREAD)
        overview: Any = next(iter(utility.results.values()), None)
    recoding = [*(LEFT_OUT.format(column=name) for name in gone), *files.notes]
    messages = [*recoding, *(note for _, notes in fitted for note in notes)]
    messages += [str(w.message) for w in caught if issubclass(w.category, SdcWarning)]
    messages += [
        *opened_release.identical_keys(pair, scenario.all_keys, aligned=aligned),
        *opened_release.households_in_both(pair, scenario.household),
    ]
    distinct_messages = tuple(dict.fromkeys(messages))
    for message in (m for m in distinct_messages if recodings is None or not recodings.own or m not in recoding):
        warnings.warn(message, SdcWarning, stacklevel=4)
    return ReleaseAssessment(
        scenario=scenario, original=before, released=after, intruders=intruders, warnings=distinct_messages,
        version=before.version, date=date.today().isoformat(), aligned=aligned, id=id, measures=before.measures,
        utility=overview, no_utility="".join(reason for _, reason in utility.skipped),
        models=tuple(families_of(models).items()), attacks=attempts.results, attacks_skipped=attempts.skipped,
        attacks_asked=asked, control=control is not None, recoded=pair.recoded, by=tuple(by), collected=collected,
        recoding="" if recodings is None else recodings.source, column_roles=column_roles, promise=promise,
        targets=targets, declared=every if gone else None,
        beside=tuple(dict.fromkeys(text for file in opened.released for text in written_apart(file))),
    )  # fmt: skip


def _read_by_limits(scenario: Scenario, *, drawn: bool, left_out: bool, told: bool) -> frozenset[str]:
    """Measures that limits read, and what a release gives back, where it is asked for by l or keys were `left_out`.

    With values put back groups may have too few values, and whoever is told a key knows more than limits look at.
    """
    of_groups = scenario.sensitive and not drawn and scenario.limits_of(compared=True).l is not None
    read = plan.read_at_gate(scenario, compared=True, drawn=drawn, on_engine=not told)
    return read | ({RECOVERABLE.name} if of_groups or left_out else set())


def _by_cells(planned: Sequence[plan.Planned], only: Collection[str] | None) -> bool:
    """Whether a measure that will run takes cells that the engine counts."""
    return any(measure.row.of_plan == "cells" and not measure.lacks for measure in plan.chosen_of(planned, only))


def _check_synthetic(scenario: Scenario, opened: Pair, recodings: Recodings | None) -> None:
    """Raise where a release is called synthetic and an id, a recipe or a log says that its records are people's."""
    if scenario.release != SYNTHETIC:
        return
    reason = ""
    if opened.id is not None:
        reason = f"id={opened.id!r} says which record was made from which"
    elif recodings is not None:
        released = dict.fromkeys(name for frame in opened.released for name in frame.collect_schema().names())
        varying = [name for name in recodings.not_drawn([*released]) if _varies(opened.released, name)]
        if varying:
            some = ", ".join(varying[:NAMED]) + (f" and {len(varying) - NAMED} more" if len(varying) > NAMED else "")
            reason = f"the {recodings.source} does not synthesise {some} for all records"
    if reason:
        raise ScenarioError(
            f"{reason}: this is not {a_release(SYNTHETIC)}; name another type of release, such as public-use",
            argument="release",
        )


def _are_drawn(scenario: Scenario, recodings: Recodings | None) -> bool:
    """Whether a key is made up for all records: nobody stands behind one, and files differ by what was drawn."""
    keys = scenario.all_keys
    return scenario.release == SYNTHETIC or (recodings is not None and len(recodings.not_drawn(keys)) < len(keys))


def _varies(files: Sequence[Any], name: str) -> bool:
    """Whether a column has more than one value in a file; of a lazy frame, which is not read here, it counts as so."""
    return any(
        is_lazy(frame) or int(frame.get_column(name).n_unique()) > 1
        for frame in files
        if name in frame.collect_schema().names()
    )


def _attacked(
    scenario: Scenario, files: open_recoded.Opened, known: dict[str, Any], control: Any, *, n_attacks: int
) -> tuple[plan.Outcome, plan.Asked]:
    """Attack the release with the columns declared; beside a control file also with every column that goes out."""
    first, *others = (frame.collect_schema().names() for frame in files.brought.frames)
    people = None if control is None else open_frame(control).collect_schema().names()
    pair: Pair = known["pair"]
    columns = plan.attacked_columns(scenario, first, others, people, id=pair.id)
    scenario = as_numbers(scenario, pair)
    knowledge = plan.declared_knowledge(scenario, columns.declared, n_attacks=n_attacks)
    made = plan.carry_out(plan.plan_attacks(scenario, knowledge, **known))
    if columns.every:
        again = plan.attack_every_column(scenario, columns.every, files.again, n_attacks=n_attacks, **known)
        made = made.with_others(again)
    n_columns = None if pair.brought else len(pair.original.columns)
    return made, plan.attack_parameters(
        knowledge, made.places, n_columns=n_columns, seed=known["seed"], columns=columns,
        n_drawn=Context(scenario=scenario, **known).n_drawn,
    )  # fmt: skip


def _measured(row: Measure, name: str, planned: Sequence[plan.Planned]) -> IntruderAssessment:
    """The results of one measure against one intruder, without any verdict."""
    outcome = plan.carry_out([measure for measure in planned if measure.row is row])
    return IntruderAssessment(name, planned[0].context.scenario.keys, outcome.results, (), outcome.skipped)


def _before(
    original: Any, pair: Pair, scenario: Scenario, how: dict[str, Any], *, lean: bool, gated: bool
) -> tuple[Assessment, dict[str, Collected]]:
    """The assessment of the original by itself; at a gate it says what is wrong with the file and measures no more."""
    if lean:
        return _unmeasured(original, scenario), {}
    if gated:
        return _assess_file(original, scenario=scenario.model_copy(update={"sensitive": ()}), only=(), **how), {}
    return _assess_file(original, scenario=scenario, **how), _collected(pair, scenario)


def _unmeasured(original: Any, scenario: Scenario) -> Assessment:
    """The assessment of an original of which nothing was measured, and nothing is told."""
    intruders = tuple(IntruderAssessment(name, keys, {}, (), ()) for name, keys in scenario.intruders.items())
    n = 0 if is_lazy(original) else len(original)
    return Assessment(scenario=scenario, n=n, engine="", intruders=intruders, warnings=(), version="", date="")


def _of_original(scenario: Scenario) -> Scenario:
    """The scenario without its ledger and the ledger's limits, since the original itself is not released."""
    of_ledger = {name for name, kind in declarable().items() if kind.scope == "ledger"}
    if scenario.ledger is None and not scenario.limits_of(compared=True).declared.keys() & of_ledger:
        return scenario
    limits = scenario.thresholds.model_copy(update=dict.fromkeys(of_ledger))
    office = {
        name: {limit: value for limit, value in of_type.items() if limit not in of_ledger}
        for name, of_type in scenario.release_types.items()
    }
    return scenario.changed(ledger=None, thresholds=limits, release_types=office)


def _collected(pair: Pair, scenario: Scenario) -> dict[str, Collected]:
    """Records in small groups of the original as it was collected, where a key was recoded like the release."""
    if not any(recoding.column in scenario.all_keys for recoding in pair.recoded):
        return {}
    k, counts = drawn_size(scenario.limits.k), {}
    for name in scenario.intruders:
        with warnings.catch_warnings(action="ignore", category=SdcWarning):  # many values: it was recoded since
            cells = Context(scenario=scenario.intruder(name), data=pair.raw).cells
        (below,) = cells.values("sample_frequency").count_below([k])
        counts[name] = Collected(k, int(below), str(cells.rule))
    return counts


def _fitted(scenario: Scenario, released: Any, label: str) -> tuple[Scenario, list[str]]:
    """The scenario narrowed to the columns of a release, and a note for each absent weight, household or person."""
    present = released.collect_schema().names()
    notes = [
        WITHOUT.format(file=label, column=column, role=role)
        for role in SINGLE
        if (column := getattr(scenario, role)) is not None and column not in present
    ]
    return scenario.narrowed(present), notes
