"""Filling incomplete cells against loops over pairs, whichever way each pattern is matched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from numerics.wildcard_matches.test_wildcards import BITS, MISSING, by_pairs, cells, pack
from sdckit.numerics.wildcard_matches import filling
from sdckit.numerics.wildcard_matches.filling import match_merged
from sdckit.numerics.wildcard_matches.merging import merge
from sdckit.numerics.wildcard_matches.wildcards import patterns_of


@pytest.mark.parametrize("cost", [0.0, 3.0, 1e9])  # always fill, choose, always probe
@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([0.0, 0.4, 1.0]), st.data())
def test_agrees_with_pairs(cost, seed, n_keys, alpha, data):
    wild = data.draw(st.lists(st.booleans(), min_size=n_keys, max_size=n_keys).filter(any))
    rng = np.random.default_rng(seed)
    codes = cells(rng, 60, n_keys, 3, 0.3)
    size = rng.integers(1, 5, len(codes))
    weight = rng.random(len(codes)) if data.draw(st.booleans()) else np.empty(0)
    merged = merge(pack(codes), size, weight)
    keys = [j for j, free in enumerate(wild) if free]
    shifts = [BITS * j for j in keys]
    full = np.full(len(keys), MISSING, np.uint64)
    pattern = patterns_of(merged.words, np.array(shifts, np.uint64), full, full)
    clear_of = {
        bits: ~sum(MISSING << shifts[i] for i in range(len(keys)) if bits >> i & 1) & 0xFFFFFFFFFFFFFFFF
        for bits in np.unique(pattern).tolist()
    }
    levels = [np.unique(codes[codes[:, j] != MISSING, j]) for j in keys]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filling, "COST_OF_FILLING", cost)
        found = match_merged(merged, pattern, shifts=shifts, codes=levels, clear_of=clear_of, alpha=alpha)
    # a merge of distinct words keeps their order
    expected = by_pairs(codes, size, weight if len(weight) else np.zeros(len(codes)), wild, alpha)
    np.testing.assert_allclose(found.size, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.weight, expected[:, 1], rtol=1e-12, atol=1e-12)
