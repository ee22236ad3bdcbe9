"""What is put together from the distances, release by release and group by group."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import polars as pl
import pytest

from attacks.distances.test_nearest_searches import files
from sdckit.attacks.attack_files import AttackFiles
from sdckit.attacks.distances import closeness_figures, nearest_searches
from sdckit.attacks.distances.closeness_figures import (
    FIGURES,
    ComparedFiles,
    Drawing,
    adversarial_accuracy,
    closeness,
    exchange,
    group_figures,
    hits,
    wins,
)
from sdckit.cells.pair import open_pair
from sdckit.numerics.coding import differences

ORIGINAL = pl.DataFrame({"x": [0.0, 1.0, 10.0], "g": ["a", "a", None]})
RELEASES = [pl.DataFrame({"x": [0.0, 9.0], "g": ["a", "b"]}), pl.DataFrame({"x": [5.0], "g": ["a"]})]


def found(notes):
    files = AttackFiles(open_pair(ORIGINAL, RELEASES, None, categories={"variables": ["x"], "by": ["g"]}, attack=True))
    return files, closeness(ComparedFiles(files, ("x",), ()), Drawing(0.1, 19, np.random.default_rng(1)), notes)


def test_every_figure_of_every_release():
    notes = {}
    _, (first, second) = found(notes)
    assert tuple(first.figures) == FIGURES
    assert first.distance.round(9).tolist() == [0.0, 0.1, 0.1]
    assert first.hit.tolist() == [1.0, 1.0, 1.0]
    assert first.identifiable.tolist() == [1.0, 0.0, 1.0]
    assert (first.figures["copies"], second.figures["copies"]) == (0.5, 0.0)
    assert math.isnan(second.figures["nndr_original_to_released"])
    assert math.isnan(second.figures["adversarial_accuracy"])
    assert np.isnan(first.released["share_original"]).all()
    assert "identifiability" not in notes


def test_groups_with_the_nearest_originals_first():
    files, both = found({})
    table = group_figures(files, ["g"], both)
    assert table["release"] == [1, 1, 1, 2, 2, 2]
    assert table["g"] == ["a", "(missing)", "b", "a", "(missing)", "b"]
    assert table["n"] == [2, 1, 0, 2, 1, 0]
    assert table["n_released"] == [1, 0, 1, 1, 0, 0]
    assert math.isnan(table["dcr_original_to_released"][2])
    assert group_figures(files, [], both) == {"release": []}


def nearer_to_their_own(real, made):
    """The share of both files that has another record of its own file nearer than any of the other, all compared."""
    across = abs(real[:, None] - made)
    within = [abs(x[:, None] - x) + np.diag(np.full(len(x), np.inf)) for x in (real, made)]
    return np.mean([within[0].min(axis=1) < across.min(axis=1), within[1].min(axis=1) < across.min(axis=0)])


def test_files_of_very_different_sizes_are_drawn_from_several_times():
    rng = np.random.default_rng(1)
    real, made = (pl.DataFrame({"x": rng.normal(size=n)}) for n in (300, 40))
    files = AttackFiles(open_pair(real, made, made.reverse(), categories={"variables": ["x"]}, attack=True))
    notes = {}
    (one,) = closeness(ComparedFiles(files, ("x",), ()), Drawing(0.1, 19, rng), notes)
    assert notes["adversarial_accuracy"] == "on 40 records of each file, the mean of 30 random draws: sizes differ"
    parts = (real.sample(40, seed=seed)["x"].to_numpy() for seed in range(200))
    single = [nearer_to_their_own(part, made["x"].to_numpy()) for part in parts]
    assert abs(one.figures["adversarial_accuracy"] - np.mean(single)) < 4 * np.std(single) / np.sqrt(30)


def test_samples_looked_up_among_the_nearest_give_the_figures_of_the_searches(monkeypatch):
    rng, figures = np.random.default_rng(2), []
    real, made, others = (
        pl.DataFrame({"x": rng.normal(size=n), "g": rng.choice(["a", "b", None], n).tolist()}) for n in (90, 40, 30)
    )
    for most, ranks in ((0, 8), (90, 8), (90, 1)):  # of a single one, many samples have none
        monkeypatch.setattr(closeness_figures, "ALL_PAIRS", most)
        monkeypatch.setattr(nearest_searches, "RANKS", ranks)
        monkeypatch.setattr(nearest_searches, "RANKED", 1000)  # in several pieces
        files = AttackFiles(open_pair(real, made, others, categories={"variables": ["x", "g"]}, attack=True))
        (one,) = closeness(ComparedFiles(files, ("x",), ("g",)), Drawing(0.1, 19, np.random.default_rng(1)), {})
        figures.append(one.figures)
    np.testing.assert_equal(figures[1:], figures[:1] * 2)
    assert 0 < figures[0]["adversarial_accuracy"] != figures[0]["adversarial_accuracy_control"] > 0


# Ties, hits, and labels exchanged at random.


def test_equal_distances_are_half_a_win():
    assert wins(np.array([2.0, 1.0, 1.0]), np.array([1.0, 1.0, 2.0]), 1e-12).tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("real", "released", "expected"),
    [
        ([0, 10, 20], [0, 10, 20], 0.0),
        ([0, 1, 2], [50, 51, 52], 1.0),
        ([0, 0, 0], [0, 0, 0], 0.5),
        ([0, 2], [1, 9], 0.0),  # 1 < 2, 1 < 2; 1 < 8, 7 < 8: each is nearer to the other file than to its own
    ],
)
def test_adversarial_accuracy(real, released, expected):
    made = files(real=real, released=released)
    assert adversarial_accuracy(made, "real", "released") == expected


def test_one_record_has_no_accuracy():
    assert math.isnan(adversarial_accuracy(files(a=[1.0], b=[1.0, 2.0]), "a", "b"))


def test_a_hit_agrees_in_categories_and_missing_values():
    codes = (np.array([1, 1, 2, 0], np.int32), np.array([1, 0], np.int32))
    x = (np.array([0.0, 0.11, 0.0, np.nan]), np.array([0.1, np.nan]))
    assert hits([x], [codes], np.array([0.1])).tolist() == [True, True, False, True]
    assert hits([x], [codes], np.array([0.005])).tolist() == [False, False, False, True]
    assert hits([], [codes], np.empty(0)).tolist() == [True, True, False, True]


def test_a_distance_of_exactly_the_reach_is_a_hit():
    assert hits([(np.array([0.3]), np.array([0.1]))], [], np.array([0.2])).tolist() == [True]


def test_exchange_by_all_divisions():
    original, control, released = differences(
        [(np.array([0.0, 4.0]), np.array([2.0, 8.0, 9.0]), np.array([0.0, 1.0, 3.0, 8.5]))], power=1
    )
    made = exchange(original, control, released, resamples=400, rng=np.random.default_rng(3))
    assert made.share.tolist() == [1.0, 0.5, 0.5, 0.0]
    assert made.expected == 0.4
    # weights of the five real records: 1.5, 0.5, 1, 0.5, 0.5 of 4; two of five are originals
    weights = np.array([1.5, 0.5, 1.0, 0.5, 0.5]) / 4
    variance = 0.4 * 0.6 * 5 / 4 * ((weights - 0.2) ** 2).sum()
    assert made.by_chance.mean() == pytest.approx(0.4, abs=0.03)
    assert made.spread == pytest.approx(math.sqrt(variance), rel=0.1)
    assert 0.3 < made.p_value < 0.7


def test_an_exchange_without_divisions_has_no_spread():
    one, two, three = differences([(np.array([0.0]), np.array([1.0]), np.array([0.0]))], power=1)
    made = exchange(one, two, three, resamples=0, rng=np.random.default_rng(0))
    assert math.isnan(made.spread)
    assert math.isnan(made.p_value)


# On which scale the variables are compared, and what each weighs.


FILES_ORIGINAL = pl.DataFrame({"x": [0.0, 2.0, 4.0, None], "c": list("aabb"), "g": ["u"] * 4})
RELEASE = FILES_ORIGINAL.with_columns(x=pl.Series([1.0, 2.0, 50.0, 3.0]))
CONTROL = FILES_ORIGINAL.with_columns(x=pl.Series([8.0, 2.0, 3.0, 3.0]))


def compared(numbers, categories, control=CONTROL, original=FILES_ORIGINAL, release=RELEASE):
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
    empty = FILES_ORIGINAL.with_columns(x=pl.lit(None, pl.Float64))
    found = compared(["x"], ["c"], original=empty)
    assert found.rarity() == pytest.approx([0.0, 1 / math.log(2)])
    assert found.ranges().tolist() == [6.0]
    assert np.isfinite(found.encoded()[1].numbers).all()
