"""The figures and options of the propensity; that they are right is shown in golden/ and laws/."""

from __future__ import annotations

import math
import pickle

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

from plans import on_frames
from releases import original, release, scenario
from sdckit import Scenario, propensity
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError

FILES = original(), release()
VARIABLES = ["sex", "age", "region", "income", "ill"]


def measured(files=FILES, **options):
    return propensity(*files, **{"variables": VARIABLES, "numeric": ["age", "income"], **options})


def test_a_table_by_hand():
    one = pl.DataFrame({"sex": ["f"] * 30 + ["m"] * 10})
    two = pl.DataFrame({"sex": ["f"] * 8 + ["m"] * 12})
    found = propensity(one, two)
    c, p = 1 / 3, (8 / 38, 12 / 22)
    pmse = (38 * (p[0] - c) ** 2 + 22 * (p[1] - c) ** 2) / 60
    assert found.pmse == pytest.approx(pmse, rel=1e-12)
    assert found.expected_pmse == pytest.approx((1 - c) ** 2 * c / 60)
    assert found.ratio == pytest.approx(pmse / ((1 - c) ** 2 * c / 60))
    assert found.standardised == pytest.approx((found.ratio - 1) / math.sqrt(2))
    assert found.specks == pytest.approx(30 / 40 - 8 / 20)
    assert found.po50 == pytest.approx((30 + 12) / 60 - 0.5)
    assert found.u == 8 * 30 / 2 + 12 * 30 + 12 * 10 / 2
    assert found.auc == pytest.approx(found.u / 800)
    assert found.n_parameters == 2
    assert found.importance.rows() == [("sex", pytest.approx(pmse / (c * (1 - c))))]
    assert found.coefficients.rows() == [
        (1, "(intercept)", pytest.approx(math.log(8 / 30))),
        (1, "sex=m", pytest.approx(math.log(12 / 10) - math.log(8 / 30))),
    ]


def test_proper_synthesis_expects_more():
    fitted, proper = measured(), measured(null="proper")
    assert proper.ratio == pytest.approx(fitted.ratio / 2)
    assert proper.standardised != pytest.approx(fitted.standardised)
    assert (fitted.null, proper.null) == ("fitted", "proper")


def test_several_releases_of_different_size():
    parts = [FILES[1], FILES[1][:100], FILES[0]]
    found = measured((FILES[0], parts))
    assert found.m == 3
    alone = [measured((FILES[0], part)) for part in parts]
    for name in found.figures:
        values = [getattr(one, name) for one in alone]
        assert [one[name] for one in found.per_release] == pytest.approx(values, abs=1e-15), name
        assert getattr(found, name) == pytest.approx(np.mean(values), abs=1e-15)
    assert found.by_release["release"].to_list() == [1, 2, 3]
    assert found.spread["pmse"][0] == pytest.approx(0.0, abs=1e-20)
    assert found.notes["released"].startswith("1 of 3 releases")
    assert found.coefficients["release"].unique().to_list() == [1, 2, 3]


def test_notes_say_which_release():
    far = FILES[1].with_columns(income=pl.col("income") + 10.0**6)
    found = measured((FILES[0], [FILES[1], far]))
    assert found.notes["separation"].startswith("release 2: 480 records are told apart for sure")
    assert found.per_release[1]["pmse"] == pytest.approx(0.25)
    assert measured((FILES[0], [far, far])).notes["separation"].startswith("480 records")


def test_missing_on_one_side_only():
    gone = FILES[1].with_columns(
        region=pl.when(pl.col("region") == "west").then(None).otherwise(pl.col("region")),
        income=pl.when(pl.col("income") > 12_000).then(None).otherwise(pl.col("income")),
    )
    found = measured((FILES[0], gone))
    assert 0.01 < found.pmse < 0.25
    assert found.notes["separation"]
    assert set(found.importance["variable"][:2]) == {"region", "income"}
    assert "(missing)" in " ".join(found.coefficients["term"])
    assert "level of its own" in found.missing_rule


def test_interactions():
    one, two = measured(), measured(interactions=2)
    # income, age, sex, ill: 1 column each; region: 3
    assert one.n_parameters == 1 + 4 + 3
    assert two.n_parameters == 1 + 7 + 6 + 4 * 3
    assert two.pmse > one.pmse


def test_a_tree_and_another_classifier():
    tree = measured(model="cart", seed=3, resamples=4)
    assert (tree.model, tree.null) == ("cart", "permutation")
    assert tree.figures == measured().figures
    assert tree.pmse > tree.expected_pmse > 0
    assert tree.coefficients.height == 0
    assert tree.importance["importance"].sum() == pytest.approx(1.0)
    assert math.isnan(tree.n_parameters)
    again = measured(model="cart", seed=3, resamples=4)
    assert (again.pmse, again.expected_pmse) == (tree.pmse, tree.expected_pmse)
    forest = RandomForestClassifier(5, min_samples_leaf=5)
    found = [measured(model=forest, seed=seed, resamples=2).pmse for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_the_seed_fixes_the_permutations():
    found = [measured(null="permutation", resamples=3, seed=seed).expected_pmse for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("options", [{}, {"model": "cart"}, {"null": "permutation"}])
def test_the_order_of_records_does_not_matter(options):
    mixed = [frame.sample(fraction=1.0, shuffle=True, seed=1) for frame in FILES]
    one, two = (measured(files, seed=1, resamples=3, **options) for files in (FILES, mixed))
    for name in one.figures:
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-9, nan_ok=True), name


@on_frames
def test_on_every_engine(make):
    found = measured((make(FILES[0]), make(FILES[1])), interactions=2)
    expected = measured(interactions=2)
    for name in found.figures:
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12), name
    names = nw.from_native(found.importance)["variable"].to_list()
    assert names == expected.importance["variable"].to_list()


def test_a_pair_and_a_scenario():
    pair = open_pair(
        *FILES, categories={"keys": ["sex", "region"]}, numeric={"numeric": ["income"]}, aligned=True
    )
    found = propensity(pair, variables=["sex", "region", "income"])
    assert found.ratio > 0
    declared = propensity(*FILES, scenario=scenario(weight="w"), id="pid")
    assert declared.variables == ("sex", "age", "region", "income", "ill")
    assert declared.notes["ratio"].startswith("rows correspond")
    assert math.isnan(declared.ratio)
    assert declared.n_parameters > 10  # age is not declared as a number
    apart = propensity(*FILES, scenario=Scenario(keys=["sex"], weight="w"), id="pid")
    assert apart.ratio > 0


def test_the_result_without_the_data():
    found = pickle.loads(pickle.dumps(measured()))
    assert found.pmse == measured().pmse
    with pytest.raises(DataError, match="let go of the data"):
        _ = found.importance


def test_the_dictionary_names_no_level():
    found = measured().to_dict()
    assert found["figures"]["pmse"] == measured().pmse
    assert "north" not in str(found)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"model": "tree"}, DataError, "model 'tree' is unknown"),
        ({"model": "cart", "null": "fitted"}, DataError, "is a formula for model='logit'"),
        ({"model": "cart", "interactions": 2}, DataError, "interactions= is for model='logit'"),
        ({"null": "posterior"}, DataError, "null 'posterior' is unknown; there are: fitted, proper"),
        ({"interactions": 0}, DataError, "interactions is .* a whole number of 1 or more"),
        ({"interactions": True}, DataError, "interactions is .* a whole number"),
        ({"resamples": 1}, DataError, "resamples counts .* a whole number of 2 or more"),
        ({"variables": ["sxe"], "numeric": None}, ColumnError, "did you mean 'sex'"),
    ],
)
def test_bad_input(options, error, words):
    with pytest.raises(error, match=words):
        measured(**options)
