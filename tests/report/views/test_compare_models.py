"""Coefficients of a regression on both files, and never those of a few people."""

from __future__ import annotations

import polars as pl
import pytest

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed
from sdckit.errors import DataError


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
