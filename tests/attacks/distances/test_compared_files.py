"""On which scale the variables are compared, and what each weighs."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.distances.compared_files import ComparedFiles
from sdckit.cells.pair import open_pair

ORIGINAL = pl.DataFrame({"x": [0.0, 2.0, 4.0, None], "c": list("aabb"), "g": ["u"] * 4})
RELEASE = ORIGINAL.with_columns(x=pl.Series([1.0, 2.0, 50.0, 3.0]))
CONTROL = ORIGINAL.with_columns(x=pl.Series([8.0, 2.0, 3.0, 3.0]))


def compared(numbers, categories, control=CONTROL, original=ORIGINAL, release=RELEASE):
    files = AttackFiles(
        open_pair(original, release, control, categories={"variables": [*numbers, *categories]}, attack=True)
    )
    return ComparedFiles(files, tuple(numbers), tuple(categories))


def test_ranges_are_those_of_real_people():
    found = compared(["x"], ["c"])
    assert found.variables == ("x", "c")
    assert found.ranges().tolist() == [8.0]  # an odd released value stretches nothing
    assert [one.n for one in found.encoded()] == [4, 4, 4]
    without = compared(["x"], ["c"], control=None)
    assert without.ranges().tolist() == [4.0]
    assert [one.n for one in without.encoded()] == [4, 4]


def test_dates_are_compared_in_days():
    days = pl.DataFrame({"d": [dt.date(2020, 1, 1), dt.date(2020, 1, 11)]})
    found = compared(["d"], [], control=None, original=days, release=days)
    assert found.ranges().tolist() == [10.0]


def test_rare_values_weigh_more():
    found = compared(["x"], ["c", "g"], control=None)
    assert found.rarity() == pytest.approx([1 / math.log(4), 1 / math.log(2), 0.0])
    assert compared([], ["g"]).rarity() is None


def test_a_number_without_a_value_in_the_original_weighs_nothing():
    empty = ORIGINAL.with_columns(x=pl.lit(None, pl.Float64))
    found = compared(["x"], ["c"], original=empty)
    assert found.rarity() == pytest.approx([0.0, 1 / math.log(2)])
    assert found.ranges().tolist() == [6.0]
    assert np.isfinite(found.encoded()[1].numbers).all()
