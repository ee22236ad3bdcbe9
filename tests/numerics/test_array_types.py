"""The names of array types say which numbers an array holds."""

from __future__ import annotations

import typing

import numpy as np
import pytest

from sdckit.numerics import array_types


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        ("Floats", np.float64), ("Ints", np.int64), ("Bools", np.bool_), ("Codes", np.int32),
        ("Words", np.uint64), ("Bytes", np.uint8),
    ],
)  # fmt: skip
def test_a_name_says_the_type(name: str, scalar: type) -> None:
    _shape, dtype = typing.get_args(getattr(array_types, name))
    assert typing.get_args(dtype) == (scalar,)
