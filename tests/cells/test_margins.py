"""Cells of fewer keys merged from cells: the same as tabulating anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draw import ALPHAS, files, quiet
from sdckit import as_cells
from sdckit.cells.margins import without_keys
from sdckit.errors import DataError


@given(
    files(min_keys=2, max_keys=5),
    st.sampled_from(ALPHAS),
    st.sampled_from([{"weight": "w"}, {"sampling_fraction": 0.2}, {}]),
    st.data(),
)
def test_as_if_tabulated_anew(file, alpha, known, data):
    dropped = data.draw(st.sets(st.sampled_from(file.keys), min_size=0, max_size=len(file.keys) - 1))
    kept = [key for key in file.keys if key not in dropped]
    rules = {key: file.missing[key] for key in kept}
    with quiet():
        whole = as_cells(file.frame(), keys=file.keys, missing=file.missing, alpha=alpha, **known)
        anew = as_cells(file.frame(), keys=kept, missing=rules, alpha=alpha, **known)
    columns, size = without_keys(whole, dropped)
    assert set(columns) == set(anew.columns)
    names = sorted(columns)
    found = sorted(zip(size.tolist(), *(columns[name].tolist() for name in names), strict=True))
    expected = sorted(zip(anew.table.size.tolist(), *(anew.columns[name].tolist() for name in names), strict=True))
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-9)


def test_persons_cannot_be_counted_from_cells():
    frame = pl.DataFrame({"a": [1, 2], "b": [1, 1], "p": [1, 1]})
    with quiet():
        cells = as_cells(frame, keys=["a", "b"], person="p")
    with pytest.raises(DataError, match="distinct persons cannot be counted from cells"):
        without_keys(cells, ["a"])
