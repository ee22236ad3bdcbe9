"""Round edges: few, covering the bulk, and not taken from the data."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.utility.tables.histogram_edges import checked_edges, counts_between, round_edges


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1.0, 47.0, 1e9])
@pytest.mark.parametrize("bins", [1, 5, 20])
def test_few_bins_that_cover_the_bulk(scale, bins):
    rng = np.random.default_rng(2)
    values = scale * rng.normal(0.2, 1, 300)
    edges = round_edges([values[:100], np.append(values[100:], np.nan)], bins)
    low, high = np.quantile(values, [0.01, 0.99])
    assert edges[0] <= low
    assert high < edges[-1]
    assert len(edges) - 1 <= max(2, bins)  # two where 0 lies within
    step = edges[1] - edges[0]
    assert edges / step == pytest.approx(np.round(edges / step), abs=1e-6)
    assert f"{step:.3e}"[0] in "125"


def test_whole_numbers_have_whole_edges():
    assert round_edges([np.array([1.0, 2.0, 3.0])]).tolist() == [1.0, 2.0, 3.0]
    assert round_edges([np.array([7.0, 7.0])]).tolist() == [7.0, 8.0]


def test_one_value_far_away_does_not_matter():
    values = np.append(np.linspace(0, 10, 999), 1e12)
    assert round_edges([values], 10)[-1] <= 12


def test_counts():
    values = np.array([-5.0, 0.0, 0.5, 1.0, 2.0, np.nan])
    assert counts_between(values, np.array([0.0, 1.0, 2.0])).tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize("edges", [[1], [2, 1], [1, 1], [0, np.inf], "ab", 3, [[1, 2]]])
def test_edges_must_ascend(edges):
    with pytest.raises(DataError, match="edges must be"):
        checked_edges(edges)
