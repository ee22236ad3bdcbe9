"""E3: suppress values of chosen columns in records whose risk is above a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdckit.cells import record_result, table
from sdckit.data import arguments, frames, limits, replace
from sdckit.data.columns import code_column, distinct_values, first_rows, float_values
from sdckit.display import counted
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.protect.by_household import read_shared
from sdckit.protect.change import Change, Protected
from sdckit.result import LetGo, Result

RISKS = {"individual_risk": "risk", "suda": "dis_score"}  # record column of each measure that has a risk per record


def suppress_above(
    data: Any, *, risk: Any, threshold: float, columns: str | Sequence[str], household: str | None = None,
    household_variables: Sequence[str] | None = None,
) -> Protected:  # fmt: skip
    """Take out the values of some columns in the records whose risk is above a threshold.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    risk : str, array of float of shape (n,), or result of `individual_risk`, `suda` or `known_points`
        A column of the data, a number per record in its order, or a result on these records: its risks, of `suda` the
        DIS scores. Of `known_points` all rows of a person have the share of their known rows that find them alone, of
        as many rows as were measured, or as the person has.
    threshold : float
        Values go where the risk is greater, not where it is equal.
    columns : str or sequence of str
        Columns to suppress.
    household : str, optional
        Column that numbers the households; of household variables among `columns` the values of all
        members go where one of them has the risk: a mate would give them back. Among `columns` its number goes in
        the records with the risk, which are then seen with no mates.
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
        A plan, no records, a risk that is no number or of another length, a pandas series whose index is not that of
        the pandas data, a result without a risk per record, a threshold that is no number.

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
    frame = replace.open_eager(data, {"columns": names, "risk": [risk] if isinstance(risk, str) else []})
    if isinstance(risk, str) and risk in names:
        raise ColumnError(f"columns: {risk!r} holds the risk itself", argument="columns")
    arguments.number(threshold, "threshold", "is the risk above which a record is suppressed")
    given = risk.measure if isinstance(risk, Result) else risk if isinstance(risk, str) else "given per record"
    if isinstance(risk, Result):
        risk = _of_people(frame, risk) if risk.measure == limits.FOLLOWING.measure else _per_record(risk)
    hit = _risk(frame, risk) > float(threshold)
    others = [name for name in names if name != household]  # whose number is taken out, too, is seen with nobody
    homes, shared = read_shared(frame, others, household, household_variables)
    wide = hit if homes is None else homes.some(hit)
    changed, source = dict.fromkeys(names, 0), {}
    for name in names if hit.any() else ():
        coded, gone = code_column(frame.get_column(name)), wide if name in shared else hit
        there = gone if len(coded.valid) == 0 else gone & (coded.valid != 0)
        changed[name] = int(np.count_nonzero(there))
        if changed[name]:
            source[name] = np.where(gone, -1, np.arange(len(frame)))
    out = replace.take_rows(frame, source)
    parameters: dict[str, Any] = {"risk": given, "threshold": float(threshold), "columns": list(names)}
    if shared:
        parameters |= {"household": household, "household_variables": list(shared)}
    note = "the risk is that before the change; measure again"
    return Protected(out, Change("suppress_above", len(frame), changed, parameters, {}, {"risk": note}))


def _per_record(result: Result) -> Floats:
    """The risk of each record that a measure found, in the order of its file."""
    column = RISKS.get(result.measure)
    if column is None or not isinstance(result, record_result.CellsResult):
        says = f"risk: a result of {result.measure} has no risk of single records to hold against a threshold"
        known = f"{', '.join(RISKS)} or {limits.FOLLOWING.measure}"
        raise DataError(f"{says}; give one of {known}, or a number per record", argument="risk")
    if not isinstance(result.cells, table.Cells | LetGo) or result.cells.source is None:
        raise DataError("risk: the result is of a plan, whose records are not here; collect it first", argument="risk")
    return np.asarray(result.told(column), np.float64)


def _of_people(frame: Any, result: Any) -> Floats:
    """For each record how often the known rows of its person find that person alone."""
    arguments.present([result.person], frame.columns, "risk", argument="risk")
    people: Any = frames.open_frame(result.records)
    shares = np.full(len(people), np.nan)
    for known in sorted(result.curve, key=lambda known: known.points):  # of fewer rows where a person has no more
        share = np.asarray(people[f"{result.prefix}alone_{known.points}"].to_numpy(), np.float64)
        shares = np.where(np.isnan(share), shares, share)
    measured, rows = distinct_values(people[result.person]), distinct_values(frame[result.person])
    of_person = dict(zip((measured.values[code] for code in measured.codes), shares.tolist(), strict=True))
    return np.array([*(of_person.get(person, np.nan) for person in rows.values), np.nan])[rows.codes]


def _risk(frame: Any, risk: Any) -> Floats:
    if isinstance(risk, str):
        values = float_values(frame[risk], "risk")
    else:
        if not frames.is_indexed_alike(risk, frame):
            words = "risk has another index than the data, so that its numbers are not in the order of the records"
            give = "risk.reindex(data.index), or risk.to_numpy() where they are"
            raise DataError(f"{words}; give {give}", argument="risk")
        try:
            values = np.asarray(risk, np.float64)
        except (TypeError, ValueError):
            raise DataError("risk is a column's name or a number per record", argument="risk") from None
        if values.shape != (len(frame),):
            says = f"risk has {values.size} numbers for {len(frame)} records; give one per record"
            raise DataError(says, argument="risk")
    if (unknown := np.isnan(values)).any():
        raise DataError(
            f"risk is missing in {counted(int(unknown.sum()), 'record')} ({first_rows(unknown)}); decide on them first",
            argument="risk",
        )
    return values


# Records that lose all their keys form a class of their own.


def joining_records(cell: Ints, keyless: Bools, sensitive: Sequence[Ints], least: int) -> Bools:
    """Records whose keys must go, too, so that the class without keys has enough distinct sensitive values.

    `cell` (n,): class of each record by its keys; `keyless` (n,): records that have no key, or will have none;
    `sensitive`: codes (n,) of each variable; `least`: distinct values that a class needs. Nobody joins whose own class
    would then have too few; of the others who bring a new value the one in the largest class is taken. The class stays
    short where nobody can join.

    >>> cell, keyless = np.array([0, 0, 0, 1]), np.array([False, False, False, True])
    >>> joining_records(cell, keyless, [np.array([5, 6, 6, 5])], 2).tolist()
    [False, True, False, False]
    """
    joining = np.zeros(len(cell), np.bool_)
    if not keyless.any():
        return joining
    for codes in sensitive:
        while True:
            inside = keyless | joining
            values = np.unique(codes[inside])
            if len(values) >= least:
                break
            able = ~inside & ~np.isin(codes, values)
            for others in sensitive:
                able &= _spared(cell, others, ~inside, least)
            if not able.any():
                break
            size = np.bincount(cell[~inside], minlength=int(cell.max()) + 1)[cell]
            joining[np.argmax(np.where(able, size, 0))] = True
    return joining


def _spared(cell: Ints, codes: Ints, outside: Bools, least: int) -> Bools:
    """Whether the class of each record, of those outside, has enough values without it."""
    both = np.column_stack([cell, codes])[outside]
    pairs, of_row, count = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    distinct = np.bincount(pairs[:, 0], minlength=int(cell.max()) + 1)
    spared = np.zeros(len(cell), np.bool_)
    spared[outside] = (distinct[cell[outside]] > least) | (
        (count[of_row.ravel()] > 1) & (distinct[cell[outside]] >= least)
    )
    return spared
