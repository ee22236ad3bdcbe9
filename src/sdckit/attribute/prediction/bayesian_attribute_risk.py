"""C6: posterior probability of a record's true value, for an intruder with the release and all other records."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair import Pair, open_pair
from sdckit.cells.record_result import ColumnResult, IntervalKind, breakdown
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments, special
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted, same_note
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.result import FileFigure

LogOf = Callable[[int, int], Floats]
BLOCK = 100_000  # log probabilities held at a time: as many as fit into the processor's cache
FAINT = 1e-140  # the square of a smaller number loses digits


@dataclass(frozen=True, eq=False)
class Guesses:
    """Posterior probabilities of the guesses of each record, and the effective number of draws behind them.

    `draws` are those that the worst supported guess rests on: (sum of weights)^2 / sum of squares.
    """

    probability: Floats  # (n, G)
    draws: Floats  # (n,)


@dataclass(frozen=True, eq=False)
class Part:
    """Draws of some parameters, and the log probabilities of guesses and releases given each draw.

    Parameters that are independent given the original make a part each: p(release | y) is the product.
    """

    log_guess: LogOf  # (first row, last row exclusive) -> log p(guess | draw), shape (H, rows, G)
    log_truth: Floats  # log p(true value | draw), shape (H, n)
    log_released: Sequence[Floats]  # for each release log p(release | draw), shape (H,)


def normal_logs(values: Floats, mean: Floats, sd: Floats) -> Floats:
    """Log density of values (n, G) given draws of mean (H, n) and sd (H, n), shape (H, n, G)."""
    away = (values[None] - mean[:, :, None]) / sd[:, :, None]
    logs: Floats = -0.5 * (away**2 + np.log(2 * np.pi)) - np.log(sd)[:, :, None]
    return logs


def poisson_logs(values: Floats, rate: Floats) -> Floats:
    """Log probability of counts (n, G) given draws of their mean (H, n), shape (H, n, G)."""
    logs: Floats = values[None] * np.log(rate)[:, :, None] - rate[:, :, None] - special.gammaln(values + 1)
    return logs


def poisson_log_above(limit: float, rate: Floats) -> Floats:
    """Log probability of a count above a limit, of the shape of `rate`; exact also far out in the tail.

    Examples
    --------
    >>> poisson_log_above(0, np.array([0.5])).round(4).tolist()  # log(1 - exp(-0.5))
    [-0.9328]
    """
    share = special.gammainc(limit + 1, rate)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(share)
    if (far := share < FAINT).any():  # the first term of the tail times the sum of the others, relative to it
        few = rate[far]
        logs[far] = (
            (limit + 1) * np.log(few) - few - special.gammaln(limit + 2) + np.log(special.hyp1f1(1, limit + 2, few))
        )
    return logs


@np.errstate(divide="ignore")
def category_logs(probability: Floats, codes: Ints) -> Floats:
    """Log probability (H, n) of the level that each record has; -inf where a draw rules it out."""
    return np.log(np.take_along_axis(probability, codes[None, :, None], axis=2)[:, :, 0])


def posterior_of_guesses(parts: Sequence[Part], log_prior: Floats) -> Guesses:
    """Importance sampling: draws given the true file are reweighted to draws with a guess in a record's place.

    `log_prior` (n, G) is -inf for what is no guess of a record.
    """
    n, g = log_prior.shape
    probability, draws = np.empty((n, g)), np.empty(n)
    step = max(1, BLOCK // (g * max(len(part.log_truth) for part in parts)))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        score, least = log_prior[rows].copy(), np.full((rows.stop - start, g), np.inf)
        for part in parts:
            weight = part.log_guess(rows.start, rows.stop) - part.log_truth[:, rows, None]
            top = weight.max(axis=0)
            weight -= np.where(np.isfinite(top), top, 0.0)
            share = np.exp(weight)
            with np.errstate(divide="ignore"):
                log_total = np.log(share.sum(axis=0))
            for log_released in part.log_released:
                log_sum, effective = _weighted(weight, share, log_released)
                with np.errstate(invalid="ignore"):
                    score += np.where(np.isfinite(top), log_sum - log_total, -np.inf)
                least = np.fmin(least, np.where(np.isfinite(score), effective, np.inf))
        probability[rows] = np.exp(score - special.logsumexp(score, axis=1, keepdims=True))
        draws[rows] = least.min(axis=1)
    return Guesses(probability, draws)


def _weighted(weight: Floats, share: Floats, log_released: Floats) -> tuple[Floats, Floats]:
    """Log of sum_h share_h p(release | draw h), and its effective draws; ``share`` is ``exp(weight)``, (H, n, G)."""
    h, shape = len(share), share.shape[1:]
    top = log_released.max()
    made = np.exp(log_released - top)
    flat = share.reshape(h, -1)
    first, second = made @ flat, made**2 @ flat**2
    with np.errstate(divide="ignore", invalid="ignore"):
        log_sum, effective = np.log(first) + top, first**2 / second
    if len(faint := np.flatnonzero(first < FAINT)):  # weights and release favour draws far apart
        logs = weight.reshape(h, -1)[:, faint] + log_released[:, None]
        log_sum[faint] = special.logsumexp(logs, axis=0)
        with np.errstate(invalid="ignore"):
            effective[faint] = np.exp(2 * log_sum[faint] - special.logsumexp(2 * logs, axis=0))
    return log_sum.reshape(shape), effective.reshape(shape)


def rank_of_truth(probability: Floats, truth: Ints, possible: Bools) -> tuple[Floats, Floats]:
    """Rank of the true value among the guesses (1: most probable; ties share), and its probability of being first.

    Examples
    --------
    >>> shares = np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    >>> rank, first = rank_of_truth(shares, np.array([2, 0]), np.ones((2, 3), bool))
    >>> rank.tolist(), first.tolist()
    ([2.0, 1.5], [0.0, 0.5])
    """
    own = np.take_along_axis(probability, truth[:, None], axis=1)
    slack = 1e-12
    above = (possible & (probability > own + slack)).sum(axis=1)
    equal = (possible & (np.abs(probability - own) <= slack)).sum(axis=1)
    rank: Floats = above + (equal + 1) / 2
    first: Floats = np.where(above == 0, 1 / equal, 0.0)
    return rank, first


# Input of the posterior of guesses, and reading of the arrays of draws.


@dataclass(frozen=True, eq=False)
class Evidence:
    """Input of `posterior_of_guesses`, and which guess is the truth."""

    truth: Ints  # (n,)
    prior: Floats  # (n, G), 0 for what is no guess of a record
    parts: tuple[Part, ...]
    missing: int | None = None  # which guess is being missing; None where that is no guess

    @property
    def n_draws(self) -> int:
        """Number of draws (H)."""
        return len(self.parts[0].log_truth)

    @property
    def n_missing(self) -> int:
        """Records whose true value is missing."""
        return 0 if self.missing is None else int((self.truth == self.missing).sum())

    def of_release(self, j: int) -> Evidence:
        """The evidence of one release alone."""
        return replace(
            self, parts=tuple(replace(part, log_released=part.log_released[j : j + 1]) for part in self.parts)
        )


def read_missing(draws: Mapping[str, Any], n: int) -> Floats | None:
    """Read the probability of being missing (H, n), where given."""
    if "missing" not in draws:
        return None
    gone = read_array(draws, "missing", (None, n), (None,))
    if (gone < 0).any() or (gone > 1).any():
        raise DataError("draws['missing'] are probabilities, from 0 to 1", argument="draws")
    return np.broadcast_to(gone[:, None] if gone.ndim == 1 else gone, (len(gone), n))


def with_missing(held: Part, gone: Floats, missing: Sequence[Bools], n_guesses: int) -> tuple[Part, Part]:
    """Add being missing as the last guess: a part for the value, and one for whether there is one.

    The logs of `held`, the value, are 0 where a record of a file has none. `gone` (H, n) is the probability of
    being missing; `missing` says where the original and each release have no value.
    """

    def of_value(a: int, b: int) -> Floats:
        known = held.log_guess(a, b)
        return np.concatenate([known, np.zeros((*known.shape[:2], 1))], axis=2)

    with np.errstate(divide="ignore"):
        here, away = np.log1p(-gone), np.log(gone)

    def of_presence(a: int, b: int) -> Floats:
        logs = np.repeat(here[:, a:b, None], n_guesses + 1, axis=2)
        logs[:, :, -1] = away[:, a:b]
        return logs

    truth, *others = (np.where(is_missing, away, here) for is_missing in missing)
    presence = Part(of_presence, truth, tuple(other.sum(axis=1) for other in others))
    return replace(held, log_guess=of_value), presence


def read_array(draws: Mapping[str, Any], name: str, *shapes: tuple[int | None, ...], more: str = "") -> Floats:
    """Read one array of draws that must have one of these shapes (None: any length).

    Examples
    --------
    >>> read_array({"sd": [1, 2]}, "sd", (None,)).tolist()
    [1.0, 2.0]
    """
    try:
        array = np.asarray(draws[name], np.float64)
    except (TypeError, ValueError):
        raise DataError(f"draws[{name!r}] is no array of numbers", argument="draws") from None
    for shape in shapes:
        if array.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, array.shape, strict=True)):
            if np.isnan(array).any():
                raise DataError(f"draws[{name!r}] has missing values", argument="draws")
            return array
    wanted = " or ".join(f"({', '.join('any' if n is None else str(n) for n in shape)})" for shape in shapes)
    words = f"draws[{name!r}] has the shape {array.shape}; it must be {wanted}"
    raise DataError(f"{words}: draws first, then records{more}", argument="draws")


def read_prior(prior: Sequence[float] | None, n: int) -> Floats:
    """Prior probabilities of n guesses; equal unless given.

    Examples
    --------
    >>> read_prior([3, 1], 2).tolist(), read_prior(None, 4).tolist()
    ([0.75, 0.25], [0.25, 0.25, 0.25, 0.25])
    """
    if prior is None:
        return np.full(n, 1 / n)
    try:
        weights = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n,) or not np.isfinite(weights).all() or not (weights > 0).all():
        words = f"prior= needs {n} numbers above 0, one for each guess, in the order of the guesses"
        raise DataError(words, argument="prior")
    share: Floats = weights / weights.sum()
    return share


# Draws of a normal or Poisson distribution: the guesses, and their log probabilities.


Asked = int | Sequence[float] | None
MOST_COUNTS = 100  # up to as many counts are guessed one by one
QUANTILES = 10  # default number of guesses of other numbers


@dataclass(frozen=True, eq=False)
class _NumberGuesses:
    """The guesses of each record."""

    table: Floats  # (n, G) numbers; `possible` says which are guesses
    possible: Bools  # (n, G)
    truth: Ints  # (n,) index of the true value; G where it is missing
    above: float | None  # a further guess stands for all numbers above this one


def number_evidence(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: Asked, prior: Sequence[float] | None
) -> Evidence:
    """Read draws of a number: ``mean`` and ``sd``, or ``rate`` of counts; with ``missing`` where it can be missing."""
    values = pair.numbers(target, "target")
    counts = "rate" in draws
    if counts:
        _check_counts(pair, target, values)
    parameters = _rate(pair, draws) if counts else _moments(pair, draws)
    logs_of = poisson_logs if counts else normal_logs
    gone = read_missing(draws, pair.n)
    missing = [np.isnan(column) for column in values]
    if gone is None:
        _check_complete(pair, target, missing)
    guessed = _guesses_of(values[0], guesses, counts)
    k = guessed.table.shape[1]
    n_guesses = k + (guessed.above is not None)

    def logs(a: int, b: int) -> Floats:
        rows = tuple(parameter[:, a:b] for parameter in parameters)
        log_p = logs_of(guessed.table[a:b], *rows)
        if guessed.above is None:
            return log_p
        return np.concatenate([log_p, poisson_log_above(guessed.above, rows[0])[:, :, None]], axis=2)

    def own(held: Floats) -> Floats:
        """Log density (H, n) of what each record of a file holds."""
        known = ~np.isnan(held)
        return np.where(known, logs_of(np.where(known, held, 0.0)[:, None], *parameters)[:, :, 0], 0.0)

    value = Part(logs, own(values[0]), tuple(own(column).sum(axis=1) for column in values[1:]))
    parts = (value,) if gone is None else with_missing(value, gone, missing, n_guesses)
    extra = n_guesses - k + (gone is not None)
    possible = np.column_stack([guessed.possible, np.ones((pair.n, extra), np.bool_)])
    truth = np.where(missing[0], n_guesses, guessed.truth)
    share = _share(possible, prior, same=guessed.above is not None)
    return Evidence(truth, share, parts, None if gone is None else n_guesses)


def _moments(pair: Pair, draws: Mapping[str, Any]) -> tuple[Floats, ...]:
    mean = read_array(draws, "mean", (None, pair.n))
    sd = read_array(draws, "sd", (len(mean),), (len(mean), pair.n))
    _positive("sd", sd)
    return mean, np.broadcast_to(sd[:, None] if sd.ndim == 1 else sd, mean.shape)


def _rate(pair: Pair, draws: Mapping[str, Any]) -> tuple[Floats, ...]:
    rate = read_array(draws, "rate", (None, pair.n), (None,))
    _positive("rate", rate)
    return (np.broadcast_to(rate[:, None] if rate.ndim == 1 else rate, (len(rate), pair.n)),)


def _positive(name: str, values: Floats) -> None:
    if not ((values > 0) & np.isfinite(values)).all():
        raise DataError(f"draws[{name!r}] has values that are not above 0, or infinite", argument="draws")


def _check_complete(pair: Pair, target: str, missing: Sequence[Bools]) -> None:
    faults = [
        f"{label}: {target!r} is missing in {counted(int(gaps.sum()), 'row')}"
        for label, gaps in zip(pair.names, missing, strict=True)
        if gaps.any()
    ]
    if faults:
        words = "give draws of being missing too: draws['missing'], probabilities (H, n)"
        raise DataError(f"{'; '.join(faults)}; {words}")


def _check_counts(pair: Pair, target: str, values: Sequence[Floats]) -> None:
    for label, column in zip(pair.names, values, strict=True):
        if not _are_counts(column[~np.isnan(column)]):
            words = f"{label}: {target!r} holds other values than counts (whole numbers of 0 or more)"
            raise DataError(f"{words}, of which draws['rate'] is the mean")


def _are_counts(values: Floats) -> bool:
    return bool(((values >= 0) & (values == np.floor(values))).all())


def _guesses_of(values: Floats, wanted: Asked, counts: bool) -> _NumberGuesses:
    known = values[~np.isnan(values)]
    if counts and wanted is None and known.max() < MOST_COUNTS:
        every = np.arange(int(known.max()) + 1, dtype=np.float64)
        table = np.broadcast_to(every, (len(values), len(every)))
        truth = np.where(np.isnan(values), len(every), values).astype(np.int64)
        return _NumberGuesses(table, np.ones(table.shape, np.bool_), truth, every[-1])
    grid = _grid(known, QUANTILES if wanted is None else wanted, counts)
    # the truth first, then the guesses that are not it
    first = np.where(np.isnan(values), grid[0], values)
    table = np.column_stack([first, np.broadcast_to(grid, (len(values), len(grid)))])
    possible = table != values[:, None]
    possible[:, 0] = ~np.isnan(values)
    return _NumberGuesses(table, possible, np.zeros(len(values), np.int64), None)


def _grid(known: Floats, wanted: int | Sequence[float], counts: bool) -> Floats:
    if arguments.is_whole(wanted):
        arguments.count(wanted, "guesses", "says how many, or lists values")
        at: Any = (np.arange(wanted) + 0.5) / wanted
        return np.unique(np.quantile(known, at, method="inverted_cdf" if counts else "linear"))
    try:
        grid = np.unique(np.asarray(wanted, np.float64))
    except (TypeError, ValueError):
        raise DataError("guesses: give how many, or a list of values", argument="guesses") from None
    if grid.size == 0 or not np.isfinite(grid).all():
        raise DataError("guesses: a list of values needs one at least, and all finite", argument="guesses")
    if counts and not _are_counts(grid):
        raise DataError("guesses: counts are whole numbers of 0 or more", argument="guesses")
    return grid


def _share(possible: Bools, prior: Sequence[float] | None, *, same: bool) -> Floats:
    """Prior probability of each guess; a prior can be given only for guesses that are the same for all records."""
    if prior is None:
        share: Floats = possible / possible.sum(axis=1, keepdims=True)
        return share
    if not same:
        words = "prior= is for categories, and for counts that are guessed one by one"
        raise DataError(f"{words}; other numbers are guessed with equal probabilities", argument="prior")
    return np.broadcast_to(read_prior(prior, possible.shape[1]), possible.shape)


# what each kind must hold, and what it may
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "normal": ({"mean", "sd"}, {"missing"}),
    "counts": ({"rate"}, {"missing"}),
    "categories": ({"probability"}, {"levels", "missing"}),
    "logs": ({"log_guess", "log_released", "truth"}, set()),
}
OFFERS = " or ".join("{" + ", ".join(map(repr, sorted(names))) + "}" for names, _ in KINDS.values())


def kind_of(draws: object) -> str:
    """Which of the four kinds of draws these are."""
    if isinstance(draws, Mapping):
        names = set(draws)
        for kind, (needed, also) in KINDS.items():
            if needed <= names <= needed | also:
                return kind
        if "coefficients" in names:
            words = "draws= is given the parameters of a model; give the distribution they predict for the original"
            raise DataError(f"{words}: change.secret['draws'][target].predictive(original)", argument="draws")
    words = "synthesize keeps draws of 'normal', 'logistic', 'multinomial' and 'poisson', and .predictive(original)"
    raise DataError(f"draws= takes a dict of arrays: {OFFERS}; {words} gives them so", argument="draws")


def evidence(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: int | Sequence[float] | None,
    prior: Sequence[float] | None,
) -> Evidence:  # fmt: skip
    """Read draws of any kind."""
    kind = kind_of(draws)
    if kind == "categories":  # every level is a guess
        made = _categories(pair, target, draws, prior)
    elif kind == "logs":
        made = _logs(pair, draws, prior)
    else:
        made = number_evidence(pair, target, draws, guesses, prior)
    ruled_out = np.any([~np.isfinite(part.log_truth).all(axis=0) for part in made.parts], axis=0)
    if ruled_out.any():
        words = f"draws rule out the true value of {counted(int(ruled_out.sum()), 'record')}"
        raise DataError(
            f"{words}; posterior draws given the original cannot do that: check the order of rows and levels"
        )
    for part in made.parts:
        for label, log_released in zip(pair.names[1:], part.log_released, strict=True):
            if not np.isfinite(log_released).any() or np.isnan(log_released).any():
                raise DataError(f"{label} could not have come from any of the draws; were they its own?")
    return made


def _categories(pair: Pair, target: str, draws: Mapping[str, Any], prior: Sequence[float] | None) -> Evidence:
    shared = pair.codes(target)
    gone = read_missing(draws, pair.n)
    missing = [codes == 0 for codes in shared.codes]
    place, levels = _places(target, draws, shared, missing)
    of_missing = ", being missing the last" if place[0] == levels - 1 else ""
    more = f", then the {levels} levels{of_missing}"
    chance = read_array(draws, "probability", (None, pair.n, levels), (None, levels), more=more)
    if chance.ndim == 2:
        chance = np.broadcast_to(chance[:, None], (len(chance), pair.n, levels))
    if (chance < 0).any() or np.abs(chance.sum(axis=2) - 1).max() > 1e-6:
        raise DataError("draws['probability'] must not be negative and add up to 1 over the levels", argument="draws")
    held = [place[codes.astype(np.int64)] for codes in shared.codes]

    @np.errstate(divide="ignore")
    def logs(a: int, b: int) -> Floats:
        return np.log(chance[:, a:b])

    def own(codes: Ints) -> Floats:
        """Log probability (H, n) of what each record of a file holds; 0 where another part says it."""
        known = codes < levels
        return np.where(known, category_logs(chance, np.where(known, codes, 0)), 0.0)

    value = Part(logs, own(held[0]), tuple(own(codes).sum(axis=1) for codes in held[1:]))
    parts = (value,) if gone is None else with_missing(value, gone, missing, levels)
    n_guesses = levels + (gone is not None)
    share = np.broadcast_to(read_prior(prior, n_guesses), (pair.n, n_guesses))
    return Evidence(held[0], share, parts, int(place[0]) if place[0] >= 0 else None)


def _places(target: str, draws: Mapping[str, Any], shared: SharedCoding, missing: Sequence[Bools]) -> tuple[Ints, int]:
    """Guess index of each code of the files, a missing value first; and the number of levels of the draws."""
    if "levels" in draws:
        place, levels = _by_name(target, draws["levels"], shared)
    else:
        place, levels = np.arange(shared.n_levels + 1) - 1, shared.n_levels
        if "missing" not in draws and any(gaps.any() for gaps in missing):
            place[0], levels = levels, levels + 1
    if "missing" in draws:
        if place[0] >= 0:
            words = "draws['levels'] lists being missing (None), and draws['missing'] gives it apart"
            raise DataError(words, argument="draws")
        place[0] = levels
    if absent := int((place[np.unique(np.concatenate(shared.codes))] < 0).sum()):
        words = f"the files have {counted(absent, 'level')} of {target!r} that draws['levels'] does not name"
        raise DataError(f"{words} (None: being missing)")
    return place, levels


def _by_name(target: str, given: Any, shared: SharedCoding) -> tuple[Ints, int]:
    numbers = shared.kind == "numbers"
    try:
        names = [None if level is None else float(level) if numbers else str(level) for level in given]
    except (TypeError, ValueError):
        words = f"draws['levels'] does not list values of {target!r}, which are numbers"
        raise DataError(words, argument="draws") from None
    at = {name: i for i, name in enumerate(names)}
    if len(at) < len(names):
        raise DataError("draws['levels'] names a level twice", argument="draws")
    held = [float(label) if numbers else label for label in shared.labels()[1:]]
    return np.array([at.get(name, -1) for name in (None, *held)], np.int64), len(names)


def _logs(pair: Pair, draws: Mapping[str, Any], prior: Sequence[float] | None) -> Evidence:
    table = read_array(draws, "log_guess", (None, pair.n, None))
    released = read_array(draws, "log_released", (pair.m, len(table)))
    truth = read_array(draws, "truth", (pair.n,)).astype(np.int64)
    n_guesses = table.shape[2]
    if not ((truth >= 0) & (truth < n_guesses)).all():
        words = f"draws['truth'] says which guess is the true value, from 0 to {n_guesses - 1}"
        raise DataError(words, argument="draws")
    own = np.take_along_axis(table, truth[None, :, None], axis=2)[:, :, 0]
    share = np.broadcast_to(read_prior(prior, n_guesses), (pair.n, n_guesses))
    return Evidence(truth, share, (Part(lambda a, b: table[:, a:b], own, tuple(released)),))


FEW_DRAWS = 30
RECORDS = ("probability", "baseline", "rank", "effective_draws")
MISSING_RULE = "a missing value is a level of its own"
Columns = dict[str, Floats]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BayesianAttributeRisk(ColumnResult):
    """How sure an intruder becomes of the true values; given all releases together (`by_release`: each alone).

    Attributes
    ----------
    n : int
        Records.
    n_draws : int
        Posterior draws given.
    mean_guesses : float
        Values that an intruder considers for a record, the true one among them.
    mean_probability : float
        Mean posterior probability of the true value (being missing is one).
    baseline : float
        Mean probability of the true value before the release: equal for all guesses, or `prior`.
    gain : float
        ``mean_probability - baseline``: what the release tells.
    share_first : float
        Share of records whose true value is the most probable guess; equally probable ones share.
    mean_rank : float
        Mean rank of the true value among the guesses; 1 is the most probable.
    largest_probability : float
        Of any record.
    effective_draws : float
        Draws that the worst supported probability rests on.
    records : frame
        ``probability`` of the true value, ``baseline``, ``rank``, ``effective_draws``.
    """

    measure: ClassVar[str] = "bayesian_attribute_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_draws", "mean_guesses", "mean_probability", "baseline", "gain", "share_first", "mean_rank",
        "largest_probability", "effective_draws",
    )  # fmt: skip
    target: str
    n_draws: int
    mean_guesses: float
    mean_probability: float
    baseline: float
    gain: float
    share_first: float
    mean_rank: float
    largest_probability: float
    effective_draws: float

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("mean_probability", "probability"),
            FileFigure("gain", "gain"),
            FileFigure("share_first", "first"),
            FileFigure("baseline", "baseline", higher="reference"),
            FileFigure("mean_rank", "rank", higher="safer"),
            FileFigure("mean_guesses", "guesses", higher="reference"),
            FileFigure("largest_probability", "probability", "max"),
        )


def bayesian_attribute_risk(
    original: Any,
    released: Any = None,
    *,
    target: str | None = None,
    draws: Mapping[str, Any],
    guesses: int | Sequence[float] | None = None,
    prior: Sequence[float] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> BayesianAttributeRisk:
    """Measure how probable the true value of each record becomes, given a synthesizer's posterior draws.

    The intruder of the worst case: they know the synthesizer, every other record of the original and all of
    this one but the target.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them, in which only the target is synthetic; row i was made from row i of the
        original, or has its `id`.
    target : str
        The synthetic variable.
    draws : dict of str to array
        H draws of the parameters given the original, row i for record i of the original. Of a number that is
        normal given the rest ``{"mean": (H, n), "sd": (H,) or (H, n)}``, of a count that is Poisson
        ``{"rate": (H, n) or (H,)}``. Of a category ``{"probability": (H, n, L) or (H, L)}``, the L levels
        being the values of the target in all files, ascending, and last being missing where a value is; or
        those listed under ``"levels"`` (None: missing). Of each of these, where whether there is a value has
        parameters of its own, independent of the others, also ``"missing": (H, n) or (H,)``, the probability
        that there is none. Of any other model natural logs: ``{"log_guess": (H, n, G), "truth": (n,),
        "log_released": (m, H)}``: of each guess, which guess (from 0) is the truth, and of each release as a
        whole. Of our own synthesis ``change.secret["draws"][target].predictive(original)``.
    guesses : int or sequence of float, optional
        For numbers: values that an intruder considers besides the true one: so many quantiles of the
        original (the middles of as many classes), or these. Default 10 quantiles; of counts below 100 each
        from 0 to the largest of the original, and "more than that" as one guess.
    prior : sequence of float, optional
        For categories, counts guessed one by one, and logs: what an intruder holds of each guess before, in
        the order of the guesses ("more", then missing, last); equal unless given.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the target where it has one sensitive variable.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    BayesianAttributeRisk

    Raises
    ------
    ColumnError
        A target that a file does not have.
    DataError
        Files of different lengths without `id`; draws of another shape, without missing values where the
        files have them, that rule out a true value or a whole release.
    ScenarioError
        No target.

    Notes
    -----
    p(release | the record has y) is the mean of p(release | draw) over the draws with the weights
    p(y | draw) / p(true value | draw), and over m releases the product. With files of some size few draws
    carry that mean: look at ``effective_draws``, and use more draws where it is small.

    Being missing is one more value that the target may have, of numbers too: p(y | draw) of a number y is the
    probability of being there times its density then. Of a record whose true value is missing, that it is
    missing is what can be learnt.

    References
    ----------
    Hu, J., Reiter, J. P. and Wang, Q. (2014). Disclosure risk evaluation for fully synthetic categorical
    data. Privacy in Statistical Databases. Hu, J. (2019). Bayesian estimation of attribute and
    identification disclosure risks in synthetic data. Transactions on Data Privacy 12.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> survey = pl.DataFrame({"ill": ["no", "no", "yes"]})
    >>> draws = {"probability": np.array([[0.9, 0.1], [0.5, 0.5]])}
    >>> result = bayesian_attribute_risk(survey, survey, target="ill", draws=draws)
    >>> result.records["probability"].round(3).to_list(), result.baseline
    ([0.461, 0.461, 0.547], 0.5)
    """
    scenario = arguments.scenario_or_none(scenario)
    if target is None:
        sensitive = scenario.sensitive if scenario else ()
        if len(sensitive) != 1:
            raise ScenarioError("say which variable is synthetic and would be learnt: target='...'", argument="target")
        target = sensitive[0]
    arguments.column(target, "target")
    roles = {"target": [target]}
    broken = breakdown(original, by, BayesianAttributeRisk, interval, seed, scenario, prefix)
    is_number = kind_of(draws) in {"normal", "counts"}
    pair = open_pair(
        original, released, categories={} if is_number else roles, numeric=roles if is_number else {},
        also=broken.also, aligned=True, id=id,
    )  # fmt: skip
    given = evidence(pair, target, draws, guesses, prior)
    notes = same_note(sum(pair.identical([target])), pair.m, "target, row by row")
    if given.n_missing:
        notes["missing"] = (
            f"the true value of {given.n_missing} of {pair.n} records is that it is missing, a guess like others"
        )
    whole, of_records = _risk(given)
    columns = {name: of_records[name] for name in RECORDS}
    alone = [_risk(given.of_release(j))[0] for j in range(pair.m)] if pair.m > 1 else [whole]
    if pair.m > 1:
        notes["releases"] = "all figures are given all releases together; by_release gives each alone"
    if whole["effective_draws"] < FEW_DRAWS:
        notes["effective_draws"] = (
            f"the worst supported probability rests on {whole['effective_draws']:.1f} of {given.n_draws} draws: give "
            "more draws, or take such probabilities as rough"
        )
    result = BayesianAttributeRisk(
        pair=pair, per_release=tuple(alone), missing_rule=MISSING_RULE, notes=notes, target=target, n=pair.n,
        n_draws=given.n_draws, **whole, columns=columns, prefix=prefix,
    )  # fmt: skip
    return broken.of(result, of_records)


def _risk(given: Evidence) -> tuple[dict[str, float], Columns]:
    with np.errstate(divide="ignore"):
        log_prior = np.log(given.prior)
    posterior = posterior_of_guesses(given.parts, log_prior)
    at = given.truth[:, None]
    probability = np.take_along_axis(posterior.probability, at, axis=1)[:, 0]
    baseline = np.take_along_axis(given.prior, at, axis=1)[:, 0]
    rank, first = rank_of_truth(posterior.probability, given.truth, given.prior > 0)
    n = len(probability)
    figures = {
        "mean_guesses": float((given.prior > 0).sum() / n),
        "mean_probability": math.fsum(probability) / n,
        "baseline": math.fsum(baseline) / n,
        "gain": math.fsum(probability - baseline) / n,
        "share_first": float(first.mean()),
        "mean_rank": float(rank.mean()),
        "largest_probability": float(probability.max()),
        "effective_draws": float(posterior.draws.min()),
    }
    columns = {
        "probability": probability, "baseline": baseline, "rank": rank, "effective_draws": posterior.draws,
        "gain": probability - baseline, "first": first,
        "guesses": np.broadcast_to((given.prior > 0).sum(axis=1), n).astype(np.float64),
    }  # fmt: skip
    return figures, columns
