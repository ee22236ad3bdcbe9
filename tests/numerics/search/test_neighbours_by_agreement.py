"""Which files are searched by what their rows agree in."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.coding import Encoded, Metric
from sdckit.numerics.search import neighbours as module
from sdckit.numerics.search.box_search import Queries
from sdckit.numerics.search.neighbours import Distinct, by_agreement, prepare


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "SMALL", 3)
    monkeypatch.setattr(module, "ALIKE", 2)


def ready(codes, numbers=None, *, weights=None, power=1, skip=None):
    codes = np.array(codes, np.int32)
    n, q = codes.shape
    numbers = np.empty((n, 0)) if numbers is None else np.array(numbers, float)
    metric = Metric(power, np.ones(numbers.shape[1]), np.ones(q) if weights is None else np.array(weights))
    rows = Distinct(numbers, codes, np.ones(n, np.int64), np.arange(n))
    return by_agreement(rows, Queries(numbers, codes, np.full(n, -1) if skip is None else np.array(skip)), metric)


ROWS = [[1, 1], [1, 2], [2, 1], [2, 2]]


def test_files_that_are_left_to_the_tree():
    assert ready(ROWS) is not None
    assert ready(ROWS[:3]) is None  # small
    assert ready(ROWS, [[0.1], [0.2], [0.3], [0.4]]) is not None
    assert ready(ROWS, [[0.1], [0.2], [0.3], [0.4]], power=2) is not None
    assert ready([[1, 1]] * 4, [[0.1], [0.2], [0.3], [0.4]]) is None  # all alike
    assert ready([[2**31 - 1, 2**31 - 1, 5]] * 4) is None  # too wide
    assert ready(ROWS, weights=[1.0, 1 + 2e-12]) is None  # no order


def test_a_row_that_does_not_count_must_be_its_query():
    assert ready(ROWS, skip=[0, 1, 2, 3]) is not None
    assert ready(ROWS, skip=[1, -1, -1, -1]) is None
    assert ready(ROWS, weights=[1.0, 0.0], skip=[0, 1, 2, 3]) is None  # two rows that are one


def test_rows_are_in_the_order_of_a_number():
    found = ready(ROWS, [[0.4], [0.1], [0.3], [0.2]], skip=[0, 1, 2, 3])
    assert found.order.tolist() == [1, 3, 2, 0]
    assert found.queries.skip.tolist() == [3, 0, 2, 1]
    assert found.find(1).smallest.ravel() == pytest.approx([1.1, 1.1, 1.1, 1.1])


@pytest.mark.parametrize("per_visit", [0, 4000], ids=["visited", "by groups"])
def test_sums_of_many_values_go_from_neighbour_to_neighbour(per_visit, monkeypatch):
    """A target of many levels has as many sums; of whole numbers either way gives the same."""
    monkeypatch.setattr(module, "SUMS_PER_VISIT", per_visit)
    rng = np.random.default_rng(1)
    codes = np.unique(rng.integers(0, 4, (60, 4)), axis=0)
    metric = Metric(1, np.ones(0), np.ones(4))
    base, query = (
        Encoded(np.empty((n, 0)), part, metric) for n, part in ((len(codes), codes), (9, codes[:9][:, ::-1]))
    )
    values = (rng.integers(0, 50, len(codes))[:, None] == np.arange(50)).astype(np.float64)
    away = (query.codes[:, None] != base.codes).sum(axis=2)
    near = away <= np.sort(away, axis=1)[:, [2]]
    index = prepare(base)
    search = index._search(query, 3, None)
    settled = np.flatnonzero(search.answers.tied > 0)
    assert (search.agreed.sums(settled, search.answers, index.held(values)) is None) is (per_visit == 0)
    sums, counts = index.totals(query, 3, values)
    assert sums.tolist() == (near @ values).tolist()
    assert counts.tolist() == near.sum(axis=1).tolist()
