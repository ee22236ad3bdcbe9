"""A code table is one-to-one, or it is no code table."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis.strategies import integers

from sdckit.attacks.recovery.code_tables import by_ranges, numbered_values, table_of_numbered
from sdckit.numerics.grouping import uniform_ranges

RNG = np.random.default_rng(2)
N = 1_000
NAMES = RNG.integers(1, 9, N).astype(np.float64)
EVERY = np.arange(N)


def code_table(code: np.ndarray, n_levels: int, truth: np.ndarray) -> np.ndarray:
    return table_of_numbered(code, n_levels, numbered_values(truth), EVERY)


def codes(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int32)


def test_a_table_is_read_though_records_are_exceptions() -> None:
    code = codes(10 - NAMES)
    code[:50] = RNG.integers(1, 10, 50)
    table = code_table(code, 9, NAMES)
    assert table[2:10].tolist() == [8, 7, 6, 5, 4, 3, 2, 1]
    assert np.isnan(table[:2]).all()


def test_groups_and_finer_codes_are_none() -> None:
    grouped = code_table(codes(np.ceil(NAMES / 2)), 4, NAMES)
    finer = code_table(codes(NAMES * 3 + RNG.integers(0, 3, N)), 30, NAMES)
    assert np.isnan(grouped).all()
    assert np.isnan(finer).all()


def test_a_pair_is_borne_by_records_and_missing_codes_stand_for_nothing() -> None:
    code = codes(NAMES)
    code[NAMES == 3] = 0
    rare = np.where(EVERY < 4, 99.0, NAMES)
    code[:4] = 9
    table = code_table(code, 9, rare)
    assert np.isnan(table[[0, 3, 9]]).all()
    assert table[[1, 2, 4]].tolist() == [1, 2, 4]


def test_there_must_be_records_for_every_code() -> None:
    assert np.isnan(code_table(codes(EVERY + 1.0), N, NAMES)).all()
    assert np.isnan(code_table(codes(NAMES), 8, np.full(N, np.nan))).all()


@given(integers(0, 2**32 - 1))
def test_all_records_of_a_telling_range_have_its_value_and_chance_makes_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    region = rng.choice(4, 400, p=[0.4, 0.3, 0.2, 0.1])
    weights = np.round(np.array([1.0, 5, 6, 9])[region] + rng.uniform(-1, 1, 400), rng.choice([0, 3]))
    order = np.argsort(weights)
    low, high, value = uniform_ranges(weights[order], region[order])
    assert {0} <= {*value.tolist()}
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    for first, last, own in zip(low, high, value, strict=True):
        assert {*region[(first <= weights) & (weights <= last)].tolist()} == {own}
    assert not len(uniform_ranges(weights[order], rng.permutation(region))[0])
    known = np.where(rng.random(400) < 0.1, -1, region)
    weights[rng.random(400) < 0.1] = np.nan
    fitted = by_ranges(weights, np.arange(400), (np.arange(4.0), known), np.arange(400))
    right = fitted == region
    assert (right | np.isnan(fitted))[known >= 0].all()
    assert right[known >= 0].mean() > 0.3
    assert np.isnan(fitted[np.isnan(weights)]).all()
