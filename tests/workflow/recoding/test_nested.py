"""Groups, limits and multiples are found where every record keeps to them, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.workflow.recoding.nested import found_base, found_limits, nested_map, speaks_for_groups

NAN = float("nan")


def codes(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_one_exception_is_one_too_many() -> None:
    before = np.repeat(np.arange(4), 50)
    after = before // 2
    assert nested_map(before, after).tolist() == [0, 0, 1, 1]
    after[7] = 1
    assert nested_map(before, after) is None


def test_suppressed_values_say_nothing_and_filled_ones_are_no_recoding() -> None:
    assert nested_map(codes(0, 0, 1), codes(2, -1, -1)).tolist() == [2, -1]
    assert nested_map(codes(0, -1), codes(2, 2)) is None
    assert nested_map(codes(-1, -1), codes(-1, -1)).tolist() == []


def test_single_records_are_no_evidence() -> None:
    many = np.repeat(np.arange(4), 50)
    none = np.zeros(4, bool)
    assert speaks_for_groups(many, codes(0, 0, 1, 1), none)
    assert not speaks_for_groups(np.arange(100), np.arange(100) // 2, np.zeros(100, bool))
    assert not speaks_for_groups(many, codes(0, 0, 1, 1), ~none)
    assert not speaks_for_groups(codes(0, 0, 1, 1), codes(0, 0), np.zeros(2, bool))


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_chance_is_never_taken_for_groups(seed: int, kept: float) -> None:
    """The law: a column perturbed at random is no mapping, or gives no evidence of one."""
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 6, 400)
    after = np.where(rng.random(400) < kept, before, rng.integers(0, 6, 400))
    image = nested_map(before, after)
    assert image is None or not speaks_for_groups(before, image, image == np.arange(len(image)))


def test_limits() -> None:
    before = np.array([1.0, 2, 3, 7, 8, 9, NAN, 20])
    assert found_limits(before, np.minimum(before, 6)) == (None, 6.0)
    assert found_limits(before, np.maximum(before, 3)) is None  # two values changed: too few
    assert found_limits(before, np.clip(before, 3, 8)) == (3.0, 8.0)
    hidden = np.minimum(before, 6)
    hidden[0] = NAN
    assert found_limits(before, hidden) == (None, 6.0)
    assert found_limits(before, before) is None
    assert found_limits(np.full(3, NAN), np.full(3, NAN)) is None


@pytest.mark.parametrize(
    ("base", "how"), [(10.0, "nearest"), (10.0, "down"), (100.0, "nearest"), (0.5, "down"), (25.0, "nearest")]
)
def test_multiples(base: float, how: str) -> None:
    from sdckit.protect.recoding.round_to import multiples

    before = np.random.default_rng(1).uniform(0, 5000, 500)
    assert found_base(before, multiples(before, base, how, None)) == (base, how)


def test_what_is_not_rounded() -> None:
    rng = np.random.default_rng(2)
    before = rng.normal(2000, 300, 500)
    assert found_base(before, before) is None
    assert found_base(before, before + rng.normal(0, 5, 500)) is None
    assert found_base(before, 10 * np.round((before + rng.normal(0, 30, 500)) / 10)) is None
    assert found_base(before, np.full(500, 2000.0)) is None
    assert found_base(before, np.full(500, np.inf)) is None
