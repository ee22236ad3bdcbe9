"""Columns computed anew from others: totals and annual figures of what was released, so that sums add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdckit.data import derived_formula, nearest, replace
from sdckit.data.columns import float_values
from sdckit.errors import ScenarioError
from sdckit.protect.change import Change, Protected, became_fractions

SAME = 1e-12  # relative: 0.1 + 0.2 is the 0.3 that stands in the file


def recompute(data: Any, *, derived: Mapping[str, str]) -> Protected:
    """Compute columns anew from others of the same record, such as a total from its changed parts.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    derived : mapping of str to str
        A formula for each column, of columns, numbers, ``+ - * / **``, parentheses, ``round(x)``,
        ``round(x, digits)`` (halves to the even digit), ``log``, ``log2``, ``log10``, ``exp``, ``sqrt`` and ``abs``.
        Names that are no identifiers stand in backticks. A formula may name other columns of `derived`.

    Returns
    -------
    Protected
        ``data`` and ``change``. A value is missing where an input is missing, or the result is undefined. Whole
        numbers stay whole where every new value is; a value that is right already stays as it is.

    Raises
    ------
    ScenarioError
        A column is absent, a formula cannot be read, or columns follow from each other in a circle.
    DataError
        A column holds no numbers, such as one that was recoded to bands.

    Notes
    -----
    In a recipe, the entry ``derived`` does this after the last step. Whoever releases a total beside changed parts
    gives the change away: the total less the other parts is the part as it was.

    References
    ----------
    Hundepool, A. et al. (2012). Statistical Disclosure Control, section 3.4 (edit rules). Wiley.

    Examples
    --------
    >>> import polars as pl
    >>> pay = pl.DataFrame({"wage": [1100, 2000, None], "rest": [10, 20, 30], "total": [1110, 2120, 530]})
    >>> safe, change = recompute(pay, derived={"total": "wage + rest"})
    >>> safe["total"].to_list(), change.changed
    ([1110, 2020, None], {'total': 2})
    """
    formulas = derived_formula.read_derived(derived)
    frame, records = replace.open_records(data, {})
    for made in formulas:
        for name in (made.column, *made.inputs):
            if name not in frame.columns:
                absent = f"no column {name!r} in the data; {nearest.did_you_mean(name, frame.columns)}"
                raise ScenarioError(f"derived: {made.column}: {absent}", argument="derived")
    named = dict.fromkeys(name for made in formulas for name in (made.column, *made.inputs))
    columns = {name: float_values(frame[name], "derived") for name in named}
    new, counts = {}, {}
    for made in formulas:
        before = columns[made.column]
        after = replace.as_held(frame[made.column], made.values(columns))
        with np.errstate(invalid="ignore"):
            same = (np.abs(after - before) <= SAME * np.abs(before)) | (np.isnan(after) & np.isnan(before))
        columns[made.column] = np.where(same, before, after)
        new[made.column] = (~same, after[~same])
        counts[made.column] = records.where(~same)
    out = replace.with_some_numbers(frame, new)
    written = {made.column: made.text for made in formulas}
    notes = became_fractions(frame, out, [*new])
    return Protected(out, Change("recompute", records.n, counts, {"derived": written}, {}, notes))
