"""Estimates side by side: agreement, what is undefined, and sizes that no rule combines."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from sdckit.cells.pair import open_pair
from sdckit.errors import DataError
from sdckit.utility.comparison import (
    FileEstimates,
    TermComparison,
    compare_terms,
    in_steps,
    note_identical,
    rounded_up,
    size_ratio,
)

NAMES = ("a", "b", "c", "d")


def estimates(value, variance=(1.0, 1.0, 1.0, 1.0), df=np.inf, n=10):
    return FileEstimates(np.array(value, float), np.array(variance, float), np.full(len(value), df), n)


def compared(original, *released, kind="observed", ratio=1.0, version="snoke", level=0.95):
    notes: dict[str, str] = {}
    found = compare_terms(
        NAMES, original, released, labels=[f"release {j}" for j in range(1, len(released) + 1)], kind=kind,
        level=level, version=version, ratio=ratio, notes=notes,
    )  # fmt: skip
    return found, notes


def test_agreement_and_differences():
    found, notes = compared(estimates([3.0, -3.0, 0.5, 5.0]), estimates([2.5, 3.0, 1.0, 1.0]))
    columns = found["columns"]
    assert columns["standardised_difference"] == [-0.5, 6.0, 0.5, -4.0]
    assert columns["same_sign"] == [1.0, 0.0, 1.0, 1.0]
    assert columns["significant_original"] == [1.0, 1.0, 0.0, 1.0]
    assert columns["same_significance"] == [1.0, 1.0, 1.0, 0.0]
    assert columns["overlap"][0] == pytest.approx(1 - 0.5 / (2 * 1.959964), abs=1e-6)
    assert found["mean_overlap"] == pytest.approx(np.mean(columns["overlap"]))
    assert found["min_overlap"] == min(columns["overlap"]) < 0
    assert (found["mean_standardised_difference"], found["max_standardised_difference"]) == (2.75, 6.0)
    assert (found["sign_agreement"], found["significance_agreement"], found["n_terms"]) == (0.75, 0.75, 4)
    assert notes == {}
    never = compared(estimates([3.0, -3.0, 0.5, 5.0]), estimates([2.5, 3.0, 1.0, 1.0]), version="drechsler_reiter")
    assert never[0]["min_overlap"] == 0.0
    for level in (0.8, 0.95):
        shared = compared(estimates([3.0] * 4), estimates([2.5] * 4), version="posterior", level=level)[0]
        end = norm.ppf((1 + level) / 2)
        expected = (norm.cdf(end - 0.5) - norm.cdf(-end)) / level  # two normal posteriors, half an sd apart
        assert shared["mean_overlap"] == pytest.approx(expected)


def test_what_is_observed_is_scaled_to_the_original():
    found, _ = compared(estimates([1.0] * 4), estimates([2.0] * 4), estimates([4.0] * 4, [3.0] * 4), ratio=0.5)
    assert found["columns"]["estimate_released"] == [3.0] * 4
    assert found["columns"]["std_error_released"] == [1.0] * 4
    assert [one["estimate[a]"] for one in found["per_release"]] == [2.0, 4.0]
    assert found["per_release"][1] == {"n_used": 10.0, **{f"estimate[{n}]": 4.0 for n in NAMES}, **{
        f"variance[{n}]": 3.0 for n in NAMES
    }}  # fmt: skip


def test_the_rows_of_a_forest_plot():
    found, _ = compared(estimates([1.0] * 4), estimates([2.0] * 4), estimates([4.0] * 4))
    rows = found["drawn"]
    assert rows["term"][:4] == ["a"] * 4
    assert rows["file"][:4] == ["original", "release 1", "release 2", "released"]
    assert rows["estimate"][:4] == [1.0, 2.0, 4.0, 3.0]
    assert all(low < high for low, high in zip(rows["low"], rows["high"], strict=True))
    alone, _ = compared(estimates([1.0] * 4), estimates([2.0] * 4))
    assert alone["drawn"]["file"][:2] == ["original", "released"]


def test_undefined_terms_are_left_out_and_named():
    found, notes = compared(
        estimates([1.0, np.nan, 1.0, 1.0], [1.0, np.nan, 0.0, 1.0]), estimates([1.0, 1.0, 1.0, np.nan])
    )
    assert np.isnan(found["columns"]["overlap"]).tolist() == [False, True, True, True]
    assert found["mean_overlap"] == 1.0
    assert notes["overlap"] == (
        "undefined for 3 of 4 terms: a file does not determine b, d or its variance; an interval of no (finite) "
        "length: c"
    )
    assert found["columns"]["same_sign"][:3:2] == [1.0, 1.0]
    nothing, notes = compared(estimates([1.0] * 4, [0.0] * 4), estimates([1.0] * 4, [0.0] * 4))
    assert math.isnan(nothing["mean_overlap"])
    assert math.isnan(nothing["max_standardised_difference"])
    assert notes["min_overlap"] == notes["overlap"]


def test_a_replaced_variance_is_noted():
    found, notes = compared(estimates([1.0] * 4), estimates([2.0] * 4), estimates([2.0] * 4), kind="full")
    assert notes["variance[a]"].startswith("came out at 0 or below")
    assert found["columns"]["std_error_released"] == [1.0] * 4
    assert found["columns"]["df_released"] == [1.0] * 4


def files(*sizes):
    frames = [pl.DataFrame({"x": [1.0] * size}) for size in sizes]
    return open_pair(frames[0], frames[1:], categories={}, numeric={"numeric": ["x"]})


def test_sizes():
    assert size_ratio(files(4, 2, 2), "observed") == 0.5
    assert size_ratio(files(4, 2), "simple") == 0.5
    assert size_ratio(files(4, 4, 4), "partial") == 1.0
    for kind in ("observed", "simple"):
        with pytest.raises(DataError, match=r"different numbers of rows \(release 1 2, release 2 3\)"):
            size_ratio(files(4, 2, 3), kind)
    for given, kind, words in (
        ((4, 4), "partial", "needs at least two files"),
        ((4, 4), "full", "needs at least two files"),
        ((4, 2, 2), "partial", "has the records of the original"),
        ((4, 4), "both", "kind 'both' is unknown; there are: observed, partial"),
    ):
        with pytest.raises(DataError, match=words):
            size_ratio(files(*given), kind)


def test_identical_releases_are_said():
    one = pl.DataFrame({"x": [1.0, None], "g": ["a", "b"]})
    pair = open_pair(one, [one, one.reverse()], categories={"k": ["g"]}, numeric={"n": ["x"]})
    notes: dict[str, str] = {}
    note_identical(notes, pair, ["x", "g"])
    assert notes["released"].startswith("1 of 2 releases have the original's values")
    single = open_pair(one, one, categories={"k": ["g"]})
    note_identical(notes, single, ["g"])
    assert notes["released"].startswith("the release has")


def test_the_base_has_no_figures_of_its_own():
    assert not hasattr(TermComparison, "measure")


# Numbers in steps.


@pytest.mark.parametrize(
    ("step", "up"), [(0.2, 0.2), (0.21, 0.5), (5.1, 10), (1e-7, 1e-7), (0.0, 0.0), (math.nan, 0.0), (math.inf, 0.0)]
)
def test_a_step_is_a_round_number_and_never_smaller(step, up):
    assert rounded_up(step) == pytest.approx(up)


def test_the_nearest_multiple():
    assert [in_steps(value, 0.2) for value in (0.09, 0.11, -0.31, 1.0)] == [0.0, 0.2, -0.4, 1.0]
    assert math.isnan(in_steps(math.nan, 0.2))
    assert str(in_steps(-0.01, 0.2)) == "0.0"
