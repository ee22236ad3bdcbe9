"""Trees of tables: counting, declared trees, and scores that one record moves by one at most."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.protect.margins import clique_tree
from sdckit.protect.margins.clique_tree import Measuring, attachable, count_cells, in_a_circle, tree_order

SIZES = (3, 4, 2, 5)


def records(n, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.integers(0, size, n) for size in SIZES], np.int32)


@pytest.mark.parametrize("few", [10**6, 0])
def test_counts_are_those_of_a_loop(few, monkeypatch):
    monkeypatch.setattr(clique_tree, "FEW_RECORDS", few)
    codes = records(200)
    for variables in [(0,), (1, 3), (3, 0, 2), (0, 1, 2, 3)]:
        loop = np.zeros([SIZES[v] for v in variables], int)
        for row in codes.T:
            loop[tuple(row[list(variables)])] += 1
        assert (count_cells(codes, SIZES, variables) == loop).all()


def running_intersection(order):
    done = []
    for separator, variables in order:
        assert variables[: len(separator)] == separator
        before = set().union(*done)
        assert set(variables) & before == set(separator)
        assert not separator or any(set(separator) <= set(other) for other in done)
        done.append(variables)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 2)), min_size=1, max_size=8), st.randoms())
def test_a_tree_of_tables_is_put_in_order_however_it_is_given(steps, random):
    cliques, new = [(0, 1, 2)], 3
    for parent, drop in steps:  # each attached to two variables of one before
        shared = [v for i, v in enumerate(cliques[parent % len(cliques)]) if i != drop]
        cliques.append((*shared, new))
        new += 1
    random.shuffle(cliques)
    assert in_a_circle(cliques) == []
    order = tree_order(cliques)
    running_intersection(order)
    assert sorted(sorted(variables) for _, variables in order) == sorted(sorted(clique) for clique in cliques)


def test_tables_in_a_circle_are_named_and_tables_within_others_left_out():
    assert in_a_circle([(0, 4), (0, 1), (1, 2), (2, 3), (3, 0)]) == [1, 2, 3, 4]
    assert in_a_circle([(0, 1), (0, 1), (2,)]) == []
    assert tree_order([(0, 1), (1, 0), (1,), (2,)]) == [((), (0, 1)), ((), (2,))]


def test_what_is_too_large_for_any_table_stands_alone():
    assert attachable((3, 400, 5), 2000) == {0, 1, 2}
    assert attachable((3, 800, 5), 2000) == {0, 2}


def test_a_record_moves_every_score_by_one_at_most():
    codes = records(60)
    rng = np.random.default_rng(2)
    single = [rng.random(size) for size in SIZES]
    measured = Measuring(codes, tuple("abcd"), SIZES, 1, single=[60 * s / s.sum() for s in single], n=60)
    candidates = measured._first({0, 1, 2, 3}, 1000)
    assert {len(variables) for _, variables, _ in candidates} == {2, 3}
    before = measured._scores(candidates, 4.7, {})
    for row in itertools.islice(itertools.product(*map(range, SIZES)), 0, None, 7):
        more = np.hstack([codes, np.array(row, np.int32)[:, None]])
        other = Measuring(more, measured.names, SIZES, 1, single=measured.single, n=60)
        after = other._scores(candidates, 4.7, {})
        assert np.abs(after - before).max() <= 1
        assert after.dtype.kind == "i"
