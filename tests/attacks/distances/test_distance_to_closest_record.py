"""Distances to the closest record by brute force, on every engine's frames, and what it refuses."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sdckit import Scenario, distance_to_closest_record
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError


def people(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    age[rng.random(n) < 0.1] = np.nan
    sex = rng.choice(["f", "m", None], n, p=[0.5, 0.45, 0.05]).tolist()
    return pl.DataFrame({"age": age, "pay": rng.integers(0, 9, n), "sex": sex}).with_columns(
        pl.col("age").fill_nan(None)
    )


ORIGINAL, RELEASE, CONTROL = people(40, 1), people(50, 2), people(30, 3)
NUMBERS = ["age", "pay"]


def gower(left, right, ranges):
    total = np.zeros((len(left), len(right)))
    for name in left.columns:
        a, b = left[name].to_list(), right[name].to_list()
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                if x is None or y is None:
                    total[i, j] += x is not y
                elif name in ranges:
                    total[i, j] += min(abs(x - y) / ranges[name], 1.0)
                else:
                    total[i, j] += x != y
    return total / len(left.columns)


def real_ranges(*frames):
    both = pl.concat(frames)
    return {name: float(both[name].max() - both[name].min()) for name in NUMBERS}


def ratios(distances):
    first, second = np.sort(distances, axis=1)[:, :2].T
    return np.where(second > 1e-12, first / np.where(second > 0, second, 1), 1.0)


def test_against_records_drawn_at_random():
    """Whole numbers from 0 to 10 are 0 to 5 tenths from an end: two in eleven for each, the median is two tenths."""
    ends = pl.DataFrame({"x": [0, 10]})
    for value, away, protection in ((1, 0.1, 0.5), (5, 0.5, 1.0), (10, 0.0, 0.0)):
        found = distance_to_closest_record(ends, pl.DataFrame({"x": [value]}), numeric=["x"], seed=1)
        assert found.dcr_random_to_original == pytest.approx(0.2)
        assert found.dcr_released_to_original == pytest.approx(away)
        assert found.baseline_protection == pytest.approx(protection)
    pairs = pl.DataFrame({"a": ["x", "x", "y", None], "b": ["p", "q", "p", "q"]})  # two of four have an equal
    found = distance_to_closest_record(pairs, pairs, seed=1)
    assert found.dcr_random_to_original == 0
    assert math.isnan(found.baseline_protection)
    assert "drawn at random" in found.notes["baseline_protection"]


def test_what_is_drawn_at_random_is_within_the_original_and_changes_no_other_draw():
    found = [
        distance_to_closest_record(ORIGINAL, RELEASE, control=CONTROL, numeric=NUMBERS, seed=seed) for seed in (4, 4, 5)
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert found[0].dcr_random_to_original != found[2].dcr_random_to_original
    assert 0 < found[0].baseline_protection <= 1
    alone = distance_to_closest_record(ORIGINAL, [RELEASE, ORIGINAL], numeric=NUMBERS, seed=4)
    assert alone.per_release[1]["baseline_protection"] == 0
    assert alone.per_release[0]["baseline_protection"] == pytest.approx(found[0].baseline_protection, rel=0.3)


def test_without_a_control_file_by_brute_force():
    ranges = real_ranges(ORIGINAL)
    away, within = gower(RELEASE, ORIGINAL, ranges), gower(ORIGINAL, ORIGINAL, ranges)
    np.fill_diagonal(within, np.inf)
    result = distance_to_closest_record(ORIGINAL, RELEASE, seed=1)
    assert result.dcr_released_to_original == pytest.approx(np.median(away.min(axis=1)))
    assert result.dcr_p5_released_to_original == pytest.approx(np.quantile(away.min(axis=1), 0.05))
    assert result.dcr_original_to_released == pytest.approx(np.median(away.min(axis=0)))
    assert result.dcr_within_original == pytest.approx(np.median(within.min(axis=1)))
    assert result.dcr_ratio == pytest.approx(np.median(away.min(axis=1)) / np.median(within.min(axis=1)))
    assert result.nndr_released_to_original == pytest.approx(ratios(away).mean())
    assert result.nndr_original_to_released == pytest.approx(ratios(away.T).mean())
    assert result.copies == (away.min(axis=1) < 1e-12).mean()
    assert result.records["distance"].to_list() == pytest.approx(away.min(axis=0))
    assert result.released_records["distance"].to_list() == pytest.approx(away.min(axis=1))
    for name in ("share_closer_to_original", "nndr_loss", "adversarial_loss"):
        assert math.isnan(getattr(result, name))
        assert "no control file" in result.notes[name]
    assert result.verdict.startswith("Distances alone do not tell")
    assert result.notes["numeric"] == "compared as numbers: age, pay"
    assert result.notes["adversarial_accuracy"].startswith("on 40 records of each file")


def test_with_a_control_file_by_brute_force():
    ranges = real_ranges(ORIGINAL, CONTROL)
    a, c = gower(RELEASE, ORIGINAL, ranges), gower(RELEASE, CONTROL, ranges)
    near = np.minimum(a.min(axis=1), c.min(axis=1))[:, None] + 1e-12
    own, other = (a <= near).sum(axis=1), (c <= near).sum(axis=1)
    result = distance_to_closest_record(ORIGINAL, RELEASE, control=CONTROL, seed=1)
    assert result.share_closer_to_original == pytest.approx((own / (own + other)).mean())
    assert result.released_records["share_original"].to_list() == pytest.approx(own / (own + other))
    assert result.expected_share == 40 / 70
    assert result.strictly_closer == (other == 0).mean()
    assert result.equally_near == ((own > 0) & (other > 0)).mean()
    assert result.dcr_released_to_control == pytest.approx(np.median(c.min(axis=1)))
    assert result.dcr_control_to_released == pytest.approx(np.median(c.min(axis=0)))
    assert result.nndr_control_to_released == pytest.approx(ratios(c.T).mean())
    assert result.nndr_loss == pytest.approx(ratios(c.T).mean() - ratios(a.T).mean())
    assert (result.n, result.n_released, result.n_control) == (40, 50, 30)
    assert result.chance_low < result.expected_share < result.chance_high
    assert "no sign that the release is nearer" in result.verdict
    assert result.notes["adversarial_loss"].startswith("on 30 records of each file")
    even = distance_to_closest_record(ORIGINAL, RELEASE[:40], control=people(40, 9))
    assert even.adversarial_loss == even.adversarial_accuracy_control - even.adversarial_accuracy
    assert "adversarial_loss" not in even.notes


def test_hits_and_identifiability_by_brute_force():
    result = distance_to_closest_record(ORIGINAL, RELEASE, hit_width=0.2)
    ranges = real_ranges(ORIGINAL)
    expected = []
    for row in ORIGINAL.rows(named=True):
        close = [
            all(
                other[name] is row[name] if None in (row[name], other[name])
                else abs(other[name] - row[name]) <= 0.2 * ranges[name] + 1e-9 if name in ranges
                else other[name] == row[name]
                for name in row
            )
            for other in RELEASE.rows(named=True)
        ]  # fmt: skip
        expected.append(float(any(close)))
    assert result.records["hit"].to_list() == expected
    plain = ORIGINAL.select("sex").drop_nulls()
    away = distance_to_closest_record(plain.head(3), plain.head(1))
    assert away.identifiability == 0.0  # one variable: an equal original is as near as an equal released record


def test_a_copy_is_found():
    result = distance_to_closest_record(ORIGINAL, ORIGINAL, control=CONTROL, seed=4)
    assert result.copies == result.hitting_rate == 1.0
    assert result.dcr_released_to_original == 0.0
    assert result.share_closer_to_original > result.chance_high
    assert result.share_p_value == 0.01
    assert "nearer to the people in it than to others" in result.verdict
    assert result.notes["released"] == "the release has the original's values of these variables, row by row"
    assert result.adversarial_accuracy == 0.025  # two of the originals are equal
    assert result.adversarial_loss > 0.1


def test_subgroups_releases_engines_and_seed():
    given = {"control": CONTROL, "variables": NUMBERS, "by": ["sex"], "seed": 3}
    result = distance_to_closest_record(ORIGINAL, [RELEASE, ORIGINAL], **given)
    groups = result.by_group
    assert groups.columns[:4] == ["release", "sex", "n", "n_released"]
    assert groups["n"].sum() == 80
    assert groups["n_released"].sum() == 90
    assert groups["dcr_original_to_released"][:3].is_sorted()
    assert len(result.by_release) == result.m == 2
    assert result.copies == pytest.approx(np.mean([one["copies"] for one in result.per_release]))
    assert result.notes["released"].startswith("1 of 2 releases have")
    again = {**given, "control": CONTROL.to_arrow()}
    same = distance_to_closest_record(ORIGINAL.to_pandas(), [RELEASE.to_arrow(), ORIGINAL.lazy()], **again)
    assert same.to_dict() == result.to_dict()
    assert isinstance(same.records, pd.DataFrame)
    assert "by_group" not in result.to_dict()


def test_variables_from_the_scenario_or_an_open_pair():
    scenario = Scenario(keys=["sex"], sensitive=["pay"], numeric=["age"])
    by_scenario = distance_to_closest_record(ORIGINAL, RELEASE, scenario=scenario, seed=1)
    listed = distance_to_closest_record(ORIGINAL, RELEASE, variables=["sex", "pay", "age"], numeric=["age"], seed=1)
    assert by_scenario.to_dict() == listed.to_dict()
    numbered = [frame.with_row_index("id") for frame in (ORIGINAL, RELEASE)]
    pair = open_pair(*numbered, categories={}, id="id")
    result = distance_to_closest_record(pair, control=CONTROL, seed=1, prefix="d_")
    assert result.records.columns == ["id", "d_distance", "d_ratio", "d_hit", "d_identifiable"]
    assert result.notes["numeric"] == "compared as numbers: age, pay"


def test_one_record_constant_columns_and_equal_records():
    one = distance_to_closest_record(ORIGINAL[:1], RELEASE)
    assert math.isnan(one.dcr_within_original)
    assert math.isnan(one.nndr_released_to_original)
    assert one.notes["dcr_ratio"] == "needs two records of each file"
    same = pl.DataFrame({"x": ["a"] * 4})
    constant = distance_to_closest_record(same, same, control=same, seed=1)
    assert math.isnan(constant.dcr_ratio)
    assert math.isnan(constant.identifiability)
    assert constant.notes["identifiability"] == "every variable is constant in the original"
    assert (constant.nndr_released_to_original, constant.adversarial_accuracy) == (1.0, 0.5)
    assert (constant.share_closer_to_original, constant.equally_near) == (0.5, 1.0)
    assert constant.notes["control"].startswith("4 of 4 records of the control file equal an original")


def test_a_number_that_is_constant_among_real_people_still_counts():
    real, made = (pl.DataFrame({"z": [value] * 40, "k": range(40)}) for value in (30, 99))
    result = distance_to_closest_record(real, made)
    assert (result.copies, result.hitting_rate, result.dcr_released_to_original) == (0.0, 0.0, 0.5)
    assert distance_to_closest_record(real, real).copies == 1.0


def test_a_pickled_result_keeps_its_figures_only():
    result = distance_to_closest_record(ORIGINAL, RELEASE, by=["sex"])
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    for name in ("records", "by_group", "released_records"):
        with pytest.raises(DataError, match="let go of the data"):
            getattr(kept, name)


REFUSED = [
    ({"hit_width": 0}, DataError, "hit_width is a share"),
    ({"resamples": 5}, DataError, "19 to 100,000"),
    ({"resamples": 2**70}, DataError, "19 to 100,000"),
    ({"id": 5}, ColumnError, "id is the name of one column, not int"),
    ({"variables": [1]}, ColumnError, "no column 1"),
    ({"variables": []}, ColumnError, "variables= is empty"),
    ({"variables": ["wage"]}, ColumnError, "the original has no column 'wage'"),
    ({"variables": ["age"], "numeric": ["pay"]}, ColumnError, "'pay' is none of the columns used"),
    ({"control": CONTROL.drop("pay")}, ColumnError, "the control file has no column 'pay'"),
    ({"control": CONTROL[:0]}, DataError, "the control file: the data has no records"),
    ({"by": ["n"]}, ColumnError, "by: 'n' is the name of a result column"),
    ({"seed": -1}, DataError, "seed= takes a whole number"),
    ({"numeric": ["sex"]}, DataError, "numeric 'sex' holds text, not numbers"),
]


@pytest.mark.parametrize(("given", "error", "words"), REFUSED)
def test_bad_input(given, error, words):
    with pytest.raises(error, match=words):
        distance_to_closest_record(ORIGINAL, RELEASE, **given)


def test_a_control_file_of_which_some_are_drawn_has_intervals():
    files = [frame.with_row_index("row") for frame in (people(20, 1), people(20, 2))]
    drawn = distance_to_closest_record(*files, control=people(60, 3), id="row", targets=30, seed=1)
    assert drawn.intervals["copies_of_control"][1] > drawn.copies_of_control
    assert drawn.notes["targets"] == "of 30 people drawn by their id"
    assert not distance_to_closest_record(*files, control=people(25, 3), id="row", targets=30, seed=1).intervals
