"""Draws of a number's distribution, normal or Poisson: what an intruder guesses, and the logs of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.prediction.posterior_evidence import (
    Evidence,
    read_array,
    read_missing,
    read_prior,
    with_missing,
)
from sdckit.attribute.prediction.posterior_guesses import Part, normal_logs, poisson_log_above, poisson_logs
from sdckit.cells.pair import Pair
from sdckit.data import arguments
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats

Asked = int | Sequence[float] | None
MOST_COUNTS = 100  # counts are guessed one by one where there are no more of them
QUANTILES = 10  # guesses of other numbers unless asked otherwise


@dataclass(frozen=True, eq=False)
class _Guessed:
    """What is guessed of each record."""

    table: Floats  # (n, G) numbers, some of which `possible` leaves out
    possible: Bools  # (n, G)
    truth: NDArray[np.int64]  # (n,) which of them is the true value; G where that is missing
    above: float | None  # one more guess is any number above this one


def number_evidence(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: Asked, prior: Sequence[float] | None
) -> Evidence:
    """Read draws of a number: ``mean`` and ``sd``, or ``rate`` of counts; with ``missing`` where it may be."""
    values = pair.numbers(target, "target")
    counts = "rate" in draws
    if counts:
        _check_counts(pair, target, values)
    parameters = _rate(pair, draws) if counts else _moments(pair, draws)
    logs_of = poisson_logs if counts else normal_logs
    gone = read_missing(draws, pair.n)
    missing = [np.isnan(one) for one in values]
    if gone is None:
        _check_complete(pair, target, missing)
    guessed = _guessed(values[0], guesses, counts)
    k = guessed.table.shape[1]
    n_guesses = k + (guessed.above is not None)

    def logs(a: int, b: int) -> Floats:
        rows = tuple(one[:, a:b] for one in parameters)
        found = logs_of(guessed.table[a:b], *rows)
        if guessed.above is None:
            return found
        return np.concatenate([found, poisson_log_above(guessed.above, rows[0])[:, :, None]], axis=2)

    def own(held: Floats) -> Floats:
        """Log density (H, n) of what each record of a file holds."""
        known = ~np.isnan(held)
        return np.where(known, logs_of(np.where(known, held, 0.0)[:, None], *parameters)[:, :, 0], 0.0)

    value = Part(logs, own(values[0]), tuple(own(one).sum(axis=1) for one in values[1:]))
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


def _positive(name: str, found: Floats) -> None:
    if not ((found > 0) & np.isfinite(found)).all():
        raise DataError(f"draws[{name!r}] has values that are not above 0, or infinite", argument="draws")


def _check_complete(pair: Pair, target: str, missing: Sequence[Bools]) -> None:
    faults = [
        f"{label}: {target!r} is missing in {int(one.sum())} rows"
        for label, one in zip(pair.names, missing, strict=True)
        if one.any()
    ]
    if faults:
        words = "give draws of being missing too: draws['missing'], probabilities (H, n)"
        raise DataError(f"{'; '.join(faults)}; {words}")


def _check_counts(pair: Pair, target: str, values: Sequence[Floats]) -> None:
    for label, one in zip(pair.names, values, strict=True):
        if not _are_counts(one[~np.isnan(one)]):
            words = f"{label}: {target!r} holds other values than counts (whole numbers of 0 or more)"
            raise DataError(f"{words}, of which draws['rate'] is the mean")


def _are_counts(values: Floats) -> bool:
    return bool(((values >= 0) & (values == np.floor(values))).all())


def _guessed(values: Floats, asked: Asked, counts: bool) -> _Guessed:
    known = values[~np.isnan(values)]
    if counts and asked is None and known.max() < MOST_COUNTS:
        every = np.arange(int(known.max()) + 1, dtype=np.float64)
        table = np.broadcast_to(every, (len(values), len(every)))
        truth = np.where(np.isnan(values), len(every), values).astype(np.int64)
        return _Guessed(table, np.ones(table.shape, np.bool_), truth, every[-1])
    grid = _grid(known, QUANTILES if asked is None else asked, counts)
    # the truth first, then the guesses that are not it
    first = np.where(np.isnan(values), grid[0], values)
    table = np.column_stack([first, np.broadcast_to(grid, (len(values), len(grid)))])
    possible = table != values[:, None]
    possible[:, 0] = ~np.isnan(values)
    return _Guessed(table, possible, np.zeros(len(values), np.int64), None)


def _grid(known: Floats, asked: int | Sequence[float], counts: bool) -> Floats:
    if arguments.is_whole(asked):
        arguments.count(asked, "guesses", "says how many, or lists values")
        at: Any = (np.arange(asked) + 0.5) / asked
        return np.unique(np.quantile(known, at, method="inverted_cdf" if counts else "linear"))
    try:
        grid = np.unique(np.asarray(asked, np.float64))
    except (TypeError, ValueError):
        raise DataError("guesses: give how many, or a list of values", argument="guesses") from None
    if grid.size == 0 or not np.isfinite(grid).all():
        raise DataError("guesses: a list of values needs one at least, and all finite", argument="guesses")
    if counts and not _are_counts(grid):
        raise DataError("guesses: counts are whole numbers of 0 or more", argument="guesses")
    return grid


def _share(possible: Bools, prior: Sequence[float] | None, *, same: bool) -> Floats:
    """What an intruder holds of each guess before; a prior is for guesses that are the same for all records."""
    if prior is None:
        share: Floats = possible / possible.sum(axis=1, keepdims=True)
        return share
    if not same:
        words = "prior= is for categories, and for counts that are guessed one by one"
        raise DataError(f"{words}; other numbers are guessed with equal probabilities", argument="prior")
    return np.broadcast_to(read_prior(prior, possible.shape[1]), possible.shape)
