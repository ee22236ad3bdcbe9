"""E2: numbers rounded to multiples of a base."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from sdckit.data import arguments, columns, replace, seeds
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats
from sdckit.protect.change import Change, Protected, no_longer_whole

Rounding: TypeAlias = Literal["nearest", "down", "random"]
TINY = 1e-9  # a quotient so near to a whole number is one: 0.3 / 0.1 is 2.9999999999999996
LARGEST = 2.0**53


def round_to(
    data: Any, *, column: str, base: float, how: Rounding = "nearest", seed: arguments.Seed = None
) -> Protected:
    """Round the numbers of one column to multiples of a base.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    column : str
        A column of numbers.
    base : float
        Greater than 0.
    how : {"nearest", "down", "random"}
        To the nearest multiple (halfway to the even one), to the next below, or at random to one of the two
        around it, with the chances that keep every expected value as it was.
    seed : int or numpy.random.Generator, optional
        For "random".
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data`` and ``change``. Missing and infinite values stay, as do multiples. Whole numbers become
        floats only where a multiple is not whole.

    Raises
    ------
    ColumnError
        The column is absent.
    DataError
        The column is not numeric or beyond 2^53, the base no positive number, no such method.

    References
    ----------
    Willenborg, L. and de Waal, T. (2001). Elements of Statistical Disclosure Control. Springer.

    Examples
    --------
    >>> import polars as pl
    >>> safe, change = round_to(pl.DataFrame({"income": [1490, 2510, 3000]}), column="income", base=1000)
    >>> safe["income"].to_list(), change.changed
    ([1000, 3000, 3000], {'income': 2})
    """
    arguments.column(column, "column")
    arguments.amount_above(base, "base", "is the number whose multiples remain")
    arguments.choice(how, "how", get_args(Rounding))
    drawn, secret = seeds.open_rng(seed)
    frame, records = replace.open_records(data, {"column": [column]})
    values = columns.float_values(frame[column], "column")
    if (large := records.where(np.isfinite(values) & (np.abs(values) > LARGEST))) > 0:
        beyond = counted(large, "value is", "values are")
        raise DataError(f"column {column!r}: {beyond} beyond 2^53, too large to be rounded exactly")
    rng = drawn if how == "random" else None
    rounded = replace.as_held(frame[column], multiples(values, float(base), how, rng))
    hit = np.isfinite(values) & (rounded != values)
    out = replace.with_some_numbers(frame, {column: (hit, rounded[hit])})
    change = Change(
        "round_to", records.n, {column: records.where(hit)},
        {"column": column, "base": base, "how": how},
        {"seed": secret} if how == "random" else {},
        no_longer_whole(frame[column], rounded[hit], "multiples of the base are not all whole"),
    )  # fmt: skip
    return Protected(out, change)


def multiples(values: Floats, base: float, how: Rounding, rng: np.random.Generator | None) -> Floats:
    """Round each value to a multiple of the base.

    >>> multiples(np.array([0.3, 0.34, 0.37]), 0.1, "down", None).tolist()
    [0.3, 0.3, 0.3]
    """
    per_unit = 1 / base
    exact = base < 1 and abs(per_unit - round(per_unit)) <= TINY * per_unit
    with np.errstate(invalid="ignore", over="ignore"):
        quotient = values * round(per_unit) if exact else values / base
        near = np.rint(quotient)
        is_multiple = np.abs(quotient - near) <= TINY * np.maximum(1.0, np.abs(quotient))
        if how == "nearest":
            times = near
        else:
            times = np.floor(quotient)
            if rng is not None:  # a draw for every record, so that no value moves another one's
                times += rng.random(len(values)) < quotient - times
            times = np.where(is_multiple, near, times)
        # 3 / 10 is the double that 0.3 is, 3 * 0.1 is not
        rounded = times / round(per_unit) if exact else times * base
    unchanged = ~np.isfinite(values) | ~np.isfinite(rounded)
    return np.where(unchanged, values, rounded + 0.0)
