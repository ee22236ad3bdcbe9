"""Classes at the type-7 quantiles of all files together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.cells.shared_coding import quantile_bins

NAN = float("nan")


def test_the_edges_are_type_7_quantiles_of_the_pool():
    files = [np.array([5.0, 1.0, NAN]), np.array([2.0, 9.0, 4.0])]
    assert (
        quantile_bins(files, 4).edges.tolist()
        == np.quantile([5.0, 1.0, 2.0, 9.0, 4.0], [0, 0.25, 0.5, 0.75, 1]).tolist()
    )
    assert quantile_bins([np.array([0.0, 1.0])], 5).edges.tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_an_edge_belongs_to_the_class_above_and_the_last_to_the_class_below():
    cut = quantile_bins([np.arange(5.0)], 2)
    assert cut.edges.tolist() == [0, 2, 4]
    assert cut.codes(np.array([0.0, 1.9, 2.0, 4.0, NAN])).tolist() == [1, 1, 2, 2, 0]
    assert cut.codes(np.array([0.0])).dtype == np.int32


def test_equal_quantiles_are_one_edge():
    cut = quantile_bins([np.array([0.0] * 8 + [1.0, 2.0])], 5)
    assert cut.edges.tolist() == pytest.approx([0, 0.2, 2])
    assert (cut.n_bins, cut.labels()) == (2, ["(missing)", "[0, 0.2)", "[0.2, 2]"])


def test_one_value_and_none():
    same = quantile_bins([np.array([3.0, 3.0])], 5)
    assert (same.n_bins, same.labels()) == (1, ["(missing)", "3"])
    assert same.codes(np.array([3.0, NAN])).tolist() == [1, 0]
    empty = quantile_bins([np.array([NAN])], 5)
    assert (empty.n_bins, empty.labels(), empty.codes(np.array([NAN])).tolist()) == (0, ["(missing)"], [0])


def test_a_quantile_that_is_a_value_is_exactly_it():
    # 0.1 * 3 is not 0.3 as a float; the place of the quantile is
    values = np.arange(31) * 0.1
    edges = quantile_bins([values], 10).edges
    assert np.isin(edges, values).all()


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=40), st.integers(1, 7))
def test_agrees_with_numpy_and_leaves_nothing_out(drawn, bins):
    values = np.array(drawn, float)
    cut = quantile_bins([values[::2], values[1::2]], bins)
    assert cut.edges.tolist() == pytest.approx(
        np.unique(np.round(np.quantile(values, np.arange(bins + 1) / bins), 9)).tolist()
    )
    codes = cut.codes(values)
    assert codes.min() >= 1
    assert codes.max() <= cut.n_bins == len(cut.labels()) - 1
    for value, code in zip(values.tolist(), codes.tolist(), strict=True):
        low, high = cut.edges[code - 1], cut.edges[min(code, len(cut.edges) - 1)]
        assert low <= value < high or (code == cut.n_bins and low <= value <= high)
