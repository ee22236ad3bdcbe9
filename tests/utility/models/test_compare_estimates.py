"""Means, totals, proportions and quantiles of a release beside the original's."""

from __future__ import annotations

import math
import pickle

import polars as pl
import pytest
from scipy.stats import t

from every_measure import assert_close
from plans import on_frames
from releases import original, release
from sdckit import Scenario, combine, compare_estimates, interval_overlap
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

FILES = original(), release()
THREE = [release(seed=seed) for seed in (2, 3, 4)]


def mean(**options):
    return compare_estimates(*FILES, statistic="mean", **{"variables": ["income", "age"], **options})


def test_a_mean_by_hand():
    table = mean().table
    for row, name in enumerate(("income", "age")):
        ends = []
        for frame, part in zip(FILES, ("original", "released"), strict=True):
            reach = t.ppf(0.975, 239) * frame[name].std() / math.sqrt(240)
            ends.append((frame[name].mean() - reach, frame[name].mean() + reach))
            assert table[f"estimate_{part}"][row] == pytest.approx(frame[name].mean())
            assert (table[f"low_{part}"][row], table[f"high_{part}"][row]) == pytest.approx(ends[-1])
        assert table["overlap"][row] == pytest.approx(interval_overlap(*ends))


@pytest.mark.parametrize("kind", ["partial", "full", "simple", "proper"])
def test_several_releases_are_combined(kind):
    result = compare_estimates(FILES[0], THREE, statistic="mean", variables=["income"], kind=kind)
    values = [one["income"].mean() for one in THREE], [one["income"].var() / 240 for one in THREE]
    found = combine(*values, kind=kind, n=240, n_synthetic=240)
    table = result.table
    assert table["estimate_released"][0] == pytest.approx(found.estimate)
    assert table["std_error_released"][0] == pytest.approx(math.sqrt(found.variance))
    assert (table["low_released"][0], table["high_released"][0]) == pytest.approx((found.low, found.high))
    assert result.by_release["estimate[income]"].to_list() == pytest.approx(values[0])
    assert result.forest()["file"].to_list() == ["original", *(f"release {j}" for j in (1, 2, 3)), "released"]


def test_totals_need_sizes_or_weights():
    half = FILES[1][:120]
    with pytest.raises(DataError, match="240 rows and a release 120: a total without weights"):
        compare_estimates(FILES[0], half, statistic="total", variables=["income"])
    weighted = half.with_columns(w=pl.col("w") * 2)
    result = compare_estimates(FILES[0], weighted, statistic="total", variables=["income"], weight="w")
    assert result.table["estimate_released"][0] == pytest.approx(40 * half["income"].sum())
    assert result.mean_overlap > 0
    plain = compare_estimates(*FILES, statistic="total", variables=["income"])
    assert plain.table["estimate_original"][0] == pytest.approx(FILES[0]["income"].sum())


def test_proportions_and_quantiles():
    shares = compare_estimates(*FILES, statistic="proportion", variables=["region", "ill"]).table
    assert shares["term"].to_list() == [
        "region=east", "region=north", "region=south", "region=west", "ill=no", "ill=yes",
    ]  # fmt: skip
    assert shares["estimate_original"][:4].sum() == pytest.approx(1)
    low, high = (
        compare_estimates(*FILES, statistic="quantile", variables=["income"], probability=p).table for p in (0.1, 0.9)
    )
    assert low["estimate_released"][0] == pytest.approx(FILES[1]["income"].quantile(0.1, "linear"))
    assert low["high_released"][0] < high["low_released"][0]


@on_frames
@pytest.mark.parametrize("statistic", ["mean", "total", "proportion", "quantile"])
def test_on_every_engine(make, statistic):
    given = {"statistic": statistic, "variables": ["age"], "weight": "w"}
    found = compare_estimates(make(FILES[0]), [make(FILES[1])], **given)
    expected = compare_estimates(*FILES, **given)
    assert_close(expected.to_dict()["terms"], found.to_dict()["terms"], statistic)


@on_frames
def test_a_function_gets_the_callers_frame(make):
    def largest(frame):
        return float(max(frame["income"].to_numpy())), 1.0

    result = compare_estimates(make(FILES[0]), make(FILES[1]), statistic=largest, variables=["income"])
    row = result.to_dict()["terms"][0]
    assert (row["estimate_original"], row["estimate_released"]) == tuple(one["income"].max() for one in FILES)
    assert result.missing_rule == ""


def test_a_plan_does_not_know_what_a_function_needs():
    with pytest.raises(DataError, match=r"variables=\[...\] says which the function uses"):
        compare_estimates(FILES[0].lazy(), FILES[1].lazy(), statistic=lambda frame: (1.0, 1.0))


def test_a_scenario_and_a_pair_opened_before():
    scenario = Scenario(keys=["sex"], numeric=["income", "age"], weight="w")
    assert mean(variables=None, scenario=scenario).to_dict() == mean(weight="w").to_dict()
    pair = open_pair(*FILES, categories={}, numeric={"numeric": ["income", "age"]})
    again = compare_estimates(pair, statistic="mean", variables=["income", "age"])
    assert again.to_dict() == mean().to_dict()


def test_an_identical_release():
    result = compare_estimates(FILES[0], [FILES[0]], statistic="mean", variables=["income"])
    assert (result.mean_overlap, result.mean_standardised_difference) == (1.0, 0.0)
    assert result.notes["released"].startswith("the release has the original's values")


def test_missing_values_and_one_row():
    gaps = FILES[0].with_columns(income=pl.when(pl.col("pid") > 9).then(pl.col("income")))
    result = compare_estimates(gaps, FILES[1], statistic="mean", variables=["income"])
    assert result.notes["missing"] == "records left out for want of a value, at least: the original 10"
    assert result.table["estimate_original"][0] == pytest.approx(FILES[0]["income"][10:].mean())
    one = compare_estimates(FILES[0][:1], FILES[1][:1], statistic="mean", variables=["income"])
    assert math.isnan(one.mean_overlap)
    assert "does not determine income or its variance" in one.notes["mean_overlap"]


def test_a_constant_has_no_overlap():
    result = compare_estimates(*FILES, statistic="mean", variables=["w", "income"])
    assert math.isnan(result.table["overlap"][0])
    assert result.mean_overlap == result.table["overlap"][1]
    assert "no (finite) length: w" in result.notes["overlap"]


def test_a_pickle_keeps_the_tables():
    kept = pickle.loads(pickle.dumps(mean()))
    assert kept.to_dict() == mean().to_dict()
    assert kept.table.column("term").to_pylist() == ["income", "age"]
    assert "Estimates and intervals" in mean()._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"statistic": "median"}, DataError, "statistic 'median' is unknown; use 'mean'"),
        ({"variables": []}, ScenarioError, "say what is estimated"),
        ({"variables": "income"}, ColumnError, "variables must be a list"),
        ({"variables": ["incme"]}, ColumnError, "did you mean 'income'"),
        ({"variables": ["sex"]}, DataError, "variables 'sex' is .* not numbers"),
        ({"weight": "wt"}, ColumnError, "no column 'wt'"),
        ({"probability": 50}, DataError, "probability says which quantile"),
        ({"level": 1.0}, DataError, "level is the coverage"),
        ({"version": "karr"}, DataError, "version 'karr' is unknown"),
        ({"kind": "partial"}, DataError, "needs at least two files"),
        ({"statistic": len, "weight": "w"}, DataError, "a function weighs the records itself"),
        ({"statistic": len}, DataError, r"the original: the statistic must give \(estimate, variance\)"),
    ],
)
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        compare_estimates(*FILES, **{"statistic": "mean", "variables": ["income"], **options})


def test_releases_of_different_sizes():
    with pytest.raises(DataError, match="the releases have different numbers of rows"):
        compare_estimates(FILES[0], [FILES[1], FILES[1][:9]], statistic="mean", variables=["income"])


def test_records_without_weight_have_no_say_in_a_quantile_in_memory_or_in_a_plan():
    given = {"x": [-9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0, None], "w": [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0]}
    file = pl.DataFrame(given)
    apart = file.with_columns(w=pl.col("x").is_null().cast(pl.Float64))  # who has a weight has no value
    for make in (pl.DataFrame, pl.LazyFrame):
        files = [make(each.to_dict(as_series=False)) for each in (file, apart)]
        row = compare_estimates(*files, statistic="quantile", variables=["x"], weight="w").to_dict()["terms"][0]
        found = [row[f"{figure}_original"] for figure in ("estimate", "low", "high")]
        assert found == pytest.approx([3.0, 1.0, 5.0])
        assert row["estimate_released"] is None
