"""The figures of predictions are the means of what is told of each record."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attribute.prediction.prediction_figures import (
    categorical_figures,
    compared_losses,
    loss_figures,
    numeric_figures,
    told_of_records,
)

BEFORE, AFTER = np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 1.0])


def test_errors_that_differ_by_rounding_are_equal():
    worse, better = compared_losses(BEFORE, AFTER + 1e-12, np.ones(3))
    assert worse.tolist() == [True, False, False]
    assert better.tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["numeric", "categorical", "costs"])
def test_means_of_what_is_told_are_the_figures(kind):
    if kind == "numeric":
        truth = np.array([5.0, 1.0, 3.0])
        figures = numeric_figures(BEFORE, AFTER, truth)
    else:
        truth = np.array([1, 2, 1])
        figures = categorical_figures(BEFORE / 2, AFTER / 2, truth)
    paid = (np.array([0.0, 3.0, 1.0]), np.array([2.0, 0.0, 1.0]))
    loss = "costs" if kind == "costs" else "absolute"
    figures |= loss_figures(*paid, loss)
    scores = (BEFORE, [AFTER]) if kind == "numeric" else (BEFORE / 2, [AFTER / 2])
    asked = np.array([9, 4, 6])
    told = told_of_records(kind == "numeric", truth, asked, scores, (paid[0], [paid[1]]), loss)
    assert told.pop("rows").tolist() == [4, 6, 9]
    for name, values in told.items():
        assert values.mean() == pytest.approx(figures[name]), name
