"""Every result on two files that has a chart draws it from protected figures."""

from __future__ import annotations

import polars as pl
import pytest

import releases
import sdckit as sdc
from sdckit.errors import DataError
from sdckit.report.charts import to_svg
from sdckit.report.pair_views import VIEWS, pair_blocks, pair_document
from sdckit.report.protect import protect

KEYS = ["sex", "age", "region"]
CALLS = {
    "matching_risk": lambda o, r: sdc.matching_risk(o, r, known=KEYS),
    "identity_disclosure": lambda o, r: sdc.identity_disclosure(o, r, keys=KEYS),
    "record_linkage": lambda o, r: sdc.record_linkage(o, r, variables=KEYS, numeric=["age"]),
    "interval_risk": lambda o, r: sdc.interval_risk(o, r, numeric=["income"]),
    "robust_interval_risk": lambda o, r: sdc.robust_interval_risk(o, r, numeric=["income", "age"], seed=1),
    "correct_attribution_probability": lambda o, r: sdc.cap(o, r, keys=KEYS, target="ill"),
    "attribute_disclosure": lambda o, r: sdc.attribute_disclosure(o, r, keys=KEYS, target="ill"),
    "prediction_risk": lambda o, r: sdc.prediction_risk(o, r, keys=KEYS, target="income", numeric=["income"]),
    "compare_models": lambda o, r: sdc.compare_models(o, r, formula="income ~ age + C(region)"),
    "compare_estimates": lambda o, r: sdc.compare_estimates(o, r, statistic="mean", variables=["income"]),
    "compare_distributions": lambda o, r: sdc.compare_distributions(o, r, variables=KEYS, numeric=["age"]),
    "utility_overview": lambda o, r: sdc.utility_overview(o, r, variables=KEYS, numeric=["age"]),
    "tabular_utility": lambda o, r: sdc.tabular_utility(o, r, variables=KEYS, numeric=["age"]),
}


def test_every_view_is_tried():
    assert set(CALLS) == set(VIEWS)


@pytest.mark.parametrize("name", CALLS)
def test_it_draws_and_shows(name):
    result = CALLS[name](releases.original(), releases.release())
    assert "<svg" in to_svg(result.plot())
    plain = protect(pair_document(result))
    assert pair_blocks(name, plain)
    assert result.plot(internal=True) is not None
    assert "withhold" not in result._repr_html_()


def test_small_files_are_not_drawn():
    small = releases.original(40)
    with pytest.raises(DataError, match="fewer than 50 records"):
        sdc.identity_disclosure(small, small, keys=KEYS).plot()


@pytest.mark.parametrize("label", ["MARKER", "zmarker"])
def test_a_coefficient_that_is_a_persons_value_is_not_drawn(label):
    """As the base of the categories or as one of them, alone or in a product."""
    marked = releases.original().with_columns(
        region=pl.when(pl.col("pid") == 17).then(pl.lit(label)).otherwise(pl.col("region"))
    )
    for formula in ("income ~ C(region)", "income ~ region + age", "income ~ sex:region"):
        result = sdc.compare_models(marked, releases.release(marked), formula=formula)
        with pytest.raises(DataError, match="no chart"):
            result.plot()
        assert "fewer than 5 records" in result._repr_html_()
        assert label not in result._repr_html_()


def test_columns_of_the_original_alone_do_no_harm():
    wide = releases.original().with_columns(extra=pl.lit("x"), ag=pl.lit(1))
    assert sdc.compare_models(wide, releases.release(), formula="income ~ age").plot() is not None
