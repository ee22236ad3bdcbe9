"""Coefficients of a regression on both files, and never those of a few people."""

from __future__ import annotations

import polars as pl
import pytest

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.errors import DataError
from sdckit.report.blocks import ChartBlock
from sdckit.report.charts import describe
from sdckit.report.estimates import ROUNDED


def test_coefficients_and_their_intervals():
    tree = printed("compare_models")
    assert [row["term"] for row in tree["terms"]][:2] == ["Intercept", "age"]
    assert len(drawn("compare_models")) == 2 * len(tree["terms"])


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


def test_an_interval_is_drawn_as_it_is_or_not_at_all():
    """[9870, 10525] was drawn as [9900, 11000]."""
    result = result_of("compare_models")
    found = pl.DataFrame(result.forest()).to_dicts()
    outside, inside = (
        [row for rows in result.plot(internal=internal).to_dict()["datasets"].values() for row in rows]
        for internal in (False, True)
    )
    assert [(row["low"], row["high"]) for row in inside] == [(row["low"], row["high"]) for row in found]
    assert all(row["low"] == row["estimate"] == row["high"] for row in outside)
    (chart,) = (one for one in shown("compare_models") if isinstance(one, ChartBlock))
    assert ROUNDED in chart.caption
    assert " to " not in describe(chart.name, chart.data, "Caption")
    (chart,) = (one for one in shown("compare_models", internal=True) if isinstance(one, ChartBlock))
    assert ROUNDED not in chart.caption
    assert " to " in describe(chart.name, chart.data, "Caption")


@pytest.mark.parametrize("internal", [False, True])
def test_every_term_has_an_axis_of_its_own(internal):
    result = result_of("compare_models")
    parts = result.plot(internal=internal).to_dict()["vconcat"]
    assert [part["title"]["text"] for part in parts] == [
        row["term"] for row in printed("compare_models")["terms"]
    ]
    domains = [part["layer"][0]["encoding"]["x"]["scale"]["domain"] for part in parts]
    by_name = dict(zip((part["title"]["text"] for part in parts), domains, strict=True))
    assert by_name["age"][1] - by_name["age"][0] < (by_name["Intercept"][1] - by_name["Intercept"][0]) / 10
