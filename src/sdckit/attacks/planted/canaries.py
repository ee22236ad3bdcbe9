"""Canaries: artificial records planted in a training file to measure memorisation by a synthesizer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.distances.density_ratio import calibrated_scores, kernel_rows
from sdckit.cells import number_columns, pair_result
from sdckit.cells.pair import Pair, open_pair
from sdckit.data import arguments, seeds
from sdckit.data.columns import code_column, days_values
from sdckit.data.frames import appended, mixed_rows
from sdckit.data.nearest import did_you_mean
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import Displayed, table_html
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import AnyInts, Bools, Floats, Ints
from sdckit.numerics.coding import Encoded, gower, stacked_ranges
from sdckit.numerics.intervals import excess, wilson
from sdckit.numerics.search.neighbours import prepare

# Comparison of the distances of planted and held-out records to the release.


def _places(planted: Floats, held_out: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """For each planted record the number of held-out records that are nearer, and of ties."""
    order = np.sort(held_out)
    nearer = np.searchsorted(order, planted - tolerance, side="left")
    equal = np.searchsorted(order, planted + tolerance, side="right") - nearer
    return nearer.astype(np.float64), equal.astype(np.float64)


def exposures(planted: Floats, held_out: Floats, tolerance: float = 0.0) -> Floats:
    """Exposure of each planted record in bits: log2 of the number of candidates over its rank.

    A planted record is ranked among all held-out ones by distance to the release; ties get the mean rank.

    Examples
    --------
    >>> exposures(np.array([0.0, 0.4]), np.array([0.1, 0.2, 0.3])).tolist()
    [2.0, 0.0]
    """
    nearer, equal = _places(planted, held_out, tolerance)
    return math.log2(len(held_out) + 1) - np.log2(1 + nearer + equal / 2)


def stand_out(planted: Floats, held_out: Floats, tolerance: float = 0.0) -> tuple[float, float]:
    """Area under the ROC curve of planted against held-out records, with its p-value.

    The area is the probability that a planted record is nearer to the release (1/2: no difference); the p-value is
    that of the one-sided Mann-Whitney test.

    Examples
    --------
    >>> stand_out(np.array([0.0, 0.1]), np.array([0.2, 0.3]))[0]
    1.0
    """
    from scipy.stats import mannwhitneyu

    nearer, equal = _places(planted, held_out, tolerance)
    area = float(1 - (nearer + equal / 2).mean() / len(held_out))
    together = np.concatenate([planted, held_out])
    if np.ptp(together) <= tolerance:
        return area, 1.0
    # the test needs exact ties: values equal within the tolerance are mapped to one rank
    distinct = np.sort(together)
    step = np.cumsum(np.concatenate([[0], np.diff(distinct) > tolerance]))
    place = step[np.searchsorted(distinct, together)]
    test = mannwhitneyu(place[: len(planted)], place[len(planted) :], alternative="less")
    return area, float(test.pvalue)


def auc_interval(area: float, n_planted: int, n_held_out: int, level: float = 0.95) -> tuple[float, float]:
    """Confidence interval of an area under the curve, valid near 0 and 1 (Newcombe 2006, method 5).

    Examples
    --------
    >>> [round(end, 3) for end in auc_interval(1.0, 20, 20)]
    [0.899, 1.0]
    """
    from scipy.optimize import brentq

    z2, extra = NormalDist().inv_cdf((1 + level) / 2) ** 2, (n_planted + n_held_out) / 2 - 1

    def away(theta: float) -> float:
        spread = 1 + extra * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        variance = theta * (1 - theta) * spread / (n_planted * n_held_out)
        return float((area - theta) ** 2 - z2 * variance)

    tiny = 1e-9  # keeps the bracket away from the estimate and the bounds, where the equation is degenerate
    low = 0.0 if area <= 2 * tiny or away(tiny) <= 0 else brentq(away, tiny, area - tiny)
    high = 1.0 if area >= 1 - 2 * tiny or away(1 - tiny) <= 0 else brentq(away, area + tiny, 1 - tiny)
    return float(low), float(high)


# A lower bound on ε, from guesses which records were planted by the fall of a coin.


DIGITS = 9  # of a score: rows in another order give sums with other last digits, and are the same file


@dataclass(frozen=True)
class Guesses:
    """Guesses which records were planted, and what they bound.

    Attributes
    ----------
    n_guesses, n_right : int
        Guesses made, half of them "planted"; and right ones.
    epsilon_low : float
        The lower bound on ε; 0 where as many would be right by lot.
    """

    n_guesses: int
    n_right: int
    epsilon_low: float


def epsilon_bound(n_right: int, n_guesses: int, level: float) -> float:
    """The largest ε under which so many right guesses, or more, have a probability of at most `level`; 0 if none has.

    Under ε (and δ = 0) a guess is right with a probability of e^ε / (1 + e^ε) at most, whatever the others are.

    >>> round(epsilon_bound(20, 20, 0.05), 4), epsilon_bound(12, 20, 0.05), epsilon_bound(0, 20, 0.05)
    (1.8227, 0.0, 0.0)
    """
    from scipy.special import betaincinv, logit

    if not n_right:
        return 0.0
    likely = betaincinv(n_right, n_guesses - n_right + 1, level)  # P[Bin(n_guesses, likely) >= n_right] = level
    return max(float(logit(likely)), 0.0)


def numbers_of_guesses(given: int | Sequence[int] | None, n: int) -> tuple[int, ...]:
    """How many guesses are made of n records, each number even; half of the records unless given.

    >>> numbers_of_guesses(None, 30), numbers_of_guesses([20, 10], 30)
    ((14,), (10, 20))
    """
    if given is None:
        return (n // 4 * 2,)
    says = "counts guesses, half of them 'planted'"
    chosen = arguments.counts(given, "guesses", says, at_least=2)
    if not chosen or chosen[-1] > n or any(number % 2 for number in chosen):
        raise DataError(f"guesses {says}; give even numbers from 2 to {n // 2 * 2:,}", argument="guesses")
    return chosen


def guessed(scores: Floats, planted: Bools, numbers: Sequence[int], level: float) -> tuple[Guesses, ...]:
    """Guess that the records with the highest scores were planted and those with the lowest were not.

    Several numbers of guesses share the `level`. The records stand in an order drawn by lot before the coins were
    tossed: that order decides between equal scores.

    >>> guessed(np.array([3.0, 0.0, 2.0, 1.0]), np.array([True, False, True, True]), [2, 4], 0.05)[1].n_right
    3
    """
    order = np.argsort(-np.round(scores, DIGITS), kind="stable")
    out = []
    for number in numbers:
        half = number // 2
        right = int(planted[order[:half]].sum() + (~planted[order[-half:]]).sum())
        out.append(Guesses(number, right, epsilon_bound(right, number, level / len(numbers))))
    return tuple(out)


def bound_words(n_guesses: int, right: str, low: str, level: float) -> str:
    """Say what a bound means; `right` guesses and the bound `low` as they are printed, "" where it is 0.

    >>> bound_words(20, "20", "1.82", 0.95)[:72]
    'Of 20 guesses which of them were planted 20 are right: ε is at least 1.8'
    """
    start = f"Of {n_guesses} guesses which of them were planted {right} are right"
    if low:
        return (
            f"{start}: ε is at least {low}, with {100 * level:g} % confidence and for δ = 0. Whoever promised less has "
            "broken the promise; a low bound would prove nothing."
        )
    return (
        f"{start}, as may be by lot: no ε is refuted. A low bound proves nothing, since others may guess better; a "
        "high one would break a promise."
    )


# Exposure of the records planted in the training file of a release.


NO_COINS = "exactly half is planted, so that guesses are not independent; canaries(coins=True) plants by coins"
NO_REFERENCE = "it needs a reference, the file before planting"
MISSING_RULE = "a missing value is 0 from a missing one, and from any other as far as two values can be"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CanaryExposure(pair_result.PairResult):
    """Exposure of planted records: how much nearer to a release they are than held-out ones. Means over releases.

    Attributes
    ----------
    n_planted, n_held_out : int
    auc, auc_low, auc_high : float
        Probability that a planted record is nearer to the release than a held-out one: 1/2 without memorisation, 1 if
        every planted record is nearer; with its interval.
    p_value : float
        One-sided p-value under no memorisation.
    mean_exposure, largest_exposure : float
        Exposure in bits, from the rank of a planted record among the held-out ones.
    exposure_by_chance, most_exposure : float
        Expected mean exposure without memorisation, and the largest possible exposure.
    recovered, recovered_low, recovered_high : float
        Share of the planted records that the release contains exactly, with its Wilson interval.
    recovered_by_chance : float
        The same for held-out records.
    risk, risk_low, risk_high : float
        Excess over chance, (recovered - by chance) / (1 - by chance), truncated at 0, with its score interval.
    epsilon_low : float or None
        A lower bound on the ε of all releases together, for δ = 0, from guesses which records were planted; 0 where as
        many would be right by lot. None without coins, or without a reference: ``notes`` say which.
    n_guesses, n_right : int or None
        Guesses behind that bound, and right ones.
    guesses : tuple of Guesses
        ``n_guesses``, ``n_right`` and ``epsilon_low`` of each number of guesses asked for.
    verdict : str
        What the figures mean.
    level : float
        Confidence of the intervals and of the bound.
    records : frame
        A row per canary: ``planted`` (1 or 0), ``distance`` to the release, ``exposure`` of planted ones; where ε is
        bounded ``ratio_score``, by which is guessed.
    """

    measure: ClassVar[str] = "canaries"
    figures: ClassVar[tuple[str, ...]] = (
        "n_planted", "n_held_out", "auc", "auc_low", "auc_high", "p_value", "mean_exposure", "largest_exposure",
        "exposure_by_chance", "most_exposure", "recovered", "recovered_low", "recovered_high", "recovered_by_chance",
        "risk", "risk_low", "risk_high", "epsilon_low", "n_guesses", "n_right",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "columns")
    n_planted: int
    n_held_out: int
    auc: float
    auc_low: float
    auc_high: float
    p_value: float
    mean_exposure: float
    largest_exposure: float
    exposure_by_chance: float
    most_exposure: float
    recovered: float
    recovered_low: float
    recovered_high: float
    recovered_by_chance: float
    risk: float
    risk_low: float
    risk_high: float
    guesses: tuple[Guesses, ...]
    verdict: str
    level: float
    columns: dict[str, Floats] = field(repr=False)

    @property
    def _best(self) -> Guesses | None:
        return max(self.guesses, key=lambda made: made.epsilon_low, default=None)

    @property
    def epsilon_low(self) -> float | None:
        """The largest of the bounds on ε."""
        return None if self._best is None else self._best.epsilon_low

    @property
    def n_guesses(self) -> int | None:
        """Guesses behind it."""
        return None if self._best is None else self._best.n_guesses

    @property
    def n_right(self) -> int | None:
        """Right ones of them."""
        return None if self._best is None else self._best.n_right

    @property
    def records(self) -> Any:
        """A row per canary: the planted ones first, with coins in an order drawn by lot."""
        return self.pair.records(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with the verdict."""
        guesses = [asdict(made) for made in self.guesses]
        return {**super().to_dict(), "guesses": guesses, "verdict": self.verdict, "level": self.level}


def canary_exposure(
    canaries: Any, released: Any, *, n_planted: int, numbers: Sequence[str], categories: Sequence[str], ranges: Floats,
    level: float, coins: Bools | None = None, guesses: int | Sequence[int] | None = None,
    reference: Any = None,
) -> CanaryExposure:  # fmt: skip
    """Measure canaries against one or m releases: the first `n_planted`, or those of `coins`, are planted."""
    if coins is None and (guesses is not None or reference is not None):
        argument = "guesses" if reference is None else "reference"
        raise DataError(f"{argument}: {NO_COINS}", argument=argument)
    pair = open_pair(canaries, released, reference, categories={"variables": [*numbers, *categories]}, attack=True)
    asked = numbers_of_guesses(guesses, pair.n)
    codes = [pair.codes(name, control=True).codes for name in categories]
    canary, *others = gower([pair.days(name) for name in numbers], codes, ranges=ranges)
    nearest = [prepare(other).nearest(canary, 1).distance[:, 0] for other in others]
    notes: dict[str, str] = {}
    distances, tolerance = nearest[: pair.m], canary.metric.tolerance
    planted = np.arange(pair.n) < n_planted if coins is None else coins
    per_release = [_figures(distance[planted], distance[~planted], tolerance, level) for distance in distances]
    if pair.m > 1:
        notes["intervals"] = "their ends are means over the releases"
    figures = pair_result.mean_figures(per_release, notes)
    exposure = np.full(pair.n, math.nan)
    exposure[planted] = np.mean([exposures(away[planted], away[~planted], tolerance) for away in distances], axis=0)
    columns = {"planted": planted.astype(float), "distance": np.mean(distances, axis=0), "exposure": exposure}
    made: tuple[Guesses, ...] = ()
    if coins is None or reference is None:
        notes["epsilon_low"] = f"not judged: {NO_COINS if coins is None else NO_REFERENCE}"
    elif (nearest[-1] <= tolerance).any():
        raise DataError("the reference holds canaries; give the file before planting", argument="reference")
    else:
        columns["ratio_score"] = _scores(pair, numbers, codes)
        made = guessed(columns["ratio_score"], planted, asked, 1 - level)
        if pair.m > 1:
            notes["epsilon_low"] = "it bounds the ε of all releases together"
    says = verdict(figures)
    result = CanaryExposure(
        pair=pair, per_release=tuple(per_release), missing_rule=MISSING_RULE, notes=notes, n_planted=int(planted.sum()),
        n_held_out=int((~planted).sum()), **figures, guesses=made, verdict=says, level=level, columns=columns,
    )  # fmt: skip
    best = result._best
    if best is None:
        return result
    low = f"{best.epsilon_low:.3g}" if best.epsilon_low > 0 else ""
    return replace(result, verdict=f"{says} {bound_words(best.n_guesses, str(best.n_right), low, level)}")


def _scores(pair: Pair, numbers: Sequence[str], codes: Sequence[Sequence[AnyInts]]) -> Floats:
    """How much likelier each canary is under the releases than under the reference."""
    canary, *releases, reference = kernel_rows([pair.days(name) for name in numbers], codes)
    return calibrated_scores(canary, releases, reference)


def _figures(planted: Floats, held_out: Floats, tolerance: float, level: float) -> dict[str, float]:
    auc, p_value = stand_out(planted, held_out, tolerance)
    low, high = auc_interval(auc, len(planted), len(held_out), level)
    bits = exposures(planted, held_out, tolerance)
    most = math.log2(len(held_out) + 1)
    recovered, others = (int((distances <= tolerance).sum()) for distances in (planted, held_out))
    own = wilson(recovered, len(planted), level)
    risks = excess(recovered, len(planted), others, len(held_out), level)
    risk, risk_low, risk_high = (max(value, 0.0) for value in risks)
    return {
        "auc": auc, "auc_low": low, "auc_high": high, "p_value": p_value, "mean_exposure": float(bits.mean()),
        "largest_exposure": float(bits.max()),
        "exposure_by_chance": most - float(np.log2(np.arange(1, len(held_out) + 2)).mean()),
        "most_exposure": most, "recovered": recovered / len(planted), "recovered_low": own.low,
        "recovered_high": own.high, "recovered_by_chance": others / len(held_out), "risk": risk,
        "risk_low": risk_low, "risk_high": risk_high,
    }  # fmt: skip


def verdict(figures: Mapping[str, float]) -> str:
    """Say what the figures mean.

    Examples
    --------
    >>> verdict({"auc": 0.9, "auc_low": 0.8, "auc_high": 1.0, "recovered": 0.0})[:45]
    'The release remembers: a planted record is ne'
    """
    pairs = f"{figures['auc']:.1%} of the pairs ({figures['auc_low']:.1%} to {figures['auc_high']:.1%})"
    start = f"a planted record is nearer to the release than one held back in {pairs}"
    if figures["auc_low"] > 0.5:
        return f"The release remembers: {start}; {figures['recovered']:.1%} of them are in it to the letter."
    return (
        f"No sign of memory: {start}, where 50 % is chance. That holds for records as odd as these, and does not "
        "rule out what lies within the interval."
    )


CANDIDATES = 20  # drawn for each canary wanted
FEWEST_COINS = 20  # tossed: fewer guesses bound next to nothing, and all may fall alike
ORDERED = ("integer", "number", "date")


@dataclass(frozen=True, eq=False)
class Canaries(Displayed):
    """A training file with planted records, and what is needed to measure their exposure afterwards.

    Attributes
    ----------
    data : frame
        The file to train on: the caller's, and the planted records behind it.
    planted, held_out : frame
        The records planted, and their like that were not: records of nobody.
    n_planted, n_held_out, copies : int
        How many, and how often each is in `data`.
    nearest : float
        The smallest distance of any of them to a real record, 0 to 1.
    variables : tuple of str
        Variables compared afterwards.
    coins : array of bool or None
        With coins which of the 2n records are planted, in the order of both together, which was drawn by lot.
    seed : int
        Makes the same records again from the same file: for whoever may know which are planted.
    """

    instead_of_a_frame = "give its .data"

    data: Any = field(repr=False)
    planted: Any = field(repr=False)
    held_out: Any = field(repr=False)
    n_planted: int
    n_held_out: int
    copies: int
    nearest: float
    variables: tuple[str, ...]
    numeric: tuple[str, ...]
    ranges: Floats = field(repr=False)
    both: Any = field(repr=False)
    seed: int = field(repr=False)
    coins: Bools | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        """Without the distance to a real record, which is one record's."""
        rows = [["planted", str(self.n_planted)], ["held out", str(self.n_held_out)], ["copies", str(self.copies)],
                ["variables", ", ".join(self.variables)]]  # fmt: skip
        return table_html(["canaries", ""], rows)

    def exposure(
        self, released: Any, *, level: float = 0.95, guesses: int | Sequence[int] | None = None, reference: Any = None
    ) -> CanaryExposure:
        """Measure how much nearer a release comes to the planted records than to those held back.

        With coins it is guessed, too, which records were planted: those whose density in the release is highest beside
        that in the reference (the calibrated ratio of `membership`) are called so, as many of the lowest are not. What
        of it is right bounds ε from below (Steinke, Nasr & Jagielski 2023).

        Parameters
        ----------
        released : data frame or sequence of data frames
            One release or m of them, made from `data`.
        level : float
            Confidence of the intervals and of the bound on ε.
        guesses : int or sequence of int, optional
            With coins: how many guesses are made, half of them "planted"; half of the records unless given. Decide
            before you look: several numbers share the error that `level` allows.
        reference : data frame, optional
            With coins: people like those of the file, without any canary; the file before planting unless given.

        Returns
        -------
        CanaryExposure

        Raises
        ------
        ColumnError, DataError
            A release without one of the variables, or with values that cannot be compared; canaries in the reference;
            guesses or a reference without coins.
        """
        arguments.level(level)
        if self.coins is not None and reference is None:
            before = open_eager(self.data, {})
            reference = before[: len(before) - self.n_planted].to_native()
        return canary_exposure(
            self.both, released, n_planted=self.n_planted, numbers=self.numeric,
            categories=[name for name in self.variables if name not in self.numeric], ranges=self.ranges,
            level=float(level), coins=self.coins, guesses=guesses, reference=reference,
        )  # fmt: skip


def canaries(
    data: Any,
    *,
    n: int = 50,
    copies: int = 1,
    coins: bool = False,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    scenario: Scenario | None = None,
    seed: arguments.Seed = None,
    id: str | None = None,
) -> Canaries:
    """Plant rare records of nobody in a file before synthesis; `.exposure(released)` measures them afterwards.

    Every value is one of the file, every combination is nobody's: each column's value comes from another
    record. Of 20 times as many those farthest from every real record are kept; half of them, drawn at
    random, are planted and half are held back (with `coins` each by its own). A synthesizer without memory comes
    as near to the one as to the other.

    Parameters
    ----------
    data : data frame
        The file that would be trained on.
    n : int
        Records planted (as many are held back), 5 or more. They change the file: few beside its records.
    copies : int
        How often each is planted; once with coins.
    coins : bool
        Toss a coin for each of the 2n records instead of planting exactly half: guesses which were planted then bound
        the ε of the synthesizer. `n` is 10 or more.
    variables : sequence of str, optional
        Variables compared; all but `id` unless given.
    numeric : sequence of str, optional
        Those whose differences count; those that the scenario calls numeric, else all numbers, dates and times,
        unless given. The others are equal or not.
    scenario : Scenario, optional
        Says which variables are numbers.
    seed : int, Generator or None
        Same seed, same canaries, so keep it with them; without one, one is made up, kept in `seed`.
    id : str, optional
        Column of whole numbers or text in which planted records get values that nobody has.

    Returns
    -------
    Canaries

    Raises
    ------
    ColumnError
        A variable that the data does not have.
    DataError
        Too few combinations that nobody has; a number that is infinite; `n` or `copies` out of range; a plan
        instead of data in memory.

    References
    ----------
    Carlini, N., Liu, C., Erlingsson, Ú., Kos, J. and Song, D. (2019). The secret sharer: evaluating and
    testing unintended memorization in neural networks. USENIX Security 28. Newcombe, R. G. (2006).
    Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Statistics in
    Medicine 25. Steinke, T., Nasr, M. and Jagielski, M. (2023). Privacy auditing with one (1) training run.
    NeurIPS 36.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": range(20, 60), "pay": [x * x for x in range(40)]})
    >>> made = canaries(survey, n=5, seed=1)
    >>> len(made.data), made.exposure(made.data).auc
    (45, 1.0)
    >>> answers = pl.DataFrame({f"q{step}": [str(row * step % 7) for row in range(99)] for step in range(2, 8)})
    >>> made = canaries(answers, n=20, coins=True, seed=1)
    >>> found = made.exposure(made.data)
    >>> found.n_guesses, found.n_right, round(found.epsilon_low, 4)
    (20, 20, 1.8227)
    """
    arguments.flag(coins, "coins")
    arguments.count(n, "n", "counts canaries", at_least=FEWEST_COINS // 2 if coins else 5)
    arguments.count(copies, "copies", "counts how often each is planted")
    if coins and copies > 1:
        raise DataError("a coin plants one copy: ε is about one record; leave copies out", argument="copies")
    arguments.scenario_or_none(scenario)
    arguments.column_or_none(id, "id")
    rng, started = seeds.open_rng(seed)
    frame = open_eager(data, {"id": [id] if id is not None else []})
    columns = [name for name in frame.columns if name != id]
    names = arguments.names(variables, "variables") or tuple(columns)
    arguments.present(names, columns, "variables", argument="variables")
    coded = {name: code_column(frame.get_column(name)) for name in names}
    chosen = _numbers(arguments.names(numeric, "numeric"), scenario, names, coded)
    numbers = [days_values(frame.get_column(name), file="the data") for name in chosen]
    codes = [coded[name].codes() for name in names if name not in chosen]
    source = {name: rng.integers(0, len(frame), 2 * n * CANDIDATES) for name in columns}
    mixed_numbers = [values[source[name]] for name, values in zip(chosen, numbers, strict=True)]
    rest = [name for name in names if name not in chosen]
    mixed_codes = [values[source[name]] for name, values in zip(rest, codes, strict=True)]
    real, artificial = gower(list(zip(numbers, mixed_numbers, strict=True)), list(zip(codes, mixed_codes, strict=True)))
    rows, nearest = _farthest(real, artificial, 2 * n)
    rows = rng.permutation(rows)  # random assignment to planted and held-out
    both = mixed_rows(frame, {name: where[rows] for name, where in source.items()}, id=id)
    fallen = rng.random(2 * n) < 0.5 if coins else np.arange(2 * n) < n
    if fallen.all() or not fallen.any():  # at most once in half a million
        raise DataError("all coins fell alike; give another seed", argument="seed")
    planted, held_out = (both[np.flatnonzero(side).tolist()] for side in (fallen, ~fallen))
    return Canaries(
        appended(frame, planted, times=copies), planted.to_native(), held_out.to_native(), len(planted), len(held_out),
        copies, nearest, names, tuple(chosen), stacked_ranges([[number] for number in numbers]), both, started,
        fallen if coins else None,
    )  # fmt: skip


def _numbers(
    declared: tuple[str, ...] | None, scenario: Scenario | None, names: Sequence[str], coded: dict[str, Any]
) -> tuple[str, ...]:
    declared = number_columns.declared_numbers(declared, scenario, names)
    if declared is None:
        return tuple(name for name in names if coded[name].kind in ORDERED)
    if other := [name for name in declared if name not in names]:
        near = did_you_mean(other[0], names)
        raise ColumnError(f"numeric: {other[0]!r} is none of the variables; {near}", argument="numeric")
    if other := [name for name in declared if coded[name].kind not in (*ORDERED, "empty")]:
        raise DataError(f"numeric {other[0]!r} holds neither numbers nor dates; convert it first")
    return declared


def _farthest(real: Encoded, artificial: Encoded, n: int) -> tuple[Ints, float]:
    """Rows of n distinct artificial records that are farthest from all real records, and their smallest distance."""
    distance = prepare(real).nearest(artificial, 1).distance[:, 0]
    different = prepare(artificial).rows.first
    free = np.sort(different[distance[different] > real.metric.tolerance])
    if len(free) < n:
        raise DataError(
            f"only {len(free)} combinations that nobody has were found, {n} are needed (half to be held back); ask for "
            "fewer, or compare more variables"
        )
    rows = free[np.argsort(-distance[free], kind="stable")[:n]]
    return rows, float(distance[rows].min())
