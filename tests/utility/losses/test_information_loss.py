"""Roles, releases, missing values and reasons of information loss."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

from plans import on_frames
from releases import original, release, scenario
from sdckit import InformationLoss, information_loss
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.utility.losses.information_loss import (
    UNDEFINED,
    Release,
    angle_distance,
    category_distance,
    correlations,
    covariances,
    eigenvalue_loss,
    inverse_correlation_loss,
    paired_table,
    rank_distance,
    relative_loss,
    release_figures,
    scaled_loss,
    variable_table,
)

FILES = original(), release()
ROLES = {"numeric": ["income", "age"], "categorical": ["region"], "ordered": ["ill"]}


def measured(files=FILES, **options):
    return information_loss(*files, **{**ROLES, "robust": False, **options})


def test_variables_by_their_role():
    result = measured()
    known, other = FILES
    distances = result.variable_distances
    assert list(distances) == ["income", "age", "region", "ill"]
    assert distances["region"] == (known["region"] != other["region"]).mean()
    assert distances["ill"] == (known["ill"] != other["ill"]).mean()
    apart = (known["income"] - other["income"]).abs().to_numpy()
    assert distances["income"] == pytest.approx((np.arctan(apart) * 2 / math.pi).mean())
    assert result.il_variables == pytest.approx(sum(distances.values()) / 4)
    assert result.records["distance"].mean() == pytest.approx(result.il_variables)
    assert result.mean_differences["income"] == pytest.approx(other["income"].mean() - known["income"].mean())
    assert result.variables["sd_original"].to_list() == [known[one].std() for one in ("income", "age")]
    assert result.pairs["second"].to_list() == ["income", "age", "age"]
    assert result.pairs["correlation_original"][1] == pytest.approx(np.corrcoef(known["income"], known["age"])[0, 1])


def test_an_order_given():
    files = (pl.DataFrame({"s": ["low", "mid", "high", None]}), pl.DataFrame({"s": ["mid", "mid", "low", "low"]}))
    found = information_loss(*files, ordered={"s": ["low", "mid", "high"]})
    assert found.records["distance"].to_list() == [0.5, 0.0, 1.0, 1.0]
    assert information_loss(*files, ordered=["s"]).records["distance"].to_list() == [0.5, 0.0, 0.5, 1.0]
    assert found.il1_mean != found.il1_mean
    assert found.notes["il1"] == "no numeric variables"
    with pytest.raises(DataError, match="2 values of 's' are not among the levels listed"):
        information_loss(*files, ordered={"s": ["low"]})
    with pytest.raises(DataError, match="a level of 's' is listed more than once"):
        information_loss(*files, ordered={"s": ["low", "mid", "high", "low"]})


def test_several_releases():
    result = measured((FILES[0], [FILES[1], FILES[0]]), id="pid", prefix="p_")
    assert [one["il1"] for one in result.per_release] == [measured().il1, 0.0]
    assert result.il1 == measured().il1 / 2
    assert result.notes["released"].startswith("1 of 2 releases have the original's values")
    assert result.records.columns == ["pid", "p_distance"]
    assert result.variable_distances["region"] == measured().variable_distances["region"] / 2


def test_nothing_changed():
    result = measured((FILES[0], FILES[0]), robust=True, seed=1)
    flat = [value for name, value in result._flat() if name != "n"]
    assert flat == [0.0] * len(flat)
    assert result.notes["released"].startswith("the release has the original's values")


@on_frames
def test_on_every_engine(make):
    found = measured((make(FILES[0]), make(FILES[1].sample(fraction=1, shuffle=True, seed=1))), id="pid")
    expected = measured()
    for (name, one), (_, other) in zip(found._flat(), expected._flat(), strict=True):
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True), name


def test_the_same_seed_gives_the_same_robust_figure():
    one, two = (measured(robust=True, seed=np.random.default_rng(3)).robust_eigenvalues for _ in range(2))
    assert one == two > 0
    assert measured().notes["robust_eigenvalues"] == "not asked for (robust=False)"


def test_missing_values():
    gaps = FILES[1].with_columns(income=pl.when(pl.col("pid") > 9).then(pl.col("income")))
    result = measured((FILES[0], gaps), numeric=["income", "age"])
    assert result.notes["missing"].startswith("up to 10 of 240 records have a missing number")
    top = result.records["distance"][:10].to_numpy()
    assert (top >= 0.2499).all()  # a missing income is as far away as any
    assert result.il1 < measured().il1


def test_what_is_undefined_has_a_reason():
    flat = [one.with_columns(age=pl.lit(1.0)) for one in FILES]
    result = measured(flat)
    for figure in ("il1s", "eigenvalues", "il_correl", "covariance_difference", "correlation_difference"):
        assert math.isnan(getattr(result, figure)), figure
        assert result.notes[figure]
    assert result.il1 > 0
    zero = [one.with_columns(income=pl.lit(0.0)) for one in FILES]
    assert measured(zero, numeric=["income"]).notes["il1"].startswith("every original value is 0")
    single = measured(numeric=["income"])
    assert "needs two variables" in single.notes["eigenvalues"]
    assert single.covariance_difference > 0
    doubled = [one.with_columns(age=pl.col("income") * 2) for one in FILES]
    assert "none following from others" in measured(doubled, robust=True).notes["robust_eigenvalues"]


def test_a_scenario_a_pair_and_a_pickle():
    numeric = information_loss(*FILES, scenario=scenario(), robust=False)
    assert numeric.variable_distances.keys() == {"income"}
    pair = open_pair(*FILES, categories={"k": ["region", "ill"]}, numeric={"n": ["income", "age"]}, aligned=True)
    result = information_loss(pair, **ROLES, robust=False)
    assert result.to_dict() == measured().to_dict()
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    assert kept.variables.column("variable").to_pylist() == ["income", "age"]
    with pytest.raises(DataError, match="let go of the data"):
        kept.records  # noqa: B018
    assert "<table>" in result._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"numeric": [], "categorical": [], "ordered": []}, ScenarioError, "say which variables to compare"),
        ({"categorical": ["age"]}, ColumnError, "'age' is listed as numeric and categorical"),
        ({"numeric": ["income", "income"]}, ColumnError, "'income' is listed more than once"),
        ({"numeric": "income"}, ColumnError, "numeric must be a list"),
        ({"numeric": ["incme"]}, ColumnError, "no column 'incme'"),
        ({"numeric": ["sex"]}, DataError, "numeric 'sex' is .* not numbers"),
    ],
)
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        measured(**options)


def test_rows_that_do_not_belong_together():
    with pytest.raises(DataError, match="rows must belong together one by one"):
        measured((FILES[0], FILES[1][:9]))


# The figures of one release, put together from plain numpy, and tables of means over the releases.


RNG = np.random.default_rng(2)
X = RNG.multivariate_normal([5, 0, 1], [[1, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1]], 300)
Y = X + RNG.normal(0, 0.4, X.shape)
NAMES = ("a", "b", "c")


def release_measured(x=X, y=Y, robust=False):
    frames = [pl.DataFrame(values, schema=list(NAMES)) for values in (x, y)]
    pair = open_pair(*frames, categories={}, numeric={"numeric": NAMES}, aligned=True)
    return release_figures(pair, 0, NAMES, (), {}, robust=robust, seed=1)


def test_against_numpy():
    found = release_measured().figures
    spread = X.std(axis=0, ddof=1)
    assert found["il1"] == pytest.approx((100 * np.abs(X - Y) / np.abs(X)).sum())
    assert found["il1_mean"] == pytest.approx(found["il1"] / 900)
    assert found["il1s"] == pytest.approx((np.abs(X - Y) / spread / math.sqrt(2)).sum())
    e, f = (np.sort(np.linalg.eigvalsh(np.corrcoef(one.T)))[::-1] for one in (X, Y))
    assert found["eigenvalues"] == pytest.approx((np.abs(e - f) / e).sum())
    upper = np.triu_indices(3, 1)
    apart = np.abs(np.corrcoef(X.T) - np.corrcoef(Y.T))[upper]
    assert found["correlation_difference"] == pytest.approx(apart.mean())
    whole = (np.abs(np.cov(X.T) - np.cov(Y.T)) / np.outer(spread, spread))[np.triu_indices(3)]
    assert found["covariance_difference"] == pytest.approx(whole.mean())
    assert found["il_variables"] == pytest.approx((np.arctan(np.abs(X - Y)) * 2 / math.pi).mean())
    assert found["mean_differences[a]"] == pytest.approx((Y - X)[:, 0].mean())
    assert found["median_differences[c]"] == pytest.approx(np.median(Y[:, 2]) - np.median(X[:, 2]))
    assert math.isnan(found["robust_eigenvalues"])


def test_a_few_wild_values_do_not_move_the_robust_eigenvalues():
    wild = X.copy()
    wild[:15] = [40.0, -40.0, 40.0]
    plain, robust = (
        release_measured(y=wild, robust=True).figures[one] for one in ("eigenvalues", "robust_eigenvalues")
    )
    assert robust < 0.3 < plain
    assert release_measured(y=X, robust=True).figures["robust_eigenvalues"] == 0.0
    assert release_measured(robust=True).figures["robust_eigenvalues"] < 1


def test_what_no_floating_number_says_is_undefined():
    found = release_measured(
        x=X * [1e300, *[1] * (X.shape[1] - 1)], y=Y * [1e300, *[1] * (Y.shape[1] - 1)], robust=True
    )
    assert math.isnan(found.figures["correlation_difference"])
    assert found.figures["il1s"] == pytest.approx(release_measured().figures["il1s"])


@pytest.mark.parametrize("lazy", [False, True])
def test_squares_that_no_floating_number_holds_are_the_reason_that_is_told(lazy):
    files = [pl.DataFrame({"i": range(len(X)), "a": of[:, 0] * 1e160, "b": of[:, 1] * 1e160}) for of in (X, Y)]
    found = information_loss(*(file.lazy() if lazy else file for file in files), numeric=["a", "b"], id="i")
    squared = {"eigenvalues", "robust_eigenvalues", "il_correl", "covariance_difference", "correlation_difference"}
    squared |= {"il1s", "il1s_mean"} if lazy else set()  # of files in memory a scale makes them finite
    for name in squared:
        assert math.isnan(getattr(found, name)), name
        assert found.notes[name] == "no floating number holds the squares of numbers this large; divide them first"
    assert not {"il1", "il1_mean"} & set(found.notes)
    assert found.il1_mean > 0


def test_correlations_need_complete_records():
    gaps = Y.copy()
    gaps[:200, 1] = math.nan
    found = release_measured(y=gaps)
    assert found.n_incomplete == 200
    np.testing.assert_allclose(found.covariance[0], np.cov(X[200:].T))
    np.testing.assert_allclose(found.covariance[1], np.cov(Y[200:].T))
    assert found.centres[1, 0, 1] == pytest.approx(Y[200:, 1].mean())


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_few_records(rows):
    found = release_measured(X[:rows], Y[:rows], robust=True).figures
    assert found["il1"] > 0
    assert math.isnan(found["robust_eigenvalues"])
    if rows == 1:
        assert math.isnan(found["il1s"])
        assert math.isnan(found["covariance_difference"])


def one(shift):
    centres = np.array([[[1.0, 2.0]] * 3, [[1.0 + shift, 2.0]] * 3])
    matrices = np.eye(2), np.eye(2) * (1 + shift)
    return Release({}, np.zeros(1), False, 0, centres, matrices, matrices)


def test_means_over_the_releases():
    found = variable_table(["a", "b"], [one(1.0), one(3.0)])
    assert found["variable"] == ["a", "b"]
    assert (found["mean_original"], found["mean_released"]) == ([1.0, 2.0], [3.0, 2.0])
    assert set(found) == {"variable"} | {
        f"{figure}_{part}" for figure in ("mean", "median", "sd") for part in ("original", "released")
    }


def test_pairs():
    found = paired_table(["a", "b"], [one(1.0), one(3.0)])
    assert list(zip(found["first"], found["second"], strict=True)) == [("a", "a"), ("a", "b"), ("b", "b")]
    assert found["covariance_original"] == [1.0, 0.0, 1.0]
    assert found["correlation_released"] == [3.0, 0.0, 3.0]


def test_only_figures_have_reasons():
    assert set(UNDEFINED) <= set(InformationLoss.figures)
    assert all(UNDEFINED.values())


# Losses of values and matrices by hand.


NAN = math.nan


def test_relative_and_scaled_losses():
    x, y = np.array([10.0, 0.0, -4.0, NAN, 5.0]), np.array([12.0, 1.0, -3.0, 2.0, NAN])
    assert relative_loss(x, y) == (20.0 + 25.0, 2)
    spread = np.array([10.0, 0.0, -4.0, 5.0]).std(ddof=1)
    total, cells = scaled_loss(x, y)
    assert (total, cells) == (pytest.approx((2 + 1 + 1) / (math.sqrt(2) * spread)), 3)
    assert relative_loss(np.zeros(2), np.ones(2)) == (0.0, 0)
    assert math.isnan(scaled_loss(np.ones(3), np.zeros(3))[0])
    assert math.isnan(scaled_loss(np.ones(1), np.zeros(1))[0])


def test_matrices():
    values = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    assert covariances(values)[0, 0] == pytest.approx(values[:, 0].var(ddof=1))
    assert np.isnan(covariances(values[:1])).all()
    assert covariances(values[:, :1]).shape == (1, 1)
    found = correlations(covariances(values))
    assert found[0, 0] == 1.0
    assert np.isnan(found[1]).all()


def test_eigenvalues_by_hand():
    one, other = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.2], [-0.2, 1.0]])
    assert eigenvalue_loss(one, other) == pytest.approx(abs(1.5 - 1.2) / 1.5 + abs(0.5 - 0.8) / 0.5)
    assert math.isnan(eigenvalue_loss(np.ones((2, 2)), other))
    assert math.isnan(eigenvalue_loss(one, np.full((2, 2), NAN)))
    assert eigenvalue_loss(one, np.ones((2, 2))) > 0


def test_inverse_correlations_by_hand():
    one = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    unit = np.array([4 / 3, 4 / 3, 1.0]) / np.linalg.norm([4 / 3, 4 / 3, 1.0])
    expected = np.linalg.norm(unit - np.ones(3) / math.sqrt(3)) / math.sqrt(2)
    assert inverse_correlation_loss(one, np.eye(3)) == pytest.approx(expected)
    for singular in (np.ones((2, 2)), np.full((2, 2), NAN)):
        assert math.isnan(inverse_correlation_loss(np.eye(2), singular))
        assert math.isnan(inverse_correlation_loss(singular, np.eye(2)))
    assert math.isnan(inverse_correlation_loss(np.eye(1), np.eye(1)))


def test_distances_with_missing_values():
    x, y = np.array([1.0, NAN, NAN, 3.0]), np.array([2.0, NAN, 9.0, NAN])
    largest = 2 / math.pi * math.atan(8.0)  # from 1 to 9
    assert angle_distance(x, y).tolist() == pytest.approx([0.5, 0.0, largest, largest])
    assert angle_distance(y, x).tolist() == pytest.approx(angle_distance(x, y).tolist())
    a, b = np.array([0, 0, 1, 1], np.int32), np.array([0, 2, 2, 1], np.int32)
    assert category_distance(a, b).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert rank_distance(a, b, 5).tolist() == [0.0, 1.0, 0.25, 0.0]
    assert rank_distance(a, a, 1).tolist() == [0.0] * 4
