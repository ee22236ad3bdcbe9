"""Recoverable values: how many protected values a reconstruction attack on the release alone determines or guesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.recovery import derived_columns, reconstruction_rules, touched_cells
from sdckit.attacks.recovery.code_tables import last_values
from sdckit.attacks.recovery.owner_knowledge import file_put_back, owner_knowledge, same_labels
from sdckit.attacks.recovery.reconstruct import Known, Recovered, recognised, recover
from sdckit.attacks.recovery.recovery_files import Guessed, RecoveryFile, beyond, guess_values, recovery_files
from sdckit.attacks.recovery.remedies import remedy
from sdckit.attacks.recovery.touched_cells import LEFT_OUT, TEXTS, ChangedValues, Logged, apart
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, sure
from sdckit.numerics.array_types import Floats

# Figures of one column.


MOST_NAMED = 3


@dataclass(frozen=True)
class ColumnRecovery:
    """Reconstruction attack on one column.

    Attributes
    ----------
    column : str
    kinds : tuple of str
        What was done to it: "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed".
    touched : int
        Values changed.
    restored : int
        Of these, values determined by a rule.
    right : int or None
        Of these, right ones; None without the original.
    narrowed : int
        Not determined, but some values are ruled out.
    remaining : float
        Mean number of feasible values of a narrowed one.
    n_guessed : int
        Suppressed (or perturbed) values that a model guessed.
    guess, guess_baseline : float
        Share of the guesses that are right: by the model, and by the most frequent value. Given the original they
        are counted, else estimated from the values that are known.
    guess_beyond, guess_low, guess_high : float
        Their difference, with its interval; NaN without the original.
    sources : tuple of Source
        Rules that determined values (``columns``, ``words``, ``told``: how many), the most productive first.
    remedies : tuple of str
        Remedy for each.
    known : int or None
        Values told rightly to somebody who has the release and knows how its columns are made, those of `right`
        included; None without the original.
    known_sources : tuple of Source
        What tells them beyond the release alone, the most productive first.
    known_remedies : tuple of str
        Those of the remedies that concern nothing else.
    """

    column: str
    kinds: tuple[str, ...]
    touched: int
    restored: int
    right: int | None
    narrowed: int
    remaining: float
    n_guessed: int
    guess: float
    guess_baseline: float
    guess_beyond: float
    guess_low: float
    guess_high: float
    sources: tuple[reconstruction_rules.Source, ...]
    remedies: tuple[str, ...] = ()
    known: int | None = None
    known_sources: tuple[reconstruction_rules.Source, ...] = ()
    known_remedies: tuple[str, ...] = ()

    @property
    def alone(self) -> int:
        """Values reconstructed from the release alone; only the right ones where the original is known."""
        return self.restored if self.right is None else self.right

    @property
    def counted(self) -> int:
        """Reconstructed values; where the original is known, the right ones, with what is known of the columns."""
        return self.alone if self.known is None else self.known

    @property
    def telling(self) -> tuple[str, ...]:
        """Descriptions of the rules that reconstruct most values, at most three, in descending order."""
        return most_telling((*(self.sources if self.alone else ()), *self.known_sources))

    @property
    def told_by(self) -> str:
        """`telling` as one text; "" if there is none."""
        return "; ".join(self.telling)

    @property
    def alone_by(self) -> str:
        """The same of the rules that reconstruct values from the release alone."""
        return "; ".join(most_telling(self.sources if self.alone else ()))

    @property
    def known_by(self) -> str:
        """The same of what tells beyond them."""
        return "; ".join(most_telling(self.known_sources))

    @property
    def share(self) -> float:
        """`counted` as a share of the changed values."""
        return self.counted / self.touched if self.touched else 0.0


def most_telling(sources: Sequence[reconstruction_rules.Source]) -> tuple[str, ...]:
    """Descriptions of the sources that tell most values, at most three, in descending order."""
    return tuple(source.words for source in sorted(sources, key=lambda source: -source.told)[:MOST_NAMED])


def summed_up(
    recovered: Recovered, guessed: Guessed | None, truth: Floats | None, *, level: float, roles: Roles
) -> ColumnRecovery:
    """Figures of one column; `truth` (n,) is given if the original is known."""
    name, sources = recovered.target.column.name, tuple(sorted(recovered.sources, key=lambda source: -source.told))
    left_out = LEFT_OUT in recovered.target.kinds
    right, narrowed, known_sources = recovered.right, recovered.narrowed, _known_sources(recovered)
    how = {"left_out": left_out, "as_texts": recovered.target.column.coded.kind in TEXTS}
    alone, knowing = (
        tuple(dict.fromkeys(remedy(name, source, roles.weight, roles.household, **how) for source in some))
        for some in (sources, known_sources)
    )
    left = recovered.after[narrowed[recovered.target.touched]]
    rates = (math.nan,) * 5
    if guessed is not None and truth is None:
        rates = (guessed.expected, guessed.expected_usual, math.nan, math.nan, math.nan)
    elif guessed is not None and truth is not None:
        model = guessed.right(truth[guessed.rows])
        usual = guessed.right(truth[guessed.rows], usual=True)
        rates = (float(model.mean()), float(usual.mean()), *beyond(model, usual, level))
    return ColumnRecovery(
        name, recovered.target.kinds, int(recovered.target.touched.sum()), int(recovered.restored.sum()),
        None if right is None else int(right.sum()), int(narrowed.sum()),
        float(np.nanmean(left)) if len(left) and not np.isnan(left).all() else math.nan,
        0 if guessed is None else len(guessed.rows), *rates,
        sources, tuple(dict.fromkeys((*alone, *knowing))),
        None if right is None else int((right | recovered.beyond).sum()), known_sources,
        tuple(words for words in knowing if words not in alone),
    )  # fmt: skip


def _known_sources(recovered: Recovered) -> tuple[reconstruction_rules.Source, ...]:
    """What tells values beyond the release alone, with how many each, the most productive first."""
    known = recovered.known
    if known is None:
        return ()
    counts = np.bincount(known.source[recovered.beyond], minlength=len(known.sources))
    sources = (replace(source, told=int(n)) for source, n in zip(known.sources, counts, strict=True) if n)
    return tuple(sorted(sources, key=lambda source: -source.told))


def advice(columns: Sequence[ColumnRecovery]) -> tuple[str, ...]:
    """Remedies against reconstruction, sorted by the number of values, descending."""
    counts: dict[str, int] = {}
    for column in columns:
        for words in column.remedies if column.counted else ():
            counts[words] = max(counts.get(words, 0), column.counted)
    return tuple(sorted(counts, key=lambda words: -counts[words]))


# Roles and class sizes as arguments of reconstruction measures, where keys are optional.


NO_TRUTH = "the original is not given, or its rows do not belong to those of the release"
NOT_COMPARED = (
    "values are not compared: nothing says which rows of the release and of the original belong together, and their "
    "order does not look as if they did; give the log (--log), name the id (--id), or say aligned where row i was made "
    "from row i (--aligned)"
)
NO_KEYS = "no keys are given"


def optional_roles(
    *, keys: Sequence[str] | None, scenario: Scenario | None, missing: MissingRule | None, alpha: float | None,
    id: str | None, weight: str | None = None, household: str | None = None, **columns: Any,
) -> Roles:  # fmt: skip
    """Resolve the roles; without keys and scenario the roles have no keys.

    Raises
    ------
    SdcError
        As `resolve_roles` does; where there are no keys, a name that is none.

    Examples
    --------
    >>> optional_roles(keys=None, scenario=None, missing=None, alpha=None, id="person").keys
    ()
    """
    if keys is not None or scenario is not None:
        return resolve_roles(
            scenario=scenario, keys=keys, missing=missing, alpha=alpha, id=id, weight=weight, household=household,
            **columns,
        )  # fmt: skip
    for role, name in (("weight", weight), ("household", household), ("id", id)):
        arguments.column_or_none(name, role)
    return Roles((), weight, columns.get("sampling_fraction"), household, None, (), (), 1.0, id)


def as_declared(aligned: bool | None, scenario: Scenario | None) -> bool | None:
    """Whether rows belong together as it is said, else as a scenario declares it; None where nothing does."""
    return True if aligned is None and scenario is not None and scenario.aligned else aligned


def class_sizes(k: int | Sequence[int]) -> tuple[int, ...]:
    """Check the class sizes k asked for.

    >>> class_sizes(3), class_sizes([2, 3, 5])
    ((3,), (2, 3, 5))
    """
    given = (k,) if arguments.is_whole(k) else k
    sizes = arguments.counts(given, "k", "is the size of a class", at_least=2)
    if not sizes:
        raise DataError("k is the size of a class: give one at least", argument="k")
    return sizes


def shown_size(sizes: Sequence[int], scenario: Scenario | None) -> int:
    """The class size that documents report: the declared limit, else 3, else the first.

    >>> shown_size([2, 3, 5], None), shown_size([2, 4], None)
    (3, 2)
    """
    declared = None if scenario is None else scenario.limits.k
    return declared if declared in sizes else 3 if 3 in sizes else sizes[0]  # type: ignore[return-value]


@dataclass(frozen=True)
class LimitPutBack:
    """What another measure says of the releases with the reconstructed values put back, for its limit.

    `beyond`: of each release the records, or households, that count; `whole`: of how many. `because`: the rules that
    tell them. `reason`: why it could not be measured; "" where it was.
    """

    because: str
    beyond: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    reason: str = ""


NO_GUESS = "no value was suppressed, or too few are left to learn from"
UNTOUCHED = "no value of the release was changed"


@dataclass(frozen=True, eq=False, repr=False)
class RecoverableValues(PairResult):
    """Reconstruction attack with the release alone: values determined, narrowed and guessed, and the remaining risk.

    Attributes
    ----------
    touched : float
        Values changed, over all columns.
    restored : float
        Of these, values determined by a rule.
    right : float
        Of these, right ones; NaN without the original.
    known : float
        Values told rightly to somebody who has the release and knows how its columns are made: arithmetic, derived
        columns, code tables, pointers, order. Those of `right` included; NaN without the original.
    narrowed : float
        Values not determined, of which some possibilities are ruled out.
    recoverable : float
        The largest share of a column's changed values that is reconstructed: of those of `known`, where there is an
        original.
    guess_rate, guess_baseline, guess_beyond, guess_low, guess_high : float
        Share of the suppressed values that a model guesses right, that the most frequent value is right, and the
        difference with its interval, of the column where the difference is largest.
    below_k : tuple of dict of int to int
        For each release with the reconstructed values, records in classes smaller than each k; ``above_risk`` those
        whose risk is above the limit, None without one. ``shown_k`` is the k that documents report.
    undone_k, undone_uniques, undone_expected : float
        In the file with the reconstructed values: smallest equivalence class, sample uniques, expected
        re-identifications. NaN without keys.
    columns : tuple of tuple of ColumnRecovery
        For each release, column by column.
    put_back : dict of str to LimitPutBack
        In an assessment: figures of other measures on the releases with the reconstructed values, by limit, and those
        of groups with too few values by sensitive variable.
    changed : tuple of tuple of ChangedValues
        Of files on an engine of which records were drawn (``notes["targets"]``): for each release ``column``,
        ``kinds`` and ``n``, the values that were changed among all records; None where they could not be counted.
    by_keys : LimitPutBack or None
        Of such files: records below the scenario's k once the keys of all records have put back what they tell of each
        other, for each release; at least so many. None where these leave none below it, or were not looked at.
    advice : tuple of str
        Remedies, sorted by the number of values they concern, descending.
    records : frame
        Every changed value: ``release``, ``row`` (from 1), ``column``, ``state`` ("certain", "known" for what is told
        only to who knows how the columns are made, "narrowed", "guessed" or "open"), number of ``remaining`` values
        and the rule that determined it (``by``). Confidential.
    """

    measure: ClassVar[str] = "recoverable_values"
    figures: ClassVar[tuple[str, ...]] = (
        "touched", "restored", "right", "known", "narrowed", "recoverable", "guess_rate", "guess_baseline",
        "guess_beyond", "guess_low", "guess_high", "undone_k", "undone_uniques", "undone_expected",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "files", "found")
    columns: tuple[tuple[ColumnRecovery, ...], ...] = field(kw_only=True)
    advice: tuple[str, ...] = field(kw_only=True)
    keys: tuple[str, ...] = field(kw_only=True)
    shown_k: int = field(kw_only=True)
    below_k: tuple[dict[int, int], ...] = field(kw_only=True)
    above_risk: tuple[int | None, ...] = field(kw_only=True)
    put_back: Mapping[str, LimitPutBack] = field(kw_only=True)
    files: tuple[RecoveryFile, ...] = field(kw_only=True, repr=False)
    found: tuple[dict[str, Recovered], ...] = field(kw_only=True, repr=False)
    changed: tuple[tuple[ChangedValues, ...], ...] = ()
    by_keys: LimitPutBack | None = None
    touched: float = math.nan
    restored: float = math.nan
    right: float = math.nan
    known: float = math.nan
    narrowed: float = math.nan
    recoverable: float = math.nan
    guess_rate: float = math.nan
    guess_baseline: float = math.nan
    guess_beyond: float = math.nan
    guess_low: float = math.nan
    guess_high: float = math.nan
    undone_k: float = math.nan
    undone_uniques: float = math.nan
    undone_expected: float = math.nan

    @property
    def n(self) -> int:
        """Records of the first release."""
        return self.pair.sizes[0]

    @property
    def told_by(self) -> str:
        """Descriptions of the rules that reconstruct key variables; "" if there are none."""
        return self.telling(self.keys)

    def telling(self, names: Collection[str]) -> str:
        """Descriptions of the rules that reconstruct values of these columns; "" if there are none."""
        told = (column.telling for some in self.columns for column in some if column.column in names)
        return "; ".join(dict.fromkeys(words for some in told for words in some))

    @cached_property
    def records(self) -> Any:
        """A row per changed value, in the caller's frame type."""
        parts = [(j + 1, *part) for j in range(self.pair.m) for part in _cells(self.found[j], self.columns[j])]
        names = ("row", "state", "remaining", "by")
        listed: dict[str, list[Any]] = {name: [] for name in ("release", "row", "column", *names[1:])}
        for j, column, cells in parts:
            listed["release"] += [j] * len(cells["row"])
            listed["column"] += [column] * len(cells["row"])
            for name in names:
                listed[name] += list(cells[name])
        return self.pair.table(listed)

    def undone(self, release: int = 1) -> Any:
        """The release with the values put back that it gives back, in the caller's frame type: it is unprotected.

        Raises
        ------
        DataError
            There is no such release.
        """
        place = arguments.release(release, self.m)
        return file_put_back(self.files[place], self.found[place]).to_native()


def recoverable_values(
    released: Any,
    original: Any = None,
    *,
    keys: Sequence[str] | None = None,
    weight: str | None = None,
    sampling_fraction: float | None = None,
    household: str | None = None,
    columns: Sequence[str] | str | None = None,
    log: Logged | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    k: int | Sequence[int] = (2, 3, 5),
    risk: float | None = None,
    pairs: bool = True,
    guess: bool = True,
    level: float = 0.95,
    seed: int | None = None,
    aligned: bool | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    step: Callable[[str], None] | None = None,
) -> RecoverableValues:
    """Find what a release itself gives back of what was suppressed, coded, banded, rounded or perturbed in it.

    Parameters
    ----------
    released : data frame, sequence of them, or Pair
        What is to go out: one file or m of them; a pair holds the original, too.
    original : data frame, optional
        Says which values were changed and which are given back rightly. The intruder does not have it: nothing is
        put back with its help.
    keys : sequence of str, optional
        Variables that an intruder could know: who is recognised in the file put back is counted for them.
    weight, sampling_fraction, missing, alpha
        As in `key_frequencies`.
    household : str, optional
        Column that tells which records share a household.
    columns : str or sequence of str, optional
        Columns that are looked at; all but weight, household and id unless given. Clues come from all.
    log : RecipeLog, optional
        Says what was changed where there is no original, and beside one which of its records each row was made from.
        Without both, missing values, ranges and heaped ends count as changed.
    k, risk : int or sequence of int, float; optional
        Sizes of classes, and a limit on the individual risk, beyond which records of the file put back are counted.
    pairs : bool
        Whether pairs of columns are read, too.
    guess : bool
        Whether a model guesses what was suppressed.
    level : float
        Confidence of the intervals.
    seed : int, optional
        Of the model.
    aligned : bool, optional
        Whether row i of a release was made from row i of the original, where no id says it; unless given as the
        scenario says, else a log, else the rows where neighbours have their own unchanged values. Where nothing says
        so the original is not looked at, and ``notes`` says it.
    scenario : Scenario, optional
        Gives what is not given here.
    id : str, optional
        Column that says which rows belong together.
    step : callable, optional
        Is told in words what is being done.

    Returns
    -------
    RecoverableValues
        ``restored``, ``right``, ``recoverable``, ``undone_uniques`` and more; ``columns``, ``advice``, ``records``,
        ``undone()``.

    Raises
    ------
    ColumnError, ScenarioError
        A role without its column.
    DataError
        No records; an original, or a log, of another number of records; an argument out of range.

    Notes
    -----
    A value counts as determined if a rule yields it that has no, or hardly any, exceptions among the unchanged values:
    every record is left out once and must be predicted by the majority of the others. A rule that chance could explain
    does not count, nor one that is little better than the most frequent value. The rules: a value of another column, or
    of two, with which only one value occurs, or nearly, a missing value being one, too (of two amounts whether they are
    missing); household members who share it, are numbered, or have exactly one of a kind; size, counts, sums and
    extremes of a household; leading characters of ids; neighbours in the order of the file or of an id; sums,
    differences, products, rescaling; numbers at a fixed distance from another. Values reconstructed by one rule are
    used by the others.

    References
    ----------
    Elliot, M., Mackey, E. and O'Hara, K. (2020). The Anonymisation Decision-Making Framework, 2nd edition.
    Hundepool, A. et al. (2012). Statistical Disclosure Control, chapter 3. Wiley.

    Examples
    --------
    >>> import polars as pl
    >>> whole = pl.DataFrame({"region": ["n", "s", "e", "w"] * 25, "weight": [10, 20, 30, 40] * 25})
    >>> blank = whole.with_columns(region=pl.when(pl.int_range(100) < 9).then(None).otherwise("region"))
    >>> found = recoverable_values(blank, whole, weight="weight", aligned=True)
    >>> found.touched, found.restored, found.right, found.columns[0][0].sources[0].words
    (9.0, 9.0, 9.0, 'weight')
    >>> found.advice
    ('coarsen the weight weight (coarsen_weights), or leave it out: it tells region',)
    """
    tell = step or (lambda _: None)
    _check(pairs=pairs, guess=guess, aligned=aligned, level=level, risk=risk)
    sizes = class_sizes(k)
    number = arguments.seed_number(seed) or 0
    roles = optional_roles(
        keys=keys, weight=weight, sampling_fraction=sampling_fraction, household=household, missing=missing,
        alpha=alpha, scenario=scenario, id=id,
    )  # fmt: skip
    files, pair = recovery_files(
        released, original, roles=roles, columns=arguments.names(columns, "columns", single=True), log=log,
        id=id, aligned=as_declared(aligned, scenario), named={"weight": weight, "household": household},
    )  # fmt: skip
    per_release, by_column, found_all, below, above = [], [], [], [], []
    notes: dict[str, str] = {}
    for j, file in enumerate(files):
        place = ("recovered", j, file.household, tuple(file.touched), pairs, guess, number, level, id, aligned)
        if place not in file.memo:
            made: derived_columns.Made = {}
            predictors = derived_columns.released_predictors(file.columns, file.household, made)
            time = scenario.time if scenario is not None and scenario.time in file.columns else None
            recoveries = recover(
                file.columns, file.touched, household=file.household, pairs=pairs, tell=tell, made=made,
                person=file.roles.person, time=time,
            )  # fmt: skip
            if file.truth is not None:
                judged = apart(partial(judge_values, file), recoveries.values(), len(file.frame))
                recoveries = dict(zip(recoveries, judged, strict=True))
                tell("looking for relations between original and release")
                knowledge = owner_knowledge(file, recoveries, released=predictors, time=time, seed=number)
                recoveries |= {name: known.of(recoveries.get(name)) for name, known in knowledge.items()}
            guessed = _guessed(recoveries, seed=number, tell=tell) if guess else {}
            file.memo[place] = {name: own.without_clues() for name, own in recoveries.items()}, guessed
        recoveries, guesses = file.memo[place]
        keyed = (*place, file.roles)  # what is missing beside the keys, and what the advice names
        if keyed not in file.memo:
            recoveries = {**recoveries, **_told_by_absence(file, recoveries)}
            file.memo[keyed] = recoveries, _by_column(file, recoveries, guesses, level=level)
        recoveries, summed = file.memo[keyed]
        figures = recovery_figures(summed, known=file.truth is not None)
        if roles.keys:
            tell("measuring the risk with the values put back")
            undone = recognised(file_put_back(file, recoveries), file.roles, k=sizes, risk=risk)
            figures |= undone.figures()
            below.append(undone.below_k)
            above.append(undone.above_risk)
        else:
            figures |= dict.fromkeys(("undone_k", "undone_uniques", "undone_expected"), math.nan)
        per_release.append(figures)
        by_column.append(summed)
        found_all.append(recoveries)
    means = mean_figures(per_release, notes)
    _notes(notes, means, NO_TRUTH if original is None else NOT_COMPARED)
    return RecoverableValues(
        pair, tuple(per_release), "", notes, columns=tuple(by_column),
        advice=advice([column for some in by_column for column in some]), keys=roles.keys,
        shown_k=shown_size(sizes, scenario), below_k=tuple(below), above_risk=tuple(above), files=files,
        found=tuple(found_all), put_back={}, changed=(), by_keys=None, **means,
    )  # fmt: skip


def _check(*, pairs: bool, guess: bool, aligned: bool | None, level: float, risk: float | None) -> None:
    for name, value in (("pairs", pairs), ("guess", guess), *(() if aligned is None else (("aligned", aligned),))):
        arguments.flag(value, name)
    arguments.level(level)
    if risk is not None:
        arguments.share(risk, "risk", "is a limit on the individual risk")


def judge_values(file: RecoveryFile, recovered: Recovered) -> Recovered:
    """The reconstruction with the values in it that are right, by the original: of a range, the numbers in it."""
    low, high = file.truth_of(recovered)
    given = recovered.codes if recovered.values is None else recovered.values
    with np.errstate(invalid="ignore"):
        slack = 1e-6 * np.maximum(np.abs([low, high]), 1.0)
        hit = recovered.restored & (given >= low - slack[0]) & (given <= high + slack[1])
    return replace(recovered, right=hit)


def _told_by_absence(file: RecoveryFile, recoveries: Mapping[str, Recovered]) -> dict[str, Recovered]:
    """Suppressed columns that lost the only value that no record shows beside the rest of them and the keys."""
    hidden = touched_cells.SUPPRESSED
    kinds = {hidden, touched_cells.CODED, touched_cells.BANDED}
    lost = [name for name, own in recoveries.items() if {hidden} <= {*own.target.kinds} <= kinds]
    lost = [name for name in lost if name in (file.truth or {})]
    keys = [name for name in file.roles.keys if name in file.columns and name not in recoveries]
    if not lost or len(lost) + len(keys) < 2:
        return {}
    released = [file.columns[name] for name in (*lost, *keys)]
    original = [touched_cells.truth_codes(own, file.before(own.name)) for own in released]
    more = {}
    for i, rows in last_values([own.codes for own in released], original):
        name, recovered = released[i].name, recoveries[released[i].name]
        hits = np.isin(np.arange(len(recovered.restored)), rows)
        words = f"{name} is missing where it is the only value that no record shows beside the other keys"
        known = recovered.known or Known.nothing(len(hits))
        if recovered.values is None or same_labels(released[i], file.before(name)):
            known = known.beside(hits, reconstruction_rules.Source((name,), words, len(rows), "beside"))
        else:  # of a number in bands the band is known
            known = replace(known, narrowed=known.narrowed | (hits & ~known.told))
        more[name] = replace(recovered, known=known)
    return more


def _guessed(
    recoveries: Mapping[str, Recovered], *, seed: int, tell: Callable[[str], None]
) -> dict[str, Guessed | None]:
    """What a model guesses of each column."""
    guesses = {}
    for name, recovered in recoveries.items():
        tell(f"guessing {name} from the rest of the release")
        guesses[name] = guess_values(sure(recovered.start), recovered.predictors, seed=seed, mates=recovered.mates)
    return guesses


def _by_column(
    file: RecoveryFile, recoveries: Mapping[str, Recovered], guesses: Mapping[str, Guessed | None], *, level: float
) -> tuple[ColumnRecovery, ...]:
    """Figures of each column."""
    both = ((recovered, guesses.get(name)) for name, recovered in recoveries.items())
    return tuple(
        summed_up(recovered, guessed, file.guess_truth(recovered, guessed), level=level, roles=file.roles)
        for recovered, guessed in both
    )


def recovery_figures(columns: Sequence[ColumnRecovery], *, known: bool) -> dict[str, float]:
    """Figures of one release, of those of its columns."""
    best = max(
        (column for column in columns if not math.isnan(column.guess)),
        key=lambda column: column.guess - column.guess_baseline, default=None,
    )  # fmt: skip
    rates = {"guess_rate": "guess", **{name: name for name in (
        "guess_baseline", "guess_beyond", "guess_low", "guess_high")}}  # fmt: skip
    return {
        "touched": float(sum(column.touched for column in columns)),
        "restored": float(sum(column.restored for column in columns)),
        "right": float(sum(column.right or 0 for column in columns)) if known else math.nan,
        "known": float(sum(column.known or 0 for column in columns)) if known else math.nan,
        "narrowed": float(sum(column.narrowed for column in columns)),
        "recoverable": max((column.share for column in columns), default=0.0),
        **{name: math.nan if best is None else float(getattr(best, field)) for name, field in rates.items()},
    }


def _notes(notes: dict[str, str], means: Mapping[str, float], no_truth: str) -> None:
    if not means["touched"]:
        notes["touched"] = UNTOUCHED
    if math.isnan(means["right"]):
        notes |= dict.fromkeys(("right", "known"), no_truth)
    for name in ("guess_rate", "guess_baseline", "guess_beyond", "guess_low", "guess_high"):
        if math.isnan(means[name]):
            notes[name] = NO_GUESS if math.isnan(means["guess_rate"]) else no_truth
    for name in ("undone_k", "undone_uniques", "undone_expected"):
        if math.isnan(means[name]):
            notes[name] = NO_KEYS


def _cells(recoveries: Mapping[str, Recovered], columns: Sequence[ColumnRecovery]) -> list[tuple[str, dict[str, Any]]]:
    out = []
    for summed in columns:
        recovered = recoveries[summed.column]
        rows = np.flatnonzero(recovered.target.touched)
        beyond, known = recovered.beyond, recovered.known
        states = np.where(recovered.narrowed, "narrowed", "guessed" if summed.n_guessed else "open")
        states = np.where(beyond, "known", np.where(recovered.restored, "certain", states))[rows]
        words, source = [rule.words for rule in recovered.sources], recovered.source
        if known is not None:
            source = np.where(beyond, known.source + len(words), source)
            words += [relation.words for relation in known.sources]
        words.append("")  # of what nothing tells
        remaining = np.where((recovered.restored | beyond)[rows], 1.0, recovered.after)
        by = [words[i] for i in source[rows]]
        out.append((summed.column, {"row": rows + 1, "state": states, "remaining": remaining, "by": by}))
    return out
