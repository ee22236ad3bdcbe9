"""Weights calibrated to known totals: raking, for persons or with one weight per household."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.data import arguments
from sdckit.data.columns import code_column, first_rows
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints

ROUNDS = 50
CLOSE = 1e-12  # of the total
AGREE = 1e-6  # totals of several margins may differ by so much: they are printed with few digits


def read_margins(frame: Any, margins: Any) -> tuple[list[Ints], list[Floats]]:
    """The level of each record in each margin, and the total of each level.

    Raises `ColumnError`: no such column; `DataError`: a record without a value, a level without a total or a total
    without records, totals that are not above 0 or differ between margins.
    """
    says = "is {column: {level: total}}, the totals that the weights shall add up to"
    codes, totals = [], []
    for name, given in arguments.mapping(margins, "margins", says).items():
        if name not in frame.columns:
            raise ColumnError(f"margins: no column {name!r} in the data", argument="margins")
        level, labels, numeric = _levels(frame[name])
        asked = arguments.mapping(given, "margins", says)
        by_label = {_named(one, numeric): _total(total) for one, total in asked.items()}
        mine = [_named(one, numeric) for one in labels]
        lacking, empty = [one for one in mine if one not in by_label], set(by_label) - set(mine)
        if lacking or empty:
            raise DataError(
                f"margins of {name!r}: {len(lacking)} levels of the data have no total, {len(empty)} totals no records",
                argument="margins",
            )
        codes.append(level)
        totals.append(np.array([by_label[one] for one in mine]))
    if not totals:
        raise DataError(f"margins {says}; it is empty", argument="margins")
    sums = [float(one.sum()) for one in totals]
    if max(sums) - min(sums) > AGREE * max(sums):
        raise DataError("margins: the totals of one column add up to another sum than those of another")
    return codes, [one * (sums[0] / own) for one, own in zip(totals, sums, strict=True)]


def _levels(series: Any) -> tuple[Ints, list[str], bool]:
    coded = code_column(series)
    codes = coded.codes()
    if coded.n_missing:
        raise DataError(
            f"margins: {series.name!r} is missing in {coded.n_missing} records ({first_rows(codes == coded.span)}); "
            "they belong to no total",
            argument="margins",
        )
    _, first, level = np.unique(codes, return_index=True, return_inverse=True)
    one_each = code_column(series[first.tolist()])
    return level.reshape(-1), one_each.labels(one_each.codes()), coded.kind in {"integer", "number"}


def _named(level: Any, numeric: bool) -> float | str:
    try:
        return float(level) if numeric else str(level)
    except (TypeError, ValueError):
        return str(level)


def _total(value: object) -> float:
    return arguments.amount_above(value, "margins", "hold totals")


def raked(weight: Floats, unit: Ints, codes: Sequence[Ints], totals: Sequence[Floats]) -> Floats:
    """Weights that add up to the totals of every margin, as near to those given as raking brings them.

    `unit` (shape (n,)): records of one unit, numbered from 0, have one weight before and after. Each weight is
    multiplied by the exponential of a sum of terms, one per level: a unit's share of the level times its term.

    Raises `DataError`: the totals cannot be met.

    >>> found = raked(np.ones(4), np.arange(4), [np.array([0, 0, 1, 1])], [np.array([2.0, 6.0])])
    >>> found.round(6).tolist()
    [1.0, 1.0, 3.0, 3.0]
    """
    size = np.bincount(unit).astype(np.float64)
    first = np.unique(unit, return_index=True)[1]
    shares = [np.bincount(unit[one == at], minlength=len(size)) for one, total in zip(codes, totals, strict=True)
              for at in range(len(total))]  # fmt: skip
    base = weight[first]
    alike = group_codes([*shares, np.unique(base, return_inverse=True)[1].reshape(-1)], len(size))
    of_unit, begin = alike.of_row.astype(np.int64), np.unique(alike.of_row, return_index=True)[1]
    design = np.column_stack([one[begin] for one in shares]) / size[begin][:, None]
    mass = np.bincount(of_unit, size * base)  # persons that the units of a kind stand for
    wanted, term = np.concatenate(list(totals)), np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        factor = np.exp(np.clip(design @ term, -50, 50))
        now = mass * factor
        short = wanted - design.T @ now
        if np.abs(short).max() <= CLOSE * wanted.max():
            return np.asarray((base[begin] * factor)[of_unit][unit])
        step = np.linalg.lstsq(design.T @ (design * now[:, None]), short, rcond=1e-12)[0]
        term = term + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
    raise DataError(
        "margins: no weights above 0 add up to these totals; see whether they agree with each other and with who "
        "is in the file",
        argument="margins",
    )
