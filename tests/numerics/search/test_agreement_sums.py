"""Sums over the nearest rows and all tied with them."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics.encode import Metric
from sdckit.numerics.search.agreement import Base, find_agreeing
from sdckit.numerics.search.agreement_sums import shares_agreeing, sums_agreeing
from sdckit.numerics.search.column_sets import column_sets, pack


@pytest.mark.parametrize("weights", [[1.0] * 5, [1.0, 0.5, 2.25, 0.125, 0.5]])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_sums_are_those_over_all_pairs(weights, k):
    rng = np.random.default_rng(k)
    base, query = (
        np.unique(rng.integers(0, 4, (200, 5)), axis=0),
        np.tile(rng.integers(0, 4, (90, 5)), (20, 1)),
    )
    weights = np.array(weights)
    packed = pack(base.astype(np.int32), query.astype(np.int32), weights)
    sets = column_sets(Metric(1, np.empty(0), weights), packed.fields)
    rows = Base(packed.base, np.ones(len(base), np.int64), np.arange(len(base)))
    found = find_agreeing(rows, packed.query, np.full(len(query), -1), sets, k)
    values = rng.integers(-3, 4, (len(base), 3)).astype(float)
    away = (query[:, None] != base) @ weights
    near = away <= np.sort(away)[:, k - 1 : k]
    sums = sums_agreeing((packed.base, packed.query), (packed.fields, weights), sets, found, values)
    assert (sums == near @ values).all()


def test_what_queries_give_reaches_every_row_nearest_to_them():
    rng = np.random.default_rng(5)
    base = np.unique(rng.integers(0, 4, (200, 5)), axis=0)
    query = np.tile(rng.integers(0, 6, (90, 5)), (20, 1))
    packed = pack(base.astype(np.int32), query.astype(np.int32), np.ones(5))
    sets = column_sets(Metric(1, np.empty(0), np.ones(5)), packed.fields)
    rows = Base(packed.base, np.ones(len(base), np.int64), np.arange(len(base)))
    found = find_agreeing(rows, packed.query, np.full(len(query), -1), sets, 1)
    given = rng.integers(1, 9, len(query)).astype(float)
    away = (query[:, None] != base).sum(axis=2)
    near = away == away.min(axis=1)[:, None]
    assert (shares_agreeing((packed.base, packed.query), sets, found, given) == given @ near).all()
