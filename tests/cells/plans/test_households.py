"""Figures of households of a plan: by persons, without a household, too many of them."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from plans import collected, on_engines, opened
from sdckit.cells.plans import households
from sdckit.cells.plans.count_cells import KeyColumn
from sdckit.cells.plans.households import Household, HouseholdSums
from sdckit.errors import DataError, SdcWarning

COLUMNS = {"h": ["a", "a", "b", None, None], "p": [1, 1, 2, 3, 3], "f": [-0.5, -1.0, -0.25, -2.0, -2.0]}


def after(sums):
    return 1 - np.exp(sums)


def summed(plan, person=None, columns=COLUMNS):
    frame = opened(plan, columns)
    key = KeyColumn.of("h", 0, frame.collect_schema()["h"])
    passes = []

    def joined(figures):
        passes.append(list(figures))
        return frame.with_columns(*(nw.col("f").alias(name) for name in figures))

    asked = HouseholdSums(joined, key, person, 5)
    first, second = (Household(asked, asked.add(np.empty(0)), after) for _ in range(2))
    assert second.values.values.tolist() == first.values.values.tolist()
    assert len(passes) == 1
    return first.values, first.beside(frame, "f")


@on_engines
@pytest.mark.parametrize(("person", "of_a"), [(None, -1.5), ("p", -1.0)])
def test_members_are_summed_and_persons_count_once(plan, person, of_a):
    with pytest.warns(SdcWarning, match="2 records have no household id in 'h': each is a household of its"):
        values, frame = summed(plan, person)
    found, sizes = values.distribution()
    assert found == pytest.approx(after(np.array([-0.25, of_a, -2.0])))
    assert sizes.tolist() == [1, 2, 2]
    expected = after(np.array([of_a, of_a, -0.25, -2.0, -2.0]))
    shown = collected(frame)
    assert shown["f"].to_numpy() == pytest.approx(expected, rel=1e-14)
    assert shown.columns == ["h", "p", "f", "row"]


@on_engines
def test_a_column_without_a_household_is_refused_as_it_is_in_memory(plan):
    with pytest.raises(DataError, match="'h' says which records belong together, and has no value in any record"):
        summed(
            plan, columns=pl.DataFrame({"h": pl.Series([None, None], dtype=pl.Int64), "p": [1, 2], "f": [-1.0, -2.0]})
        )


@on_engines
def test_a_certain_member_makes_the_household_certain(plan):
    values, frame = summed(plan, columns=pl.DataFrame({"h": [1, 1], "p": [1, 2], "f": [-np.inf, -0.5]}))
    assert values.extremes() == (1.0, 1.0)
    assert collected(frame)["f"].to_list() == [1.0, 1.0]


@on_engines
def test_more_households_than_fit_here(plan, monkeypatch):
    monkeypatch.setattr(households, "most_cells", lambda n_keys, *_: 2)
    with pytest.raises(DataError, match=r"column 'h' has 3 households, and the free memory here takes 2"):
        summed(plan)
