from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import sdckit
from numerics.as_python import both_forms
from sdckit.cells import record_result as resampling
from sdckit.cells.record_result import (
    bootstrap_intervals,
    breakdown,
    figures_of_groups,
    group_columns,
    leading,
    merge_equal,
    percentile_ends,
    resampled_sums,
    told_figures,
)
from sdckit.data.frames import open_frame, rows_of
from sdckit.errors import ColumnError, DataError
from sdckit.identity.individual_risk import IndividualRisk
from sdckit.result import FileFigure

FILE = pl.DataFrame({"sex": ["f", "f", "m", "m"], "area": ["b", None, "a", "b"], "home": [1, 1, 2, 2]})


def test_groups_are_numbered_in_the_order_of_the_file():
    labels, of_row = group_columns(open_frame(FILE), ["area"])
    assert labels.to_native()["area"].to_list() == ["b", None, "a"]
    assert of_row.tolist() == [0, 1, 2, 0]
    labels, of_row = group_columns(open_frame(FILE), ["area"], np.array([2, 3]))
    assert labels.to_native()["area"].to_list() == ["a", "b"]
    assert of_row.tolist() == [0, 1]


def test_nothing_asked_for_opens_nothing():
    asked = breakdown(object(), None, IndividualRisk)
    assert asked.by == asked.also == ()
    result = sdckit.individual_risk(FILE, keys=["sex"])
    assert asked.of(result) is result
    assert result.by == ()
    assert result.intervals == {}
    assert "intervals" not in result.to_dict()


def test_households_are_columns_that_a_release_needs_of_its_original():
    scenario = sdckit.Scenario(keys=["sex"], household="home")
    asked = breakdown(FILE, "area", IndividualRisk, interval="bootstrap", scenario=scenario)
    assert asked.also == ("area", "home")
    assert breakdown(FILE.drop("home"), "area", IndividualRisk, interval="bootstrap", scenario=scenario).also == (
        "area",
    )


@pytest.mark.parametrize("name", ["n", "Global_Risk"])
def test_a_column_named_like_a_figure_is_refused(name):
    with pytest.raises(ColumnError, match="is the name of a result column"):
        breakdown(FILE.rename({"area": name}), [name], IndividualRisk)


def test_a_plan_of_an_original_brings_the_columns_of_its_groups():
    result = sdckit.identity_disclosure(FILE.lazy(), FILE.lazy(), keys=["sex", "area"], by="home")
    expected = sdckit.identity_disclosure(FILE, FILE, keys=["sex", "area"], by="home")
    assert rows_of(result.by_group) == rows_of(expected.by_group)
    scenario = sdckit.Scenario(keys=["sex", "area"], household="home")
    given = {"scenario": scenario, "interval": "bootstrap", "seed": 1}
    plan = sdckit.identity_disclosure(FILE.lazy(), FILE.lazy(), **given)
    assert plan.intervals == sdckit.identity_disclosure(FILE, FILE, **given).intervals


def test_a_pair_opened_before_must_have_the_column():
    from sdckit.cells.pair import open_pair

    pair = open_pair(FILE.lazy(), FILE.lazy(), categories={"keys": ["sex"]})
    with pytest.raises(ColumnError, match="by: no column 'area'"):
        sdckit.identity_disclosure(pair, keys=["sex"], by="area")


def test_a_plans_households_are_drawn_too():
    scenario = sdckit.Scenario(keys=["sex", "area"], household="home")
    given = {"scenario": scenario, "interval": "bootstrap", "seed": 1}
    assert sdckit.suda(FILE.lazy(), **given).intervals == sdckit.suda(FILE, **given).intervals


def test_a_row_of_a_group_keeps_its_type_and_a_fresh_index():
    frame = FILE.to_pandas().set_index(np.array([7, 8, 9, 10]))
    found = sdckit.individual_risk(frame, keys=["sex"], by=["home", "area"]).by_group
    assert found.index.tolist() == [0, 1, 2, 3]
    assert found["home"].dtype == np.int64


def test_intervals_are_refused_by_their_name():
    with pytest.raises(DataError) as caught:
        sdckit.suda(FILE, keys=["sex"], interval="wilson")
    assert caught.value.argument == "interval"


TOLD = {
    "risk": np.array([1.0, 0.5, np.nan, 0.25]),
    "hit": np.array([True, False, True, True]),
    "releases": np.array([[1.0, 0.0, 1.0, np.nan], [0.0, 0.0, 1.0, np.nan]]),
}
GROUP = np.array([0, 0, 1, 1])


def groups(figure):
    return figures_of_groups([figure], [(TOLD.__getitem__, GROUP, None)], 2)["a"].tolist()


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (FileFigure("a", "risk"), [0.75, 0.25]),
        (FileFigure("a", "risk", "sum"), [1.5, 0.25]),
        (FileFigure("a", "risk", "max"), [1.0, 0.25]),
        (FileFigure("a", "risk", "min"), [0.5, 0.25]),
        (FileFigure("a", "risk", below=0.6), [0.5, 1.0]),
        (FileFigure("a", "risk", "sum", above=0.4), [2.0, 0.0]),
        (FileFigure("a", "risk", among="hit"), [1.0, 0.25]),
        (FileFigure("a", "releases"), [0.25, 1.0]),
    ],
)
def test_a_figures_of_groups(figure, expected):
    assert groups(figure) == expected


def test_a_group_without_anything_known_has_no_figure():
    told = {"risk": np.array([np.nan, np.nan, 1.0])}.__getitem__
    for how in ("mean", "sum", "min", "max"):
        found = figures_of_groups([FileFigure("a", "risk", how)], [(told, np.array([0, 0, 1]), None)], 2)["a"]
        assert np.isnan(found[0])
        assert found[1] == 1.0


def test_groups_are_sorted_by_the_first_figure_of_risk():
    declared = (FileFigure("guess", "g", higher="reference"), FileFigure("level", "f", "min", higher="safer"))
    assert leading(declared).name == "level"
    assert told_figures((*declared, FileFigure("dis"))) == declared


def test_intervals_are_those_of_the_mean_and_its_sum():
    rng = np.random.default_rng(1)
    told = {"risk": rng.random(400)}.__getitem__
    figures = (FileFigure("mean", "risk"), FileFigure("sum", "risk", "sum"), FileFigure("max", "risk", "max"))
    found = bootstrap_intervals(figures, told, np.ones(400, np.int64), np.random.default_rng(2))
    assert found.keys() == {"mean", "sum"}
    low, high = found["mean"]
    error = 1.96 * told("risk").std() / 20
    assert high - low == pytest.approx(2 * error, rel=0.25)
    assert found["sum"] == pytest.approx((400 * low, 400 * high))


def test_households_widen_an_interval_of_equal_members():
    home = np.repeat(np.arange(40), 10)
    told = {"risk": np.random.default_rng(1).random(40)[home]}.__getitem__
    figures, size = (FileFigure("mean", "risk"),), np.ones(400, np.int64)
    single = bootstrap_intervals(figures, told, size, np.random.default_rng(2))["mean"]
    whole = bootstrap_intervals(figures, told, size, np.random.default_rng(2), (home, 40))["mean"]
    assert whole[1] - whole[0] == pytest.approx(np.sqrt(10) * (single[1] - single[0]), rel=0.3)
    assert bootstrap_intervals((), told, size, np.random.default_rng(2)) == {}


def test_units_that_are_equal_are_put_together():
    values = np.array([[0.0, 1.0] * 50, [2.0, 2.0] * 50])
    merged, size = merge_equal(values, np.ones(100, np.int64))
    assert merged.shape == (2, 2)
    assert sorted(size.tolist()) == [50, 50]
    assert (merged @ size).tolist() == values.sum(axis=1).tolist()


def test_units_that_differ_stay_as_they_are():
    values = np.arange(100.0)[None, :]
    merged, size = merge_equal(values, np.ones(100, np.int64))
    assert merged is values
    assert len(size) == 100


@pytest.mark.parametrize("kinds", [2, 3, 10, 900])
def test_sums_have_the_mean_and_the_variance_of_drawing_with_replacement(kinds):
    rng = np.random.default_rng(kinds)
    values, size = rng.random((2, kinds)), rng.integers(1, 4, kinds)
    n = int(size.sum())
    drawn = resampled_sums(values, size, rng, 4000)
    mean = values @ size / n
    variance = (values**2 @ size / n - mean**2) * n
    assert drawn.mean(axis=0) == pytest.approx(mean * n, abs=5 * np.sqrt(variance.max() / 4000))
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.12)


def test_as_many_units_are_drawn_as_there_are():
    for n in (5, 20, 3000):
        drawn = resampled_sums(np.ones((1, n)) * np.arange(n) ** 0, np.ones(n, np.int64), np.random.default_rng(n))
        assert (drawn == n).all()


def test_a_unit_is_drawn_as_often_as_by_a_binomial_distribution():
    n, draws = 400, 20_000
    first = np.zeros((1, n))
    first[0, 7] = 1.0
    spread = first + 0.0
    times = resampled_sums(np.vstack([spread, np.arange(n)]), np.ones(n, np.int64), np.random.default_rng(1), draws)
    found = np.bincount(times[:, 0].astype(int), minlength=8)[:5] / draws
    expected = [math.comb(n, k) * (1 / n) ** k * (1 - 1 / n) ** (n - k) for k in range(5)]
    assert found == pytest.approx(expected, abs=0.012)


def test_the_kernel_compiled_and_as_python_draws_the_same():
    units, seeds = np.arange(12.0).reshape(6, 2), np.array([3, 2**62], np.int64)
    found = []
    for kernel in both_forms(resampling, "_draw_units", "_mixed"):
        out = np.zeros((2, 2))
        kernel(units, seeds, out)
        found.append(out)
    assert np.array_equal(*found)


def test_a_seed_gives_the_same_whatever_thread_draws():
    values, size = np.arange(500.0)[None, :], np.ones(500, np.int64)
    one, again = (resampled_sums(values, size, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, resampled_sums(values, size, np.random.default_rng(8)))


def test_the_ends_leave_out_what_is_undefined():
    assert percentile_ends(np.array([*np.arange(201.0), np.nan])) == (5.0, 195.0)
    assert np.isnan(percentile_ends(np.array([np.nan, np.nan]))).all()
