"""Matching by bit sets against loops over pairs: blocks, batches, shared sets and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics import threads
from sdckit.numerics.wildcard_matches import wildcards as bit_matches
from sdckit.numerics.wildcard_matches.wildcards import match_bits


def cells(rng, n, n_keys, levels, missing, wild):
    """Distinct cells; a missing value is the code after the last level, whether it is free or not."""
    codes = rng.integers(0, levels, (n, n_keys))
    codes[rng.random((n, n_keys)) < missing] = levels
    codes = rng.permutation(np.unique(codes, axis=0))
    return codes, [levels if free else None for free in wild]


def by_pairs(codes, size, weight, missing, alpha, some):
    gone = np.stack([codes[:, j] == code for j, code in enumerate(missing)], axis=1)
    out = []
    for i in some:
        match = ((codes == codes[i]) | gone | gone[i]).all(axis=1)
        match[i] = False
        credit = np.where(gone.any(axis=1), alpha, 1.0) * match
        out.append((credit @ size, credit @ weight))
    return np.array(out)


def check(codes, missing, alpha, rng, some=None):
    size, weight = rng.integers(1, 5, len(codes)).astype(float), rng.random(len(codes))
    found = match_bits(list(codes.T), size, weight, missing, alpha)
    some = range(len(codes)) if some is None else some
    expected = by_pairs(codes, size, weight, missing, alpha, some)
    np.testing.assert_allclose(found.size[some], expected[:, 0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.weight[some], expected[:, 1], rtol=1e-12, atol=1e-12)
    return found


@given(
    st.integers(0, 2**32),
    st.integers(1, 80),
    st.sampled_from([1, 2, 3, 63, 64, 65, 1000, 1 << 40]),
    st.sampled_from([0.0, 0.1, 0.5, 0.9]),
    st.sampled_from([0.0, 0.4, 1.0]),
    st.data(),
)
def test_agrees_with_pairs(seed, n_keys, levels, missing, alpha, data):
    wild = data.draw(st.lists(st.booleans(), min_size=n_keys, max_size=n_keys))
    rng = np.random.default_rng(seed)
    codes, free = cells(rng, data.draw(st.integers(1, 60)), n_keys, levels, missing, wild)
    check(codes, free, alpha, rng)


@pytest.mark.parametrize(("levels", "n_keys", "missing"), [(3, 9, 0.3), (70, 4, 0.4), (2, 40, 0.85)])
def test_many_blocks(levels, n_keys, missing):
    rng = np.random.default_rng(levels)
    codes, free = cells(rng, 5000, n_keys, levels, missing, [True] * (n_keys - 1) + [False])
    assert len(codes) > 2 * bit_matches.CELLS_OF_BLOCK
    found = check(codes, free, 0.5, rng, rng.choice(len(codes), 300, replace=False))
    assert found.size.max() > 50


def test_levels_that_share_a_set_are_compared():
    codes = np.arange(4000)[:, None] * np.array([1, 1])
    codes[0, 0] = 5000  # missing there, so it matches whoever has its other value: nobody
    found = match_bits(list(codes.T), np.ones(4000), np.ones(4000), [5000, 5000], 1.0)
    assert found.size.sum() == 0
    codes[0, 1] = 7  # as the cell of number 7 has
    found = match_bits(list(codes.T), np.ones(4000), np.ones(4000), [5000, 5000], 0.5)
    assert (found.size[0], found.size[7], found.size.sum()) == (1, 0.5, 1.5)


def test_the_same_for_any_number_of_threads_and_any_batches(monkeypatch):
    rng = np.random.default_rng(7)
    codes, free = cells(rng, 4000, 12, 4, 0.4, [True] * 12)
    weight = rng.random(len(codes))
    once = match_bits(list(codes.T), np.ones(len(codes)), weight, free, 0.3)
    monkeypatch.setattr(threads, "n_threads", lambda: 1)
    alone = match_bits(list(codes.T), np.ones(len(codes)), weight, free, 0.3)
    monkeypatch.setattr(bit_matches, "BYTES", 1)  # a block at a time
    monkeypatch.setattr(bit_matches, "QUERIES", 100)
    small = match_bits(list(codes.T), np.ones(len(codes)), weight, free, 0.3)
    for other in (alone, small):
        assert (once.size == other.size).all()
        assert (once.weight == other.weight).all()


def test_a_lone_bit_is_found():
    lone = np.uint64(1) << np.arange(64, dtype=np.uint64)
    top = (lone * bit_matches.DE_BRUIJN) >> np.uint64(58)
    assert bit_matches.PLACE_OF[top.astype(int)].tolist() == list(range(64))


def test_compiled_kernels_do_what_their_source_says():
    rng = np.random.default_rng(3)
    codes, free = cells(rng, 40, 3, 70, 0.4, [True, True, False])
    query = bit_matches._prepare(list(codes.T), free)
    n, n_sets = len(codes), int(query.first_set[-1])
    edges, sums, results = np.array([0, n]), np.ones((n, 2)), []
    for pick in (lambda kernel: kernel, lambda kernel: kernel.py_func):
        bits, add = np.zeros((1, n_sets, bit_matches.WORDS), np.uint64), np.zeros((n, 2))
        with np.errstate(over="ignore"):
            pick(bit_matches._build)(query.sets, query.first_set, 0, n, bits[0])
            pick(bit_matches._scan)(query.sets, query.shared, 0, n, edges, bits, sums, add)
        results.append((bits.tolist(), add.tolist()))
    assert results[0] == results[1]
    assert np.array(results[0][1]).any()
