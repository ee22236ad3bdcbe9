"""Whole numbers of several columns as one word each record, so that Spark joins, groups and hands out words alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells import packing, shared_coding
from sdckit.cells.plans.count_cells import PREFIX, Beside, most_cells, refuse_many, too_many, whole_ranges
from sdckit.data import pa, pc
from sdckit.data.frames import collect, is_far, on_spark
from sdckit.data.memory import bytes_here
from sdckit.errors import DataError
from sdckit.numerics import array_types, grouping
from sdckit.numerics.array_types import Ints

BITS = 62  # of a word, so that no sum of fields is beyond 64 bits, which Spark may refuse


@dataclass(frozen=True)
class _Field:
    """Where a column stands in its word: 0 is a missing value, 1 the least of all files."""

    column: str
    least: int
    shift: int
    bits: int
    whole: bool

    @property
    def value(self) -> nw.Expr:
        """The field of a record, in its place."""
        code = (nw.col(self.column).cast(nw.Int64) - (self.least - 1)).fill_null(0)
        return code * (1 << self.shift)

    def code(self, values: pa.ChunkedArray) -> Ints:
        """The same of values that are here."""
        codes: Ints = pc.fill_null(pc.subtract(values.cast(pa.int64()), self.least - 1), 0).to_numpy()
        return codes << self.shift

    def of(self, words: Any) -> pa.Array:
        """The column of some words, in the smallest type that holds it."""
        code = (words >> self.shift) & ((1 << self.bits) - 1)
        most = self.least + (1 << self.bits)
        kind = np.promote_types(np.min_scalar_type(min(self.least - 1, -1)), np.min_scalar_type(-most))
        values = pa.array((code + (self.least - 1)).astype(kind), mask=code == 0)
        return values if self.whole else values.cast(pa.bool_())


@dataclass(frozen=True)
class Words:
    """Columns of files as words, and those that are in none."""

    words: tuple[tuple[_Field, ...], ...]
    others: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """Names of the words and of the other columns."""
        return [*(f"{PREFIX}word{at}" for at in range(len(self.words))), *self.others]

    @property
    def read(self) -> dict[str, nw.Expr]:
        """What each word is made of."""
        made = {}
        for name, fields in zip(self.columns, self.words, strict=False):
            whole = fields[0].value
            for place in fields[1:]:
                whole = whole + place.value
            made[name] = whole
        return made

    @property
    def mask(self) -> int:
        """The bits of the first word that hold a column."""
        return sum(((1 << place.bits) - 1) << place.shift for place in self.words[0])

    def only(self, columns: Sequence[str]) -> Words:
        """Some columns, where they are in all words."""
        return Words(tuple(tuple(place for place in own if place.column in columns) for own in self.words), ())

    def words_of(self, rows: nw.DataFrame[Any]) -> Ints:
        """The first word of rows that are here."""
        words = np.zeros(len(rows), np.int64)
        for place in self.words[0]:
            words |= place.code(rows[place.column].to_arrow())
        return words

    def unpacked(self, counted: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """The columns of words and others that came here."""
        if not self.words:
            return counted
        columns: dict[str, Any] = {name: counted[name].to_arrow() for name in self.others}
        for name, fields in zip(self.columns, self.words, strict=False):
            words = counted[name].to_numpy()
            columns |= {place.column: place.of(words) for place in fields}
        return nw.from_native(pa.table(columns), eager_only=True)


def in_words(frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str]) -> Words:
    """How the whole numbers of some columns lie in words, alike in all files; of plans that are not of Spark none.

    Spark is asked for their ranges, in a pass over each file.
    """
    schemas = [frame.collect_schema() for frame in frames]
    kinds = {name: [schema[name] for schema in schemas] for name in columns}
    whole = {name: all(kind.is_integer() for kind in of) for name, of in kinds.items()}
    fit = [name for name, of in kinds.items() if whole[name] or all(kind == nw.Boolean for kind in of)]
    if len(fit) < 2 or not all(map(on_spark, frames)):
        return Words((), tuple(columns))
    return laid_out(whole_ranges(frames, fit), whole, columns)


def laid_out(ranges: Mapping[str, tuple[int, int]], whole: Mapping[str, bool], columns: Sequence[str]) -> Words:
    """How columns of these ranges lie in words; `whole`: whether they are whole numbers, not true or false."""
    words: list[list[_Field]] = []
    room = 0
    for name, (low, high) in ranges.items():
        bits = (high - low + 1).bit_length()  # at most 55
        if bits > room:
            words.append([])
            room = BITS
        words[-1].append(_Field(name, low, BITS - room, bits, whole[name]))
        room -= bits
    packed = {place.column for fields in words for place in fields}
    return Words(tuple(map(tuple, words)), tuple(name for name in columns if name not in packed))


# The rows of files on a local Spark as words here, in the order of their id, so that Spark joins and sorts nothing.
# It would hash, send, sort and join the same rows on the same machine; equal words are counted here in a fraction of
# that time, for any of the columns. Spark hands out the columns, or of large files the word, beside the id.


MOST_ROWS = 25_000_000  # that Spark hands out at once, 0.4 GB: it may hand out 1 GB unless told otherwise
MOST_BYTES = 300_000_000  # of columns that come as they are; else Spark looks for their ranges first, and packs them
WIDTHS: dict[Any, int] = {nw.Boolean: 1, nw.Int8: 1, nw.Int16: 2, nw.Int32: 4}  # bytes of a value, else 8
BYTES = 120  # of a row of a file while words are made, put in order and counted


@dataclass(frozen=True, eq=False)
class WordsHere:
    """The words of some columns of files in which an id names each row once, and the same rows.

    `layout`: what is in a word. `files`: for each file its words, in the order of the ids.
    """

    layout: Words
    files: tuple[NDArray[np.uint64], ...] = field(repr=False)

    def has(self, columns: Sequence[str]) -> bool:
        """Whether words have these columns."""
        return set(columns) <= {place.column for place in self.layout.words[0]}

    def together(
        self, columns: Sequence[str], plan: nw.LazyFrame[Any], beside: Beside | None
    ) -> tuple[list[nw.DataFrame[Any]], array_types.Ints]:
        """The distinct combinations of some columns in all files of rows with one id; how many rows have each.

        Raises TooManyCellsError: more than fit here.
        """
        chosen = self.layout.only(columns)
        words = [own & np.uint64(chosen.mask) for own in self.files]
        groups = packing.group_codes([grouping.group(own, bits=BITS).of_row for own in words], len(words[0]))
        self._check(len(groups.size), len(words) * len(columns), plan, beside)
        first = grouping.first_of_groups(groups.of_row, len(groups.size))
        return [_unpacked(chosen, own[first], columns) for own in words], groups.size

    def alone(
        self, file: int, columns: Sequence[str], plan: nw.LazyFrame[Any], beside: Beside | None
    ) -> tuple[nw.DataFrame[Any], array_types.Ints]:
        """The distinct combinations of some columns in a file, and the records of each.

        Raises TooManyCellsError: more than fit here.
        """
        chosen = self.layout.only(columns)
        words, times = grouping.distinct_words(self.files[file] & np.uint64(chosen.mask))
        self._check(len(words), len(columns), plan, beside)
        return _unpacked(chosen, words, columns), times

    def _check(self, n_cells: int, n_columns: int, plan: nw.LazyFrame[Any], beside: Beside | None) -> None:
        if n_cells > (most := most_cells(n_columns, plan, beside)):
            raise too_many(n_cells, n_columns, most, plan)


def _unpacked(layout: Words, words: NDArray[np.uint64], columns: Sequence[str]) -> nw.DataFrame[Any]:
    table = pa.table({layout.columns[0]: words.view(np.int64)})
    return layout.unpacked(nw.from_native(table, eager_only=True)).select(*columns)


def read_words(
    frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], id: str, sizes: Sequence[int]
) -> WordsHere | None:
    """The rows of files on a local Spark as words; None where they do not all fit a word, or not here.

    None as well where the id is no whole number that names each row once, and the same rows in every file.
    """
    if any(not on_spark(frame) or is_far(frame) for frame in frames) or len(set(sizes)) > 1:
        return None
    n, here, schemas = sizes[0], bytes_here(frames[0]), [frame.collect_schema() for frame in frames]
    kinds = {name: [schema[name] for schema in schemas] for name in columns}
    fit = all(kind.is_integer() or kind == nw.Boolean for of in kinds.values() for kind in of)
    fit = fit and _are_whole(kinds) is not None
    fit = fit and all(schema[id].is_integer() for schema in schemas)
    if not fit or not 0 < n <= MOST_ROWS or (here is not None and len(sizes) * BYTES * n > here):
        return None
    row, layout, read = f"{PREFIX}id", None, [*map(nw.col, columns)]
    if n * sum(max(WIDTHS.get(kind, 8) for kind in of) for of in kinds.values()) > MOST_BYTES:
        layout = in_words(frames, columns)
        read = [value.alias(name) for name, value in layout.read.items()]
    files: list[nw.DataFrame[Any]] = []
    if layout is None or _is_one(layout):
        with suppress(DataError):  # Spark may be told to hand out less (spark.driver.maxResultSize)
            files += (collect(frame.select(nw.col(id).alias(row), *read)) for frame in frames)
    if len(files) < len(frames) or any(file[row].null_count() for file in files):
        return None
    packed = None if layout is None else layout.columns[0]
    layout = layout or laid_out(_ranges(files, columns), _are_whole(kinds) or {}, columns)
    if not _is_one(layout):
        return None
    in_order, known = list[NDArray[np.uint64]](), None
    for file in files:
        ids = file[row].to_numpy()
        order = np.argsort(ids)
        ids = ids[order]
        if (ids[1:] == ids[:-1]).any() or not (known is None or np.array_equal(known, ids)):
            return None
        known = ids
        words = layout.words_of(file) if packed is None else file[packed].to_numpy()
        in_order.append(words[order].view(np.uint64))
    return WordsHere(layout, tuple(in_order))


def _is_one(layout: Words) -> bool:
    """Whether all columns are in one word."""
    return len(layout.words) == 1 and not layout.others


def _are_whole(kinds: Mapping[str, Sequence[Any]]) -> dict[str, bool] | None:
    """Which columns are whole numbers, and not true or false; None where a column is either, by the file."""
    whole = {name: {kind.is_integer() for kind in of} for name, of in kinds.items()}
    return None if any(len(own) > 1 for own in whole.values()) else {name: own == {True} for name, own in whole.items()}


def _ranges(files: Sequence[nw.DataFrame[Any]], columns: Sequence[str]) -> dict[str, tuple[int, int]]:
    """As `whole_ranges`, of what is here."""
    ends = {}
    for name in columns:
        own = [(file[name].min(), file[name].max()) for file in files if file[name].null_count() < len(file)]
        if own and max(abs(int(end)) for both in own for end in both) < shared_coding.EXACT:
            ends[name] = int(min(low for low, _ in own)), int(max(high for _, high in own))
    return ends


def words_once(
    memo: dict[Any, Any], frames: Sequence[nw.LazyFrame[Any]], columns: Sequence[str], id: str,
    sizes: Callable[[], Sequence[int]], beside: Beside,
) -> WordsHere | None:  # fmt: skip
    """What `read_words` gives, read once for all columns; kept in `memo`, where it says as well that ids were checked.

    Raises TooManyCellsError: on Spark, the cells of one file are sure not to fit.
    """
    if not all(map(on_spark, frames)):
        return None
    known: list[WordsHere] = memo.setdefault(("words",), [])
    if (words := next((own for own in known if own.has(columns)), None)) is not None:
        return words
    refuse_many(frames, columns, max(sizes()), beside)
    if ("words", tuple(columns)) not in memo:
        made = memo["words", tuple(columns)] = read_words(frames, columns, id, sizes())
        if made is not None:
            known.append(made)
            memo["ids",] = list(sizes())
    kept: WordsHere | None = memo["words", tuple(columns)]
    return kept
