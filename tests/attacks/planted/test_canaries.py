"""Canaries: rare, nobody's, planted by lot, found in a copy and not in a file that never saw them."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

from sdckit import Scenario, canaries
from sdckit.attacks.planted.canaries import (
    auc_interval,
    bound_words,
    canary_exposure,
    epsilon_bound,
    exposures,
    guessed,
    numbers_of_guesses,
    stand_out,
)  # fmt: skip
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.intervals import wilson

RNG = np.random.default_rng(8)
AGE = RNG.integers(18, 80, 300)
SURVEY = pl.DataFrame(
    {
        "id": [f"p{i}" for i in range(300)],
        "age": AGE,
        "pay": (AGE * 100 + RNG.integers(0, 90, 300)).astype(float),
        "sex": RNG.choice(["f", "m"], 300),
    }
)

ANSWERS = pl.DataFrame({f"q{j}": RNG.integers(0, 5, 300).astype(str) for j in range(8)})


def test_they_are_nobody_and_their_values_somebodys():
    made = canaries(SURVEY, n=20, seed=1, id="id")
    assert (made.n_planted, made.n_held_out, made.copies) == (20, 20, 1)
    assert made.variables == ("age", "pay", "sex")
    assert made.numeric == ("age", "pay")
    assert made.data.head(300).equals(SURVEY)
    assert made.data.tail(20).equals(made.planted)
    assert made.data.schema == SURVEY.schema
    both = pl.concat([made.planted, made.held_out])
    for name in ("age", "pay", "sex"):
        assert set(both[name]) <= set(SURVEY[name])
    assert both.unique(["age", "pay", "sex"]).height == 40
    assert both.join(SURVEY, on=["age", "pay", "sex"]).height == 0
    assert made.nearest > 0
    assert both["id"].to_list() == [f"new-{i}" for i in range(1, 41)]


def test_a_copy_remembers_and_the_file_without_them_does_not():
    made = canaries(SURVEY, n=20, seed=2, id="id")
    copy = made.exposure(made.data)
    assert (copy.auc, copy.recovered, copy.recovered_by_chance) == (1.0, 1.0, 0.0)
    assert copy.mean_exposure == copy.most_exposure
    assert copy.p_value < 1e-6
    assert copy.risk_low > 0.7
    assert copy.verdict.startswith("The release remembers")
    without = made.exposure(SURVEY)
    assert without.auc_low < 0.5 < without.auc_high
    assert without.verdict.startswith("No sign of memory")


def test_without_memory_the_interval_covers_one_half():
    inside = 0
    for seed in range(40):
        found = canaries(SURVEY, n=12, seed=seed, id="id").exposure(SURVEY)
        inside += found.auc_low <= 0.5 <= found.auc_high
    assert inside >= 35


def test_coins_plant_by_themselves_and_nothing_tells_them():
    made = canaries(SURVEY, n=40, seed=2, id="id", coins=True)
    half = canaries(SURVEY, n=40, seed=2, id="id")
    assert made.both.to_native().equals(half.both.to_native())  # the same records in the same order
    assert made.data.height == 300 + made.n_planted
    assert made.n_planted + made.n_held_out == 80
    assert made.planted.equals(made.both.to_native().filter(made.coins))
    assert half.coins is None
    planted = [canaries(SURVEY, n=10, seed=seed, id="id", coins=True).n_planted for seed in range(60)]
    assert 2.5 < np.var(planted) < 8  # 5 by coins, 0 by halves
    assert abs(np.mean(planted) - 10) < 1
    assert "coins" not in repr(made)


def test_a_copy_bounds_epsilon_and_who_never_saw_them_does_not():
    made = canaries(ANSWERS, n=40, seed=3, coins=True)
    copied = made.exposure(made.data)
    assert (copied.n_guesses, copied.n_right) == (40, copied.n_right)
    assert copied.n_right >= 36
    assert copied.epsilon_low > 1.2
    assert f"{copied.n_right} are right: ε is at least {copied.epsilon_low:.3g}, with 95 %" in copied.verdict
    blind = made.exposure(ANSWERS)
    assert blind.epsilon_low == 0
    assert "no ε is refuted" in blind.verdict
    several = made.exposure(made.data, guesses=[10, 40], level=0.9)
    assert [part.n_guesses for part in several.guesses] == [10, 40]
    assert several.epsilon_low == max(part.epsilon_low for part in several.guesses)
    assert several.to_dict()["guesses"][1]["n_right"] == copied.n_right
    assert copied.summary().height == len(copied.figures)
    both = made.exposure([made.data, ANSWERS])
    scores = [found.records["ratio_score"].to_numpy() for found in (copied, blind, both)]
    assert scores[2] == pytest.approx((scores[0] + scores[1]) / 2)
    assert both.notes["epsilon_low"] == "it bounds the ε of all releases together"


def test_without_memory_no_epsilon_is_refuted():
    above = 0
    for seed in range(40):
        above += canaries(SURVEY, n=12, seed=seed, id="id", coins=True).exposure(SURVEY).epsilon_low > 0
    assert above <= 5


def test_the_reference_holds_no_canary_and_halves_bound_nothing():
    made = canaries(SURVEY, n=10, seed=1, id="id", coins=True)
    own = made.exposure(made.data, guesses=20)
    assert made.exposure(made.data, guesses=20, reference=SURVEY).to_dict() == own.to_dict()
    assert made.exposure(made.data, reference=SURVEY.head(150)).n_guesses == 10
    for spoilt in (made.data, pl.concat([SURVEY, made.held_out.head(1)])):
        with pytest.raises(DataError, match="the reference holds canaries"):
            made.exposure(made.data, reference=spoilt)
    half = canaries(SURVEY, n=10, seed=1, id="id")
    found = half.exposure(half.data)
    assert (found.epsilon_low, found.n_guesses, found.n_right, found.guesses) == (None, None, None, ())
    assert found.notes["epsilon_low"].startswith("not judged: exactly half is planted")
    assert "ε" not in found.verdict
    for given in ({"guesses": 10}, {"reference": SURVEY}):
        with pytest.raises(DataError, match="exactly half is planted"):
            half.exposure(half.data, **given)
    with pytest.raises(DataError, match=r"give even numbers from 2 to 20"):
        made.exposure(made.data, guesses=21)


def test_copies_engines_and_the_seed():
    given = {"n": 6, "seed": 5, "id": "id", "variables": ["age", "sex", "pay"]}
    made = canaries(SURVEY, copies=3, **given)
    assert made.data.height == 318
    frame = SURVEY.to_pandas()
    same = canaries(frame, **given)
    assert isinstance(same.data, pd.DataFrame)
    assert same.planted["pay"].tolist() == made.planted["pay"].to_list()
    released = SURVEY.head(50)
    assert same.exposure(released.to_arrow()).to_dict() == made.exposure(released).to_dict()
    assert pickle.loads(pickle.dumps(same)).exposure(released).auc == made.exposure(released).auc


def test_the_seed_is_kept_and_not_shown():
    made = [canaries(SURVEY, n=5, seed=seed) for seed in (None, None, 7)]
    seeds = [one.seed for one in made]
    assert seeds[0] != seeds[1] >= 2**64
    assert seeds[2] == 7
    for one in made:
        assert canaries(SURVEY, n=5, seed=one.seed).data.equals(one.data)
        assert "seed" not in repr(one)


def test_what_is_a_number():
    by_scenario = canaries(SURVEY, n=5, seed=1, id="id", scenario=Scenario(keys=["sex"], numeric=["pay"]))
    assert by_scenario.numeric == ("pay",)
    assert canaries(SURVEY, n=5, seed=1, id="id", numeric=["age"]).numeric == ("age",)


REFUSED = [
    ({"n": 4}, DataError, "n counts canaries; give a whole number of 5 or more"),
    ({"n": 9, "coins": True}, DataError, "n counts canaries; give a whole number of 10 or more"),
    ({"n": 10, "coins": True, "copies": 2}, DataError, "a coin plants one copy"),
    ({"copies": 0}, DataError, "copies counts how often"),
    ({"id": "no"}, ColumnError, "id: no column 'no'"),
    ({"variables": ["agee"]}, ColumnError, "no column 'agee'"),
    ({"variables": ["age"], "numeric": ["pay"]}, ColumnError, "'pay' is none of the variables"),
    ({"variables": ["sex"]}, DataError, "only 0 combinations that nobody has were found, 100 are needed"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED)
def test_bad_input(given, error, words):
    with pytest.raises(error, match=words):
        canaries(SURVEY, **given)


def test_bad_frames_and_levels():
    with pytest.raises(DataError, match="a plan cannot be changed"):
        canaries(SURVEY.lazy())
    made = canaries(SURVEY, n=5, seed=1)
    with pytest.raises(DataError, match="level is the confidence"):
        made.exposure(SURVEY, level=1)
    with pytest.raises(ColumnError, match="the release has no column 'pay'"):
        made.exposure(SURVEY.drop("pay"))


# What a release gives away of canaries, against figures worked by hand.


CANARIES = pl.DataFrame({"x": [0.0, 1.0, 5.0, 9.0], "c": list("aaab")})  # two planted, two held back
NEAR = pl.DataFrame({"x": [0.0, 1.4], "c": ["a", "a"]})
OTHER = pl.DataFrame({"x": [9.0], "c": ["b"]})
GIVEN = {"n_planted": 2, "numbers": ["x"], "categories": ["c"], "ranges": np.array([10.0]), "level": 0.9}


def test_by_hand():
    result = canary_exposure(CANARIES, NEAR, **GIVEN)
    assert result.records["distance"].to_list() == pytest.approx([0.0, 0.02, 0.18, 0.88])
    assert result.records["planted"].to_list() == [1.0, 1.0, 0.0, 0.0]
    assert result.records["exposure"].to_list()[:2] == pytest.approx([math.log2(3)] * 2)
    assert (result.auc, result.recovered, result.recovered_by_chance) == (1.0, 0.5, 0.0)
    assert result.p_value == pytest.approx(1 / 6)
    assert result.exposure_by_chance == pytest.approx(math.log2(3) - (0 + 1 + math.log2(3)) / 3)
    assert result.most_exposure == math.log2(3)
    assert (result.recovered_low, result.recovered_high) == (wilson(1, 2, 0.9).low, wilson(1, 2, 0.9).high)
    assert result.risk_low < result.risk < result.risk_high
    assert result.to_dict()["level"] == 0.9


def test_several_releases():
    both = canary_exposure(CANARIES, [NEAR, OTHER], **GIVEN)
    assert [one["auc"] for one in both.per_release] == [1.0, 0.0]
    assert both.auc == 0.5
    assert both.verdict.startswith("No sign of memory")
    assert both.notes["intervals"] == "their ends are means over the releases"


# Exposure, area under the curve and its interval, by all pairs and by simulation.


def test_by_all_pairs():
    rng = np.random.default_rng(2)
    planted, held_out = rng.integers(0, 6, 12) / 10, rng.integers(0, 8, 9) / 10
    closer = (held_out[None] < planted[:, None] - 1e-9).sum(axis=1)
    equal = (np.abs(held_out[None] - planted[:, None]) < 1e-9).sum(axis=1)
    assert exposures(planted, held_out, 1e-9) == pytest.approx(np.log2(10) - np.log2(1 + closer + equal / 2))
    area, p_value = stand_out(planted, held_out, 1e-9)
    assert area == pytest.approx(1 - (closer + equal / 2).mean() / 9)
    draws = np.random.default_rng(3)
    together, count = np.concatenate([planted, held_out]), 0
    for _ in range(2000):
        mixed = draws.permutation(together)
        count += stand_out_area(mixed[:12], mixed[12:]) >= area - 1e-9
    assert p_value == pytest.approx(count / 2000, abs=0.03)


def stand_out_area(planted, held_out):
    away = held_out[None] - planted[:, None]
    return (away > 1e-9).mean() + (np.abs(away) <= 1e-9).mean() / 2


def test_all_equal_is_no_evidence():
    assert stand_out(np.zeros(5), np.full(5, 1e-13), 1e-12) == (0.5, 1.0)


@pytest.mark.parametrize("area", [0.0, 0.03, 0.5, 0.9, 1.0])
def test_an_interval_stays_within_0_and_1_and_turns_round(area):
    low, high = auc_interval(area, 20, 30)
    assert 0 <= low <= area <= high <= 1
    assert high - low > 0.05
    assert auc_interval(1 - area, 30, 20) == pytest.approx((1 - high, 1 - low), abs=1e-8)
    assert auc_interval(area, 200, 300)[0] >= low


def test_the_interval_holds_what_it_says():
    rng = np.random.default_rng(4)
    inside = 0
    for _ in range(300):
        area, _ = stand_out(rng.normal(-1, 1, 25), rng.normal(0, 1, 25))
        low, high = auc_interval(area, 25, 25)
        inside += low <= 0.7602499 <= high
    assert inside / 300 > 0.92


# A lower bound on ε: what right guesses bound, and how often it is wrong.


@pytest.mark.parametrize(("n", "expected"), [(20, 1.8227), (100, 3.4930), (1_000, 5.8091)])
def test_all_guesses_right(n: int, expected: float) -> None:
    likely = 0.05 ** (1 / n)
    assert epsilon_bound(n, n, 0.05) == pytest.approx(math.log(likely / (1 - likely)), abs=1e-9)
    assert epsilon_bound(n, n, 0.05) == pytest.approx(expected, abs=5e-5)


def test_it_is_the_largest_that_is_not_refuted() -> None:
    low = epsilon_bound(70, 100, 0.05)
    for epsilon, refuted in ((low - 1e-6, True), (low + 1e-6, False)):
        assert (binom.sf(69, 100, 1 / (1 + math.exp(-epsilon))) <= 0.05) is np.bool_(refuted)
    assert [epsilon_bound(right, 100, 0.05) for right in (0, 1, 50, 58)] == [0.0] * 4
    bounds = [epsilon_bound(right, 100, 0.05) for right in range(59, 101)]
    assert bounds == sorted(bounds)
    assert bounds[0] > 0


@pytest.mark.parametrize("n", [20, 100, 150, 1_000])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_it_lies_above_epsilon_in_one_of_twenty_at_most(n: int, epsilon: float) -> None:
    """Summed exactly over all numbers of right guesses of somebody who guesses as well as ε allows."""
    likely = math.exp(epsilon) / (1 + math.exp(epsilon))
    above = [right for right in range(n + 1) if epsilon_bound(right, n, 0.05) > epsilon]
    assert binom.pmf(above, n, likely).sum() <= 0.05
    assert above or (n, epsilon) == (20, 2.0)  # 20 right guesses bound 1.82


@pytest.mark.parametrize("numbers", [[20], [100], [20, 60, 100]])
def test_equal_scores_refute_nothing(numbers: list[int]) -> None:
    rng = np.random.default_rng(5)
    draws = [guessed(np.zeros(200), rng.random(200) < 0.5, numbers, 0.05) for _ in range(4_000)]
    refuting = sum(max(made.epsilon_low for made in draw) > 0 for draw in draws)
    assert refuting / 4_000 <= 0.05


def test_the_highest_are_called_planted_and_the_lowest_not() -> None:
    planted = np.array([True, True, False, True, False, False])
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    few, many = guessed(scores, planted, [2, 6], 0.05)
    assert (few.n_guesses, few.n_right) == (2, 2)
    assert (many.n_guesses, many.n_right) == (6, 4)
    assert few.epsilon_low == epsilon_bound(2, 2, 0.025)  # two numbers share the level
    # what differs in the last digits is equal: the order decides
    (tied,) = guessed(1e-12 * np.arange(6.0), planted, [2], 0.05)
    assert tied.n_right == 2


def test_how_many_are_guessed() -> None:
    assert [numbers_of_guesses(None, n) for n in (40, 42, 200)] == [(20,), (20,), (100,)]
    assert numbers_of_guesses([30, 10, 30], 40) == (10, 30)
    for given in (0, 3, 42, [10, 11], [], 2.5, "9"):
        with pytest.raises(DataError, match="guesses counts guesses, half of them 'planted'"):
            numbers_of_guesses(given, 41)


def test_what_is_said_of_it() -> None:
    assert "ε is at least 2, with 95 % confidence and for δ = 0. Whoever promised less" in bound_words(
        9, "9", "2", 0.95
    )
    assert "no ε is refuted. A low bound proves nothing" in bound_words(9, "50 %", "", 0.95)
