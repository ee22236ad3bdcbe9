"""`PartedPair`: files on an engine whose cells do not fit here beside each other, dealt out to parts that lie in files.

Combinations that are equal in the keys are in one part, whichever file they are of, so that what a measure counts of
a key needs one part only. Each file is grouped once on its engine; its cells pass by in blocks, are coded, and are
written to the file of their part.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.packing import Layout, SharedGroups
from sdckit.cells.pair import Pair, Wanted, check_present, count_pair, open_files, open_pair
from sdckit.cells.plans import count_cells, dealt_words, lazy, pair_cells
from sdckit.cells.plans.spilled import BLOCK, MOST_WORDS, Spilled, dealt
from sdckit.cells.shared_coding import SharedCoding, share_coding
from sdckit.data import pa
from sdckit.data.columns import code_column
from sdckit.data.frames import blocks, check_plan_names, column_names, is_far, is_lazy
from sdckit.errors import DataError, sure
from sdckit.numerics import array_types, grouping
from sdckit.numerics.array_types import Bools, Values


@dataclass(frozen=True, eq=False)
class PartedPair(Pair):
    """Original and releases whose cells lie in parts.

    Of the pair itself only what one column says is known: `codes` and `numbers` are of the distinct values of each
    file. Rows are nowhere.

    Attributes
    ----------
    levels : dict of str to SharedCoding
        Each column that the cells have, its distinct values in each file with their numbers of records.
    split : tuple of str
        Columns by which the cells are dealt out; those equal in these are in one part.
    n_parts : int
    cells : dict
        Of columns that were grouped by, how many combinations there are in each part.
    same : tuple of bool
        Where rows that belong together were compared: which releases have the original's values in all columns.
    dealt : DealtWords or None
        The cells as words, perhaps of more columns; None where a word has no room for them, or an engine compared rows.
    together : bool
        Whether cells of the original are of rows in which the same columns were changed.
    """

    levels: Mapping[str, SharedCoding] = field(kw_only=True)
    values: Mapping[str, tuple[Any, ...]] = field(kw_only=True, repr=False)
    split: tuple[str, ...] = field(kw_only=True)
    n_parts: int = field(kw_only=True)
    spilled: Spilled = field(kw_only=True, repr=False)
    same: tuple[bool, ...] = field(kw_only=True, default=())
    dealt: dealt_words.DealtWords | None = field(kw_only=True, default=None, repr=False)
    together: bool = field(kw_only=True, default=False)
    cells: dict[tuple[str, ...], dict[int, int]] = field(kw_only=True, default_factory=dict, repr=False)

    @property
    def _sizes(self) -> tuple[int, ...]:
        sizes: tuple[int, ...] = self.memo["sizes",]
        return sizes

    def codes(self, name: str, *, control: bool = False) -> SharedCoding:  # noqa: ARG002
        """The distinct values of a column, coded jointly."""
        return self.levels[name]

    def column(self, name: str, file: int = 0) -> Any:
        """The distinct values of a column in a file."""
        return self.values[name][file]

    def groups(self, names: Sequence[str], *, control: bool = False) -> SharedGroups:  # noqa: ARG002
        """Refused: groups are in the parts."""
        self._no_rows()

    def identical(self, names: Sequence[str]) -> tuple[bool, ...]:
        """Which releases are, where rows that belong together were compared in all columns; else none is said to be."""
        if self.together:
            return tuple((self.changed(names) == 0).all(axis=1).tolist())
        return self.same if self.same and set(names) == set(self.split) else (False,) * self.m

    def changed(self, names: Sequence[str]) -> array_types.Ints:
        """Of rows that belong together in how many a release changed each column (m, names)."""
        assert self.dealt is not None
        return sure(self.dealt.n_changed)[:, [self.dealt.names.index(name) for name in names]]

    def only(self, names: Sequence[str], *, together: bool = False) -> PartedPair:
        """The cells of some columns, among them those by which they are dealt out, added up."""
        if self.dealt is None:
            return self
        own = tuple(name for name in self.levels if name in names)
        if len(own) == len(self.levels) and together == self.together:
            return self
        return self.once(
            ("only", own, together),
            lambda: replace(
                self, levels={name: self.levels[name] for name in own}, memo={("sizes",): self._sizes},
                values={name: self.values[name] for name in own}, together=together,
            ),
        )  # fmt: skip

    def records(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: the records are not here."""
        self._no_rows()

    def records_here(self) -> NoReturn:
        """Refused: the records are not here."""
        self._no_rows()

    def _no_rows(self) -> NoReturn:
        raise DataError(
            "these files are compared by their cells in parts, since neither their cells nor their records fit here: "
            "figures are told, but nothing of single records; take fewer columns, or give more memory"
        )

    def parts(self) -> Iterator[_Part]:
        """The parts, one after the other; what is kept of each lies in files."""
        for number in range(self.n_parts):
            yield self._part(number) if self.dealt is None else self._words(self.dealt, number)

    def subgroups(self, by: Sequence[str]) -> Subgroups:
        """The combinations of some columns in the original."""
        return self.once(("subgroups", tuple(by)), lambda: self._subgroups(by))

    def _subgroups(self, by: Sequence[str]) -> Subgroups:
        numbers, times, codes = [], [], []
        for part in self.parts():
            words, records = part.words(by, 0), part.by_file(0)
            own, first, group = np.unique(words, return_index=True, return_inverse=True)
            numbers.append(own)
            times.append(np.bincount(group, records, len(own)))
            codes.append(np.stack([part.codes(name).codes[0][first] for name in by]))
        known, first, group = np.unique(np.concatenate(numbers), return_index=True, return_inverse=True)
        labels = {}
        for name, own in zip(by, np.hstack(codes)[:, first], strict=True):
            row = grouping.places_among(self.levels[name].codes[0], self.levels[name].n_levels + 1)
            labels[name] = self.column(name)[row[own].tolist()]
        n = np.bincount(group, np.concatenate(times), len(known)).astype(np.int64)
        return Subgroups(nw.from_dict(labels), n, known)

    def aside(self, kinds: Mapping[str, Any]) -> Aside:
        """Columns of these types, to be filled part by part, that lie in files."""
        number = self.memo["aside",] = self.memo.get(("aside",), 0) + 1
        return Aside(self.spilled, f"aside-{number}", kinds)

    def _part(self, number: int) -> _Part:
        times = tuple(self.spilled.appended(f"{number}-{file}-times", np.int64) for file in range(self.m + 1))
        return _Part(**self._fields(times), whole=self, number=number)

    def _words(self, dealt: dealt_words.DealtWords, number: int) -> _WordPart:
        names = tuple(self.levels)
        files = [dealt.cells(number, file, names, changed=self.together) for file in range(self.m + 1)]
        words, times = zip(*files, strict=True)
        marked, below = words[0], np.uint64(dealt.flags)
        if self.together:
            words = (marked >> below, *words[1:])
        return _WordPart(**self._fields(times), whole=self, number=number, cells=words, marked=marked, dealt=dealt)

    def _fields(self, times: tuple[array_types.Ints, ...]) -> dict[str, Any]:
        first, *others = (nw.from_native(pa.table({count_cells.SIZE: own}), eager_only=True) for own in times)
        return {
            "original": first, "released": tuple(others), "aligned": False, "id": None, "brought": True,
            "orders": (None,) * self.m, "times": times,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Combinations of columns in the original: their labels, records, and numbers, as `_Part.words`, ascending."""

    labels: nw.DataFrame[Any]
    n: array_types.Ints
    numbers: array_types.Ints


@dataclass(frozen=True, eq=False)
class Aside:
    """Columns that are written part by part, and mapped from their files."""

    spilled: Spilled
    mark: str
    kinds: Mapping[str, Any]

    def add(self, columns: Mapping[str, Values]) -> None:
        """Write what the next cells have."""
        for name, kind in self.kinds.items():
            self.spilled.append(f"{self.mark}-{name}", columns[name].astype(kind))

    def columns(self) -> dict[str, Values]:
        """All columns; the system keeps in memory what fits."""
        return {
            name: self.spilled.appended(f"{self.mark}-{name}", kind, mapped=True) for name, kind in self.kinds.items()
        }


@dataclass(frozen=True, eq=False)
class _Part(Pair):
    """One part: its cells as rows, coded as in all others."""

    whole: PartedPair = field(kw_only=True)
    number: int = field(kw_only=True)

    def codes(self, name: str, *, control: bool = False) -> SharedCoding:  # noqa: ARG002
        """A column of the part."""
        if ("codes", name) not in self.memo:
            levels = self.whole.levels[name]
            kind = _kind(levels)
            place = list(self.whole.levels).index(name)
            own = (
                self.whole.spilled.appended(f"{self.number}-{file}-{place}", kind).astype(np.int32)
                for file in range(self.m + 1)
            )
            self.memo["codes", name] = replace(levels, codes=tuple(own), times=self.times)
        coding: SharedCoding = self.memo["codes", name]
        return coding

    def by_file(self, file: int) -> array_types.Ints:
        """The records of each cell of a file."""
        return sure(self.times)[file]

    def subgroup(self, by: Sequence[str]) -> array_types.Ints:
        """Of each cell of the original its place among `PartedPair.subgroups`."""
        return np.searchsorted(self.whole.subgroups(by).numbers, self.words(by, 0))

    def kept(self, names: Sequence[str]) -> Bools:  # noqa: ARG002 - no others were
        """Of each cell of the original whether each release (m, cells) kept all values of its records.

        `names`: the columns by which rows that belong together were compared.
        """
        return np.stack([self.whole.spilled.appended(f"{self.number}-{flag}", np.bool_) for flag in _flags(self.m)])

    def words(self, names: Sequence[str], file: int) -> array_types.Ints:
        """Of each cell of a file a number for its combination of some columns, the same one in every part.

        Raises TooMuchError: there are more combinations than whole numbers.
        """
        word = np.zeros(len(self.by_file(file)), np.int64)
        if math.prod(self.whole.levels[name].n_levels + 1 for name in names) > MOST_WORDS:
            raise lazy.TooMuchError(f"{', '.join(names)} have too many values to be counted together in parts")
        for name in names:
            word = word * (self.whole.levels[name].n_levels + 1) + self.codes(name).codes[file]
        return word

    def groups(self, names: Sequence[str], *, control: bool = False) -> SharedGroups:  # noqa: ARG002
        """As of any pair, kept in a file."""
        groups: SharedGroups = self.once(("groups", tuple(names)), lambda: Pair.groups(self, names))
        return groups

    def once(self, mark: tuple[Any, ...], make: Any) -> Any:
        """What is made of the part once, kept in a file."""
        if mark not in self.memo:
            places = self.whole.memo.setdefault(("marks",), {})
            name = f"{self.number}-kept-{places.setdefault(mark, len(places))}"
            made: Any = self.whole.spilled.once(name, make)
            self.memo[mark] = made
            if mark[0] == "groups":
                self.whole.cells.setdefault(mark[1], {})[self.number] = made.n_groups
        return self.memo[mark]


@dataclass(frozen=True, eq=False)
class _WordPart(_Part):
    """One part whose cells are words in ascending order; in `marked` those of the original with what was changed."""

    cells: tuple[array_types.Words, ...] = field(kw_only=True, repr=False)
    marked: array_types.Words = field(kw_only=True, repr=False)
    dealt: dealt_words.DealtWords = field(kw_only=True, repr=False)

    def codes(self, name: str, *, control: bool = False) -> SharedCoding:  # noqa: ARG002
        """A column of the part."""

        def decoded() -> SharedCoding:
            own = tuple(self.dealt.codes(name, words) for words in self.cells)
            return replace(self.whole.levels[name], codes=own, times=self.times)

        coding: SharedCoding = self.once(("codes", name), decoded)
        return coding

    def kept(self, names: Sequence[str]) -> Bools:
        """Of each cell of the original whether each release (m, cells) kept these values of its records."""
        masks = (1 << self.dealt.bits_of(names)).sum(axis=1).astype(np.uint64)
        return np.asarray((self.marked & masks[:, None]) == 0)

    def words(self, names: Sequence[str], file: int) -> array_types.Ints:
        """Of each cell of a file a number for its combination of some columns, the same one in every part."""
        mask = sum(self.dealt.layout.field(self.dealt.names.index(name)) for name in names)
        return (self.cells[file] & np.uint64(mask)).astype(np.int64)

    def groups(self, names: Sequence[str], *, control: bool = False) -> SharedGroups:
        """As of any pair; cells that are in the order of these columns are merged."""
        groups = self.known_groups(names)
        return super().groups(names, control=control) if groups is None else groups

    def known_groups(self, names: Sequence[str]) -> SharedGroups | None:
        """Groups by the columns that are first in the words; else those that were made before."""
        first = list(self.whole.levels)[: len(names)]
        mark = "groups", tuple(names)
        if names and set(first) == set(names):
            times, shift = sure(self.times), self.dealt.layout.shifts[self.dealt.names.index(first[-1])]
            self.once(mark, lambda: SharedGroups(*grouping.merged_groups(self.cells, times, shift), times))
        return self.memo.get(mark)

    def once(self, mark: tuple[Any, ...], make: Any) -> Any:
        """What is made of the part once, as long as it is here."""
        made = Pair.once(self, mark, make)
        if mark[0] == "groups":
            self.whole.cells.setdefault(mark[1], {})[self.number] = made.n_groups
        return made


def _kind(levels: SharedCoding) -> Any:
    """The smallest type that holds the codes of a column."""
    return np.min_scalar_type(levels.n_levels)


def open_or_part(
    original: Any, released: Any = None, *, categories: Wanted, numeric: Wanted | None = None, also: Sequence[str] = (),
    id: str | None = None, records: bool = False,
) -> Pair:  # fmt: skip
    """`open_pair` of cells that an engine counts; in parts by the keys, where neither cells nor records fit here.

    `categories`: by role; combinations that are equal in those of the first role are in one part. `also`: columns of
    the original, which have parts only where every file has them. `records`: whether something is asked of each record,
    which parts do not tell.

    Raises ColumnError, DataError: as `open_pair`.
    """
    opened = open_files(original, released, id=id)
    keys = tuple(next(iter(categories.values())))
    names = tuple(dict.fromkeys(name for some in (*categories.values(), also) for name in some))
    there = all(set(also) <= set(column_names(frame)) for frame in opened.frames)
    divisible = bool(keys) and not records and not any((numeric or {}).values()) and there
    if divisible and (pair := _parted_before(opened, names, keys)) is not None:
        return pair
    try:
        return open_pair(opened, categories=categories, numeric=numeric, also=also, counted=True)
    except lazy.TooMuchError:
        if not divisible:
            raise
    return deal_out(opened, names, keys)


def count_or_part(opened: Pair, columns: Wanted, *, also: Sequence[str] = ()) -> Pair | None:
    """`count_pair` of rows that need not belong together; in parts by the columns of the first role where needed.

    `also`: columns that only parts have, for subgroups; where cells fit, these are of the records.
    """
    try:
        return count_pair(opened, columns, aligned=False)
    except lazy.TooMuchError:
        keys = tuple(next(iter(columns.values())))
        return deal_out(opened, tuple(dict.fromkeys(name for some in (*columns.values(), also) for name in some)), keys)


def _parted_before(opened: Pair, names: Sequence[str], keys: Sequence[str]) -> PartedPair | None:
    """Files dealt out before that have these columns, and are split by some of these keys."""
    known: list[PartedPair] = opened.memo.get(("parted",), [])
    fitting = [pair for pair in known if set(names) <= set(pair.levels) and set(pair.split) <= set(keys)]
    return min(fitting, key=lambda pair: len(pair.levels)).only(names) if fitting else None


def deal_out(opened: Pair, names: tuple[str, ...], keys: tuple[str, ...]) -> PartedPair:
    """Deal the records of the files out to parts that fit here, as words; else group them on their engines before.

    Raises ColumnError: a column that a file has not, values that do not compare; DataError: parts that do not fit.
    """
    check_present([(frame, {"keys": names}, label) for frame, label in zip(opened.frames, opened.names, strict=True)])
    fresh = [name for name in names if name not in opened.memo.get(("levels",), {})]
    recoded = {column.column for column in opened.recoded}
    spans_known = dealt_words.spans_of(_as_given(opened), [name for name in fresh if name not in recoded])
    spans_known |= dealt_words.spans_of(opened.frames, [name for name in fresh if name in recoded])
    for spans in (spans_known, {}):
        pair = _with_levels(opened, [name for name in names if name not in spans], keys, len(names))
        in_order = dict.fromkeys((*keys, *names))  # what the parts go by stands first in the words
        fields = {name: spans[name] if name in spans else pair.levels[name] for name in in_order}
        if (layout := dealt_words.layout_of(fields)) is not None:
            pair = _as_words(opened, pair, fields, layout)
            break
        if not spans:
            for file, frame in enumerate(opened.frames):
                _deal(pair, file, _cells(frame, names))
            break
    opened.memo.setdefault(("parted",), []).append(pair)
    return pair


def _as_given(opened: Pair) -> tuple[Any, ...]:
    """The files before the original was recoded, which the engine does not join new values to as it reads them."""
    return opened.frames if opened.raw is None else (opened.raw, *opened.released)


def _as_words(
    opened: Pair, pair: PartedPair, fields: Mapping[str, SharedCoding | dealt_words.Span], layout: Layout
) -> PartedPair:  # fmt: skip
    """The pair with its cells as words, and with the levels of all columns, as they were counted meanwhile."""
    room, split = _room(pair, len(fields)), len(dict.fromkeys(pair.split))
    dealt = dealt_words.deal_words(
        opened.frames, fields, layout, split, pair.n_parts, opened.id, opened._sizes, room, _as_given(opened)
    )
    levels, values, known = {}, {}, opened.memo[("levels",)]
    for name, span in fields.items():
        if isinstance(span, dealt_words.Span):
            counts = [dealt.counted(name, file) for file in range(pair.m + 1)]
            known[name] = _of_counts(name, span, counts, pair.names)
            places = np.zeros(span.n_levels + 1, np.int32)
            for own, codes in zip(counts, known[name][1].codes, strict=True):
                places[np.flatnonzero(own)] = codes
            if known[name][1].n_levels < span.n_levels:
                dealt.levels[name] = places
        values[name], levels[name] = known[name]
    return replace(pair, dealt=dealt, levels=levels, values=values)


def _of_counts(
    name: str, span: dealt_words.Span, counts: Sequence[array_types.Ints], files: Sequence[str]
) -> tuple[tuple[Any, ...], SharedCoding]:
    """The distinct values of a column of whole numbers in each file, and their coding, of the records of each."""
    present = [np.flatnonzero(own) for own in counts]
    arrays = [pa.array(places + (span.low - 1), mask=places == 0) for places in present]
    columns = tuple(nw.from_native(pa.table({name: array}), eager_only=True).get_column(name) for array in arrays)
    sides = [(column, column.codes()) for column in map(code_column, columns)]
    times = tuple(own[places] for own, places in zip(counts, present, strict=True))
    return columns, replace(share_coding(name, sides, files), times=times)


def deal_together(opened: Pair, names: tuple[str, ...], *, also: Sequence[str] = ()) -> PartedPair:
    """The same of rows that belong together by the id: cells of the original, split by which releases kept all values.

    `also`: further columns, whose values are not compared.

    Raises ColumnError, DataError: as `deal_out`; an id that does not name each row once; columns of other types.
    """
    columns = tuple(dict.fromkeys((*names, *also)))
    if (pair := compared_before(opened, names, columns)) is None and _has_numbers(opened):
        deal_out(opened, columns, names)
        pair = compared_before(opened, names, columns)
    if pair is not None:
        return pair
    mark = "parted together", frozenset(names), frozenset(columns)
    return opened.once(mark, lambda: _dealt_together(opened, names, columns))


def compared_before(opened: Pair, names: Sequence[str], columns: Sequence[str] | None = None) -> PartedPair | None:
    """Rows that belong together of files dealt out before that have these columns, `names` compared; None where none.

    `columns`: those that they shall have, `names` among them; these alone unless given.
    """
    columns = names if columns is None else columns
    known: list[PartedPair] = opened.memo.get(("parted",), [])
    for pair in known:
        with_rows = pair.dealt is not None and pair.dealt.n_changed is not None
        if with_rows and set(columns) <= set(pair.levels) and set(pair.split) <= set(names):
            return pair.only(columns, together=True)
    return None


def _has_numbers(opened: Pair) -> bool:
    """Whether the id is a whole number in files that are not on a cluster, whose rows need not be joined then."""
    plans: list[Any] = list(opened.frames)
    return not any(map(is_far, plans)) and plans[0].collect_schema()[str(opened.id)].is_integer()


def _dealt_together(opened: Pair, names: tuple[str, ...], columns: tuple[str, ...]) -> PartedPair:
    pair, id = _with_levels(opened, columns, names, len(columns)), str(opened.id)
    frames: list[Any] = list(opened.frames)
    opened.records_by_id(frames)
    together, moved = pair_cells.join_files(frames, columns, id, [_present(frame, columns) for frame in frames])
    types = [[frame.collect_schema()[name] for name in names] for frame in frames]
    kept = [
        reduce(and_, map(_equal, zip(types[0], types[j], strict=True), moved[0], moved[j])).cast(nw.Int64).alias(flag)
        for j, flag in enumerate(_flags(opened.m), 1)
    ]
    first = together.select(*(nw.col(own).alias(name) for own, name in zip(moved[0], columns, strict=True)), *kept)
    agree = _deal(pair, 0, count_cells.blocks_by(first, [*columns, *_flags(opened.m)], BLOCK))
    pair_cells.check_together(agree[0], opened._sizes, id, opened.names)
    for file, frame in enumerate(frames[1:], 1):
        _deal(pair, file, _cells(frame, columns))
    return replace(pair, same=tuple(many == agree[0] for many in agree[1:]))


def kept_columns(opened: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that every release left as they were, by rows with one id."""
    if not names:
        return ()
    if (pair := compared_before(opened, names)) is not None:
        return tuple(name for name, many in zip(names, pair.changed(names).sum(axis=0), strict=True) if not many)
    frames: list[Any] = list(opened.frames)
    changed = np.zeros(len(names), np.int64)
    for j in range(1, len(frames)):
        labels, sizes = (opened.names[0], opened.names[j]), (opened._sizes[0], opened._sizes[j])
        changed += pair_cells.count_differing([frames[0], frames[j]], names, str(opened.id), labels, sizes)
    return tuple(name for name, many in zip(names, changed.tolist(), strict=True) if not many)


def can_deal_together(opened: Pair, names: Sequence[str]) -> bool:
    """Whether one engine can join the rows of all files, and compare their values as they are."""
    plans: list[Any] = list(opened.frames)
    if opened.id is None or not all(map(is_lazy, plans)) or not pair_cells.can_count(plans, names):
        return False
    types = [frame.collect_schema() for frame in plans]
    alike = (_comparable([of[name] for of in types]) for name in names)
    return all(alike) and pair_cells.are_joined(plans, opened.id)


def do_not_fit(opened: Pair, names: Sequence[str]) -> bool:
    """Whether it is known of files dealt out before that the cells of rows that belong together do not fit here.

    These are no fewer than the combinations of the columns over all files, divided by the number of files.
    """
    known: list[PartedPair] = opened.memo.get(("parted",), [])
    least = max((sum(pair.cells.get(tuple(names), {}).values()) for pair in known), default=0) / len(opened.frames)
    if (pair := compared_before(opened, names)) is not None and pair.dealt is not None:
        dealt = pair.dealt  # rows that were changed in other columns are other cells
        least = sum(len(dealt.cells(part, 0, names, changed=True)[0]) for part in range(dealt.n_parts))
    plan: Any = opened.plans[0] if opened.plans else opened.original
    return least > count_cells.most_cells(len(names) * len(opened.frames), plan, count_cells.Beside())


def _comparable(kinds: Sequence[Any]) -> bool:
    return all(kind.is_numeric() for kind in kinds) or len({kind.base_type() for kind in kinds}) == 1


def _present(frame: Any, names: Sequence[str]) -> dict[str, nw.Expr]:
    return {key.name: key.present for key in count_cells.key_columns(frame, names)}


def _equal(kinds: Sequence[Any], a: str, b: str) -> nw.Expr:
    return (~pair_cells.unlike(kinds, a, b)).fill_null(False) | (nw.col(a).is_null() & nw.col(b).is_null())


def _flags(m: int) -> list[str]:
    return [f"{count_cells.PREFIX}same{j}" for j in range(m)]


def _with_levels(opened: Pair, names: Sequence[str], keys: tuple[str, ...], n_columns: int) -> PartedPair:
    """The files with the levels of some columns, and no cells yet, which have `n_columns`."""
    frames: tuple[Any, ...] = opened.frames
    plan: Any = next(frame for frame in frames if is_lazy(frame))
    most = count_cells.most_cells(n_columns, plan, count_cells.Beside(len(frames)))
    if most == 0 or not pair_cells.can_count([frame for frame in frames if isinstance(frame, nw.LazyFrame)], names):
        raise count_cells.too_many(max(opened._sizes), n_columns, most, plan)
    known = opened.memo.setdefault(("levels",), {})
    for name in names:
        if name not in known:
            counted = [pair for pair in opened.memo.get(("counted", False), ()) if pair.original.columns == [name]]
            held = sum(levels.n_levels for _, levels in known.values())
            columns, times = zip(
                *((counted[0].column(name, file), counted[0].times[file]) if counted else _distinct(frame, name, held)
                  for file, frame in enumerate(frames)), strict=True,
            )  # fmt: skip
            sides = [(column, column.codes()) for column in map(code_column, columns)]
            known[name] = columns, replace(share_coding(name, sides, opened.names), times=times)
    return PartedPair(
        opened.original, opened.released, False, opened.id, True, opened.orders, opened.control, opened.population,
        plans=opened.frames, memo={("sizes",): opened._sizes}, levels={name: known[name][1] for name in names},
        values={name: known[name][0] for name in names}, split=keys, n_parts=-(-max(opened._sizes) // most),
        spilled=Spilled(),
    )  # fmt: skip


def levels_of(opened: Pair, names: tuple[str, ...]) -> Mapping[str, SharedCoding]:
    """The distinct values of some columns of the files, with their numbers of records in each.

    Raises ColumnError, DataError: as `deal_out`.
    """
    return _with_levels(opened, names, names, len(names)).levels


def _cells(frame: Any, names: Sequence[str]) -> Iterator[nw.DataFrame[Any]]:
    read: Any = count_cells.blocks_by if isinstance(frame, nw.LazyFrame) else blocks
    return read(frame, names, BLOCK)  # type: ignore[no-any-return]


def _distinct(frame: Any, name: str, held: int) -> tuple[Any, array_types.Ints]:
    """The distinct values of a column, and their numbers of records; `held`: values of others that are here."""
    if not isinstance(frame, nw.LazyFrame):
        return frame.get_column(name), np.ones(len(frame), np.int64)
    check_plan_names(frame, [name])
    values = count_cells.values_of(frame, name, held=held)
    return values.get_column(name), count_cells.sizes_of(values)


def _room(pair: PartedPair, n_columns: int) -> int:
    """Cells of each file that fit here."""
    plan: Any = next(frame for frame in pair.plans if is_lazy(frame))
    return count_cells.most_cells(n_columns, plan, count_cells.Beside(pair.m + 1))


def _deal(pair: PartedPair, file: int, pieces: Iterator[nw.DataFrame[Any]]) -> tuple[int, ...]:
    """Write the cells of one file to the files of their parts; its records, and those that each release kept.

    Raises DataError: a part that does not fit.
    """
    rows, n, flags = np.zeros(pair.n_parts, np.int64), 0, _flags(pair.m)
    kept = np.zeros(pair.m, np.int64)
    for piece in pieces:
        times = count_cells.sizes_of(piece) if count_cells.SIZE in piece.columns else np.ones(len(piece), np.int64)
        codes = {
            name: levels.with_file(code_column(piece.get_column(name)), ("",) * (pair.m + 2)).codes[-1]
            for name, levels in pair.levels.items()
        }
        order, ends = dealt([codes[name] for name in pair.split], len(piece), pair.n_parts)
        for place, (name, own) in enumerate(codes.items()):
            pair.spilled.append_parts(f"{file}-{place}", own.astype(_kind(pair.levels[name]))[order], ends)
        pair.spilled.append_parts(f"{file}-times", times[order], ends)
        for j, flag in enumerate(flags):
            if flag in piece.columns:
                same = piece.get_column(flag).to_numpy().astype(np.bool_)
                kept[j] += times[same].sum()
                pair.spilled.append_parts(flag, same[order], ends)
        rows += np.diff(ends)
        n += int(times.sum())
    if (largest := int(rows.max())) > 2 * (most := _room(pair, len(pair.levels))):
        why = "; nor do they fall into parts that fit"
        raise count_cells.too_many(largest * pair.n_parts, len(pair.levels), most, pair.plans[-1], why)
    return n, *kept.tolist()
