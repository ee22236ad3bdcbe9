"""E8: blur numbers by normal noise, as much as leaves a given reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments, replace, seeds
from sdckit.errors import DataError
from sdckit.protect.change import Change, Protected, became_fractions, chosen, count_changed, draw, numbers
from sdckit.protect.perturbation.mask_categorical import by_column, shares_of, with_originals


def mask_continuous(
    data: Any,
    *,
    columns: Sequence[str],
    reliability: float | Mapping[str, float] | None = None,
    sd: float | Mapping[str, float] | None = None,
    suffix: str | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Add normal noise to numbers, so that a given share of the masked variance is the true one.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables of numbers to mask, each independently.
    reliability : float or dict of str to float, optional
        Variance of a variable over that of the masked one, above 0 and below 1; for all or by variable.
    sd : float or dict of str to float, optional
        Instead: the standard deviation of the noise itself, in the variable's units.
    suffix : str, optional
        Leaves the originals as they are and puts the masked values beside them, under the column's name and this
        text: what `impute_masked` takes, and no file to release.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. Columns of whole numbers become fractions: round them by `round_to`. The seed
        and the noise's standard deviations are in ``change.secret`` only.

    Raises
    ------
    ColumnError
        A column that the data does not have, or options for other columns than `columns`.
    DataError
        Neither or both of `reliability` and `sd`, or one out of range; text, infinite values, a constant column.

    Notes
    -----
    x + N(0, s^2 (1/reliability - 1)), s the standard deviation of the values present (divisor n - 1). The
    correlation of masked and true values is then the square root of the reliability. Missing values stay.

    References
    ----------
    Jiang, B., Raftery, A. E., Steele, R. J. and Wang, N. (2022). Balancing inferential integrity and disclosure
    risk via model targeted masking and multiple imputation. Journal of the American Statistical Association 117.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"income": [100.0, 200.0, 400.0, None]})
    >>> found = mask_continuous(survey, columns=["income"], reliability=0.9, seed=1)
    >>> found.change.changed, found.data["income"].null_count()
    ({'income': 3}, 1)
    """
    names = chosen(columns)
    if (reliability is None) == (sd is None):
        raise DataError("give one of reliability= and sd=: each says how much noise", argument="reliability")
    share = None if reliability is None else shares_of(reliability, names, "reliability")
    says = "is the noise's standard deviation"
    given = {} if sd is None else {
        name: arguments.amount_above(amount, "sd", says) for name, amount in by_column(sd, names, "sd").items()
    }  # fmt: skip
    frame = replace.open_eager(data, {"columns": names})
    values = numbers(frame, names, constant="so a reliability says nothing of it" if share else None)
    rng, secret = seeds.open_rng(seed)
    noise = given if share is None else {
        name: float(np.nanstd(values[name], ddof=1) * np.sqrt(1 / share[name] - 1)) for name in names
    }  # fmt: skip
    made = {}
    for name, own in zip(names, rng.spawn(len(names)), strict=True):
        drawn = draw(own, len(frame), lambda generator, piece: generator.standard_normal(out=piece))
        made[name] = replace.as_held(frame[name], values[name] + noise[name] * drawn)
    out = replace.with_numbers(frame, made)
    hidden = {"seed": secret, "noise_sd": noise, "reliability": share}
    notes = became_fractions(frame, out, names) if suffix is None else {}
    changed = count_changed(values, made)
    change = Change("mask_continuous", len(frame), changed, {"columns": list(names)}, hidden, notes)
    masked = Protected(out, change)
    return masked if suffix is None else with_originals(data, masked, names, suffix)
