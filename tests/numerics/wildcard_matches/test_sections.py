"""Merging of cells in sections, look-ups of filled cells and figures, beside plain loops."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.numerics.wildcard_matches import sections
from sdckit.numerics.wildcard_matches.sections import Room, Sections, count, fill, merge_few, merge_sections, parts_of

BITS = 3
MISSING = 7  # in the first two of four fields
FIRST, SECOND, THIRD = 0b111, 0b111 << BITS, 0b111 << 2 * BITS
WORD = 0xFFFFFFFFFFFFFFFF


def pattern(word):
    return (word & FIRST == FIRST) | (word & SECOND == SECOND) << 1


def made(rng, n, levels=4):
    codes = rng.integers(0, levels, (n, 4))
    codes[:, :2][rng.random((n, 2)) < 0.3] = MISSING
    words = np.unique(sum(codes[:, j].astype(np.uint64) << np.uint64(BITS * j) for j in range(4)))
    of = np.array([pattern(int(word)) for word in words])
    words = words[np.argsort(of, kind="stable")]
    of = np.sort(of)
    present = np.unique(np.append(of, 0))
    edges = np.append(np.searchsorted(of, present), len(words))
    sums = np.stack([rng.integers(1, 4, len(words)), rng.integers(4, 90, len(words)) / 4], axis=1).astype(float)
    return Sections(words, sums, np.arange(len(words), dtype=float), present.astype(np.uint64), edges)


def room_for(cells, parts):
    return Room(len(cells.words), len(cells.words) - int(cells.edges[1]), int(parts[1][-1]))


@given(
    st.integers(0, 2**32), st.integers(1, 300), st.sampled_from([(FIRST, 1), (SECOND, 2), (THIRD, 0)]), st.booleans()
)
def test_cells_merge_into_sections(seed, n, dropped, few):
    cells = made(np.random.default_rng(seed), n)
    field, gone = dropped
    parts = parts_of(cells.words, WORD & ~(FIRST | SECOND | THIRD) & 0xFFF)
    what = {"clear": WORD & ~field, "gone": gone}
    if few:
        found = merge_few(cells, cells.words, **what)
    else:
        found = merge_sections(cells, cells.words, parts, room_for(cells, parts), **what)
    expected = defaultdict(lambda: [0.0, 0.0])
    for word, (size, weight), of in zip(
        cells.words.tolist(), cells.sums.tolist(), np.repeat(cells.present, np.diff(cells.edges)).tolist(), strict=True
    ):
        key = (of & ~gone, word & ~field)
        expected[key][0] += size
        expected[key][1] += weight
    of_cell = np.repeat(found.present, np.diff(found.edges)).tolist()
    keys = list(zip(of_cell, found.words.tolist(), strict=True))
    assert len(keys) == len(set(keys))
    assert dict(zip(keys, found.sums.tolist(), strict=True)) == expected  # quarters: exact
    assert found.present[0] == 0
    assert (np.diff(found.present.astype(int)) > 0).all()
    # a cell that merged with none keeps its risk, the number of its word here
    alone = ~np.isnan(found.risk)
    assert (cells.words[found.risk[alone].astype(int)] & np.uint64(WORD & ~field) == found.words[alone]).all()
    left = (cells.words & np.uint64(WORD & ~field)).tolist()
    assert alone.tolist() == [left.count(word) == 1 for word in found.words.tolist()]


@given(st.integers(0, 2**32), st.integers(1, 300), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_filled_cells_meet_complete_ones(seed, n, alpha, shared):
    cells = made(np.random.default_rng(seed), n)
    keep = FIRST | THIRD if shared else THIRD
    parts = parts_of(cells.words, keep)
    room = room_for(cells, parts)
    cells = merge_sections(cells, cells.words, parts, room, clear=WORD, gone=0)
    add, expected = np.zeros((len(cells.words), 2)), np.zeros((len(cells.words), 2))
    levels = {1: np.arange(4, dtype=np.uint64), 2: np.arange(4, dtype=np.uint64) << np.uint64(BITS)}
    for p in range(1, len(cells.present)):
        own = int(cells.present[p])
        clear = WORD & ~(FIRST * (own & 1) | SECOND * (own >> 1))
        outer = [levels[1]] if own & 1 and shared else []
        inner = [levels[bit] for bit in (1, 2) if own & bit and not (bit == 1 and shared)]
        fill(cells, p, parts, room, clear=clear, inner=inner, outer=outer, alpha=alpha, add=add)
        for r in range(cells.edges[p], cells.edges[p + 1]):
            for g in range(cells.edges[1]):
                if int(cells.words[r] ^ cells.words[g]) & clear == 0:
                    expected[g] += alpha * cells.sums[r]
                    expected[r] += cells.sums[g]
    np.testing.assert_allclose(add, expected, rtol=1e-12)


def test_more_filled_cells_than_are_kept(monkeypatch):
    n = 3 * sections.LIKELY
    words = np.append(np.arange(n, dtype=np.uint64) << np.uint64(1), np.uint64(2 * n))
    cells = Sections(words, np.ones((n + 1, 2)), np.ones(n + 1), np.array([0, 1], np.uint64), np.array([0, n, n + 1]))
    parts = parts_of(words, 1)
    room = room_for(cells, parts)
    cells = merge_sections(cells, words, parts, room, clear=WORD, gone=0)
    add = np.zeros((n + 1, 2))
    fill(cells, 1, parts, room, clear=1, inner=[words[:n]], outer=[], alpha=0.25, add=add)
    assert add[-1].tolist() == [n, n]
    assert (add[:-1] == 0.25).all()


def test_figures():
    sums = np.array([[1.0, 4.0], [2.0, 2.0], [1.0, 9.0]])
    add = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 3.0]])
    risk = np.array([0.125, np.nan, 0.5])  # as known; unknown; of a cell that now matches another
    cells = Sections(np.arange(3, dtype=np.uint64), sums, risk, np.array([0], np.uint64), np.array([0, 3]))
    found = count(cells, add, np.array([1.5, 2.5]))
    assert found.below.tolist() == [1, 4]
    p = 2 / 12
    one = p / (1 - p) ** 2 * (p * math.log(p) + 1 - p)  # two records that stand for twelve
    assert found.risk == pytest.approx(0.125 + 1 + one)
    assert risk[1] == 1.0  # now known


def test_compiled_kernels_do_what_their_source_says():
    cells = made(np.random.default_rng(2), 60)
    results = []
    for pick in (lambda kernel: kernel, lambda kernel: kernel.py_func):
        with np.errstate(over="ignore"):
            counts = np.zeros(4, np.int64)
            pick(sections._count_parts)(cells.words, np.uint64(THIRD), counts)
            add, below = np.zeros((len(cells.words), 2)), np.zeros(2)
            risk = np.full(len(cells.words), np.nan)
            total = pick(sections._figures)(cells.sums, add, risk, np.array([2.0, 3.0]), below)
        results.append((counts.tolist(), below.tolist(), pytest.approx(total)))
    assert results[0] == results[1]
