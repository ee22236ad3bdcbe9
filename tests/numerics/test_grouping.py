"""Groups of equal words against `numpy.unique`, on both paths and across threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from numerics.as_python import both_forms
from sdckit.numerics import grouping, threads
from sdckit.numerics.grouping import (
    DIRECT_BITS,
    ascending,
    first_of_groups,
    group,
    in_place,
    look_up,
    places_among,
    tally,
)


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request, monkeypatch):
    """Few rows, for NumPy, and many, for kernels."""
    ways.take(monkeypatch, few=request.param == "few")


def check(words, found, weight=None):
    expected, sizes = np.unique(words, return_counts=True)
    order = np.argsort(found.words)
    np.testing.assert_array_equal(found.words[order], expected)
    np.testing.assert_array_equal(found.size[order], sizes)
    np.testing.assert_array_equal(found.words[found.of_row], words)
    assert (found.of_row.dtype, found.size.dtype) == (np.int32, np.int64)
    if weight is None:
        assert found.weight is None
    else:
        totals = np.bincount(found.of_row, weight, len(sizes))
        np.testing.assert_allclose(found.weight, totals, rtol=1e-12)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=60), st.integers(1, 64))
def test_any_words(values, bits):
    words = np.array(values, np.uint64) % np.uint64(2**bits - 1 if bits == 64 else 2**bits)
    check(words, group(words, bits=bits))


@pytest.mark.parametrize("bits", [1, 8, DIRECT_BITS, DIRECT_BITS + 1, 40, 64])
@pytest.mark.parametrize("n", [0, 1, 4097, 100_003])
@pytest.mark.parametrize("levels", [1, 300, 10**9])
def test_both_paths_and_all_sizes(bits, n, levels):
    rng = np.random.default_rng(bits + n)
    words = rng.integers(0, min(levels, 2**bits), n).astype(np.uint64)
    weight = rng.integers(1, 9, n) / 2
    check(words, group(words, bits=bits, weight=weight if n else None), weight if n else None)


@given(st.integers(0, 2**32), st.sampled_from([3, 16, 17, 64]), st.integers(1, 9000))
def test_few_rows_are_grouped_as_many_are(seed, bits, n):
    rng = np.random.default_rng(seed)
    words, weight = rng.integers(0, min(2**bits, 3000), n).astype(np.uint64), rng.random(n)
    few, many = (grouping._group_few(words, weight, bits), _by_kernels(words, weight, bits))
    for name in ("of_row", "words", "size", "weight"):
        one, other = getattr(few, name), getattr(many, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def _by_kernels(words, weight, bits):
    return grouping._group_direct(words, weight, bits) if bits <= DIRECT_BITS else grouping._group_hashed(words, weight)


def test_words_that_differ_in_high_bits_only():
    words = (np.arange(5000, dtype=np.uint64) % np.uint64(7)) << np.uint64(61)
    check(words, group(words))


def test_the_order_of_groups_does_not_depend_on_the_threads(monkeypatch):
    words = np.random.default_rng(0).integers(0, 5000, 100_000).astype(np.uint64)
    for bits in (13, 64):
        found = []
        for number in (1, 3):
            monkeypatch.setattr(threads, "n_threads", lambda number=number: number)
            found.append(group(words, bits=bits))
        one, three = found
        np.testing.assert_array_equal(one.words, three.words)
        np.testing.assert_array_equal(one.of_row, three.of_row)


def test_the_order_of_groups_depends_on_the_words_alone():
    words = np.random.default_rng(5).integers(0, 50, 1000).astype(np.uint64)
    np.testing.assert_array_equal(group(words, bits=6).words, group(words[::-1].copy(), bits=6).words)


def test_words_are_not_modified():
    words = np.array([9, 2, 9, 1 << 50], np.uint64)
    before = words.copy()
    group(words, weight=np.ones(4))
    np.testing.assert_array_equal(words, before)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_compiled_kernels_do_what_their_source_says(values):
    n = len(values)
    results = []
    for function in both_forms(grouping, "_group_partition", "find_number", "mix"):
        words, weight = np.array(values, np.uint64), np.ones(n)
        label, size = np.empty(n, np.int32), np.empty(n, np.int32)
        k = function(words, weight, 0, n, label, size, np.empty(128, np.int32))
        results.append((k, label.tolist(), size[:k].tolist(), words[:k].tolist(), weight[:k].tolist()))
    assert results[0] == results[1]
    assert results[0][3] == list(dict.fromkeys(values))
    counts = [np.zeros(6, np.int64) for _ in range(2)]
    words = np.array(values, np.uint64)
    grouping._count_direct(words, np.empty(0), 0, n, counts[0], np.empty(0))
    grouping._count_direct.py_func(words, np.empty(0), 0, n, counts[1], np.empty(0))
    assert counts[0].tolist() == counts[1].tolist() == [values.count(v) for v in range(6)]


@pytest.mark.parametrize(("n", "listed"), [(5, 0), (0, 5), (50, 20), (40_000, 9000), (40_000, 1)])
def test_words_are_found_where_they_stand(n, listed):
    rng = np.random.default_rng(n)
    words = rng.choice(np.arange(max(1, 3 * listed), dtype=np.uint64) << np.uint64(20), n)
    some = rng.permutation(np.arange(max(1, 3 * listed), dtype=np.uint64) << np.uint64(20))[:listed]
    place = {word: at for at, word in enumerate(some.tolist())}
    assert look_up(words, some).tolist() == [place.get(word, -1) for word in words.tolist()]


@given(
    bits=st.sampled_from([1, 5, 40, 60, 63, 64]),
    values=st.lists(st.integers(0, 2**64 - 1), max_size=40),
    spread=st.sampled_from([1, 7, 2**64 - 1]),
)
def test_words_in_their_order_with_their_rows(bits, values, spread):
    words = np.array([value % spread % 2**bits for value in values], np.uint64)
    found, rows = ascending(words, bits=bits)
    expected = np.argsort(words, kind="stable")
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(found, words[expected])
    assert (found.dtype, rows.dtype) == (np.uint64, np.int64)


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(0, 300), st.sampled_from([1, 4, 10**9]))
def test_codes_of_each_cell_are_added_up(seed, k, n, top):
    """Cells of no row, of a few, and of hundreds; codes few and far apart."""
    rng = np.random.default_rng(seed)
    cell, codes, records = rng.integers(0, k, n).astype(np.int32), rng.integers(0, top, n), rng.integers(1, 9, n)
    edges, level, count = tally(cell, codes, records, k)
    assert (len(edges), edges[0], edges[-1], len(count)) == (k + 1, 0, len(level), len(level))
    for number in range(k):
        own = cell == number
        expected, place = np.unique(codes[own], return_inverse=True)
        here = slice(edges[number], edges[number + 1])
        assert level[here].tolist() == expected.tolist()
        assert count[here].tolist() == np.bincount(place, records[own], len(expected)).astype(int).tolist()


@given(st.lists(st.floats(-9, 9), max_size=40))
def test_numbers_are_sorted_in_place(numbers):
    for sort in both_forms(grouping, "sort_in_place"):
        values = np.array(numbers, np.float64)
        sort(values)
        assert values.tolist() == sorted(numbers)


@given(st.lists(st.integers(0, 9), max_size=30), st.permutations(range(8)))
def test_first_rows_and_places_are_those_of_a_search(of_row, order):
    first = first_of_groups(np.array(of_row, np.int64), 10).tolist()
    assert first == [of_row.index(group) if group in of_row else -1 for group in range(10)]
    chosen = order[:5]
    places = places_among(np.array(chosen), 8).tolist()
    assert places == [chosen.index(number) if number in chosen else -1 for number in range(8)]
    values = np.arange(8) * 1.5
    assert in_place(values[order], np.array(order)).tolist() == values.tolist()
