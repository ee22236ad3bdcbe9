"""Sums from which estimates of plans follow, with their variances: added up by the engine, in two passes of a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair
from sdckit.cells.plans.count_cells import PREFIX, SIZE, aggregate, count, most_cells, too_many
from sdckit.cells.plans.pair_cells import check_records
from sdckit.cells.plans.pair_sums import check_known, known_number
from sdckit.cells.plans.pair_tables import Sum, count_sets, in_passes, largest
from sdckit.data.frames import check_plan_names, column_names, is_lazy
from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats

WEIGHT = f"{PREFIX}w"


@dataclass(frozen=True, eq=False)
class EstimateSums:
    """One number of one file, x, with weights w; of the records that have a value.

    `n`: records; `used`: those of a weight above 0, whose median is `median`. `weights`, `squares`, `heaviest`: sum of
    w, of w², the largest. `total`: sum of wx; `about_total`: of the squares of wx about its mean; `about_mean`: of
    w²(x - mean)². `off`: records used whose value is not the median. `apart`: sum of w|x - median|, and the largest;
    `furthest`: largest w²(x - mean)². `tops`: by name ("w", "apart", "about") a function of k, the k largest.
    """

    n: int
    used: int
    weights: float
    squares: float
    heaviest: float
    mean: float
    median: float
    total: float
    about_total: float
    about_mean: float
    off: int
    apart: tuple[float, float]
    furthest: float
    tops: dict[str, Callable[[int], Floats]] = field(repr=False)


def are_numbers(pair: Pair, names: Sequence[str]) -> bool:
    """Whether all files are plans that have these columns, as numbers."""
    frames: Any = pair.frames
    return all(map(is_lazy, frames)) and all(
        name in column_names(frame) and frame.collect_schema()[name].is_numeric() for frame in frames for name in names
    )


def check_weights(pair: Pair, weight: str) -> None:
    """Check survey weights of plans: numbers, none missing or negative, some above 0.

    Raises DataError: another one; names the file.
    """
    frames: Any = pair.frames
    for frame, label in zip(frames, pair.names, strict=True):
        check_plan_names(frame, [weight], "weight")
        value = known_number(weight)
        n, known, low, high = aggregate(frame, nw.len(), value.count(), value.min(), value.max())
        check_records([int(n)], [label])
        check_known(label, weight, known, low, high, "weight")
        if known < n or low < 0:
            kind = f"missing in {counted(int(n - known), 'record')}" if known < n else "negative in some records"
            raise DataError(f"{label}: weight {weight!r} is {kind}")
        if high == 0:
            raise DataError(f"{label}: weight {weight!r} is 0 in every row")


def estimate_sums(pair: Pair, names: Sequence[str], weight: str | None) -> list[list[EstimateSums]]:
    """For each file the sums of each number.

    Raises DataError: a file has no records, or no value of a number, infinite ones, or a span that no number can say.
    """
    frames: Any = pair.frames
    return [_of_file(frame, label, names, weight) for frame, label in zip(frames, pair.names, strict=True)]


def _of_file(frame: nw.LazyFrame[Any], label: str, names: Sequence[str], weight: str | None) -> list[EstimateSums]:
    check_plan_names(frame, names, "variables")
    own = [f"{PREFIX}x{at}" for at in range(len(names))]
    weigh = nw.lit(1.0) if weight is None else known_number(weight)
    plan = frame.select(
        *(known_number(name).alias(new) for name, new in zip(names, own, strict=True)), weigh.alias(WEIGHT)
    )
    w = nw.col(WEIGHT)
    asked = [nw.len()]
    for x in map(nw.col, own):
        known = nw.when(~x.is_null()).then(w)
        asked += [
            x.count(), count((known > 0).fill_null(False)), known.sum(), (known * known).sum(), known.max(),
            (w * x).sum(), nw.when(w > 0).then(x).median(), x.min(), x.max(), (w * x).min(), (w * x).max(),
        ]  # fmt: skip
    n, *values = np.nan_to_num(aggregate(plan, *asked), posinf=np.inf, neginf=-np.inf).tolist()
    check_records([int(n)], [label])
    first = np.array(values).reshape(len(names), -1)
    _check(label, names, first[:, [0, 7, 8]])
    with np.errstate(divide="ignore", invalid="ignore"):
        means, centres = (np.nan_to_num(first[:, 5] / first[:, at]) for at in (2, 0))
    about: list[dict[str, nw.Expr]] = []
    asked = []
    for name, mean, centre, row in zip(own, means.tolist(), centres.tolist(), first, strict=True):
        x = nw.col(name)
        used = nw.when(w > 0).then(x)
        apart, rest, total = (w * (used - row[6])).abs(), w * (x - mean), w * x - centre
        about.append({"w": nw.when(~used.is_null()).then(w), "apart": apart, "about": rest * rest})
        asked += [
            rest.sum(), (rest * rest).sum(), (w * rest).sum(), total.sum(), (total * total).sum(),
            count((used != row[6]).fill_null(False)), apart.sum(), apart.max(), (rest * rest).max(),
        ]  # fmt: skip
    second = np.nan_to_num(aggregate(plan, *asked), posinf=np.inf).reshape(len(names), -1)
    return [
        _sums(before, after, mean, {key: partial(largest, plan, value) for key, value in tops.items()})
        for before, after, mean, tops in zip(first.tolist(), second.tolist(), means.tolist(), about, strict=True)
    ]


def _check(label: str, names: Sequence[str], facts: Floats) -> None:
    for name, (n, low, high) in zip(names, facts.tolist(), strict=True):
        check_known(label, name, n, low, high, "variables")


def _sums(
    before: Sequence[float], after: Sequence[float], mean: float, tops: dict[str, Callable[[int], Floats]]
) -> EstimateSums:
    n, used, weights, squares, heaviest, total, median, *_, low_total, high_total = before
    rest, about, weighed, off_total, about_total, off, apart, most_apart, furthest = after
    shift = rest / weights if weights else 0.0
    mean, about = mean + shift, max(0.0, about - 2 * shift * weighed + shift * shift * squares)
    if used and not off:  # one value: what rounding leaves is no spread
        mean, about, furthest = median, 0.0, 0.0
    about_total = 0.0 if low_total == high_total else max(0.0, about_total - off_total**2 / n)
    return EstimateSums(
        int(n), int(used), weights, squares, heaviest, mean, median, total + off_total,
        about_total, about, int(off), (apart, most_apart), furthest, tops,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class DistinctValues:
    """The different values of a number of one file, ascending; and of each its records, sum of weights and of squares.

    Weights are 1 where there are none.
    """

    values: Floats
    records: Floats
    weights: Floats
    squares: Floats


def distinct_values(pair: Pair, names: Sequence[str], weight: str | None) -> list[list[DistinctValues]]:
    """For each file the different values of each number.

    Raises TooManyCellsError: more than fit here; DataError: as `estimate_sums`.
    """
    frames: Any = pair.frames
    return [_distinct(frame, label, names, weight) for frame, label in zip(frames, pair.names, strict=True)]


def _distinct(frame: nw.LazyFrame[Any], label: str, names: Sequence[str], weight: str | None) -> list[DistinctValues]:
    check_plan_names(frame, names, "variables")
    own = {f"{PREFIX}x{at}": known_number(name) for at, name in enumerate(names)}
    asked = [what for value in own.values() for what in (value.count(), value.min(), value.max(), value.n_unique())]
    n, *facts = np.nan_to_num(aggregate(frame, nw.len(), *asked), posinf=np.inf, neginf=-np.inf).tolist()
    check_records([int(n)], [label])
    by_name = np.array(facts).reshape(-1, 4)
    _check(label, names, by_name[:, :3])
    many, most = int(by_name[:, 3].max()) + 1, most_cells(len(names), frame)
    if many > most:
        raise too_many(many, 1, most, frame)
    inputs: dict[str, nw.Expr] = {}
    sums: dict[str, Sum] = {}
    if weight is not None:
        inputs = {WEIGHT: known_number(weight), f"{WEIGHT}w": known_number(weight) * known_number(weight)}
        sums = {f"{PREFIX}s": ("sum", WEIGHT), f"{PREFIX}q": ("sum", f"{WEIGHT}w")}
    sets = [[name] for name in own]
    out: dict[int, DistinctValues] = {}
    for batch in in_passes(sets, (by_name[:, 3] + 1).astype(int).tolist(), frame):
        tables = count_sets(frame, {sets[at][0]: own[sets[at][0]] for at in batch}, [sets[at] for at in batch],
                            inputs, sums)  # fmt: skip
        for at, table in zip(batch, tables, strict=True):
            values, *parts = (table.column(name).to_numpy().astype(np.float64) for name in (*sets[at], SIZE, *sums))
            order = np.argsort(values)
            order = order[~np.isnan(values[order])]
            columns = [part[order] for part in parts]
            out[at] = DistinctValues(values[order], *(columns if weight is not None else columns * 3))
    return [out[at] for at in range(len(names))]
