"""Records equal to one original in some columns, and near it in numbers: counted by hand, with the level kept."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.attacks import equal_records
from sdckit.attacks.equal_records import (
    RADII,
    EqualRecords,
    count_equal,
    count_moved,
    count_near,
    given_extremes,
    on_a_scale,
)

MOVED = {"1": lambda value, sign: value + sign, "1 %": lambda value, sign: (value * (1 + sign / 100)).round(),
         "5 %": lambda value, sign: (value * (1 + sign / 20)).round()}  # fmt: skip
NUMBERS = ["age", "income", "hours", "rent"]


def people(seed: int, n: int = 1500) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": age.astype(float),
            "region": rng.choice([*"nswe"], n),
            "educ": rng.integers(1, 6, n),
            "income": np.exp(rng.normal(10, 0.7, n) + 0.01 * age).round(),
            "hours": rng.integers(0, 60, n).astype(float),
            "rent": np.exp(rng.normal(6.5, 0.4, n)).round(),
        }
    )


def with_copies(original: pl.DataFrame, share: float, columns: list[str], how: str, seed: int) -> pl.DataFrame:
    """Other people, and copies of originals in which some numbers moved up or down."""
    rng = np.random.default_rng(seed)
    copies = original[: round(len(original) * share)]
    moved = [MOVED[how](copies[name], pl.Series(rng.choice([-1, 1], len(copies)))).alias(name) for name in columns]
    return pl.concat([people(seed + 1000, len(original) - len(copies)), copies.with_columns(moved)])


def places_of(codes: list[np.ndarray], numbers: list[int], n: int) -> dict[int, np.ndarray]:
    return {at: on_a_scale(codes[at].astype(float), codes[at][:n].astype(float)) for at in numbers}


@pytest.mark.parametrize("seed", range(4))
def test_it_counts_what_is_counted_by_hand(seed):
    rng = np.random.default_rng(seed)
    sizes, numbers = (60, 40, 30), [1, 2, 3]
    codes = [rng.integers(0, most, sum(sizes)).astype(np.int32) for most in (2, 12, 15, 11)]
    places = places_of(codes, numbers, 60)
    for (first, second), counted in count_moved(codes, places, sizes).items():
        rest = [at for at in range(4) if at not in (first, second)]
        mates = [[i for i in range(60) if all(codes[at][i] == codes[at][row] for at in rest)] for row in range(130)]
        near = [
            len(own) == 1 and all(abs(places[at][own[0]] - places[at][row]) <= RADII[-1] for at in (first, second))
            for row, own in enumerate(mates)
        ]
        twins = {tuple(own) for own in mates[:60] if len(own) == 2}
        alike = sum(all(abs(places[at][a] - places[at][b]) <= RADII[-1] for at in (first, second)) for a, b in twins)
        times = [sum(len(own) == k for own in mates[:60]) / k for k in (1, 3)]
        assert counted == EqualRecords(sum(near[60:100]), sum(near[100:]), times[0], alike, times[1])
    for radius, (counted, among) in count_near(codes, places, sizes).items():
        tolerance = {
            at: max(radius, min(equal_records._step(places[at][:60]), equal_records.MOST_STEP)) for at in numbers
        }
        near = [
            sum(
                codes[0][i] == codes[0][row]
                and all(abs(p[i] - p[row]) <= tolerance[at] * (1 + 1e-6) for at, p in places.items())
                for i in range(60)
            )
            for row in range(130)
        ]  # fmt: skip
        times = [near[:60].count(k) / k for k in (1, 2, 3)]
        assert (among, counted) == (sizes, EqualRecords(near[60:100].count(1), near[100:].count(1), *times))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
@pytest.mark.parametrize("counted_rows", [False, True])
def test_equal_records_are_counted_by_hand_without_each_column(n_columns, counted_rows):
    """Also where rows stand for several records, and where most rows are like no other and so are left out early."""
    rng = np.random.default_rng(n_columns)
    sizes = (50, 40, 30)
    codes = [rng.integers(0, most, sum(sizes)).astype(np.int32) for most in (2, 3, 40, 2, 5, 3, 60)[-n_columns:]]
    for own in codes:
        own[50:60], own[90:95] = own[:10], own[5:10]
    times = rng.integers(1, 4, sum(sizes)) if counted_rows else None
    records = np.ones(sum(sizes), np.int64) if times is None else times
    expected = []
    for left_out in [None, *range(n_columns)][: n_columns + 1 if n_columns > 1 else 1]:
        key = [*zip(*([0] * sum(sizes), *(own for at, own in enumerate(codes) if at != left_out)), strict=True)]
        size = {own: sum(records[i] for i in range(50) if key[i] == own) for own in {*key[:50]}}
        hits = [records[row] if size.get(key[row]) == 1 else 0 for row in range(120)]
        seen = [sum(number == k for number in size.values()) for k in (1, 2, 3)]
        expected.append(EqualRecords(sum(hits[50:90]), sum(hits[90:]), *seen))
    assert count_equal(codes, sizes, times) == expected


def test_places_are_the_same_where_equal_records_are_one_row():
    rng = np.random.default_rng(1)
    own = np.concatenate([np.exp(rng.normal(10, 2, 5000)), np.zeros(700)])
    numbers = np.concatenate([own, rng.normal(0, 1e6, 5000), [np.nan, np.inf, -np.inf, own.max(), own.min()]])
    by_row = on_a_scale(numbers, own)
    assert np.array_equal(on_a_scale(numbers, own, np.ones(len(own), np.int64)), by_row)
    assert (by_row[-5:] == [-1, -1, -1, 1, by_row.min(initial=1, where=by_row >= 0)]).all()


def test_the_usual_step_is_the_same_where_equal_records_are_one_row():
    rng = np.random.default_rng(1)
    places, times = rng.random(300).round(2), rng.integers(1, 5, 300)
    assert equal_records._step(places, times) == equal_records._step(np.repeat(places, times)) > 0


def test_every_pair_of_numbers_is_left_out_of_a_few_rows_and_of_many_those_of_most_values(monkeypatch):
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 20 + at, 50).astype(np.int32) for at in range(5)]
    places = places_of(codes, [0, 1, 3, 4], 30)
    assert list(count_moved(codes, places, (30, 20, 0))) == list(combinations([0, 1, 3, 4], 2))
    monkeypatch.setattr(equal_records, "MOST_ROWS", 3 * 50)
    assert list(count_moved(codes, places, (30, 20, 0))) == list(combinations(sorted([1, 3, 4]), 2))
    monkeypatch.setattr(equal_records, "MOST_ROWS", 49)
    assert count_moved(codes, places, (30, 20, 0)) == {}


def test_of_many_rows_some_blocks_and_the_middle_of_a_number_are_sought(monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(equal_records, "MOST_SOUGHT", 500)
    for blocks in (40, 1):
        codes = [rng.integers(0, blocks, 4000), rng.permutation(4000), rng.permutation(4000)]
        codes[1][2000:], codes[2][2000:] = codes[1][:2000], codes[2][:2000]  # every record is copied
        codes[0][2000:] = codes[0][:2000]
        given = [own.astype(np.int32) for own in codes]
        (counted, among), *_ = count_near(given, places_of(given, [1, 2], 2000), (2000, 2000, 0)).values()
        assert 200 < sum(among) <= 520
        assert counted.copies > 0.9 * among[1]


@pytest.mark.parametrize("columns", [["rent", "hours"], ["age", "income"], ["income", "rent", "hours"], NUMBERS])
@pytest.mark.parametrize("how", MOVED)
def test_copies_with_numbers_that_moved_are_found(columns, how):
    original = people(1)
    found = sdc.copied_records(original, with_copies(original, 0.1, columns, how, 2))
    assert 0.03 < found.copied_records <= 0.1
    assert found.moved_copies - found.moved_copies_by_chance > 0.06
    few = sdc.copied_records(original, with_copies(original, 0.01, columns, how, 3))
    assert few.copied_records == 0  # not sure of 15
    if len(columns) < {"1": 5, "1 %": 4, "5 %": 3}[how]:  # else as many others are as near
        assert few.doubtful


@pytest.mark.parametrize("control", [False, True])
def test_other_people_are_not_near_beyond_chance(control):
    """Of twenty halves one or two may be above, by the level; none is left open for numbers that moved."""
    above = 0
    for seed in range(20):
        aside = people(seed + 3000, 700) if control else None
        found = sdc.copied_records(people(seed, 700), people(seed + 2000, 700), control=aside)
        above += found.copied_records > 0
        assert not any("moved a little" in words for _, words in found.doubtful)
    assert above <= 2


def test_largest_values_that_trees_lend_are_left_open_and_others_are_not():
    """Rounded, smoothed, and those of other people: nothing is given beyond chance."""
    original = people(1)
    lent = sdc.synthesize(original, min_leaf=50, seed=1).data
    rounded = lent.with_columns((pl.col("income") / 1000).round() * 1000, (pl.col("rent") / 50).round() * 50)
    smooth = sdc.synthesize(original, min_leaf=50, smoothing=1, seed=1).data
    for release, given in ((lent, True), (rounded, False), (smooth, False), (people(2), False)):
        found = sdc.copied_records(original, release)
        told = [words for _, words in found.doubtful if "largest or smallest values of income" in words]
        assert bool(told) is given


def test_given_extremes_are_counted_by_hand():
    values = np.array([*range(100), 50, 99, 97, 96, 0, 40, 41], dtype=float)
    codes = values.astype(np.int32)
    found = given_extremes(values, codes, (101, 6, 0))
    assert (found.single, found.given) == (20, 4)
    assert found.by_chance == pytest.approx(20 * (1 - np.exp(-2 * 1 / (101 * 99) * 6)))
    aside = given_extremes(np.append(values, [98, 3.0]), np.append(codes, [98, 3]).astype(np.int32), (101, 6, 2))
    assert aside.by_chance == pytest.approx(20 * (1 - 0.9**3))
