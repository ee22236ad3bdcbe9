"""`PartedCells`: cells of a lazy frame that do not fit into memory, counted, measured and stored on disk part by part.

Cells that match each other are in one part, so that figures of a cell need its part only, and figures of the file are
sums over parts. Loose cells (see `Parting`) may match cells of all parts: they are added to each part while its
frequencies are counted, and their gains from every part are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, or_
from typing import Any, NoReturn, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.packing import PackedCodes, Tabulated, made_once
from sdckit.cells.plans import count_cells as counting, lazy, levels_aside
from sdckit.cells.plans.households import Brought, HouseholdSums
from sdckit.cells.plans.key_sizes import KeySizes, deal_sizes
from sdckit.cells.plans.spilled import BLOCK, Spilled
from sdckit.cells.table import AnyCells, Cells, Crosstab, Kernel, PartedValues
from sdckit.cells.tabulate import check_missing, tabulate_part, warn_about_key
from sdckit.data import memory, pa, pc, pl
from sdckit.data.frames import as_plan
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Ints, Values

# Partition of the cells of a lazy frame, if all of them do not fit into memory.
# Cells that differ in a key never match, unless the key has wildcards. So the cells are split by keys without
# wildcards. If these do not suffice, other keys are used as well: cells in which one of these is missing are loose,
# since they may match cells of every part.


BUCKET = f"{counting.PREFIX}bucket"
N_BUCKETS = 1 << 16
LOOSE = -1
FILLED = 2  # a part may have the cells that fit divided by this, since a sensitive variable splits them further


@dataclass(frozen=True)
class Parting:
    """Partition of the cells of a lazy frame.

    `keys`: keys by whose hash cells are split; `may_lack`: those among them with wildcards. `parts`: first bucket and
    end of each part. `loose`: whether cells have a wildcard in such a key. `n_cells`: of all parts.
    """

    keys: tuple[counting.KeyColumn, ...]
    may_lack: tuple[counting.KeyColumn, ...]
    parts: tuple[tuple[int, int], ...]
    loose: bool
    n_cells: int

    def placed(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The records with the bucket of each."""
        return self._bucketed(_hashed(frame, self.keys, lambda key: key.present), [key.absent for key in self.may_lack])

    def placed_cells(self, cells: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """The same of rows that were grouped by the keys, among others."""
        absent = [nw.col(key.column).is_null() for key in self.may_lack]
        return self._bucketed(_hashed(cells, self.keys, lambda key: key.brought(key.column)), absent)

    def _bucketed(self, hashed: nw.LazyFrame[Any], absent: Sequence[nw.Expr]) -> nw.LazyFrame[Any]:
        """The rows with a bucket for the hashes of their keys; `LOOSE` if one that may lack is missing."""
        names = [_hash_of(key) for key in self.keys]
        bucket: nw.Expr = reduce(add, map(nw.col, names)) % N_BUCKETS
        if absent:
            bucket = nw.when(_any(absent)).then(nw.lit(LOOSE)).otherwise(bucket)
        return hashed.with_columns(bucket.cast(nw.Int64).alias(BUCKET)).drop(*names)

    def plans(self, frame: nw.LazyFrame[Any]) -> list[nw.LazyFrame[Any]]:
        """The records of each part."""
        placed, at = self.placed(frame), nw.col(BUCKET)
        return [placed.filter((at >= low) & (at < high)).drop(BUCKET) for low, high in self.parts]

    def loose_plan(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any] | None:
        """The records of the loose cells; None where there are none."""
        return frame.filter(_any(key.absent for key in self.may_lack)) if self.loose else None


@dataclass(frozen=True, eq=False)
class CellsAside:
    """All cells of a plan, a row for each, with a hash of each key; in files where they are more than fit."""

    pieces: tuple[nw.DataFrame[Any], ...]
    files: Spilled

    @property
    def n_cells(self) -> int:
        """Number of distinct key combinations."""
        return sum(map(len, self.pieces))

    def missing(self, key: counting.KeyColumn) -> int:
        """The records without a value of a key."""
        return sum(int(counting.sizes_of(piece)[_absent(piece, [key])].sum()) for piece in self.pieces)

    def n_levels(self, key: counting.KeyColumn) -> int:
        """The different values of a key, a missing one among them."""
        values = pa.chunked_array([chunk for piece in self.pieces for chunk in piece.to_arrow()[key.name].chunks])
        return int(pc.count_distinct(pc.add(values, 0.0) if key.is_float else values, "all").as_py())


def count_or_put_aside(grouped: counting.Grouped) -> counting.Counted | CellsAside:
    """Collect the cells of a plan; where they do not fit, they are put aside as they pass by: it is grouped once."""
    most = counting.most_cells(len(grouped.keys), grouped.frame)
    if grouped.n <= most:
        return grouped.bring()
    held, aside, n_cells, files = list[nw.DataFrame[Any]](), list[nw.DataFrame[Any]](), 0, Spilled()
    cells, hashes = grouped.cells(), [_hash_of(key) for key in grouped.keys]
    for block in grouped.blocks(_hashed(cells, grouped.keys, lambda key: nw.col(key.column)), BLOCK, *hashes):
        held.append(block)
        n_cells += len(block)
        if n_cells > most:
            aside += [nw.from_native(files.table(piece.to_arrow()), eager_only=True) for piece in held]
            held.clear()
    if n_cells > most:
        return CellsAside(tuple(aside), files)
    return grouped.counted(nw.concat(held).drop(*hashes))


def choose_parting(grouped: counting.Grouped, aside: CellsAside, n_missing: Sequence[int]) -> Parting:
    """Split the cells of a lazy frame by as few keys with wildcards as possible, so that each part fits into memory.

    Raises DataError: no keys split them into parts that fit.
    """
    rules = zip(grouped.keys, grouped.roles.rules, n_missing, strict=True)
    wild = sorted((gone, j) for j, (_, rule, gone) in enumerate(rules) if rule == "wildcard" and gone)
    lacking = [grouped.keys[j] for _, j in wild]
    sure = tuple(key for key in grouped.keys if key not in lacking)
    most = counting.most_cells(len(grouped.keys), grouped.frame)
    room = most // FILLED
    for n_more in range(len(lacking) + 1):
        keys, may_lack = (*sure, *lacking[:n_more]), tuple(lacking[:n_more])
        if not keys:
            continue
        buckets = np.concatenate([_buckets(piece, keys, may_lack) for piece in aside.pieces])
        counts, loose = np.bincount(buckets[buckets != LOOSE], minlength=N_BUCKETS), int((buckets == LOOSE).sum())
        sizes = np.stack([at := np.flatnonzero(counts), counts[at]], axis=1)
        if len(sizes) and sizes[:, 1].max() + loose <= room:
            return Parting(keys, may_lack, tuple(_packed(sizes, room - loose)), loose > 0, aside.n_cells)
    why = "; nor do they fall into parts that fit, since cells may match across all of them"
    raise counting.too_many(aside.n_cells, len(grouped.keys), most, grouped.frame, why)


def _buckets(
    piece: nw.DataFrame[Any], keys: Sequence[counting.KeyColumn], may_lack: Sequence[counting.KeyColumn]
) -> Ints:  # fmt: skip
    """The bucket of each of some cells that were put aside, the same as that of its records."""
    bucket = np.zeros(len(piece), np.int64)
    for key in keys:
        bucket += piece[_hash_of(key)].to_numpy()
    return np.where(_absent(piece, may_lack), LOOSE, bucket % N_BUCKETS)


def _absent(piece: nw.DataFrame[Any], keys: Sequence[counting.KeyColumn]) -> Bools:
    """Whether one of some keys is missing in each of some cells."""
    absent = np.zeros(len(piece), np.bool_)
    for key in keys:
        absent |= piece[key.name].is_null().to_numpy()
    return absent


def _packed(sizes: Ints, room: int) -> Iterator[tuple[int, int]]:
    """Consecutive buckets packed into as few parts as fit, of about equal size."""
    total = int(sizes[:, 1].sum())
    fair = total / -(-total // room)
    start, held = 0, 0
    for bucket, n in sizes.tolist():
        if held + n > room or held >= fair:
            yield start, bucket
            start, held = bucket, 0
        held += n
    yield start, N_BUCKETS


def _hash_of(key: counting.KeyColumn) -> str:
    return f"{key.column}hash"


def _hashed(
    frame: nw.LazyFrame[Any], keys: Sequence[counting.KeyColumn], value: Callable[[counting.KeyColumn], nw.Expr]
) -> nw.LazyFrame[Any]:  # fmt: skip
    """The lazy frame with a hash of some keys beside each row, by its engine; `value`: that of a key."""
    names = {f"{key.column}value": int(key.column.removeprefix(f"{counting.PREFIX}key")) for key in keys}
    whole = [key.one_zero(value(key)).alias(name) for key, name in zip(keys, names, strict=True)]
    native, own = frame.with_columns(*whole).to_native(), list(map(_hash_of, keys))
    if frame.implementation.is_polars():
        hashed = [pl.col(name).hash(salt) % N_BUCKETS for name, salt in names.items()]
        native = native.with_columns(part.cast(pl.Int64).alias(name) for part, name in zip(hashed, own, strict=True))
    else:  # equal values of two keys have different hashes
        duckdb = frame.implementation.is_duckdb()
        number = "(hash({0}) & {2}) * (2 * {1} + 1)" if duckdb else "pmod(xxhash64({0}, {1}), {2} + 1)"
        numbers = [number.format(name, salt, N_BUCKETS - 1) for name, salt in names.items()]
        columns = ["*", *(f"cast({own_hash} as bigint) as {name}" for own_hash, name in zip(numbers, own, strict=True))]
        native = native.project(", ".join(columns)) if duckdb else native.selectExpr(*columns)
    return as_plan(native).drop(*names)


def _any(conditions: Any) -> nw.Expr:
    return reduce(or_, conditions)  # type: ignore[no-any-return]


T = TypeVar("T")
Columns = dict[str, Values]


@dataclass(frozen=True, eq=False)
class PartedCells(lazy.PlanCells):
    """The key combinations of a plan, in parts that lie in files.

    Attributes
    ----------
    parts : tuple of LazyCells
        The cells of each part, with the plan of its records.
    parting : Parting
        How the records were dealt out; where it is `loose`, the last part may match cells of all others.
    """

    parts: tuple[lazy.LazyCells, ...] = field(repr=False)
    parting: Parting = field(repr=False)
    spilled: Spilled = field(repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def n_cells(self) -> int:
        """Number of distinct key combinations."""
        return sum(part.n_cells for part in self.parts)

    def count_cells(self, edges: Sequence[int]) -> list[int]:
        """Cells by size: how many hold from ``edges[i]`` to below ``edges[i + 1]`` records."""
        return [sum(counts) for counts in zip(*(part.count_cells(edges) for part in self.parts), strict=True)]

    def count_short(self) -> int:
        """Cells whose population frequency falls short of their sample frequency."""
        return sum(part.count_short() for part in self.parts)

    def stand_for(self) -> float | None:
        """How many the records stand for by their weights or the sampling fraction; None where neither is known."""
        totals = [part.stand_for() for part in self.parts]
        return None if None in totals else sum(filter(None, totals))

    def count_helped(self) -> int:
        """Records whose frequency counts other records' missing values."""
        return sum(part.count_helped() for part in self.parts)

    def count_where(self, below: float, risk_above: float | None) -> int:
        """Records with a sample frequency below a limit, or a risk above one."""
        return sum(part.count_where(below, risk_above) for part in self.parts)

    def level_counts(self, key: str) -> tuple[list[tuple[str, int]], int, int]:
        """At most 200 levels of a key, the most frequent first; how many it has, and how many with 5 records."""
        return self._of_one(key).level_counts(key)

    def kind(self, key: str) -> str:
        """What kind of values a key has."""
        return self._of_one(key).kind(key)

    def _of_one(self, key: str) -> Cells:
        """The cells of a single key."""
        if ("cells", key) not in self.memo:  # a key may be called as what else is kept
            counted = counting.Counted(
                counting.count_by(self.frame, [key], self.n), counting.key_columns(self.frame, [key]), self.n
            )
            roles = replace(self.roles, keys=(key,), rules=("category",), weight=None, person=None)
            self.memo["cells", key] = tabulate_part(counted, replace(roles, sampling_fraction=None))
        cells: Cells = self.memo["cells", key]
        return cells

    def with_column(self, name: str, kernel: Callable[..., Any], *inputs: str) -> PartedCells:
        """Add a figure per cell, computed from others by a kernel of arrays."""
        return self._made([part.with_column(name, kernel, *inputs) for part in self.parts])

    def with_cells(self, columns: Mapping[str, Values]) -> NoReturn:  # noqa: ARG002
        """Refused: there are no figures of all cells."""
        self._all_here()

    def count_levels(self, variable: str) -> Crosstab:  # noqa: ARG002
        """Refused: not all cells are in memory."""
        return self._all_here()

    def as_categories(self) -> PartedCells:
        """The same cells when a missing key value is a category of its own."""
        made = self._made([part.as_categories() for part in self.parts])
        first = made.parts[0]
        return replace(made, rules=first.rules, roles=first.roles, households={})

    def by_parts(self, run: Callable[[AnyCells], tuple[AnyCells, T]]) -> tuple[AnyCells, list[T]]:
        """Apply a function that returns new cells and an outcome to each part.

        Raises DataError: cells match across parts.
        """
        if self.parting.loose and self.has_wildcards:
            self._all_here()
        made: list[lazy.LazyCells] = []
        outcomes: list[T] = []
        for number, part in enumerate(self.parts):
            here = replace(part.here, memo={})  # it is freed with the part
            cells, outcome = run(replace(part, here=here, aside=levels_aside.PartLevels(self.levels_of, number)))
            made += self._put_aside([cast(lazy.LazyCells, cells)], [part])
            outcomes.append(outcome)
        return self._of(made), outcomes

    def key_sizes(self) -> KeySizes:
        """The records of each combination of keys, in parts that are looked up; counted once for all measures."""
        rows = [part.counted.frame for part in self.parts]
        return made_once(self.memo, ("sizes",), lambda: deal_sizes(self.frame, self.keys, self.n, rows))

    def levels_of(self, variable: str) -> levels_aside.DealtLevels:
        """The levels of a variable in the cells of each part: of all sensitive ones, counted once."""
        known: list[levels_aside.DealtLevels] = self.memo.setdefault("levels", [])
        for dealt in known:
            if variable in dealt.whole:
                return dealt
        self._key_of(variable, "sensitive")
        types, own = self.frame.collect_schema(), self.roles.sensitive
        more = [name for name in own if name not in self.keys and not types[name].is_nested()]
        together = variable in more and len(more) > 1 and "apart" not in self.memo
        try:
            known.append(self._deal_levels(more if together else [variable]))
        except DataError:
            if not together:
                raise
            self.memo["apart"] = True  # one of them has no value, or too many beside the others
            return self.levels_of(variable)
        return known[-1]

    def _deal_levels(self, variables: Sequence[str]) -> levels_aside.DealtLevels:
        number = self.memo["dealings"] = self.memo.get("dealings", 0) + 1  # files of one that failed are never added to
        return levels_aside.deal_levels(
            self.frame, self.keys, variables, self.parts, self.spilled, f"levels-{number}",
            place=self.parting.placed_cells, bucket=BUCKET, first=[low for low, _ in self.parting.parts],
        )  # fmt: skip

    def _made(self, parts: Sequence[lazy.LazyCells]) -> PartedCells:
        return self._of(self._put_aside(parts, self.parts))

    def _of(self, parts: Sequence[lazy.LazyCells]) -> PartedCells:
        return replace(self, parts=tuple(parts), columns=_columns_of(parts))

    def _put_aside(self, parts: Sequence[lazy.LazyCells], before: Sequence[lazy.LazyCells]) -> list[lazy.LazyCells]:
        return [
            replace(part, here=replace(part.here, columns=columns, memo={}), columns=columns)
            for part, old in zip(parts, before, strict=True)
            for columns in [self.spilled.columns(part.columns, old.columns)]
        ]

    def _joined(self, figures: Mapping[str, Brought], beside: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
        """The lazy frame with figures of cells joined to its records, part by part."""
        parts = [
            part._joined({name: held[i] for name, held in figures.items()}, beside) for i, part in enumerate(self.parts)
        ]
        return nw.concat(parts, how="vertical")

    def _values(self, name: str) -> PartedValues:
        return PartedValues(tuple((part.columns[name], part.here.table.size) for part in self.parts))

    def _brought(self, name: str, kernel: Kernel | None = None) -> Brought:
        if kernel is None:
            return tuple(part.here.cell_values(name) for part in self.parts)
        return tuple(self.spilled.array(kernel(part.columns[name])) for part in self.parts)

    def _once(self, key: Any, make: Callable[[], HouseholdSums]) -> HouseholdSums:
        return made_once(self.memo, key, make)

    def _all_here(self) -> NoReturn:
        most = counting.most_cells(len(self.keys), self.frame)
        raise DataError(
            f"this measure needs all {self.n_cells:,} cells at once, and the free memory here takes {most:,}; take "
            f"fewer keys, recode them more coarsely, {memory.what_opens(self.frame, self.n_cells / max(1, most))}"
        )


def tabulate_parts(grouped: counting.Grouped, aside: CellsAside) -> PartedCells:
    """Count the cells of a plan in parts, each of which fits into memory.

    Raises DataError: what the values of the keys do not allow; no parts that fit.
    """
    frame, roles, n = grouped.frame, grouped.roles, grouped.n
    n_missing = tuple(map(aside.missing, grouped.keys))
    check_missing(roles, n_missing, n)
    parting = choose_parting(grouped, aside, n_missing)
    for key, gone in zip(grouped.keys, n_missing, strict=True):
        warn_about_key(key.name, aside.n_levels(key), gone, parting.n_cells, n)

    wild = any(rule == "wildcard" and gone for rule, gone in zip(roles.rules, n_missing, strict=True))
    own_columns, spilled = tuple(frame.collect_schema().names()), Spilled()

    def part_of(plan: nw.LazyFrame[Any], counted: counting.Counted, here: Cells) -> lazy.LazyCells:
        kept = _put_aside(_alike(here, wild=wild), spilled)
        there = replace(counted, frame=nw.from_native(spilled.table(counted.frame.to_arrow()), eager_only=True))
        return lazy.LazyCells(
            keys=roles.keys, n=kept.n, rules=roles.rules, alpha=roles.alpha, n_missing=kept.n_missing,
            columns=kept.columns, roles=roles, here=kept, counted=there, frame=plan, own_columns=own_columns,
        )  # fmt: skip

    beside = parting.loose_plan(frame)
    loose = None if beside is None else _Loose(grouped.bring(beside), roles)
    parts, plans = [], parting.plans(frame)
    for plan, counted in zip(plans, _counted_by_part(grouped, parting, aside, spilled), strict=True):
        here = tabulate_part(counted, roles) if loose is None else loose.counted_with(counted)
        parts.append(part_of(plan, counted, here))
    if loose is not None and beside is not None:
        parts.append(part_of(beside, loose.counted, loose.cells()))
    return PartedCells(
        keys=roles.keys, n=n, rules=roles.rules, alpha=roles.alpha, n_missing=n_missing, columns=_columns_of(parts),
        roles=roles, frame=frame, own_columns=own_columns, parts=tuple(parts), parting=parting, spilled=spilled,
    )  # fmt: skip


def _counted_by_part(
    grouped: counting.Grouped, parting: Parting, aside: CellsAside, spilled: Spilled
) -> Iterator[counting.Counted]:
    """The cells of each part, out of those that were put aside."""
    pieces: list[list[pa.Table]] = [[] for _ in parting.parts]
    first = [low for low, _ in parting.parts]
    for piece in aside.pieces:
        part_of_row = np.searchsorted(first, _buckets(piece, parting.keys, parting.may_lack), side="right") - 1
        block = piece.drop(*map(_hash_of, grouped.keys))
        for number, own in enumerate(pieces):  # -1: loose
            if len(at := np.flatnonzero(part_of_row == number)):
                own.append(spilled.table(block[at].to_arrow()))
    yield from (grouped.counted(nw.from_native(pa.concat_tables(own), eager_only=True)) for own in pieces)


class _Loose:
    """Cells that may match cells of every part, and their gains in frequency from each."""

    def __init__(self, counted: counting.Counted, roles: Roles) -> None:
        self.counted, self._roles = counted, roles
        self._alone = tabulate_part(counted, roles)
        self._gained: Columns = {}

    def counted_with(self, part: counting.Counted) -> Cells:
        """The cells of a part, matched with each other and with the loose cells."""
        n = len(part.frame)
        both = tabulate_part(replace(part, frame=nw.concat([part.frame, self.counted.frame])), self._roles)
        at, alone = both.table.of_row[n:], self._alone.table.of_row
        for name, column in _alike(both, wild=True).columns.items():
            before = _alike(self._alone, wild=True).columns[name][alone]
            self._gained[name] = self._gained.get(name, 0) + (column[at] - before)
        return _first_rows(both, n)

    def cells(self) -> Cells:
        """The loose cells, with their gains from all parts."""
        columns: Columns = {}
        of_row = self._alone.table.of_row
        for name, column in _alike(self._alone, wild=True).columns.items():
            gained = self._gained[name]
            columns[name] = column.astype(gained.dtype)
            columns[name][of_row] += gained
        return replace(self._alone, columns=columns)


def _alike(cells: Cells, *, wild: bool) -> Cells:
    """The cells with the same columns, of the same types, for every part, whether it has missing values or not."""
    columns = dict(cells.columns)
    if wild:
        f = columns["sample_frequency"]
        columns.setdefault("strict_frequency", f)
        if cells.alpha != 1:
            columns["sample_frequency"] = f.astype(np.float64)
    return replace(cells, columns=columns)


def _first_rows(cells: Cells, n: int) -> Cells:
    """The cells of the first n counted rows, with unchanged frequencies."""
    table = cells.table
    used = np.zeros(cells.n_cells, np.bool_)
    used[table.of_row[:n]] = True
    at = np.flatnonzero(used)
    number = (np.cumsum(used) - 1).astype(np.int32)
    cut = replace(
        _with_codes(table, lambda values: values[at]), of_row=number[table.of_row[:n]], size=table.size[at],
        weight=None if table.weight is None else table.weight[at],
    )  # fmt: skip
    missing = (cut.size[codes == level.span].sum() for codes, level in zip(cut.codes, cells.levels, strict=True))
    columns = {name: column[at] for name, column in cells.columns.items()}
    return replace(
        cells, table=cut, columns=columns, n=int(cut.size.sum()), n_missing=tuple(int(absent) for absent in missing)
    )


def _with_codes(table: Tabulated, change: Callable[[Values], Values]) -> Tabulated:
    """The same table with changed arrays of codes."""
    if table.words is None or table.layout is None:
        return replace(table, codes=tuple(change(codes) for codes in table.codes))
    words = change(table.words)
    return replace(table, words=words, codes=PackedCodes(words, table.layout))


def _put_aside(cells: Cells, spilled: Spilled) -> Cells:
    """The same cells with their arrays in files."""
    kept: dict[int, Values] = {}

    def keep(values: Values) -> Values:
        return made_once(kept, id(values), lambda: spilled.array(values))

    table = cells.table
    aside = replace(
        _with_codes(table, keep), of_row=keep(table.of_row), size=keep(table.size),
        weight=None if table.weight is None else keep(table.weight),
    )  # fmt: skip
    return replace(cells, table=aside, columns={name: keep(own) for name, own in cells.columns.items()}, memo={})


def _columns_of(parts: Sequence[lazy.LazyCells]) -> dict[str, tuple[Values, ...]]:
    return {name: tuple(part.columns[name] for part in parts) for name in parts[0].columns}
