"""The waves of a panel: attrition, several releases, leaving a wave out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import known_points

CALL = {"person": "who", "time": "t", "keys": ["a"]}


def test_a_row_that_is_not_there_matches_nothing():
    frame = pl.DataFrame({"who": ["A", "A", "B", "B", "C"], "t": [1, 2, 1, 2, 1], "a": ["a", "b", "a", "c", "a"]})
    two = known_points(frame, **CALL, points=2)
    assert (two.n_alone, two.n_subsets, two.n_persons) == (2, 2, 3)
    assert np.isnan(two.records["alone_2"].to_list()).tolist() == [False, False, True]


def test_several_releases_are_means():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"who": np.repeat(range(40), 3), "t": [1, 2, 3] * 40, "a": rng.integers(0, 5, 120)})
    coarse = frame.with_columns(a=pl.col("a") // 2 * 2)
    single = [known_points(frame, release, **CALL) for release in (frame, coarse)]
    both = known_points(frame, [frame, coarse], **CALL)
    assert both.m == 2
    for name in ("alone", "expected", "success", "lost"):
        assert getattr(both, name) == pytest.approx(np.mean([getattr(result, name) for result in single]))
    assert repr(both.original) == repr(single[0].original)  # no NaN is equal to another
    assert single[0].lost == 0 < single[1].lost


def test_the_wave_whose_leaving_out_lowers_most_comes_first():
    rng = np.random.default_rng(2)
    wide = {1: rng.integers(0, 2, 60), 2: np.arange(60), 3: rng.integers(0, 2, 60)}
    frame = pl.DataFrame(
        [(who, t, int(values[who])) for who in range(60) for t, values in wide.items()],
        schema=["who", "t", "a"],
        orient="row",
    )
    result = known_points(frame, **CALL)
    (worst, without), *_ = result.worst_times
    left = known_points(frame.filter(pl.col("t") != 2), **CALL)
    assert (worst, without) == ("2", pytest.approx(left.alone))


def test_plans_and_engines_agree():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {"who": np.repeat(range(30), 3), "t": [1, 2, 3] * 30, "a": rng.choice(["x", "y", None], 90).tolist()}
    )
    expected = known_points(frame, **CALL)
    for made in (frame.lazy(), frame.to_pandas(), frame.to_arrow(), frame.sample(fraction=1, shuffle=True, seed=1)):
        result = known_points(made, **CALL)
        assert repr(result.curve) == repr(expected.curve)  # no NaN is equal to another
        assert result.worst_times == expected.worst_times
