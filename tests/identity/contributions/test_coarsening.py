"""Which levels are merged, and what it costs."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from draw import quiet
from sdckit import as_cells
from sdckit.identity.contributions.coarsening import bands, entropy, joined, levels_of, pooled, smaller_key


def levels(values):
    with quiet():
        return levels_of(as_cells(pl.DataFrame({"a": values}), keys=["a"]), "a")


@pytest.mark.parametrize(
    "values",
    [
        [3, -1, 7, 7, None],
        [0.5, -2.5, 1.25, 1.25, None],
        [-(2**62), 5, 2**62, 2**62, None],
        [dt.date(2000, 1, 2), dt.date(1999, 1, 1), dt.date(2000, 5, 1), dt.date(2000, 5, 1), None],
    ],
)
def test_ordered_levels_follow_their_values(values):
    found = levels(values)
    assert found.ordered
    assert found.n_missing == 1
    assert found.size.tolist() == [1, 1, 2]
    assert bands(found, 2).group.tolist() == [0, 0, 1]
    assert bands(found, 4) is None
    smallest = levels([min(v for v in values if v is not None), *values])
    assert smallest.size.tolist() == [2, 1, 2]


def test_the_rarest_levels_of_a_category_are_pooled():
    found = levels(["a"] * 9 + ["b"] * 2 + ["c"] * 7 + ["d"] * 1 + ["e"] * 6)
    assert found.size.tolist() == [1, 2, 6, 7, 9]
    step = smaller_key(found)
    assert (step.rule, step.group.tolist(), step.after) == ("the 3 rarest levels as one", [0, 0, 0, 1, 2], 3)
    assert len(set(step.codes(found).tolist())) == 3
    assert pooled(levels(["a"] * 5 + ["b"] * 6 + ["c"] * 7)).group.tolist() == [0, 0, 1]
    assert pooled(levels(["a"] * 5 + ["b"] * 6)) is None
    assert pooled(levels(["a", "b", "c"])) is None


def test_two_levels_as_one():
    found = levels(["a", "b", "b", "c", "c", "c", "d", "d", "d", "d"])
    assert joined(found, 3, 1).group.tolist() == [0, 1, 2, 1]
    assert joined(found, 0, 1).after == 3
    assert joined(levels(["a", "b"]), 0, 1) is None


def test_ties_are_broken_by_label():
    one, two = levels(["b", "a", "c", "c"]), levels(["a", "b", "c", "c"])
    with quiet():
        cells = as_cells(pl.DataFrame({"a": ["b", "a", "c", "c"]}), keys=["a"])
    labels = cells.levels[0].labels(one.codes)
    assert labels == ["a", "b", "c"]
    assert one.size.tolist() == two.size.tolist()


def test_entropy():
    assert entropy(np.array([4])) == 0
    found = levels([1, 2, 3, 4])
    assert found.entropy == 2
    assert bands(found, 2).entropy_lost(found) == 1
    assert levels([1, 2, None, None]).entropy == 1.5
