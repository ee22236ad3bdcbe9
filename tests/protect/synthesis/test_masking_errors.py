"""What masked copies must be, and how an error may be given."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.masking_errors import read_masked
from sdckit.protect.synthesis.synthesis_variables import read_variable

FRAME = pl.DataFrame(
    {
        "x": [1.0, 2.0, None, 4.0], "x_z": [1.5, 2.0, None, 3.0], "gap": [1.0, None, 3.0, 4.0],
        "job": ["a", "b", "c", None], "job_z": ["b", "b", "c", None], "odd": ["a", "b", "d", None],
    }
)  # fmt: skip
VARIABLES = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
MATRIX = [[0.8, 0.1, 0.1], [0.2, 0.8, 0.0], [0.0, 0.3, 0.7]]


def read(copies, errors):
    return read_masked(VARIABLES, copies, errors)


def test_numbers():
    (found,) = read({"x": "x_z"}, {"x": 0.5})
    assert (found.name, found.copy, found.sd) == ("x", "x_z", 0.5)
    np.testing.assert_allclose(found.number, [1.5, 2.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (0.8, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]),
        (MATRIX, MATRIX),
        ({"a": {"a": 0.8, "b": 0.1, "c": 0.1}, "b": {"a": 0.2, "b": 0.8}, "c": {"b": 0.3, "c": 0.7}}, MATRIX),
    ],
)
def test_categories(error, expected):
    (found,) = read({"job": "job_z"}, {"job": error})
    np.testing.assert_allclose(np.exp(found.log_confusion), expected)
    assert found.level.tolist() == [1, 1, 2, -1]


@pytest.mark.parametrize(
    ("copies", "errors", "kind", "says"),
    [
        ({"x": "x_z"}, {"job": 1}, ColumnError, "'job' is in one of them only"),
        (
            {"x": "x_z"},
            {"x": 0},
            DataError,
            "standard deviation of the noise in 'x_z'; give a number above 0",
        ),
        ({"x": "x_z"}, {"x": 1.6}, DataError, "noise of 1.6 is wider than the variable itself"),
        ({"x": "gap"}, {"x": 0.5}, DataError, "'gap' is missing elsewhere than 'x'"),
        ({"x": "job_z"}, {"x": 0.5}, DataError, "missing elsewhere"),
        ({"job": "odd"}, {"job": 0.5}, DataError, "'odd' holds a category that 'job' does not have"),
        ({"job": "job_z"}, {"job": 1.0}, DataError, "probability that 'job' stays"),
        ({"job": "job_z"}, {"job": [[1, 0], [0, 1]]}, DataError, "3 rows of 3 that sum to 1"),
        ({"job": "job_z"}, {"job": np.eye(3).tolist()}, DataError, "nothing is masked"),
        ({"job": "job_z"}, {"job": {"z": {}}}, DataError, "give the probability of staying"),
        ({"job": "job_z"}, {"job": [[0.5, 0.5, 0.5]] * 3}, DataError, "sum to 1"),
    ],
)
def test_what_is_refused(copies, errors, kind, says):
    with pytest.raises(kind, match=says):
        read(copies, errors)
