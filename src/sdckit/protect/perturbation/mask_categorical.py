"""E8: change categories at random, with one probability of staying for all levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, seeds
from sdckit.data.replace import beside_originals, open_eager, take_rows
from sdckit.errors import ColumnError, DataError
from sdckit.protect.by_household import in_two_parts, of_columns
from sdckit.protect.change import Change, Protected, chosen
from sdckit.protect.synthesis.synthesis_variables import Variable, read_variable

BOTH = "the originals stand beside their masked copies: this is no file to release"


def mask_categorical(
    data: Any,
    *,
    columns: Sequence[str],
    probability: float | Mapping[str, float],
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    suffix: str | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Keep each category with a known probability, else change it to any other level, all alike.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Variables to mask, each independently.
    probability : float or dict of str to float
        Probability of staying, above 0 and below 1; for all or by variable.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    suffix : str, optional
        Leaves the originals as they are and puts the masked values beside them, under the column's name and this
        text: what `impute_masked` takes, and no file to release.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. Seed and probabilities are in ``change.secret`` only; an analyst who models the
        mask needs the probabilities.

    Raises
    ------
    ColumnError
        A column that the data does not have, or probabilities for other columns than `columns`.
    DataError
        A probability out of range; a column with fewer than two levels.

    Notes
    -----
    Of L levels, another one is taken with probability (1 - probability)/(L - 1) each. Missing values stay. A
    matrix of your own, or one that keeps the frequencies, is what `pram` is for.

    References
    ----------
    Jiang, B., Raftery, A. E., Steele, R. J. and Wang, N. (2022). Balancing inferential integrity and disclosure
    risk via model targeted masking and multiple imputation. Journal of the American Statistical Association 117.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": ["clerk", "smith", "baker", None]})
    >>> found = mask_categorical(survey, columns=["job"], probability=0.5, seed=3)
    >>> found.data["job"].to_list(), found.change.changed
    (['baker', 'smith', 'clerk', None], {'job': 2})
    """
    names = chosen(columns)
    stay = shares_of(probability, names, "probability")
    parted = in_two_parts(
        data, names, household, household_variables, seed,
        lambda part, *, columns, seed: mask_categorical(
            part, columns=columns, probability=of_columns(stay, columns), seed=seed
        ),
    )  # fmt: skip
    if parted is not None:
        return parted if suffix is None else with_originals(data, parted, names, suffix)
    frame = open_eager(data, {"columns": names})
    variables = [read_variable(frame[name]) for name in names]
    for variable in variables:
        if variable.n_levels < 2:
            raise DataError(
                f"column {variable.name!r} has fewer than two levels, there is nothing to change it to; leave it out"
            )
    rng, secret = seeds.open_rng(seed)
    source, changed = {}, {}
    for variable, own in zip(variables, rng.spawn(len(names)), strict=True):
        level = _masked(variable, stay[variable.name], own)
        rows = np.arange(len(level))
        moved = level != variable.held.level
        rows[moved] = variable.first[level[moved]]
        source[variable.name], changed[variable.name] = rows, int(moved.sum())
    hidden = {"seed": secret, "probability": stay}
    change = Change("mask_categorical", len(frame), changed, {"columns": list(names)}, hidden)
    masked = Protected(take_rows(frame, source), change)
    return masked if suffix is None else with_originals(data, masked, names, suffix)


def with_originals(data: Any, masked: Protected, names: Sequence[str], suffix: str) -> Protected:
    """Put the masked columns beside the originals, which stay; the change then counts the copies."""
    out = beside_originals(open_eager(data, {}), masked.data, names, suffix)
    change = masked.change
    changed = {name + suffix: n for name, n in change.changed.items()}
    return Protected(out, replace(change, notes={**change.notes, "suffix": BOTH}, changed=changed))


def _masked(variable: Variable, stay: float, rng: np.random.Generator) -> NDArray[np.int64]:
    level = variable.held.level
    moves = (rng.random(len(level)) >= stay) & (level >= 0)
    other = (level + 1 + rng.integers(variable.n_levels - 1, size=len(level))) % variable.n_levels
    return np.where(moves, other, level)


def by_column(given: Any, names: Sequence[str], role: str) -> dict[str, Any]:
    """Expand an argument to one value per column; a mapping must name exactly these columns."""
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
    if set(by_name) != set(names):
        raise ColumnError(f"{role}= is one number, or given by column for exactly the columns to mask", argument=role)
    return {name: by_name[name] for name in names}


def shares_of(given: Any, names: Sequence[str], role: str) -> dict[str, float]:
    """A number between 0 and 1 for each column.

    Raises `ColumnError`: given by column, but for others; `DataError`: no number, or one of 0 and 1 or
    beyond.

    >>> shares_of(0.5, ["a", "b"], "probability")
    {'a': 0.5, 'b': 0.5}
    """
    says, shares = "is a share of the values", by_column(given, names, role)
    return {name: arguments.within(share, role, says, 0, 1, "()") for name, share in shares.items()}
