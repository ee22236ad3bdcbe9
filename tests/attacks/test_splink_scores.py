"""Weights of pairs by splink: the model's own arithmetic, and what is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from sdckit.attacks.splink_scores import Compared, need_splink, scored_pairs
from sdckit.errors import DataError

RNG = np.random.default_rng(4)
NAMES = ["".join(RNG.choice(list("abcdefgh"), 6)) for _ in range(40)]
SLIPS = [name[:5] + "z" if i % 5 == 0 else name for i, name in enumerate(NAMES)]
AGE = RNG.integers(20, 80, 40).astype(float)
SEX = RNG.choice(["f", "m"], 40).tolist()
COLUMNS = [
    Compared("my name", "text", NAMES, SLIPS),
    Compared("age", "number", AGE, np.where(np.arange(40) % 4 == 1, AGE + 1, AGE), near=1.5),
    Compared("sex", "exact", SEX, SEX),
]


def test_a_weight_is_the_sum_over_the_variables():
    found = scored_pairs(COLUMNS, [], 1)
    assert len(found.weight) == 1600
    levels = {(one.variable, one.agreement): np.log2(one.m / one.u) for one in found.levels}
    assert [one.agreement for one in found.levels[:4]] == ["equal", "a slip", "several slips", "different"]
    start = np.log2(found.prior / (1 - found.prior))
    for i in (2, 5, 1):  # equal, a slip in the name, an age next to it
        name = "a slip" if i == 5 else "equal"
        age = "near" if i in (5, 1) else "equal"
        expected = start + levels["my name", name] + levels["age", age] + levels["sex", "equal"]
        at = (found.original == i) & (found.released == i)
        assert found.weight[at].item() == pytest.approx(expected, abs=1e-6)
    assert found.prior == pytest.approx(1 / 40, rel=0.2)


def test_u_is_counted_over_all_pairs():
    found = scored_pairs(COLUMNS, [], 1)
    share = np.mean(np.array(SEX)[:, None] == np.array(SEX)[None])
    u = {(one.variable, one.agreement): one.u for one in found.levels}
    assert u["sex", "equal"] == pytest.approx(share)


def test_blocking_leaves_pairs_out():
    found = scored_pairs(COLUMNS, [[0], [1, 2]], 1)
    assert 0 < len(found.weight) < 200
    agree = [NAMES[i] == SLIPS[j] or (COLUMNS[1].released[j] == AGE[i] and SEX[i] == SEX[j])
             for i, j in zip(found.original, found.released, strict=True)]  # fmt: skip
    assert all(agree)


def test_what_cannot_be_estimated_is_one_clear_error():
    none = [Compared("x", "exact", [None] * 3, [None] * 3), Compared("y", "exact", ["a"] * 3, [None] * 3)]
    with pytest.raises(DataError, match="splink could not estimate the model"):
        scored_pairs(none, [[0], [1]], 1)


def test_without_splink_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "splink", None)
    with pytest.raises(DataError, match=r"pip install 'sdckit\[linkage\]'"):
        need_splink()
