"""Forms of the protection methods for the app: arguments with type and meaning, and counts before and after."""

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.catalogue.row import described_parameters
from sdckit.data import arguments, columns, methods, replace
from sdckit.errors import ColumnError
from sdckit.identity.contributions.coarsening import round_edges as inner_edges
from sdckit.utility.tables.compare_distributions import counts_between, round_edges
from sdckit.workflow.recipes.recipe_steps import Method, annotation_of, method_of

# Counts of a variable before and after a step: by value, or by bins with round edges.


BINS = 20


@dataclass(frozen=True)
class VariableCounts:
    """Exact counts of a variable in one file; they must be protected before they are shown.

    Attributes
    ----------
    counts : tuple of (str, int)
        The values with their records, in the order of the variable; or the bins, where there are `edges`.
    n, n_missing : int
        Records, and those without a value.
    edges : tuple of float
        Between the bins, of which the first and the last are open. Empty where values are counted.
    whole : bool
        Whether the numbers are whole.
    """

    counts: tuple[tuple[str, int], ...]
    n: int
    n_missing: int
    edges: tuple[float, ...] = ()
    whole: bool = False


@dataclass(frozen=True)
class Picture:
    """A variable before and after; `after` is empty where the step left it out.

    Attributes
    ----------
    variable : str
    before, after : VariableCounts or None
    flows : tuple of (int, int, int)
        Which records went where: places among the counts before and after, -1 for missing, and how many they are. Only
        where the step leads each of the former to few of the latter, so that a reader can tell where records went.
    """

    variable: str
    before: VariableCounts | None
    after: VariableCounts | None
    flows: tuple[tuple[int, int, int], ...] = ()


_Side = tuple[VariableCounts, "NDArray[np.intp]"]


def picture_of(before: Any, after: Any, variable: str, *, levels: bool = False) -> Picture:
    """Count a variable in two files: numbers in the same bins, unless `levels` are asked for.

    Examples
    --------
    >>> import polars as pl
    >>> files = pl.DataFrame({"job": ["cook", "cook", "smith"]}), pl.DataFrame({"job": ["cook", "cook", None]})
    >>> picture = picture_of(*files, "job")
    >>> picture.before.counts, picture.after.counts, picture.after.n_missing
    ((('cook', 2), ('smith', 1)), (('cook', 2),), 1)
    """
    files = [None if given is None else replace.open_eager(given, {}) for given in (before, after)]
    there = [file for file in files if file is not None and variable in file.columns]
    if not there:
        raise ColumnError(f"neither file has a column {arguments.column(variable, 'variable')!r}")
    numbers = [columns.float_values(file[variable], "bins:") for file in there if file.schema[variable].is_numeric()]
    known = [number for number in numbers if not np.isnan(number).all()]
    edges = round_edges(known, BINS) if known and not levels else None
    sides = [
        _counted(file, variable, edges) if file is not None and variable in file.columns else None for file in files
    ]
    counted = [None if side is None else side[0] for side in sides]
    return Picture(variable, counted[0], counted[1], _flows(sides[0], sides[1]))


def _flows(before: _Side | None, after: _Side | None) -> tuple[tuple[int, int, int], ...]:
    """Non-zero cells of the table before by after; empty where they are as many as after random changes."""
    if before is None or after is None or len(before[1]) != len(after[1]):
        return ()
    pairs, sizes = np.unique(np.column_stack([before[1], after[1]]), axis=0, return_counts=True)
    if len(pairs) > len(before[0].counts) + len(after[0].counts) + 1:
        return ()
    return tuple((int(old), int(new), int(n)) for (old, new), n in zip(pairs, sizes, strict=True))


def _counted(frame: Any, variable: str, edges: Any) -> _Side:
    """Counts of a variable, and for each record the index of its count (-1 where missing)."""
    n = len(frame)
    if edges is not None and frame.schema[variable].is_numeric():
        values = columns.float_values(frame[variable], "bins:")
        known = values[~np.isnan(values)]
        whole = bool((known == np.floor(known)).all())
        ends = edges.tolist()
        counts = counts_between(values, edges).tolist()
        names = _named(ends, whole=whole)
        binned = VariableCounts(tuple(zip(names, counts, strict=True)), n, n - len(known), tuple(ends), whole=whole)
        return binned, np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right"))
    coded = columns.code_column(frame[variable])
    tally = np.bincount(coded.codes(), minlength=coded.n_codes)
    used = np.flatnonzero(tally[: coded.span])
    labels = coded.labels(used)
    counts = [(label, int(tally[code])) for label, code in zip(labels, used, strict=True)]
    ordered = tuple(_in_order(counts, coded.categories))
    places = {label: at for at, (label, _) in enumerate(ordered)}
    place = np.full(coded.n_codes, -1)
    place[used] = [places[label] for label in labels]
    return VariableCounts(ordered, n, int(coded.n_missing)), place[coded.codes()]


def _in_order(counts: Sequence[tuple[str, int]], categories: Any) -> list[tuple[str, int]]:
    """Levels in the order of the categories; without categories sorted by name."""
    if categories is None:
        return sorted(counts)
    place = {str(category): at for at, category in enumerate(categories)}
    return sorted(counts, key=lambda row: place.get(row[0], len(place)))


def _named(edges: Sequence[float], *, whole: bool) -> list[str]:
    """Names of the bins below, between and above edges.

    >>> _named([0.0, 10.0, 20.0], whole=True)
    ['under 0', '0 to 9', '10 to 19', '20 and over']
    >>> _named([0.0, 0.5], whole=False), _named([1.0, 2.0], whole=True)[1]
    (['under 0', '0 to 0.5', '0.5 and over'], '1')
    """
    names = [f"under {edges[0]:g}"]
    for low, high in pairwise(edges):
        last = high - 1 if whole else high
        names.append(f"{low:g}" if last == low else f"{low:g} to {last:g}")
    return [*names, f"{edges[-1]:g} and over"]


def bands_for(data: Any, variable: str) -> list[float]:
    """Inner edges of bands to start from: round ones, on which neither the smallest nor the largest value decides.

    Examples
    --------
    >>> import polars as pl
    >>> bands_for(pl.DataFrame({"age": [18 + i % 67 for i in range(300)]}), "age")
    [20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0, 75.0, 80.0]
    """
    values = columns.float_values(replace.open_eager(data, {"column": [variable]})[variable], "bands:")
    distinct, size = np.unique(values[~np.isnan(values)], return_counts=True)
    if not len(distinct):
        return []
    edges: list[float] = inner_edges(distinct, size).tolist()
    return edges


Kind = Literal["column", "columns", "choice", "flag", "whole", "number", "text", "value"]
SIMPLE: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number", str: "text"}
INTRUDER = "One of the scenario's intruders, for a step that takes its keys or a risk from the scenario."


@dataclass(frozen=True)
class Entry:
    """An argument of a step.

    Attributes
    ----------
    name : str
    kind : {"column", "columns", "choice", "flag", "whole", "number", "text", "value"}
        A "value" is written as a recipe file writes it: a list, a table, or one of several kinds.
    choices : tuple of str
        Of a choice.
    default : value or None
        What holds where it is not given; None also where it is needed.
    needed : bool
    about : str
        What it means, as the reference says it.
    """

    name: str
    kind: Kind
    choices: tuple[str, ...]
    default: Any
    needed: bool
    about: str


@dataclass(frozen=True)
class Form:
    """A method of protection: its name, what it does in a sentence, and its arguments, those needed first."""

    method: str
    about: str
    entries: tuple[Entry, ...]


def forms() -> tuple[Form, ...]:
    """The forms of all methods.

    >>> forms()[0].method
    'recode'
    """
    return tuple(form_of(name) for name in methods.METHODS)


def form_of(name: str) -> Form:
    """The form of a method.

    Examples
    --------
    >>> form = form_of("round_to")
    >>> [(entry.name, entry.kind, entry.needed) for entry in form.entries][:2]
    [('column', 'column', True), ('base', 'number', True)]
    """
    method = method_of(name, "form")
    doc = (inspect.getdoc(method.function) or "").replace("`", "")
    words = {name: about for names, _, about in described_parameters(method.function) for name in names}
    entries = [_entry(method, argument, words.get(argument, "").replace("`", "")) for argument in method.offered]
    entries.sort(key=lambda entry: not entry.needed)
    return Form(name, " ".join(doc.partition("\n\n")[0].split()), tuple(entries))


def _entry(method: Method, name: str, about: str) -> Entry:
    if name == "intruder":
        return Entry(name, "text", (), None, needed=False, about=INTRUDER)
    parameter = method.parameters[name]
    needed = parameter.default is parameter.empty
    kind, choices = _kind(annotation_of(method, name), named=name in method.columns)
    return Entry(name, kind, choices, None if needed else _plain(parameter.default), needed=needed, about=about)


def _kind(annotation: Any, *, named: bool) -> tuple[Kind, tuple[str, ...]]:
    """Kind of entry for a type annotation, and its choices; "value" for a union of several kinds."""
    options = [option for option in _options(annotation) if option is not type(None)]
    if len(options) > 1 and named and all(option is str or _is_list(option) for option in options):
        return "columns", ()
    if len(options) != 1:
        return "value", ()
    (only,) = options
    if typing.get_origin(only) is Literal and all(isinstance(member, str) for member in typing.get_args(only)):
        return "choice", typing.get_args(only)
    if named and only is str:
        return "column", ()
    if named and _is_list(only) and typing.get_args(only)[:1] == (str,):
        return "columns", ()
    return SIMPLE.get(only, "value"), ()


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(part for member in typing.get_args(annotation) for part in _options(member))
    return (annotation,)


def _is_list(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (Sequence, list, tuple)


def _plain(value: Any) -> Any:
    """Convert a default to plain values."""
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value] or None
    return dict(value) if isinstance(value, Mapping) else value
