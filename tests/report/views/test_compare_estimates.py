"""Estimates with their intervals, file by file, and what of them may be told."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed
from sdckit.errors import DataError
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document

LONE = pl.col("pid") == 17


def document(result, *, internal=False):
    (tree,) = protect(result_document(result), internal=internal)["measures"].values()
    return tree


def estimates(result, *, internal=False):
    rows = document(result, internal=internal)["forest"]
    return {row["label"]: row["estimate"]["text"] for row in rows}


def compared(frame, statistic, *variables, **options):
    return sdc.compare_estimates(frame, releases.release(frame), statistic=statistic, variables=variables, **options)


def test_two_digits_of_both_files():
    assert [row["file"] for row in drawn("compare_estimates")] == ["original", "released"]
    (first, _) = printed("compare_estimates")["forest"]
    assert all(first[part]["value"] % 100 == 0 for part in ("estimate", "low", "high"))


@pytest.mark.parametrize("weight", [None, "w"])
def test_proportions_are_counts_of_pooled_levels(weight):
    marked = releases.original().with_columns(region=pl.when(LONE).then(pl.lit("ZQX")).otherwise(pl.col("region")))
    result = compared(marked, "proportion", "region", weight=weight)
    tree = document(result)
    assert "ZQX" not in f"{tree}{result._repr_html_()}{result.to_dict()}{result.notes}"
    assert b"ZQX" not in pickle.dumps(result)
    assert "region=ZQX" in result.table["term"]
    assert "region=ZQX, original" in estimates(result, internal=True)
    found = estimates(result)
    rare = found["region=(rare), original"]
    assert rare == "withheld" if weight else rare.startswith("<")
    n = int((marked["region"] == "north").sum())
    assert found["region=north, original"] == ("45 %" if weight else f"{100 * (5 * round(n / 5)) / 240:.1f} %")
    assert {row[end]["text"] for row in tree["forest"] for end in ("low", "high")} == {"withheld"}


def test_proportions_of_several_releases():
    original = releases.original()
    several = [releases.release(original, seed=j) for j in (2, 3)]
    found = estimates(sdc.compare_estimates(original, several, statistic="proportion", variables=["sex"]))
    assert list(found) == [
        f"sex={sex}, {file}" for sex in "fm" for file in ("original", "release 1", "release 2", "released")
    ]
    assert all(text.endswith(" %") or float(text) for text in found.values())


@pytest.mark.parametrize(("statistic", "text"), [("mean", "16.7 %"), ("total", "40")])
def test_zero_and_one_are_counted(statistic, text):
    flagged = releases.original().with_columns(flag=(pl.col("pid") < 3).cast(pl.Int64))
    found = estimates(compared(flagged, statistic, "flag", "income"))
    assert found["flag, original"].startswith("<")
    assert not found["income, original"].startswith("<")
    many = flagged.with_columns(flag=(pl.col("pid") < 42).cast(pl.Int64))
    assert estimates(compared(many, statistic, "flag"))["flag, original"] == text


def test_a_quantile_needs_five_records_beyond():
    for probability, told in ((0.5, True), (0.97, True), (0.985, False), (0.015, False)):
        text = estimates(compared(releases.original(), "quantile", "income", probability=probability))
        assert (text["income, original"] != "withheld") == told, probability
    tree = document(compared(releases.original(), "quantile", "income", probability=0.97))
    assert tree["forest"][0]["low"]["text"] == "withheld"  # Woodruff's ends lie farther out


@pytest.mark.parametrize(
    "income",
    [
        pl.when(LONE).then(1e9).otherwise(pl.col("income")),
        pl.when(pl.col("pid") < 3).then(pl.col("income")).otherwise(0.0),
        pl.when(pl.col("pid") < 4).then(pl.col("income")),
    ],
)
@pytest.mark.parametrize("statistic", ["mean", "total"])
def test_a_sum_of_one_person_or_of_few_is_withheld(statistic, income):
    result = compared(releases.original().with_columns(income=income), statistic, "income", "age")
    found = estimates(result)
    assert found["income, original"] == found["income, released"] == "withheld"
    assert "withheld" not in {found["age, original"], found["age, released"]}
    assert "fewer than 5 records" in result._repr_html_()
    assert "withheld" not in estimates(result, internal=True).values()


def test_a_function_of_ones_own_has_no_public_view():
    def of_one(frame):
        return {"ZQX": float(frame["income"][17])}, {"ZQX": 1.0}

    result = sdc.compare_estimates(releases.original(), releases.release(), statistic=of_one)
    assert document(result)["forest"] == []
    assert "ZQX" not in f"{document(result)}{result._repr_html_()}{result.to_dict()}"
    assert "confidential document only" in result._repr_html_()
    with pytest.raises(DataError, match="no chart"):
        result.plot()
    assert document(result, internal=True)["forest"][0]["estimate"]["value"] == releases.original()["income"][17]
    assert np.isfinite(result.mean_overlap)
