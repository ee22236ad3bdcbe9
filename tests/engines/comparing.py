"""A plan's figures and records against those of the same data in memory."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from sdckit.errors import SdcWarning


def quiet(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a measure on tiny data without its warnings about constant or unique keys."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        warnings.simplefilter("ignore", FutureWarning)  # PySpark's about pandas 3
        return function(*args, **kwargs)


def collected(records: Any, order: str) -> pl.DataFrame:
    """Records of any engine as a Polars frame in the order of a column."""
    frame = nw.from_native(records)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("polars")
    found: pl.DataFrame = frame.to_polars() if hasattr(frame, "to_polars") else frame.to_native()
    return found.sort(order)


def assert_same_records(expected: Any, found: Any, order: str = "row") -> None:
    """Counts agree exactly, floats to 1e-12."""
    left, right = collected(expected, order), collected(found, order)
    for name in left.columns:
        a, b = left[name], right[name]
        if a.dtype.is_integer() or a.dtype == pl.Boolean:
            assert a.to_list() == b.to_list(), name
        else:
            np.testing.assert_allclose(b.to_numpy(), a.to_numpy(), rtol=1e-12, atol=0, err_msg=name)


def assert_same_figures(expected: Any, found: Any, where: str = "") -> None:
    """Nested figures agree: whole numbers exactly, others to 1e-12."""
    if isinstance(expected, Mapping):
        assert set(expected) == set(found), where
        for key in expected:
            assert_same_figures(expected[key], found[key], f"{where}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert len(expected) == len(found), where
        for i, (a, b) in enumerate(zip(expected, found, strict=True)):
            assert_same_figures(a, b, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert math.isclose(expected, found, rel_tol=1e-12) or (math.isnan(expected) and math.isnan(found)), where
    else:
        assert expected == found, where
