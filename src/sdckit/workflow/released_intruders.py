"""Measures and verdicts of a release beside its original by intruder, also of those none of whose keys it has.

Of an intruder all of whose keys were left out only what the release tells of these is left: its limits hold where
nothing tells them, are held against what is told, and are open where nobody looked or no measure judges it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sdckit.catalogue import measure
from sdckit.catalogue.attacks import DIFFERENCING, NOT_LOOKED_FOR, RECOVERABLE
from sdckit.data.limits import LIMITS, LimitKind
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow import verdicts as judging
from sdckit.workflow.assessment import Assessment, IntruderAssessment
from sdckit.workflow.plan import Asked, Outcome, Planned, carry_out_chosen, plan_release

KEYS = {"keys", "known"}  # what measures need that are about them
KEY_TOLD = "keys that were left out are told all the same (rule: {}): leave that out, too"
TWICE = {kind.of for kind in LIMITS.values() if kind.judged == "undone"}  # on the release, and with values put back


def compared_intruders(
    declared: Scenario, plans: Mapping[str, Sequence[Planned]], before: Assessment, after: Sequence[Assessment],
    attacked: Outcome, asked: Asked | None, *, control: int, several: bool, only: Collection[str] | None = None,
    like: Sequence[Planned],
) -> tuple[IntruderAssessment, ...]:  # fmt: skip
    """The measures of two files against every intruder of the `declared` scenario, with every verdict of the release.

    Those with a plan come first; the others have no key in the release: of a plan `like` theirs they have what is
    measured without keys.
    """
    how: dict[str, Any] = {"control": control, "several": several, "only": only}
    return (
        *(_compared(name, planned, before, after, attacked, asked, **how) for name, planned in plans.items()),
        *_without_keys(declared, plans, like, after, attacked, asked, **how),
    )


def _compared(
    name: str, planned: Sequence[Planned], before: Assessment, after: Sequence[Assessment], attacked: Outcome,
    asked: Asked | None, *, control: int, several: bool, only: Collection[str] | None = None,
) -> IntruderAssessment:  # fmt: skip
    """The measures of two files against one intruder, and every verdict of the release: of several the worst."""
    scenario = planned[0].context.scenario
    outcome = carry_out_chosen(planned, only)
    lost = judging.of_lost_variables(scenario, name, after, outcome)
    replaced = {verdict.name for verdict in lost}
    worst = judging.worst_of([_of_its_columns(assessment, name, after) for assessment in after])
    worst = judging.with_values_put_back(worst, outcome.results)
    if scenario.household is not None:  # which the scenario of a release without it does not name
        gone = f"{judging.HOUSEHOLD_GONE}; let it go out with new numbers, or leave this limit out"
        worst = [
            replace(verdict, reason=gone) if verdict.reason == judging.NO_HOUSEHOLD else verdict for verdict in worst
        ]
    limits = scenario.limits_of(compared=True)
    verdicts: tuple[judging.Verdict, ...] = (
        *(verdict for verdict in worst if verdict.variable is not None or verdict.name not in replaced), *lost,
        *judging.without_households(scenario, name, after), *_judged_beside(limits, name, scenario, outcome),
        *_of_attacks(limits, name, list(before), attacked, asked, control=control),
    )  # fmt: skip
    verdicts = _with_keys_told(verdicts, planned[0].context.left_out.get(name, ()), outcome)
    verdicts = judging.of_single_rows(verdicts, scenario) if several else verdicts
    verdicts = judging.with_origins(verdicts, scenario, compared=True)
    return IntruderAssessment(name, before[name].keys, outcome.results, verdicts, outcome.skipped)


def _judged_beside(limits: Thresholds, name: str, scenario: Scenario, outcome: Outcome) -> list[judging.Verdict]:
    """Verdicts on a release beside its original, and with what can be undone in it undone, that were asked for."""
    results, skipped = outcome.results, outcome.skipped
    every = (
        *judging.judge_release(limits, name, results, sensitive=scenario.sensitive, skipped=skipped),
        *judging.judge_undone(limits, name, results, skipped=skipped),
    )
    return [verdict for verdict in every if not judging.is_unasked(verdict.name, scenario, results)]


def _with_keys_told(
    verdicts: tuple[judging.Verdict, ...], gone: Sequence[str], outcome: Outcome
) -> tuple[judging.Verdict, ...]:
    """Verdicts on keys, open where they hold without the keys that are `gone` and the release tells one of these.

    Limits that are held against the release with values put back as well are judged there, and l with its groups.
    """
    reason = _told_or_unknown(gone, outcome, KEY_TOLD) if gone else ""
    result: Any = outcome.results.get(RECOVERABLE.name)
    told = result is not None and bool(result.telling(gone))
    again = {LIMITS[verdict.name].of for verdict in verdicts if LIMITS[verdict.name].judged == "undone"}

    def is_open(kind: LimitKind) -> bool:
        return _is_about_keys(kind) and kind.name not in again and not (told and kind.judged == "groups")

    return tuple(
        replace(verdict, holds=None, n_records=None, value=None, reason=reason)
        if reason and verdict.holds and is_open(LIMITS[verdict.name])
        else verdict
        for verdict in verdicts
    )


def _is_about_keys(kind: LimitKind) -> bool:
    """Whether a limit is held against figures by keys, and not against an attack or what is given back."""
    if not kind.measure or kind.judged in ("attacks", "undone"):
        return False
    row = measure(kind.measure)
    return row.room != RECOVERABLE.room and not KEYS.isdisjoint(row.needs)


def _told_or_unknown(keys: Sequence[str], outcome: Outcome, words: str) -> str:
    """Why keys that were left out may be known all the same: by what they are told, or since nobody looked; else ""."""
    result: Any = outcome.results.get(RECOVERABLE.name)
    if told := "" if result is None else result.telling(keys):
        return words.format(told)
    return judging.not_looked_for(result, outcome.skipped) or getattr(result, "notes", {}).get(NOT_LOOKED_FOR, "")


def _of_its_columns(own: Assessment, name: str, after: Sequence[Assessment]) -> list[judging.Verdict]:
    """Verdicts of a release, but for those open for want of a column that another release has: it has nothing of it."""
    roles = [role for role in ("sensitive", "household") if not getattr(own.scenario, role)]
    lacking = {role for role in roles if any(getattr(other.scenario, role) for other in after)}
    return [
        verdict
        for verdict in own[name].verdicts
        if verdict.holds is not None or LIMITS[verdict.name].needs not in lacking
    ]


def _of_attacks(
    limits: Thresholds, name: str, intruders: Sequence[str], attacked: Outcome, asked: Asked | None, *, control: int
) -> list[judging.Verdict]:
    return [
        verdict
        for kind in judging.ON_ATTACKS
        for verdict in judging.judge_attacks(
            getattr(limits, kind.name), name, attacked.results, intruders=intruders, failed=attacked.failed,
            control=control, asked=asked, kind=kind,
        )
    ]  # fmt: skip


# Intruders all of whose keys were left out.


KEYLESS = "all keys of this intruder were left out of the release"
UNTOLD = f"{KEYLESS}, and no column that goes out tells them"
TOLD_OF = f"{KEYLESS}, and what it tells of them all the same is judged by itself"
STILL_TOLD = f"{KEYLESS}, but they are told all the same (rule: {{}}): leave that out, too"
NOT_HELD_AGAINST = (
    f"{KEYLESS}, so that it was not held against earlier releases for this intruder, who may find people there; keep "
    "one of the keys in the release, coarser if need be"
)
LINKED = next(kind for kind in LIMITS.values() if kind.judged == "linked")


def like_keyless(
    plans: Mapping[str, Sequence[Planned]], scenario: Scenario, declared: Scenario, known: Mapping[str, Any]
) -> Sequence[Planned]:
    """The first plan, or one without keys where no intruder of the `declared` scenario has a key left."""
    if not plans:
        nobody = scenario.model_copy(update={"intruders": {next(iter(declared.intruders)): ()}})
        plans = plan_release(nobody, **known)
    return next(iter(plans.values()))


def _without_keys(
    declared: Scenario, plans: Mapping[str, Sequence[Planned]], planned: Sequence[Planned],
    after: Sequence[Assessment], attacked: Outcome, asked: Asked | None, *, control: int, several: bool,
    only: Collection[str] | None = None,
) -> Iterator[IntruderAssessment]:  # fmt: skip
    """Of each intruder of the `declared` scenario without a plan: what the release tells of the keys, and verdicts."""
    first = next(iter(plans), None)
    for name, keys in declared.intruders.items():
        if name in plans:
            continue
        scenario = planned[0].context.scenario
        missing = scenario.missing if isinstance(scenario.missing, str) else "wildcard"
        own = scenario.model_copy(update={"intruders": {name: ()}, "missing": missing})
        again = [
            replace(measure, context=replace(measure.context, scenario=own))
            for measure in planned
            if measure.row.room == RECOVERABLE.room or measure.row.once or KEYS.isdisjoint(measure.row.needs)
        ]
        outcome = carry_out_chosen(again, only)
        made = {measure.row.name for measure in again}
        limits = scenario.limits_of(compared=True)
        judged = _judged_beside(limits, name, own, outcome)
        verdicts = [
            *_of_its_keys(own, name, keys, outcome, made, earlier=_have_earlier(after, first)),
            *(verdict for verdict in judged if LIMITS[verdict.name].measure in made),
        ]
        if several:
            verdicts = [one for verdict in verdicts for one in _of_rows(verdict, own)]
        verdicts += _of_attacks(limits, name, list(plans), attacked, asked, control=control)
        yield IntruderAssessment(
            name, keys, outcome.results, judging.with_origins(verdicts, own, compared=True), outcome.skipped
        )


def _of_rows(verdict: judging.Verdict, scenario: Scenario) -> tuple[judging.Verdict, ...]:
    return (verdict,) if verdict.keyless else judging.of_single_rows([verdict], scenario)


def _have_earlier(after: Sequence[Assessment], name: str | None) -> bool:
    """Whether earlier releases were there to be held against the release, or nobody knows."""
    if name is None:
        return any(assessment.scenario.ledger is not None for assessment in after)
    places = [assessment[name] for assessment in after if assessment.scenario.ledger is not None]
    results = [place.get(DIFFERENCING.name) for place in places]
    return any(result is None or bool(result.entries) for result in results)


def _of_its_keys(
    scenario: Scenario, name: str, keys: Sequence[str], outcome: Outcome, made: Collection[str], *, earlier: bool
) -> Iterator[judging.Verdict]:
    """Verdicts on the limits that are about keys; those of measures `made` without keys are judged as ever."""
    result: Any = outcome.results.get(RECOVERABLE.name)
    told = result is not None and bool(result.telling(keys))
    unknown = _told_or_unknown(keys, outcome, STILL_TOLD)
    declared = scenario.limits_of(compared=True).declared
    if earlier and LINKED.of in declared:
        yield judging.Verdict(LINKED.name, name, None, declared[LINKED.of], None, None, None, NOT_HELD_AGAINST)
    for limited, limit in declared.items():
        kind = LIMITS[limited]
        if kind.measure in made or kind.judged == "attacks":
            continue
        variables: Sequence[str | None] = (scenario.sensitive if kind.per_variable else ()) or (None,)
        for variable in variables:
            reason, keyless = unknown, UNTOLD if result is not None else KEYLESS
            if told and limited in TWICE:
                reason, keyless = "", TOLD_OF
            elif told and kind.judged == "groups":
                reason = judging.broken_by(result, variable or "", judging.THEN_TOO_FEW)
                keyless = "" if variable in result.put_back else judging.NOT_RELEASED
            if kind.judged == "ledger" and earlier:
                reason = NOT_HELD_AGAINST
            if reason:
                yield judging.Verdict(limited, name, variable, limit, None, None, None, reason)
            else:
                yield judging.Verdict(limited, name, variable, limit, True, 0, None, "", keyless=keyless)
