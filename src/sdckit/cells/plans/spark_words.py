"""Whole numbers of several columns as one word each record, so that Spark joins, groups and hands out words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import PREFIX, whole_ranges
from sdckit.data import pa
from sdckit.data.frames import on_spark

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
            for field in fields[1:]:
                whole = whole + field.value
            made[name] = whole
        return made

    def unpacked(self, counted: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """The columns of words and others that came here."""
        if not self.words:
            return counted
        columns: dict[str, Any] = {name: counted[name].to_arrow() for name in self.others}
        for name, fields in zip(self.columns, self.words, strict=False):
            words = counted[name].to_numpy()
            columns |= {field.column: field.of(words) for field in fields}
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
    words: list[list[_Field]] = []
    room = 0
    for name, (low, high) in whole_ranges(frames, fit).items():
        bits = (high - low + 1).bit_length()  # at most 55
        if bits > room:
            words.append([])
            room = BITS
        words[-1].append(_Field(name, low, BITS - room, bits, whole[name]))
        room -= bits
    packed = {field.column for fields in words for field in fields}
    return Words(tuple(map(tuple, words)), tuple(name for name in columns if name not in packed))
