"""Rows within a distance: counted, summed, listed."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import Base
from sdckit.numerics.search.agreement_pairs import Asked, NumberedRows
from sdckit.numerics.search.agreement_visit import visit_meeting
from sdckit.numerics.search.box_search import limits_of
from sdckit.numerics.search.column_sets import column_sets, pack


@pytest.mark.parametrize("p", [0, 2])
@pytest.mark.parametrize("k", [1, 3])
def test_what_lies_within_the_kth_distance(p, k):
    rng = np.random.default_rng([p, k])
    codes, asked = rng.integers(0, 3, (50, 3)), rng.integers(0, 3, (20, 3))
    numbers, of_query = (np.sort(rng.integers(0, 4, (n, p)) / 4, axis=0) for n in (50, 20))
    metric = Metric(1, np.ones(p), np.array([1.0, 1.0, 0.5]))
    away = np.abs(of_query[:, None] - numbers).sum(axis=2) + (asked[:, None] != codes) @ metric.weights
    packed = pack(codes.astype(np.int32), asked.astype(np.int32), metric.weights)
    lead, leading = (one[:, 0].copy() if p else np.zeros(len(one)) for one in (numbers, of_query))
    rows = NumberedRows(Base(packed.base, np.ones(50, np.int64), np.arange(50)), numbers, lead)
    queries = Asked(packed.query, of_query, leading, np.full(20, -1), float(p > 0), metric.tolerance)
    limits = limits_of(np.sort(away)[:, :k].copy(), metric)
    near = away <= np.sort(away)[:, k - 1 : k] + 1e-9
    values = rng.random((50, 2))
    ends = np.cumsum(near.sum(axis=1))
    given = (rows, queries, packed.fields, column_sets(metric, packed.fields), metric, limits)
    found = visit_meeting(*given, values=values, begins=ends - near.sum(axis=1), n_listed=int(ends[-1]))
    assert (found.closer + found.tied).tolist() == near.sum(axis=1).tolist()
    assert found.sums == pytest.approx(near @ values)
    assert found.nearest.tolist() == (away <= away.min(axis=1)[:, None] + 1e-9).argmax(axis=1).tolist()
    for i, listed in enumerate(np.split(found.listed, ends[:-1])):
        assert sorted(listed.tolist()) == np.flatnonzero(near[i]).tolist()
