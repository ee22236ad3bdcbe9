"""Weights of pairs: the model's own arithmetic, and what is refused."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import numpy as np
import pytest
from pyspark.errors import PySparkException

from sdckit.attacks.linkage import linkage_scores as home
from sdckit.attacks.linkage.linkage_scores import Compared, need_duckdb, scored_links
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
    found = scored_links(COLUMNS, [], 1)
    assert found.n_pairs == 1600
    levels = {(one.variable, one.agreement): np.log2(one.m / one.u) for one in found.levels}
    assert [one.agreement for one in found.levels[:4]] == ["equal", "a slip", "several slips", "different"]
    start = np.log2(found.prior / (1 - found.prior))
    for i in (2, 5, 1):  # equal, a slip in the name, an age next to it
        name = "a slip" if i == 5 else "equal"
        age = "near" if i in (5, 1) else "equal"
        expected = start + levels["my name", name] + levels["age", age] + levels["sex", "equal"]
        assert found.weight[i] == pytest.approx(expected, abs=1e-6)
        assert found.correct[i] == 1
    assert found.prior == pytest.approx(1 / 40, rel=0.2)


def test_u_is_counted_over_all_pairs():
    found = scored_links(COLUMNS, [], 1)
    share = np.mean(np.array(SEX)[:, None] == np.array(SEX)[None])
    u = {(one.variable, one.agreement): one.u for one in found.levels}
    assert u["sex", "equal"] == pytest.approx(share)


def test_with_rules_u_is_counted_over_the_pairs_of_drawn_records(monkeypatch):
    rules = [[0], [1, 2]]
    whole = scored_links(COLUMNS, rules, 1)
    share = np.mean(np.array(SEX)[:, None] == np.array(SEX)[None])
    assert {(one.variable, one.agreement): one.u for one in whole.levels}["sex", "equal"] == pytest.approx(
        share
    )
    monkeypatch.setattr(home, "SAMPLE", 400)  # 20 of 40 records of both files
    found = [[one.u for one in scored_links(COLUMNS, rules, seed).levels] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2], equal_nan=True)
    assert np.nansum(found[0][-2:]) == pytest.approx(1)
    assert (np.array(found[0][-2:]) * 400 % 1 == 0).all()


def test_blocking_leaves_pairs_out():
    found = scored_links(COLUMNS, [[0], [1, 2]], 1)
    slipped = COLUMNS[1].released
    agree = [(i, j) for i in range(40) for j in range(40)
             if NAMES[i] == SLIPS[j] or (slipped[j] == AGE[i] and SEX[i] == SEX[j])]  # fmt: skip
    assert found.n_pairs == len(agree) < 200
    assert sum(right for _, _, right in found.steps) == sum(i == j for i, j in agree)
    assert np.isnan(found.weight).tolist() == [j not in {pair[1] for pair in agree} for j in range(40)]
    assert (found.correct[np.isnan(found.weight)] == 0).all()


def test_links_at_a_threshold():
    found = [scored_links(COLUMNS, [], 1, threshold=share) for share in (1e-9, 0.5, 0.999)]
    assert 1600 > found[0].n_linked > found[1].n_linked >= found[2].n_linked
    whole = scored_links(COLUMNS, [], 1, threshold=2**3 / (1 + 2**3))  # log2 of the odds is 3
    above = [row for row in whole.steps if row[0] >= 3]
    assert whole.n_linked == sum(pairs for _, pairs, _ in above)
    assert whole.n_right == sum(right for _, _, right in above)


def test_what_cannot_be_estimated_is_one_clear_error():
    none = [Compared("x", "exact", [None] * 3, [None] * 3), Compared("y", "exact", ["a"] * 3, [None] * 3)]
    with pytest.raises(DataError, match="the model cannot be estimated"):
        scored_links(none, [[0], [1]], 1)


def test_what_spark_cannot_do_is_not_blamed_on_the_variables(monkeypatch):
    class SparkRuntimeError(PySparkException):
        pass

    class Broken:
        similarity = "similar"

        def load(self, name, table):
            raise SparkRuntimeError("Frau Kant")

    monkeypatch.setattr(home, "open_spark", lambda session: nullcontext(Broken()))
    with pytest.raises(DataError, match=r"Spark could not compare the pairs \(SparkRuntimeError\)") as caught:
        scored_links(COLUMNS, [], 1, session="a session")
    assert "Kant" not in str(caught.value)


def test_without_duckdb_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(DataError, match=r"pip install 'sdckit\[linkage\]'"):
        need_duckdb()
