"""Weights of samples, and what is like them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import units_of
from sdckit.data.scenarios.guessing.weights import weights_of

N = 600
rng = np.random.default_rng(5)
WEIGHT = rng.uniform(100, 900, N)
BODY = rng.normal(75, 14, N).round()


def weights(labels=None, **columns):
    frame = pl.DataFrame(columns)
    facts = {name: facts_of(frame[name]) for name in frame.columns}
    spoken = spoken_of(tuple(facts.values()), labels or {})
    return weights_of(frame, facts, spoken, units_of(frame, facts, spoken))


def test_what_the_weights_add_up_to_is_told():
    found = weights(wgt=WEIGHT).chosen
    assert found.confidence == "likely"
    assert any("which may be a population" in one for one in found.evidence)
    assert weights(person_weight=WEIGHT).chosen.confidence == "sure"
    assert weights({"x": "Sampling weight"}, x=WEIGHT).chosen.column == "x"


def test_the_same_for_members_of_a_household_makes_sure():
    home = np.arange(N) // 3
    found = weights(hh=home, weight=rng.uniform(40, 120, N // 3)[home])
    assert found.chosen.confidence == "sure"
    assert any("members of a household" in one for one in found.chosen.evidence)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([-1.5, *WEIGHT[1:]], "positive"),
        ([0.0, *WEIGHT[1:]], "positive"),
        (["a", "b"] * (N // 2), "no numbers"),
        ([1.0] * N, "same in every record"),
        ([None] * 400 + WEIGHT[:200].tolist(), "missing for many"),
        ([None] * N, "no value"),
    ],
)
def test_what_is_called_a_weight_and_is_none(values, why):
    found = weights(sampling_weight=values)
    assert found.chosen is None
    assert why in found.refused["sampling_weight"]


def test_one_weight_for_all_is_a_weight_where_it_is_called_so():
    assert weights(sampling_weight=[100] * N).chosen.column == "sampling_weight"
    assert weights(weight=[100] * N).chosen is None


def test_a_weight_that_some_lack_is_warned_of():
    found = weights(sampling_weight=[None, *WEIGHT[1:]]).chosen
    assert "missing for some records" in found.warning
    assert found.confidence != "sure"


def test_bodies():
    assert "weight" in weights(weight=BODY).bodies
    assert (
        "go with the heights"
        in weights(weight=BODY, height=BODY + 100 + rng.normal(0, 5, N)).bodies["weight"]
    )
    assert weights({"x": "Poids (kg)"}, x=BODY).chosen is None
    assert weights(weight=BODY + 0.1234).chosen is not None  # no scale shows four decimals


def test_persons_before_households_and_final_before_design():
    assert weights(hhweight=WEIGHT, pweight=WEIGHT).chosen.column == "pweight"
    assert weights(dweight=WEIGHT, pspwght=WEIGHT).chosen.column == "pspwght"
    assert weights(design_weight=WEIGHT, final_weight=WEIGHT * 1.1).chosen.column == "final_weight"
    two = weights(wgt1=WEIGHT, wgt2=WEIGHT * 1.1)
    assert '"wgt2" could be it as well' in two.chosen.evidence[-1]
    assert two.chosen.confidence == "likely"


def test_shares_below_one_are_warned_of():
    assert "another scale" in weights(sampling_weight=WEIGHT / 10_000).chosen.warning
