"""Households, their areas, and the rarest of their members."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.perturbation.swapping import draw_order, draw_partners, one_per_household, read_households

PEOPLE = pl.DataFrame(
    {
        "hh": ["z", "z", "a", "b", "b", "c"],
        "region": [1, 1, 1, 2, 2, 2],
        "town": ["x", "x", "y", "x", "x", "x"],
        "job": ["p", "q", "p", "p", None, "p"],
    }
)


def test_counts_by_area():
    found = read_households(open_frame(PEOPLE), "hh", ["region", "town"], ["job"])
    assert found.of_row.tolist() == [0, 0, 1, 2, 2, 3]
    assert found.first.tolist() == [0, 2, 3, 5]
    assert found.size.tolist() == [2, 1, 2, 1]
    assert [len(set(area.tolist())) for area in found.areas] == [
        2,
        3,
    ]  # town x of region 1 is not that of region 2
    assert [one.tolist() for one in found.rarest] == [[1, 2, 1, 2], [1, 1, 1, 2]]


def test_records_as_households():
    found = read_households(open_frame(PEOPLE), None, ["region"], ["job"])
    assert found.size.tolist() == [1] * 6
    assert found.rarest[0].tolist() == [2, 1, 2, 2, 1, 2]


def test_members_must_agree():
    frame = open_frame(PEOPLE.with_columns(town=pl.Series(["x", "y", "y", "x", "x", "x"])))
    with pytest.raises(DataError, match=r"'town' differs within 1 households \(row 2\)"):
        read_households(frame, "hh", ["town"], ["job"])
    found = read_households(open_frame(PEOPLE), "hh", ["town"], ["job"])
    assert one_per_household(open_frame(PEOPLE), "region", found.of_row, found.first).tolist() == [0, 0, 1, 1]


def test_households_without_a_number():
    with pytest.raises(DataError, match=r"missing for 1 records \(row 2\)"):
        read_households(
            open_frame(PEOPLE.with_columns(hh=pl.Series([1, None, 2, 3, 3, 4]))), "hh", ["town"], ["job"]
        )


def pair(asked, groupings, area, weight=None, seed=0):
    area = np.asarray(area)
    partner = np.full(len(area), -1, np.int64)
    weight = np.ones(len(area)) if weight is None else np.asarray(weight, float)
    codes = [[np.asarray(one) for one in each] for each in groupings]
    left = draw_partners(np.asarray(asked), codes, area, weight, partner, np.random.default_rng(seed))
    return partner.tolist(), left


def test_partners_are_alike_and_elsewhere():
    kind, area = [0, 0, 1, 1, 0], [0, 0, 1, 0, 1]
    assert pair([0], [[kind]], area) == ([4, -1, -1, -1, 0], 0)
    assert pair([2], [[kind]], area) == ([-1, -1, 3, 2, -1], 0)
    assert pair([0, 1], [[kind]], area) == ([4, -1, -1, -1, 0], 1)


def test_the_next_profile_takes_over():
    kind, area = [0, 0, 1], [0, 0, 1]
    assert pair([0, 1], [[kind]], area) == ([-1, -1, -1], 2)
    assert pair([0, 1], [[kind], []], area) == ([2, -1, 0], 1)


@pytest.mark.parametrize("seed", range(5))
def test_everybody_once(seed):
    rng = np.random.default_rng(seed)
    kind, area = rng.integers(3, size=60), rng.integers(4, size=60)
    partner, left = pair(rng.permutation(60), [[kind]], area, seed=seed)
    assert left == partner.count(-1)
    for i, j in enumerate(partner):
        if j >= 0:
            assert partner[j] == i
            assert kind[i] == kind[j]
            assert area[i] != area[j]
    free = [i for i, j in enumerate(partner) if j < 0]
    assert not any(kind[i] == kind[j] and area[i] != area[j] for i in free for j in free)


def test_chances_follow_the_weights():
    found = [pair([0], [[]], [0, 1, 1], [1, 3, 1], seed)[0][0] for seed in range(600)]
    assert found.count(1) / 600 == pytest.approx(0.75, abs=0.06)
    first = [draw_order(np.array([1.0, 3.0]), np.random.default_rng(seed))[0] for seed in range(600)]
    assert np.mean(first) == pytest.approx(0.75, abs=0.06)
