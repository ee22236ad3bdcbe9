"""The catalogue of measures, one row each: its question, when it applies, and how it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from sdckit.catalogue.attacks import ATTACKS
from sdckit.catalogue.attribute import ATTRIBUTE
from sdckit.catalogue.identity import IDENTITY
from sdckit.catalogue.row import Context, Knowledge, Measure
from sdckit.catalogue.utility import UTILITY

if TYPE_CHECKING:
    from sdckit.report.view import View

__all__ = ["CATALOGUE", "Context", "Knowledge", "Measure", "further", "measure", "registered", "rows"]

CATALOGUE: tuple[Measure, ...] = (*IDENTITY, *ATTRIBUTE, *ATTACKS, *UTILITY)
_further: ContextVar[tuple[Measure, ...]] = ContextVar("measures from outside the package", default=())


def rows(*files: str) -> list[Measure]:
    """Rows of the measures that `assess` can run on these kinds of file; without arguments, all rows."""
    every = (*CATALOGUE, *_further.get())
    return [row for row in every if not files or (row.runs and (row.files in files or (row.alone and "one" in files)))]


def further() -> tuple[str, ...]:
    """Names of the single-file measures that `assess` runs only on request."""
    return tuple(row.name for row in rows("one") if row.on_request)


def measure(name: str) -> Measure:
    """Look up the row of a measure by name.

    Examples
    --------
    >>> measure("k_anonymity").room
    'identity'
    """
    for row in rows():
        if row.name == name:
            return row
    raise KeyError(f"the catalogue has no measure {name!r}; it has {', '.join(row.name for row in rows())}")


@contextmanager
def registered(row: Measure, view: View) -> Iterator[None]:
    """Register a measure from outside the package, with its view, for the duration of the context."""
    from sdckit.report.view import added

    token = _further.set((*_further.get(), row))
    try:
        with added(row.name, view):
            yield
    finally:
        _further.reset(token)
