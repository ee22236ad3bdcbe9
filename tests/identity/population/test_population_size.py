"""How large the population is, and cells with missing keys as levels."""

from __future__ import annotations

import polars as pl
import pytest

from draw import quiet
from sdckit import Scenario, as_cells
from sdckit.errors import DataError, ScenarioError
from sdckit.identity.population.population_size import category_cells, sampling_fraction_of

FRAME = pl.DataFrame({"a": [1, 1, None, 2], "w": [3.0, 5.0, 2.0, 6.0], "p": [1, 1, 2, 3]})


def test_missing_keys_are_levels_whatever_the_cells_say():
    wild = as_cells(FRAME, keys=["a"], sampling_fraction=0.5)
    for data in (FRAME, FRAME.lazy(), wild):
        with quiet():
            cells = category_cells(
                data, **({} if data is wild else {"keys": ["a"], "sampling_fraction": 0.5})
            )
        assert sorted(cells.columns["sample_frequency"].tolist()) == [1, 1, 2]
        assert sampling_fraction_of(cells) == 0.5


def test_the_fraction_by_weights():
    cells = category_cells(FRAME, keys=["a"], weight="w")
    assert sampling_fraction_of(cells) == 4 / 16
    census = category_cells(FRAME.with_columns(w=pl.lit(1.0)), keys=["a"], weight="w")
    assert sampling_fraction_of(census) == 1.0


def test_a_population_that_is_not_known_or_too_small():
    with pytest.raises(DataError, match="say how large the population is"):
        sampling_fraction_of(category_cells(FRAME, keys=["a"]))
    small = category_cells(FRAME.with_columns(w=pl.col("w") / 10), keys=["a"], weight="w")
    with pytest.raises(DataError, match="weights must count persons"):
        sampling_fraction_of(small)


def test_persons_and_cells_with_roles():
    with pytest.raises(DataError, match="models of population uniqueness count records"):
        category_cells(FRAME.drop_nulls(), scenario=Scenario(keys=["a"], person="p"))
    with pytest.raises(ScenarioError, match="fixed by the cells given"):
        category_cells(as_cells(FRAME, keys=["a"]), sampling_fraction=0.5)
