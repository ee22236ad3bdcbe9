"""Recodings that two files show by themselves: bands, groups, limits, multiples; only where nothing else fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import Distinct, distinct_values, float_values
from sdckit.numerics.array_types import Ints
from sdckit.protect.recoding.bands import Bands
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recoding.band_labels import SharedEdge, read_bands
from sdckit.workflow.recoding.changes import Banded, Grouped, Recoding, Repeated
from sdckit.workflow.recoding.nested import found_base, found_limits, nested_map, speaks_for_groups

if TYPE_CHECKING:
    from sdckit.cells.pair import Pair


MOST = 10_000  # values of a column of codes


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of the original and of all releases, the rows in the original's order where they belong together."""

    pair: Pair
    name: str

    @cached_property
    def before(self) -> Distinct:
        return distinct_values(self.pair.original.get_column(self.name))

    @cached_property
    def after(self) -> list[Distinct]:
        return [distinct_values(frame.get_column(self.name)) for frame in self.pair.released]

    @cached_property
    def kinds(self) -> tuple[str, str]:
        """Of the original and of the releases; "empty" where there is no value, "mixed" where releases differ."""
        if self.floats:
            before, released = ("empty" if np.isnan(values).all() else "number" for values in self.numbers)
            return before, released
        after = {one.kind for one in self.after} - {"empty"}
        return self.before.kind, "empty" if not after else after.pop() if len(after) == 1 else "mixed"

    @cached_property
    def values(self) -> list[Any]:
        """Values of the releases, each once."""
        return list(dict.fromkeys(value for one in self.after for value in one.values))

    @cached_property
    def place(self) -> dict[Any, int]:
        """Place of each value in `values`."""
        return {value: i for i, value in enumerate(self.values)}

    @cached_property
    def after_codes(self) -> Ints:
        """Place of each released value in `values`, release behind release, -1 where missing."""
        found = []
        for one, order in zip(self.after, self.pair.orders, strict=True):
            table = np.array([*(self.place[value] for value in one.values), -1], np.int64)
            codes = table[one.codes]
            found.append(codes if order is None else codes[order])
        return np.concatenate(found)

    def before_codes(self) -> Ints:
        """Place of each value of the original, once for every release."""
        return np.tile(self.before.codes, self.pair.m)

    @cached_property
    def floats(self) -> bool:
        """Whether original and releases hold floating-point numbers, of which there may be one per record."""
        return all(frame.schema[self.name].is_float() for frame in self.pair.frames)

    @cached_property
    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Original and releases as numbers."""
        before, *after = (float_values(frame.get_column(self.name), "numeric") for frame in self.pair.frames)
        moved = [
            one if order is None else one[order] for one, order in zip(after, self.pair.orders, strict=True)
        ]
        return np.tile(before, self.pair.m), np.concatenate(moved)


def recognise(pair: Pair, names: Sequence[str], *, types_only: bool = False) -> list[Recoding]:
    """What was done to columns, where the files themselves say it.

    Bands are read from their names. Groups, limits and multiples need rows that belong together: every value has
    become one value, without an exception but for missing ones, and too often to be chance. Nothing is recognised
    where a column has its old values, or where values moved among records. `types_only` looks at columns alone whose
    types differ.
    """
    return [found for name in names if (found := _of_column(_Column(pair, name), types_only)) is not None]


def _of_column(column: _Column, types_only: bool) -> Recoding | None:
    if (types_only or not column.pair.aligned) and _plainly_alike(column):
        return None
    before, after = column.kinds
    if "empty" in (before, after) or after == "mixed":
        return None
    if before != after:
        found = _bands(column) if (before, after) == ("number", "text") else None
        return found or (_groups(column) if column.pair.aligned else None)
    if types_only or not column.pair.aligned or _identical(column):
        return None
    if before == "number":
        return _limits(column) or _multiples(column) or (_groups(column) if _whole(column) else None)
    return _groups(column)


def _plainly_alike(column: _Column) -> bool:
    """Whether both files hold numbers, or one and the same type, by their headers."""
    first, *others = (frame.schema[column.name] for frame in column.pair.frames)
    return all(one == first or (one.is_numeric() and first.is_numeric()) for one in others)


def _identical(column: _Column) -> bool:
    if column.floats:
        before, released = column.numbers
        return bool(((before == released) | np.isnan(released)).all())
    after = column.after_codes
    kept = after >= 0
    table = np.array([*(column.place.get(value, -2) for value in column.before.values), -1], np.int64)
    return bool(np.array_equal(table[column.before_codes()][kept], after[kept]))


def _bands(column: _Column) -> Recoding | None:
    """Bands by their names; where two share an edge, the rows must tell to which it belongs."""
    if len(column.values) > MOST:
        return None
    labels = [str(value) for value in column.values]
    before, after = _first_numbers(column), column.after_codes
    if (bands := read_bands(labels)) is not None:
        return _fitting(column, bands, labels, before, after, exact=False)
    if not column.pair.aligned:
        return None
    fits = list(_shared_edges(column, labels, before, after))
    return fits[0] if len(fits) == 1 else None


def _first_numbers(column: _Column) -> NDArray[np.float64]:
    return float_values(column.pair.original.get_column(column.name), "numeric")


def _shared_edges(column: _Column, labels: list[str], before: Any, after: Ints) -> Iterator[Recoding]:
    edges: tuple[SharedEdge, ...] = ("left", "right")
    for edge in edges:
        bands = read_bands(labels, shared=edge)
        if bands is not None and (found := _fitting(column, bands, labels, before, after, exact=True)):
            yield found


def _fitting(
    column: _Column,
    bands: Bands,
    labels: list[str],
    before: NDArray[np.float64],
    after: Ints,
    *,
    exact: bool,
) -> Recoding | None:
    """The bands, if the numbers of the original lie in them: all of them, or all whose band was released."""
    codes = bands.codes(before)
    beyond = (codes < 0) & ~np.isnan(before)
    if not column.pair.aligned:
        return None if beyond.any() else Banded(column.name, bands)
    place = np.array([*(bands.labels.index(label) for label in labels), -1], np.int64)
    codes, released = np.tile(codes, column.pair.m), place[after]
    shown = (released >= 0) & np.tile(~np.isnan(before), column.pair.m)
    other = shown & (codes != released)
    if (other & (codes < 0)).any() or not shown.any():
        return None
    if 2 * other.sum() > shown.sum() or (exact and other.any()):
        return None
    return Banded(column.name, bands, keep=True)


def _groups(column: _Column) -> Recoding | None:
    """Groups of values: each became one, fewer than before unless they are of another type."""
    old, new = column.before.values, column.values
    if len(old) > MOST:
        return None
    before = column.before_codes()
    image = nested_map(before, column.after_codes)
    if image is None:
        return None
    alike = column.kinds[0] == column.kinds[1]
    same = np.array([i >= 0 and alike and old[at] == new[i] for at, i in enumerate(image.tolist())], np.bool_)
    if not speaks_for_groups(before, image, same):
        return None
    shown = image[image >= 0]
    if alike and len(np.unique(shown)) == len(shown):
        return None  # other names for the same values, or values that changed places
    if not alike and all(_one_value(old[at], new[i]) for at, i in enumerate(image.tolist()) if i >= 0):
        return None  # the same values in another type
    new_of = {value: new[i] for value, i in zip(old, image.tolist(), strict=True) if i >= 0}
    if not alike and column.kinds[1] == "text":  # suppressed throughout: nobody knows its group
        new_of |= {value: str(value) for value, i in zip(old, image.tolist(), strict=True) if i < 0}
    kind = "values renamed" if len(np.unique(shown)) == len(shown) else "values in groups"
    return Grouped(column.name, new_of, keep=alike, kind=kind)


def _one_value(old: Any, new: Any) -> bool:
    """Whether two values of different types are one: 1 and "01", True and "true", a day and its text."""
    try:
        return float(old) == float(new)
    except (TypeError, ValueError):
        return str(old).casefold() == str(new).casefold()


def _whole(column: _Column) -> bool:
    if column.floats:
        return all(
            (np.isnan(one) | (np.isfinite(one) & (one == np.floor(one)))).all() for one in column.numbers
        )
    return all(
        isinstance(value, int) or float(value).is_integer()
        for value in (*column.before.values, *column.values)
    )


def _limits(column: _Column) -> Recoding | None:
    found = found_limits(*column.numbers)
    if found is None:
        return None
    ends = {
        end: _plain(limit) for end, limit in zip(("bottom", "top"), found, strict=True) if limit is not None
    }
    return Repeated(1, StepLike("top_bottom_code", {"column": column.name, **ends}))


def _multiples(column: _Column) -> Recoding | None:
    found = found_base(*column.numbers)
    if found is None:
        return None
    base, how = found
    return Repeated(1, StepLike("round_to", {"column": column.name, "base": _plain(base), "how": how}))


def _plain(value: float) -> float:
    return int(value) if value.is_integer() else value
