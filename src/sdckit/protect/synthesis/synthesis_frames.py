"""Drawn values as a frame of the caller's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.frames import open_frame
from sdckit.data.replace import lend_rows, open_eager, pick_rows, with_some_numbers
from sdckit.numerics.array_types import Ints
from sdckit.protect.synthesis.synthesis_variables import NEW, Values, Variable


def written(
    frame: Any, variables: Mapping[str, Variable], rows: Ints, made: Mapping[str, Values], n_made: int | None = None
) -> Any:  # fmt: skip
    """One file as a frame of the caller's.

    `rows`: those that get the values made. `n_made`: records of a file of another length, all of them made.
    """
    sources, new = {}, {}
    n, into = len(frame), frame
    if n_made is not None:  # the columns that are not drawn hold one value
        n, rows = n_made, np.arange(n_made)
        into = open_eager(open_frame(pick_rows(frame, rows % len(frame))), {})
    for name, values in made.items():
        source, fresh = np.arange(n), values.level == NEW
        first = variables[name].first
        source[rows] = np.where(values.level >= 0, first[np.maximum(values.level, 0)], -1)
        source[rows[fresh]] = rows[fresh] % len(frame)
        sources[name] = source
        if fresh.any() and values.number is not None:
            where = np.zeros(n, np.bool_)
            where[rows[fresh]] = True
            new[name] = (where, _in_range(frame[name].dtype, values.number[fresh]))
    out = lend_rows(into, frame, sources)
    return with_some_numbers(open_eager(open_frame(out), {}), new) if new else out


def _in_range(dtype: Any, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers that an integer column can hold."""
    if not dtype.is_integer():
        return numbers
    bits = int("".join(filter(str.isdigit, str(dtype))))
    unsigned = dtype.is_unsigned_integer()
    size = bits if unsigned else bits - 1
    top = 2.0**size - (1 if size <= 53 else 2.0 ** (size - 53))  # floats are that far apart there
    return np.clip(numbers, 0 if unsigned else -(2.0**size), top)
