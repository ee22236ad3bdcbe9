"""Extreme values in a document: how many, and what is undefined."""

from __future__ import annotations

import polars as pl

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from report.special import assessed, printed
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import ChartBlock, Facts, Paragraph, TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect
from sdckit.report.views.outliers import VIEW


def test_counts_are_exact_inside_and_rounded_outside() -> None:
    assessment = assessed()
    exact, plain = printed(assessment, internal=True), printed(assessment)
    assert exact["outliers"]["n_outliers"]["value"] == assessment.intruders[0]["outliers"].n_outliers
    for leaf in [plain["outliers"]["n_outliers"], *plain["outliers"]["counts"].values()]:
        assert leaf["value"] is None or leaf["value"] % 5 == 0


def test_equal_values_have_no_extreme_one() -> None:
    frame = pl.DataFrame(survey(200)).with_columns(weight=pl.lit(2.0), one=pl.lit("x"))
    scenario = Scenario(keys=["one"], sampling_fraction=0.1, numeric=["weight"])
    with quiet():
        found = sdc.assess(frame, scenario=scenario, measures="all")
    one = protect(build_document(found))["intruders"][0]
    assert one["outliers"]["n_outliers"] == {"text": "0", "value": 0}
    assert one["suda"]["dis"] == {"text": "0", "value": 0.0}
    assert {leaf["text"] for leaf in one["suda"]["contributions"].values()} == {"undefined"}


def test_what_is_undefined_is_a_word() -> None:
    tree = {
        "method": "mad", "n_outliers": None, "rate_outliers": None, "counts": {"x": None},
        "n_missing": {"x": {"text": "0", "value": 0}}, "notes": {"limits x": "no limit"},
    }  # fmt: skip
    facts, chart, table, note = VIEW.blocks({"outliers": tree}, "outliers")
    assert isinstance(facts, Facts)
    assert facts.items[1][1] == "undefined"
    assert isinstance(chart, ChartBlock)
    assert [row["n"]["text"] for row in chart.data["rows"]] == ["undefined"]
    assert isinstance(table, TableBlock)
    assert table.rows == (("x", "undefined", "0"),)
    assert isinstance(note, Paragraph)
    assert note.text == "No limit."


def test_of_a_joint_distance_only_the_missing_are_told_by_variable() -> None:
    data = pl.DataFrame(survey(300))
    with quiet():
        result = sdc.outliers(data, numeric=["weight", "household"], method="robust_mahalanobis")
    assert "Values missing" in result._repr_html_()
