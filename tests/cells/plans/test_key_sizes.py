"""`KeySizes`: the records of each combination of keys, looked up by the cells of another file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import on_engines, opened, polars_plan
from sdckit.cells.as_cells import as_cells
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.key_sizes import deal_sizes
from sdckit.cells.shared_coding import matching_cells
from sdckit.cells.table import Cells
from sdckit.errors import ColumnError, DataError

RNG = np.random.default_rng(2)
KEYS = ["a", "b"]
VALUES = {"a": [None, -3, 1, 10**12], "b": [None, "x", "", "naïve"]}
PEOPLE = pl.DataFrame({name: [own[i] for i in RNG.integers(0, 4, 200)] for name, own in VALUES.items()})
FILE = pl.DataFrame({"a": [-3.0, 1.0, 5.0, None, None], "b": ["x", "new", "x", None, ""]})


@on_engines
def test_what_is_looked_up_is_what_cells_match(plan, monkeypatch):
    """Also of another type of number; a missing value is a level; 0 where nobody has it. In several parts."""
    with quiet():
        own, all_of_them = (as_cells(file, keys=KEYS, missing="category") for file in (FILE, PEOPLE))
    assert isinstance(own, Cells)
    at = matching_cells(own, all_of_them)
    monkeypatch.setattr(counting, "MOST_CELLS", 4)
    sizes = deal_sizes(opened(plan, PEOPLE), KEYS, len(PEOPLE))
    assert (sizes.n, sizes.n_cells, sizes.n_parts > 3) == (200, all_of_them.n_cells, True)
    assert sizes.of(own).tolist() == np.where(at >= 0, all_of_them.table.size[at], 0).tolist()
    with quiet():
        texts = as_cells(FILE.with_columns(pl.col("a").cast(pl.String)), keys=KEYS, missing="category")
    with pytest.raises(ColumnError, match="column 'a' holds"):
        sizes.of(texts)


def test_more_combinations_than_whole_numbers():
    wide = {f"k{j}": np.arange(3000) for j in range(6)}
    with pytest.raises(DataError, match="have too many values to be counted together"):
        deal_sizes(opened(polars_plan, wide), list(wide), 3000)
