"""Rows drawn by their id of two plans: those of one, in one order, and only where ids name them."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.cells.pair import open_files
from sdckit.cells.plans.drawn_pair import draw_records
from sdckit.errors import DataError

N = 300
ORIGINAL = pl.DataFrame({"pid": [at * 7 % N for at in range(N)], "sex": [("f", "m")[at % 2] for at in range(N)]})
RELEASED = ORIGINAL.sample(fraction=1.0, shuffle=True, seed=3)


def test_without_households_rows_are_drawn_one_by_one() -> None:
    pair = open_files(ORIGINAL.lazy(), RELEASED.lazy(), id="pid")
    drawn = draw_records(pair, 90, seed=1)
    assert (drawn.n, drawn.sizes) == (90, (90,))
    assert drawn.original["pid"].to_list() == drawn.released[0]["pid"].to_list()
    assert draw_records(pair, 90, seed=2).original["pid"].to_list() != drawn.original["pid"].to_list()


def test_an_id_that_is_repeated_is_refused() -> None:
    twice = pl.concat([ORIGINAL, ORIGINAL.head(1)])
    with pytest.raises(DataError, match="repeat"):
        draw_records(open_files(twice.lazy(), RELEASED.lazy(), id="pid"), 9, seed=1)
