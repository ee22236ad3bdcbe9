"""A4 against all subsets tried one by one, and the laws of minimal sample uniques."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import suda

SCALES = st.sampled_from(["elliot", "ihsn"])
FRACTIONS = st.sampled_from([0.01, 0.3, 1.0])


def measure(file, **options):
    with quiet():
        return suda(file.frame(), keys=file.keys, missing=dict(zip(file.keys, file.rules, strict=True)), **options)


def weight(size, n_keys, max_size, scoring):
    """The score of a minimal unique, multiplied out."""
    if scoring == "ihsn":
        ways = math.factorial(size) * math.factorial(n_keys - size) / math.factorial(n_keys)
        return (2 ** (n_keys - size) - 1) * ways
    score = 1
    for i in range(size, max_size + 1):
        if i < n_keys:
            score *= n_keys - i
    return score


def spread(scores, n_keys, uniques, pairs, fraction):
    """DIS and its share per record, by the formula as it is printed."""
    if not uniques:
        return 0.0, [0.0] * len(scores)
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    q = 1 + (8 - n_keys) / 20
    total = math.fsum(s**-q for s in scores if s > 0)
    return dis, [1 / (1 + (uniques / dis - uniques) / (s**q * total)) if s > 0 else 0.0 for s in scores]


@given(files(max_keys=5), st.integers(1, 5), SCALES, FRACTIONS)
def test_agrees_with_trying_all_subsets(file, max_size, scoring, fraction):
    n_keys = len(file.keys)
    max_size = min(max_size, n_keys)
    result = measure(file, max_size=max_size, scoring=scoring, sampling_fraction=fraction)
    truth = brute.minimal_uniques(file.rows, file.wild, max_size)
    scores = [math.fsum(weight(len(one), n_keys, max_size, scoring) for one in mine) for mine in truth]
    records = result.records
    assert records["suda_score"].to_list() == pytest.approx(scores, rel=1e-12)
    assert records["n_msu"].to_list() == [len(mine) for mine in truth]
    assert records["smallest_msu"].to_list() == [min(map(len, mine), default=0) for mine in truth]
    sizes = Counter(len(one) for mine in truth for one in mine)
    assert result.msu_counts == {k: sizes[k] for k in range(1, max_size + 1)}
    times = Counter(file.rows)
    uniques, pairs = (sum(times[row] == f for row in file.rows) for f in (1, 2))
    assert (result.sample_uniques, result.pairs) == (uniques, pairs)
    dis, shares = spread(scores, n_keys, uniques, pairs, fraction)
    assert result.dis == pytest.approx(dis, rel=1e-12)
    assert records["dis_score"].to_list() == pytest.approx(shares, rel=1e-10)
    assert result.unscored_uniques == sum(bool(mine) and not s for mine, s in zip(truth, scores, strict=True))
    listed = result.msus()
    rows = zip(listed["row"], listed["variables"], strict=True)
    expected = sorted((i, " + ".join(file.keys[j] for j in one)) for i, mine in enumerate(truth, 1) for one in mine)
    assert sorted(rows) == expected
    assert listed["size"].to_list() == sorted(listed["size"].to_list())


@given(files(max_keys=4), SCALES)
def test_contributions(file, scoring):
    n_keys = len(file.keys)
    result = measure(file, scoring=scoring)
    truth = brute.minimal_uniques(file.rows, file.wild, n_keys)
    parts = [(i, one, weight(len(one), n_keys, n_keys, scoring)) for i, mine in enumerate(truth) for one in mine]
    total = math.fsum(w for _, _, w in parts)
    for j, key in enumerate(file.keys):
        mine = [(i, w) for i, one, w in parts if j in one]
        of_key = math.fsum(w for _, w in mine)
        assert result.contributions[key] == pytest.approx(of_key / total if total else math.nan, nan_ok=True)
        levels = result.level_contributions[key]
        values = {row[j] for row in file.rows}
        assert len(levels) == len(values)
        by_level = [
            math.fsum(w for i, w in mine if file.rows[i][j] == value) / of_key if of_key else math.nan
            for value in values
        ]
        assert sorted(levels.values()) == pytest.approx(sorted(by_level), nan_ok=True)
        assert sum(levels.values()) == pytest.approx(1 if of_key else math.nan, nan_ok=True)


@given(files())
def test_the_minimal_uniques_of_a_record_are_an_antichain(file):
    listed = measure(file).msus()
    sets = {}
    for row, variables in zip(listed["row"], listed["variables"], strict=True):
        sets.setdefault(row, []).append(set(variables.split(" + ")))
    assert not any(a <= b or b <= a for mine in sets.values() for a, b in combinations(mine, 2))


@given(files(), st.data())
def test_a_duplicate_removes_the_minimal_uniques_of_its_record(file, data):
    i = data.draw(st.integers(0, len(file.rows) - 1))
    before = measure(file).records["n_msu"].to_list()
    frame = file.frame()
    with quiet():
        missing = dict(zip(file.keys, file.rules, strict=True))
        more = suda(pl.concat([frame, frame[i]]), keys=file.keys, missing=missing)
    after = more.records["n_msu"].to_list()
    assert after[i] == after[-1] == 0
    for j, (old, new) in enumerate(zip(before, after, strict=False)):
        if file.rows[j] != file.rows[i]:
            assert new == old  # a pattern that is in the file already changes nothing for others


@given(files())
def test_every_unique_without_missing_keys_has_a_minimal_unique(file):
    result = measure(file)
    times = Counter(file.rows)
    for row, n_msu in zip(file.rows, result.records["n_msu"].to_list(), strict=True):
        gap = any(free and value is None for value, free in zip(row, file.wild, strict=True))
        if times[row] > 1:
            assert n_msu == 0
        elif not gap:
            assert n_msu > 0


@given(files(), st.randoms())
def test_the_order_of_records_and_keys_is_no_matter(file, random):
    frame, keys = file.frame(), file.keys
    rules = dict(zip(keys, file.rules, strict=True))
    order, other = list(range(len(frame))), list(keys)
    random.shuffle(order)
    random.shuffle(other)
    result = measure(file)
    with quiet():
        again = suda(frame[order], keys=other, missing=rules)
    assert again.msu_counts == result.msu_counts
    assert again.contributions == pytest.approx(result.contributions, nan_ok=True)
    assert again.records["suda_score"].to_list() == result.records["suda_score"][order].to_list()
