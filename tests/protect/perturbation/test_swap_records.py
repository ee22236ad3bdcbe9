"""E7: who changes places with whom, and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import swap_records
from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.perturbation.swap_records import draw_order, draw_partners, one_per_household, read_households

PEOPLE = pl.DataFrame(
    {
        "hh": [1, 1, 2, 2, 3, 4, 5, 5, 6, 7],
        "region": ["n"] * 5 + ["s"] * 5,
        "town": ["a", "a", "a", "a", "b", "c", "c", "c", "d", "d"],
        "grid": [10, 10, 20, 20, 30, 40, 50, 50, 60, 70],
        "tenure": ["own", "own", "rent", "rent", "own", "own", "rent", "rent", "rent", "own"],
        "job": ["x", "y", "x", "x", "x", "x", "x", "x", "x", "x"],
    }
)
OPTIONS = {"hierarchy": ["region", "town"], "keys": ["job"], "household": "hh", "k": 2, "swap_rate": 0, "seed": 1}


def swapped(frame=PEOPLE, **options):
    return swap_records(frame, **{**OPTIONS, **options})


def test_a_rare_household_changes_places_with_one_of_its_size():
    """Job y is unique in the north: household 1 can only go where household 5, of two members too, lives."""
    data, change = swapped(hierarchy=["region"], carry_along=["town", "grid"])
    assert data["region"].to_list() == ["s", "s", "n", "n", "n", "s", "n", "n", "s", "s"]
    assert data["town"].to_list() == ["c", "c", "a", "a", "b", "c", "a", "a", "d", "d"]
    assert data["grid"].to_list() == [50, 50, 20, 20, 30, 40, 10, 10, 60, 70]
    assert data.drop("region", "town", "grid").equals(PEOPLE.drop("region", "town", "grid"))
    assert data.schema == PEOPLE.schema
    assert change.changed == {"region": 4, "town": 4, "grid": 4}
    assert (change.secret["swapped"], change.secret["forced"]) == (2, {"region": 1})
    assert change.notes == {}
    assert "swap_rate" not in str(change.to_dict())


def test_profiles_fall_back():
    strict, change = swapped(hierarchy=["region"], carry_along=["town"], similar=[["tenure"]])
    assert strict.equals(PEOPLE)
    assert change.notes["not swapped"].startswith("households below k without a similar one elsewhere: 1 by region")
    wide, _ = swapped(hierarchy=["region"], carry_along=["town"], similar=[["tenure"], []])
    assert wide["region"].to_list()[:2] == ["s", "s"]
    other_size, _ = swapped(hierarchy=["region"], carry_along=["town"], similar=[["tenure"]], same_size=False)
    moved = [hh for hh, a, b in zip(PEOPLE["hh"], PEOPLE["region"], other_size["region"], strict=True) if a != b]
    assert set(moved) in ({1, 4}, {1, 7})


def test_partners_of_lower_levels_come_from_the_same_area_above():
    frame = PEOPLE.with_columns(job=pl.Series(["x"] * 4 + ["z"] + ["x"] * 3 + ["z", "x"]))
    for seed in range(8):
        data, _ = swapped(frame, k=2, seed=seed, same_size=False)
        for level in ("region", "town"):
            assert data.group_by(level).len().height == frame.group_by(level).len().height
    lower = frame.with_columns(job=pl.Series(["z", "x", "x", "x", "x", "x", "x", "x", "x", "z"]))
    data, change = swapped(lower, hierarchy=["region", "town"], k=1)
    assert data.equals(lower)
    assert change.secret["forced"] == {"region": 0, "town": 0}


def test_filled_up_to_the_swap_rate():
    for rate, expected in ((0.2, 2), (0.5, 4), (0.9, 6)):
        data, change = swapped(k=1, swap_rate=rate, same_size=False)
        assert change.secret["swapped"] == expected
        assert data.group_by("hh").agg(pl.col("town").n_unique())["town"].max() == 1
    assert "swap rate" in change.notes
    assert "swap rate" not in swapped(k=1, swap_rate=0.5, same_size=False).change.notes


def test_seeds_and_engines():
    one = swapped(swap_rate=0.5, same_size=False)
    assert one.data.equals(swapped(swap_rate=0.5, same_size=False).data)
    assert len({str(swapped(swap_rate=0.5, same_size=False, seed=s).data["town"].to_list()) for s in range(9)}) > 1
    frame = PEOPLE.to_pandas().set_index(pd.Index(list("qwertzuiop")))
    data, _ = swapped(frame, swap_rate=0.5, same_size=False)
    assert data["town"].tolist() == one.data["town"].to_list()
    assert data.index.tolist() == list("qwertzuiop")
    assert data.dtypes.equals(frame.dtypes)
    assert (
        swapped(PEOPLE.to_arrow(), swap_rate=0.5, same_size=False).data["town"].to_pylist()
        == one.data["town"].to_list()
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"hierarchy": []}, ColumnError, "hierarchy= names no column"),
        ({"hierarchy": ["regio"]}, ColumnError, "did you mean 'region'"),
        ({"keys": ["town"]}, ColumnError, "'town' is swapped"),
        ({"similar": ["tenure"]}, ColumnError, "list of profiles"),
        ({"similar": [["rooms"]]}, ColumnError, "similar: no column 'rooms'"),
        ({"similar": [["job"]]}, DataError, "'job' differs within 1 household "),
        ({"carry_along": ["job"], "keys": ["tenure"]}, DataError, "'job' differs within 1 household "),
        ({"household": "home"}, ColumnError, "household: no column 'home'"),
        ({"household": "tenure"}, DataError, "differs within"),
        ({"k": 0}, DataError, "k counts records"),
        ({"swap_rate": 1}, DataError, "swap_rate is a share"),
        ({"same_size": None}, DataError, "same_size is"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        swapped(**options)


# Households, their areas, and the rarest of their members.


SWAPPING_PEOPLE = pl.DataFrame(
    {
        "hh": ["z", "z", "a", "b", "b", "c"],
        "region": [1, 1, 1, 2, 2, 2],
        "town": ["x", "x", "y", "x", "x", "x"],
        "job": ["p", "q", "p", "p", None, "p"],
    }
)


def test_counts_by_area():
    found = read_households(open_frame(SWAPPING_PEOPLE), "hh", ["region", "town"], ["job"])
    assert found.of_row.tolist() == [0, 0, 1, 2, 2, 3]
    assert found.first.tolist() == [0, 2, 3, 5]
    assert found.size.tolist() == [2, 1, 2, 1]
    assert [len(set(area.tolist())) for area in found.areas] == [2, 3]  # town x of region 1 is not that of region 2
    assert [one.tolist() for one in found.rarest] == [[1, 2, 1, 2], [1, 1, 1, 2]]


def test_records_as_households():
    found = read_households(open_frame(SWAPPING_PEOPLE), None, ["region"], ["job"])
    assert found.size.tolist() == [1] * 6
    assert found.rarest[0].tolist() == [2, 1, 2, 2, 1, 2]


def test_members_must_agree():
    frame = open_frame(SWAPPING_PEOPLE.with_columns(town=pl.Series(["x", "y", "y", "x", "x", "x"])))
    with pytest.raises(DataError, match=r"'town' differs within 1 household \(row 2\)"):
        read_households(frame, "hh", ["town"], ["job"])
    found = read_households(open_frame(SWAPPING_PEOPLE), "hh", ["town"], ["job"])
    assert one_per_household(open_frame(SWAPPING_PEOPLE), "region", found.of_row, found.first).tolist() == [0, 0, 1, 1]


def test_households_without_a_number():
    with pytest.raises(DataError, match=r"missing for 1 record \(row 2\)"):
        read_households(
            open_frame(SWAPPING_PEOPLE.with_columns(hh=pl.Series([1, None, 2, 3, 3, 4]))), "hh", ["town"], ["job"]
        )


def pair(asked, groupings, area, weight=None, seed=0):
    area = np.asarray(area)
    partner = np.full(len(area), -1, np.int64)
    weight = np.ones(len(area)) if weight is None else np.asarray(weight, float)
    codes = [[np.asarray(one) for one in grouping] for grouping in groupings]
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
