"""Levels that may be common knowledge."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attribute.disclosure.disclosure_checks import DisclosureCheck, one_way, two_way
from sdckit.attribute.disclosure.key_target import KeyTarget
from sdckit.cells.shared_coding import SharedCoding


def column(name, codes, n_levels):
    labels = ["(missing)", *"abcdefgh"[:n_levels]]
    return SharedCoding(name, (np.array(codes, np.int32),), n_levels, "text", lambda: labels)


def one(correct):
    return one_way(1, column("t", [1, 2], 2), np.arange(len(correct), dtype=np.int32), np.array(correct))


@pytest.mark.parametrize(
    ("correct", "flagged"),
    [
        ([0, 51, 0], True),
        ([0, 50, 0], False),  # as many as the limit are not more
        ([0, 900, 100], False),
        ([0, 901, 100], True),
        ([99, 0, 1], True),
        ([0, 0, 0], False),
    ],
)
def test_one_level_makes_up_nearly_all(correct, flagged):
    found = one(correct)
    assert bool(found) == flagged
    if flagged:
        level = "(missing)" if correct[0] else "a"
        assert found == [DisclosureCheck(1, level, "", "", max(correct), max(correct) / sum(correct))]


def test_a_level_that_goes_with_one_of_a_key():
    # of 10 records with k = a, 9 have t = b; of 5 with k = b, 4
    key = column("k", [1] * 10 + [2] * 5, 2)
    target = column("t", [2] * 9 + [1] + [2] * 4 + [1], 2)
    # groups of the key come in any order
    table = KeyTarget(np.array([1, 0, 1], np.int32), np.array([2, 2, 1], np.int32), (), (), ())
    codes = [np.array([2, 1], np.int32)]

    def flagged(correct):
        return two_way(2, target, [key], table, codes, np.array(correct))

    assert flagged([5, 5, 0]) == [DisclosureCheck(2, "b", "k", "a", 5, 0.9)]  # 4 of 5 are not more than 80 %
    assert flagged([4, 5, 0]) == []  # cells of more than four records only
    assert flagged([5, 5, 7]) == [DisclosureCheck(2, "b", "k", "a", 5, 0.9)]


@pytest.mark.parametrize("n", [40, 4000])  # fewer records than pairs of levels, and more
def test_records_with_pairs_of_levels(n):
    rng = np.random.default_rng(2)
    own = rng.integers(0, 9, n)
    other = np.where(rng.random(n) < 0.8, own, rng.integers(0, 9, n))
    key, target = column("k", own, 8), column("t", other, 8)
    level = np.arange(9, dtype=np.int32)
    table = KeyTarget(np.arange(9, dtype=np.int32), level, (), (), ())
    found = two_way(1, target, [key], table, [level], np.full(9, 5))
    shares = [float(np.mean(other[own == one] == one)) for one in range(9)]
    expected = [share for share in shares if share > 0.8]
    assert 0 < len(expected) < 9
    assert [check.share for check in found] == expected
