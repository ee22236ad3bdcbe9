"""Every kernel of the search against plain loops, compiled and as Python."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.identity import suda_kernel as kernel
from sdckit.identity.suda_kernel import SMALL, START

FORMS = pytest.mark.parametrize("form", [lambda f: f, lambda f: f.py_func], ids=["compiled", "python"])


def bits(members, n):
    out = np.zeros(-(-n // 64), np.uint64)
    for cell in members:
        out[cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)
    return out


def members(words, n):
    return {i for i in range(n) if int(words[i >> 6]) >> (i & 63) & 1}


def listing(groups):
    """A list of cells by group."""
    return np.array(
        [cell | (int(START) if i == 0 else 0) for group in groups for i, cell in enumerate(group)], np.int64
    ).astype(np.int32)


def groups_of(listed):
    out: list[list[int]] = []
    for cell in listed.tolist():
        if cell < 0:
            out.append([])
        out[-1].append(cell & 0x7FFFFFFF)
    return out


@FORMS
def test_bit_sets(form):
    n, rng = 130, np.random.default_rng(1)
    sets = [set(rng.choice(n, 90, replace=False).tolist()) for _ in range(3)]
    out = np.empty(3, np.uint64)
    form(kernel.intersect)(np.stack([bits(one, n) for one in sets]), out)
    assert members(out, n) == sets[0] & sets[1] & sets[2]
    alone = np.array(sorted(sets[0] & sets[1])[:5], np.int32)
    form(kernel.without)(bits(sets[0], n), bits(sets[1], n), alone, out)
    assert members(out, n) == (sets[0] & sets[1]) - set(alone.tolist())
    form(kernel.mark)(listing([[129, 0], [64, 63, 5]]), out)
    assert members(out, n) == {0, 5, 63, 64, 129}


@FORMS
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("sizes", [[1, 2, 2, 2, 2, 3], [SMALL, SMALL + 1, 2], [200, 2, 5, 1]])
def test_split(form, dtype, sizes):
    rng = np.random.default_rng(len(sizes) + sizes[0])
    n = sum(sizes)
    for span in (2, 7, 256):
        cells = rng.permutation(n).tolist()
        groups = [cells[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(len(sizes))]
        code = rng.integers(0, span, n).astype(dtype)
        single, allowed = rng.random(n) < 0.4, set(np.flatnonzero(rng.random(n) < 0.8).tolist())
        scratch = [np.empty(n, np.int32) for _ in range(4)]
        counts = np.zeros(span + 2, np.int64)
        n_out, n_alone = form(kernel.split)(
            listing(groups), bits(allowed, n), code, single, scratch[0], np.empty(n, dtype), counts,
            scratch[1], scratch[2], scratch[3],
        )  # fmt: skip
        kept, alone = [], set()
        for group in groups:
            for value in set(code[group].tolist()):
                run = {cell for cell in group if code[cell] == value and cell in allowed}
                if len(run) == 1 and single[list(run)].all():
                    alone |= run
                elif len(run) > 1 and single[list(run)].any():
                    kept.append(run)
        assert set(scratch[3][:n_alone].tolist()) == alone
        assert n_alone == len(alone)
        found = [set(one) for one in groups_of(scratch[2][:n_out])]
        assert sorted(map(sorted, found)) == sorted(map(sorted, kept))
        assert not counts.any()


@FORMS
def test_count_in_table(form):
    rng = np.random.default_rng(3)
    n = 150
    codes = rng.integers(0, 7, (3, n)).astype(np.uint8)
    single = rng.random(n) < 0.7
    present, allowed = (set(np.flatnonzero(rng.random(n) < 0.8).tolist()) for _ in range(2))
    alone, table = np.empty(n, np.int32), np.zeros(49, np.uint8)
    chosen = np.array([0, 2])
    found = form(kernel.count_in_table)(
        codes, chosen, np.array([1, 7]), bits(present, n), bits(allowed, n), single, table, alone
    )
    patterns = [tuple(codes[chosen, i].tolist()) for i in range(n)]
    here = [patterns[i] for i in sorted(present) for _ in range(1 if single[i] else 2)]
    expected = [i for i in sorted(present & allowed) if single[i] and here.count(patterns[i]) == 1]
    assert alone[:found].tolist() == expected
    assert len(expected) > 3
    assert not table.any()


@FORMS
def test_book(form):
    codes = np.array([[0, 1, 1], [2, 0, 1]], np.uint8)
    by_size, by_level = np.zeros((3, 2), np.uint32), np.zeros((2, 5))
    form(kernel.book)(np.array([0, 2]), 1, np.array([0, 1]), codes, np.array([0, 2, 5]), by_size, by_level)
    form(kernel.book)(np.array([2]), 0, np.array([1]), codes, np.array([0, 2, 5]), by_size, by_level)
    assert by_size.tolist() == [[0, 1], [0, 0], [1, 1]]
    assert by_level.tolist() == [[0, 0, 0, 1, 0], [1, 1, 0, 1, 1]]
