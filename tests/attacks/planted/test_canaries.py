"""Canaries: rare, nobody's, planted by lot, found in a copy and not in a file that never saw them."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, canaries
from sdckit.attacks.planted.canaries import auc_interval, canary_exposure, exposures, stand_out
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
