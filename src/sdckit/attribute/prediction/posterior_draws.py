"""Posterior draws of a synthesizer as they are given, checked, and as the logs that the risk needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from sdckit.attribute.prediction.posterior_guesses import Part, category_logs
from sdckit.attribute.prediction.posterior_numbers import number_evidence
from sdckit.cells.pair import Pair
from sdckit.cells.shared_coding import SharedCoding
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

# what each kind must hold, and what it may
KINDS: dict[str, tuple[set[str], set[str]]] = {
    "normal": ({"mean", "sd"}, {"missing"}),
    "counts": ({"rate"}, {"missing"}),
    "categories": ({"probability"}, {"levels", "missing"}),
    "logs": ({"log_guess", "log_released", "truth"}, set()),
}
OFFERS = " or ".join("{" + ", ".join(map(repr, sorted(names))) + "}" for names, _ in KINDS.values())


def kind_of(draws: object) -> str:
    """Which of the four kinds of draws is given."""
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
    pair: Pair,
    target: str,
    draws: Mapping[str, Any],
    guesses: int | Sequence[float] | None,
    prior: Sequence[float] | None,
) -> Evidence:
    """Read draws of any kind."""
    read = {"normal": number_evidence, "counts": number_evidence, "categories": _categories, "logs": _logs}
    made = read[kind_of(draws)](pair, target, draws, guesses, prior)
    ruled_out = np.any([~np.isfinite(part.log_truth).all(axis=0) for part in made.parts], axis=0)
    if ruled_out.any():
        words = f"draws rule out the true value of {int(ruled_out.sum())} records; posterior draws given the original"
        raise DataError(f"{words} cannot do that: check the order of rows and levels")
    for part in made.parts:
        for label, one in zip(pair.names[1:], part.log_released, strict=True):
            if not np.isfinite(one).any() or np.isnan(one).any():
                raise DataError(f"{label} could not have come from any of the draws; were they its own?")
    return made


def _categories(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: object, prior: Sequence[float] | None
) -> Evidence:
    del guesses  # every level is one
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
        words = "draws['probability'] must not be negative and add up to 1 over the levels"
        raise DataError(words, argument="draws")
    held = [place[codes.astype(np.int64)] for codes in shared.codes]

    def logs(a: int, b: int) -> Floats:
        with np.errstate(divide="ignore"):
            found: Floats = np.log(chance[:, a:b])
        return found

    def own(codes: NDArray[np.int64]) -> Floats:
        """Log probability (H, n) of what each record of a file holds; 0 where another part says it."""
        known = codes < levels
        return np.where(known, category_logs(chance, np.where(known, codes, 0)), 0.0)

    value = Part(logs, own(held[0]), tuple(own(one).sum(axis=1) for one in held[1:]))
    parts = (value,) if gone is None else with_missing(value, gone, missing, levels)
    n_guesses = levels + (gone is not None)
    share = np.broadcast_to(read_prior(prior, n_guesses), (pair.n, n_guesses))
    return Evidence(held[0], share, parts, int(place[0]) if place[0] >= 0 else None)


def _places(
    target: str, draws: Mapping[str, Any], shared: SharedCoding, missing: Sequence[NDArray[np.bool_]]
) -> tuple[NDArray[np.int64], int]:
    """Which guess each code of the files is, that of a missing value first; and how many levels the draws have."""
    if "levels" in draws:
        place, levels = _by_name(target, draws["levels"], shared)
    else:
        place, levels = np.arange(shared.n_levels + 1) - 1, shared.n_levels
        if "missing" not in draws and any(one.any() for one in missing):
            place[0], levels = levels, levels + 1
    if "missing" in draws:
        if place[0] >= 0:
            words = "draws['levels'] lists being missing (None), and draws['missing'] gives it apart"
            raise DataError(words, argument="draws")
        place[0] = levels
    if absent := int((place[np.unique(np.concatenate(shared.codes))] < 0).sum()):
        words = f"{absent} levels of {target!r} in the files are not among draws['levels']"
        raise DataError(f"{words} (None: being missing)")
    return place, levels


def _by_name(target: str, given: Any, shared: SharedCoding) -> tuple[NDArray[np.int64], int]:
    numbers = shared.kind == "numbers"
    try:
        names = [None if one is None else float(one) if numbers else str(one) for one in given]
    except (TypeError, ValueError):
        words = f"draws['levels'] does not list values of {target!r}, which are numbers"
        raise DataError(words, argument="draws") from None
    at = {name: i for i, name in enumerate(names)}
    if len(at) < len(names):
        raise DataError("draws['levels'] names a level twice", argument="draws")
    held = [float(one) if numbers else one for one in shared.labels()[1:]]
    return np.array([at.get(name, -1) for name in (None, *held)], np.int64), len(names)


def _logs(
    pair: Pair, target: str, draws: Mapping[str, Any], guesses: object, prior: Sequence[float] | None
) -> Evidence:
    del target, guesses
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
