"""E1: columns that name a person or a unit are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdckit.data import arguments, replace
from sdckit.data.columns import code_column
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Change, Protected


def drop_identifiers(data: Any, *, columns: str | Sequence[str]) -> Protected:
    """Leave out the columns that name somebody: names, addresses, numbers of registers and accounts.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    columns : str or sequence of str
        Columns to leave out.

    Returns
    -------
    Protected
        ``data`` without them, and ``change``, which counts the values they held.

    Raises
    ------
    ColumnError
        A column is absent or listed twice, none is named, or none would remain.
    DataError
        A plan, or no records.

    Notes
    -----
    A file without names is not yet anonymous: see `key_frequencies` for who can be recognised by what
    remains. Records keep their order; where that gives somebody away (as by the date of an interview), sort
    the file by something else. To keep a link between files, give new numbers by `new_ids` instead.

    References
    ----------
    Benschop, T., Machingauta, C. and Welch, M. (2019). Statistical Disclosure Control: A Practice Guide.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"name": ["Ann", None], "age": [31, 45]})
    >>> safe, change = drop_identifiers(survey, columns=["name"])
    >>> safe.columns, change.changed
    (['age'], {'name': 1})
    """
    names = arguments.names(columns, "columns", single=True)
    if not names:
        raise ColumnError("columns= is empty; name at least one column to leave out", argument="columns")
    frame = replace.open_eager(data, {"columns": names})
    if len(names) == len(frame.columns):
        raise ColumnError("columns: no column would remain; keep at least one", argument="columns")
    changed = {name: len(frame) - _n_missing(frame[name]) for name in names}
    change = Change("drop_identifiers", len(frame), changed, {"columns": list(names)})
    kept = [name for name in frame.columns if name not in names]  # a drop by name would read patterns
    return Protected(frame[kept].to_native(), change)


def _n_missing(series: Any) -> int:
    try:
        return code_column(series).n_missing
    except DataError:  # lists, structures, mixed types: no variable, and dropped all the same
        return int(series.null_count())
