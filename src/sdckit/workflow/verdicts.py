"""Verdicts: compare every threshold with its measured figure; it holds, is exceeded, or cannot be judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sdckit.attacks.attack_rates import OVERLAP, concerns, control_state_of
from sdckit.catalogue.attacks import NOT_LOOKED_FOR, NOTHING_TAKEN, RECOVERABLE
from sdckit.data.drawn_rows import SAMPLED
from sdckit.data.limits import FOLLOWING, LIMITS, SCOPES, LimitKind, figure_beside, limit_percent
from sdckit.data.scenarios import thresholds as named_limits
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.numerics.intervals import wilson
from sdckit.report.chapters.sentences import COVERS, EARLIER, beside_words, both_rules, spaced

if TYPE_CHECKING:
    from sdckit.data.scenarios.column_roles import ColumnRoles
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.plan import Asked, Outcome

NO_HOUSEHOLD = "the scenario names no household column"
HOUSEHOLD_GONE = "the release does not have the household column"
ON_ATTACKS = [kind for kind in LIMITS.values() if kind.judged == "attacks"]
ON_RISK = ON_ATTACKS[0]  # of every attack
BESIDE, ROLES = (next(name for name, kind in LIMITS.items() if kind.judged == how) for how in ("beside", "roles"))
NOT_LOOKED_AT = "the columns that go out were not looked at"
NO_CONTROL = "no people were kept aside (no control file): what succeeds on those in the file may succeed on anybody"
LEAST_CONTROL = 50  # the rate of an attack on fewer people is known to no better than 14 points of a hundred
TOO_FEW = f"too few people were kept aside: {{}}, and chance among fewer than {LEAST_CONTROL} is not known well enough"
NOT_MADE = "not every attack could be made: {}"
UPPER_END = "risk_high"
LOWER_END = " (of records drawn: the lower end of the interval)"
AMONG_DRAWN = "(among records drawn)"
DRAWN_ONLY = "what is given back was looked for in records drawn by their id, which tells nothing of the others"
OF_DRAWN = " (people drawn: the upper end of the interval)"
NOT_COMPARED = "the original, or another release, lacks columns that go out, which were not compared: {}"
NOT_HELD = "edit rules that could not be held against the files: {}"
UNSEEN = (
    "values of {} were taken out, and not every value shown there is the original's, so what the tables give back of "
    "them was not looked at"
)
NO_FIGURE = "its figure is undefined in a release"
LACKING = "the control file lacks columns that go out, with which no attack could be made: {}"
NO_VERDICT = "its measure gave no verdict"
NO_ATTACK = "no attack with a residual risk could be made"
NOTHING_BEFORE = (
    "the ledger holds no earlier release that went out, so nothing was compared; add those that did (sdckit ledger "
    "add), or where none did say so: first = true under [ledger]"
)
UNMATCHED = (
    "no value looks as if it had been changed, and nothing says which records of the release and of the original "
    "belong together; say aligned = true in the scenario, or name the id"
)
ONE_FILE = "it compares a release with its original, and only one file is given"


@dataclass(frozen=True)
class Verdict:
    """One threshold against one intruder.

    Attributes
    ----------
    name : str
        A limit of `Thresholds`; of a release beside its original also "k_undone" and "risk_undone": the limits k and
        risk on the release with what it gives back put back (likewise "household_risk_undone",
        "household_uniques_undone" and "exact_numbers_undone"); and "k_linked", "risk_linked" and "l_linked": those on
        the keys of all releases that a column links. Of a file with a type of release also "roles": whether
        somebody said of every column that goes out what it is. Of files that hold more than records "beside_records".
    intruder : str
        Empty for "roles", which are the same for all.
    variable : str or None
        The sensitive variable of the threshold l or correctly_disclosed; the column of recoverable or exact_numbers.
    limit : float or None
        The threshold; "roles" have none.
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
    alone : bool
        Whether a limit on a release was judged of the file by itself, without its original.
    remedy : str
        What would mend it, in words.
    columns : str
        With how many columns attacks were made, in words.
    beside : str
        The earlier releases that it was held against, in words.
    single_rows : bool
        Whether persons have several rows each and only single ones were looked at.
    unmatched : bool
        Whether nothing says which records of a release and of its original belong together, so that only what looks
        changed was looked for.
    ends : tuple of float or None
        Ends of the interval beside the value: of the excess of members over others.
    singly : bool
        Whether only single columns were tried as links to earlier releases, where several together might be one.
    keyless : str
        Of an intruder all of whose keys were left out of the release: why the limit holds, and no figure is told.
    """

    name: str
    intruder: str
    variable: str | None
    limit: float | None
    holds: bool | None
    n_records: int | None
    value: float | None
    reason: str
    because: str = ""
    n_category: int | None = None
    n_resting: int | None = None
    origin: str = ""
    alone: bool = False
    remedy: str = ""
    columns: str = ""
    beside: str = ""
    single_rows: bool = False
    unmatched: bool = False
    ends: tuple[float, float] | None = None
    singly: bool = False
    keyless: str = ""

    @property
    def points(self) -> int | None:
        """How many rows of a person are known, of a limit on known points."""
        return getattr(self.limit, "points", None)

    @property
    def word(self) -> str:
        """One of "holds", "exceeded" and "not judged"."""
        return "not judged" if self.holds is None else "holds" if self.holds else "exceeded"

    @property
    def sentence(self) -> str:
        """What was found, in plain words with exact figures."""
        covers = (words for name, words in COVERS.items() if getattr(self, name))
        return "; ".join(filter(None, (self._judged_sentence(), self.remedy, *covers, self.origin)))

    def _judged_sentence(self) -> str:
        if self.holds is None or self.keyless:
            return f"{self.name}{'' if self.limit is None else f' = {self.limit:g}'}: {self.keyless or self.reason}"
        n = self.n_records or 0
        kind = LIMITS[self.name]
        sentence = (kind.holds if self.holds else kind.exceeded).format(
            limit=self.limit, limit_percent=limit_percent(self.limit or 0.0), variable=self.variable,
            value=0.0 if self.value is None else self.value,
            figure=figure_beside(self.value or 0.0, self.limit or 0.0),
            records=f"{n:,} record{'s' if n != 1 else ''}", are="are" if n != 1 else "is",
            group="groups" if n != 1 else "a group", have="have" if n != 1 else "has",
            percent=f"{figure_beside(self.value or 0.0, self.limit or 0.0, 100)} %",
            because=f" (rule: {self.because})" if self.because else "",
            reason=self.reason, columns=spaced(self.columns), beside=self.beside or EARLIER,
            ends="" if self.ends is None else " (excess over others {:.1%} to {:.1%})".format(*self.ends),
        )  # fmt: skip
        if self.n_category is None or self.limit is None:
            return sentence
        return sentence + both_rules(f"{self.n_resting or 0:,}", f"{self.n_category:,}", self.limit, holds=self.holds)


def _unjudged(name: str, intruder: str, limit: float, reason: str, variable: str | None = None) -> Verdict:
    return Verdict(name, intruder, variable, limit, None, None, None, reason)


@dataclass(frozen=True)
class _Asked:
    """A limit and what judges it: the results of one intruder by place, and the reasons of skipped measures."""

    kind: LimitKind
    limit: float
    intruder: str
    results: Mapping[str, Any]
    skipped: Sequence[tuple[str, str]]
    sensitive: Sequence[str]
    declared: Collection[str] = ()

    @property
    def result(self) -> Any:
        return self.results.get(self.kind.measure)

    def reason(self, variable: str | None = None) -> str:
        """Why there is no result, for one variable where the reason is specific to it."""
        reasons = dict(self.skipped)
        measure = self.kind.measure
        return reasons.get(f"{measure}:{variable}", reasons.get(measure, self.kind.without))

    def open(self, reason: str, variable: str | None = None) -> Verdict:
        return _unjudged(self.kind.name, self.intruder, self.limit, reason, variable)

    def by_count(self, beyond: int, variable: str | None = None) -> Verdict:
        return Verdict(self.kind.name, self.intruder, variable, self.limit, beyond == 0, beyond, None, "")

    def by_share(self, value: float, variable: str | None = None) -> Verdict:
        return Verdict(self.kind.name, self.intruder, variable, self.limit, value <= self.limit, None, value, "")


def _by_violations(asked: _Asked) -> list[Verdict]:
    """Compare k with the smallest groups; with the counts where missing values are a category of their own."""
    verdict = asked.by_count(getattr(asked.result, asked.kind.figure)[asked.limit])
    category, k = asked.results.get("k_anonymity:category"), int(asked.limit)
    if category is None:
        return [verdict]
    return [replace(verdict, n_category=category.violations[k], n_resting=asked.result.resting_on_missing[k])]


def _by_count(asked: _Asked) -> list[Verdict]:
    if asked.kind.needs == "household" and not asked.result.has_household:
        return [asked.open(NO_HOUSEHOLD)]
    return [asked.by_count(getattr(asked.result, asked.kind.figure)(asked.limit))]


def _by_share(asked: _Asked) -> list[Verdict]:
    """Compare a limit with a share, which is an attribute of the result."""
    if asked.result is None:
        return [asked.open(asked.reason())]
    return [asked.by_share(getattr(asked.result, asked.kind.figure))]


def _by_groups(asked: _Asked) -> list[Verdict]:
    because = "; ".join(reason for measure, reason in asked.skipped if measure == asked.kind.measure)
    if asked.result is None:
        names: Sequence[str | None] = asked.sensitive or (None,)
        return [asked.open(because, name) for name in names]
    limit = int(asked.limit)
    return [
        asked.by_count(asked.result.violations[name]["distinct"][limit], name)
        if name in asked.result.variables
        else asked.open(because, name)
        for name in asked.sensitive
    ]


def _by_ledger(asked: _Asked) -> list[Verdict]:
    """Compare a limit with the disclosure by differencing releases; what was not looked at is not judged."""
    verdicts = _by_share(asked)
    if asked.result is None:
        return verdicts
    n, pending = len(asked.result.entries), asked.result.n_pending
    if verdicts[0].holds and n == pending and not asked.result.first:
        return [asked.open(NOTHING_BEFORE)]
    remedy = "" if verdicts[0].holds else "; ".join(asked.result.remedies)
    verdicts = [replace(verdicts[0], beside=beside_words(n, pending), singly=asked.result.singly, remedy=remedy)]
    result = asked.result
    unlinked = [result.notes["linked"]] if result.singly else []
    reasons = (*result.not_looked_for, *result.not_compared, *unlinked)  # what was not looked for may be beyond it
    return [asked.open("; ".join(reasons))] if verdicts[0].holds and reasons else verdicts


def _by_linked(asked: _Asked) -> list[Verdict]:
    """Judge k, risk and l on the keys of all releases that a column links; no verdict where none does.

    Whether one does is not known where the releases could not be compared, or not person by person, or where several
    columns might and were not tried together.
    """
    result, kind = asked.result, asked.kind
    untried = ""
    if result is not None and result.singly and not any(LIMITS[name].judged == "ledger" for name in asked.declared):
        untried = result.notes.get("linked", "")  # else the limit of the ledger says so
    if result is None or not (result.linked_by or result.not_kept):
        reason = dict(asked.skipped).get(kind.measure) if result is None else result.unjoined or untried
        names: Sequence[str | None] = (asked.sensitive if kind.per_variable else ()) or (None,)
        return [asked.open(reason, name) for name in names] if reason else []
    count = getattr(result, kind.figure)
    variables: Sequence[str | None] = tuple(result.joint_variables) if kind.per_variable else (None,)
    verdicts = []
    for variable in variables:
        beyond = count(asked.limit) if variable is None else count(variable, asked.limit)
        if not beyond and (reason := result.not_kept or untried):
            verdicts.append(asked.open(reason, variable))
            continue
        remedy = result.unlinking if beyond else ""
        verdict = replace(asked.by_count(beyond, variable), singly=result.singly)
        verdicts.append(replace(verdict, reason=result.linked_words, remedy=remedy))
    return verdicts


def _by_worst_release(asked: _Asked) -> list[Verdict]:
    kind, verdicts = asked.kind, []
    for variable in (asked.sensitive or (None,)) if kind.per_variable else (None,):
        result = asked.results.get(f"{kind.measure}:{variable}" if variable else kind.measure)
        if result is None:
            verdicts.append(asked.open(asked.reason(variable), variable))
            continue
        unseen = UNSEEN.format(", ".join(names)) if (names := getattr(result, "unseen", ())) else ""
        if kind.looked_at and not getattr(result, kind.looked_at):
            verdicts.append(asked.open(unseen or kind.nothing, variable))
            continue
        values = [figures[kind.figure] for figures in result.per_release]
        values += [figures[kind.otherwise] for figures in result.per_release if kind.otherwise in figures]
        verdict = asked.by_share(max(values), variable)
        if any(map(math.isnan, values)):
            verdict = asked.open(NO_FIGURE, variable)
        doubts = [words for share, words in getattr(result, "doubtful", ()) if share > asked.limit]
        others = ", ".join(getattr(result, "not_compared", ()))
        if verdict.holds and (reason := NOT_COMPARED.format(others) if others else "; ".join(doubts) or unseen):
            verdict = asked.open(reason, variable)
        if verdict.holds is not False and (unjudged := getattr(result, "unjudged", ())):
            verdict = asked.open(NOT_HELD.format("; ".join(unjudged)), variable)
        verdicts.append(verdict)
    return verdicts


def _by_worst_column(asked: _Asked) -> list[Verdict]:
    """Compare a limit with the largest share over all columns."""
    if asked.result is None:
        return [asked.open(asked.reason())]
    columns = [column for some in asked.result.columns for column in some]
    worst = max(columns, key=lambda column: column.share, default=None)
    if SAMPLED in asked.result.notes:
        return [_of_drawn(asked, columns)]
    if asked.kind.alone and not asked.result.touched:
        return [asked.open(UNMATCHED if math.isnan(asked.result.right) else named_limits.NOTHING_CHANGED)]
    verdict = asked.by_share(0.0 if worst is None else worst.share)
    if asked.kind.alone:
        verdict = replace(verdict, unmatched=math.isnan(asked.result.right))
    if worst is None or verdict.holds:
        return [verdict]
    remedy = "; ".join(getattr(worst, "remedies", ())[:1])
    return [replace(verdict, variable=worst.column, because=worst.told_by, remedy=remedy)]


def _of_drawn(asked: _Asked, columns: Sequence[Any]) -> Verdict:
    """A limit on the worst column where records were drawn: exceeded by the lower end of the interval, never held."""
    low = {column: wilson(column.counted, column.touched).low for column in columns if column.counted}
    worst = max(low, key=lambda column: low[column], default=None)
    if worst is None or low[worst] <= asked.limit:
        return asked.open(DRAWN_ONLY)
    because, remedy = worst.told_by + LOWER_END, "; ".join(worst.remedies[:1])
    return replace(asked.by_share(low[worst], worst.column), because=because, remedy=remedy, columns=AMONG_DRAWN)


def _by_points(asked: _Asked) -> list[Verdict]:
    """Compare a limit with the share of people alone in the worst release.

    Who knows several rows knows fewer, too: the worst of these counts, as after new identifiers for every wave, where
    several rows lead to nobody.
    """
    if asked.result is None:
        return [asked.open(asked.reason())]
    names = [f"{asked.kind.figure}[{points}]" for points in range(1, getattr(asked.limit, "points", 1) + 1)]
    values = [figures[name] for figures in asked.result.per_release for name in names if name in figures]
    known = [value for value in values if not math.isnan(value)]
    return [asked.by_share(max(known))] if known else [asked.open(asked.kind.nothing)]


def _by_undone(asked: _Asked) -> list[Verdict]:
    """Judge a limit on the release with reconstructed values filled in; no verdict where there are none."""
    result = asked.result
    if result is None:
        return [] if asked.reason() == NOTHING_TAKEN else [asked.open(asked.reason())]
    if SAMPLED in result.notes:  # equivalence classes are those of all records
        sure = result.by_keys if asked.kind.of == "k" else None
        return [replace(asked.by_count(max(sure.beyond)), because=sure.because) if sure else asked.open(DRAWN_ONLY)]
    base, because = LIMITS[asked.kind.of], result.told_by
    if base.needs:
        found = result.put_back.get(base.name)
        if found is None or found.reason:
            return [] if found is None else [asked.open(found.reason)]
        because = found.because
        if base.judged == "count":
            verdict = asked.by_count(max(found.beyond))
        else:
            verdict = asked.by_share(max(n / whole for n, whole in zip(found.beyond, found.whole, strict=True)))
    elif not because:
        return [asked.open(result.notes[NOT_LOOKED_FOR])] if NOT_LOOKED_FOR in result.notes else []
    else:
        counts: Mapping[str, Callable[[], int]] = {
            "k": lambda: max(below[asked.limit] for below in result.below_k),
            "risk": lambda: max(n_above or 0 for n_above in result.above_risk),
        }
        verdict = asked.by_count(counts[base.name]())
        if verdict.holds and NOT_LOOKED_FOR in result.notes:
            return [asked.open(result.notes[NOT_LOOKED_FOR])]
    return [replace(verdict, because=because, unmatched=math.isnan(result.right))]


JUDGES: Mapping[str, Callable[[_Asked], list[Verdict]]] = {
    "violations": _by_violations, "count": _by_count, "share": _by_share, "groups": _by_groups, "ledger": _by_ledger,
    "worst release": _by_worst_release, "worst column": _by_worst_column, "undone": _by_undone, "linked": _by_linked,
    FOLLOWING.judged: _by_points,
}  # fmt: skip


def _asked_of(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, sensitive: Sequence[str],
    skipped: Sequence[tuple[str, str]], judged: Collection[str],
) -> Iterator[tuple[str, _Asked]]:  # fmt: skip
    """Iterate over the declared limits with their scopes, in the order of verdicts."""
    for scope in SCOPES:
        for kind in LIMITS.values():
            limit = getattr(thresholds, kind.of or kind.name, None)  # of what no scenario can set: none
            if kind.scope == scope and limit is not None and kind.judged in judged:
                yield scope, _Asked(kind, limit, intruder, results, skipped, sensitive, thresholds.declared)


def judge(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, sensitive: Sequence[str],
    skipped: Sequence[tuple[str, str]], compared: bool = False,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare every declared threshold of one file with its figure.

    Results come by place, `skipped` as (measure, reason). Where the original stands beside the file (`compared`),
    limits that compare the two are left to `judge_release`; otherwise they could not be judged.
    """
    verdicts: list[Verdict] = []
    every = {kind.judged for kind in LIMITS.values()} - {"undone"}
    for scope, asked in _asked_of(thresholds, intruder, results, sensitive=sensitive, skipped=skipped, judged=every):
        if scope != "release" and (scope != "released" or not compared):
            verdicts += JUDGES[asked.kind.judged](asked)
        elif scope == "release" and not compared and not asked.kind.alone:
            variables = (sensitive or (None,)) if asked.kind.per_variable else (None,)
            verdicts += [asked.open(ONE_FILE, variable) for variable in variables]
    return tuple(verdicts)


def judge_release(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, sensitive: Sequence[str],
    skipped: Sequence[tuple[str, str]],
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare every threshold on release and original with the worst release.

    Results come by the name of the measure, with the variable after a colon where it has one.
    """
    asked = _asked_of(thresholds, intruder, results, sensitive=sensitive, skipped=skipped, judged=["worst release"])
    return tuple(verdict for _, limit in asked for verdict in _by_worst_release(limit))


def judge_undone(
    thresholds: Thresholds, intruder: str, results: Mapping[str, Any], *, skipped: Sequence[tuple[str, str]]
) -> tuple[Verdict, ...]:
    """Judge the limits on the worst column, and those on the release with reconstructed values filled in.

    Where no value is reconstructed that they are about, these are those of the release itself, and not judged again.
    `skipped` says why there is no result.
    """
    judged = ("worst column", "undone", FOLLOWING.judged)
    asked = _asked_of(thresholds, intruder, results, sensitive=(), skipped=skipped, judged=judged)
    return tuple(verdict for _, limit in asked for verdict in JUDGES[limit.kind.judged](limit))


def judge_alone(
    scenario: Scenario, intruder: str, results: Mapping[str, Any], *, skipped: Sequence[tuple[str, str]]
) -> tuple[Verdict, ...]:
    """Judge what a file gives back by itself, and k and risk with that put back, where no original is beside it.

    Where the file shows no protection, a limit of the type of release is not asked, and one of the scenario itself
    is not judged.
    """
    limits = scenario.limits_of(compared=True)
    own = scenario.thresholds.declared
    every = judge_undone(limits, intruder, results, skipped=skipped)
    # What is released is judged with the file itself, which is its own release.
    verdicts = tuple(verdict for verdict in every if LIMITS[verdict.name].scope == "release")
    if all(verdict.holds is None for verdict in verdicts):
        asked = own if any(verdict.reason == named_limits.NOTHING_SEEN for verdict in verdicts) else LIMITS
        verdicts = tuple(verdict for verdict in verdicts if LIMITS[verdict.name].alone and verdict.name in asked)
    judged = (replace(verdict, alone=verdict.holds is not None, unmatched=False) for verdict in verdicts)
    return with_origins(judged, scenario, compared=True)


def judge_attacks(
    limit: float | None, intruder: str, attacks: Mapping[str, Any], *, intruders: Collection[str],
    failed: Sequence[str], control: int, asked: Asked | None = None, kind: LimitKind = ON_RISK,
) -> tuple[Verdict, ...]:  # fmt: skip
    """Compare a threshold on attacks with the worst that it is about: its estimate, not the end of its interval.

    Of people drawn by their id from a file too large to attack them as ever, the upper end of the interval.

    It fails closed: one attack that could not be made, or people of the file among those of the control, leave
    it open; and so do columns that go out and are lacking in the control file, where it is not exceeded without them.

    Attacks that need no intruder count for each; one that names another of the `intruders` does not count.
    `failed` are the places of the attacks with a residual risk that were tried in vain; `control` is how many people
    were kept aside; `asked` are the parameters of the attacks; `kind` is the limit.
    """
    if limit is None:
        return ()
    opened = partial(_unjudged, kind.name, intruder, limit)
    if not control:
        return (opened(NO_CONTROL),)
    if control < LEAST_CONTROL:
        return (opened(TOO_FEW.format(control)),)

    def about(place: str) -> bool:
        return kind.measure in (ON_RISK.measure, place.partition(":")[0]) and concerns(place, intruder, intruders)

    if lost := [place for place in failed if about(place)]:
        return (opened(NOT_MADE.format(", ".join(lost))),)
    drawn = {place for place, result in attacks.items() if kind is ON_RISK and SAMPLED in result.notes}
    values = {
        place: _attacked(result, UPPER_END if place in drawn else kind.figure)
        for place, result in attacks.items() if about(place)
    }  # fmt: skip
    own = [attacks[place] for place, figures in values.items() if figures]
    if any(control_state_of(result) == "overlapping" for result in own):
        return (opened(OVERLAP),)
    every = [(figure, place) for place, figures in values.items() for figure in figures]
    known = [(figure, place) for figure, place in every if not math.isnan(figure)]
    if kind is not ON_RISK and known != every:
        return (opened(next((result.notes[kind.figure] for result in own if kind.figure in result.notes), NO_FIGURE)),)
    worst = max(known, default=None)
    if worst is None:
        return (opened(NO_ATTACK if kind is ON_RISK else kind.without),)
    value = worst[0]
    if asked is not None and asked.lacking and value <= limit:
        return (opened(LACKING.format(", ".join(asked.lacking))),)
    columns = "" if asked is None else asked.words
    if worst[1] in drawn:
        columns += OF_DRAWN
    judged = getattr(attacks[worst[1]], "judged", None)
    ends = None if kind is ON_RISK or judged is None else (judged.low, judged.high)
    return (Verdict(kind.name, intruder, None, limit, value <= limit, None, value, "", columns=columns, ends=ends),)


def _attacked(result: Any, figure: str) -> list[float]:
    """A figure of an attack in each release, or of all together; none where the attack has no such figure."""
    if figure in result.per_release[0]:
        return [figures[figure] for figures in result.per_release]
    return [getattr(result, figure)] if hasattr(result, figure) else []


def is_unasked(name: str, scenario: Scenario, results: Mapping[str, Any]) -> bool:
    """Whether a limit of the type of release asks what changed values give back, and it is known that none was changed.

    A limit of the scenario itself is asked, and open.
    """
    kind = LIMITS[name]
    result = results.get(kind.measure)
    if not kind.alone or result is None or name in scenario.thresholds.declared:
        return False
    return not result.touched and not math.isnan(result.right)


def unjudged(
    scenario: Scenario, verdicts: Collection[Verdict], results: Mapping[str, Mapping[str, Any]], *, compared: bool
) -> tuple[Verdict, ...]:
    """Undefined verdicts for every combination of limit, intruder and sensitive variable without a verdict.

    `results`: by intruder and place. `compared`: whether a release is held against its original.
    """
    judged = {(verdict.intruder, verdict.name, verdict.variable) for verdict in verdicts}
    any_variable = {(intruder, name) for intruder, name, _ in judged}
    lacking: list[Verdict] = []
    for intruder, own in results.items():
        for name, limit in scenario.limits_of(compared=compared).declared.items():
            if compared and is_unasked(name, scenario, own):
                continue
            variables: tuple[str | None, ...] = scenario.sensitive if LIMITS[name].per_variable else ()
            open_variables = [variable for variable in variables if (intruder, name, variable) not in judged]
            if not variables and (intruder, name) not in any_variable:
                open_variables = [None]
            lacking += [_unjudged(name, intruder, limit, NO_VERDICT, variable) for variable in open_variables]
    return with_origins(lacking, scenario, compared=compared)


def judge_differencing(limit: float, intruder: str, result: Any, skipped: Mapping[str, str]) -> Verdict:
    """Judge the limit on differencing from its result alone, without an assessment of the release."""
    kind = next(limit_kind for limit_kind in LIMITS.values() if limit_kind.judged == "ledger")
    return _by_ledger(_Asked(kind, limit, intruder, {kind.measure: result}, tuple(skipped.items()), ()))[0]


def judge_linked(thresholds: Thresholds, intruder: str, result: Any) -> tuple[Verdict, ...]:
    """Judge k, risk and l on the keys of linked releases from the result of differencing alone."""
    measure = next(kind.measure for kind in LIMITS.values() if kind.judged == "linked")
    asked = _asked_of(thresholds, intruder, {measure: result}, sensitive=(), skipped=(), judged=["linked"])
    return tuple(verdict for _, limit in asked for verdict in _by_linked(limit))


def judge_roles(scenario: Scenario, columns: ColumnRoles | None) -> tuple[Verdict, ...]:
    """Whether every column that goes out has a role, once for a document; asked by every type of release but one.

    `columns` is None where nobody looked.
    """
    if not named_limits.asks_everything(scenario):
        return ()
    holds, words = (None, NOT_LOOKED_AT) if columns is None else (columns.holds, columns.words)
    return (Verdict(ROLES, "", None, None, holds, None, None, words),)


# Rows are not people where a person has several.


NOT_PEOPLE = (
    "rows are not people: some have several, and people followed through their rows were not looked at, which a limit "
    f"on {FOLLOWING.name} asks for"
)


def of_single_rows(verdicts: Iterable[Verdict], scenario: Scenario, *, compared: bool = False) -> tuple[Verdict, ...]:
    """Say of verdicts on single rows that they are; what holds for these is open under a type of release.

    Whoever follows people through their rows knows more: what is exceeded stays so, and what holds does so where a
    limit on these people was judged. That of a file which is `compared` is judged later.
    """
    given = tuple(verdicts)
    followed = any(LIMITS[verdict.name].judged == FOLLOWING.judged and verdict.holds is not None for verdict in given)
    opened = named_limits.asks_everything(scenario) and not followed and not compared
    return tuple(
        verdict
        if not LIMITS[verdict.name].of_rows or verdict.holds is None
        else replace(verdict, holds=None, n_records=None, value=None, reason=NOT_PEOPLE, because="", n_category=None)
        if verdict.holds and opened
        else replace(verdict, single_rows=True)
        for verdict in given
    )


# Origin of the limits: the scenario, its type of release, or a statistical office.


def with_origins(verdicts: Iterable[Verdict], scenario: Scenario, *, compared: bool = False) -> tuple[Verdict, ...]:
    """Add the origin of its limit to each verdict; unchanged where the scenario names no type of release.

    A limit that could not be judged since the scenario says nothing of the role it needs is told so.
    """
    if scenario.release is None:
        return tuple(verdicts)
    limits = named_limits.limits_in_force(scenario, compared=compared)
    words = {name: limit.words(scenario.release) for name, limit in limits.items()}
    origins = ((verdict, words.get(LIMITS[verdict.name].of or verdict.name, "")) for verdict in verdicts)
    return tuple(
        replace(verdict, origin=origin, reason=named_limits.not_said(verdict.name, scenario) or verdict.reason)
        if verdict.holds is None
        else replace(verdict, origin=origin)
        for verdict, origin in origins
    )


# Verdicts of several releases together.


def worst_of(verdicts: Sequence[Sequence[Verdict]]) -> list[Verdict]:
    """The worst verdict per threshold over all releases: exceeded by most, then not judged, then holding."""
    worst: dict[tuple[str, str | None], Verdict] = {}
    for verdict in (verdict for of_release in verdicts for verdict in of_release):
        place = (verdict.name, verdict.variable)
        known = worst.get(place)
        if known is None or _badness(verdict) > _badness(known):
            worst[place] = verdict
    return list(worst.values())


def _badness(verdict: Verdict) -> tuple[int, float]:
    rank: Mapping[bool | None, int] = {True: 0, None: 1, False: 2}
    return rank[verdict.holds], float(verdict.n_records or verdict.value or 0)


NOT_RELEASED = "the release does not have the variable"
STILL_TOLD = "the release does not have the variable, but it is told all the same (rule: {}): leave that out, too"


def of_lost_variables(scenario: Scenario, name: str, after: Sequence[Assessment], outcome: Outcome) -> list[Verdict]:
    """Verdicts that hold for sensitive variables absent from every release: there is no attribute disclosure.

    Where what is released tells one of them, or nobody looked whether it does (`outcome` of the intruder), it is open.
    """
    kept = {variable for assessment in after for variable in assessment.scenario.sensitive}
    gone = [variable for variable in scenario.sensitive if variable not in kept]
    result = outcome.results.get(RECOVERABLE.name)
    nobody_looked = not_looked_for(result, outcome.skipped)
    reasons = {variable: nobody_looked or broken_by(result, variable, STILL_TOLD) for variable in gone}
    return [
        _unjudged(limited, name, limit, reasons[variable], variable)
        if reasons[variable]
        else Verdict(limited, name, variable, limit, True, 0, None, NOT_RELEASED)
        for limited, limit in scenario.limits.declared.items()
        if LIMITS[limited].scope == "variable"
        for variable in gone
    ]


def not_looked_for(result: Any, skipped: Sequence[tuple[str, str]]) -> str:
    """Why nobody looked whether what is released tells what was left out; "" where somebody did, or need not."""
    if result is not None:
        return DRAWN_ONLY if SAMPLED in result.notes else ""
    reason = dict(skipped).get(RECOVERABLE.name, "")
    return "" if reason == NOTHING_TAKEN else reason


THEN_TOO_FEW = "with values that the release gives back (rule: {}) groups have too few values of {}"


def with_values_put_back(verdicts: Iterable[Verdict], results: Mapping[str, Any]) -> list[Verdict]:
    """Verdicts on groups of a release, open where they hold no more with what it gives back put back."""
    result = results.get(RECOVERABLE.name)
    return [
        _unjudged(verdict.name, verdict.intruder, verdict.limit or 0.0, reason, verdict.variable)
        if verdict.holds and verdict.variable and (reason := broken_by(result, verdict.variable, THEN_TOO_FEW))
        else verdict
        for verdict in verdicts
    ]


def broken_by(result: Any, variable: str, words: str) -> str:
    """Why groups are not known to have enough values once reconstructed values are put back; "" where they have."""
    limit = getattr(result, "put_back", {}).get(variable)
    if limit is None or not (limit.reason or any(limit.beyond)):
        return ""
    return limit.reason or words.format(limit.because, variable)


def without_households(scenario: Scenario, name: str, after: Sequence[Assessment]) -> list[Verdict]:
    """Verdicts that hold for household limits of a release type where no release has the household column."""
    if scenario.household is None or any(assessment.scenario.household is not None for assessment in after):
        return []
    return [
        Verdict(limited, name, None, limit, True, 0, None, HOUSEHOLD_GONE)
        for limited, limit in scenario.limits.declared.items()
        if LIMITS[limited].needs == "household" and limited not in scenario.thresholds.declared
    ]
