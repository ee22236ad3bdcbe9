"""Sums over the records of an original and its releases that are plans, added up by their engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.pair import Pair, check_present
from sdckit.cells.plans.count_cells import aggregate, type_name
from sdckit.data.frames import check_plan_names
from sdckit.errors import DataError


@dataclass(frozen=True)
class NumberSums:
    """Sums of a number in one file, each value times its weight.

    `n`: records with a value. `total`: of the weighed values; `base`: of their weights, or the records; `largest`: the
    largest weighed value, without its sign.
    """

    n: int
    total: float
    base: float
    largest: float


def check_numbers(pair: Pair, names: Sequence[str], role: str = "numeric") -> None:
    """Check that columns of plans are numbers in every file.

    Raises ColumnError: a file lacks one; DataError: it holds something else, or nothing but missing or infinite values.
    """
    files = list(zip(pair.frames, pair.names, strict=True))
    check_present([(frame, {role: names}, label) for frame, label in files])
    for frame, label in files:
        check_plan_names(frame, names, role)
        schema = frame.collect_schema()
        for name in names:
            if not schema[name].is_numeric():
                raise DataError(f"{label}: {role} {name!r} is {type_name(schema[name])}, not numbers; convert it first")


def known_number(name: str) -> nw.Expr:
    """A column as floating numbers, null where missing."""
    value = nw.col(name).cast(nw.Float64)
    return nw.when(~value.is_nan()).then(value)


def total_numbers(pair: Pair, names: Sequence[str], weight: str | None) -> list[list[NumberSums]]:
    """Sums of each number in each file, weighted if there is a `weight`, in one pass of each file.

    Raises DataError: a file holds no value of a number, or infinite ones.
    """
    out: list[list[NumberSums]] = [[] for _ in names]
    frames: Any = pair.frames
    for frame, label in zip(frames, pair.names, strict=True):
        asked = []
        for name in names:
            value = known_number(name)
            weigh = nw.lit(1.0) if weight is None else known_number(weight)
            base = nw.when(~(value * weigh).is_null()).then(weigh)
            asked += [value.count(), (value * weigh).sum(), base.sum(), (value * weigh).abs().max(), value.abs().max()]
        if weight is not None:
            asked += [known_number(weight).count(), known_number(weight).abs().max()]
        found = aggregate(frame, *asked) if asked else []
        if weight is not None:
            n, far = np.nan_to_num(found[-2:], posinf=np.inf).tolist()
            check_known(label, weight, n, 0.0, far)
        for at, name in enumerate(names):
            n, total, whole, largest, far = np.nan_to_num(found[5 * at : 5 * at + 5], posinf=np.inf).tolist()
            check_known(label, name, n, 0.0, far)
            out[at].append(NumberSums(int(n), total, whole, largest))
    return out


def check_known(label: str, name: str, n: float, low: float, high: float, role: str = "numeric") -> None:
    """Check a number of one file by its known values, the least and the largest of them.

    Raises DataError: none, an infinite one, or a span that no floating number can say.
    """
    if not n:
        raise DataError(f"{label}: {role} {name!r} has no value at all")
    if np.isinf([low, high]).any():
        raise DataError(f"{label}: {role} {name!r} is infinite in some records")
    if np.isinf(high - low):
        raise DataError(f"{label}: {role} {name!r} spans more than a floating number can say; divide it first")
