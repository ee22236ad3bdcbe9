"""`KeySizes`: how many records of a plan have each combination of keys, where its cells do not fit here.

The combinations pass by once. Each becomes one whole number, which is put aside with its records, in parts that fit,
and looked up there: 16 bytes, where a cell that is measured takes some hundreds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells import shared_coding, table
from sdckit.cells.plans import count_cells
from sdckit.cells.plans.spilled import BLOCK, MOST_WORDS, Spilled, dealt
from sdckit.data.columns import Coded
from sdckit.numerics.array_types import Ints

BYTES = 48  # of a combination while its part is put in order


@dataclass(frozen=True, eq=False)
class KeySizes:
    """Records of each combination of keys, in files.

    Attributes
    ----------
    levels : mapping of str to (Coded, SharedCoding)
        The distinct values of each key, and their coding.
    n, n_cells : int
        Records, and combinations.
    """

    levels: Mapping[str, tuple[Coded, shared_coding.SharedCoding]] = field(repr=False)
    n: int
    n_cells: int
    n_parts: int
    spilled: Spilled = field(repr=False)

    def of(self, cells: table.Cells) -> Ints:
        """The records here that have the keys of each cell of another file; 0 where there are none.

        Raises ColumnError: a key of another type.
        """
        word, known = np.zeros(cells.n_cells, np.int64), np.ones(cells.n_cells, np.bool_)
        for (key, (coded, shared)), own, codes in zip(
            self.levels.items(), cells.levels, cells.table.codes, strict=True
        ):
            mine, theirs = shared_coding.share_coding(key, [(own, codes), (coded, coded.codes())]).codes
            number = np.full(max(int(mine.max()), int(theirs.max())) + 1, -1, np.int64)
            number[theirs] = shared.codes[0]
            number[0] = 0  # a missing value is a level of its own
            known &= number[mine] >= 0
            word = word * (shared.n_levels + 1) + np.maximum(number[mine], 0)
        sizes = np.zeros(cells.n_cells, np.int64)
        order, ends = dealt([word], cells.n_cells, self.n_parts)
        for part in range(self.n_parts):
            words, records = self._part(part)
            at = order[ends[part] : ends[part + 1]]
            place = np.minimum(np.searchsorted(words, word[at]), max(0, len(words) - 1))
            if len(words):
                sizes[at] = np.where(known[at] & (words[place] == word[at]), records[place], 0)
        return sizes

    def _part(self, part: int) -> tuple[Ints, Ints]:
        """The combinations of a part in their order, and the records of each; put in order once."""

        def in_order() -> tuple[Ints, Ints]:
            word, times = (self.spilled.appended(f"{part}-{name}", np.int64) for name in ("words", "times"))
            order = np.argsort(word)
            return word[order], times[order]

        return self.spilled.once(f"{part}-ordered", in_order)


def deal_sizes(
    frame: nw.LazyFrame[Any], keys: Sequence[str], n: int, rows: Sequence[nw.DataFrame[Any]] = ()
) -> KeySizes:  # fmt: skip
    """Count the combinations of keys of n records on their engine, and put them aside.

    `rows`: the combinations with their records, where these were counted before.

    Raises TooManyCellsError: more combinations than whole numbers; more values of keys than fit here.
    """
    columns, coded = count_cells.key_columns(frame, keys), dict[str, Coded]()
    for key in columns:
        held = sum(own.span for own in coded.values())
        if rows:
            values = nw.concat([piece.select(key.name).unique() for piece in rows]).unique()
        else:
            values = count_cells.values_of(frame, key.name, held=held)
        coded[key.name] = count_cells.code_keys(values, [key])[0]
    levels = {name: (own, shared_coding.share_coding(name, [(own, own.codes())])) for name, own in coded.items()}
    if math.prod(shared.n_levels + 1 for _, shared in levels.values()) > MOST_WORDS:
        raise count_cells.TooManyCellsError(
            f"{', '.join(levels)} have too many values to be counted together; recode some first"
        )
    room = max(1, count_cells.bytes_of_cells(count_cells.most_cells(len(levels), frame), len(levels)) // BYTES)
    spilled, n_parts, n_cells = Spilled(), -(-n // room), 0
    for piece in rows or count_cells.blocks_by(frame, keys, BLOCK):
        word = np.zeros(len(piece), np.int64)
        for own, (_, shared) in zip(count_cells.code_keys(piece, columns), levels.values(), strict=True):
            word = word * (shared.n_levels + 1) + shared.with_file(own, ("", "")).codes[-1]
        order, ends = dealt([word], len(word), n_parts)
        spilled.append_parts("words", word[order], ends)
        spilled.append_parts("times", count_cells.sizes_of(piece)[order], ends)
        n_cells += len(word)
    return KeySizes(levels, n, n_cells, n_parts, spilled)
