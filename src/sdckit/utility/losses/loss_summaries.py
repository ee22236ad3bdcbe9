"""Information loss as tables, and why a figure of it may be undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.utility.losses.loss_release import Release

__all__ = ["UNDEFINED", "paired_table", "variable_table"]

SPREAD = "a variable has the same value in every record, or there are too few: leave it out"
CORRELATED = "needs two variables or more, in both files of different values and none following from others"
UNDEFINED = {
    "il1": "every original value is 0, or missing in one of the files",
    "il1_mean": "every original value is 0, or missing in one of the files",
    "il1s": SPREAD,
    "il1s_mean": SPREAD,
    "eigenvalues": CORRELATED,
    "robust_eigenvalues": f"{CORRELATED}, and enough complete records",
    "il_correl": CORRELATED,
    "covariance_difference": SPREAD,
    "correlation_difference": "needs two variables or more, each with different values in both files",
}
CENTRES = ("mean", "median", "sd")


def variable_table(numeric: Sequence[str], found: Sequence[Release]) -> dict[str, list[Any]]:
    """Means, medians and standard deviations of each variable, in the original and over the releases."""
    centres = np.mean([one.centres for one in found], axis=0)
    out: dict[str, list[Any]] = {"variable": list(numeric)}
    for i, name in enumerate(CENTRES):
        out[f"{name}_original"] = centres[0, i].tolist()
        out[f"{name}_released"] = centres[1, i].tolist()
    return out


def paired_table(numeric: Sequence[str], found: Sequence[Release]) -> dict[str, list[Any]]:
    """Covariance and correlation of each pair of variables, in the original and over the releases.

    The original's are means too: each release leaves out the records incomplete in it.
    """
    first, second = np.triu_indices(len(numeric))
    out: dict[str, list[Any]] = {
        "first": [numeric[i] for i in first.tolist()],
        "second": [numeric[i] for i in second.tolist()],
    }
    for name in ("covariance", "correlation"):
        matrices = np.mean([getattr(one, name) for one in found], axis=0)
        out[f"{name}_original"] = matrices[0][first, second].tolist()
        out[f"{name}_released"] = matrices[1][first, second].tolist()
    return out
