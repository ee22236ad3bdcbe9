"""Groups that tell a value: counted by hand, each record left out once, and held against chance."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.attacks.recovery import group_agreement
from sdckit.attacks.recovery.group_agreement import (
    DEVIATING,
    FEWEST_RIGHT,
    LONGEST,
    MOST_WRONG,
    SUPPORTS,
    Tally,
    agreement_by_chance,
    judge_agreement,
    judge_rule,
    log_tail,
    tally_groups,
    tally_known,
)

RNG = np.random.default_rng(1)


def tallied(group, codes) -> Tally:
    group, codes = np.array(group, np.int32), np.array(codes, np.int32)
    return tally_groups(group, codes, int(group.max(initial=-1)) + 1)


def shares_of(codes):
    counts = np.bincount(np.array(codes)[np.array(codes) > 0])
    return counts / counts.sum()


pairs = st.lists(st.tuples(st.integers(-1, 6), st.integers(0, 4)), min_size=1, max_size=60)


@given(pairs)
def test_groups_are_counted_as_by_hand(records):
    found = tallied([g for g, _ in records], [c for _, c in records])
    for group in range(len(found.code)):
        counts = Counter(code for g, code in records if g == group and code > 0)
        assert found.size[group] == counts.total()
        assert found.votes[group] == counts[int(found.code[group])]
        if counts and 2 * max(counts.values()) > counts.total():
            assert found.votes[group] == max(counts.values())


def test_groups_counted_in_a_table_are_judged_alike():
    """With few groups, with a group of four that has no majority, and with more cells than are counted."""
    rng = np.random.default_rng(8)
    for groups, small in ((3, 0), (300, 0), (300, 4), (30_000, 0)):
        group = rng.integers(0, groups, 20_000).astype(np.int32)
        codes = np.where(rng.random(20_000) < 0.01, rng.integers(0, 5, 20_000), group % 4 + 1).astype(np.int32)
        group[:small], codes[:small] = groups, np.arange(small) % 2 + 1
        plain, table = tally_groups(group, codes, groups + 1), tally_known(group, codes, groups + 1, 4)
        surely = 2 * plain.votes > plain.size
        assert table.size.tolist() == plain.size.tolist()
        for counted, once in ((table.code, plain.code), (table.votes, plain.votes)):
            assert (counted[surely] == once[surely]).all()
        rules = [judge_agreement(tally, shares_of(codes)) for tally in (plain, table)]
        first, second = (rule and (rule.tells.tolist(), rule.wrong) for rule in rules)
        assert first == second


def left_out(group, codes, rule):
    """Every known record left out: right and wrong ones, where the majority of the others tells."""
    right = wrong = 0
    known = [i for i, code in enumerate(codes) if code and group[i] >= 0]
    for i in known:
        others = [codes[j] for j in known if j != i and group[j] == group[i]]
        code, votes = Counter(others).most_common(1)[0] if others else (0, 0)
        column = sum(share < 1 - votes / max(len(others), 1) - 1e-12 for share in DEVIATING)
        if others and column < len(DEVIATING) and rule.tells[sum(len(others) >= SUPPORTS) - 1, column]:
            right += code == codes[i]
            wrong += code != codes[i]
    return right, wrong


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 0.2))
def test_a_rule_errs_no_more_often_than_it_is_said_to(seed, noise):
    """Brute force: where a rule is found, leaving each record out once shows no more errors than it claims."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, rng.integers(5, 80), 300)
    codes = np.where(rng.random(300) < noise, rng.integers(1, 5, 300), group % 4 + 1)
    rule = judge_agreement(tallied(group, codes), shares_of(codes))
    if rule is None:
        return
    right, wrong = left_out(group.tolist(), codes.tolist(), rule)
    assert right >= FEWEST_RIGHT
    assert wrong / (right + wrong) <= max(rule.wrong, 1e-12)
    assert rule.wrong <= MOST_WRONG


def test_one_deviating_record_in_the_largest_group_ends_nothing():
    """400 records with one value but one; the others in groups of twenty, and one deviates in a few of these."""
    group = np.concatenate([np.zeros(400), 1 + np.arange(800) // 20]).astype(int)
    codes = group % 4 + 1
    codes[[7, 500, 731]] = 1 + codes[[7, 500, 731]] % 4
    tally = tallied(group, codes)
    rule = judge_agreement(tally, shares_of(codes))
    assert rule is not None
    assert rule.telling(tally).all()
    assert (tally.code == np.arange(41) % 4 + 1).all()


def test_many_exceptions_tell_only_where_many_values_are_asked_for():
    """Suppressed could be just those who deviate: one value asked for may be one of the four in a hundred who do."""
    rng = np.random.default_rng(3)
    group = np.arange(2000) % 20
    codes = np.where(rng.random(2000) < 0.04, rng.integers(1, 5, 2000), group % 4 + 1)
    tally, shares = tallied(group, codes), shares_of(codes)
    assert judge_agreement(tally, shares, asked=lambda: np.array([3], np.int32)) is None
    assert judge_agreement(tally, shares, asked=lambda: rng.integers(0, 20, 900).astype(np.int32)) is not None


def test_a_part_with_one_value_nearly_is_no_rule():
    """What is told must be more than the one value that nearly all have of whom anything is told."""
    group = np.arange(3000) % 30
    codes = np.where(group < 15, 1, 2 + np.arange(3000) // 30 % 4)
    codes[np.arange(0, 3000, 203)] = 5
    assert judge_agreement(tallied(group, codes), shares_of(codes)) is None


@given(st.floats(0.05, 0.95), st.integers(2, LONGEST - 1))
def test_chance_is_that_of_independent_draws(share, size):
    """Two values: the probability that at most a share of a group has the other one."""
    for allowed, chance in zip(DEVIATING, agreement_by_chance(np.array([0.0, share, 1 - share])), strict=True):
        most = math.floor(allowed * (size - 1))
        exact = sum(
            math.comb(size, off) * p ** (size - off) * (1 - p) ** off
            for p in (share, 1 - share) for off in range(most + 1)
        )  # fmt: skip
        assert chance[size] == pytest.approx(min(exact, 1.0))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8), st.integers(2, 250))
def test_random_groups_tell_nothing(seed, levels, groups):
    rng = np.random.default_rng(seed)
    codes = rng.integers(1, levels + 1, 400)
    assert judge_agreement(tallied(rng.integers(0, groups, 400), codes), shares_of(codes)) is None


def test_an_exact_rule_is_one_from_thirty_records_on():
    for records, expected in ((FEWEST_RIGHT, True), (FEWEST_RIGHT - 2, False)):
        group = np.arange(records) // 2
        codes = group + 1
        assert (judge_agreement(tallied(group, codes), shares_of(codes)) is not None) is expected


def test_one_value_alone_is_no_news():
    group = np.arange(400) // 4
    assert judge_agreement(tallied(group, np.ones(400)), np.array([0.0, 1.0])) is None


def test_small_groups_that_err_are_not_carried_by_large_ones():
    """Ten large groups hold one value each; in every second of 300 small ones one record disagrees."""
    rng = np.random.default_rng(1)
    large, small = np.repeat(np.arange(10), 4000), np.repeat(np.arange(300), 4)
    odd = (np.arange(1200) % 8 == 0) * rng.integers(1, 5, 1200)
    codes = np.concatenate([large % 5 + 1, (small + odd) % 5 + 1])
    tally = tallied(np.concatenate([large, 10 + small]), codes)
    rule = judge_agreement(tally, shares_of(codes))
    assert rule is not None
    assert rule.telling(tally).tolist() == [True] * 10 + [False] * 300


def test_a_rule_tried_among_many_must_be_less_probable():
    rng = np.random.default_rng(2)
    for seed in range(300):
        codes = np.random.default_rng(seed).integers(1, 3, 60)
        group = rng.permutation(60) // 6
        once = judge_agreement(tallied(group, codes), shares_of(codes))
        often = judge_agreement(tallied(group, codes), shares_of(codes), rules=10_000)
        assert once is not None or often is None


@pytest.mark.parametrize(
    ("right", "wrong", "usual_wrong", "holds"),
    [
        (1000, 0, 0.5, True), (FEWEST_RIGHT - 1, 0, 0.9, False), (1000, 0, 0.0, False), (1000, 0, 0.001, False),
        (1000, 200, 0.9, False), (100_000, 3, 0.5, True), (100, 1, 0.02, False),
    ],
)  # fmt: skip
def test_neighbours_must_say_more_than_the_most_frequent_value(right, wrong, usual_wrong, holds):
    assert (judge_rule(right, wrong, usual_wrong) is not None) is holds


@given(st.integers(1, 200), st.floats(0.01, 100))
def test_the_bound_on_chance_is_one(seen, expected):
    """Of a Poisson count, which is no less dispersed than a sum of independent events."""
    exact = 1.0 - sum(math.exp(-expected + i * math.log(expected) - math.lgamma(i + 1)) for i in range(seen))
    assert math.exp(log_tail(seen, expected)) >= exact - 1e-9
    assert log_tail(seen, 0.0) == -math.inf


def test_a_copy_is_told_in_a_small_file_and_a_likely_accident_is_not():
    """Two values, ten records each: no group disagrees. Of groups of two as many would not do."""
    codes = np.repeat(np.array([1, 2], np.int32), 10)
    shares = np.array([0.5, 0.5])
    assert judge_agreement(tally_groups(codes - 1, codes, 2), shares) is not None
    pairs = np.repeat(np.arange(10, dtype=np.int32), 2)
    assert judge_agreement(tally_groups(pairs, codes, 10), shares) is None
    odd = codes.copy()
    odd[0] = 2
    assert judge_agreement(tally_groups(codes - 1, odd, 2), shares) is None


def test_what_agrees_by_chance_is_made_once_for_all_choices_of_groups(monkeypatch):
    made = []

    def by_chance(shares):
        made.append(shares)
        return agreement_by_chance(shares)

    monkeypatch.setattr(group_agreement, "agreement_by_chance", by_chance)
    codes = np.tile([1, 1, 2, 2], 30)
    assert judge_agreement(tallied(np.arange(120) // 2, codes), shares_of(codes)) is None
    assert len(made) == 1
