"""The view of a measure: how its figures are entered, laid out, summarised and explained in a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sdckit.data.packaged import packaged
from sdckit.errors import DataError
from sdckit.report.blocks import Block, ChartBlock
from sdckit.report.gate.figures import Tree

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


Plain = Mapping[str, Any]
ROOM = "sdckit.report.views"


@dataclass(frozen=True)
class Note:
    """How a figure is computed, and its source."""

    name: str
    text: str
    source: str


@cache
def _notes() -> dict[str, dict[str, str]]:
    return packaged("report/notes.toml")


def note(name: str) -> Note:
    """A note of `notes.toml`, by the name of its measure or, where it is of several, of its subject.

    >>> note("k_map").source
    'Sweeney (2001); El Emam & Dankar (2008)'
    """
    return Note(**_notes()[name])


def noted(*names: str) -> Callable[[Scenario], Sequence[Note]]:
    """Make a function that gives the notes of these names for any scenario; they are read when it is called."""
    return lambda _: tuple(map(note, names))


@dataclass(frozen=True)
class View:
    """How a measure appears in a document.

    Parameters
    ----------
    title
        Heading of its section; measures that follow each other under one heading share the section.
    tree
        Takes a result and its setting, enters the figures into the ledger, gives them as a tree; an empty one
        is left out of the document.
    blocks
        Takes what is printed of one intruder by place (``k_anonymity``, ``attribute_disclosure:income``) and
        the place; gives what is shown of it.
    notes
        How it is computed, given the scenario.
    figures
        Its main figures in a line each, words and printed leaf, for tables that set intruders, or a file before
        and after, side by side; takes what `blocks` takes.
    answer
        What it says to the committee in a sentence or none, for the first page; takes the same and the number
        of records as printed.
    charts
        Pictures that are drawn of a single result when they are asked for, by name; take the result, and whether
        they may show exact figures.
    """

    title: str
    tree: Callable[[Any, Any], Mapping[str, Tree]]
    blocks: Callable[[Plain, str], list[Block]]
    notes: Callable[[Scenario], Sequence[Note]] = lambda _: ()
    figures: Callable[[Plain, str], Mapping[str, Plain]] = lambda _plain, _place: {}
    answer: Callable[[Plain, str, Plain], str] = lambda _plain, _place, _n: ""
    charts: Mapping[str, Callable[[Any, bool], ChartBlock]] = field(default_factory=dict)


_added: ContextVar[Mapping[str, View]] = ContextVar("views from outside the package", default=MappingProxyType({}))


def find_view(place: str) -> View | None:
    """View of a measure, or of a place of its results, from the file of `views` named after it; None without one."""
    measure = place.partition(":")[0]
    if measure in _added.get():
        return _added.get()[measure]
    if not measure.isidentifier() or find_spec(f"{ROOM}.{measure}") is None:
        return None
    view: View = import_module(f"{ROOM}.{measure}").VIEW
    return view


def view_of(place: str) -> View:
    """View of a measure; raises DataError if it has none."""
    view = find_view(place)
    if view is None:
        raise DataError(f"{place} has no chart or notebook view; see .summary()")
    return view


def views_of(plain: Plain) -> Iterator[tuple[str, View]]:
    """Places that have a view, with it, in their order; variants are shown beside their measure."""
    for place, tree in plain.items():
        if tree and (view := find_view(place)) is not None:
            yield place, view


@contextmanager
def added(measure: str, view: View) -> Iterator[None]:
    """Register the view of a measure from outside the package while the context lasts."""
    token = _added.set({**_added.get(), measure: view})
    try:
        yield
    finally:
        _added.reset(token)
