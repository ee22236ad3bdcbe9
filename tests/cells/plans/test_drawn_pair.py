"""Rows drawn by their id of two plans: those of one, in one order, and only where ids name them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest

from engines.conftest import plan  # noqa: F401 (a fixture)
from sdckit.cells.pair import open_files
from sdckit.cells.plans.drawn_pair import draw_records, some_records
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


@pytest.mark.parametrize("kinds", [(pl.Categorical, pl.Categorical), (pl.Binary, pl.Binary), (pl.Int64, pl.Float64)])
def test_ids_of_any_type_are_found_in_every_file(kinds: tuple[Any, Any], plan: Any) -> None:  # noqa: F811
    files = [
        file.with_columns((pl.col("pid") if kind.is_numeric() else pl.col("pid").cast(pl.String)).cast(kind))
        for file, kind in zip((ORIGINAL, RELEASED), kinds, strict=True)
    ]
    drawn = draw_records(open_files(*map(plan, files), id="pid"), 20, seed=1)
    first, second = (pl.DataFrame(nw.to_native(frame)) for frame in (drawn.original, drawn.released[0]))
    assert first["pid"].to_list() == second["pid"].to_list()
    assert first["sex"].to_list() == second["sex"].to_list()
    assert len(first) == 20


def test_the_first_rows_come_with_those_of_their_ids(plan: Any) -> None:  # noqa: F811
    some = some_records(open_files(plan(ORIGINAL), [plan(RELEASED), plan(RELEASED)], id="pid"), 20)
    assert (some.n, some.sizes, some.id) == (20, (20, 20), "pid")
    for file in some.released:
        assert file["pid"].to_list() == some.original["pid"].to_list()
        assert file["sex"].to_list() == some.original["sex"].to_list()


def test_households_that_are_no_numbers_are_none(plan: Any) -> None:  # noqa: F811
    homes = pl.Series("home", [float("nan") if at % 2 else at // 4 for at in range(N)], pl.Float64, strict=False)
    files = [plan(file) for file in (ORIGINAL.with_columns(homes), RELEASED)]
    drawn = draw_records(open_files(*files, id="pid"), 20, seed=1, household="home")
    assert (drawn.n, drawn.sizes) == (20, (20,))
    assert not drawn.original["home"].is_nan().any()


def test_an_id_that_is_repeated_is_refused() -> None:
    twice = pl.concat([ORIGINAL, ORIGINAL.head(1)])
    with pytest.raises(DataError, match="repeat"):
        draw_records(open_files(twice.lazy(), RELEASED.lazy(), id="pid"), 9, seed=1)
