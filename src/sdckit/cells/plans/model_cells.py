"""The combinations of a model's columns in files that stay on an engine, with the weights of their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair, check_present, open_files
from sdckit.cells.plans import lazy, pair_cells, pair_sums, pair_tables
from sdckit.cells.plans.attach import attach
from sdckit.cells.plans.count_cells import PREFIX, SIZE, TooManyCellsError, aggregate, key_columns, most_cells, too_many
from sdckit.cells.plans.estimate_sums import WEIGHT, are_numbers, check_weights
from sdckit.data import pa, pc
from sdckit.data.frames import check_plan_names, collect, column_names, count_records, is_lazy, on_spark
from sdckit.numerics.array_types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class CellWeights:
    """Survey weights of the records of each cell: how many are above 0, their sum, that of their squares, the largest.

    `records`, `total`, `squares` (k,); `tops` (k, 4), 0 where a cell has fewer.
    """

    records: Floats
    total: Floats
    squares: Floats
    tops: Floats


@dataclass(frozen=True, eq=False)
class Within:
    """What the records of each of k cells have for an outcome, where a cell holds many outcomes.

    `off`: cells of records whose outcome is not the mode; all where the mode is that of few. `apart`: the sum of the
    weighted distances from the median, and (k, 4) the largest. `residuals`: of a fitted outcome of each cell the sum of
    the weighted squares of what is left, that of the squares of the weighted, and (k, 4) the largest without its sign.
    """

    off: Bools
    apart: tuple[Floats, Floats]
    residuals: Callable[[Floats], tuple[Floats, Floats, Floats]]

    def take(self, rows: Bools | Ints) -> Within:
        """Some of the cells."""

        def residuals(fitted: Floats) -> tuple[Floats, Floats, Floats]:
            whole = np.zeros(len(self.off))
            whole[rows] = fitted
            total, squares, tops = self.residuals(whole)
            return total[rows], squares[rows], tops[rows]

        return Within(self.off[rows], (self.apart[0][rows], self.apart[1][rows]), residuals)


@dataclass(frozen=True, eq=False)
class ModelCells:
    """Files as their cells, `pair.times` records each; with survey weights those of each file, else None.

    `within`: for each file, where the outcome is no key of the cells but has its mean there.
    """

    pair: Pair
    weights: list[CellWeights] | None
    within: list[Within] | None = None


def model_cells(opened: Pair, columns: Sequence[str], weight: str | None) -> ModelCells | None:
    """The cells of plans by some columns, missing values apart; None where they do not fit but the columns do.

    None, too, where a file is in memory.

    Raises ColumnError: a file lacks a column; DataError: no records, weights that cannot be, more cells than fit here.
    """
    if not all(map(is_lazy, opened.frames)) or not columns:
        return None
    files: list[tuple[Any, str]] = list(zip(opened.frames, opened.names, strict=True))
    own = {"formula": columns, **({} if weight is None else {"weight": (weight,)})}
    check_present([(frame, own, label) for frame, label in files])
    for frame, _ in files:
        check_plan_names(frame, columns, "formula")
    sizes = [count_records(frame) for frame, _ in files]
    pair_cells.check_records(sizes, opened.names)
    if weight is not None:
        check_weights(opened, weight)
    try:
        counted = [_counted(frame, columns, weight, n) for (frame, _), n in zip(files, sizes, strict=True)]
    except TooManyCellsError as error:
        try:
            lazy.check_collected(max(sizes), sum(map(len, own.values())), files[0][0], len(files))
        except lazy.TooMuchError:
            raise error from None
        return None
    tables = [table for table, _, _ in counted]
    pair = replace(open_files(tables[0], tables[1:]), times=tuple(times for _, times, _ in counted))
    return ModelCells(pair, None if weight is None else [weights for _, _, weights in counted])


def outcome_cells(opened: Pair, outcome: str, columns: Sequence[str], weight: str | None) -> ModelCells | None:
    """As `model_cells` by the columns of the terms alone, for a number of many values; None where that is not so.

    None, too, where a key has a type that is brought as another one, and on Spark, where it was not made to work.
    """
    frames: Any = opened.frames
    if outcome in columns or not are_numbers(opened, [outcome]) or any(map(on_spark, frames)):
        return None
    named = [*columns, *([] if weight is None else [weight])]
    if any(name not in column_names(frame) for frame in frames for name in named):
        return None  # `model_cells` says what is absent
    keys = [key_columns(frame, columns) for frame in frames]
    if any(key.as_text or key.as_number for own in keys for key in own):
        return None
    if weight is not None:
        check_weights(opened, weight)
    files = [_Outcomes.of(frame, outcome, columns, weight) for frame in frames]
    if any(file is None for file in files):
        return None
    try:
        counted = [file.counted() for file in files if file is not None]
    except TooManyCellsError:
        return None
    tables = [table.append_column(outcome, pa.array(means)) for table, _, _, (means, _) in counted]
    pair = replace(open_files(tables[0], tables[1:]), times=tuple(own[1] for own in counted))
    return ModelCells(pair, None if weight is None else [own[2] for own in counted], [own[3][1] for own in counted])


ROW, FLAG, OUTCOME = f"{PREFIX}row", f"{PREFIX}flag", f"{PREFIX}y"
MANY = 1000  # values of an outcome from which it is no key of the cells


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """One file as columns of this module, with the median and the mode of the outcome among the records used."""

    plan: nw.LazyFrame[Any]
    columns: tuple[str, ...]
    weighted: bool
    median: float
    n: int

    @property
    def keys(self) -> list[str]:
        return [f"{PREFIX}v{at}" for at in range(len(self.columns))]

    @classmethod
    def of(cls, frame: nw.LazyFrame[Any], outcome: str, columns: Sequence[str], weight: str | None) -> _Outcomes | None:
        check_plan_names(frame, [outcome, *columns], "formula")
        own = {f"{PREFIX}v{at}": key.value for at, key in enumerate(key_columns(frame, columns))}
        weigh = nw.lit(1.0) if weight is None else pair_sums.known_number(weight)
        plan = frame.select(
            *(value.alias(name) for name, value in own.items()), pair_sums.known_number(outcome).alias(OUTCOME),
            weigh.alias(WEIGHT),
        )  # fmt: skip
        y = nw.col(OUTCOME)
        complete = nw.all_horizontal(*(~nw.col(name).is_null() for name in [*own, OUTCOME]), ignore_nulls=False)
        known, used = nw.when(complete).then(y), nw.when(complete & (nw.col(WEIGHT) > 0)).then(y)
        found = aggregate(plan, nw.len(), used.count(), known.n_unique(), used.median(), y.min(), y.max())
        n, n_used, n_values, median, low, high = np.nan_to_num(found, posinf=np.inf, neginf=-np.inf).tolist()
        if not n_used or n_values <= MANY or np.isinf([low, high, high - low]).any():
            return None
        counts = (
            plan.select(used.alias(OUTCOME)).drop_nulls().group_by(OUTCOME).agg(nw.len().cast(nw.Int64).alias(SIZE))
        )
        first = collect(counts.sort(SIZE, OUTCOME, descending=[True, False]).head(1))
        mode = float(first[OUTCOME][0]) if int(first[SIZE][0]) >= pair_tables.MOST_TOPS + 1 else None
        off = nw.lit(1).cast(nw.Int64) if mode is None else (y != mode).cast(nw.Int64)
        flagged = plan.with_columns(nw.when(~y.is_null()).then(off).alias(FLAG))
        return cls(flagged, tuple(columns), weight is not None, median, int(n))

    def counted(self) -> tuple[Any, Ints, CellWeights, tuple[Floats, Within]]:
        """Keys, records, weights; the mean of the outcome in each cell, and what is within."""
        keys, w = [*self.keys, FLAG], nw.col(WEIGHT)
        most = most_cells(len(keys) + 2 * pair_tables.MOST_TOPS + 6, self.plan)
        if self.n > most and (many := count_records(self.plan.select(*keys).unique())) > most:
            raise too_many(many, len(self.columns), most, self.plan)
        apart = nw.col(OUTCOME) - self.median
        inputs = {f"{WEIGHT}w": w * w, f"{WEIGHT}p": (w > 0).cast(nw.Int64).cast(nw.Float64), f"{PREFIX}c": apart,
                  f"{PREFIX}wc": w * apart, f"{PREFIX}ac": (w * apart).abs(), WEIGHT: w}  # fmt: skip
        sums: dict[str, pair_tables.Sum] = {
            f"{PREFIX}n": ("sum", f"{WEIGHT}p"), f"{PREFIX}s": ("sum", WEIGHT), f"{PREFIX}q": ("sum", f"{WEIGHT}w"),
            f"{PREFIX}m": ("sum", f"{PREFIX}c"), f"{PREFIX}b": ("sum", f"{PREFIX}wc"),
            f"{PREFIX}a": ("sum", f"{PREFIX}ac"), f"{PREFIX}t": ("tops", f"{PREFIX}ac"),
            **({f"{PREFIX}h": ("tops", WEIGHT)} if self.weighted else {}),
        }  # fmt: skip
        (table,) = pair_tables.count_sets(self.plan, {name: nw.col(name) for name in keys}, [keys], inputs, sums)
        times = table.column(SIZE).to_numpy().astype(np.int64)
        n, s, q, m, b, a = (_numbers(table.column(f"{PREFIX}{part}")) for part in "nsqmba")
        tops = _padded(table.column(f"{PREFIX}h")) if self.weighted else np.empty((0, pair_tables.MOST_TOPS))
        with np.errstate(divide="ignore", invalid="ignore"):
            means = self.median + np.where(s > 0, b / s, m / times)
        flags = table.column(FLAG)
        means[flags.is_null().to_numpy()] = np.nan
        off = flags.fill_null(1).to_numpy() == 1
        rows, memo = table.select(keys), [(np.empty(0), (n, n, tops))]

        def residuals(fitted: Floats) -> tuple[Floats, Floats, Floats]:
            if len(memo[-1][0]) == 0 or not np.allclose(memo[-1][0], fitted, rtol=1e-10, atol=0.0):
                memo.append((fitted, self._residuals(rows, fitted)))
            return memo[-1][1]

        within = Within(off, (a, _padded(table.column(f"{PREFIX}t"))), residuals)
        named = table.select(self.keys).rename_columns(list(self.columns))
        return named, times, CellWeights(n, s, q, tops), (means, within)

    def _residuals(self, rows: Any, fitted: Floats) -> tuple[Floats, Floats, Floats]:
        keys = key_columns(self.plan, [*self.keys, FLAG])
        figures = {ROW: np.arange(len(fitted)), f"{PREFIX}f": fitted}
        plan = attach(self.plan, keys, rows, figures)
        rest = nw.col(OUTCOME) - nw.col(f"{PREFIX}f")
        weighed = nw.col(WEIGHT) * rest
        inputs = {f"{PREFIX}e": weighed * rest, f"{PREFIX}ee": weighed * weighed, f"{PREFIX}ae": weighed.abs()}
        sums: dict[str, pair_tables.Sum] = {
            f"{PREFIX}s": ("sum", f"{PREFIX}e"), f"{PREFIX}q": ("sum", f"{PREFIX}ee"),
            f"{PREFIX}t": ("tops", f"{PREFIX}ae"),
        }  # fmt: skip
        (table,) = pair_tables.count_sets(plan, {ROW: nw.col(ROW)}, [[ROW]], inputs, sums)
        order = np.argsort(table.column(ROW).to_numpy())
        total, squares = (_numbers(table.column(f"{PREFIX}{part}"))[order] for part in "sq")
        return total, squares, _padded(table.column(f"{PREFIX}t"))[order]


def _numbers(column: Any) -> Floats:
    values: Floats = column.cast(pa.float64()).fill_null(0.0).to_numpy().copy()
    return values


def _counted(frame: nw.LazyFrame[Any], columns: Sequence[str], weight: str | None, n: int) -> tuple[Any, Any, Any]:
    keys = {f"{PREFIX}v{at}": key.value for at, key in enumerate(key_columns(frame, columns))}
    most = most_cells(len(keys) + (0 if weight is None else pair_tables.MOST_TOPS + 3), frame)
    if n > most:
        rows = frame.select(*(value.alias(name) for name, value in keys.items())).unique()
        if (many := count_records(rows)) > most:
            raise too_many(many, len(keys), most, frame)
    inputs: dict[str, nw.Expr] = {}
    sums: dict[str, pair_tables.Sum] = {}
    if weight is not None:
        value = pair_sums.known_number(weight)
        inputs = {WEIGHT: value, f"{WEIGHT}w": value * value, f"{WEIGHT}p": (value > 0).cast(nw.Int64).cast(nw.Float64)}
        sums = {
            f"{PREFIX}n": ("sum", f"{WEIGHT}p"), f"{PREFIX}s": ("sum", WEIGHT), f"{PREFIX}q": ("sum", f"{WEIGHT}w"),
            f"{PREFIX}t": ("tops", WEIGHT),
        }  # fmt: skip
    (table,) = pair_tables.count_sets(frame, keys, [list(keys)], inputs, sums)
    times = table.column(SIZE).to_numpy().astype(np.int64)
    weights = None
    if weight is not None:
        records, total, squares = (table.column(f"{PREFIX}{part}").to_numpy().astype(np.float64) for part in "nsq")
        weights = CellWeights(records, total, squares, _padded(table.column(f"{PREFIX}t")))
    return table.select(list(keys)).rename_columns(list(columns)), times, weights


def _padded(lists: Any) -> Floats:
    """Lists of numbers as rows, descending, with 0 behind those of shorter ones."""
    out = np.zeros((len(lists), pair_tables.MOST_TOPS))
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy()
    out[np.arange(pair_tables.MOST_TOPS) < lengths[:, None]] = pc.list_flatten(lists).fill_null(0.0).to_numpy()
    return -np.sort(-out, axis=1)
