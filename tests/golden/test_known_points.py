"""People of a wage panel alone for who knows some of their years, as counted by another program from the file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import household_structure, known_points

# The panel of Vella and Verbeek (1998): union, occupation and hours in classes of 500, rounded half to even, to 8.
FINE = {1: (211, 4_360), 2: (8_168, 15_260), 3: (25_387, 30_520), 4: (35_435, 38_150)}
COARSE = {1: (0, 4_360), 2: (294, 15_260), 3: (4_304, 30_520), 4: (12_293, 38_150), 8: (421, 545)}


@pytest.fixture(scope="module")
def panel(reference):
    data = pl.read_csv(reference / "public" / "wage_panel.csv.gz")
    return data.with_columns(h=pl.Series(np.minimum(8, np.rint(data["hours"].to_numpy() / 500)).astype(int)))


def test_fine_keys(panel):
    result = known_points(panel, person="nr", time="year", keys=["union", "occupation", "h"], points=tuple(FINE))
    assert {known.points: (known.n_alone, known.n_subsets) for known in result.curve} == FINE


def test_coarse_keys_and_all_eight_years(panel):
    coarse = panel.with_columns(pl.col("occupation") // 5, pl.col("h") // 5)
    keys = ["union", "occupation", "h"]
    result = known_points(coarse, person="nr", time="year", keys=keys, points=tuple(COARSE))
    assert {known.points: (known.n_alone, known.n_subsets) for known in result.curve} == COARSE
    structure = household_structure(coarse, household="nr", keys=["year", *keys])
    assert result.of_points(8).n_alone == structure.unique_compositions
