"""Options of CAP, and the files as its search reads them."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit.attribute.disclosure.cap_roles import Width, sides, target_groups, widths_by_name
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError


def test_intervals():
    values = np.array([-10.0, 0.0, 20.0])
    low, high = Width(0.1, True, 0.0).around(values)
    assert (low.tolist(), high.tolist()) == ([-11, 0, 18], [-9, 0, 22])
    low, high = Width(2.0, False, 0.5).around(values)
    assert (low.tolist(), high.tolist()) == ([-12.5, -2.5, 17.5], [-7.5, 2.5, 22.5])


def test_widths():
    assert widths_by_name(None, True, 0, ["t"]) == {}
    assert widths_by_name(0.1, True, 0, ["t"]) == {"t": Width(0.1, True, 0.0)}
    assert widths_by_name(2, False, 1e-9, ["t"]) == {"t": Width(2.0, False, 1e-9)}
    assert widths_by_name({"u": 1}, {"u": False}, 0, ["t", "u"]) == {"u": Width(1.0, False, 0.0)}
    assert widths_by_name({"t": 1, "u": 2}, {"u": False}, 0, ["t", "u"])["t"].relative


@pytest.mark.parametrize(
    ("width", "relative", "tol", "error", "words"),
    [
        (0.1, True, 0, ColumnError, r"several targets give width=\{name: width\}"),
        ({"z": 1}, True, 0, ColumnError, "width: 'z' is not a target"),
        ({"t": -0.1}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": math.nan}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": "wide"}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": True}, True, 0, DataError, "width is .* a number of 0 or more"),
        ({"t": 1}, True, -1, DataError, "tol is what rounding may add"),
        ({"t": 1}, {"u": True}, 0, ColumnError, "relative: 'u' has no width"),
    ],
)
def test_widths_that_cannot_be(width, relative, tol, error, words):
    with pytest.raises(error, match=words):
        widths_by_name(width, relative, tol, ["t", "u"])


def test_the_files_as_the_search_reads_them():
    original = pl.DataFrame({"k": ["a", None], "t": ["u", "v"], "x": [10.0, None]})
    release = pl.DataFrame({"k": ["b"], "t": ["v"], "x": [None]}, schema_overrides={"x": pl.Float64})
    more = pl.concat([release, original])
    pair = open_pair(
        original, more, categories={"keys": ["k"], "target": ["t"]}, numeric={"numeric target": ["x"]}
    )
    widths = {"x": Width(0.5, True, 0.0)}
    groups = target_groups(pair, ["t", "x"], widths)
    assert groups.of_row[0][1] == groups.of_row[1][0] == groups.of_row[1][2] != groups.of_row[0][0]
    mine, files = sides(pair, ["k"], groups, widths)
    assert (mine.low.tolist(), mine.high.tolist()) == ([[5, 0]], [[15, 0]])
    assert [side.keys[0].tolist() for side in files] == [[1, 0], [2, 1, 0]]
    assert files[1].low is files[1].high
    assert files[1].low.tolist() == [[0, 10, 0]]
    bare, _ = sides(pair, ["k"], groups, {})
    assert (bare.n, bare.low.shape) == (2, (0, 2))
