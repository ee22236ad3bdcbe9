"""Canaries: rare, nobody's, planted by lot, found in a copy and not in a file that never saw them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, canaries
from sdckit.errors import ColumnError, DataError

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
