"""Coefficients of a regression on both files, and never those of a few people."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import polars as pl
import pytest
from formulaic import Formula

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.blocks import ChartBlock
from sdckit.report.charts import describe
from sdckit.report.estimates import FEW, ROUNDED
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document


def test_coefficients_and_their_intervals():
    tree = printed("compare_models")
    assert [row["term"] for row in tree["terms"]][:2] == ["Intercept", "age"]
    assert len(drawn("compare_models")) == 2 * len(tree["terms"])


def document(result, *, internal=False):
    (tree,) = protect(result_document(result), internal=internal)["measures"].values()
    return tree


LONE = pl.col("pid") == 17


@pytest.mark.parametrize("label", ["MARKER", "zmarker"])
@pytest.mark.parametrize(
    "formula",
    [
        "income ~ C(k)",
        "income ~ k + age",
        "income ~ sex:k",
        "income ~ 0 + C(k, contr.sum)",
        "income ~ C(k, contr.treatment(base='{}'))",
    ],
)
def test_a_coefficient_that_is_a_persons_value_is_withheld(label, formula):
    """As the base of the categories or as one of them, alone or in a product: nor is its level named anywhere."""
    marked = releases.original().with_columns(k=pl.when(LONE).then(pl.lit(label)).otherwise(pl.col("region")))
    formula = formula.format(label)
    result = sdc.compare_models(marked, releases.release(marked), formula=formula)
    tree = document(result)
    assert label not in f"{tree}{result._repr_html_()}{result.notes}{result.to_dict()}"
    assert label.encode() not in pickle.dumps(result)
    named = any(label in term for term in result.table["term"])  # not as the base of the others
    assert (label in str(document(result, internal=True))) == named
    assert attacked(marked, formula, tree) < 0.5


@pytest.mark.parametrize(
    "flag", [LONE.cast(pl.Int64), LONE, 1 - LONE.cast(pl.Int64), pl.when(LONE).then(1e6).otherwise(pl.col("age"))]
)
def test_a_number_of_one_person_is_withheld_and_the_others_are_not(flag):
    """0 and 1 of one person printed intercept and flag: the income is their sum."""
    marked = releases.original().with_columns(k=flag)
    result = sdc.compare_models(marked, releases.release(marked), formula="income ~ k + sex")
    tree = document(result)
    texts = {row["term"]: row["estimate_original"]["text"] for row in tree["terms"]}
    assert "withheld" in texts.values()
    assert texts["sex[T.m]"] != "withheld"
    assert tree["withheld"] == FEW
    told = result.over_told()["mean_overlap"]
    assert tree["mean_overlap"]["value"] == pytest.approx(told, rel=0.05)
    assert document(result, internal=True)["mean_overlap"]["value"] == result.mean_overlap


def attacked(frame, formula, tree):
    """How much of the lone person's income the printed coefficients tell: the largest part over all their sums."""
    design = Formula(formula.partition("~")[2]).get_model_matrix(frame.to_pandas(), output="pandas")
    told = [row["term"] for row in tree["terms"] if row["estimate_original"]["value"] is not None]
    parts = np.linalg.pinv(design.to_numpy(float))[[list(design.columns).index(name) for name in told]]
    if len(parts) == 0:
        return 0.0
    basis = np.linalg.qr(parts.T)[0]
    return float((basis[17] ** 2).sum())


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
    assert [part["title"]["text"] for part in parts] == [row["term"] for row in printed("compare_models")["terms"]]
    domains = [part["layer"][0]["encoding"]["x"]["scale"]["domain"] for part in parts]
    by_name = dict(zip((part["title"]["text"] for part in parts), domains, strict=True))
    assert by_name["age"][1] - by_name["age"][0] < (by_name["Intercept"][1] - by_name["Intercept"][0]) / 10


@pytest.mark.parametrize("family", ["linear", "logistic", "poisson"])
def test_log_odds_are_no_exact_counts(family):
    """Worlds of two counts: what is printed of one is printed of others with another first count, too."""
    rank, sex = np.arange(60) // 2, np.arange(60) % 2

    def frame(of_f: int, of_m: int) -> pl.DataFrame:
        y = np.where(sex == 0, rank < of_f, rank < of_m).astype(int)
        return pl.DataFrame({"y": y, "sex": np.where(sex == 0, "f", "m")})

    worlds = list(product(range(8, 23), range(14, 17)))
    printed: dict[str, set[int]] = {}
    of_world = []
    for of_f, of_m in worlds:
        result = sdc.compare_models(frame(of_f, of_m), frame(11, 16), formula="y ~ sex", family=family)
        of_world.append(str(document(result)))
        printed.setdefault(of_world[-1], set()).add(of_f)
    assert sum(len(printed[one]) >= 2 for one in of_world) >= 0.8 * len(worlds)  # ties are rounded as the sums fall
    assert len(printed) >= 4  # and they still say something
    assert "five records" in result._repr_html_()
    exact = document(result, internal=True)["terms"][0]["estimate_original"]["value"]
    assert exact == result.table["estimate_original"][0]
