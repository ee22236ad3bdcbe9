"""Levels of sensitive variables in cells that are here in parts, or with all levels do not fit: counted in one pass.

The engine groups by the keys and all variables at once. Its rows pass by in blocks; of each row the cell, its code of
each variable and its records are put aside in files, those of one part together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import Counted, blocks_by, most_cells, sizes_of, too_many, values_of
from sdckit.cells.plans.spilled import BLOCK, Spilled
from sdckit.cells.shared_coding import SharedCoding, share_coding
from sdckit.cells.table import Cells, Crosstab, count_codes, count_levels
from sdckit.cells.tabulate import rows_in_cells
from sdckit.data.columns import code_column
from sdckit.numerics.array_types import Ints, Values

LEAN = 4  # codes of so many rows take what one cell takes, all columns of it


class Part(Protocol):
    """Cells that are here, and the rows that an engine counted of them."""

    @property
    def here(self) -> Cells:
        """The cells."""

    @property
    def counted(self) -> Counted:
        """The rows."""


@dataclass(frozen=True, eq=False)
class DealtLevels:
    """The levels of some variables in the cells of each part, in files.

    Attributes
    ----------
    whole : mapping of str to Crosstab
        The levels of each variable in the whole file, as one cell.
    codes : mapping of str to (SharedCoding, ndarray)
        The coding of each variable by its distinct values, and the code in `whole` of each of these.
    """

    whole: Mapping[str, Crosstab]
    codes: Mapping[str, tuple[SharedCoding, Ints]] = field(repr=False)
    sizes: Sequence[int]  # cells of each part
    spilled: Spilled = field(repr=False)
    mark: str

    def of_cells(self, number: int, variable: str) -> Crosstab:
        """The levels in each cell of a part, in the coding of the whole file."""
        whole, place = self.whole[variable], list(self.whole).index(variable)

        def counted() -> tuple[Ints, ...]:
            cell, code, records = (
                self.spilled.appended(f"{self.mark}-{number}-{name}", kind)
                for name, kind in (("cell", np.int32), (place, np.int32), ("records", np.int64))
            )
            table = count_codes(cell, self.codes[variable][1][code], whole.coded, self.sizes[number], records)
            return table.edges, table.level, table.count

        edges, level, count = self.spilled.once(f"{self.mark}-{number}-{place}-levels", counted)
        return Crosstab(edges, level, count, whole.missing, whole.coded, whole.ordered)


@dataclass(frozen=True, eq=False)
class PartLevels:
    """The same of one part, counted when they are asked for."""

    dealt: Callable[[str], DealtLevels]
    number: int

    def of_cells(self, variable: str) -> Crosstab:
        """Of each cell of the part."""
        return self.dealt(variable).of_cells(self.number, variable)

    def of_file(self, variable: str) -> Crosstab:
        """Of the whole file, as one cell."""
        return self.dealt(variable).whole[variable]


def deal_levels(
    frame: nw.LazyFrame[Any], keys: Sequence[str], variables: Sequence[str], parts: Sequence[Part], spilled: Spilled,
    mark: str, *, place: Callable[[nw.LazyFrame[Any]], nw.LazyFrame[Any]] | None = None, bucket: str = "",
    first: Sequence[int] = (0,),
) -> DealtLevels:  # fmt: skip
    """Count the levels of some variables in the cells of a plan that are in parts, in one pass of its engine.

    `place` adds the column `bucket`, which says to which part a row belongs; `first`: its first value in each part,
    ascending, but for the last one where that has all below.

    Raises DataError: a variable without any value, or with more levels than fit here.
    """
    whole, codes, held = {}, {}, 0
    for name in variables:
        values = values_of(frame, name, held=held)
        held += len(values)
        column = values[name]
        whole[name] = count_levels(np.zeros(len(values), np.int64), column, 1, sizes_of(values))
        coded = code_column(column)
        shared = share_coding(name, [(coded, coded.codes())])
        code = np.full(shared.n_levels + 1, coded.span, np.int64)
        code[shared.codes[0]] = coded.codes()
        codes[name] = shared, code
    dealt = DealtLevels(whole, codes, [part.here.n_cells for part in parts], spilled, mark)
    rows, most = np.zeros(len(parts), np.int64), most_cells(len(keys) + 1, frame)
    for piece in blocks_by(frame, [*keys, *variables], BLOCK, place):
        buckets = np.zeros(len(piece), np.int64) if place is None else piece[bucket].to_numpy()
        part_of_row = (np.searchsorted(first, buckets, side="right") - 1) % len(parts)  # below all is the last one
        for number, part in enumerate(parts):
            if len(at := np.flatnonzero(part_of_row == number)):
                _deal(dealt, number, part, piece if len(at) == len(piece) else piece[at])
        rows += np.bincount(part_of_row, minlength=len(parts))
    if rows.max() > LEAN * most:
        raise too_many(int(rows.sum()), len(keys) + len(variables), LEAN * most, frame, " of them at once")
    return dealt


def _deal(dealt: DealtLevels, number: int, part: Part, rows: nw.DataFrame[Any]) -> None:
    """Write what the rows of a part have to its files."""
    columns: dict[str, Values] = {"cell": rows_in_cells(part.here, part.counted, rows), "records": sizes_of(rows)}
    for place, (name, (shared, _)) in enumerate(dealt.codes.items()):
        columns[str(place)] = shared.with_file(code_column(rows[name]), ("", "")).codes[-1]  # 32 bits, as `code` is not
    for name, values in columns.items():
        dealt.spilled.append(f"{dealt.mark}-{number}-{name}", values)
