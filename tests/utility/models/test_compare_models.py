"""Regressions on an original and its releases, family by family, and everything that is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf
from scipy.stats import chi2, f

from plans import on_frames
from sdckit import Scenario, combine, compare_models
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError
from sdckit.utility.comparison import FileEstimates
from sdckit.utility.models.compare_models import lack_of_fit


def survey(seed, n=200, regions="abc"):
    rng = np.random.default_rng(seed)
    age, region = rng.integers(20, 60, n), rng.choice(list(regions), n)
    eta = 0.03 * (age - 40) + 0.5 * (region == "b")
    return pl.DataFrame(
        {
            "age": age,
            "region": region,
            "years at school": rng.integers(8, 14, n).astype(float),
            "income": np.exp(eta + rng.normal(0, 0.5, n)),
            "ill": rng.random(n) < 1 / (1 + np.exp(-eta)),
            "visits": rng.poisson(np.exp(eta)),
            "vote": rng.choice(["left", "middle", "right"], n),
            "w": rng.uniform(1, 5, n),
        }
    )


ONE, TWO, THREE, FOUR = (survey(seed) for seed in (1, 2, 3, 4))
FORMULAS = {
    "linear": "log(income) ~ age + region + `years at school`",
    "logistic": "ill ~ age * region",
    "poisson": "visits ~ age + C(region)",
    "multinomial": "vote ~ age",
}


@pytest.mark.parametrize(("family", "fit"), [("linear", smf.ols), ("logistic", smf.logit), ("poisson", smf.poisson)])
def test_coefficients_are_the_librarys(family, fit):
    formula = {
        "linear": "np.log(income) ~ age + region", "logistic": "ill ~ age + region", "poisson": "visits ~ age + region",
    }[family]  # fmt: skip
    table = compare_models(ONE, TWO, formula=formula, family=family).table
    for frame, part in ((ONE, "original"), (TWO, "released")):
        data = frame.with_columns(ill=pl.col("ill").cast(int)).to_pandas()
        data["region"] = data["region"].astype(object)
        expected = fit(formula, data).fit() if family == "linear" else fit(formula, data).fit(disp=0)
        terms = table["term"].to_list()
        assert set(terms) == set(expected.params.index)
        assert table[f"estimate_{part}"].to_list() == pytest.approx(expected.params[terms].tolist(), rel=1e-5)
        assert table[f"std_error_{part}"].to_list() == pytest.approx(expected.bse[terms].tolist(), rel=1e-5)


def test_a_multinomial_model_has_a_set_of_terms_per_outcome():
    result = compare_models(ONE, TWO, formula="vote ~ age", family="multinomial")
    assert result.table["term"].to_list() == ["middle: Intercept", "middle: age", "right: Intercept", "right: age"]
    data = ONE.to_pandas()
    expected = smf.mnlogit("codes ~ age", data.assign(codes=data["vote"].astype("category").cat.codes)).fit(disp=0)
    assert result.table["estimate_original"].to_list() == pytest.approx(expected.params.to_numpy().T.ravel(), rel=1e-5)
    assert result.table["std_error_original"].to_list() == pytest.approx(expected.bse.to_numpy().T.ravel(), rel=1e-5)


def test_outcomes_of_a_logistic_model():
    as_text = [one.with_columns(ill=pl.when("ill").then(pl.lit("yes")).otherwise(pl.lit("no"))) for one in (ONE, TWO)]
    as_code = [one.with_columns(ill=pl.col("ill").cast(int) + 1) for one in (ONE, TWO)]
    given = {"formula": "ill ~ age", "family": "logistic"}
    expected = compare_models(ONE, TWO, **given).table
    for files in (as_text, as_code):
        assert compare_models(*files, **given).table.equals(expected)
    given["formula"] = "I(1 - ill) ~ age"
    turned = compare_models(ONE, TWO, **given).table
    assert turned["estimate_original"].to_list() == pytest.approx((-expected["estimate_original"]).to_list())


@pytest.mark.parametrize("family", FORMULAS)
def test_several_releases_are_combined(family):
    result = compare_models(ONE, [TWO, THREE, FOUR], formula=FORMULAS[family], family=family, kind="partial")
    by_release, table = result.by_release, result.table
    for row, term in enumerate(table["term"]):
        found = combine(by_release[f"estimate[{term}]"], by_release[f"variance[{term}]"], kind="partial")
        assert table["estimate_released"][row] == pytest.approx(found.estimate)
        assert (table["low_released"][row], table["high_released"][row]) == pytest.approx((found.low, found.high))
        assert table["df_released"][row] == pytest.approx(found.df)
    assert result.n_terms == len(table)
    if family != "multinomial":
        assert math.isnan(result.lack_of_fit)
        assert "releases of partially synthetic data; there are 3" in result.notes["lack_of_fit"]
    forest = result.forest().filter(pl.col("term") == table["term"][0])
    assert forest["file"].to_list() == ["original", "release 1", "release 2", "release 3", "released"]


@on_frames
@pytest.mark.parametrize("family", FORMULAS)
def test_on_every_engine(make, family):
    given = {"formula": FORMULAS[family], "family": family}
    if family != "multinomial":
        given["weight"] = "w"
    found = compare_models(make(ONE), [make(TWO), make(THREE)], **given).to_dict()
    expected = compare_models(ONE, [TWO, THREE], **given).to_dict()
    for one, other in zip(found["terms"], expected["terms"], strict=True):
        for name in ("term", "df_released"):
            assert one.pop(name) == other.pop(name)
        assert one == pytest.approx(other, rel=1e-8, nan_ok=True)


def test_weights():
    given = {"formula": "income ~ age", "weight": "w"}
    weighted = compare_models(ONE, TWO, **given)
    scenario = Scenario(keys=["region"], weight="w")
    assert compare_models(ONE, TWO, formula="income ~ age", scenario=scenario).to_dict() == weighted.to_dict()
    equal = [one.with_columns(w=pl.lit(3.0)) for one in (ONE, TWO)]
    plain = compare_models(ONE, TWO, formula="income ~ age").table
    assert compare_models(*equal, **given).table["estimate_released"].to_list() == pytest.approx(
        plain["estimate_released"].to_list()
    )
    told = compare_models(ONE, TWO, formula="vote ~ age", family="multinomial", scenario=scenario)
    assert told.notes["weight"] == "the multinomial model takes no weights"


def test_a_category_that_a_file_lacks():
    result = compare_models(ONE, survey(5, regions="bcd"), formula="income ~ region")
    assert result.table["term"].to_list() == ["Intercept", "region[T.c]", "region[T.a]", "region[T.d]"]
    assert np.isnan(result.table["overlap"].to_numpy()).tolist() == [False, False, True, True]
    assert result.notes["terms of the original"].endswith("region[rare]")  # no record of the original has it
    assert result.notes["terms of the release"].endswith("region[T.a]")
    assert result.lack_of_fit_df == 2


def test_a_term_that_follows_from_others():
    result = compare_models(ONE, TWO, formula="income ~ age + I(2 * age)")
    assert math.isnan(result.table["estimate_original"][2])
    assert result.notes["terms of the release"].endswith("I(2 * age)")


def test_missing_values_are_left_out_file_by_file():
    gaps = TWO.with_columns(
        age=pl.when(pl.int_range(pl.len()) > 4).then(pl.col("age")),
        income=pl.when(pl.int_range(pl.len()) < 190).then(pl.col("income")),
    )
    result = compare_models(ONE, gaps, formula="income ~ age")
    assert result.notes["missing"] == "records left out for want of a value: the release 15"
    assert result.per_release[0]["n_used"] == 185
    complete = compare_models(ONE[:185], gaps[5:190], formula="income ~ age").table
    assert result.table["estimate_released"].to_list() == pytest.approx(complete["estimate_released"].to_list())


def test_an_identical_release():
    for family, formula in FORMULAS.items():
        result = compare_models(ONE, ONE, formula=formula, family=family)
        assert (result.mean_overlap, result.sign_agreement, result.significance_agreement) == (1.0, 1.0, 1.0)
        assert (result.lack_of_fit, result.lack_of_fit_p_value) == (0.0, 1.0)
        assert result.notes["released"].startswith("the release has the original's values")


def test_one_row():
    result = compare_models(ONE[:1], ONE[:1], formula="income ~ age")
    assert math.isnan(result.mean_overlap)
    assert math.isnan(result.lack_of_fit)
    assert "does not determine Intercept, age" in result.notes["mean_overlap"]


def test_a_pair_opened_before_and_a_pickle():
    pair = open_pair(ONE, TWO, categories={"formula": ["region"]}, numeric={"numeric": ["income", "age"]})
    found = compare_models(pair, formula="income ~ age + region")
    assert found.to_dict() == compare_models(ONE, TWO, formula="income ~ age + region").to_dict()
    kept = pickle.loads(pickle.dumps(found))
    assert kept.to_dict() == found.to_dict()
    assert kept.forest().num_rows == 8
    assert (kept.formula, kept.family) == ("income ~ age + region", "linear")
    assert "Estimates and intervals" in found._repr_html_()


ILL = {"formula": "ill ~ age", "family": "logistic"}
NEVER = TWO.with_columns(ill=pl.col("age") > 40)


@pytest.mark.parametrize(
    ("released", "options", "error", "words"),
    [
        (
            TWO.with_columns(age=pl.lit("20-39")), {}, DataError,
            r"^the release: numeric column of the formula 'age' is .*; where it was recoded, recode the original alike",
        ),
        (TWO, {"formula": "income ~ agee"}, ColumnError, "no column 'agee' in the original; did you mean 'age'"),
        (TWO.drop("age"), {}, ColumnError, "the release has no column 'age'"),
        (TWO, {"family": "gamma"}, DataError, "family 'gamma' is unknown; there are: linear"),
        (TWO, {"kind": "full"}, DataError, "needs at least two files"),
        ([TWO, TWO[:50]], {}, DataError, "different numbers of rows"),
        (TWO, {"level": 0}, DataError, "level is the coverage"),
        (TWO, {"version": "x"}, DataError, "version 'x' is unknown"),
        (TWO, {"weight": "age", "formula": "vote ~ w", "family": "multinomial"}, DataError, "takes no weights"),
        (TWO.with_columns(w=-pl.col("w")), {"weight": "w"}, DataError, "the release: weight 'w' is negative in rows 1"),
        (TWO, {"formula": "region ~ age"}, DataError, "'region' holds categories; a linear model needs numbers"),
        (TWO, {"formula": "region ~ age", "family": "logistic"}, DataError, "takes 3 different values; a logistic"),
        (TWO, {"formula": "I(age) ~ w", "family": "logistic"}, DataError, "the left side .* must be 0 or 1"),
        (TWO, {"formula": "I(visits - 1) ~ age", "family": "poisson"}, DataError, "the original: .* some are negative"),
        (TWO.with_columns(income=pl.lit(1e200)), {}, DataError, "release: the outcome has numbers beyond 1e150"),
        (TWO, {"formula": "w ~ I(age * 1e200)"}, DataError, "is not a finite number in .*, or beyond 1e150"),
        (TWO, {"formula": "I(age) ~ w", "family": "multinomial"}, ColumnError, "must be a column; make one first"),
        (TWO, {"formula": "w ~ age", "family": "multinomial"}, DataError, "400 different values; it is no outcome"),
        (TWO.filter("ill"), ILL, DataError, "the release: only 1 of 2 outcomes"),
        ([TWO, NEVER], ILL, DataError, r"release 2: a logistic .* \(separation\)"),
        (TWO.with_columns(age=pl.lit("x")), {}, DataError, "the release: numeric column of the formula 'age' is"),
        (TWO.with_columns(income=-pl.col("income")), {"formula": "log(income) ~ age"}, DataError, "the release: log"),
    ],
)  # fmt: skip
def test_what_is_refused(released, options, error, words):
    with pytest.raises(error, match=words):
        compare_models(ONE, released, **{"formula": "income ~ age", **options})


# All differences at once: by hand, and p-values that are uniform where the releases are right.


COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
ORIGINAL = FileEstimates(np.array([1.0, 2.0]), np.diag(COVARIANCE), np.full(2, np.inf), 50, COVARIANCE)


def other(*value):
    return FileEstimates(np.array(value), np.ones(2), np.full(2, np.inf), 50, np.eye(2))


def measured(*released, kind="observed", ratio=1.0, original=ORIGINAL):
    notes: dict[str, str] = {}
    return lack_of_fit(original, released, kind=kind, ratio=ratio, notes=notes), notes


@pytest.mark.parametrize(("kind", "share"), [("observed", 0.5), ("simple", 0.5), ("proper", 1 / 3), ("full", 1 / 3)])
def test_by_hand(kind, share):
    d = np.array([0.5, -1.0])
    statistic = 2 * share * d @ np.linalg.inv(COVARIANCE) @ d
    found, notes = measured(other(1.0, 1.0), other(2.0, 1.0), kind=kind, ratio=0.5)
    assert found["lack_of_fit"] == pytest.approx(statistic)
    assert found["lack_of_fit_p_value"] == pytest.approx(chi2.sf(statistic, 2))
    assert (found["lack_of_fit_df"], notes) == (2.0, {})


def test_partially_synthetic_releases_are_measured_by_their_own_variation():
    values = np.array([[1.2, 2.1], [0.7, 1.6], [1.4, 2.6], [0.9, 2.2]])
    d = values.mean(axis=0) - ORIGINAL.value
    statistic = 4 * d @ np.linalg.inv(np.cov(values.T)) @ d
    found, _ = measured(*(other(*one) for one in values), kind="partial")
    assert found["lack_of_fit"] == pytest.approx(statistic)
    assert found["lack_of_fit_p_value"] == pytest.approx(f.sf(statistic * 2 / (2 * 3), 2, 2))
    few, notes = measured(other(1.0, 1.0), other(2.0, 1.0), kind="partial")
    assert all(map(math.isnan, few.values()))
    assert notes["lack_of_fit"] == "2 terms need more than 2 releases of partially synthetic data; there are 2"


def test_terms_that_a_file_does_not_determine():
    found, notes = measured(other(2.0, np.nan))
    assert (found["lack_of_fit"], found["lack_of_fit_df"]) == (pytest.approx(0.5), 1.0)
    assert notes["lack_of_fit"] == "of the 1 terms of 2 that every file determines"
    nothing, notes = measured(other(np.nan, np.nan))
    assert math.isnan(nothing["lack_of_fit"])
    assert notes["lack_of_fit"] == "no term is determined in every file"


@pytest.mark.parametrize("covariance", [np.ones((2, 2)), np.zeros((2, 2))])
def test_a_singular_covariance(covariance):
    original = FileEstimates(ORIGINAL.value, np.diag(covariance), ORIGINAL.df, 50, covariance)
    found, notes = measured(other(1.0, 1.0), original=original)
    assert math.isnan(found["lack_of_fit"])
    assert notes["lack_of_fit"] == "the covariance of the coefficients is singular"


@pytest.mark.parametrize(("kind", "ratio", "m"), [("simple", 0.5, 3), ("proper", 2.0, 2), ("full", 1.0, 4)])
def test_p_values_are_uniform_where_the_releases_are_right(kind, ratio, m):
    """Coefficients of releases made from the original's, drawn from their posterior first where the kind says."""
    rng = np.random.default_rng(9)
    root = np.linalg.cholesky(COVARIANCE)
    values = []
    for _ in range(2000):
        centre = np.tile(ORIGINAL.value, (m, 1))
        if kind != "simple":
            centre = centre + rng.normal(size=(m, 2)) @ root.T
        drawn = centre + rng.normal(size=(m, 2)) @ root.T / math.sqrt(ratio)
        values.append(measured(*(other(*one) for one in drawn), kind=kind, ratio=ratio)[0]["lack_of_fit_p_value"])
    assert np.mean(np.array(values) < 0.1) == pytest.approx(0.1, abs=0.025)
    assert np.mean(values) == pytest.approx(0.5, abs=0.03)
