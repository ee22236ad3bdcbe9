"""Sums over rows that belong together, of an original and its releases that are plans of one engine.

The engine joins the files by the id. Numbers are summed up there, about their means; of categories the joint cells of
each variable come here. No record does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair, open_files
from sdckit.cells.plans import pair_cells, pair_tables
from sdckit.cells.plans.count_cells import PREFIX, SIZE, aggregate, cells_within, count, key_columns, too_many
from sdckit.cells.plans.pair_sums import check_known, known_number
from sdckit.data import memory, pl
from sdckit.data.frames import (
    as_plan,
    carried_out,
    check_plan_names,
    collect,
    column_names,
    count_records,
    is_lazy,
    on_spark,
)
from sdckit.numerics.array_types import Floats

WHOLE = f"{PREFIX}whole"  # before the number of a release: whether a row has all numbers in it and in the original


@dataclass(frozen=True, eq=False)
class Margins:
    """Each of p numbers in one file, shape (p,): known values, ends, mean, median, sum of squares about the mean."""

    n: Floats
    low: Floats
    high: Floats
    mean: Floats
    median: Floats
    squares: Floats

    @property
    def spread(self) -> Floats:
        """Standard deviations (ddof 1): 0 where all values are equal, NaN of fewer than two, or too large ones."""
        with np.errstate(divide="ignore", invalid="ignore"):
            spread: Floats = np.where(
                (self.n < 2) | np.isinf(self.squares), np.nan, np.sqrt(self.squares / (self.n - 1))
            )
        return spread


@dataclass(frozen=True, eq=False)
class Apart:
    """How far p numbers of the original (x) and of one release (y) lie apart; shape (p,) unless said otherwise.

    `relative`: the sum of |x - y| / |x|, over `n_relative` records; `apart`: of |x - y|, over the `n_both` that have
    both; `angles`: of the arc tangents of |x - y|. `n_single`: records that have one of them. `n_other`: with another
    value. `n_complete`: records that have all numbers in both files; `covariance` (2, p, p): of these, by file.
    """

    relative: Floats
    n_relative: Floats
    apart: Floats
    n_both: Floats
    angles: Floats
    n_single: Floats
    n_other: Floats
    n_complete: int
    covariance: Floats


@dataclass(frozen=True, eq=False)
class Joined:
    """An original and its releases as one plan, a row for each id; `files`: each by itself.

    `places`: for each file the columns here of `numbers` and `categories`, in this order. `sizes`: records of each.
    """

    frame: nw.LazyFrame[Any]
    places: list[list[str]]
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    sizes: tuple[int, ...]
    id: str
    labels: tuple[str, ...]
    files: tuple[nw.LazyFrame[Any], ...]

    def check(self) -> None:
        """Count the rows, where nothing else is asked of them.

        Raises DataError: an id that a file lacks.
        """
        pair_cells.check_together(count_records(self.frame), self.sizes, self.id, self.labels)

    def cells(self) -> dict[str, Pair]:
        """For each category its joint cells in all files, all counted in one pass.

        Raises TooManyCellsError: more than fit here.
        """
        first = len(self.numbers)
        sets = [[own[first + at] for own in self.places] for at in range(len(self.categories))]
        if not sets:
            return {}
        keys = {name: key.value for own in sets for name, key in zip(own, key_columns(self.frame, own), strict=True)}
        here = memory.bytes_here(self.frame)
        for own in sets:
            most = cells_within(len(own) * len(sets), here)
            if max(self.sizes) > most and (many := count_records(self.frame.select(*own).unique())) > most:
                raise too_many(many, len(own), most, self.frame)
        out = {}
        for name, own, table in zip(self.categories, sets, pair_tables.count_sets(self.frame, keys, sets), strict=True):
            files = [table.select([column]).rename_columns([name]) for column in own]
            times = table.column(SIZE).to_numpy().astype(np.int64)
            pair_cells.check_together(int(times.sum()), self.sizes, self.id, self.labels)
            out[name] = replace(open_files(files[0], files[1:]), aligned=True, times=(times,) * len(files))
        return out

    def sums(self) -> tuple[list[Margins], list[Apart]]:
        """Of the numbers what each file says, and how far each release lies apart.

        Raises DataError: a file holds no value of a number, infinite ones, or a span that no number can say.
        """
        p, m = len(self.numbers), len(self.places) - 1
        if not p:
            none, n = np.empty(0), self.sizes[0]
            apart = Apart(none, none, none, none, none, none, none, n, np.empty((2, 0, 0)))
            return [Margins(none, none, none, none, none, none)] * (m + 1), [apart] * m
        own = [names[:p] for names in self.places]
        # As columns: conditions written out in each of the sums take more time than the sums.
        frame = self.frame.with_columns(
            nw.all_horizontal(*(~nw.col(name).is_null() for name in (*own[0], *names)), ignore_nulls=False)
            .alias(f"{WHOLE}{j}")
            for j, names in enumerate(own[1:], 1)
        )  # fmt: skip
        ends, centres = self._ends(frame, own)
        frame = _apart(frame, own, centres)
        asked: list[nw.Expr] = []
        for names, middle in zip(own, ends[:, :, 3], strict=True):
            about = [nw.col(name) - mean for name, mean in zip(names, middle.tolist(), strict=True)]
            asked += [value.sum() for value in about] + [(value * value).sum() for value in about]
        for j in range(1, m + 1):
            asked += self._of_release(own, j)
        values = np.nan_to_num(aggregate(frame, *asked), posinf=np.inf)
        margins = []
        for j in range(m + 1):
            shift, squares = values[2 * p * j : 2 * p * (j + 1)].reshape(2, p)
            n, low, high, mean, median = ends[j].T
            squares = np.where(low == high, 0.0, squares - shift**2 / n)
            margins.append(Margins(n, low, high, np.where(low == high, low, mean + shift / n), median, squares))
        return margins, [self._read(row) for row in values[2 * p * (m + 1) :].reshape(m, -1)]

    def _ends(self, frame: nw.LazyFrame[Any], own: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
        """Known values, ends, mean and median of each number, and means of complete records by release and file."""
        asked = []
        fit = medians_fit(self.frame, max(self.sizes) * len(own) * len(self.numbers))
        for value in (nw.col(name) for names in own for name in names):
            asked += [value.count(), value.min(), value.max(), value.mean(), value.median() if fit else value.min()]
        for j, names in enumerate(own[1:], 1):
            asked += [nw.when(nw.col(f"{WHOLE}{j}")).then(nw.col(name)).mean() for name in (*own[0], *names)]
        n, *values = aggregate(frame, nw.len(), *asked)
        pair_cells.check_together(int(n), self.sizes, self.id, self.labels)
        size = 5 * len(own) * len(own[0])
        found = np.array(values[:size]).reshape(-1, 5)
        p = len(self.numbers)
        for at, (n, low, high, *_) in enumerate(np.nan_to_num(found, posinf=np.inf, neginf=-np.inf).tolist()):
            check_known(self.labels[at // p], self.numbers[at % p], n, low, high)
        if not fit:
            found[:, 4] = [narrowed_median(file, known_number(name)) for file in self.files for name in self.numbers]
        centres = np.nan_to_num(values[size:]).reshape(len(own) - 1, 2, p)
        return found.reshape(len(own), p, 5), centres

    def _of_release(self, own: Sequence[Sequence[str]], j: int) -> list[nw.Expr]:
        asked: list[nw.Expr] = []
        for x, y in zip(own[0], own[j], strict=True):
            before, after, apart = nw.col(x), nw.col(y), nw.col(f"{y}_apart")
            some = ~apart.is_null() & (before != 0)
            asked += [
                nw.when(some).then(apart / nw.when(some).then(before.abs()).otherwise(1.0)).sum(),
                count(some.fill_null(False)), apart.sum(), apart.count(), nw.col(f"{y}_angle").sum(),
                count(before.is_null() != after.is_null()), count((apart > 0).fill_null(False)),
            ]  # fmt: skip
        asked.append(count(nw.col(f"{WHOLE}{j}")))
        for names in (own[0], own[j]):
            rest = [nw.col(f"{name}_centred{j}") for name in names]
            asked += [value.sum() for value in rest] + [value.min() for value in rest] + [value.max() for value in rest]
            asked += [(a * b).sum() for a, b in combinations_with_replacement(rest, 2)]
        return asked

    def _read(self, row: Floats) -> Apart:
        p = len(self.numbers)
        single, row = row[: 7 * p].reshape(p, 7).T, row[7 * p :]
        n, row = row[0], row[1:]
        covariance = np.full((2, p, p), np.nan)
        for matrix, part in zip(covariance, row.reshape(2, -1), strict=True):
            if n < 2:
                break
            totals, low, high = part[: 3 * p].reshape(3, p)
            at = np.triu_indices(p)
            matrix[at] = (part[3 * p :] - totals[at[0]] * totals[at[1]] / n) / (n - 1)
            matrix.T[at] = matrix[at]
            matrix[low == high], matrix[:, low == high] = 0.0, 0.0
        relative, n_relative, apart, n_both, angles, n_single, n_apart = single
        return Apart(relative, n_relative, apart, n_both, angles, n_single, n_single + n_apart, int(n), covariance)


def _apart(frame: nw.LazyFrame[Any], own: Sequence[Sequence[str]], centres: Floats) -> nw.LazyFrame[Any]:
    """The plan with how far numbers of a release lie apart, the arc tangents of it, and complete rows about means."""
    pairs = [pair for names in own[1:] for pair in zip(own[0], names, strict=True)]
    made = [(nw.col(x) - nw.col(y)).abs().alias(f"{y}_apart") for x, y in pairs]
    for j, (before, after) in enumerate(centres.tolist(), 1):
        for name, mean in zip((*own[0], *own[j]), (*before, *after), strict=True):
            centred = nw.when(nw.col(f"{WHOLE}{j}")).then(nw.col(name) - mean)
            made.append(centred.alias(f"{name}_centred{j}"))
    return arc_tangents(frame.with_columns(*made), {f"{y}_angle": f"{y}_apart" for _, y in pairs})


def arc_tangents(frame: nw.LazyFrame[Any], columns: dict[str, str]) -> nw.LazyFrame[Any]:
    """The plan with the arc tangents of some columns under new names, by the engine's own function.

    >>> plan = nw.from_native(pl.LazyFrame({"x": [0.0, 1.0]}))
    >>> arc_tangents(plan, {"angle": "x"}).collect()["angle"].round(4).to_list()
    [0.0, 0.7854]
    """
    native: Any = frame.to_native()
    if frame.implementation.is_polars():
        made = native.with_columns(pl.col(of).arctan().alias(name) for name, of in columns.items())
    else:
        listed = ["*", *(f"atan({of}) AS {name}" for name, of in columns.items())]
        made = carried_out(lambda: native.selectExpr(*listed) if on_spark(frame) else native.project(", ".join(listed)))
    return as_plan(made)


def join_pair(opened: Pair, numbers: Sequence[str], categories: Sequence[str]) -> Joined | None:
    """The files of a pair as one plan; None where they are not on one engine, or their columns do not come alike.

    Raises DataError: no records; an id that does not name each row once, and the same rows in every file.
    """
    frames: Any = opened.frames
    if opened.id is None or not all(map(is_lazy, frames)):
        return None
    columns = (*numbers, *categories)
    if any(name not in column_names(frame) for frame in frames for name in (opened.id, *columns)):
        return None
    schemas = [frame.collect_schema() for frame in frames]
    if not all(schema[name].is_numeric() for schema in schemas for name in numbers):
        return None
    if not pair_cells.can_count(frames, categories) or not pair_cells.are_joined(frames, opened.id):
        return None
    for frame in frames:
        check_plan_names(frame, columns)
    sizes = opened.records_by_id(frames)
    opened.memo["sizes",] = tuple(sizes)
    pair_cells.check_records(sizes, opened.names)
    read = {name: known_number(name) for name in numbers}
    joined, places = pair_cells.join_files(frames, columns, opened.id, [read] * len(frames))
    return Joined(
        joined, places, tuple(numbers), tuple(categories), tuple(sizes), opened.id, opened.names, tuple(frames)
    )


# Medians of more numbers than an engine may hold: it counts how many lie in each of many intervals, ever narrower.


INTERVALS = 4096
PER_NUMBER = 40  # bytes that DuckDB takes for each number of a median, beside the join: 20 are too few


def medians_fit(frame: nw.LazyFrame[Any], numbers: int) -> bool:
    """Whether the engine of a plan may hold so many numbers, to put them in order."""
    here = memory.bytes_here(frame)
    return here is None or numbers * PER_NUMBER <= here


def narrowed_median(frame: nw.LazyFrame[Any], value: nw.Expr) -> float:
    """The median of the known values of a number, all finite; NaN where there is none. A few passes of the plan.

    >>> import polars as pl
    >>> narrowed_median(nw.from_native(pl.LazyFrame({"x": [1.0, 7.0, 2.0, 4.0, None]})), nw.col("x"))
    3.0
    """
    own = nw.col(f"{PREFIX}x")
    numbers = frame.select(value.alias(f"{PREFIX}x"))
    n, low, high = aggregate(numbers, own.count(), own.min(), own.max())
    if not n:
        return float("nan")
    middle = _at(numbers, (int(n) - 1) // 2, low, high)
    if n % 2:
        return middle
    through, above = aggregate(numbers, count((own <= middle).fill_null(False)), nw.when(own > middle).then(own).min())
    return middle if through > n // 2 else middle + (above - middle) / 2


def _at(numbers: nw.LazyFrame[Any], rank: int, low: float, high: float) -> float:
    """The value at a rank, from 0, of those between two of them in ascending order."""
    own, place = nw.col(f"{PREFIX}x"), f"{PREFIX}place"
    while low < high:
        interval = ((own - low) / (high - low) * INTERVALS).floor()
        inside = numbers.filter((own >= low) & (own <= high)).select(own, interval.alias(place))
        counted = collect(inside.group_by(place).agg(
            nw.len().alias(SIZE), own.min().alias(f"{PREFIX}low"), own.max().alias(f"{PREFIX}high")
        )).sort(place)  # fmt: skip
        sizes = counted[SIZE].to_numpy().astype(np.int64)
        ends = np.cumsum(sizes)
        at = int(np.searchsorted(ends, rank, side="right"))
        rank -= int(ends[at] - sizes[at])
        low, high = (float(counted[f"{PREFIX}{end}"][at]) for end in ("low", "high"))
    return low
