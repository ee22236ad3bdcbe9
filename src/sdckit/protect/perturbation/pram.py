"""E4: the post-randomisation method: categories change by chance, by a known matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.replace import open_eager, take_rows
from sdckit.data.seeds import open_rng
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.by_household import in_two_parts, of_columns
from sdckit.protect.change import Change, Protected
from sdckit.protect.numeric_columns import chosen
from sdckit.protect.perturbation.pram_levels import EVERY, Levels, read_levels
from sdckit.protect.strata import strata_rows

Matrix = Mapping[Any, Mapping[Any, float]]
SUM_TOLERANCE = 1e-8


def around_diagonal(stay: Floats) -> Floats:
    """A matrix with these chances of staying and the rest spread evenly over the other levels.

    >>> around_diagonal(np.array([0.8, 1.0])).tolist()
    [[0.8, 0.2], [0.0, 1.0]]
    """
    n = len(stay)
    made = np.repeat(((1 - stay) / max(n - 1, 1))[:, None], n, axis=1)
    np.fill_diagonal(made, stay if n > 1 else 1.0)
    return np.round(made, 15)


def invariant_of(matrix: Floats, shares: Floats) -> Floats:
    """The matrix followed by its reverse: it keeps the shares in expectation.

    `matrix` (shape (L, L)): rows sum to 1. `shares` (shape (L,)): observed shares of the levels.

    >>> shares = np.array([0.9, 0.1])
    >>> np.allclose(shares @ invariant_of(around_diagonal(np.array([0.8, 0.8])), shares), shares)
    True
    """
    joint = matrix * shares[:, None]
    reached = joint.sum(axis=0)
    back = np.divide(joint, reached, out=np.eye(len(shares)), where=reached > 0).T  # never reached: stays
    return np.asarray(matrix @ back, np.float64)


def staying(
    given: float | Mapping[Any, float], levels: Sequence[str], numeric: bool, rng: np.random.Generator
) -> Floats:
    """The chance of staying of each level: drawn between the number given and 1, or as given by level.

    Raises `DataError`: a level without one, or no probability.
    """
    if not isinstance(given, Mapping):
        return rng.uniform(given, 1.0, len(levels))
    place = _places(levels, numeric)
    found = np.full(len(levels), np.nan)
    for level, chance in given.items():
        at = place.get(_named(level, numeric), -1)
        if at >= 0:
            found[at] = _chance(chance, "pd=")
    if np.isnan(found).any():
        raise DataError(
            f"pd= gives no chance of staying for {int(np.isnan(found).sum())} levels of the data; "
            "give all, or one number",
            argument="pd",
        )
    return found


def given_matrix(
    given: Mapping[Any, Mapping[Any, float]], levels: Sequence[str], numeric: bool, column: str
) -> Floats:
    """The matrix of a column in the order of its levels.

    `given`: ``{level: {level: probability}}``, what is left out is 0. `levels`: printed levels of the data.
    `numeric`: whether the levels are numbers. Raises `DataError`: not a stochastic matrix over the levels of
    the data.

    >>> given_matrix({1: {1: 0.9, 2: 0.1}, 2: {2: 1}}, ["1", "2"], True, "sex").tolist()
    [[0.9, 0.1], [0.0, 1.0]]
    """
    place, made = _places(levels, numeric), np.zeros((len(levels), len(levels)))
    rows = np.zeros(len(levels), np.bool_)
    for number, (start, row) in enumerate(given.items(), start=1):
        if not isinstance(row, Mapping):
            raise DataError(f"matrix of {column!r}: write it as {{level: {{level: probability}}}}")
        chances = [_chance(chance, f"matrix of {column!r}, row {number}") for chance in row.values()]
        if abs(math.fsum(chances) - 1) > SUM_TOLERANCE:
            raise DataError(
                f"matrix of {column!r} is not stochastic: row {number} sums to {math.fsum(chances):.6g}, not to 1"
            )
        at = place.get(_named(start, numeric), -1)
        if at < 0:
            continue  # a level that nobody has
        rows[at] = True
        for target, chance in zip(row, chances, strict=True):
            to = place.get(_named(target, numeric), -1)
            if to < 0 and chance > 0:
                raise DataError(
                    f"matrix of {column!r}: row {number} leads to a level that no record has; "
                    "leave it out, or add the level to the data first"
                )
            if to >= 0:
                made[at, to] += chance
    if not rows.all():
        lacking, n = int((~rows).sum()), len(levels)
        raise DataError(f"matrix of {column!r} has no row for {lacking} of the {n} levels of the data")
    return np.asarray(made / made.sum(axis=1, keepdims=True), np.float64)


def _named(level: Any, numeric: bool) -> float | str:
    """One name for a level however it is written: 1, 1.0 and "1" of a column of numbers are the same."""
    if not numeric:
        return str(level)
    try:
        return float(level)
    except (TypeError, ValueError):
        return str(level)


def _places(levels: Sequence[str], numeric: bool) -> dict[float | str, int]:
    return {_named(level, numeric): at for at, level in enumerate(levels)}


def _chance(value: object, where: str) -> float:
    if not arguments.is_number(value) or not 0 <= value <= 1:
        raise DataError(f"{where}: a probability is a number from 0 to 1")
    return float(value)


def pram(
    data: Any,
    *,
    columns: Sequence[str],
    pd: float | Mapping[str, Mapping[Any, float]] = 0.8,
    alpha: float | None = None,
    matrix: Mapping[str, Matrix] | None = None,
    invariant: bool | None = None,
    strata: Sequence[str] | None = None,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Change categories at random, with probabilities that an analyst can be told of.

    Parameters
    ----------
    data : data frame
    columns : sequence of str
        Categorical variables to change, each independently.
    pd : float or dict
        Least probability of staying, 0 to 1: that of each level is drawn between it and 1. Or, by column and
        level, the probabilities themselves: ``{"job": {"clerk": 0.9, "smith": 0.8}}``.
    alpha : float, optional
        Weight of the matrix, 0 to 1, against changing nothing; default 0.5, and 1 with a matrix of your own.
    matrix : dict, optional
        ``{column: {level: {level: probability}}}`` for all columns, instead of `pd`. Rows sum to 1.
    invariant : bool, optional
        Whether the frequencies of the levels are kept in expectation; default true, but a matrix of your own
        is used as it is.
    strata : sequence of str, optional
        Each stratum has a matrix of its own, and keeps its own frequencies; a missing value is a level.
    household : str, optional
        Column that numbers the households; household variables among `columns` are then treated once for each
        household, and all its members get what came of it.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. The matrices are in ``change.secret["matrix"]`` only: by column a list with one
        per stratum, in the form `matrix` takes; and the seed.

    Raises
    ------
    ColumnError
        A column that the data does not have; matrices for other columns than `columns`.
    DataError
        A matrix that is not stochastic, or lacks a level of the data; a column of one level, or of more than
        2,000.

    Notes
    -----
    A record of level l gets level m with probability R[l, m]. With P the matrix given or drawn (the rest of a
    row spread evenly over the other levels) and p the shares of the levels, Q[m, l] = P[l, m] p[l] / sum over
    j of P[j, m] p[j] is the reverse of P, and P Q keeps p; R = alpha P Q + (1 - alpha) I does as well. Not
    invariant, R = alpha P + (1 - alpha) I. Missing values stay.

    The figures that risk is measured by (frequencies of keys) mean something else afterwards: a rare
    combination may be one that nobody has.

    References
    ----------
    Gouweleeuw, J. M., Kooiman, P., Willenborg, L. C. R. J. and de Wolf, P.-P. (1998). Post randomisation for
    statistical disclosure control: theory and implementation. Journal of Official Statistics 14, 463-478.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": ["clerk", "smith"] * 50})
    >>> swap = {"job": {"clerk": {"smith": 1}, "smith": {"clerk": 1}}}
    >>> found = pram(survey, columns=["job"], matrix=swap, seed=1)
    >>> found.data["job"].head(3).to_list(), found.change.changed
    (['smith', 'clerk', 'smith'], {'job': 100})
    """
    names, within = chosen(columns), arguments.names(strata, "strata") or ()
    keeps = matrix is None if invariant is None else arguments.flag(invariant, "invariant")
    default = 0.5 if matrix is None else 1.0
    weight = arguments.share(default if alpha is None else alpha, "alpha", "is the weight of the matrix")
    _check_given(names, pd, matrix)
    parted = in_two_parts(
        data, names, household, household_variables, seed,
        lambda part, some, own: pram(
            part, columns=some, pd=of_columns(pd, some), alpha=alpha, matrix=of_columns(matrix, some),
            invariant=invariant, strata=strata, seed=own,
        ), also=within,
    )  # fmt: skip
    if parted is not None:
        return parted
    frame = open_eager(data, {"columns": names, "strata": within})
    parts = strata_rows(frame, within) if within else [EVERY]
    columns_read = {name: read_levels(frame, name) for name in names}
    rng, secret = open_rng(seed)
    source: dict[str, Ints] = {}
    used: dict[str, list[dict[str, dict[str, float]]]] = {}
    changed, notes = {}, {}
    for name, levels in columns_read.items():
        whole = None if matrix is None else given_matrix(matrix[name], levels.labels, levels.numeric, name)
        stay = pd[name] if isinstance(pd, Mapping) else pd
        source[name], changed[name], used[name] = np.empty(len(frame), np.int64), 0, []
        counts, expected = [levels.counts(rows) for rows in parts], 0.0
        for rows, count in zip(parts, counts, strict=True):
            full = _transitions(levels, count, whole, stay, keeps, weight, rng)
            changed[name] += levels.move(rows, full, source[name], rng)
            expected += float(count @ (1 - np.diagonal(full)))
            used[name].append(_readable(full, np.flatnonzero(count), levels.labels))
        share = expected / levels.count.sum()
        notes[f"expected {name}"] = f"{share:.4f} of the values were expected to change"
        notes |= _narrow(counts, name) if len(parts) > 1 else {}
    change = Change(
        "pram", len(frame), changed,
        parameters={
            "columns": list(names), "matrix": "given" if matrix is not None else "drawn" if not isinstance(pd, Mapping)
            else "from the diagonal given", "invariant": keeps, "strata": list(within),
        },
        secret={"seed": secret, "matrix": used, "alpha": weight, "pd": pd if matrix is None else None},
        notes=notes,
    )  # fmt: skip
    return Protected(take_rows(frame, source), change)


def _transitions(
    levels: Levels, count: Ints, whole: Floats | None, pd: Any, keeps: bool, weight: float,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """The matrix of a stratum; levels that it lacks only stay."""
    there, stays = np.flatnonzero(count), np.eye(len(levels.labels))
    if len(there) == 0:
        return stays
    if whole is None:
        own = stays.copy()
        chances = staying(pd, levels.labels, levels.numeric, rng)
        own[np.ix_(there, there)] = around_diagonal(chances[there])
    else:
        own = whole
    if keeps:
        own = invariant_of(own, count / count.sum())
    return _kept_exact(weight * own + (1 - weight) * stays)


def _kept_exact(matrix: Floats) -> Floats:
    """Rows that sum to 1 but for rounding, made to."""
    clean = np.clip(matrix, 0.0, 1.0)
    return np.asarray(clean / clean.sum(axis=1, keepdims=True), np.float64)


def _readable(matrix: Floats, there: Ints, labels: list[str]) -> dict[str, dict[str, float]]:
    """The matrix in the form it may be given in, levels that the stratum lacks left out."""
    return {labels[i]: {labels[j]: float(matrix[i, j]) for j in np.flatnonzero(matrix[i] > 0)} for i in there}


def _narrow(counts: list[Ints], name: str) -> dict[str, str]:
    """A note on strata where nothing can change."""
    single = sum(int(np.count_nonzero(count) == 1) for count in counts)
    return {f"strata {name}": f"{single} strata have one level and stay as they are"} if single else {}


def _check_given(names: Sequence[str], pd: object, matrix: object) -> None:
    for role, given in {"matrix": matrix, "pd": pd}.items():
        if isinstance(given, Mapping):
            if set(given) != set(names):
                says = f"{role}= is given by column: {role}={{column: ...}} for exactly the columns to change"
                raise ColumnError(says, argument=role)
            if any(not isinstance(one, Mapping) for one in given.values()):
                how = f"{role}= of a column is given by level: {role}={{column: {{level: ...}}}}"
                raise DataError(how, argument=role)
    if matrix is not None and not isinstance(matrix, Mapping):
        raise DataError("matrix= is written {column: {level: {level: probability}}}", argument="matrix")
    if not isinstance(pd, Mapping):
        arguments.share(pd, "pd", "is the least probability of staying")
