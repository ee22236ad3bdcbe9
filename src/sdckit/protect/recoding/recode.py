"""E2: global recoding of one column, by bands, by groups, along a hierarchy, or of dates to longer periods.

Bands are given by edges or ranges, or cut from the data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments, columns
from sdckit.data.hierarchy import Hierarchy, as_hierarchy, hierarchy_map
from sdckit.data.replace import Records, open_records, with_levels
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.protect.change import Change, Protected

Closed: TypeAlias = Literal["left", "right", "both"]
Method: TypeAlias = Literal["equal_width", "log", "equal_frequency"]
MOST = 10_000
WIDE = 100  # bands of fractions that are wider have whole edges


@dataclass(frozen=True, eq=False)
class Bands:
    """Ascending ranges that do not overlap."""

    low: NDArray[np.float64]  # shape (B,); minus infinity where it is open
    high: NDArray[np.float64]  # shape (B,); infinite where it is open
    has_low: NDArray[np.bool_]  # shape (B,); whether the end belongs to the band
    has_high: NDArray[np.bool_]  # shape (B,)
    labels: tuple[str, ...]

    def codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Band of each number from 0 on; -1 where it is missing or in none."""
        codes = np.full(len(values), -1, np.int64)
        # the two bands that a number can be in: the last one that starts below it or on it, and the one before
        place = np.searchsorted(self.low, values, side="right") - 1
        rows: slice | NDArray[np.int64] = slice(None)
        for back in (0, 1):
            band, some = np.maximum(place[rows] - back, 0), values[rows]
            low, high = self.low[band], self.high[band]
            above = (some > low) | ((some == low) & self.has_low[band])
            below = (some < high) | ((some == high) & self.has_high[band])
            codes[rows] = np.where(above & below, band, -1)
            rows = np.flatnonzero(codes < 0)
        return codes


def given_bands(
    bands: Sequence[Any] | Mapping[str, Any], *, closed: Closed | None, labels: Sequence[str] | None, whole: bool,
) -> Bands:  # fmt: skip
    """Bands between edges, or of ``{label: (low, high)}``.

    `bands`: None, or an infinite number, at the outer ends leaves them open. `closed`: which end belongs to a
    band; default the left one between edges, both in a mapping. `labels`: names of the bands between edges.
    `whole`: whether the numbers are all whole, for the labels. Raises `DataError`: fewer than two edges,
    edges that do not ascend, ranges that overlap, labels of another number.
    """
    if closed is not None:
        arguments.choice(closed, "closed", get_args(Closed))
    if isinstance(bands, Mapping):
        if labels is not None:
            says = "labels= goes with a list of edges; {label: (low, high)} names the bands itself"
            raise DataError(says, argument="labels")
        return _ranges(bands, closed or "both")
    edges = [_edge(edge, -math.inf if i == 0 else math.inf) for i, edge in enumerate(bands)]
    if len(edges) < 2:
        raise DataError("bands= needs two edges or more; n + 1 of them make n bands", argument="bands")
    if any(a >= b for a, b in pairwise(edges)):
        raise DataError("bands: the edges must ascend, each greater than the one before", argument="bands")
    return _between(np.array(edges), closed or "left", labels, whole=whole)


def cut_bands(
    values: NDArray[np.float64], n: int, *, how: Method, closed: Closed | None,
    labels: Sequence[str] | None, whole: bool, records: Records | None = None,
) -> Bands:  # fmt: skip
    """Cut numbers into `n` bands, the outer ones open.

    `values`: NaN is missing. `n`: bands asked for; equal quantiles make fewer. `how` (one of
    "equal_width", "log", "equal_frequency"): edges in equal steps of the numbers or of their logarithms, one
    unit beyond the smallest and the largest, or at the quantiles (type 7). `closed`, `labels`, `whole`: as in
    `given_bands`. `records`: what the values stand for, one each by default.
    Raises `DataError`: not a number of bands, no value, one single value, infinite ones;
    numbers below or at zero with "log"; labels of another number.

    Edges in equal steps are rounded to whole ones where the numbers are whole or the bands wider than 100,
    else, without the room of one unit, to a hundredth of the power of ten that the narrowest band has.
    Quantiles are rounded to three digits where that keeps them apart: no edge need be somebody's exact value.
    """
    if closed is not None:
        arguments.choice(closed, "closed", get_args(Closed))
    arguments.count(n, "bands", "as a number says how many", at_least=2, at_most=MOST)
    arguments.choice(how, "how", get_args(Method))
    if closed == "both":
        raise DataError('closed="both" is for {label: (low, high)}: edges share no end', argument="closed")
    known = values[~np.isnan(values)]
    if len(known) == 0 or not np.isfinite(known).all():
        raise DataError("bands: there is no value to cut, or some are infinite; give edges", argument="bands")
    low, high = float(known.min()), float(known.max())
    if low == high:
        raise DataError("bands: all values are the same; there is nothing to cut", argument="bands")
    if how == "log" and low <= 0:
        says = 'how="log" takes the logarithm; some values are zero or negative, give the edges'
        raise DataError(says, argument="how")
    if how == "equal_frequency":
        edges = (records or Records(len(values), None)).quantiles(values, np.arange(1, n) / n)
        rounded = np.array([float(f"{edge:.3g}") for edge in edges])
        edges = rounded if len(np.unique(rounded)) == len(np.unique(edges)) else edges
        edges = np.unique(edges)
        # an edge at the very end would leave an empty band
        inside = (edges > low) & (edges <= high) if closed != "right" else (edges >= low) & (edges < high)
        edges = edges[inside]
    else:
        edges = _steps(low, high, n, log=how == "log", whole=whole)
    return _between(np.array([-math.inf, *edges, math.inf]), closed or "left", labels, whole=whole)


def _steps(low: float, high: float, n: int, *, log: bool, whole: bool) -> NDArray[np.float64]:
    a, b = (math.log(low), math.log(high)) if log else (low, high)
    # one unit of room at either end, and whole edges: unless the bands are too narrow for that
    grid = np.linspace(a - 1, b + 1, n + 1)
    edges = np.round(np.exp(grid) if log else grid)
    if np.diff(edges).min() >= (1 if whole else WIDE):
        return edges[1:-1]
    grid = np.linspace(a, b, n + 1)
    edges = np.exp(grid) if log else grid
    digits = 2 - math.floor(math.log10(float(np.diff(edges).min())))
    return np.round(edges[1:-1], digits)


def _edge(edge: object, open_end: float) -> float:
    if edge is None:
        return open_end
    if edge in (-math.inf, math.inf):
        return float(edge)
    if not columns.is_number(edge):
        raise DataError(
            "bands: an edge is not a number; without quotes, and None or an infinite number for an open end",
            argument="bands",
        )
    return float(edge)


def _ranges(bands: Mapping[str, Any], closed: Closed) -> Bands:
    ranges = []
    for label, ends in bands.items():
        if not isinstance(label, str) or not label:
            raise DataError("bands: the name of a band is a text that is not empty", argument="bands")
        if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
            raise DataError(f"bands: {label!r} needs two ends, (low, high)", argument="bands")
        low, high = _edge(ends[0], -math.inf), _edge(ends[1], math.inf)
        if low > high or (low == high and closed != "both"):
            raise DataError(f"bands: {label!r} ends before it starts, or holds no number", argument="bands")
        ranges.append((low, high, label))
    if not ranges:
        raise DataError("bands= is empty; give edges, or {label: (low, high)}", argument="bands")
    ranges.sort(key=lambda band: band[:2])
    for (_, end, lower), (start, _, upper) in pairwise(ranges):
        if start < end or (start == end and closed == "both"):
            raise DataError(
                f"bands: {lower!r} and {upper!r} overlap"
                + ('; closed="left" or "right" says to which a shared end belongs' if start == end else "")
            )
    lows, highs = (np.array([band[i] for band in ranges], np.float64) for i in (0, 1))
    has_low, has_high = np.full(len(ranges), closed != "right"), np.full(len(ranges), closed != "left")
    return Bands(lows, highs, has_low, has_high, tuple(label for _, _, label in ranges))


def _between(edges: NDArray[np.float64], closed: Closed, labels: Sequence[str] | None, *, whole: bool) -> Bands:
    if closed == "both":
        raise DataError('closed="both" is for {label: (low, high)}: edges share no end', argument="closed")
    n = len(edges) - 1
    has_low, has_high = np.full(n, closed == "left"), np.full(n, closed == "right")
    has_low[0] = has_high[-1] = True  # the outermost edges belong to the outermost bands
    whole = whole and bool((edges == np.round(edges)).all())
    named = zip(edges[:-1].tolist(), edges[1:].tolist(), has_low.tolist(), has_high.tolist(), strict=True)
    names = tuple((_whole_label if whole else _label)(*band) for band in named)
    return Bands(edges[:-1], edges[1:], has_low, has_high, _labels(labels, n) or names)


def _labels(labels: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if labels is None:
        return ()
    names = arguments.several(labels, "labels", "are the names of the bands")
    if not all(isinstance(label, str) and label for label in names):
        raise DataError("labels= is a list of texts, one for each band", argument="labels")
    if len(names) != n or len(set(names)) != n:
        says = f"labels= needs {n} different texts, one for each band; it has {len(set(names))}"
        raise DataError(says, argument="labels")
    return names


def _whole_label(low: float, high: float, has_low: bool, has_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "any"
    if low == -math.inf:
        return f"up to {int(high) - (not has_high)}"
    first = int(low) + (not has_low)
    if high == math.inf:
        return f"{first}+"
    last = int(high) - (not has_high)
    if first == last:
        return str(first)
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def _label(low: float, high: float, has_low: bool, has_high: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "any"
    if low == -math.inf:
        return f"{'up to' if has_high else 'under'} {_number(high)}"
    if high == math.inf:
        return f"{_number(low)} and over" if has_low else f"over {_number(low)}"
    return f"{'[' if has_low else '('}{_number(low)}, {_number(high)}{']' if has_high else ')'}"


def _number(value: float) -> str:
    return str(int(value)) if value == round(value) and abs(value) < 1e16 else f"{value:.12g}"


Outside: TypeAlias = Literal["error", "keep", "missing"]


@dataclass(frozen=True, eq=False)
class Regrouped:
    """A column recoded: its new values."""

    levels: list[Any]  # the new values
    codes: NDArray[np.int64]  # shape (n,); place of each record's new value in `levels`; -1 where missing
    changed: int  # records whose value is another one now
    outside: dict[Any, int]  # values that no group names, with their records
    unused: int  # values that are named, and that no record has
    alone: bool  # whether a single value became all others


def groups_map(groups: Mapping[Any, Any], column: str, kind: str) -> dict[Any, Any]:
    """Turn ``{new: [old, ...]}`` into ``{old: new}``; None stands for a missing value.

    Raises `DataError`: no groups, an old value in two of them, or of another type than the column.
    """
    if not isinstance(groups, Mapping) or not groups:
        raise DataError("groups= is {new value: [old values]}, with one group or more", argument="groups")
    new_of: dict[Any, Any] = {}
    for new, given in groups.items():
        single = isinstance(given, (str, bytes)) or not isinstance(given, Iterable)
        values = [given] if single else list(given)
        if isinstance(given, Mapping) or not all(isinstance(old, Hashable) for old in values):
            raise DataError(f"groups: {new!r} lists a list or a table; give plain values", argument="groups")
        for old in values:
            old_kind = "date" if kind == "date" and _is_day(old) else columns.kind_of_value(old)
            if kind not in {"empty", old_kind} and old_kind != "empty":
                says = f"groups: {new!r} lists a {old_kind}, column {column!r} holds {_many(kind)}"
                raise DataError(says, argument="groups")
            if old in new_of:
                says = f"groups: one value stands in {new_of[old]!r} and in {new!r}; each has one group"
                raise DataError(says, argument="groups")
            new_of[old] = new
    return new_of


def _is_day(value: object) -> bool:
    """Whether a text is an ISO date, as in a CSV file: a recipe may write dates so."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _many(kind: str) -> str:
    return {"number": "numbers", "date": "dates", "boolean": "booleans"}.get(kind, kind)


def regroup(
    column: columns.Distinct, name: str, new_of: Mapping[Any, Any], *, outside: Outside, what: str,
    records: Records | None = None, others: str | None = None,
) -> Regrouped:  # fmt: skip
    """Apply ``{old: new}`` to a column.

    `name`: its name, for messages. `records`: what its rows stand for, one each by default.
    `outside` (one of "error", "keep", "missing"): what happens to values that
    are not in `new_of`; all of them become `others` where that is given. `what`: what does not name them, for
    messages, such as "no group". Raises `DataError`: values are outside, and that is an error, or they cannot stand
    beside the new ones.
    """
    new_of = {old.isoformat() if column.kind == "date" and hasattr(old, "isoformat") else old: new
              for old, new in new_of.items()}  # fmt: skip
    keys = [value.isoformat() if hasattr(value, "isoformat") else value for value in column.values]
    records = Records(len(column.codes), None) if records is None else records
    counts = records.by(column.codes, len(column.values), column.codes >= 0)
    unnamed = {value: int(counts[i]) for i, (value, key) in enumerate(zip(column.values, keys, strict=True))
             if key not in new_of}  # fmt: skip
    if unnamed and outside == "error" and others is None:
        raise DataError(
            f"column {name!r}: {len(unnamed)} of its values, in {counted(sum(unnamed.values()), 'record')}, are in "
            f'{what}. Name them too, or give outside="keep" or outside="missing"; the change then lists them under '
            'secret["outside"]'
        )
    new: list[Any] = [new_of.get(key, value if outside == "keep" else others)
                      for key, value in zip(keys, column.values, strict=True)]  # fmt: skip
    levels = _levels(column, new, [*new_of.values(), *([] if others is None else [others])])
    if len({columns.kind_of_value(level) for level in levels}) > 1:
        raise DataError(
            f"column {name!r}: the new values are of several types"
            + ("; values outside cannot be kept beside them" if unnamed and outside == "keep" else "")
            + ("; others= is a text, so the groups need texts as names" if others is not None else "")
        )
    place = {level: i for i, level in enumerate(levels)}
    missing = place.get(new_of.get(None), -1)
    codes_of = np.array([*(-1 if value is None else place[value] for value in new), missing])
    pairs = zip(column.values, new, strict=True)
    differ = [columns.kind_of_value(a) != columns.kind_of_value(b) or a != b for a, b in pairs]
    is_other = np.array([*differ, codes_of[-1] >= 0])
    codes = codes_of[column.codes]
    unused = len(new_of.keys() - {*keys, None})
    alone = others is not None and bool(unnamed) and new.count(others) == 1
    return Regrouped(levels, codes, records.where(is_other[column.codes]), unnamed, unused, alone)


def _levels(column: columns.Distinct, new: list[Any], given: Sequence[Any]) -> list[Any]:
    """The distinct new values: categories in the order of the old ones, else as named, then those kept."""
    kept = [value for value in new if value is not None]
    named = list(dict.fromkeys(given))
    if column.category:
        return list(dict.fromkeys([*kept, *named]))
    others = set(kept) - set(named)
    return [*named, *sorted(others, key=lambda value: (str(type(value)), value))]


def period_names(numbers: Iterable[int], period: columns.Period) -> list[str] | list[int]:
    """Names of periods that are numbered from the year 0 on; years are numbers.

    >>> period_names([8099], "quarter"), period_names([2024], "year"), period_names([199], "decade")
    (['2024-Q4'], [2024], ['1990-1999'])
    """
    if period == "year":
        return list(numbers)
    if period == "decade":
        return [f"{number * 10:04d}-{number * 10 + 9:04d}" for number in numbers]
    if period == "quarter":
        return [f"{number // 4:04d}-Q{number % 4 + 1}" for number in numbers]
    return [f"{number // 12:04d}-{number % 12 + 1:02d}" for number in numbers]


_COMPARED: ContextVar[bool] = ContextVar("compared", default=False)


@contextmanager
def only_compared() -> Iterator[None]:
    """What is recoded goes nowhere, so that a single value may be all others: other files have more of them."""
    token = _COMPARED.set(True)
    try:
        yield
    finally:
        _COMPARED.reset(token)


def recode(
    data: Any,
    *,
    column: str,
    bands: int | Sequence[float | None] | Mapping[str, Sequence[float | None]] | None = None,
    groups: Mapping[Any, Any] | None = None,
    hierarchy: Hierarchy | str | Path | Mapping[Any, Any] | None = None,
    level: int | str | None = None,
    period: columns.Period | None = None,
    how: Method = "equal_width",
    closed: Closed | None = None,
    labels: Sequence[str] | None = None,
    outside: Outside = "error",
    others: str | None = None,
) -> Protected:
    """Make one column coarser: bands of numbers, groups of values, their names up a hierarchy, or dates by period.

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
    period : {"month", "quarter", "year", "decade"}
        What is left of dates and times, by their own clock: "2024-05", "2024-Q2", the number 2024, or "2020-2029".
    how : {"equal_width", "log", "equal_frequency"}
        How a number of bands is cut.
    closed : {"left", "right", "both"}, optional
        The end that belongs to a band: the left one, but both in a mapping.
    labels : sequence of str, optional
        Names of the bands, from the lowest; default made from the edges, as "30-39".
    outside : {"error", "keep", "missing"}
        Values in no band, no group, or not in the hierarchy: refused, kept (not with bands), or made missing.
    others : str, optional
        Name of the one group of all values in no other group, or not in the hierarchy, such as "other": rare ones need
        not be named then. It stands for two values of the file or more.

    Returns
    -------
    Protected
        ``data`` and ``change``. Bands and periods give ordered categories, years whole numbers; groups and
        hierarchies keep the column's type where the new values are of it. Missing values stay missing unless a group
        takes them.

    Raises
    ------
    ColumnError
        The column is absent.
    DataError
        Not exactly one of bands, groups, hierarchy and period; bands of text; edges that do not ascend; groups that
        share a value; no such level; a period of what is no date; values outside (how many, never which); a single
        value that would be all others.
    FileFormatError
        The file of the hierarchy is no hierarchy.

    Notes
    -----
    With ``outside="keep"`` or ``"missing"``, or with `others`, the values outside are listed in
    ``change.secret["outside"]``, with their records. Bands that are cut from the data say something of it: from equal
    steps the smallest and the largest value can be worked out approximately. For a release, give edges of your own.

    References
    ----------
    Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"age": [3, 31, 88], "place": ["Graz", "Linz", "Wels"]})
    >>> recode(survey, column="age", bands=[0, 15, 65, None]).data["age"].to_list()
    ['0-14', '15-64', '65+']
    >>> born = survey.with_columns(born=pl.date(1980, pl.int_range(4, 7), 24))
    >>> recode(born, column="born", period="quarter").data["born"].to_list()
    ['1980-Q2', '1980-Q2', '1980-Q2']
    >>> towns = {"south": ["Graz"], "north": ["Linz", "Wels"]}
    >>> safe, change = recode(survey, column="place", groups=towns)
    >>> safe["place"].to_list(), change.changed
    (['south', 'north', 'north'], {'place': 3})
    >>> recode(survey, column="place", groups={"Graz": ["Graz"]}, others="other").data["place"].to_list()
    ['Graz', 'other', 'other']
    """
    ways = {"bands": bands, "groups": groups, "hierarchy": hierarchy, "period": period}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        says = f"give one of bands=, groups=, hierarchy= and period=; there are {len(given)}"
        raise DataError(says, argument=given[-1] if given else "bands")
    arguments.column(column, "column")
    _check_options(given[0], bands, level=level, how=how, closed=closed, labels=labels, outside=outside)
    _check_others(others, given[0], outside)
    if period is not None:
        arguments.choice(period, "period", get_args(columns.Period))
    if hierarchy is not None:
        hierarchy = as_hierarchy(hierarchy)  # before the data is looked at: a bad file is told first
        hierarchy.at(level)
    frame, records = open_records(data, {"column": [column]})
    if bands is not None:
        return _banded(frame, records, column, bands, how=how, closed=closed, labels=labels, outside=outside)
    if period is not None:
        return _shortened(frame, records, column, period)
    values = columns.distinct_values(frame[column])
    if groups is not None:
        new_of = groups_map(groups, column, values.kind)
        what = "no group"
        parameters: dict[str, Any] = {"groups": [str(new) for new in groups]}
    else:
        assert isinstance(hierarchy, Hierarchy)
        new_of = hierarchy_map(hierarchy, level, values.kind)
        what, parameters = "no line of the hierarchy", {"level": level, "n_levels": len(hierarchy.levels)}
    regrouped = regroup(values, column, new_of, outside=outside, what=what, records=records, others=others)
    if regrouped.alone and not _COMPARED.get():
        raise DataError(
            f"column {column!r}: a single value is in {what}, and {others!r} would stand for it alone; name it, too, "
            "or name one value less", argument="others",
        )  # fmt: skip
    notes = {}
    if regrouped.outside:
        done = "made one" if others is not None else "kept" if outside == "keep" else "made missing"
        notes["outside"] = f"values in {what} were {done}; how many stands in the internal log"
    if regrouped.unused and groups is not None:
        notes["unused"] = f"values named that no record has: {regrouped.unused}"
    beyond = {"outside": outside} if others is None else {"others": others}
    change = Change(
        "recode", records.n, {column: regrouped.changed}, {"column": column, **parameters, **beyond},
        {"outside": regrouped.outside} if regrouped.outside else {}, notes,
    )  # fmt: skip
    return Protected(with_levels(frame, {column: (regrouped.levels, regrouped.codes)}), change)


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
    if outside != "error" and given == "period":
        raise DataError("outside= is not for period=: every date is in a period", argument="outside")
    if outside == "keep" and given == "bands":
        says = 'outside="keep" would leave numbers among the bands; give "missing", or wider bands'
        raise DataError(says, argument="outside")


def _check_others(others: object, given: str, outside: str) -> None:
    if others is None:
        return
    if not isinstance(others, str) or not others:
        says = 'others= is the name of the group of all other values, such as "other"'
        raise DataError(says, argument="others")
    if given not in ("groups", "hierarchy"):
        raise DataError("others= goes with groups= or hierarchy=", argument="others")
    if outside != "error":
        says = "outside= and others= both say what becomes of values outside; give one of them"
        raise DataError(says, argument="outside")


def _shortened(frame: Any, records: Records, column: str, period: columns.Period) -> Protected:
    months = columns.months_of(frame[column])
    known = ~np.isnan(months)
    distinct, place = np.unique(months[known].astype(np.int64) // columns.MONTHS[period], return_inverse=True)
    codes = np.full(len(months), -1, np.int64)
    codes[known] = place
    levels = period_names(distinct.tolist(), period)
    change = Change("recode", records.n, {column: records.where(known)}, {"column": column, "period": period})
    return Protected(with_levels(frame, {column: (levels, codes)}, ordered=bool(levels) and period != "year"), change)


def _banded(
    frame: Any, records: Records, column: str, bands: Any, *, how: Method, closed: Closed | None,
    labels: Sequence[str] | None, outside: Outside,
) -> Protected:  # fmt: skip
    values = columns.float_values(frame[column], "bands:")
    known = values[~np.isnan(values)]
    whole = bool((known == np.round(known)).all())
    cut = isinstance(bands, Integral)
    made: Bands
    if cut:
        made = cut_bands(values, int(bands), how=how, closed=closed, labels=labels, whole=whole, records=records)
    elif isinstance(bands, (Sequence, Mapping, np.ndarray)) and not isinstance(bands, str):
        made = given_bands(bands, closed=closed, labels=labels, whole=whole)  # type: ignore[arg-type]
    else:
        raise DataError("bands= is a number of bands, a list of edges, or {label: (low, high)}", argument="bands")
    codes = made.codes(values)
    beyond = (codes < 0) & ~np.isnan(values)
    n_beyond = records.where(beyond)
    if n_beyond and outside == "error":
        raise DataError(
            f"column {column!r}: {counted(n_beyond, 'record has', 'records have')} a value in no band. Widen the bands "
            '(None leaves an end open), or give outside="missing"; the change then lists them under secret["outside"]'
        )
    secret: dict[str, Any] = {}
    notes: dict[str, str] = {}
    if n_beyond:
        distinct, which = np.unique(values[beyond], return_inverse=True)
        group = np.zeros(len(values), np.int64)
        group[beyond] = which
        counts = records.by(group, len(distinct), beyond)
        secret["outside"] = dict(zip(distinct.tolist(), counts.tolist(), strict=True))
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
    change = Change("recode", records.n, {column: records.where(~np.isnan(values))}, parameters, secret, notes)
    return Protected(with_levels(frame, {column: (made.labels, codes)}, ordered=True), change)
