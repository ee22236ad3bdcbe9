"""Events: several tolerances, compiled and plain search, drawn persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import known_points
from sdckit.errors import DataError
from sdckit.identity.panels import event_index
from sdckit.numerics import compiling


def visits(n=900, seed=1):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "who": rng.integers(0, 60, n),
            "day": rng.integers(0, 60, n),
            "a": rng.integers(0, 6, n),
            "cost": rng.random(n),
        }
    )


def test_a_tolerance_of_a_key_and_of_the_time():
    frame = visits(60)
    widths = {"day": 5, "cost": 0.2}
    result = known_points(frame, person="who", time="day", keys=["a", "cost"], tolerance=widths, points=1)
    rows = frame.rows(named=True)
    alone = sum(
        len({other["who"] for other in rows if other["a"] == row["a"]
             and all(abs(other[name] - row[name]) <= width for name, width in widths.items())}) == 1
        for row in rows
    )  # fmt: skip
    assert result.n_alone == alone


def test_dates_are_days_apart():
    frame = visits(80).with_columns(day=pl.date(2020, 1, 1) + pl.duration(days="day"))
    expected = known_points(visits(80), person="who", time="day", keys=["a"], tolerance={"day": 3})
    assert repr(known_points(frame, person="who", time="day", keys=["a"], tolerance={"day": 3}).curve) == repr(
        expected.curve
    )


def test_compiled_and_plain_search_agree(monkeypatch):
    call = {"person": "who", "time": "day", "keys": ["a"], "tolerance": {"day": 1}, "points": (2, 3), "most_subsets": 9}
    compiled = known_points(visits(), **call, seed=4)
    monkeypatch.setattr(event_index, "sparing", lambda kernel, _: compiling._as_python(kernel))
    assert repr(known_points(visits(), **call, seed=4).curve) == repr(compiled.curve)


def test_a_release_of_events():
    frame = visits(120)
    kept = frame.filter(pl.col("day") < 40)
    result = known_points(frame, kept, person="who", time="day", keys=["a"], points=(1, 2))
    for known in result.curve:
        assert 0 < known.alone_right <= known.alone + 1e-12 < 1
        assert known.success + known.lost <= 1 + 1e-12
    assert result.lost > 0


def test_nobody_has_so_many_points():
    result = known_points(visits(20), person="who", keys=["a"], points=(1, 15))
    assert np.isnan(result.of_points(15).alone)
    assert "nobody" in result.notes["15 points"]
    with pytest.raises(DataError, match="measured of 1, 15 known points only"):
        result.of_points(2)
