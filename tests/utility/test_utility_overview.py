"""The overview: every row is the figure of its measure, and what cannot run says why."""

from __future__ import annotations

import math
import pickle

import polars as pl
import pytest

import releases
import sdckit as sdc
from sdckit.cells.pair import open_files
from sdckit.errors import DataError, SdcError
from sdckit.utility import utility_overview as module
from sdckit.utility.utility_overview import HEADLINES, lacking, utility_overview
from sdckit.workflow.recoded_original.open_recoded import open_recoded

NAMES = ["sex", "age", "region", "income", "ill"]


def overview(released=None, **options):
    given = {"variables": NAMES, "numeric": ["income"], "seed": 1, **options}
    return utility_overview(releases.original(), releases.release() if released is None else released, **given)


def test_every_row_is_the_figure_of_its_measure():
    found = overview(models="income ~ age", aligned=True)
    pair = (releases.original(), releases.release())
    assert (
        found.mean_total_variation
        == sdc.compare_distributions(*pair, variables=NAMES, numeric=["income"]).mean_total_variation
    )
    assert found.auc == sdc.propensity(*pair, variables=NAMES, numeric=["income"], aligned=True, seed=1).auc
    assert found.mean_overlap == sdc.compare_models(*pair, formula="income ~ age").mean_overlap
    assert found.il1_mean == sdc.information_loss(*pair, numeric=["income"], robust=False).il1_mean
    assert math.isnan(found.pmse_ratio)  # rows correspond: there is no synthesis to compare with
    assert set(found.table["level"]) == {"whole file", "one variable", "two variables", "models", "values"}
    assert not found.skipped


def test_an_identical_release_is_the_best_there_is():
    found = overview(releases.original(), models={"income ~ age": "linear"}, aligned=True)
    for row in found.table.iter_rows(named=True):
        if row["measure"] != "tabular_utility":  # 0 there: more alike than any synthesis would be
            assert row["value"] == pytest.approx(row["best"], abs=1e-9), row["figure"]


def test_several_releases_have_a_spread():
    found = overview([releases.release(seed=seed) for seed in range(3)])
    row = found.table.row(0, named=True)
    assert row["smallest"] < row["value"] < row["largest"]
    assert found.m == 3


def test_what_lacks_something_says_so():
    skipped = dict(overview(numeric=[]).skipped)
    assert "no variable is declared numeric" in skipped["ecdf_utility"]
    assert "rows are not declared" in skipped["information_loss"]
    assert "no model was named" in skipped["compare_models"]
    one = dict(overview(variables=["sex"], numeric=[]).skipped)
    assert "only one variable" in one["tabular_utility"]


def test_a_model_that_cannot_be_fitted_does_not_stop_the_rest():
    found = overview(models=["income ~ nobody", "income ~ age"])
    assert [name for name, _ in found.skipped if name.startswith("compare_models")] == [
        "compare_models:income ~ nobody"
    ]
    assert found.mean_overlap == found["compare_models:income ~ age"].mean_overlap


def test_large_files_leave_out_the_joint_distribution(monkeypatch):
    monkeypatch.setattr(module, "MOST_JOINT", 10)
    assert "too many records" in dict(overview(numeric=["income", "age"]).skipped)["ecdf_utility"]
    monkeypatch.setattr(module, "MOST_NUMBERS", 1)
    assert "more than 1 numbers" in dict(overview(numeric=["income", "age"]).skipped)["ecdf_utility"]


def test_progress_is_told():
    told = []
    overview(step=told.append)
    assert told[0] == "measuring utility: propensity"


def test_documents_and_pickles():
    found = overview(models="income ~ age")
    told = found.to_dict()
    assert told["figures"]["auc"] == found.auc
    assert set(told["measures"]) == set(found.results)
    assert pickle.loads(pickle.dumps(found)).auc == found.auc


def test_bad_input():
    with pytest.raises(DataError, match="family 'lineal' is unknown"):
        overview(models={"income ~ age": "lineal"})
    with pytest.raises(SdcError, match="in common"):
        utility_overview(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"b": [1, 2]}))


def test_rows_have_names_of_their_own():
    assert len({one.name for one in HEADLINES}) == len(HEADLINES)


@pytest.mark.parametrize("names", [NAMES, ["sex"]])
@pytest.mark.parametrize("numeric", [[], ["income"]])
@pytest.mark.parametrize("models", [[], ["income ~ age"]])
@pytest.mark.parametrize("aligned", [True, False])
def test_what_lacks_is_known_before(names, numeric, models, aligned):
    numeric = [name for name in numeric if name in names]
    found = overview(variables=names, numeric=numeric, models=models, aligned=aligned)
    size = releases.N
    known = lacking(names, numeric, models, aligned=aligned, n=size, sizes=[size])
    assert [(name, reason) for name, reason in known if reason] == list(found.skipped)
    assert {name for name, reason in known if not reason} == set(found.results)


def test_what_a_recoding_took_is_a_row_where_something_was_recoded() -> None:
    """The other rows compare with the original recoded alike, and say nothing of it."""
    data = releases.original()
    recipe = sdc.Recipe([{"method": "recode", "column": "age", "bands": [0, 30, 50, None]}])
    made = recipe.apply(data).data
    opened = open_recoded(open_files(data, made), {"variables": NAMES}, aligned=True)
    found = utility_overview(opened.pair, variables=NAMES, numeric=["income"], aligned=True, seed=1)
    lost = sdc.generalization_loss(data, made, recipe=recipe, aligned=True)
    assert (found.coarsening_loss, found.coarsening_precision) == (lost.loss, lost.precision)
    assert found.coarsening_entropy == lost.entropy_share
    assert found.largest_total_variation == 0
    assert "recoded variables" in set(found.table["level"])
    for other in (
        utility_overview(opened.pair, variables=["sex", "ill"], aligned=True, seed=1),
        overview(aligned=True),
    ):
        assert "generalization_loss" not in {*other.results, *dict(other.skipped)}
