"""Columns of single records that cells are made of or joined to: weights, and groups such as households."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sdckit.cells.packing import tabulate
from sdckit.data.columns import Coded, code_column, first_rows, float_values
from sdckit.errors import DataError, SdcWarning
from sdckit.numerics.grouping import dense_codes, weight_faults


def warn(message: str) -> None:
    """Tell the caller of the measure what in a file makes a figure say less than it seems to."""
    warnings.warn(message, SdcWarning, stacklevel=2)


def checked_weight(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Sampling weights as floats.

    Raises DataError: a weight is missing, zero, negative or infinite, or the column is not numeric.
    """
    weight = float_values(series, "weight")
    missing, low, infinite = weight_faults(weight)
    if missing or low or infinite:
        with np.errstate(invalid="ignore"):
            where = first_rows(~(np.isfinite(weight) & (weight > 0)))
        raise DataError(bad_weights(series.name, missing, low, infinite) + f" ({where}, counting from 1)")
    return weight


def bad_weights(name: str, missing: int, low: int, infinite: int) -> str:
    """The message about weights that cannot be."""
    kinds = ((missing, "missing"), (low, "zero or negative"), (infinite, "infinite"))
    parts = [f"{count} {kind}" for count, kind in kinds if count]
    return f"weight {name!r}: {', '.join(parts)}; every record must stand for a positive number of persons"


def group_column(frame: nw.DataFrame[Any], name: str) -> tuple[NDArray[np.int32], int]:
    """Number the groups of a column; a record without a value is a group of its own, with a warning."""
    coded = code_column(frame[name])
    if coded.n_missing:
        warn(f"{coded.n_missing} records have no household id in {name!r}: each is a household of its own")
    of_row, n_groups = _number_groups(coded)
    if coded.n_missing:
        alone = np.flatnonzero(coded.codes() == coded.span)
        of_row = of_row.copy()
        of_row[alone[1:]] = n_groups + np.arange(len(alone) - 1, dtype=np.int32)
        n_groups += len(alone) - 1
    return of_row, n_groups


def _number_groups(coded: Coded) -> tuple[NDArray[np.int32], int]:
    """Number the values in use: by a table where ids are dense, as those of households mostly are."""
    if coded.n_missing or coded.span > 2 * len(coded.values) or coded.values.dtype == np.uint64:
        groups = tabulate([coded], None)
        return groups.of_row, len(groups.size)
    return dense_codes(coded.values, coded.low, coded.span)
