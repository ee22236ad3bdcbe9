"""Pairs of cells that match with wildcards, against comparing every cell with every other."""

from __future__ import annotations

import tracemalloc
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.wildcard_matches import matching_pairs as listing
from sdckit.numerics.wildcard_matches.matching_pairs import compared_pairs, matching_pairs

CELLS = sorted(product([0, 1, 2, 3], repeat=3))  # three fields of two bits; 3 is a missing value


@pytest.mark.parametrize("few", [0, 1000], ids=["asked before", "searched at once"])
@given(st.sets(st.sampled_from(CELLS), min_size=1), st.data())
def test_the_pairs_are_those_of_comparing_all(few, cells, data):
    cells = data.draw(st.permutations(sorted(cells)))
    entries = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells))), np.int64)
    gone = [{j for j in range(3) if cell[j] == 3} for cell in cells]
    words = np.array([sum(code << 2 * j for j, code in enumerate(cell)) for cell in cells], np.uint64)
    pattern = np.array([sum(1 << j for j in lacks) for lacks in gone], np.uint64)
    clear_of = {sum(1 << j for j in lacks): ~sum(3 << 2 * j for j in lacks) for lacks in gone}
    expected = {
        (a, b)
        for a, b in product(range(len(cells)), repeat=2)
        if gone[a] != gone[b] and entries[b] and all(cells[a][j] == cells[b][j] for j in {0, 1, 2} - gone[a] - gone[b])
    }
    n = len(expected) + sum(int(entries[b]) for _, b in expected)
    with patch.object(listing, "FEW", few):
        pairs = matching_pairs(words, pattern, clear_of, entries, 10_000)
        if (entries > 0).all() and n:
            assert matching_pairs(words, pattern, clear_of, entries, n) is not None
            assert matching_pairs(words, pattern, clear_of, entries, n - 1) is None
    compared = compared_pairs(list(np.array(cells).T), [3, 3, 3], entries, n)
    for listed in (list(zip(*(part.tolist() for part in both), strict=True)) for both in (pairs, compared)):
        assert set(listed) == expected
        assert len(listed) == len(expected)
    assert not n or compared_pairs(list(np.array(cells).T), [3, 3, 3], entries, n - 1) is None


@pytest.mark.parametrize("sets", [2, 64])
def test_more_cells_than_a_word_has_bits_and_more_codes_than_sets(sets, monkeypatch):
    """A key without wildcards matches only itself, its own code of a missing value, too."""
    monkeypatch.setattr(listing, "SETS", sets)
    rng = np.random.default_rng(3)
    cells = np.unique(rng.integers(0, [90, 3, 3], (400, 3)), axis=0)
    free = [0, 2, None]
    gone = np.column_stack([cells[:, 0] == 0, cells[:, 1] == 2, np.zeros(len(cells), np.bool_)])
    alike = (cells[:, None] == cells) | gone[:, None] | gone
    expected = alike.all(axis=2) & ~np.eye(len(cells), dtype=np.bool_)
    listed = compared_pairs(list(cells.T), free, np.ones(len(cells), np.int64), 10**6)
    assert np.array_equal(np.argwhere(expected), np.column_stack(listed))


def test_too_many_pairs_are_counted_and_not_listed():
    """Cells that lack one of two keys each match all that lack the other."""
    n = 1000
    own = np.arange(n, dtype=np.uint64)
    words = np.concatenate([own << np.uint64(10) | np.uint64(1023), own | np.uint64(1023 << 10)])
    pattern = np.repeat(np.array([1, 2], np.uint64), n)
    tracemalloc.start()
    pairs = matching_pairs(words, pattern, {1: ~1023, 2: ~(1023 << 10)}, np.ones(2 * n, np.int64), 2 * n * n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pairs is None
    assert peak < n * n  # a pair takes 16 bytes
