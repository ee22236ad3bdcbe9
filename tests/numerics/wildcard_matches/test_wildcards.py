"""Matching of packed cells against loops over pairs, with many cells, patterns and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from numerics.as_python import both_forms
from sdckit.numerics import threads
from sdckit.numerics.wildcard_matches import wildcards, wildcards as few_matches
from sdckit.numerics.wildcard_matches.wildcards import match_columns, match_packed, patterns_of

BITS = 4
MISSING = 15


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request, monkeypatch):
    """By NumPy, and by kernels, as in larger files."""
    monkeypatch.setattr(few_matches, "PAIRS", 10**12 if request.param == "few" else -1)
    monkeypatch.setattr(few_matches, "LOOKED_UP", 10**12)
    ways.take(monkeypatch, few=request.param == "few")


def pack(codes):
    """Cells of small codes, four bits a key."""
    return sum(codes[:, j].astype(np.uint64) << np.uint64(BITS * j) for j in range(codes.shape[1]))


def patterned(codes, wild):
    """The cells, which wildcard keys each lacks, and what keeps the fields of each pattern."""
    keys = [j for j, free in enumerate(wild) if free]
    shifts = np.array([BITS * j for j in keys], np.uint64)
    full = np.full(len(keys), MISSING, np.uint64)
    pattern = patterns_of(pack(codes), shifts, full, full)
    clear_of = {}
    for bits in np.unique(pattern).tolist():
        gone = sum(MISSING << int(shifts[i]) for i in range(len(keys)) if bits >> i & 1)
        clear_of[bits] = ~gone & 0xFFFFFFFFFFFFFFFF
    return pack(codes), pattern, clear_of


def matched(codes, size, weight, wild, alpha):
    words, pattern, clear_of = patterned(codes, wild)
    return match_packed(words, size, weight, pattern, clear_of, alpha), pattern


def by_pairs(codes, size, weight, wild, alpha):
    gone = (codes == MISSING) & np.array(wild)
    add = np.zeros((len(codes), 2))
    for i in range(len(codes)):
        free = gone | gone[i]
        match = ((codes == codes[i]) | free).all(axis=1)
        match[i] = False
        credit = np.where(gone.any(axis=1), alpha, 1.0) * match
        add[i] = credit @ size, credit @ weight
    return add


def cells(rng, n, n_keys, levels, missing):
    codes = rng.integers(0, levels, (n, n_keys))
    codes[rng.random((n, n_keys)) < missing] = MISSING
    return np.unique(codes, axis=0)


@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([0.0, 0.4, 1.0]), st.data())
def test_agrees_with_pairs(seed, n_keys, alpha, data):
    wild = data.draw(st.lists(st.booleans(), min_size=n_keys, max_size=n_keys).filter(any))
    rng = np.random.default_rng(seed)
    codes = cells(rng, 40, n_keys, 3, 0.3)
    size, weight = rng.integers(1, 5, len(codes)).astype(float), rng.random(len(codes))
    found, _ = matched(codes, size, weight, wild, alpha)
    expected = by_pairs(codes, size, weight, wild, alpha)
    np.testing.assert_allclose(found.size, expected[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.weight, expected[:, 1], rtol=1e-12)


@pytest.mark.parametrize("n_sums", [1, 2, 3, 7])
@pytest.mark.parametrize(("n", "missing"), [(40, 0.3), (3000, 0.05), (12_000, 0.5)])
def test_several_sums_at_once_are_those_one_by_one(n, missing, n_sums):
    rng = np.random.default_rng(n + n_sums)
    codes = cells(rng, n, 5, 5, missing)
    sums = rng.integers(0, 9, (len(codes), n_sums)).astype(float)
    words, pattern, clear_of = patterned(codes, [True, True, False, True, True])
    found = match_columns(words, sums, pattern, clear_of)
    for j in range(n_sums):
        alone = match_packed(words, sums[:, j], sums[:, 0], pattern, clear_of, 1.0)
        assert found[:, j].tolist() == alone.size.tolist()


@pytest.mark.parametrize(("n", "missing"), [(3000, 0.02), (3000, 0.5), (12_000, 0.6)])
def test_many_cells_on_threads(monkeypatch, n, missing):
    monkeypatch.setattr(threads, "n_threads", lambda: 3)
    monkeypatch.setattr(wildcards, "n_threads", lambda: 3)
    monkeypatch.setattr(wildcards, "SMALL", 100)
    rng = np.random.default_rng(n)
    codes = cells(rng, n, 6, 6, missing)
    size, weight = np.ones(len(codes)), rng.random(len(codes))
    found, _ = matched(codes, size, weight, [True] * 6, 0.5)
    some = rng.choice(len(codes), 200, replace=False)
    gone = codes == MISSING
    for i in some:
        match = ((codes == codes[i]) | gone | gone[i]).all(axis=1)
        match[i] = False
        credit = np.where(gone.any(axis=1), 0.5, 1.0) * match
        assert found.size[i] == pytest.approx(credit.sum(), rel=1e-12)
        assert found.weight[i] == pytest.approx(credit @ weight, rel=1e-12)


def test_no_complete_cell():
    codes = np.array([[MISSING, 1], [1, MISSING], [2, MISSING], [MISSING, MISSING]])
    found, _ = matched(codes, np.ones(4), np.ones(4), [True, True], 1.0)
    assert found.size.tolist() == [3, 2, 2, 3]


def test_no_incomplete_cell():
    codes = np.array([[0, 1], [1, 0]])
    found, pattern = matched(codes, np.ones(2), np.ones(2), [True, True], 1.0)
    assert pattern.tolist() == [0, 0]
    assert found.size.tolist() == [0, 0]


def test_the_patterns_of_cells():
    codes = np.array([[0, MISSING, 2], [MISSING, 1, MISSING], [1, 1, 1]])
    _, pattern = matched(codes, np.ones(3), np.ones(3), [True, False, True], 1.0)
    assert pattern.tolist() == [0, 3, 0]


@given(st.lists(st.integers(0, 2**12 - 1), min_size=1, max_size=30))
def test_compiled_kernels_do_what_their_source_says(values):
    words = np.array(values, np.uint64)
    shifts, full = np.array([0, 8], np.uint64), np.full(2, 15, np.uint64)
    out = [np.empty(len(words), np.uint64) for _ in range(2)]
    wildcards._patterns(words, shifts, full, full, 0, len(words), out[0])
    wildcards._patterns.py_func(words, shifts, full, full, 0, len(words), out[1])
    assert out[0].tolist() == out[1].tolist()
    tables = []
    clear = np.uint64(~0xF & 0xFFFFFFFFFFFFFFFF)
    for function in both_forms(wildcards, "_fill_table", "find_word", "mix", "set_bit"):
        table = wildcards._Table(np.empty(128, np.uint64), np.zeros(128, np.int32), np.empty(8, np.uint64))
        group_of = np.empty(len(words), np.int32)
        n_groups = function(words, clear, table, group_of)
        tables.append((n_groups, group_of.tolist(), *(part.tolist() for part in table)))
    assert tables[0] == tables[1]
    assert tables[0][0] == len({value & ~0xF for value in values})
