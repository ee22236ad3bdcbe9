"""E3: suppress values of chosen columns in records whose risk is above a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.data.columns import code_column, first_rows, float_values
from sdckit.data.replace import open_eager, take_rows
from sdckit.errors import ColumnError, DataError
from sdckit.protect.by_household import read_shared
from sdckit.protect.change import Change, Protected


def suppress_above(
    data: Any, *, risk: Any, threshold: float, columns: str | Sequence[str], household: str | None = None,
    household_variables: Sequence[str] | None = None,
) -> Protected:  # fmt: skip
    """Take out the values of some columns in the records whose risk is above a threshold.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    risk : str or array of float, shape (n,)
        A column of the data, or a number per record in its order, as ``individual_risk(...).records["risk"]``.
    threshold : float
        Values go where the risk is greater, not where it is equal.
    columns : str or sequence of str
        Columns to suppress.
    household : str, optional
        Column that numbers the households; of household variables among `columns` the values of all
        members go where one of them has the risk: a mate would give them back.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.

    Returns
    -------
    Protected
        ``data`` and ``change``, which counts the values that were there and are gone.

    Raises
    ------
    ColumnError
        A column is absent, or the risk's own column is to be suppressed.
    DataError
        A plan, no records, a risk that is no number or of another length, a threshold that is no number.

    Notes
    -----
    The risk is that of the file before. Taking values out changes it, for these records and for others that
    match them: measure again.

    References
    ----------
    Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"job": ["cook", "smith"], "risk": [0.1, 0.9]})
    >>> safe, change = suppress_above(survey, risk="risk", threshold=0.5, columns=["job"])
    >>> safe["job"].to_list(), change.changed
    (['cook', None], {'job': 1})
    """
    names = arguments.names(columns, "columns", single=True)
    if not names:
        raise ColumnError("columns= is empty; name at least one column to suppress", argument="columns")
    frame = open_eager(data, {"columns": names, "risk": [risk] if isinstance(risk, str) else []})
    if isinstance(risk, str) and risk in names:
        raise ColumnError(f"columns: {risk!r} holds the risk itself", argument="columns")
    arguments.number(threshold, "threshold", "is the risk above which a record is suppressed")
    hit = _risk(frame, risk) > float(threshold)
    homes, shared = read_shared(frame, names, household, household_variables)
    wide = hit if homes is None else homes.some(hit)
    changed, source = {}, {}
    for name in names:
        coded, gone = code_column(frame[name]), wide if name in shared else hit
        there = gone if len(coded.valid) == 0 else gone & (coded.valid != 0)
        changed[name] = int(np.count_nonzero(there))
        if changed[name]:
            source[name] = np.where(gone, -1, np.arange(len(frame)))
    out = take_rows(frame, source)
    given = risk if isinstance(risk, str) else "given per record"
    parameters: dict[str, Any] = {"risk": given, "threshold": float(threshold), "columns": list(names)}
    if shared:
        parameters |= {"household": household, "household_variables": list(shared)}
    note = "the risk is that before the change; measure again"
    return Protected(out, Change("suppress_above", len(frame), changed, parameters, {}, {"risk": note}))


def _risk(frame: Any, risk: Any) -> NDArray[np.float64]:
    if isinstance(risk, str):
        values = float_values(frame[risk], "risk")
    else:
        try:
            values = np.asarray(risk, np.float64)
        except (TypeError, ValueError):
            raise DataError("risk is a column's name or a number per record", argument="risk") from None
        if values.shape != (len(frame),):
            says = f"risk has {values.size} numbers for {len(frame)} records; give one per record"
            raise DataError(says, argument="risk")
    if (unknown := np.isnan(values)).any():
        raise DataError(
            f"risk is missing in {int(unknown.sum())} records ({first_rows(unknown)}); decide on them first",
            argument="risk",
        )
    return values
