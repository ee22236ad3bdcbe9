"""Information loss of one release, tables over several, and why a figure may be undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import Pair
from sdckit.numerics.array_types import Floats
from sdckit.numerics.outlying import robust_estimate
from sdckit.utility.losses.loss_kernels import (
    angle_distance,
    category_distance,
    correlations,
    covariances,
    eigenvalue_loss,
    inverse_correlation_loss,
    rank_distance,
    relative_loss,
    scaled_loss,
)

Ranks = Mapping[str, tuple[tuple[NDArray[np.int32], ...], int]]
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


@dataclass(frozen=True, eq=False)
class Release:
    """One release beside the original.

    `distance` (n,): mean distance of each record over the variables. `same`: whether every value is the original's.
    `n_incomplete`: records without a number in either file. `centres` (2, 3, p): means, medians and standard
    deviations of the numeric variables in the original and the release. `covariance` and `correlation` (p, p): of
    the records complete in both files.
    """

    figures: dict[str, float]
    distance: Floats
    same: bool
    n_incomplete: int
    centres: Floats
    covariance: tuple[Floats, Floats]
    correlation: tuple[Floats, Floats]


def release_figures(
    pair: Pair,
    j: int,
    numeric: Sequence[str],
    categorical: Sequence[str],
    ranks: Ranks,
    *,
    robust: bool,
    seed: int | None,
) -> Release:
    """Measure release `j` (from 0) against the original.

    The pair is aligned. `ranks`: codes of each file and number of levels of the ordered variables. `robust`:
    whether to compute the robust eigenvalues (NaN otherwise).
    """
    x, y = (_columns(pair, numeric, file) for file in (0, j + 1))
    distances = {
        **{name: angle_distance(x[:, i], y[:, i]) for i, name in enumerate(numeric)},
        **{name: category_distance(*_two(pair.codes(name).codes, j)) for name in categorical},
        **{name: rank_distance(*_two(codes, j), levels) for name, (codes, levels) in ranks.items()},
    }
    by_record = np.mean(list(distances.values()), axis=0)
    complete = ~(np.isnan(x) | np.isnan(y)).any(axis=1)
    pairs = x[complete], y[complete]
    covariance = covariances(pairs[0]), covariances(pairs[1])
    correlation = correlations(covariance[0]), correlations(covariance[1])
    centres = np.array([_centres(x), _centres(y)])
    figures = {
        **_sums(x, y),
        "eigenvalues": eigenvalue_loss(*correlation),
        "robust_eigenvalues": _robust(*pairs, seed) if robust and len(numeric) > 1 else math.nan,
        "il_correl": inverse_correlation_loss(*correlation) if numeric else math.nan,
        "il_variables": float(by_record.mean()),
        **_differences(covariance, correlation),
        **{f"variable_distances[{name}]": float(one.mean()) for name, one in distances.items()},
    }
    for i, name in enumerate(numeric):
        figures[f"mean_differences[{name}]"] = float(centres[1, 0, i] - centres[0, 0, i])
        figures[f"median_differences[{name}]"] = float(centres[1, 1, i] - centres[0, 1, i])
    same = np.array_equal(x, y, equal_nan=True) and not by_record.any()
    return Release(
        figures, by_record, same, int((~complete).sum()) if numeric else 0, centres, covariance, correlation
    )


def _columns(pair: Pair, numeric: Sequence[str], file: int) -> Floats:
    if not numeric:
        return np.empty((pair.n, 0))
    return np.column_stack([pair.numbers(name)[file] for name in numeric])


def _two(codes: Sequence[NDArray[np.int32]], j: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return codes[0], codes[j + 1]


def _sums(x: Floats, y: Floats) -> dict[str, float]:
    relative = [relative_loss(*columns) for columns in zip(x.T, y.T, strict=True)]
    scaled = [scaled_loss(*columns) for columns in zip(x.T, y.T, strict=True)]
    out: dict[str, float] = {}
    for name, parts in (("il1", relative), ("il1s", scaled)):
        cells = sum(count for _, count in parts)
        total = math.fsum(part for part, _ in parts) if cells else math.nan
        out |= {name: total, f"{name}_mean": total / cells if cells else math.nan}
    return out


def _centres(values: Floats) -> list[Floats]:
    """Means, medians and standard deviations (ddof 1) of what is known of each column."""
    known = [column[~np.isnan(column)] for column in values.T]
    spread = [float(one.std(ddof=1)) if len(one) > 1 else math.nan for one in known]
    return [
        np.array([one.mean() for one in known]),
        np.array([np.median(one) for one in known]),
        np.array(spread),
    ]


def _robust(x: Floats, y: Floats, seed: int | None) -> float:
    """The eigenvalues of the correlations that the minimum covariance determinant gives."""
    estimates = [robust_estimate(values, seed) for values in (x, y)]
    found = [correlations(one[1]) for one in estimates if one is not None]
    return eigenvalue_loss(*found) if len(found) == 2 else math.nan


def _differences(covariance: tuple[Floats, Floats], correlation: tuple[Floats, Floats]) -> dict[str, float]:
    """Mean differences over the pairs of variables; NaN where one has no spread."""
    p = len(covariance[0])
    out = {"covariance_difference": math.nan, "correlation_difference": math.nan}
    if p == 0:
        return out
    size = np.sqrt(np.diag(covariance[0]))
    if np.isfinite(covariance[0]).all() and (size > 0).all():
        apart = np.abs(covariance[1] - covariance[0]) / np.outer(size, size)
        out["covariance_difference"] = float(apart[np.triu_indices(p)].mean())
    if p > 1:
        out["correlation_difference"] = float(
            np.abs(correlation[1] - correlation[0])[np.triu_indices(p, 1)].mean()
        )
    return out


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
