"""Open original and releases with the original recoded as the release is; recognise recodings from two files."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sdckit.cells.as_cells import columns_in_memory
from sdckit.cells.pair import CONTROL, Pair, Recoded, open_pair, read_pair
from sdckit.cells.plans.lazy import ROWS
from sdckit.data import hierarchy, methods
from sdckit.data.columns import Distinct, distinct_values, float_values
from sdckit.data.frames import open_frame
from sdckit.data.replace import pick_rows, with_levels
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.protect.recoding.recode import Bands
from sdckit.protect.recoding.round_to import multiples
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recoded_original import published_recodings as published
from sdckit.workflow.recoded_original.published_recodings import Recodings

# Functional relations between two aligned columns: groups of codes, top and bottom codes, multiples.


CONFIRMED = 10  # records that must repeat what another record of their value shows
FEWEST = 3  # numbers that must have changed before a limit or a base is believed
SAMPLE = 200


def nested_map(before: Ints, after: Ints) -> Ints | None:
    """Map of each value to its one new value, -1 where no record shows it; None where a value became several.

    Both are numbered from 0, -1 being missing; a value that became missing was suppressed and says nothing.

    >>> nested_map(np.array([0, 0, 1, 2]), np.array([5, -1, 5, -1])).tolist()
    [5, 5, -1]
    >>> nested_map(np.array([0, 0]), np.array([5, 6])) is None
    True
    """
    shown = (before >= 0) & (after >= 0)
    if (after[before < 0] >= 0).any():
        return None
    image = np.full(int(before.max(initial=-1)) + 1, -1, np.int64)
    image[before[shown]] = after[shown]
    return None if (image[before[shown]] != after[shown]).any() else image


def speaks_for_groups(before: Ints, image: Ints, same: Bools) -> bool:
    """Whether a mapping is too regular to be chance: enough records repeat the mapping of their value.

    `same` says which values kept their name. A value of one record always became one other value: that says nothing.
    """
    counts = np.bincount(before[before >= 0], minlength=len(image))
    changed = (image >= 0) & ~same
    alone = int((counts[changed] == 1).sum())
    return bool((counts[changed] - 1).sum() >= CONFIRMED and 2 * alone <= changed.sum())


def found_limits(before: Floats, after: Floats) -> tuple[float | None, float | None] | None:
    """Bottom and top code of a numeric variable; None where it was not top- or bottom-coded.

    >>> found_limits(np.array([1.0, 5, 8, 9, 12]), np.array([1.0, 5, 6, 6, 6]))
    (None, 6.0)
    >>> found_limits(np.array([1.0, 5, 8, 9, 12]), np.array([1.0, 5, 6, 6, 7])) is None
    True
    """
    shown = ~np.isnan(before) & ~np.isnan(after)
    first, second = before[shown], after[shown]
    if (first != second).sum() < FEWEST:
        return None
    low, high = float(second.min()), float(second.max())
    if not np.array_equal(np.clip(first, low, high), second):
        return None
    return low if (first < low).any() else None, high if (first > high).any() else None


def found_base(before: Floats, after: Floats) -> tuple[float, str] | None:
    """Base and direction of a rounding to multiples; None where the variable was not rounded.

    >>> found_base(np.array([12.0, 18, 26, 31]), np.array([10.0, 20, 30, 30]))
    (10.0, 'nearest')
    """
    shown = ~np.isnan(before) & ~np.isnan(after)
    first, second = before[shown], after[shown]
    if (first != second).sum() < FEWEST or not np.isfinite(second).all() or np.abs(second).max() >= 2.0**53:
        return None
    if len(np.unique(second)) < FEWEST:  # a few values are multiples of anything
        return None
    for base in _bases(float(np.abs(second).max())):
        if not _are_multiples(second[:SAMPLE], base):
            continue
        for how in ("nearest", "down"):  # the first records mostly speak against it
            some = np.array_equal(multiples(first[:SAMPLE], base, how, None), second[:SAMPLE])
            if some and _are_multiples(second, base) and np.array_equal(multiples(first, base, how, None), second):
                return base, how
    return None


def _bases(largest: float) -> list[float]:
    bases = [float(f"{digit}e{power}") for power in range(9, -4, -1) for digit in (5, 2.5, 2, 1)]
    return [base for base in bases if base <= max(largest, 1.0)]


def _are_multiples(values: Floats, base: float) -> bool:
    return bool(np.array_equal(multiples(values, base, "nearest", None), values))


# Recognising recodings from the files: bands, groups, limits, multiples; only where nothing else fits.


MOST = 10_000  # values of a column of codes


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of the original and all releases, with rows in the original's order where they are aligned."""

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
        """Type in original and releases; "empty" where all is missing, "mixed" where releases differ."""
        if self.floats:
            before, released = ("empty" if np.isnan(values).all() else "number" for values in self.numbers)
            return before, released
        after = {release.kind for release in self.after} - {"empty"}
        return self.before.kind, "empty" if not after else after.pop() if len(after) == 1 else "mixed"

    @cached_property
    def values(self) -> list[Any]:
        """Distinct values of the releases."""
        return list(dict.fromkeys(value for release in self.after for value in release.values))

    @cached_property
    def place(self) -> dict[Any, int]:
        """Index of each value in `values`."""
        return {value: i for i, value in enumerate(self.values)}

    @cached_property
    def after_codes(self) -> Ints:
        """Index array of the released values into `values`, releases concatenated, -1 where missing."""
        parts = []
        for distinct, order in zip(self.after, self.pair.orders, strict=True):
            table = np.array([*(self.place[value] for value in distinct.values), -1], np.int64)
            codes = table[distinct.codes]
            parts.append(self._records(codes if order is None else codes[order]))
        return np.concatenate(parts)

    def _records(self, values: Any) -> Any:
        """What the rows of a file have, for each record; equal records of aligned files are one row on an engine."""
        return self.pair.by_record(values) if self.pair.aligned else values

    def before_codes(self) -> Ints:
        """Codes of the original's values, repeated for every release."""
        return np.tile(self._records(self.before.codes), self.pair.m)

    @cached_property
    def floats(self) -> bool:
        """Whether original and releases hold floating-point numbers, of which there may be one per record."""
        return all(frame.schema[self.name].is_float() for frame in self.pair.frames)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """Original (repeated) and releases (concatenated) as float arrays."""
        before, *after = (float_values(frame.get_column(self.name), "numeric") for frame in self.pair.frames)
        moved = [file if order is None else file[order] for file, order in zip(after, self.pair.orders, strict=True)]
        return np.tile(self._records(before), self.pair.m), np.concatenate([*map(self._records, moved)])

    def first_numbers(self) -> Floats:
        """The original as a float array."""
        own = float_values(self.pair.original.get_column(self.name), "numeric")
        numbers: Floats = self._records(own)
        return numbers


def recognise(pair: Pair, names: Sequence[str], *, types_only: bool = False) -> list[published.Recoding]:
    """Recognise recodings of columns from original and releases.

    Bands are parsed from their labels. Groups, limits and multiples need aligned rows: the released value is a
    function of the original one, except where missing, and too often to be chance. Nothing is recognised where a
    column is unchanged, or where values moved among records. `types_only`: only columns whose types differ.
    """
    return [recoding for name in names if (recoding := _of_column(_Column(pair, name), types_only)) is not None]


def _of_column(column: _Column, types_only: bool) -> published.Recoding | None:
    if (types_only or not column.pair.aligned) and of_one_kind(column.pair.frames, column.name):
        return None
    before, after = column.kinds
    if "empty" in (before, after) or after == "mixed":
        return None
    if before != after:
        bands = _bands(column) if (before, after) == ("number", "text") else None
        return bands or (_groups(column) if column.pair.aligned else None)
    if types_only or not column.pair.aligned or _identical(column):
        return None
    if before == "number":
        return _limits(column) or _multiples(column) or (_groups(column) if _whole(column) else None)
    return _groups(column)


def of_one_kind(frames: Sequence[Any], name: str) -> bool:
    """Whether all files have the same type in the column, or all numeric ones, by their schemas."""
    first, *others = (frame.collect_schema()[name] for frame in frames)
    return all(other == first or (other.is_numeric() and first.is_numeric()) for other in others)


def _identical(column: _Column) -> bool:
    if column.floats:
        before, released = column.numbers
        return bool(((before == released) | np.isnan(released)).all())
    after = column.after_codes
    kept = after >= 0
    table = np.array([*(column.place.get(value, -2) for value in column.before.values), -1], np.int64)
    return bool(np.array_equal(table[column.before_codes()][kept], after[kept]))


def _bands(column: _Column) -> published.Recoding | None:
    """Recognise bands by their labels; where two share an edge, aligned rows must decide which band has it."""
    if len(column.values) > MOST:
        return None
    labels = [str(value) for value in column.values]
    before, after = column.first_numbers(), column.after_codes
    if (bands := published.read_bands(labels)) is not None:
        return _fitting(column, bands, labels, before, after, exact=False)
    if not column.pair.aligned:
        return None
    fits = list(_shared_edges(column, labels, before, after))
    return fits[0] if len(fits) == 1 else None


def _shared_edges(column: _Column, labels: list[str], before: Any, after: Ints) -> Iterator[published.Recoding]:
    edges: tuple[published.SharedEdge, ...] = ("left", "right")
    for edge in edges:
        bands = published.read_bands(labels, shared=edge)
        if bands is not None and (banded := _fitting(column, bands, labels, before, after, exact=True)):
            yield banded


def _fitting(
    column: _Column, bands: Bands, labels: list[str], before: Floats, after: Ints, *, exact: bool
) -> published.Recoding | None:
    """The banding if it fits the original's numbers; with aligned rows, those whose band was released."""
    codes = bands.codes(before)
    beyond = (codes < 0) & ~np.isnan(before)
    if not column.pair.aligned:
        return None if beyond.any() else published.Banded(column.name, bands)
    place = np.array([*(bands.labels.index(label) for label in labels), -1], np.int64)
    codes, released = np.tile(codes, column.pair.m), place[after]
    shown = (released >= 0) & np.tile(~np.isnan(before), column.pair.m)
    other = shown & (codes != released)
    if (other & (codes < 0)).any() or not shown.any():
        return None
    if 2 * other.sum() > shown.sum() or (exact and other.any()):
        return None
    return published.Banded(column.name, bands, keep=True)


def _groups(column: _Column) -> published.Recoding | None:
    """Recognise grouped values: a function of the old values, with fewer values or another type."""
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
    return published.Grouped(column.name, new_of, keep=alike, kind=kind)


def _one_value(old: Any, new: Any) -> bool:
    """Whether values of different types are the same: 1 and "01", True and "true", a date and its text."""
    try:
        return float(old) == float(new)
    except (TypeError, ValueError):
        return str(old).casefold() == str(new).casefold()


def _whole(column: _Column) -> bool:
    if column.floats:
        return all(
            (np.isnan(number) | (np.isfinite(number) & (number == np.floor(number)))).all() for number in column.numbers
        )
    return all(isinstance(value, int) or float(value).is_integer() for value in (*column.before.values, *column.values))


def _limits(column: _Column) -> published.Recoding | None:
    limits = found_limits(*column.numbers)
    if limits is None:
        return None
    ends = {end: _plain(limit) for end, limit in zip(("bottom", "top"), limits, strict=True) if limit is not None}
    return published.Repeated(1, StepLike("top_bottom_code", {"column": column.name, **ends}))


def _multiples(column: _Column) -> published.Recoding | None:
    rounding = found_base(*column.numbers)
    if rounding is None:
        return None
    base, how = rounding
    return published.Repeated(1, StepLike("round_to", {"column": column.name, "base": _plain(base), "how": how}))


def _plain(value: float) -> float:
    return int(value) if value.is_integer() else value


@dataclass(frozen=True, eq=False)
class Opened:
    """The files: `opened` for measures of one file, `pair` for those of two; `notes` are warnings about recodings.

    `brought` are the files as they were given, and `again` opens them once more with other columns.
    """

    opened: Pair
    pair: Pair
    notes: tuple[str, ...]
    brought: Pair
    again: Callable[[Sequence[str]], Pair]


def open_recoded(
    opened: Pair, roles: Mapping[str, Sequence[str]], *, also: Sequence[str] = (), by: Sequence[str] = (),
    control: Any = None, recodings: Recodings | None = None, aligned: bool = False,
) -> Opened:  # fmt: skip
    """Open an original and its releases as `open_pair` does, the original recoded first.

    `opened` are the files (`open_files`), `roles` the columns compared, `also` others of the original that measures
    of one file need, `by` those of subgroups.
    `recodings` are those of a recipe or a log; columns that they do not explain are recognised from the files. The
    control file is recoded as the original.
    """
    brought, given, also = opened, control, (*also, *by)
    names = list(dict.fromkeys(name for several in roles.values() for name in several))
    check_released(opened, names)
    changes: tuple[published.Recoding, ...] = ()
    notes: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    if recodings is not None:
        opened, done = _declared(opened, [*names, *also], recodings)
        changes, notes, unsure = done.changes, done.notes, done.unsure
    pair = read_pair(opened, roles, also=by, aligned=aligned)
    recognised = recognise(pair, names, types_only=recodings is not None)
    if recognised:
        opened = _recoded(opened, [*names, *also], recognised, "recognised")
        pair = read_pair(opened, roles, also=by, aligned=aligned)
        changes = (*changes, *recognised)
    if control is not None:
        control = as_read(_like_original(control, names, changes), changes, opened.released)
    pair = open_pair(pair, control=control, categories=roles, also=by, aligned=aligned)
    if recodings is not None:
        check_values(lambda _: pair, pair, recodings, unsure)
    if recodings is not None and recodings.log is not None and recodings.keeps_rows and pair.aligned:
        check_rows(lambda _: pair, pair, [name for name in recodings.unchanged(names) if name not in unsure])

    def again(columns: Sequence[str]) -> Pair:
        """The pair with other columns compared, recoded alike."""
        return open_recoded(brought, {"variables": columns}, control=given, recodings=recodings, aligned=aligned).pair

    return Opened(opened, pair, (*recoding_notes(pair.recoded), *notes), brought, again)


def check_released(opened: Pair, names: Sequence[str]) -> None:
    """Raise where a release lacks a column, with the hint to give the recipe or its log."""
    present = opened.original.collect_schema().names()
    for label, frame in zip(opened.names[1:], opened.released, strict=True):
        columns = frame.collect_schema().names()
        lacking = [name for name in names if name in present and name not in columns]
        if lacking:
            raise ColumnError(
                f"{label} has no column {lacking[0]!r}; where it was left out by a recipe, give the recipe or its log "
                "(--recipe, --log; recipe=, log= in Python), else name it as the original does"
            )


def _in_memory(
    opened: Pair, names: Sequence[str], needs: Callable[[list[str]], Iterable[str]] = lambda _: ()
) -> tuple[Any, bool]:
    """The named columns that the original has, its id, and what those need."""
    present = opened.original.collect_schema().names()
    used = [name for name in (*names, opened.id) if name in present]
    used += [name for name in needs(used) if name in present]
    return columns_in_memory(opened.original, {"recoded": list(dict.fromkeys(used))})


def _declared(opened: Pair, names: Sequence[str], recodings: Recodings) -> tuple[Pair, published.Done]:
    """Apply the recodings of a recipe or log to the original, in the row order of the release where it is known."""
    frame, brought = _in_memory(opened, names, recodings.needs)
    if recodings.rows is not None:
        frame = open_frame(pick_rows(frame, np.asarray(recodings.rows)))
    done = recodings.apply(frame.to_native(), frame.columns)
    if not done.changes and recodings.rows is None:
        return opened, done
    plans = opened.plans or (opened.frames if brought else ())
    data = as_read(done.data, done.changes, opened.released)
    changed = replace(opened, original=open_frame(data), brought=brought, plans=plans)  # type: ignore[arg-type]
    return with_raw(changed, frame, done.changes, recodings.source), done


def _recoded(opened: Pair, names: Sequence[str], recodings: Sequence[published.Recoding], source: Any) -> Pair:
    """Apply the recognised recodings to the original."""
    frame, brought = _in_memory(opened, names)
    data = frame.to_native()
    for recoding in recodings:
        data = recoding.apply(data)
    plans = opened.plans or (opened.frames if brought else ())
    brought = brought or opened.brought
    changed = replace(opened, original=open_frame(data), brought=brought, plans=plans)  # type: ignore[arg-type]
    return with_raw(changed, frame if opened.raw is None else opened.raw, recodings, source)


def as_read(data: Any, changes: Sequence[published.Recoding], released: Sequence[Any]) -> Any:
    """Convert group labels "1", "2" to numbers where the release has numbers, as read from a CSV file."""
    types = [frame.collect_schema() for frame in released]
    for name in dict.fromkeys(change.column for change in changes):
        frame: Any = open_frame(data)
        if name not in frame.columns or not all(name in type_ and type_[name].is_numeric() for type_ in types):
            continue
        distinct = distinct_values(frame[name])
        bands = [hierarchy.read_band(value) for value in distinct.values] if distinct.kind == "text" else [None]
        if all(band is not None and band.single for band in bands):
            numbers = [band.low for band in bands if band is not None]
            levels = [int(number) if number.is_integer() else number for number in numbers]
            data = with_levels(frame, {name: (levels, distinct.codes)})
    return data


def with_raw(pair: Pair, raw: Any, changes: Sequence[published.Recoding], source: Any) -> Pair:
    """The pair with the original as it was, and what was done to which of its columns."""
    kinds: dict[str, list[str]] = {}
    for change in changes:
        kinds.setdefault(change.column, []).append(change.kind)
    made = tuple(Recoded(name, ", ".join(dict.fromkeys(several)), source) for name, several in kinds.items())
    counted = {key: pair.memo[key] for key in [("sizes",), (ROWS, 0)] if key in pair.memo}  # every record is there yet
    return replace(pair, raw=raw if made else None, recoded=(*pair.recoded, *made), memo=counted, with_control={})


def _like_original(control: Any, names: Sequence[str], changes: Sequence[published.Recoding]) -> Any:
    if not changes:
        return control
    frame, _ = columns_in_memory(control, {CONTROL: [*names]})
    data = frame.to_native()
    for change in changes:
        if change.column not in frame.columns:
            continue
        try:
            data = (change.elsewhere() if isinstance(change, published.Repeated) else change).apply(data)
        except (DataError, ColumnError) as error:
            raise type(error)(f"{CONTROL}: {error}") from None
    return data


def check_values(of: Callable[[str], Pair], pair: Pair, recodings: Recodings, unsure: Sequence[str]) -> None:
    """Raise where the release has values that the declared recoding cannot produce; `of` opens a column."""
    if methods.METHODS[recodings.steps[0].method].first:  # records made may have whatever the domain declares
        return
    declared = [entry.column for entry in pair.recoded if entry.source != "recognised" and entry.column not in unsure]
    kept = recodings.unchanged(declared)
    for name in declared:
        if name not in kept and all(frame.collect_schema()[name].is_numeric() for frame in pair.frames):
            continue  # before it is counted
        coding = of(name).codes(name)
        if coding.kind != "text" and name not in kept:
            continue
        before, *after = coding.counts[:, 1:] > 0
        for label, present in zip(pair.names[1:], after, strict=True):
            if (present & ~before).any():
                raise DataError(
                    f"{label} has values of {name!r} that the {recodings.source} does not make of the original; give "
                    "the one that made this release, and declare codes for missing values"
                )


def check_rows(of: Callable[[str], Pair], pair: Pair, names: Sequence[str]) -> None:
    """Raise where the release differs from the recoded original in columns that the log left unchanged."""
    for name in names:
        before, *after = of(name).codes(name).codes
        for label, codes in zip(pair.names[1:], after, strict=True):
            if ((codes != before) & (codes > 0) & (before > 0)).any():
                raise other_values(label, name)


def other_values(label: str, name: str) -> DataError:
    """The error for a release that is not what its log says."""
    return DataError(
        f"{label} has other values of {name!r} than the log says: it is not the release of this log, or its rows stand "
        "in another order (give id=, the column that says which belong together)"
    )


def recoding_notes(recoded: Sequence[Recoded]) -> list[str]:
    """Notes on the recoded columns, by the source of the recoding."""
    how = {"recipe": "by the recipe given", "log": "by the log given", "recognised": "recognised from the two files"}
    sentences = []
    for source, words in how.items():
        of = [entry for entry in recoded if entry.source == source]
        if of:
            columns = ", ".join(f"{entry.column} ({entry.kind})" for entry in of)
            sentences.append(f"{columns}: the original is compared with the same recoding as the release, {words}")
    return sentences
