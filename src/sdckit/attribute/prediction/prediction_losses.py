"""What a wrong guess costs: of numbers by their distance, of categories by a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

LOSSES = ("absolute", "squared", "relative")


def named_loss(loss: Any, *, numeric: bool) -> str:
    """The name of a loss: of numbers one of `LOSSES`, of categories "wrong" or "costs".

    Raises `DataError`: a loss that is not for this target.

    >>> named_loss(None, numeric=True), named_loss([[0, 1], [2, 0]], numeric=False)
    ('absolute', 'costs')
    """
    if numeric:
        return str(arguments.choice("absolute" if loss is None else loss, "loss", LOSSES))
    if loss is None:
        return "wrong"
    if isinstance(loss, str) or not isinstance(loss, (Mapping, Sequence, np.ndarray)):
        says = "loss of categories is a table of costs: {true: {guessed: cost}}, or rows in the order of the levels"
        raise DataError(says, argument="loss")
    return "costs"


def loss_of_numbers(error: Floats, truth: Floats, loss: str) -> Floats:
    """Loss of each absolute error; not a number where a relative one has no base.

    >>> loss_of_numbers(np.array([2.0, 2.0]), np.array([4.0, 0.0]), "relative").tolist()
    [0.5, nan]
    """
    if loss == "squared":
        return np.asarray(error**2, np.float64)
    if loss == "relative":
        base = np.abs(truth)
        return np.where(base > 0, error / np.where(base > 0, base, 1.0), np.nan)
    return error


def costs_of(loss: Any, labels: Sequence[str]) -> Floats:
    """Costs of guesses (columns) by the true level (rows), in the order of the labels.

    Raises `DataError`: not a cost of 0 or more for every pair of levels, or one of a right guess.

    >>> costs_of({"no": {"yes": 1}, "yes": {"no": 5}}, ["no", "yes"]).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    n = len(labels)
    how = f"loss: give a cost for each of the {n} levels and each guess ({', '.join(labels[:3])}, ...)"
    rows: Any = loss
    if isinstance(loss, Mapping):
        named = {str(true): row for true, row in loss.items()}
        if unknown := [true for true in named if true not in labels]:
            raise DataError(f"loss: {unknown[0]!r} is no level of the target; {how}", argument="loss")
        if any(not isinstance(row, Mapping) for row in named.values()):
            raise DataError(how, argument="loss")
        by_text = {true: {str(to): cost for to, cost in row.items()} for true, row in named.items()}
        rows = [
            [0.0 if true == to else by_text.get(true, {}).get(to, np.nan) for to in labels] for true in labels
        ]
    try:
        costs = np.asarray(rows, np.float64)
    except (TypeError, ValueError):
        raise DataError(how, argument="loss") from None
    if costs.shape != (n, n) or not (np.isfinite(costs) & (costs >= 0)).all():
        raise DataError(f"{how}; each 0 or more", argument="loss")
    if np.diag(costs).any():
        raise DataError("loss: a right guess costs nothing; the diagonal is 0", argument="loss")
    return costs
