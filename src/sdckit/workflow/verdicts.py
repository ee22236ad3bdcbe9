"""Thresholds against figures: what holds, what does not, and what could not be judged."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sdckit.attacks.attack_rates import OVERLAP, concerns, control_state_of
from sdckit.data.scenarios.release_types import limits_in_force
from sdckit.report.chapters.sentences import both_rules
from sdckit.report.gate.protect import overall

if TYPE_CHECKING:
    from sdckit.attacks.recovery.recoverable_values import RecoverableValues
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.data.scenarios.thresholds import Thresholds

HOLDS = {
    "k": "every record is in a group of at least {limit:,g} with the same keys (k = {limit:,g})",
    "risk": "no record has a risk of re-identification above {limit:g}",
    "household_risk": "no record has a household risk above {limit:g}",
    "household_uniques": "{percent} of the households are alone with their composition, not above {limit:g}",
    "global_risk": "the expected share of records re-identified is {value:.3g}, not above {limit:g}",
    "l": "every group with the same keys holds at least {limit:,g} different values of {variable}",
    "match_risk": "{value:.3g} of the records are expected to be matched back, not above {limit:g}",
    "replicated_uniques": "{value:.3g} of the records are unique in both files, not above {limit:g}",
    "correctly_disclosed": "{variable} is disclosed correctly for {value:.3g} of the records, not above {limit:g}",
    "residual_risk": "the largest residual risk of the simulated attacks is {value:.3g}, not above {limit:g}",
    "recoverable": "at most {percent} of the changed values of a column are given back, not above {limit:g}",
    "differencing": "of {percent} of the records something is given away together with earlier releases, not above "
    "{limit:g}",
    "joint_recoverable": "at most {percent} of the hidden values of a column are given back by release and published "
    "tables, not above {limit:g}",
    "k_undone": "with what the release gives back, every record is in a group of at least {limit:,g} (k = {limit:,g})",
    "risk_undone": "with what the release gives back, no record has a risk of re-identification above {limit:g}",
}
EXCEEDED = {
    "k": "{records} {are} in {group} of fewer than {limit:,g} with the same keys (k = {limit:,g})",
    "risk": "{records} {have} a risk of re-identification above {limit:g}",
    "household_risk": "{records} {have} a household risk above {limit:g}",
    "household_uniques": "{percent} of the households are alone with their composition, above {limit:g}",
    "global_risk": "the expected share of records re-identified is {value:.3g}, above {limit:g}",
    "l": "{records} {are} in {group} with fewer than {limit:,g} different values of {variable}",
    "match_risk": "{value:.3g} of the records are expected to be matched back, above {limit:g}",
    "replicated_uniques": "{value:.3g} of the records are unique in both files, above {limit:g}",
    "correctly_disclosed": "{variable} is disclosed correctly for {value:.3g} of the records, above {limit:g}",
    "residual_risk": "the largest residual risk of the simulated attacks is {value:.3g}, above {limit:g}",
    "recoverable": "{percent} of the changed values of {variable} are given back{because}, above {limit:g}",
    "differencing": "of {percent} of the records something is given away together with earlier releases, above "
    "{limit:g}",
    "joint_recoverable": "{percent} of the hidden values of a column are given back by release and published tables, "
    "above {limit:g}",
    "k_undone": "with what the release gives back{because}, {records} {are} in {group} of fewer than {limit:,g} with "
    "the same keys (k = {limit:,g})",
    "risk_undone": "with what the release gives back{because}, {records} {have} a risk of re-identification above "
    "{limit:g}",
}
# Judged on a release beside its original.
COMPARED = (
    "match_risk", "replicated_uniques", "correctly_disclosed", "residual_risk", "recoverable", "joint_recoverable",
)  # fmt: skip
DIVERSITY = "l_diversity"
RECOVERABLE = "recoverable_values"
DIFFERENCING = "differencing"
HOUSEHOLDS = "household_structure"
NO_HOUSEHOLD = "the scenario names no household column"
NO_CONTROL = "there is no control file: what succeeds on the people in the file may succeed on anybody"
NOT_MADE = "not every attack could be made: {}"
NO_FIGURE = "its figure is undefined in a release"
NO_ATTACK = "no attack with a residual risk could be made"
NOT_INTERSECTED = (
    "nothing says which records of {} are the same person's as here, so what the releases make certain together was "
    "not looked for; give an id, when a release is added and when it is checked, or the earlier files"
)
NO_LEDGER = "the scenario names no ledger of earlier releases"
ONE_FILE = "it compares a release with its original, and only one file is given"


@dataclass(frozen=True)
class Verdict:
    """One threshold against one intruder.

    Attributes
    ----------
    name : str
        "k", "risk", "household_risk", "household_uniques", "global_risk", "l", "differencing", or, of a release
        beside its original, "match_risk", "replicated_uniques", "correctly_disclosed", "residual_risk", "recoverable",
        "joint_recoverable", and "k_undone" and "risk_undone": the limits k and risk on the release with what it
        gives back put back.
    intruder : str
    variable : str or None
        The sensitive variable of the threshold l or correctly_disclosed; the column of recoverable.
    limit : float
        The threshold.
    holds : bool or None
        None where it could not be judged, for the `reason`.
    n_records : int or None
        Records beyond the limit, where that is a number of records.
    value : float or None
        The figure compared, where it is one figure.
    because : str
        What gives values back, in words.
    n_category, n_resting : int or None
        For k where missing key values stand for any value: the records below k when they are a category, and
        those that reach k only through other records' missing values.
    origin : str
        Where the limit comes from, in words; empty where the scenario names no type of release.
    """

    name: str
    intruder: str
    variable: str | None
    limit: float
    holds: bool | None
    n_records: int | None
    value: float | None
    reason: str
    because: str = ""
    n_category: int | None = None
    n_resting: int | None = None
    origin: str = ""

    @property
    def word(self) -> str:
        """One of "holds", "exceeded" and "not judged"."""
        return "not judged" if self.holds is None else "holds" if self.holds else "exceeded"

    @property
    def sentence(self) -> str:
        """What was found, in plain words with exact figures."""
        return self._said() + (f"; {self.origin}" if self.origin else "")

    def _said(self) -> str:
        if self.holds is None:
            return f"{self.name} = {self.limit:g}: {self.reason}"
        n = self.n_records or 0
        said = (HOLDS if self.holds else EXCEEDED)[self.name].format(
            limit=self.limit, value=0.0 if self.value is None else self.value, variable=self.variable,
            records=f"{n:,} record{'s' if n != 1 else ''}", are="are" if n != 1 else "is",
            group="groups" if n != 1 else "a group", have="have" if n != 1 else "has",
            percent=f"{100 * (self.value or 0.0):.3g} %", because=f" (told by {self.because})" if self.because else "",
        )  # fmt: skip
        if self.n_category is None:
            return said
        return said + both_rules(
            f"{self.n_resting or 0:,}", f"{self.n_category:,}", self.limit, holds=self.holds
        )


def all_hold(verdicts: Iterable[Verdict]) -> bool | None:
    """Whether every verdict holds; None where there is none, or one could not be judged."""
    return overall(verdict.holds for verdict in verdicts)


def _by_count(name: str, intruder: str, limit: float, beyond: int, variable: str | None = None) -> Verdict:
    return Verdict(name, intruder, variable, limit, beyond == 0, beyond, None, "")


def _with_both_rules(one: Verdict, results: Mapping[str, Any]) -> Verdict:
    """A verdict on k that says what it would be if a missing value were a category."""
    category = results.get("k_anonymity:category")
    if category is None:
        return one
    k = int(one.limit)
    resting = results["k_anonymity"].resting_on_missing[k]
    return replace(one, n_category=category.violations[k], n_resting=resting)


def _unjudged(name: str, intruder: str, limit: float, reason: str, variable: str | None = None) -> Verdict:
    return Verdict(name, intruder, variable, limit, None, None, None, reason)


def judge(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, sensitive: Sequence[str],
    skipped: Sequence[tuple[str, str]], compared: bool = False,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare every declared threshold of one file with its figure.

    Results come by place, `skipped` as (measure, reason). Where the original stands beside the file (`compared`),
    limits that compare the two are left to `judge_release`; otherwise they could not be judged.
    """
    found: list[Verdict] = []
    risk = results["individual_risk"]
    if thresholds.k is not None:
        beyond = results["k_anonymity"].violations[thresholds.k]
        found.append(_by_count("k", intruder, thresholds.k, beyond))
        found[-1] = _with_both_rules(found[-1], results)
    if thresholds.risk is not None:
        found.append(_by_count("risk", intruder, thresholds.risk, risk.count_above(thresholds.risk)))
    if thresholds.global_risk is not None:
        limit, value = thresholds.global_risk, risk.global_risk
        found.append(Verdict("global_risk", intruder, None, limit, value <= limit, None, value, ""))
    if thresholds.household_risk is not None:
        limit = thresholds.household_risk
        found.append(
            _by_count("household_risk", intruder, limit, risk.count_households_above(limit))
            if risk.has_household
            else _unjudged("household_risk", intruder, limit, NO_HOUSEHOLD)
        )
    if thresholds.household_uniques is not None:
        limit = thresholds.household_uniques
        found.append(_judge_compositions(limit, intruder, results.get(HOUSEHOLDS), dict(skipped)))
    if thresholds.l is not None:
        because = "; ".join(reason for measure, reason in skipped if measure == DIVERSITY)
        found += _judge_l(thresholds.l, intruder, results.get(DIVERSITY), sensitive, because)
    if thresholds.differencing is not None:
        found.append(
            judge_differencing(thresholds.differencing, intruder, results.get(DIFFERENCING), dict(skipped))
        )
    if not compared:
        limits = ((name, getattr(thresholds, name)) for name in COMPARED)
        found += [_unjudged(name, intruder, limit, ONE_FILE) for name, limit in limits if limit is not None]
    return tuple(found)


def judge_release(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, sensitive: Sequence[str],
    skipped: Sequence[tuple[str, str]],
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare every threshold on a release beside its original with the worst of the releases.

    Results come by the name of the measure, with the variable after a colon where it has one.
    """
    reasons = dict(skipped)
    found: list[Verdict] = []
    for name, (figure, measure_name) in RELEASE_FIGURES.items():
        limit = getattr(thresholds, name)
        if limit is None:
            continue
        per_variable = name == "correctly_disclosed"
        variables: Sequence[str | None] = sensitive if per_variable and sensitive else (None,)
        for variable in variables:
            place = f"{measure_name}:{variable}" if variable else measure_name
            result = results.get(place)
            if result is None:
                reason = reasons.get(place, reasons.get(measure_name, "its measure did not run"))
                found.append(_unjudged(name, intruder, limit, reason, variable))
                continue
            values = [one[figure] for one in result.per_release]
            if any(map(math.isnan, values)):
                found.append(_unjudged(name, intruder, limit, NO_FIGURE, variable))
                continue
            value = max(values)
            found.append(Verdict(name, intruder, variable, limit, value <= limit, None, value, ""))
    return tuple(found)


def judge_undone(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, skipped: Sequence[tuple[str, str]]
) -> tuple[Verdict, ...]:
    """Hold the limits k and risk, and that on what is given back, against the release with that put back.

    Where nothing is given back, k and risk are those of the release as it is, and not judged again. `skipped` says why
    there is no result.
    """
    limits = {"recoverable": thresholds.recoverable, "k_undone": thresholds.k, "risk_undone": thresholds.risk}
    declared = {name: limit for name, limit in limits.items() if limit is not None}
    result: RecoverableValues | None = results.get(RECOVERABLE)
    if result is None:
        because = dict(skipped).get(RECOVERABLE, "its measure did not run")
        return tuple(_unjudged(name, intruder, limit, because) for name, limit in declared.items())
    found: list[Verdict] = []
    if thresholds.recoverable is not None:
        found.append(_judge_recoverable(thresholds.recoverable, intruder, result))
    because = result.told_by
    if because and thresholds.k is not None:
        beyond = max(one[thresholds.k] for one in result.below_k)
        found.append(replace(_by_count("k_undone", intruder, thresholds.k, beyond), because=because))
    if because and thresholds.risk is not None:
        beyond = max(one or 0 for one in result.above_risk)
        found.append(replace(_by_count("risk_undone", intruder, thresholds.risk, beyond), because=because))
    return tuple(found)


def _judge_recoverable(limit: float, intruder: str, result: RecoverableValues) -> Verdict:
    worst = max((one for some in result.columns for one in some), key=lambda one: one.share, default=None)
    value = 0.0 if worst is None else worst.share
    beyond = value > limit
    variable = worst.column if worst is not None and beyond else None
    because = worst.told_by if worst is not None and beyond else ""
    return Verdict("recoverable", intruder, variable, limit, not beyond, None, value, "", because)


def judge_attacks(
    limit: float | None, intruder: str, attacks: Mapping[str, Any], *, intruders: Collection[str],
    failed: Sequence[str], control: bool,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare the threshold on the residual risk with the worst attack: its estimate, not the end of its interval.

    It fails closed: one attack that could not be made, or people of the file among those of the control, leave
    it open.

    Attacks that need no intruder count for each; one that names another of the `intruders` does not count.
    `failed` are the places of the attacks with a residual risk that were tried in vain.
    """
    if limit is None:
        return ()
    if not control:
        return (_unjudged("residual_risk", intruder, limit, NO_CONTROL),)
    own = {place: result for place, result in attacks.items() if concerns(place, intruder, intruders)}
    lost = [place for place in failed if concerns(place, intruder, intruders)]
    if lost:
        return (_unjudged("residual_risk", intruder, limit, NOT_MADE.format(", ".join(lost))),)
    with_risk = [result for result in own.values() if "risk" in result.per_release[0]]
    if any(control_state_of(result) == "overlapping" for result in with_risk):
        return (_unjudged("residual_risk", intruder, limit, OVERLAP),)
    risks = [
        risk for result in with_risk for one in result.per_release if not math.isnan(risk := one["risk"])
    ]
    if not risks:
        return (_unjudged("residual_risk", intruder, limit, NO_ATTACK),)
    value = max(risks)
    return (Verdict("residual_risk", intruder, None, limit, value <= limit, None, value, ""),)


def _judge_compositions(limit: float, intruder: str, result: Any, skipped: Mapping[str, str]) -> Verdict:
    """Hold a limit against the share of the households alone with their size and members."""
    if result is None:
        return _unjudged("household_uniques", intruder, limit, skipped.get(HOUSEHOLDS, NO_HOUSEHOLD))
    value = result.unique_compositions / result.n_households
    return Verdict("household_uniques", intruder, None, limit, value <= limit, None, value, "")


def judge_differencing(limit: float, intruder: str, result: Any, skipped: Mapping[str, str]) -> Verdict:
    """Hold a limit against what a release gives away with earlier ones; open where not everything was looked for."""
    if result is None:
        return _unjudged("differencing", intruder, limit, skipped.get(DIFFERENCING, NO_LEDGER))
    value = result.differencing
    if value <= limit and result.not_intersected:  # what was not looked for may be beyond it
        return _unjudged(
            "differencing", intruder, limit, NOT_INTERSECTED.format(", ".join(result.not_intersected))
        )
    return Verdict("differencing", intruder, None, limit, value <= limit, None, value, "")


# Threshold: the figure it limits (a share of the records), and the measure that gives it.
RELEASE_FIGURES = {
    "match_risk": ("mean_match_risk", "matching_risk"),
    "replicated_uniques": ("replicated_uniques", "identity_disclosure"),
    "correctly_disclosed": ("correctly_disclosed", "attribute_disclosure"),
    "joint_recoverable": ("joint_recoverable", "joint_audit"),
}


def _judge_l(limit: int, intruder: str, result: Any, sensitive: Sequence[str], because: str) -> list[Verdict]:
    if result is None:
        names: Sequence[str | None] = sensitive or (None,)
        return [_unjudged("l", intruder, limit, because, name) for name in names]
    return [
        _by_count("l", intruder, limit, result.violations[name]["distinct"][limit], name)
        if name in result.variables
        else _unjudged("l", intruder, limit, because, name)
        for name in sensitive
    ]


# Where the limit of each verdict comes from: the scenario, its type of release, or an office.


UNDONE = "_undone"  # k and risk are judged again on a release with what it gives back put back


def with_origins(
    verdicts: Iterable[Verdict], scenario: Scenario, *, compared: bool = False
) -> tuple[Verdict, ...]:
    """Write into each verdict where its limit comes from; nothing where no type of release is named."""
    if scenario.release is None:
        return tuple(verdicts)
    limits = limits_in_force(scenario, compared=compared)
    words = {name: limit.words(scenario.release) for name, limit in limits.items()}
    return tuple(replace(one, origin=words.get(one.name.removesuffix(UNDONE), "")) for one in verdicts)
