"""E2: coarser values of one column, by bands, by groups or up a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, get_args

import numpy as np

from sdckit.data import arguments
from sdckit.data.columns import float_values
from sdckit.data.distinct import distinct_values
from sdckit.data.hierarchy import Hierarchy, as_hierarchy
from sdckit.data.replace import with_levels
from sdckit.data.tallied import Records, open_records
from sdckit.errors import DataError
from sdckit.protect.change import Change, Protected
from sdckit.protect.recoding.bands import Bands, Closed, Method, cut_bands, given_bands
from sdckit.protect.recoding.regroup import Outside, groups_map, hierarchy_map, regroup


def recode(
    data: Any,
    *,
    column: str,
    bands: int | Sequence[float | None] | Mapping[str, Sequence[float | None]] | None = None,
    groups: Mapping[Any, Any] | None = None,
    hierarchy: Hierarchy | str | Path | Mapping[Any, Any] | None = None,
    level: int | str | None = None,
    how: Method = "equal_width",
    closed: Closed | None = None,
    labels: Sequence[str] | None = None,
    outside: Outside = "error",
) -> Protected:
    """Make one column coarser: bands of its numbers, groups of its values, or their names up a hierarchy.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    column : str
    bands : int, sequence of float, or mapping
        So many bands cut from the data, edges (n + 1 of them for n bands), or ``{label: (low, high)}``. None
        or an infinite number leaves the outermost end open.
    groups : mapping
        ``{new value: [old values]}``; None among the old ones takes missing values along.
    hierarchy : Hierarchy, path of a CSV file, or mapping
        Each value with its coarser names, see `read_hierarchy`; a mapping is ``{value: [its names]}``.
    level : int or str, optional
        How many levels up, from 1, or the level's name; needed where there are several.
    how : {"equal_width", "log", "equal_frequency"}
        How a number of bands is cut.
    closed : {"left", "right", "both"}, optional
        The end that belongs to a band: the left one, but both in a mapping.
    labels : sequence of str, optional
        Names of the bands, from the lowest; default made from the edges, as "30-39".
    outside : {"error", "keep", "missing"}
        Values in no band, no group, or not in the hierarchy: refused, kept (not with bands), or made missing.

    Returns
    -------
    Protected
        ``data`` and ``change``. Bands give ordered categories; groups and hierarchies keep the column's type
        where the new values are of it. Missing values stay missing unless a group takes them.

    Raises
    ------
    ColumnError
        The column is absent.
    DataError
        Not exactly one of bands, groups and hierarchy; bands of text; edges that do not ascend; groups that
        share a value; no such level; values outside (how many, never which).
    FileFormatError
        The file of the hierarchy is no hierarchy.

    Notes
    -----
    With ``outside="keep"`` or ``"missing"`` the values outside are listed in ``change.secret["outside"]``,
    with their records. Bands that are cut from the data say something of it: from equal steps the smallest
    and the largest value can be worked out approximately. For a release, give edges of your own.

    References
    ----------
    Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [3, 31, 88], "place": ["Graz", "Linz", "Wels"]})
    >>> recode(survey, column="age", bands=[0, 15, 65, None]).data["age"].to_list()
    ['0-14', '15-64', '65+']
    >>> towns = {"south": ["Graz"], "north": ["Linz", "Wels"]}
    >>> safe, change = recode(survey, column="place", groups=towns)
    >>> safe["place"].to_list(), change.changed
    (['south', 'north', 'north'], {'place': 3})
    """
    given = [name for name, value in (("bands", bands), ("groups", groups), ("hierarchy", hierarchy))
             if value is not None]  # fmt: skip
    if len(given) != 1:
        says = f"give one of bands=, groups= and hierarchy=; there are {len(given)}"
        raise DataError(says, argument=given[-1] if given else "bands")
    arguments.column(column, "column")
    _check_options(given[0], bands, level=level, how=how, closed=closed, labels=labels, outside=outside)
    if hierarchy is not None:
        hierarchy = as_hierarchy(hierarchy)  # before the data is looked at: a bad file is told first
        hierarchy.at(level)
    frame, records = open_records(data, {"column": [column]})
    if bands is not None:
        return _banded(frame, records, column, bands, how=how, closed=closed, labels=labels, outside=outside)
    values = distinct_values(frame[column])
    if groups is not None:
        new_of = groups_map(groups, column, values.kind)
        what = "no group"
        parameters: dict[str, Any] = {"groups": [str(new) for new in groups]}
    else:
        assert isinstance(hierarchy, Hierarchy)
        new_of = hierarchy_map(hierarchy, level, values.kind)
        what, parameters = "no line of the hierarchy", {"level": level, "n_levels": len(hierarchy.levels)}
    found = regroup(values, column, new_of, outside=outside, what=what, records=records)
    notes = {}
    if found.outside:
        done = "kept" if outside == "keep" else "made missing"
        notes["outside"] = f"values in {what} were {done}; how many stands in the internal log"
    if found.unused and groups is not None:
        notes["unused"] = f"values named that no record has: {found.unused}"
    change = Change(
        "recode", records.n, {column: found.changed}, {"column": column, **parameters, "outside": outside},
        {"outside": found.outside} if found.outside else {}, notes,
    )  # fmt: skip
    return Protected(with_levels(frame, {column: (found.levels, found.codes)}), change)


def _check_options(
    given: str, bands: Any, *, level: object, how: str, closed: object, labels: object, outside: str
) -> None:
    arguments.choice(outside, "outside", get_args(Outside))
    arguments.choice(how, "how", get_args(Method))
    if level is not None and given != "hierarchy":
        raise DataError("level= goes with hierarchy=", argument="level")
    if (closed is not None or labels is not None) and given != "bands":
        which = "labels" if closed is None else "closed"
        raise DataError("closed= and labels= go with bands=", argument=which)
    if how != "equal_width" and (given != "bands" or not isinstance(bands, Integral)):
        raise DataError("how= says how a number of bands is cut, as in bands=5", argument="how")
    if outside == "keep" and given == "bands":
        says = 'outside="keep" would leave numbers among the bands; give "missing", or wider bands'
        raise DataError(says, argument="outside")


def _banded(
    frame: Any, records: Records, column: str, bands: Any, *, how: Method, closed: Closed | None,
    labels: Sequence[str] | None, outside: Outside,
) -> Protected:  # fmt: skip
    values = float_values(frame[column], "bands:")
    known = values[~np.isnan(values)]
    whole = bool((known == np.round(known)).all())
    cut = isinstance(bands, Integral)
    made: Bands
    if cut:
        made = cut_bands(
            values, int(bands), how=how, closed=closed, labels=labels, whole=whole, records=records
        )
    elif isinstance(bands, (Sequence, Mapping, np.ndarray)) and not isinstance(bands, str):
        made = given_bands(bands, closed=closed, labels=labels, whole=whole)  # type: ignore[arg-type]
    else:
        says = "bands= is a number of bands, a list of edges, or {label: (low, high)}"
        raise DataError(says, argument="bands")
    codes = made.codes(values)
    beyond = (codes < 0) & ~np.isnan(values)
    n_beyond = records.where(beyond)
    if n_beyond and outside == "error":
        raise DataError(
            f"column {column!r}: {n_beyond} records have a value in no band. Widen the bands (None leaves an end "
            'open), or give outside="missing"; the change then lists them under secret["outside"]'
        )
    secret: dict[str, Any] = {}
    notes: dict[str, str] = {}
    if n_beyond:
        found, which = np.unique(values[beyond], return_inverse=True)
        group = np.zeros(len(values), np.int64)
        group[beyond] = which
        counts = records.by(group, len(found), beyond)
        secret["outside"] = dict(zip(found.tolist(), counts.tolist(), strict=True))
        notes["outside"] = "values in no band were made missing; how many stands in the internal log"
    if cut:
        notes["edges"] = (
            "the edges were cut from the data and say something of it, next year's would be others; for a "
            "release, give edges of your own"
        )
        if len(made.labels) < bands:
            notes["bands"] = "equal quantiles are one edge, so there are fewer bands than asked for"
    parameters = {
        "column": column, "bands": list(made.labels), **({"how": how} if cut else {}),
        "closed": closed or ("both" if isinstance(bands, Mapping) else "left"), "outside": outside,
    }  # fmt: skip
    change = Change(
        "recode", records.n, {column: records.where(~np.isnan(values))}, parameters, secret, notes
    )
    return Protected(with_levels(frame, {column: (made.labels, codes)}, ordered=True), change)
