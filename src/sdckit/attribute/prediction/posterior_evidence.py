"""What the posterior of guesses is computed from, and how the arrays of draws are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.prediction.posterior_guesses import Part
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """What `posterior_of_guesses` takes, and which guess is the truth."""

    truth: NDArray[np.int64]  # (n,)
    prior: Floats  # (n, G), 0 for what is no guess of a record
    parts: tuple[Part, ...]
    missing: int | None = None  # which guess is being missing; None where that is no guess

    @property
    def n_draws(self) -> int:
        """Draws (H)."""
        return len(self.parts[0].log_truth)

    @property
    def n_missing(self) -> int:
        """Records whose true value is missing."""
        return 0 if self.missing is None else int((self.truth == self.missing).sum())

    def of_release(self, j: int) -> Evidence:
        """What one release tells alone."""
        return replace(
            self, parts=tuple(replace(part, log_released=part.log_released[j : j + 1]) for part in self.parts)
        )


def read_missing(draws: Mapping[str, Any], n: int) -> Floats | None:
    """Read the probability of being missing (H, n), where it is given."""
    if "missing" not in draws:
        return None
    gone = read_array(draws, "missing", (None, n), (None,))
    if (gone < 0).any() or (gone > 1).any():
        raise DataError("draws['missing'] are probabilities, from 0 to 1", argument="draws")
    return np.broadcast_to(gone[:, None] if gone.ndim == 1 else gone, (len(gone), n))


def with_missing(held: Part, gone: Floats, missing: Sequence[Bools], n_guesses: int) -> tuple[Part, Part]:
    """Being missing as one more guess, the last: a part for the value, if any, and one for whether there is one.

    The logs of `held`, the value, are 0 where a record of a file has none. `gone` (H, n) is the probability of
    being missing; `missing` says where the original and each release have no value.
    """

    def of_value(a: int, b: int) -> Floats:
        known = held.log_guess(a, b)
        return np.concatenate([known, np.zeros((*known.shape[:2], 1))], axis=2)

    with np.errstate(divide="ignore"):
        here, away = np.log1p(-gone), np.log(gone)

    def of_presence(a: int, b: int) -> Floats:
        found = np.repeat(here[:, a:b, None], n_guesses + 1, axis=2)
        found[:, :, -1] = away[:, a:b]
        return found

    truth, *others = (np.where(one, away, here) for one in missing)
    presence = Part(of_presence, truth, tuple(one.sum(axis=1) for one in others))
    return replace(held, log_guess=of_value), presence


def read_array(
    draws: Mapping[str, Any], name: str, *shapes: tuple[int | None, ...], more: str = ""
) -> Floats:
    """Read one array of draws of one of the shapes allowed (None: any length).

    Examples
    --------
    >>> read_array({"sd": [1, 2]}, "sd", (None,)).tolist()
    [1.0, 2.0]
    """
    try:
        found = np.asarray(draws[name], np.float64)
    except (TypeError, ValueError):
        raise DataError(f"draws[{name!r}] is no array of numbers", argument="draws") from None
    for shape in shapes:
        if found.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, found.shape, strict=True)):
            if np.isnan(found).any():
                raise DataError(f"draws[{name!r}] has missing values", argument="draws")
            return found
    wanted = " or ".join(
        f"({', '.join('any' if one is None else str(one) for one in shape)})" for shape in shapes
    )
    words = f"draws[{name!r}] has the shape {found.shape}; it must be {wanted}"
    raise DataError(f"{words}: draws first, then records{more}", argument="draws")


def read_prior(prior: Sequence[float] | None, n: int) -> Floats:
    """What an intruder holds of each of n guesses before; equal unless given.

    Examples
    --------
    >>> read_prior([3, 1], 2).tolist(), read_prior(None, 4).tolist()
    ([0.75, 0.25], [0.25, 0.25, 0.25, 0.25])
    """
    if prior is None:
        return np.full(n, 1 / n)
    try:
        found = np.asarray(prior, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n,) or not np.isfinite(found).all() or not (found > 0).all():
        words = f"prior= needs {n} numbers above 0, one for each guess, in the order of the guesses"
        raise DataError(words, argument="prior")
    share: Floats = found / found.sum()
    return share
