"""E6: random noise on numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.data.replace import open_eager, with_numbers
from sdckit.errors import DataError
from sdckit.protect.change import Change, Protected
from sdckit.protect.draws import open_rng
from sdckit.protect.numeric_columns import became_fractions, chosen, count_changed, numbers
from sdckit.protect.perturbation.noise_kinds import additive, correlated, moments_kept, on_outliers, rotated

__all__ = ["add_noise"]

KINDS = {"additive": additive, "correlated": correlated, "correlated2": moments_kept, "romm": rotated}
METHODS = (*KINDS, "outlier")
BELOW_100 = ("correlated2", "romm")


def add_noise(
    data: Any,
    *,
    columns: Sequence[str],
    noise: float = 10.0,
    method: str = "additive",
    keep_zeros: bool = False,
    seed: arguments.Seed = None,
) -> Protected:
    """Add random noise to numbers.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to change.
    noise : float
        Standard deviation of the noise in percent of that of the variable, whatever the method; above 0.
        "correlated2" and "romm" need less than 100. For "outlier", in percent of the value's distance from
        the median.
    method : {"additive", "correlated", "correlated2", "outlier", "romm"}
        Independent noise ("additive"); noise with the correlations of the data ("correlated"); the same,
        with the data drawn in so that means and covariances are kept in expectation ("correlated2"); on
        outliers only, the more the farther out they are ("outlier"); random orthogonal masking, which keeps
        means and covariances exactly ("romm").
    keep_zeros : bool
        Whether a 0 stays a 0; not with "romm".
    seed : int or numpy.random.Generator, optional

    Returns
    -------
    Protected
        ``data`` and ``change``. Columns of whole numbers become fractions: round them by `round_to`. The seed
        is in ``change.secret`` only: with it the noise can be taken off again.

    Raises
    ------
    ColumnError
        A column that the data does not have.
    DataError
        Text, infinite values, a constant column, noise out of range, and method "restr" of sdcMicro, which
        adds none.

    Notes
    -----
    Missing values stay. Covariances are those of records complete in the columns. Outliers are values beyond
    the 1st or 99th percentile of their column, and all values of records whose robust Mahalanobis distance
    squared is beyond the 97.5th percentile of the chi-squared distribution.

    "romm" multiplies the data by a random orthogonal matrix that leaves means alone, made of eight rounds of
    random rotations of three records each: memory grows with the records, not with their square. Records are
    mixed with those that have the same columns present.

    References
    ----------
    Brand, R. (2002). Microdata protection through noise addition. In: Inference Control in Statistical
    Databases, LNCS 2316, 97-116.
    Ting, D., Fienberg, S. E. and Trottini, M. (2008). Random orthogonal matrix masking methodology for
    microdata release. International Journal of Information and Computer Security 2, 86-105.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"id": [1, 2, 3, 4], "income": [100.0, 200.0, 400.0, None]})
    >>> found = add_noise(survey, columns=["income"], noise=5, seed=1)
    >>> found.change.changed, found.data["id"].to_list(), found.data["income"].null_count()
    ({'income': 3}, [1, 2, 3, 4], 1)
    """
    names = chosen(columns)
    share = _check_options(noise, method, keep_zeros)
    frame = open_eager(data, {"columns": names})
    values = numbers(frame, names, constant="so its noise would be none")
    rng, secret_seed = open_rng(seed)
    before = list(values.values())
    secret: dict[str, Any] = {"seed": secret_seed}
    notes: dict[str, str] = {}
    if method == "outlier":
        found, secret["outliers"], said = on_outliers(before, share, rng)
        notes |= {"outliers": said} if said else {}
        notes |= {} if secret["outliers"] else {"changed": "no value is an outlier"}
    else:
        found = KINDS[method](before, share, rng)
    if keep_zeros:
        found = [_zeros_kept(old, new) for old, new in zip(before, found, strict=True)]
    made = dict(zip(names, found, strict=True))
    out = with_numbers(frame, made)
    change = Change(
        method="add_noise",
        n=len(frame),
        changed=count_changed(values, made),
        parameters={
            "columns": list(names), "noise": float(noise), "method": method, "keep_zeros": keep_zeros,
        },
        secret=secret,
        notes={**notes, **became_fractions(frame, out, names)},
    )  # fmt: skip
    return Protected(out, change)


def _zeros_kept(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(before == 0, before, after)


def _check_options(noise: object, method: str, keep_zeros: object) -> float:
    if method == "restr":
        raise DataError(
            "method 'restr' adds no noise: it is a fixed linear map that anybody can turn back; "
            "'correlated2' keeps means and covariances",
            argument="method",
        )
    arguments.choice(method, "method", METHODS)
    says = "is the noise's standard deviation in percent of the variable's"
    percent = arguments.amount_above(noise, "noise", says)
    if method in BELOW_100 and percent >= 100:
        raise DataError(f"noise of method {method!r} is below 100 percent", argument="noise")
    if arguments.flag(keep_zeros, "keep_zeros") and method == "romm":
        raise DataError("keep_zeros: method 'romm' cannot keep zeros", argument="keep_zeros")
    return percent / 100
