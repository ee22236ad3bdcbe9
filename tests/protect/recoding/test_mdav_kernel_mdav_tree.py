"""The tree keeps every record in a leaf, and boxes that fit."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.protect.recoding.mdav_kernel import LEAF, build, remove


def planted(n, d, seed=1):
    z = np.random.default_rng(seed).normal(size=(n, d))
    row = np.arange(n)
    tree = build(z.copy(), row)
    at = np.empty(n, np.int64)
    at[row] = np.arange(n)
    return z, row, at, tree


def rows_of(node, row, i):
    if node[i, 2] < 0:
        return row[node[i, 0] : node[i, 0] + node[i, 1]].tolist()
    return rows_of(node, row, node[i, 2]) + rows_of(node, row, node[i, 2] + 1)


def check(z, row, tree, alive):
    node, low, high, leaf, block = tree
    assert sorted(rows_of(node, row, 0)) == sorted(alive)
    pending = [0]
    while pending:
        i = pending.pop()
        rows = rows_of(node, row, i)
        assert len(rows) == node[i, 1]
        if rows:
            assert (z[rows].min(axis=0) == low[i]).all()
            assert (z[rows].max(axis=0) == high[i]).all()
        if node[i, 2] >= 0:
            assert [node[node[i, 2], 3], node[node[i, 2] + 1, 3]] == [i, i]
            pending += [node[i, 2], node[i, 2] + 1]
            continue
        number, there = divmod(node[i, 0], LEAF)
        assert there == 0
        assert leaf[number] == i
        assert len(rows) <= LEAF
        assert (z[rows] == block[number, :, : len(rows)].T).all()


@pytest.mark.parametrize(("n", "d"), [(1, 2), (LEAF, 1), (LEAF + 1, 3), (5 * LEAF - 7, 4), (1000, 2)])
def test_a_tree_that_loses_all_its_records(n, d):
    z, row, at, tree = planted(n, d)
    check(z, row, tree, range(n))
    alive = set(range(n))
    for gone, one in enumerate(np.random.default_rng(2).permutation(n).tolist()):
        remove(row, at, tree, one)
        alive.remove(one)
        assert at[one] == -1
        if gone % 97 == 0 or len(alive) < 5:
            check(z, row, tree, alive)
            assert all(row[at[other]] == other for other in alive)


def test_records_in_halves_along_the_longest_side():
    z = np.column_stack([np.arange(4 * LEAF)[::-1] * 10.0, np.zeros(4 * LEAF)])
    row = np.arange(len(z))
    node, low, high, _, _ = build(z.copy(), row)
    left = node[0, 2]
    assert node[left : left + 2, 1].tolist() == [2 * LEAF, 2 * LEAF]
    assert high[left, 0] < low[left + 1, 0]
