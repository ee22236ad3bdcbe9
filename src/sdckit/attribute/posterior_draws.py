"""Posterior draws of a synthesizer as they are given, checked, and as the logs that the risk needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.posterior_guesses import LogOf, category_logs, normal_logs
from sdckit.cells.pair import Pair
from sdckit.errors import DataError

__all__ = ["KINDS", "Evidence", "evidence", "kind_of"]

Floats = NDArray[np.float64]
KINDS = {
    "normal": {"mean", "sd"},
    "categories": {"probability"},
    "logs": {"log_guess", "log_released", "truth"},
}
OFFERS = " or ".join("{" + ", ".join(map(repr, sorted(names))) + "}" for names in KINDS.values())


@dataclass(frozen=True, eq=False)
class Evidence:
    """What `posterior_of_guesses` takes, and which guess is the truth.

    Attributes
    ----------
    truth : ndarray, int64, shape (n,)
    prior : ndarray, float64, shape (n, G)
        0 for what is no guess of a record.
    log_guess, log_truth, log_released
        See `posterior_of_guesses`.
    """

    truth: NDArray[np.int64]
    prior: Floats
    log_guess: LogOf
    log_truth: Floats
    log_released: tuple[Floats, ...]

    @property
    def n_draws(self) -> int:
        """Draws (H)."""
        return len(self.log_truth)


def kind_of(draws: object) -> str:
    """Which of the three kinds of draws is given.

    Raises
    ------
    DataError
        None of them.
    """
    if isinstance(draws, Mapping):
        for kind, names in KINDS.items():
            if set(draws) == names:
                return kind
    raise DataError(f"draws= takes a dict of arrays: {OFFERS}")


def evidence(
    pair: Pair,
    target: str,
    draws: Mapping[str, Any],
    guesses: int | Sequence[float],
    prior: Sequence[float] | None,
) -> Evidence:
    """Read draws of any kind.

    Raises
    ------
    DataError
        As `bayesian_attribute_risk`.
    """
    kind = kind_of(draws)
    made = {"normal": _normal, "categories": _categories, "logs": _logs}[kind](
        pair, target, draws, guesses, prior
    )
    if not np.isfinite(made.log_truth).all():
        n = int((~np.isfinite(made.log_truth)).any(axis=0).sum())
        raise DataError(
            f"draws rule out the true value of {n} records; posterior draws given the original cannot do that: "
            "check the order of rows and levels"
        )
    for j, one in enumerate(made.log_released):
        if not np.isfinite(one).any() or np.isnan(one).any():
            raise DataError(
                f"{pair.names[j + 1]} could not have come from any of the draws; were they its own?"
            )
    return made


def _array(draws: Mapping[str, Any], name: str, *shapes: tuple[int | None, ...]) -> Floats:
    """One array of draws of one of the shapes allowed (None: any length)."""
    try:
        found = np.asarray(draws[name], np.float64)
    except (TypeError, ValueError):
        raise DataError(f"draws[{name!r}] is no array of numbers") from None
    for shape in shapes:
        if found.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, found.shape, strict=True)):
            if np.isnan(found).any():
                raise DataError(f"draws[{name!r}] has missing values")
            return found
    wanted = " or ".join(
        "(" + ", ".join("any" if size is None else str(size) for size in shape) + ")" for shape in shapes
    )
    raise DataError(
        f"draws[{name!r}] has the shape {found.shape}; it must be {wanted}: draws first, then records"
    )


def _complete(pair: Pair, target: str, missing: Sequence[NDArray[np.bool_]]) -> None:
    faults = [
        f"{label}: {target!r} is missing in {int(one.sum())} rows"
        for label, one in zip(pair.names, missing, strict=True)
        if one.any()
    ]
    if faults:
        raise DataError(f"{'; '.join(faults)}; the target needs every value")


def _normal(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: int | Sequence[float], prior: object
) -> Evidence:
    values = pair.numbers(target, "target")
    _complete(pair, target, [np.isnan(one) for one in values])
    if prior is not None:
        raise DataError("prior= is for categories; numbers are guessed with equal probabilities")
    mean = _array(draws, "mean", (None, pair.n))
    sd = _array(draws, "sd", (len(mean),), (len(mean), pair.n))
    if not (sd > 0).all():
        raise DataError("draws['sd'] has values that are not above 0")
    sd = np.broadcast_to(sd[:, None] if sd.ndim == 1 else sd, mean.shape)
    grid = _grid(values[0], guesses)
    # the truth first, then the guesses that are not it
    table = np.column_stack([values[0], np.broadcast_to(grid, (pair.n, len(grid)))])
    possible = np.column_stack([np.ones(pair.n, bool), table[:, 1:] != values[0][:, None]])
    share = possible / possible.sum(axis=1, keepdims=True)

    def logs(a: int, b: int) -> Floats:
        return normal_logs(table[a:b], mean[:, a:b], sd[:, a:b])

    released = tuple(normal_logs(one[:, None], mean, sd).sum(axis=(1, 2)) for one in values[1:])
    log_truth = normal_logs(values[0][:, None], mean, sd)[:, :, 0]
    return Evidence(np.zeros(pair.n, np.int64), share, logs, log_truth, released)


def _grid(values: Floats, guesses: int | Sequence[float]) -> Floats:
    if isinstance(guesses, (int, np.integer)) and not isinstance(guesses, bool):
        if guesses < 1:
            raise DataError("guesses: give 1 or more, or a list of values")
        return np.unique(np.quantile(values, (np.arange(guesses) + 0.5) / guesses))
    try:
        grid = np.unique(np.asarray(guesses, np.float64))
    except (TypeError, ValueError):
        raise DataError("guesses: give how many, or a list of values") from None
    if grid.size == 0 or not np.isfinite(grid).all():
        raise DataError("guesses: a list of values needs one at least, and all finite")
    return grid


def _categories(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: object, prior: Sequence[float] | None
) -> Evidence:
    del guesses  # every level is one
    shared = pair.codes(target)
    _complete(pair, target, [codes == 0 for codes in shared.codes])
    levels = shared.n_levels
    chance = _array(draws, "probability", (None, pair.n, levels), (None, levels))
    if chance.ndim == 2:
        chance = np.broadcast_to(chance[:, None], (len(chance), pair.n, levels))
    if (chance < 0).any() or np.abs(chance.sum(axis=2) - 1).max() > 1e-6:
        raise DataError("draws['probability'] must not be negative and add up to 1 over the levels")
    truth, *others = (codes.astype(np.int64) - 1 for codes in shared.codes)

    def logs(a: int, b: int) -> Floats:
        with np.errstate(divide="ignore"):
            found: Floats = np.log(chance[:, a:b])
        return found

    released = tuple(category_logs(chance, codes).sum(axis=1) for codes in others)
    share = np.broadcast_to(_prior(prior, levels), (pair.n, levels))
    return Evidence(truth, share, logs, category_logs(chance, truth), released)


def _logs(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: object, prior: Sequence[float] | None
) -> Evidence:
    del target, guesses
    table = _array(draws, "log_guess", (None, pair.n, None))
    released = _array(draws, "log_released", (pair.m, len(table)))
    truth = _array(draws, "truth", (pair.n,)).astype(np.int64)
    n_guesses = table.shape[2]
    if not ((truth >= 0) & (truth < n_guesses)).all():
        raise DataError(f"draws['truth'] says which guess is the true value, from 0 to {n_guesses - 1}")
    own = np.take_along_axis(table, truth[None, :, None], axis=2)[:, :, 0]
    share = np.broadcast_to(_prior(prior, n_guesses), (pair.n, n_guesses))
    return Evidence(truth, share, lambda a, b: table[:, a:b], own, tuple(released))


def _prior(prior: Sequence[float] | None, n: int) -> Floats:
    if prior is None:
        return np.full(n, 1 / n)
    found = np.asarray(prior, np.float64)
    if found.shape != (n,) or not np.isfinite(found).all() or not (found > 0).all():
        raise DataError(f"prior= needs {n} numbers above 0, one for each guess (levels in ascending order)")
    share: Floats = found / found.sum()
    return share
