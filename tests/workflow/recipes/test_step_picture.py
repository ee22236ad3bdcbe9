"""A variable before and after a step: exact counts by value, or by bins that both sides share."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import ColumnError
from sdckit.workflow.recipes.step_picture import bands_for, picture_of

RNG = np.random.default_rng(3)
DATA = pl.DataFrame({"age": RNG.integers(18, 80, 400), "job": RNG.choice(["a", "b"], 400)})


def test_bins_are_those_of_both_sides_and_count_everybody() -> None:
    noisy = DATA.with_columns(age=pl.col("age") + 2.5)
    found = picture_of(DATA, noisy, "age")
    assert found.before is not None
    assert found.after is not None
    assert found.before.edges == found.after.edges
    for side in (found.before, found.after):
        assert sum(n for _, n in side.counts) == side.n == 400
        assert len(side.counts) == len(side.edges) + 1
    assert found.before.whole
    assert not found.after.whole


def test_a_recoded_side_has_levels_in_their_order() -> None:
    banded, _ = sdc.recode(DATA, column="age", bands=[0, 30, 60, None], labels=["young", "middle", "old"])
    found = picture_of(DATA, banded, "age")
    assert found.after is not None
    assert [label for label, _ in found.after.counts] == ["young", "middle", "old"]
    assert found.after.edges == ()


def test_missing_values_and_columns_that_are_gone() -> None:
    gone = picture_of(
        DATA.with_columns(age=pl.when(pl.col("age") < 30).then(None).otherwise("age")),
        DATA.drop("age"),
        "age",
    )
    assert gone.before is not None
    assert gone.before.n_missing == DATA.filter(pl.col("age") < 30).height
    assert gone.after is None
    with pytest.raises(ColumnError, match="neither file has a column 'none'"):
        picture_of(DATA, DATA, "none")


def test_numbers_as_levels_where_they_are_codes() -> None:
    found = picture_of(pl.DataFrame({"code": [1, 1, 2]}), None, "code", levels=True)
    assert found.before is not None
    assert found.before.counts == (("1", 2), ("2", 1))


def test_edges_to_start_from_are_inside_and_ascend() -> None:
    edges = bands_for(DATA, "age")
    assert edges == sorted(edges)
    assert min(edges) > 18
    assert max(edges) < 80
    assert bands_for(pl.DataFrame({"x": [None, None]}, schema={"x": pl.Int64}), "x") == []
