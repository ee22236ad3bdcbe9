"""C5: the figures of predictions, from what is told of each record: errors, chances, losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import Floats

ROUNDING = 1e-9  # errors that differ by less are equal


def numeric_figures(original: Floats, released: Floats, truth: Floats) -> dict[str, float]:
    """Figures of absolute errors made by training on the original and on a release."""
    worse, better = compared_losses(original, released, np.maximum(original, np.abs(truth)))
    return {
        "mse_released": float(np.mean(released**2)),
        "mse_original": float(np.mean(original**2)),
        "share_less_accurate": float(worse.mean()),
        "share_more_accurate": float(better.mean()),
        "accuracy_released": math.nan,
        "accuracy_original": math.nan,
        "baseline": float(np.var(truth)),
    }


def categorical_figures(
    original: Floats, released: Floats, truth: NDArray[np.integer[Any]]
) -> dict[str, float]:
    """Figures of the chances of a right guess after training on the original and on a release."""
    worse, better = _compared_chances(original, released)
    return {
        "mse_released": math.nan,
        "mse_original": math.nan,
        "share_less_accurate": float(worse.mean()),
        "share_more_accurate": float(better.mean()),
        "accuracy_released": float(np.mean(released)),
        "accuracy_original": float(np.mean(original)),
        "baseline": float(np.bincount(truth).max() / len(truth)),
    }


def loss_figures(original: Floats, released: Floats, loss: str) -> dict[str, float]:
    """Mean losses, and of costs whom the release predicts worse and better."""
    found = {"mean_loss_released": _mean(released), "mean_loss_original": _mean(original)}
    if loss != "costs":
        return found
    worse, better = compared_losses(original, released, np.maximum(original, 1.0))
    return {
        **found,
        "share_less_accurate": float(worse.mean()),
        "share_more_accurate": float(better.mean()),
    }


def _mean(losses: Floats) -> float:
    known = losses[~np.isnan(losses)]
    return float(known.mean()) if len(known) else math.nan


def told_of_records(
    numeric: bool,
    truth: NDArray[Any],
    asked: NDArray[np.int64],
    scores: tuple[Floats, Sequence[Floats]],
    losses: tuple[Floats, Sequence[Floats]],
    loss: str,
) -> dict[str, NDArray[Any]]:
    """What is told of each record asked for, in the order of the file: the terms whose means the figures are."""
    (before, after), (paid, paid_after) = ((one, np.stack(list(others))) for one, others in (scores, losses))
    if loss == "costs":
        worse, better = compared_losses(paid, paid_after, np.maximum(paid, 1.0))
    elif numeric:
        worse, better = compared_losses(before, after, np.maximum(before, np.abs(truth)))
    else:
        worse, better = _compared_chances(before, after)
    found: dict[str, NDArray[Any]] = {
        "share_less_accurate": worse, "share_more_accurate": better, "mean_loss_released": paid_after,
        "mean_loss_original": paid,
    }  # fmt: skip
    if numeric:
        found |= {
            "mse_released": after**2,
            "mse_original": before**2,
            "baseline": (truth - truth.mean()) ** 2,
        }
    else:
        guess = truth == np.bincount(truth).argmax()
        found |= {"accuracy_released": after, "accuracy_original": before, "baseline": guess}
    order = np.argsort(asked)
    return {"rows": asked[order], **{name: one[..., order] for name, one in found.items()}}


def compared_losses(
    original: Floats, released: Floats, scale: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which records lose more by training on a release than on the original, and which less."""
    margin = ROUNDING * scale
    return released > original + margin, original > released + margin


def _compared_chances(original: Floats, released: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The same of chances of a right guess, which are lost where they are smaller."""
    return compared_losses(-original, -released, np.ones(len(original)))
