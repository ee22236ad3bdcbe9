"""Roles, releases, missing values and reasons of information loss."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest

from plans import on_frames
from releases import original, release, scenario
from sdckit import information_loss
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError

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
    assert result.pairs["correlation_original"][1] == pytest.approx(
        np.corrcoef(known["income"], known["age"])[0, 1]
    )


def test_an_order_given():
    files = (
        pl.DataFrame({"s": ["low", "mid", "high", None]}),
        pl.DataFrame({"s": ["mid", "mid", "low", "low"]}),
    )
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
    pair = open_pair(
        *FILES, categories={"k": ["region", "ill"]}, numeric={"n": ["income", "age"]}, aligned=True
    )
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
