"""Households and persons by how their records behave."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.spoken import spoken_of
from sdckit.data.scenarios.guessing.units import Groups, units_of, weights_of

rng = np.random.default_rng(5)
HOME = np.repeat(np.arange(200), rng.choice([1, 2, 3, 4], 200))
SIZE = np.bincount(HOME)[HOME]
N = len(HOME)
SEX = rng.integers(1, 3, N)


def units(**columns):
    frame = pl.DataFrame(columns)
    facts = {name: facts_of(frame[name]) for name in frame.columns}
    return units_of(frame, facts, spoken_of(tuple(facts.values()), {}))


def test_what_hangs_on_a_household():
    region, rent = rng.integers(0, 5, 200)[HOME], rng.normal(0, 1, 200)[HOME]
    almost = region.copy()
    almost[0] += 1
    almost[1:3] = region[1:3]
    found = units(hh=HOME, sex=SEX, hsize=SIZE, region=region, rent=rent, other=HOME * 7 + 3, noise=rng.normal(0, 1, N))
    assert found.household.column == "hh"
    assert found.household.confidence == "sure"
    assert found.sizes == ("hsize",)
    assert found.same == ("other",)
    assert found.constant == ("hsize", "region", "rent")


def test_one_household_that_differs_is_enough_not_to_be_shared():
    region = rng.integers(0, 5, 200)[HOME]
    first = np.flatnonzero(SIZE > 1)[0]
    region[first] = 9
    assert units(hh=HOME, sex=SEX, region=region).constant == ()


def test_missing_for_all_members_is_shared_missing_for_one_is_not():
    value = [None if one % 3 == 0 else int(one) % 5 for one in HOME.tolist()]
    assert units(hh=HOME, sex=SEX, x=value).constant == ("x",)
    first = int(np.flatnonzero((SIZE > 1) & (HOME % 3 != 0))[0])
    value[first] = None
    assert units(hh=HOME, sex=SEX, x=value).constant == ()


def test_few_households_with_several_members_are_named_by_the_column_alone():
    home = np.repeat(np.arange(200), [2] * 5 + [1] * 195)
    sizes, sex = np.bincount(home)[home], rng.integers(1, 3, len(home))
    found = units(hh=home, sex=sex, hsize=sizes)
    assert (found.household.column, found.person, found.constant) == ("hh", None, ("hsize",))
    assert units(code=home, sex=sex, hsize=sizes).person is None


def test_records_in_any_order():
    order = rng.permutation(N)
    found = units(hh=HOME[order], sex=SEX[order], hsize=SIZE[order])
    assert found.household.column == "hh"
    assert found.sizes == ("hsize",)


def test_a_person_number_with_members_of_different_sex_is_asked_about():
    found = units(pid=HOME, sex=SEX)
    assert found.person is None
    assert "differ in sex" in found.questions["pid"]


@pytest.mark.parametrize("name", ["nhs_number", "ssn", "steuer_id"])
def test_an_official_number_of_several_rows_says_whose_they_are(name):
    numbers, sex = 10**8 + 7919 * HOME, HOME % 2 + 1
    assert units(**{name: numbers, "sex": sex}).person.column == name
    assert units(**{name: numbers, "pid": HOME, "sex": sex}).person.column == "pid"
    assert units(**{name: 10**8 + 7919 * np.arange(N), "sex": sex}).person is None  # a number for each row
    assert units(**{name: numbers, "sex": SEX}).person is None  # of rows that differ in sex


def test_an_unnamed_id_of_one_sex_is_asked_about_in_any_order():
    order = rng.permutation(N)
    found = units(case=HOME[order], sex=(HOME % 2 + 1)[order])
    assert found.person is None
    assert "have one sex: are the records" in found.questions["case"]
    assert units(case=HOME[order], sex=SEX).questions == {}


def test_without_a_sex_a_name_is_only_likely():
    assert units(hh=HOME, x=SEX).household.confidence == "likely"
    assert units(pid=HOME, x=SEX).person.confidence == "likely"


def test_groups_too_large_for_a_household():
    assert units(hh=np.arange(2000) // 50, sex=rng.integers(1, 3, 2000)).household is None
    lumpy = np.concatenate([np.zeros(100, dtype=int), np.arange(1, 901) // 2 + 1])
    assert units(hh=lumpy, sex=rng.integers(1, 3, 1000)).household is None


def test_an_id_that_is_missing_for_many():
    ids = [None if i % 5 == 0 else int(one) for i, one in enumerate(HOME)]
    assert units(hh=ids, sex=SEX).household is None


# Groups of records against the same counted by hand.


ids = st.lists(st.integers(0, 6), min_size=1, max_size=40).map(lambda found: np.array(found, dtype=float))


@given(ids, st.randoms(use_true_random=False))
def test_by_hand(codes, random):
    values = np.array([random.randint(0, 2) for _ in codes], dtype=float)
    groups = Groups.of(codes)
    members = [values[codes == one] for one in np.unique(codes)]
    several = [one for one in members if len(one) > 1]
    assert groups.n == len(members)
    assert groups.n_several == len(several)
    assert groups.largest == max(map(len, members))
    expected = np.mean([len(set(one)) == 1 for one in several]) if several else np.nan
    assert np.array_equal(groups.share_constant(values), expected, equal_nan=True)
    sizes = np.array([(codes == one).sum() for one in codes], dtype=float)
    assert groups.counted_by(sizes) == 1
    assert groups.together == (sum(np.diff(codes) != 0) + 1 == len(members))


@given(ids)
def test_a_numbering_is_found_in_any_order(codes):
    number = np.array([(codes[:i] == codes[i]).sum() for i in range(len(codes))], dtype=float)
    order = np.random.default_rng(1).permutation(len(codes))
    for first in (0, 1):
        assert Groups.of(codes[order]).numbered_by(number[order] + first) == 1
    assert Groups.of(codes).repeated([number]) == 0


def test_what_is_no_numbering():
    codes = np.repeat(np.arange(50.0), 3)
    assert Groups.of(codes).numbered_by(np.tile([1.0, 2, 2], 50)) < 0.9
    assert Groups.of(codes).numbered_by(np.tile([1.0, 3, 3], 50)) == 0
    assert Groups.of(codes).numbered_by(np.tile([1.0, 1, 3], 50)) == 0  # the ends are right, the middle not
    assert Groups.of(codes).numbered_by(np.full(150, np.nan)) == 0
    assert Groups.of(codes).repeated([np.tile([1.0, 1, 2], 50)]) == 50 / 150


# Weights of samples, and what is like them.


WEIGHTS_N = 600
WEIGHT = rng.uniform(100, 900, WEIGHTS_N)
BODY = rng.normal(75, 14, WEIGHTS_N).round()


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
    home = np.arange(WEIGHTS_N) // 3
    found = weights(hh=home, weight=rng.uniform(40, 120, WEIGHTS_N // 3)[home])
    assert found.chosen.confidence == "sure"
    assert any("members of a household" in one for one in found.chosen.evidence)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([-1.5, *WEIGHT[1:]], "positive"),
        ([0.0, *WEIGHT[1:]], "positive"),
        (["a", "b"] * (WEIGHTS_N // 2), "no numbers"),
        ([1.0] * WEIGHTS_N, "same in every record"),
        ([None] * 400 + WEIGHT[:200].tolist(), "missing for many"),
        ([None] * WEIGHTS_N, "no value"),
    ],
)
def test_what_is_called_a_weight_and_is_none(values, why):
    found = weights(sampling_weight=values)
    assert found.chosen is None
    assert why in found.refused["sampling_weight"]


def test_one_weight_for_all_is_a_weight_where_it_is_called_so():
    assert weights(sampling_weight=[100] * WEIGHTS_N).chosen.column == "sampling_weight"
    assert weights(weight=[100] * WEIGHTS_N).chosen is None


def test_a_weight_that_some_lack_is_warned_of():
    found = weights(sampling_weight=[None, *WEIGHT[1:]]).chosen
    assert "missing for some records" in found.warning
    assert found.confidence != "sure"


def test_bodies():
    assert "weight" in weights(weight=BODY).bodies
    assert (
        "go with the heights" in weights(weight=BODY, height=BODY + 100 + rng.normal(0, 5, WEIGHTS_N)).bodies["weight"]
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


def test_weights_that_add_up_to_the_records_are_weights_on_another_scale():
    normed = weights(wgt=WEIGHT / WEIGHT.mean()).chosen
    assert "multiply them by population / records" in normed.warning
    by_million = weights(wgt=WEIGHT / WEIGHT.mean() * 1_000_000).chosen
    assert "divide them by 1,000,000" in by_million.warning
    assert normed.score == by_million.score == weights(wgt=WEIGHT).chosen.score


def test_numbers_that_count_nothing_are_no_ids_of_persons():
    spread = np.sort(rng.choice(10**6, 200, replace=False))[HOME] ** 2 % 10**5
    assert units(id=spread, x=SEX).person is None
    assert units(pid=HOME, x=SEX).person is not None


def test_a_number_whose_rows_are_each_from_another_wave_is_a_persons() -> None:
    nr, year = np.repeat(np.arange(60) * 7 + 13, 5), np.tile(np.arange(1980, 1985), 60)
    found = units(nr=nr, year=year, wage=rng.normal(0, 1, 300))
    assert found.person is not None
    assert (found.person.column, found.person.confidence, found.waves) == ("nr", "likely", ("year",))
    assert units(nr=nr, wage=rng.normal(0, 1, 300)).person is None  # which may number anything
    assert units(nr=nr, year=np.repeat(np.arange(1980, 1985), 60), wage=rng.normal(0, 1, 300)).person is None
