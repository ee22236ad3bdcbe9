"""Tables of an original and its releases that are plans: counted by their engines, all tables in one pass of a file.

A table of counts needs no record. So the engine groups by the columns of every table at once (grouping sets on DuckDB
and Spark, several groupings of one scan on Polars), and the counts come here. The different values of a column come
with their numbers of records: quantiles, classes, ranks and moments follow from them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair, check_present, open_files
from sdckit.cells.plans import pair_cells, spark_tables
from sdckit.cells.plans.attach import CHANGED, attach
from sdckit.cells.plans.count_cells import (
    PREFIX,
    SIZE,
    KeyColumn,
    aggregate,
    cells_within,
    most_cells,
    refuse_spans,
    too_many,
)
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data import memory, pa, pc, pl, pt
from sdckit.data.frames import as_plan, carried_out, check_plan_names, collect, count_records, on_spark
from sdckit.errors import DataError
from sdckit.numerics.array_types import Codes, Floats, Ints, Values

SET = f"{PREFIX}set"
KEPT = 100_000
MOST_TOPS = 4
Sum = tuple[Literal["sum", "max", "tops"], str]  # of an input; "tops": a list of its four largest, in no order
OF_POLARS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda column: column.sum(), "max": lambda column: column.max(),
    "tops": lambda column: column.top_k(MOST_TOPS),
}  # fmt: skip


# One pass of an engine over a file, grouped by several sets of columns.


def count_sets(
    frame: nw.LazyFrame[Any], columns: Mapping[str, nw.Expr], sets: Sequence[Sequence[str]],
    inputs: Mapping[str, nw.Expr] | None = None, sums: Mapping[str, Sum] | None = None,
) -> list[pa.Table]:  # fmt: skip
    """For each set of columns a row per combination of their values, with the records of each (`SIZE`) and `sums`.

    `columns` and `inputs`: what is grouped by and what `sums` are made of, as expressions of the frame, by names that
    every engine reads alike.

    >>> import polars as pl
    >>> plan = nw.from_native(pl.LazyFrame({"sex": ["f", "m", "f"], "ill": [1, 1, 0]}))
    >>> both = {"a": nw.col("sex"), "b": nw.col("ill")}
    >>> [table.num_rows for table in count_sets(plan, both, [["a"], ["b"], ["a", "b"]])]
    [2, 2, 3]
    """
    sums = sums or {}
    chosen = frame.select(*(value.alias(name) for name, value in {**columns, **(inputs or {})}.items()))
    if frame.implementation.is_polars():
        # Categories without an order of their own would come in whatever order the engine met them.
        free = [name for name, kind in chosen.collect_schema().items() if kind == nw.Categorical]
        chosen = chosen.with_columns(*(nw.col(name).cast(nw.String) for name in free)) if free else chosen
        native: Any = chosen.to_native()
        made = [OF_POLARS[how](pl.col(of)).alias(name) for name, (how, of) in sums.items()]
        plans = [native.group_by(*names).agg(pl.len().cast(pl.Int64).alias(SIZE), *made) for names in sets]
        return [found.to_arrow() for found in carried_out(lambda: pl.collect_all(plans, engine="streaming"))]
    order = list(dict.fromkeys(name for names in sets for name in names))
    listed = ", ".join(f"({', '.join(names)})" for names in sets)
    asked = [f"{_in_sql(how, of, spark=on_spark(frame))} AS {name}" for name, (how, of) in sums.items()]
    wanted = ", ".join([f"count(*) AS {SIZE}", *asked])
    says = (
        f"SELECT {', '.join(order)}, GROUPING_ID({', '.join(order)}) AS {SET}, {wanted} FROM %s "
        f"GROUP BY GROUPING SETS ({listed})"
    )
    found = collect(as_plan(carried_out(lambda: _asked(chosen, says)))).to_arrow()
    which = found.column(SET).to_numpy()
    tables = []
    for names in sets:
        mark = sum(1 << (len(order) - 1 - at) for at, name in enumerate(order) if name not in names)
        tables.append(found.select([*names, SIZE, *sums]).take(pa.array(np.flatnonzero(which == mark))))
    return tables


def _in_sql(how: str, of: str, *, spark: bool) -> str:
    if how != "tops":
        return f"{how}({of})"
    return f"slice(sort_array(collect_list({of}), false), 1, {MOST_TOPS})" if spark else f"max({of}, {MOST_TOPS})"


def _asked(chosen: nw.LazyFrame[Any], says: str) -> Any:
    """A query of a plan, which it names by %s."""
    native: Any = chosen.to_native()
    if on_spark(chosen):
        return native.sparkSession.sql(says % "{sdckit__plan}", sdckit__plan=native)
    return native.query("sdckit__plan", says % "sdckit__plan")


def in_passes(sets: Sequence[Sequence[str]], bounds: Sequence[int], plan: Any = None) -> Iterator[list[int]]:
    """Sets of columns by number, as many in one pass as fit; `bounds`: rows that the table of each has at most."""
    batch: list[int] = []
    names: set[str] = set()
    rows, here = 0, memory.bytes_here(plan)
    for at, (own, bound) in enumerate(zip(sets, bounds, strict=True)):
        if batch and rows + bound > cells_within(len(names | set(own)), here):
            yield batch
            batch, names, rows = [], set(), 0
        batch.append(at)
        names |= set(own)
        rows += bound
    if batch:
        yield batch


# The tables of several files.


@dataclass(frozen=True, eq=False)
class Counts:
    """One table of several files: the codes of each of its variables, file by file, and the records of each row."""

    columns: list[tuple[Codes, ...]]
    sizes: tuple[Ints, ...]


@dataclass(frozen=True, eq=False)
class PairTables:
    """An original and its releases as plans, with the different values of some columns and their records.

    `frames` and `labels`: the files and their names in messages. `sizes`: records of each. `values`: for each column
    a row per value, file by file. `place`: the number of each column.
    """

    frames: tuple[nw.LazyFrame[Any], ...]
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    values: Mapping[str, Pair] = field(repr=False)
    place: Mapping[str, int] = field(repr=False)
    counted: dict[Any, Counts] = field(default_factory=dict, repr=False)  # tables of no more than KEPT rows

    def records(self, name: str) -> tuple[Ints, ...]:
        """Records with each value of a column, file by file."""
        return tuple(frame[SIZE].to_numpy() for frame in self.values[name].frames)

    def coding(self, name: str) -> SharedCoding:
        """A column as categories, coded value by value."""
        return replace(self.values[name].codes(name), times=self.records(name))

    def numbers(self, name: str) -> tuple[Floats, ...]:
        """The different values of a column as numbers, file by file; NaN where missing.

        Raises DataError: a file holds no numbers in it, or infinite ones.
        """
        for frame, label in zip(self.values[name].frames, self.labels, strict=True):
            if frame[name].dtype.is_float() and np.isinf(frame[name].to_numpy()).any():
                raise DataError(f"{label}: numeric {name!r} is infinite in some records")
        return self.values[name].numbers(name)

    def classes(self, name: str, bins: int) -> SharedCoding:
        """A number cut into classes at the quantiles of all files pooled."""
        return classes_of(name, self.numbers(name), bins, self.records(name))

    def count(self, sets: Sequence[Sequence[SharedCoding]]) -> list[Counts]:
        """Count tables of variables, coded as given; all that fit in one pass of each file, small ones once.

        Raises DataError: a table has more cells than fit here; records changed since the values were counted.
        """
        marks = [
            tuple((coding.name, coding.cut and coding.cut.edges.tobytes()) for coding in codings) for codings in sets
        ]
        new = {mark: codings for mark, codings in zip(marks, sets, strict=True) if mark not in self.counted}
        tables = dict(zip(new, self._count([*new.values()]), strict=True)) if new else {}
        self.counted.update((mark, table) for mark, table in tables.items() if sum(map(len, table.sizes)) <= KEPT)
        return [tables[mark] if mark in tables else self.counted[mark] for mark in marks]

    def _count(self, sets: Sequence[Sequence[SharedCoding]]) -> list[Counts]:
        names = [[self._own(coding.name) for coding in codings] for codings in sets]
        files = []
        for file in range(len(self.frames)):
            bounds = [self._bound(codings, file) for codings in sets]
            here = memory.bytes_here(self.frames[file])  # asked of the engine once, not for every table
            for own, bound, codings in zip(names, bounds, sets, strict=True):
                most = cells_within(len(own), here)
                if bound > most and (n_cells := self._n_cells(file, codings)) > most:
                    raise too_many(n_cells, len(own), most, self.frames[file])
            tables: dict[int, tuple[list[Codes], Ints]] = {}
            for batch in in_passes(names, bounds, self.frames[file]):
                counted = self._one_pass(file, [sets[at] for at in batch])
                tables.update(zip(batch, counted, strict=True))
            files.append([tables[at] for at in range(len(sets))])
        return [
            Counts(
                [tuple(parts[at][0][j] for parts in files) for j in range(len(codings))],
                tuple(parts[at][1] for parts in files),
            )
            for at, codings in enumerate(sets)
        ]

    def _one_pass(self, file: int, sets: Sequence[Sequence[SharedCoding]]) -> list[tuple[list[Codes], Ints]]:
        """Codes of the cells of each table of one file, variable by variable, and their records."""
        frame, used = self.frames[file], {coding.name: coding for codings in sets for coding in codings}
        columns = {self._own(name): self._expression(file, coding) for name, coding in used.items()}
        names = [[self._own(coding.name) for coding in codings] for codings in sets]
        known = {
            self._own(name): _plain(self.values[name].frames[file][name].to_arrow())
            for name, coding in used.items() if coding.cut is None
        }  # fmt: skip
        widths = {
            self._own(name): coding.n_levels + 1 if coding.cut is not None else len(known[self._own(name)])
            for name, coding in used.items()
        }
        if not on_spark(frame) or max(math.prod(widths[name] for name in own) for own in names) > spark_tables.CELLS:
            tables = count_sets(frame, columns, names)
            return [
                (
                    [self._coded(table.column(self._own(coding.name)), coding, file) for coding in codings],
                    table.column(SIZE).to_numpy(),
                )
                for table, codings in zip(tables, sets, strict=True)
            ]
        counted = spark_tables.count_on_workers(frame, columns, known, widths, names)
        return [
            (
                [
                    (own if coding.cut is not None else coding.codes[file][own]).astype(np.int32)
                    for own, coding in zip(places, codings, strict=True)
                ],
                records,
            )
            for (places, records), codings in zip(counted, sets, strict=True)
        ]

    def moments(self, name: str) -> list[tuple[float, float]]:
        """Mean of a number and sum of squares about it in each file; 0 of a number that is the same in all records."""
        out = []
        for values, records in zip(self.numbers(name), self.records(name), strict=True):
            known = ~np.isnan(values)
            mean = mean_of(values[known], records[known])
            squares = float(records[known] @ (values[known] - mean) ** 2)
            out.append((mean, squares if known.sum() > 1 else 0.0))
        return out

    def level_sums(
        self, categories: Sequence[SharedCoding], numbers: Mapping[str, Sequence[float]]
    ) -> list[list[tuple[Floats, Floats]]]:
        """For each file and category the records and the sum of each number by level, shape (p, levels).

        `numbers`: by name what is taken from each value first, file by file.
        """
        names = [self._own(coding.name) for coding in categories]
        out: list[list[tuple[Floats, Floats]]] = []
        for file, frame in enumerate(self.frames):
            columns = {self._own(coding.name): self._expression(file, coding) for coding in categories}
            inputs: dict[str, nw.Expr] = {}
            sums: dict[str, Sum] = {}
            for at, (name, centres) in enumerate(numbers.items()):
                value = self._number(file, name)
                inputs |= {f"{PREFIX}k{at}": _flag(value), f"{PREFIX}x{at}": value - centres[file]}
                sums |= {f"{PREFIX}n{at}": ("sum", f"{PREFIX}k{at}"), f"{PREFIX}s{at}": ("sum", f"{PREFIX}x{at}")}
            tables = count_sets(frame, columns, [[name] for name in names], inputs, sums) if names and sums else []
            parts = [[_floats(table.column(of)) for of in sums] for table in tables]
            out.append([(np.array(part[::2]), np.array(part[1::2])) for part in parts])
        return out

    def level_totals(
        self, categories: Sequence[SharedCoding], weight: str | None
    ) -> list[Callable[[int], list[tuple[float, float]]]]:
        """For each category a function of a level: the sum of weights and the largest in each file; else records."""
        if weight is None:
            return [partial(_counted, coding) for coding in categories]
        return [partial(_weighed, of_category) for of_category in self.level_weights(categories, weight)]

    def level_weights(self, categories: Sequence[SharedCoding], weight: str) -> list[list[Floats]]:
        """For each category and file the sum of weights by level, the largest, those above 0, and the sum of squares.

        Arrays of shape (4, levels + 1).
        """
        found: list[list[Floats]] = [[] for _ in categories]
        names, value = [self._own(coding.name) for coding in categories], nw.col(weight).cast(nw.Float64)
        sums: dict[str, Sum] = {
            f"{PREFIX}s": ("sum", f"{PREFIX}w"), f"{PREFIX}m": ("max", f"{PREFIX}a"),
            f"{PREFIX}n": ("sum", f"{PREFIX}p"), f"{PREFIX}q": ("sum", f"{PREFIX}ww"),
        }  # fmt: skip
        for file, frame in enumerate(self.frames):
            known = nw.when(~value.is_nan()).then(value)
            columns = {self._own(coding.name): self._expression(file, coding) for coding in categories}
            inputs = {
                f"{PREFIX}w": known, f"{PREFIX}a": known.abs(), f"{PREFIX}ww": known * known,
                f"{PREFIX}p": (known > 0).cast(nw.Int64).cast(nw.Float64),
            }  # fmt: skip
            tables = count_sets(frame, columns, [[name] for name in names], inputs, sums)
            for own, name, coding, table in zip(found, names, categories, tables, strict=True):
                whole = np.zeros((len(sums), coding.n_levels + 1))
                whole[:, self._coded(table.column(name), coding, file)] = [_floats(table.column(of)) for of in sums]
                own.append(whole)
        return found

    def largest_weights(self, coding: SharedCoding, file: int, weight: str, k: int, level: int, *, off: bool) -> Floats:
        """The k largest weights of the records of a file that have a level, or (`off`) another one."""
        here = ~nw.col(key := f"{PREFIX}k").is_null()
        if len(at := np.flatnonzero(coding.codes[file] == level)):
            same = nw.col(key) == nw.lit(self.values[coding.name].frames[file][coding.name][int(at[0])])
            here = here & (~same if off else same)
        elif not off:
            return np.empty(0)
        own = self.frames[file].select(
            self._expression(file, coding).alias(key), nw.col(weight).cast(nw.Float64).alias(f"{PREFIX}w")
        )
        return largest(own.filter(here), nw.col(f"{PREFIX}w"), k)

    def correlations(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Pearson's and Spearman's correlations of numbers in each file, shape (files, p, p); by pair of known values.

        The means are known from the values; the engine adds up the products of what is left of them, and of the
        middle ranks, which are joined to the records by value.
        """
        parts = [self._correlated(file, names) for file in range(len(self.frames))]
        return np.array([part[0] for part in parts]), np.array([part[1] for part in parts])

    def _correlated(self, file: int, names: Sequence[str]) -> tuple[Floats, Floats]:
        p, frame = len(names), self.frames[file]
        values = [self.numbers(name)[file] for name in names]
        both = self._together(file, names, values)
        centres = [mean_of(value, of[i]) for i, (value, of) in enumerate(zip(values, both, strict=True))]
        margins = [[_Margin.of(values[i], both[i][j], centres[i]) for j in range(p)] for i in range(p)]
        known = [~np.isnan(value) for value in values]
        complete = all(here.all() for here in known)
        own = [self._number(file, name) for name in names]
        ranked: list[list[nw.Expr]] = []
        for i, name in enumerate(names):
            figures = {
                f"{PREFIX}r{i}_{j}": pa.array(margins[i][j].ranks, mask=~known[i]) for j in range(1 if complete else p)
            }
            kind = frame.collect_schema()[name]
            key = KeyColumn.of(name, 0, kind)
            if kind == nw.Decimal:  # brought as it is
                key = replace(key, as_text=False, blank=nw.lit(0).cast(kind))
            table = self.values[name].frames[file].select(name).to_arrow()
            frame = attach(frame, [replace(key, has_missing=not known[i].all())], table, figures)
            ranked.append([nw.col(f"{PREFIX}r{i}_{0 if complete else j}") for j in range(p)])
        pairs = list(itertools.combinations(range(p), 2))
        asked = [((own[i] - margins[i][j].mean) * (own[j] - margins[j][i].mean)).sum() for i, j in pairs]
        asked += [(ranked[i][j] * ranked[j][i]).sum() for i, j in pairs]
        sums = [0.0 if math.isnan(value) else value for value in aggregate(frame, *asked)] if asked else []
        out = []
        for squares, found in (("squares", sums[: len(pairs)]), ("rank_squares", sums[len(pairs) :])):
            matrix = np.full((p, p), np.nan)
            for i in range(p):
                matrix[i, i] = math.nan if margins[i][i].constant else 1.0
            for (i, j), value in zip(pairs, found, strict=False):
                a, b = margins[i][j], margins[j][i]
                if not (a.constant or b.constant or (squares == "squares" and (a.flat or b.flat))):
                    spread = math.sqrt(getattr(a, squares)) * math.sqrt(getattr(b, squares))
                    matrix[i, j] = matrix[j, i] = min(1.0, max(-1.0, value / spread))
            out.append(matrix)
        return out[0], out[1]

    def _together(self, file: int, names: Sequence[str], values: Sequence[Floats]) -> list[list[Floats]]:
        """Records with each value of a number that have another number as well, number by number."""
        sizes = [
            np.where(np.isnan(value), 0.0, self.records(name)[file]) for name, value in zip(names, values, strict=True)
        ]
        if not any(np.isnan(value).any() for value in values):
            return [[size] * len(names) for size in sizes]
        inputs = {f"{PREFIX}k{j}": _flag(self._number(file, name)) for j, name in enumerate(names)}
        sums: dict[str, Sum] = {f"{PREFIX}n{j}": ("sum", f"{PREFIX}k{j}") for j in range(len(names))}
        out = []
        for name, size in zip(names, sizes, strict=True):
            own, coding = self._own(name), self.values[name].codes(name)
            (table,) = count_sets(self.frames[file], {own: self._raw(file, name)}, [[own]], inputs, sums)
            at = self._rows(table.column(own), name, file)
            of = []
            for column in sums:
                records = np.zeros(len(coding.codes[file]))
                records[at] = _floats(table.column(column))
                of.append(np.where(size > 0, records, 0.0))
            out.append(of)
        return out

    def _own(self, name: str) -> str:
        return f"{PREFIX}v{self.place[name]}"

    def _raw(self, file: int, name: str) -> nw.Expr:
        key = KeyColumn.of(name, 0, self.frames[file].collect_schema()[name])
        return key.one_zero(key.value)

    def _number(self, file: int, name: str) -> nw.Expr:
        return KeyColumn.of(name, 0, self.frames[file].collect_schema()[name]).value.cast(nw.Float64)

    def _expression(self, file: int, coding: SharedCoding) -> nw.Expr:
        """A variable as it is grouped by: its values, or the number of its class."""
        if coding.cut is None:
            return self._raw(file, coding.name)
        value, code = self._number(file, coding.name), nw.lit(1).cast(nw.Int64)
        for edge in coding.cut.edges[1:-1].tolist():
            code = code + (value >= edge).cast(nw.Int64)
        return nw.when(value.is_null()).then(nw.lit(0).cast(nw.Int64)).otherwise(code)

    def _coded(self, column: Any, coding: SharedCoding, file: int) -> Codes:
        """The codes of a column as the engine gave it."""
        if coding.cut is not None:
            codes: Codes = column.to_numpy().astype(np.int32)
            return codes
        return coding.codes[file][self._rows(column, coding.name, file)]

    def _rows(self, column: Any, name: str, file: int) -> Ints:
        """The row of each value among the different values of its column."""
        known, own = (_plain(values) for values in (self.values[name].frames[file][name].to_arrow(), column))
        rows = pc.index_in(own.cast(known.type), value_set=known)
        if rows.null_count:
            raise DataError(CHANGED)
        at: Ints = rows.to_numpy(zero_copy_only=False).astype(np.int64)
        return at

    def _bound(self, codings: Sequence[SharedCoding], file: int) -> int:
        return min(self.sizes[file], math.prod(coding.n_levels + 1 for coding in codings))

    def n_known(self, codings: Sequence[SharedCoding]) -> int:
        """How many combinations of some variables the original has, without those that lack a value."""
        return self._n_cells(0, codings, known=True)

    def _n_cells(self, file: int, codings: Sequence[SharedCoding], *, known: bool = False) -> int:
        own = [self._expression(file, coding).alias(self._own(coding.name)) for coding in codings]
        rows = self.frames[file].select(*own)
        return count_records((rows.drop_nulls() if known else rows).unique())


@dataclass(frozen=True, eq=False)
class _Margin:
    """One number among the records that have another one, too: its mean, sums of squares, and centred middle ranks."""

    mean: float
    squares: float
    rank_squares: float
    ranks: Floats
    constant: bool
    flat: bool

    @classmethod
    def of(cls, values: Floats, records: Floats, centre: float) -> _Margin:
        """From the different values of a number and the records of each; NaN has none. `centre`: mean of all."""
        n, safe, mean = float(records.sum()), np.nan_to_num(values), mean_of(values, records)
        at = np.unique(values, return_inverse=True)[1]  # whole numbers above 2^53 may be one number
        size = np.bincount(at, records)
        ranks = (np.cumsum(size) - (size - 1) / 2 - (n + 1) / 2)[at]
        squares = float(records @ (safe - mean) ** 2)
        return cls(
            mean, squares, float(records @ ranks**2), ranks, int((size > 0).sum()) < 2,
            squares <= FLAT * float(records @ (safe - centre) ** 2),
        )  # fmt: skip


def _counted(coding: SharedCoding, code: int) -> list[tuple[float, float]]:
    return [(float(of_file[code]), 1.0) for of_file in coding.counts]


def _weighed(files: Sequence[Floats], code: int) -> list[tuple[float, float]]:
    return [(float(of_file[0, code]), float(of_file[1, code])) for of_file in files]


def largest(frame: nw.LazyFrame[Any], value: nw.Expr, k: int) -> Floats:
    """The k largest numbers of a plan, the largest first; fewer where it has fewer.

    >>> import polars as pl
    >>> largest(nw.from_native(pl.LazyFrame({"x": [1.0, 3.0, 2.0]})), nw.col("x"), 2).tolist()
    [3.0, 2.0]
    """
    own = frame.select(value.alias(f"{PREFIX}top"))
    found = collect(own.filter(~nw.col(f"{PREFIX}top").is_null()).sort(f"{PREFIX}top", descending=True).head(k))
    return np.sort(found[f"{PREFIX}top"].to_numpy().astype(np.float64))[::-1]


def mean_of(values: Floats, records: Values) -> float:
    """Mean of a number, from its different values and the records of each; NaN has none.

    >>> mean_of(np.array([1.0, 4.0, np.nan]), np.array([2.0, 1.0, 0.0]))
    2.0
    """
    n, safe = float(records.sum()), np.nan_to_num(values)
    mean = float(records @ safe) / n if n else 0.0
    return mean + (float(records @ (safe - mean)) / n if n else 0.0)


def pair_tables(pair: Pair, names: Sequence[str], role: str = "variables") -> PairTables:
    """Bring the different values of some columns of plans, with their numbers of records; once for all measures.

    Raises ColumnError, DataError: a column is absent or of lists, a file has no records, or more values than fit here.
    """
    check_present([(frame, {role: names}, label) for frame, label in zip(pair.frames, pair.names, strict=True)])
    frames: Any = pair.frames
    made: list[PairTables] = pair.memo.setdefault(("tables",), [])
    for tables in made:
        if set(names) <= set(tables.values):
            return tables
    place = {name: at for at, name in enumerate(names)}
    sizes, values = [], []
    for frame, label in zip(frames, pair.names, strict=True):
        check_plan_names(frame, names, role)
        refuse_spans(frame, names)
        n = count_records(frame)
        pair_cells.check_records([n], [label])
        sizes.append(n)
        values.append(_values(frame, names, n))
    by_name = {name: open_files(values[0][name], [of[name] for of in values[1:]]) for name in names}
    made.append(PairTables(frames, pair.names, tuple(sizes), by_name, place))
    return made[-1]


def _values(frame: nw.LazyFrame[Any], names: Sequence[str], n: int) -> dict[str, pa.Table]:
    """For each column its different values, each with its records."""
    schema = frame.collect_schema()
    keys = [KeyColumn.of(name, 0, schema[name]) for name in names]
    own = {f"{PREFIX}v{at}": key.value for at, key in enumerate(keys)}
    bounds = [n] * len(names)
    if n * len(names) > (most := most_cells(len(names), frame)):
        bounds = [int(value) + 1 for value in aggregate(frame, *(key.value.n_unique() for key in keys))]
        if (many := max(bounds, default=0)) > most:
            raise too_many(many, 1, most, frame)
    sets, tables = [[name] for name in own], {}
    for batch in in_passes(sets, bounds, frame):
        used = {sets[at][0]: own[sets[at][0]] for at in batch}
        for at, table in zip(batch, count_sets(frame, used, [sets[at] for at in batch]), strict=True):
            tables[names[at]] = table.rename_columns([names[at], SIZE])
    return tables


def _flag(value: nw.Expr) -> nw.Expr:
    """Whether a value is known, as a number."""
    return (~value.is_null()).cast(nw.Int64).cast(nw.Float64)


def _floats(column: Any) -> Floats:
    """Sums of an engine; a sum of nothing is 0."""
    values: Floats = column.cast(pa.float64()).fill_null(0.0).to_numpy()
    return values


def _plain(values: Any) -> Any:
    """Values that can be looked up: no categories, one type of text, one zero (Polars leaves out adding 0)."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
    if pt.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    if pt.is_floating(whole.type):
        return pc.add(whole, pa.scalar(0.0, whole.type))
    return whole.cast(pa.large_string()) if pt.is_string(whole.type) or pt.is_string_view(whole.type) else whole


FLAT = 1e-12  # a sum of squares below this share of that about 0 is rounding error
