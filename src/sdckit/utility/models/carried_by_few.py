"""Which coefficients of a model rest on a few records: they, or sums of them, would be these records' values.

An estimate that is linear in the outcome, ``sum of c y``, says of a group of records what their part of ``sum of
c^2`` is. Over all sums of coefficients, with any multipliers, that part is at most the leverage of the record (of the
group: the largest eigenvalue of its block of the hat matrix).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.utility.models.independent_columns import independent_columns

FEWEST = 5  # records that must carry what is told
MOST_OF_ONE = 0.5  # of what is known of a sum, by one record; two equal ones have a half each
MOST_OF_FEW = 0.9  # by four; of five equal ones, four have 0.8
PART = 0.1  # of the largest contribution: what those behind the two largest must have together
NEGLIGIBLE = 0.01  # leverage; four such records do not make the difference between 0.8 and 0.9
SCANS = 25
LEAST_SPREAD = 1e-6
ZERO = 1e-10


def coefficients_of_few(
    matrix: Floats, outcome: Floats, weights: Floats | None = None, *, counted: Sequence[Bools] = ()
) -> tuple[Bools, Bools]:
    """Say which coefficients of a regression are not to be told, and of which not even the spread.

    `matrix` (n, p), `outcome` (n,), survey `weights` (n,) or None. `counted`: sets of records (those of an outcome)
    that a coefficient counts; each must be carried by enough of them. Returns (p,) and (p,), the second containing the
    first. A column that follows from others is in none.

    >>> x = np.column_stack([np.ones(60), np.arange(60) % 2, np.arange(60) == 7.0])
    >>> coefficients_of_few(x, np.arange(60.0) % 11)[0].tolist()
    [False, False, True]
    """
    used = np.ones(len(matrix), bool) if weights is None else weights > 0
    design = matrix[used]
    given = np.ones(len(design)) if weights is None else weights[used]
    y = outcome[used]
    kept = independent_columns(design)
    few = np.zeros(matrix.shape[1], bool)
    if not kept.any():
        return few, few.copy()
    loads, rows = _functionals(design[:, kept], given)
    found = carried_by_few(loads, rows, _sparse(design[:, kept]))
    for one in (off_mode(y), *(one[used] for one in counted)):
        if not one.all():
            found |= carried_by_few(loads, rows[one], found)
    centred = y - np.median(y)
    residual = np.abs(y - design[:, kept] @ (loads @ (rows.T @ y)))
    spread = np.full(len(found), weights is None and is_dominated(residual**2, 2 * PART))
    for j, load in enumerate(loads):
        shares = rows @ load
        found[j] |= is_dominated(np.abs(shares * centred), PART)
        if weights is not None:
            spread[j] = is_dominated((shares * residual) ** 2, 2 * PART)
    few[kept] = found
    wide = few.copy()
    wide[kept] |= spread
    return few, wide


def largest_shares(matrix: Floats, weights: Floats | None = None, spread: Floats | None = None) -> Floats:
    """How far each coefficient moves, at most, where the outcome of one record changes by one.

    `spread` (n,): the variance of each outcome, for a model of log-odds or of logarithms.

    >>> largest_shares(np.column_stack([np.ones(50), np.arange(50) < 10])).round(3).tolist()
    [0.025, 0.1]
    """
    used = np.ones(len(matrix), bool) if weights is None else weights > 0
    design = matrix[used]
    kept = independent_columns(design)
    out = np.zeros(matrix.shape[1])
    if kept.any():
        given = np.ones(len(design)) if weights is None else weights[used]
        of_each = np.ones(len(design)) if spread is None else np.maximum(spread[used], LEAST_SPREAD)
        loads, rows = _functionals(design[:, kept], given * of_each)
        out[kept] = [np.abs(rows @ load / of_each).max() for load in loads]
    return out


def carried_by_few(loads: Floats, rows: Floats, few: Bools | None = None) -> Bools:
    """Say which of p sums over records rest on fewer than five of them, alone or together with the others.

    The weights of record i in the p sums are ``loads @ rows[i]``: `loads` (p, r), `rows` (n, r). `few` (p,): known
    already, never told. Where a sum of several rests on a few records, the one that they carry most is added, and the
    rest is looked at again.

    >>> rows = np.vstack([np.eye(2), np.tile([[0.0, 1.0]], (9, 1))])  # the first record, and ten others
    >>> carried_by_few(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), rows).tolist()
    [True, False, True]
    """
    out = np.zeros(len(loads), bool) if few is None else few.copy()
    rows, loads = _orthonormal(rows, loads)
    size: Floats = np.linalg.norm(loads, axis=1)
    speaks = size > ZERO * max(float(size.max(initial=0.0)), 1e-300)
    loads = loads / np.where(speaks, size, 1.0)[:, None]
    rows = rows[(rows**2).sum(axis=1) >= NEGLIGIBLE]
    if len(rows) == 0:
        return out
    shares = (rows @ loads.T) ** 2
    out |= speaks & _concentrated(shares)
    while (told := np.flatnonzero(speaks & ~out)).size:
        basis = _row_space(loads[told])
        group = _worst_group(rows @ basis)
        if group is None:
            break
        out[told[np.argmax(shares[np.ix_(group, told)].sum(axis=0))]] = True
    return out


def is_dominated(contributions: Floats, part: float = PART) -> bool:
    """Whether the person with the second largest contribution could tell the largest from the sum of all.

    The p per cent rule: those behind the two largest have less than `part` of the largest.

    >>> is_dominated(np.array([1000.0, 20, 30, 25])), is_dominated(np.array([100.0, 20, 30, 25]))
    (True, False)
    """
    if len(contributions) < 3:
        return bool(contributions.any())
    second, first = np.partition(contributions, -2)[-2:]
    return bool(first > 0 and contributions.sum() - first - second < part * first)


def sum_of_few(shares: Floats, values: Floats) -> tuple[bool, bool]:
    """Say whether ``sum of shares * values`` rests on a few records, and whether its variance does.

    >>> shares = np.full(100, 0.01)
    >>> sum_of_few(shares, np.arange(100.0)), sum_of_few(shares, (np.arange(100) < 3) * 5.0)
    ((False, False), (True, True))
    """
    shares, values = shares[shares > 0], values[shares > 0]
    if len(values) < FEWEST:
        return True, True
    parts = np.sort(shares**2)[::-1] / (shares @ shares)
    centred = shares * (values - np.median(values))
    few = bool(
        parts[0] > MOST_OF_ONE
        or parts[: FEWEST - 1].sum() > MOST_OF_FEW
        or 0 < off_mode(values).sum() < FEWEST
        or is_dominated(np.abs(centred), PART)
    )
    residual = shares * (values - shares @ values / shares.sum())
    return few, few or is_dominated(residual**2, 2 * PART)


def off_mode(values: Floats) -> Bools:
    """Records whose value is not the most frequent one; all of them where that is the value of a few.

    >>> off_mode(np.array([0.0, 0, 0, 0, 0, 7])).tolist(), off_mode(np.array([1.0, 2, 3])).tolist()
    ([False, False, False, False, False, True], [True, True, True])
    """
    found, counts = np.unique(values, return_counts=True)
    mode = int(np.argmax(counts))
    return values != found[mode] if counts[mode] >= FEWEST else np.ones(len(values), bool)


def _sparse(design: Floats) -> Bools:
    """Columns in which fewer than five records have another value than most."""
    middle = np.median(design, axis=0)
    others = (design != middle).sum(axis=0)
    found: Bools = (others > 0) & (others < FEWEST)
    return found


def _functionals(design: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The weights of the records in each coefficient, as ``rows @ loads.T`` with orthonormal columns of rows."""
    scale: Floats = np.linalg.norm(design, axis=0)
    root = np.sqrt(weights)[:, None]
    design = root * design / scale
    back: Floats = np.linalg.inv(np.linalg.qr(design, mode="r"))  # the columns are independent
    rows: Floats = root * (design @ back)
    if (weights == weights[0]).all():
        return back * root[0] / scale[:, None], rows / root[0]
    turn: Floats = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    loads: Floats = back @ turn.T / scale[:, None]
    return loads, rows @ np.linalg.inv(turn)


def _orthonormal(rows: Floats, loads: Floats) -> tuple[Floats, Floats]:
    """The same sums, the columns of the rows orthonormal, without directions that no record has."""
    size, basis = np.linalg.eigh(rows.T @ rows)
    kept = size > ZERO * max(float(size.max(initial=0.0)), 1e-300)
    root = np.sqrt(size[kept])
    return rows @ (basis[:, kept] / root), loads @ (basis[:, kept] * root)


def _row_space(loads: Floats) -> Floats:
    """Orthonormal columns that span the rows."""
    _, size, turned = np.linalg.svd(loads, full_matrices=False)
    basis: Floats = turned[size > ZERO**0.5 * size[0]].T
    return basis


def _concentrated(shares: Floats) -> Bools:
    """Columns of which one record has more than a half, or four have nearly all."""
    top = np.sort(shares, axis=0)[::-1][: FEWEST - 1]
    found: Bools = (top[0] > MOST_OF_ONE) | (top.sum(axis=0) > MOST_OF_FEW)
    return found


def _worst_group(rows: Floats) -> Ints | None:
    """Records that have nearly all of some sum of the columns (orthonormal but for records left out); None without.

    From every record that could be the largest of four, the four with most of a sum and the sum that they have most
    of are sought in turns.
    """
    leverage = (rows**2).sum(axis=1)
    if leverage.max(initial=0.0) > MOST_OF_ONE:
        return np.array([np.argmax(leverage)])
    for start in np.flatnonzero(leverage >= MOST_OF_FEW / (FEWEST - 1)).tolist():
        direction: Floats = rows[start]
        last = -1.0
        for _ in range(SCANS):
            along = (rows @ direction) ** 2
            group = np.argsort(along)[::-1][: FEWEST - 1]
            sizes, vectors = np.linalg.eigh(rows[group].T @ rows[group])
            if sizes[-1] > MOST_OF_FEW:
                return group
            if sizes[-1] <= last + 1e-6:
                break
            last, direction = float(sizes[-1]), vectors[:, -1]
    return None
