"""Suppressions beyond k, so that k records match everybody's true keys."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.columns import code_columns
from sdckit.protect.suppression.suppression_choices import WorkingFile
from sdckit.protect.suppression.suppression_matches import few_matches_of_truth, match_truth, matches_of_truth

KEYS = ["a", "b", "c"]


def file_of(rows: list[tuple[int, int, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(KEYS, pl.Int64), orient="row")


def drawn(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {name: (rng.zipf(1.7, n) % levels) for name, levels in zip(KEYS, (4, 9, 30), strict=True)}
    return pl.DataFrame({**columns, "area": rng.integers(0, 2, n), "home": np.arange(n) // 3})


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=25), st.integers(2, 4), st.integers(0, 9))
def test_nobody_is_left_with_fewer_matches_but_those_counted(rows, k, seed):
    file = file_of(rows)
    if len(file) < k:
        return
    result = sdc.local_suppression(file, keys=KEYS, k=k, true_keys=True, seed=seed)
    few = sdc.few_matches(file, result.data, keys=KEYS, k=k)
    # A record that lost every value is no match for the search, and one for the measure.
    assert few.few_matches * len(file) <= result.change.parameters["n_few_matches"] + 1e-9
    plain = sdc.local_suppression(file, keys=KEYS, k=k).data
    kept = plain.select(KEYS).to_numpy()
    assert (np.isnan(result.data.select(KEYS).to_numpy()) | ~np.isnan(kept)).all()  # it only adds to the suppressions


@pytest.mark.parametrize("options", [
    {}, {"strata": "area"}, {"alpha": 0.5}, {"household": "home", "household_variables": ["a"]},
    {"hide_implied": True}, {"importance": ["c", "b", "a"]}, {"together": [["a", "b"]]}, {"combinations": {2: 3, 3: 3}},
])  # fmt: skip
def test_every_option_keeps_it(options):
    file = drawn(1500, 3)
    if "household" in options:
        file = file.with_columns(a=pl.col("home") % 4)
    given = {"keys": KEYS, **({} if "combinations" in options else {"k": 3}), **options}
    before = sdc.local_suppression(file, **given, **({"seed": 1} if "hide_implied" in options else {}))
    after = sdc.local_suppression(file, **given, true_keys=True, seed=1)
    assert sdc.few_matches(file, before.data, keys=KEYS, k=3).few_matches > 0
    left = after.change.parameters["n_few_matches"]
    assert left == 0 or "together" in options  # who has a rare value of both is like nobody who keeps a key
    areas = (
        [file["area"] == area for area in (0, 1)] if "strata" in options else [pl.repeat(True, len(file), eager=True)]
    )
    for area in areas:
        own, released = file.filter(area), after.data.filter(area)
        assert sdc.few_matches(own, released, keys=KEYS, k=3).few_matches * len(file) <= left
        assert sdc.k_anonymity(released, keys=KEYS, k=3).violations[3] == 0
    if "household" in options:
        assert after.data.group_by("home").agg(pl.col("a").is_null().n_unique())["a"].to_list() == [1] * 500
    if "together" in options:
        assert after.data["a"].is_null().to_list() == after.data["b"].is_null().to_list()


def test_the_same_seed_draws_the_same_records():
    file = drawn(800, 5)
    first, again, other = (sdc.local_suppression(file, keys=KEYS, k=3, true_keys=True, seed=seed) for seed in (1, 1, 2))
    assert first.data.equals(again.data)
    assert not first.data.equals(other.data)
    assert first.change.secret["seed"] == 1
    assert "seed" not in sdc.local_suppression(file, keys=KEYS, k=3).change.secret


def test_values_that_were_missing_before_match_any():
    file = drawn(600, 2).with_columns(a=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("a"))
    result = sdc.local_suppression(file, keys=KEYS, k=3, true_keys=True, seed=1)
    assert sdc.few_matches(file, result.data, keys=KEYS, k=3).few_matches == 0


def test_too_few_records_are_counted():
    file = file_of([(0, 0, 0), (1, 1, 1), (2, 2, 2)])
    result = sdc.local_suppression(file, keys=KEYS, k=3, true_keys=True, seed=1)
    assert result.change.parameters["n_few_matches"] == 3  # whoever loses all keys helps nobody


def test_matches_of_the_truth_are_counted_where_a_record_lost_a_value():
    file = file_of([(0, 0, 0), (0, 0, 0), (0, 1, 0), *[(0, 1, 1)] * 3])
    gone = np.zeros((3, 6), np.bool_)
    gone[1, [1, 2]] = True
    columns = code_columns([nw.from_native(file, eager_only=True)[name] for name in KEYS])
    working = WorkingFile(tuple(columns), None, 1.0, gone)
    assert matches_of_truth(working, [0, 1, 2], np.array([0, 1, 2])).tolist() == [3, 3, 2]
    assert [found.tolist() for found in few_matches_of_truth(working, [0, 1, 2], 3)] == [[2], [2]]
    match_truth(working, [0, 1, 2], 3, [1.0, 1.0, 2.0], np.eye(3, dtype=bool), np.random.default_rng(1))
    assert working.gone[2, 3:].sum() == working.gone[2].sum() == 1  # the last key has the highest rank
    assert len(few_matches_of_truth(working, [0, 1, 2], 3)[0]) == 0
