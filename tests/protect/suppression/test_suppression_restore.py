"""Values that nobody needs any more are given back."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, frequencies, without, working
from sdckit.protect.suppression import suppression_restore
from sdckit.protect.suppression.suppression_restore import restore


def applied(rows, masks, risky):
    left = [*rows]
    for i, mask in zip(risky, masks, strict=True):
        left[i] = without(rows[i], {j for j in range(len(rows[0])) if int(mask) >> j & 1})
    return left


def restored(rows, k, masks):
    at = working(rows).situation(range(len(rows[0])))
    risky, _ = at.rows_of(at.at_risk(k))
    masks = np.asarray(masks[: len(risky)], np.uint64)
    now = np.array(frequencies(applied(rows, masks, risky)))[risky]
    return risky, restore(at, k, at.of_row[risky].astype(np.int64), masks, now, (1.0,) * len(rows[0]))


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_k_still_holds_and_nothing_more_could_be_given_back(missing):
    rng = np.random.default_rng(3)
    for seed in range(6):
        rows = draw_rows(seed, 20, (3, 5, 8), missing)
        risky, left = restored(rows, 3, [0b111] * 20)
        assert len(risky)
        assert min(frequencies(applied(rows, left, risky))) >= 3
        i = int(rng.integers(len(risky)))
        for j in range(3):
            if int(left[i]) >> j & 1 and rows[risky[i]][j] is not None:
                fewer = left.copy()
                fewer[i] ^= np.uint64(1 << j)
                assert min(frequencies(applied(rows, fewer, risky))) < 3


def test_a_needless_value_comes_back():
    rows = [(1, 1), (1, 2), (1, 3), (1, 3)]
    assert restored(rows, 2, [0b10, 0b10])[1].tolist() in ([0b10, 0], [0, 0b10])


def test_what_would_take_long_or_fits_no_word_is_left(monkeypatch):
    monkeypatch.setattr(suppression_restore, "WORD", 3)
    wide = [(i, i % 5) for i in range(9)]
    assert restored(wide, 2, [0b11] * 9)[1].tolist() == [0b11] * 9
    monkeypatch.undo()
    monkeypatch.setattr(suppression_restore, "COMPARISONS", 0)
    assert restored([(1, 1), (1, 2)], 2, [0b10, 0b10])[1].tolist() == [0b10, 0b10]


def test_levels_far_apart_are_numbered_anew():
    far = 1 << 31
    wide = [(far, far, 0), (0, 1, far), (far, 0, 1), (0, 0, 0)]
    near = [(2, 2, 0), (0, 1, 2), (2, 0, 1), (0, 0, 0)]
    one, other = restored(wide, 2, [0b111] * 4), restored(near, 2, [0b111] * 4)
    assert one[1].tolist() == other[1].tolist() != [0b111] * 4
    gaps = [(None, *row[1:]) if i == 1 else row for i, row in enumerate(wide)]
    risky, left = restored(gaps, 3, [0b111] * 4)
    assert min(frequencies(applied(gaps, left, risky))) >= 3
