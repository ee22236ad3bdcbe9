"""Values that remain possible: the truth is always among them, where what rules others out is a rule."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings, strategies as st

from attacks.recovery.made import opened
from sdckit.attacks.recovery.clues import column_clues
from sdckit.attacks.recovery.remaining import _ranges_beside, remaining_values


def left(hidden, whole, name):
    columns, one = opened(hidden, whole, name)
    return one, remaining_values(one, list(column_clues(columns, None)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_a_rule_leaves_is_counted(seed):
    """Each group has its own three of nine values."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 1500)
    whole = pl.DataFrame({"g": group, "x": [f"v{one}" for one in group * 3 + rng.integers(0, 3, 1500)]})
    gone = pl.int_range(1500) % 20 == 0
    one, (before, after) = left(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    assert (before[one.open] == 9).all()
    assert (after[one.open] == 3).all()
    assert np.isnan(after[~one.open]).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_unrelated_columns_rule_nothing_out(seed, levels):
    rng = np.random.default_rng(seed)
    whole = pl.DataFrame({"g": rng.integers(0, 9, 900), "h": rng.integers(0, 300, 900),
                          "x": [f"v{one}" for one in rng.integers(0, levels, 900)]})  # fmt: skip
    gone = pl.int_range(900) % 20 == 0
    one, (before, after) = left(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    assert (after[one.open] == before[one.open]).all()


def test_whole_numbers_in_a_range_are_counted():
    whole = pl.DataFrame({"age": np.arange(200) % 80})
    ten = pl.col("age") // 10 * 10
    one, (before, after) = left(
        whole.with_columns(age=pl.concat_str([ten, pl.lit("-"), ten + 9])), whole, "age"
    )
    assert (before == 10).all()
    assert (after == 10).all()
    assert one.open.all()


def test_suppressed_numbers_lie_in_the_range_of_their_like():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, 2000)
    whole = pl.DataFrame({"g": group, "x": group * 100 + rng.integers(0, 10, 2000)})
    gone = pl.int_range(2000) % 50 == 0
    columns, one = opened(whole.with_columns(x=pl.when(gone).then(None).otherwise("x")), whole, "x")
    low, high = _ranges_beside(one, list(column_clues(columns, None)))
    truth = whole["x"].to_numpy()
    assert (low[one.open] <= truth[one.open]).all()
    assert (truth[one.open] <= high[one.open]).all()
    assert (high[one.open] - low[one.open] < 10).all()
    _, after = remaining_values(one, list(column_clues(columns, None)))
    assert (after[one.open] == 10).all()


def test_nothing_is_known_of_a_column_without_values():
    whole = pl.DataFrame({"x": np.arange(60), "t": list("abc") * 20, "y": np.arange(60) % 7})
    for name in ("x", "t"):
        one, (_before, after) = left(whole.with_columns(**{name: pl.lit(None)}), whole, name)
        assert one.open.all()
        assert np.isnan(after).all()


def test_names_of_bands_leave_a_number_open():
    whole = pl.DataFrame({"x": np.arange(80) // 4, "y": np.arange(80) % 7})
    named = whole.with_columns(x=pl.when(pl.col("x") < 7).then(pl.lit("young")).otherwise(pl.lit("old")))
    named = named.with_columns(x=pl.when(pl.int_range(80) % 20 == 3).then(None).otherwise("x"))
    one, (before, _after) = left(named, whole, "x")
    assert one.open.sum() == 4
    assert set(before[one.open]) == {2.0}
