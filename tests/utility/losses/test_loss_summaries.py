"""Tables of means over the releases."""

from __future__ import annotations

import numpy as np

from sdckit import InformationLoss
from sdckit.utility.losses.loss_release import Release
from sdckit.utility.losses.loss_summaries import UNDEFINED, paired_table, variable_table


def one(shift):
    centres = np.array([[[1.0, 2.0]] * 3, [[1.0 + shift, 2.0]] * 3])
    matrices = np.eye(2), np.eye(2) * (1 + shift)
    return Release({}, np.zeros(1), False, 0, centres, matrices, matrices)


def test_means_over_the_releases():
    found = variable_table(["a", "b"], [one(1.0), one(3.0)])
    assert found["variable"] == ["a", "b"]
    assert (found["mean_original"], found["mean_released"]) == ([1.0, 2.0], [3.0, 2.0])
    assert set(found) == {"variable"} | {
        f"{figure}_{part}" for figure in ("mean", "median", "sd") for part in ("original", "released")
    }


def test_pairs():
    found = paired_table(["a", "b"], [one(1.0), one(3.0)])
    assert list(zip(found["first"], found["second"], strict=True)) == [("a", "a"), ("a", "b"), ("b", "b")]
    assert found["covariance_original"] == [1.0, 0.0, 1.0]
    assert found["correlation_released"] == [3.0, 0.0, 3.0]


def test_only_figures_have_reasons():
    assert set(UNDEFINED) <= set(InformationLoss.figures)
    assert all(UNDEFINED.values())
