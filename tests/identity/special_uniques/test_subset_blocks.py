"""Blocks of subsets: what is found does not depend on how many keys are fixed."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.identity.special_uniques import subset_blocks
from sdckit.identity.special_uniques.minimal_uniques import find_minimal_uniques
from sdckit.identity.special_uniques.subset_blocks import bytes_of_blocks, n_fixed


def cells(n_keys, n):
    rng = np.random.default_rng([n_keys, n])
    codes = np.stack([np.minimum(*rng.integers(0, 2 + 3 * j, (2, n))) for j in range(n_keys)])
    found, size = np.unique(codes, axis=1, return_counts=True)
    return found, size, rng.random(found.shape) < 0.05


@pytest.mark.parametrize("max_size", [1, 2, 3, 6])
def test_any_number_of_fixed_keys_gives_the_same(max_size, monkeypatch):
    codes, size, absent = cells(6, 700)
    given = {"max_size": max_size, "absent": absent}
    whole = find_minimal_uniques(codes, size, **given)
    assert sum(whole.subset_counts.values()) == whole.by_size.sum() > 0
    for fixed in range(1, 6):
        monkeypatch.setattr(subset_blocks, "n_fixed", lambda *_, fixed=fixed: fixed)
        found = find_minimal_uniques(codes, size, **given)
        assert (found.by_size == whole.by_size).all()
        assert list(found.subset_counts.items()) == list(whole.subset_counts.items())
        assert (found.level_counts == whole.level_counts).all()


def test_parts_are_told(monkeypatch):
    codes, size, _ = cells(4, 100)
    told = []
    monkeypatch.setattr(subset_blocks, "n_fixed", lambda *_: 1)
    find_minimal_uniques(codes, size, max_size=4, step=told.append)
    assert told == ["key subsets, part 1 of 2", "key subsets, part 2 of 2"]


def test_more_cells_and_more_keys_ask_for_smaller_blocks():
    assert [n_fixed(10, n, 10) for n in (1, 10**5, 800_000, 10**9)] == [0, 0, 3, 6]
    assert n_fixed(1, 10**9, 1) == 0
    for n_keys, n in ((8, 10**6), (12, 10**6), (20, 10**5)):
        fixed = n_fixed(n_keys, n, n_keys)
        lists = bytes_of_blocks(n_keys, n, n_keys) - 4 * n * (1 << fixed) - (n // 8 + 8) * (2**n_keys - 1)
        assert lists <= subset_blocks.ROOM or fixed == subset_blocks.MOST_FIXED
