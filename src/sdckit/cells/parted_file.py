"""`file_of`: one file of several as cells by keys; where they were dealt out together as words, added up from these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.as_cells import tabulate_roles
from sdckit.cells.packing import Tabulated
from sdckit.cells.pair import Pair
from sdckit.cells.parted_pair import PartedPair, parted_before
from sdckit.cells.plans.cells_in_parts import PartedCells, Parting
from sdckit.cells.plans.count_cells import Counted
from sdckit.cells.plans.key_sizes import KeySizes, sizes_of_cells
from sdckit.cells.plans.lazy import LazyCells
from sdckit.cells.plans.spilled import Spilled
from sdckit.cells.table import AnyCells, Cells, Crosstab, count_levels
from sdckit.cells.tabulate import check_missing
from sdckit.data import pa
from sdckit.data.columns import Coded, code_column
from sdckit.data.frames import column_names
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.errors import ColumnError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import Words, distinct_words


def file_of(opened: Pair, file: int, *, keys: Sequence[str], sensitive: Sequence[str] = ()) -> AnyCells:
    """The cells of a file of a pair, the original being 0; a missing key value is a level of its own.

    Of files whose cells were dealt out to parts before they follow from these, without records; else they are counted.

    Raises ColumnError, DataError: as `as_cells`.
    """
    frame = (opened.plans or opened.frames)[file]
    roles = resolve_roles(keys=keys, sensitive=sensitive, default_missing="category")
    known = parted_before(opened, (*roles.keys, *roles.sensitive), roles.keys)
    if known is None or known.dealt is None or not isinstance(frame, nw.LazyFrame):
        return tabulate_roles(frame, roles)
    return _added_up(known, file, frame, roles)


def _added_up(pair: PartedPair, file: int, frame: nw.LazyFrame[Any], roles: Roles) -> CellsOfWords:
    levels = [_levels(pair, key, file) for key in roles.keys]
    given: dict[str, Any] = {
        "keys": roles.keys, "rules": roles.rules, "alpha": roles.alpha, "roles": roles,
        "n_missing": tuple(int(pair.codes(key).counts[file, 0]) for key in roles.keys),
    }  # fmt: skip
    check_missing(roles, given["n_missing"], (pair.n, *pair.sizes)[file])
    plan: dict[str, Any] = {"frame": frame, "own_columns": tuple(column_names(frame))}
    nothing = Counted(nw.from_native(pa.table({}), eager_only=True), (), 0)
    parts, numbers, spilled = [], [], Spilled()
    for number in range(pair.n_parts):
        _, size = _words(pair, number, file, roles.keys)
        if len(size) == 0:
            continue
        columns = dict.fromkeys(("cell_size", "sample_frequency"), spilled.array(size))
        codes = _Codes(pair, file, number, roles.keys, [codes for _, codes in levels])
        table = Tabulated(np.empty(0, np.int32), columns["cell_size"], None, codes, None, None)
        n = int(size.sum())
        here = Cells(**given, n=n, columns=columns, levels=tuple(coded for coded, _ in levels), table=table)
        parts.append(LazyCells(**given, **plan, n=n, columns=columns, here=here, counted=nothing))
        numbers.append(number)
    return CellsOfWords(
        **given, **plan, n=(pair.n, *pair.sizes)[file], parts=tuple(parts), spilled=spilled,
        columns={name: tuple(part.columns[name] for part in parts) for name in parts[0].columns},
        parting=Parting((), (), (), False, 0), pair=pair, file=file, numbers=tuple(numbers),
    )  # fmt: skip


def _words(pair: PartedPair, number: int, file: int, names: Sequence[str]) -> tuple[Words, Ints]:
    """The cells of a file in a part, and the records of each."""
    assert pair.dealt is not None
    return pair.dealt.cells(number, file, names)


def _levels(pair: PartedPair, name: str, file: int) -> tuple[Coded, Ints]:
    """How the values of a column print in a file, and the code there of each of its levels."""
    coded, shared = code_column(pair.column(name, file)), pair.codes(name)
    codes = np.full(shared.n_levels + 1, coded.span, np.int64)
    codes[shared.codes[file]] = coded.codes()
    return coded, codes


@dataclass(frozen=True, eq=False)
class _Codes(Sequence[NDArray[np.int64]]):
    """Codes of each key in the cells of a part, read when they are asked for."""

    pair: PartedPair
    file: int
    number: int
    keys: tuple[str, ...]
    codes: Sequence[Ints]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[j] for j in range(*at.indices(len(self)))]
        words, _ = _words(self.pair, self.number, self.file, self.keys)
        assert self.pair.dealt is not None
        return self.codes[at][self.pair.dealt.codes(self.keys[at], words)]


@dataclass(frozen=True, eq=False)
class CellsOfWords(PartedCells):
    """The cells of one file of a pair, added up from those dealt out together; nothing of single records."""

    pair: PartedPair = field(repr=False, kw_only=True)
    file: int = field(kw_only=True)
    numbers: tuple[int, ...] = field(repr=False, kw_only=True)  # of the parts that the file has cells in

    def levels_of(self, variable: str) -> LevelsOfWords:  # type: ignore[override]
        """The levels of a variable in the cells of each part.

        Raises ColumnError: it is none of the columns that were dealt out.
        """
        known: dict[str, LevelsOfWords] = self.memo.setdefault("levels", {})
        if variable not in known:
            if variable not in self.pair.levels:
                raise ColumnError(f"{variable!r} is none of the variables that these cells were counted with; name it")
            values, times = self.pair.column(variable, self.file), self.pair.codes(variable).times
            assert times is not None
            whole = count_levels(np.zeros(len(values), np.int64), values, 1, times[self.file])
            codes = _levels(self.pair, variable, self.file)[1]
            known[variable] = LevelsOfWords(
                {variable: whole}, self.pair, self.file, self.keys, self.numbers, codes, self.spilled
            )
        return known[variable]

    def key_sizes(self) -> KeySizes:
        """The records of each combination of keys, in parts that are looked up; once for all measures."""

        def made() -> KeySizes:
            columns = {key: code_column(self.pair.column(key, self.file)) for key in self.keys}
            return sizes_of_cells((part.here for part in self.parts), columns, self.frame, self.n)

        if "sizes" not in self.memo:
            self.memo["sizes"] = made()
        sizes: KeySizes = self.memo["sizes"]
        return sizes

    def _joined(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: which part a record belongs to is not known on the engine."""
        self.pair.records()


@dataclass(frozen=True, eq=False)
class LevelsOfWords:
    """The levels of a variable in the cells of each part of a file, as `DealtLevels` has them."""

    whole: Mapping[str, Crosstab]
    pair: PartedPair
    file: int
    keys: tuple[str, ...]
    numbers: tuple[int, ...]
    codes: Ints
    spilled: Spilled

    def of_cells(self, number: int, variable: str) -> Crosstab:
        """The levels in each cell of a part, in the coding of the whole file."""
        whole, place = self.whole[variable], list(self.pair.levels).index(variable)
        table = self.spilled.once(f"levels-{number}-{place}", lambda: self._counted(number, variable))
        return Crosstab(*table, whole.missing, whole.coded, whole.ordered)

    def _counted(self, number: int, variable: str) -> tuple[Ints, Ints, Ints]:
        """Edges, levels and records of the table."""
        dealt = self.pair.dealt
        assert dealt is not None
        words, times = _words(self.pair, self.numbers[number], self.file, (*self.keys, variable))
        keys = words & np.uint64(sum(dealt.layout.field(dealt.names.index(key)) for key in self.keys))
        order = np.argsort(keys, kind="stable")  # the variable may lie between the keys
        words, times, keys = words[order], times[order], keys[order]
        first = np.append(True, keys[1:] != keys[:-1])
        bits = int(self.codes.max()).bit_length()
        level = self.codes[dealt.codes(variable, words)].astype(np.uint64)
        cell = (np.cumsum(first) - 1).astype(np.uint64)
        entries, count = distinct_words(cell << np.uint64(bits) | level, times)
        edges = np.append(np.flatnonzero(first), len(words))
        return edges, (entries & np.uint64((1 << bits) - 1)).astype(np.int64), count
