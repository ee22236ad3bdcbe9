"""Nearest rows against all distances, written out a second time from the raw values."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from sdckit.errors import DataError
from sdckit.numerics.coding import differences, gower
from sdckit.numerics.search import (
    agreement as column_sets,
    box_search as box_few,
    box_tree,
    box_tree as box_blocks,
    neighbours,
    neighbours as by_agreement,
)
from sdckit.numerics.search.neighbours import pairwise, prepare


@pytest.fixture(params=["small tree", "tree", "agreement", "both"], autouse=True)
def way(request, monkeypatch):
    """Every search in the tree of small files, in that of large ones, by what rows agree in, and by both."""
    monkeypatch.setattr(by_agreement, "SMALL", 10**9 if "tree" in request.param else 0)
    ways.take(monkeypatch, few=request.param == "small tree")
    if request.param != "small tree":
        monkeypatch.setattr(box_tree, "SMALL", -1)
        monkeypatch.setattr(box_blocks, "CACHED", -1)
        monkeypatch.setattr(box_few, "PAIRS", -1)
    monkeypatch.setattr(by_agreement, "ALIKE", 10**9)
    if request.param == "both":
        monkeypatch.setattr(column_sets, "MOST_SETS", 4)  # so that some queries are left to the tree


NAN = float("nan")
NUMBER = st.one_of(st.integers(-3, 3).map(float), st.just(NAN))
CODE = st.integers(0, 2)


@st.composite
def files(draw):
    """Two files of a few numbers and categories, with repeats and missing values; a power of distance."""
    p, q = draw(st.sampled_from([(1, 0), (0, 1), (2, 0), (1, 2), (0, 4), (2, 3)]))
    sizes = draw(st.integers(1, 12)), draw(st.integers(2, 40))
    numbers = [tuple(np.array(draw(st.lists(NUMBER, min_size=n, max_size=n))) for n in sizes) for _ in range(p)]
    codes = [tuple(np.array(draw(st.lists(CODE, min_size=n, max_size=n))) for n in sizes) for _ in range(q)]
    return numbers, codes, draw(st.sampled_from(["gower", 1, 2]))


def by_hand(numbers, codes, kind):
    """All distances, value by value."""
    n, m = (len((*numbers, *codes)[0][f]) for f in (0, 1))
    total = np.zeros((n, m))
    for xs, ys in numbers:
        known = [v for v in [*xs, *ys] if not isnan(v)]
        spread = max(known, default=0.0) - min(known, default=0.0)
        for i, x in enumerate(xs):
            for j, y in enumerate(ys):
                one_gone, both_gone = isnan(x) != isnan(y), isnan(x) and isnan(y)
                away = 0.0 if both_gone else spread if one_gone else abs(x - y)
                if kind == "gower":
                    away = 1.0 if one_gone else away / spread if spread else 0.0
                total[i, j] += away**2 if kind == 2 else away
    for xs, ys in codes:
        total += np.not_equal.outer(xs, ys)
    return np.sqrt(total) if kind == 2 else total / (len(numbers) + len(codes)) if kind == "gower" else total


def encoded(numbers, codes, kind):
    return gower(numbers, codes) if kind == "gower" else differences(numbers, codes, power=kind)


@given(files(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_agrees_with_all_distances(drawn, k, random):
    query, base = encoded(*drawn)
    all_ = by_hand(*drawn)
    assert pairwise(query, base) == pytest.approx(all_, abs=1e-12)
    k = min(k, base.n)
    index = prepare(base)
    found = index.nearest(query, k)
    values = np.array([[random.random()] for _ in range(base.n)])
    totals, counts = index.totals(query, k, values)
    begins, rows = index.lists(query, k)
    for i, away in enumerate(all_):
        ascending = np.sort(away)
        assert found.distance[i] == pytest.approx(ascending[:k], abs=1e-12)
        last = ascending[k - 1]
        near = away <= last + 1e-9
        assert found.index[i] == np.flatnonzero(away <= ascending[0] + 1e-9)[0]
        assert found.n_closer[i] == (away < last - 1e-9).sum()
        assert found.n_tied[i] == near.sum() - found.n_closer[i]
        assert counts[i] == near.sum()
        assert totals[i] == pytest.approx(values[near].sum(axis=0))
        assert rows[begins[i] : begins[i + 1]].tolist() == np.flatnonzero(near).tolist()


@given(files(), st.sampled_from([1, 7, 1 << 22]))
def test_what_each_row_weighs_in_the_mean_of_what_is_nearest(drawn, listed):
    query, base = encoded(*drawn)
    all_ = by_hand(*drawn)
    near = all_ <= all_.min(axis=1)[:, None] + 1e-9
    part = near / near.sum(axis=1)[:, None]
    values = np.arange(base.n) ** 2.0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(neighbours, "LISTED", listed)
        means, weights = prepare(base).within(query, 1).balance(values)
    assert means == pytest.approx(part @ values)
    assert weights == pytest.approx(part.mean(axis=0))
    assert weights @ values == pytest.approx(means.mean())


@given(files(), st.integers(1, 2))
def test_a_file_in_itself(drawn, k):
    numbers, codes, kind = [(y, y) for _, y in drawn[0]], [(y, y) for _, y in drawn[1]], drawn[2]
    rows = encoded(numbers, codes, kind)[0]
    all_ = by_hand(numbers, codes, kind)
    np.fill_diagonal(all_, np.inf)
    k = min(k, rows.n - 1)
    index, itself = prepare(rows), np.arange(rows.n)
    found = index.nearest(rows, k, skip=itself)
    assert found.distance == pytest.approx(np.sort(all_)[:, :k], abs=1e-12)
    assert all_[itself, found.index] == pytest.approx(found.distance[:, 0], abs=1e-12)
    values = np.column_stack([itself, np.ones(rows.n)]).astype(float)
    totals, counts = index.totals(rows, k, values)
    begins, listed = index.lists(rows, k)
    np.fill_diagonal(all_, 0.0)  # a row is nearest to itself
    near = all_ <= np.sort(all_)[:, k - 1 : k] + 1e-9
    assert totals == pytest.approx(near @ values)
    assert counts.tolist() == near.sum(axis=1).tolist()
    for i in itself:
        assert listed[begins[i] : begins[i + 1]].tolist() == np.flatnonzero(near[i]).tolist()


@given(files(), st.integers(1, 3))
def test_the_chance_of_being_among_those_drawn(drawn, k):
    query, base = encoded(*drawn)
    k = min(k, base.n)
    found, all_ = prepare(base).nearest(query, k), pairwise(query, base)
    chances = np.column_stack([found.chance(column) for column in all_.T])
    assert chances.sum(axis=1) == pytest.approx(np.full(query.n, float(k)))
    assert ((chances >= 0) & (chances <= 1)).all()
    assert (np.diff(np.take_along_axis(chances, np.argsort(all_), 1)) <= 1e-12).all()


def test_a_skipped_row_alone_with_its_values():
    base, query = differences([(np.array([0.0, 5.0]), np.array([0.0]))], power=2)
    assert prepare(base).nearest(query, 1, skip=np.array([0])).index.tolist() == [1]


def test_rows_of_one_word_are_told_apart(monkeypatch):
    base, query = gower([(np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.9]))], [(np.array([1, 2, 1, 2]), np.array([2]))])
    monkeypatch.setattr(neighbours, "hash_rows", lambda columns, n: np.zeros(n, np.uint64))
    found = prepare(base).nearest(query, 3)
    assert found.distance[0] == pytest.approx([0.025, 0.025, 0.725])
    assert (found.index[0], found.n_closer[0], found.n_tied[0]) == (1, 2, 1)


@pytest.mark.parametrize("k", [0, 4])
def test_more_neighbours_than_rows(k):
    base, query = gower([(np.arange(3.0), np.arange(2.0))])
    with pytest.raises(DataError, match=f"{k} nearest rows are asked for, of 3 there are"):
        prepare(base).nearest(query, k)
    with pytest.raises(DataError, match="of 2 there are"):
        prepare(base).nearest(base, 3, skip=np.arange(3))


def test_zero_and_minus_zero_are_one_value():
    base, query = differences([(np.array([0.0, -0.0, 1.0]), np.array([0.0]))], power=1)
    assert len(prepare(base).rows.size) == 2
    assert prepare(base).nearest(query).n_tied.tolist() == [2]


@given(files(), st.integers(1, 3))
def test_distances_alone_are_those_of_the_nearest(drawn, k):
    query, base = encoded(*drawn)
    index, itself = prepare(base), np.arange(base.n)
    k = min(k, base.n - 1)
    assert (index.distances(query, k) == index.nearest(query, k).distance).all()
    assert (index.distances(base, k, skip=itself) == index.nearest(base, k, skip=itself).distance).all()


@given(st.data())
def test_weights_that_nearly_agree_or_count_for_nothing(data):
    n, m, q = data.draw(st.integers(1, 60)), data.draw(st.integers(2, 60)), data.draw(st.integers(2, 5))
    weights = data.draw(st.lists(st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 0.3, 1e-13]), min_size=q, max_size=q))
    weights[0] = 1.0
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    rows = [rng.integers(0, 4, (size, q)) for size in (n, m)]
    query, base = gower([], [tuple(one[:, j] for one in rows) for j in range(q)], weights=weights)
    k = data.draw(st.integers(1, 2))
    found, all_ = prepare(base).nearest(query, k), pairwise(query, base)
    assert (found.distance == np.sort(all_)[:, :k]).all()
    last = found.distance[:, -1:]
    assert found.n_closer.tolist() == (all_ < last - found.tolerance).sum(axis=1).tolist()
    assert (found.n_closer + found.n_tied).tolist() == (all_ <= last + found.tolerance).sum(axis=1).tolist()
    near = all_ <= found.distance[:, :1] + found.tolerance
    assert found.index.tolist() == near.argmax(axis=1).tolist()
    own = prepare(base).distances(base, 1, skip=np.arange(m))[:, 0]
    others = pairwise(base, base)
    np.fill_diagonal(others, np.inf)
    assert (own == others.min(axis=1)).all()


def test_a_larger_file_is_searched_as_all_pairs_are(way):
    rng = np.random.default_rng(3)
    n, m, q = 3000, 400, 7
    codes = [(rng.integers(0, 6, m), rng.integers(0, 6, n)) for _ in range(q)]
    for numbers in ([], [(rng.random(m), rng.random(n)), (rng.integers(0, 3, m) / 2, rng.integers(0, 3, n) / 2)]):
        query, base = gower(numbers, codes)
        index, all_ = prepare(base), pairwise(query, base)
        found = index.nearest(query, 3)
        ascending = np.sort(all_)[:, :3]
        assert (found.distance == ascending).all()
        inside = all_ <= ascending[:, -1:] + found.tolerance
        assert (found.n_closer + found.n_tied).tolist() == inside.sum(axis=1).tolist()
        own, itself = index.nearest(base, 2, skip=np.arange(n)), np.arange(n)[::10]
        others = pairwise(base.take(itself), base)
        others[np.arange(len(itself)), itself] = np.inf
        assert (own.distance[itself] == np.sort(others)[:, :2]).all()
        near = others <= others.min(axis=1)[:, None] + own.tolerance
        assert near[np.arange(len(itself)), own.index[itself]].all()
        assert (index.distances(base, 2, skip=np.arange(n)) == own.distance).all()
        values = rng.integers(0, 2, (n, 3)).astype(float)
        totals, counts = index.totals(query, 3, values)
        assert (totals == inside @ values).all()
        assert counts.tolist() == inside.sum(axis=1).tolist()
