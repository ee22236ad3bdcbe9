"""Utility in a document: shares that stand for records like records; the overview, variables, pairs, models."""

from __future__ import annotations

from dataclasses import replace

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.report.chapters.release_page import plain_release
from sdckit.report.chapters.utility_chapter import moved_warning, utility_blocks
from sdckit.report.estimates import ROUNDED
from sdckit.report.view import view_of


def test_the_largest_move_is_told_in_either_direction() -> None:
    moved = [{"variable": "pay", "change": {"value": by, "text": f"{by:+.0%}"}} for by in (0.08, -0.2, 0.01)]
    assert moved_warning(moved) == ("Totals, means or counts of pay moved by more than 5 %; the largest move is -20%.")


def plain_of(**options):
    with quiet():
        found = sdc.assess(releases.original(), releases.release(), scenario=releases.scenario(), seed=1, **options)
    return found, plain_release(found)


@pytest.fixture(scope="module")
def both():
    return plain_of(models={"income ~ age": "linear", "ill ~ age": "logistic"})


def test_the_overview_in_two_digits(both):
    found, plain = both
    rows = {row["name"]: row for row in plain["utility"]["table"]}
    assert rows["auc"]["value"]["value"] == pytest.approx(found.utility.auc, rel=0.06)
    assert all(len(row["value"]["text"].lstrip("-<0.").replace(",", "")) <= 4 for row in rows.values())


def test_shares_of_records_are_rounded_as_records(both):
    found, plain = both
    n = found.n
    for name, leaf in plain["utility"]["variables"].items():
        moved = found.utility.results["compare_distributions"].total_variation[name] * n
        if 0 < moved < 5:
            assert leaf["value"] is None
        elif moved:
            assert abs(leaf["value"] * n - moved) <= 5


def test_models_have_their_coefficients(both):
    _, plain = both
    formulas = [model["formula"] for model in plain["utility"]["models"]]
    assert formulas == ["income ~ age", "ill ~ age"]
    assert [row["term"] for row in plain["utility"]["models"][0]["terms"]] == ["Intercept", "age"]
    assert plain["utility"]["models"][1]["family"] == "logistic"


def test_without_utility_the_reason_stands_there(both):
    found = replace(both[0], utility=None, no_utility="nothing in common")
    tree = plain_release(found)["utility"]
    assert tree["skipped"][0]["reason"] == "nothing in common"
    assert tree["table"] == tree["models"] == []


def leaf(text):
    return {"text": text, "value": None}


ENDS = ("estimate", "low", "high")


def tree(m):
    row = {"level": "whole file", "figure": "AUC", "best": 0.5}
    return {
        "m": m,
        "table": [{**row, "value": leaf("0.5"), "smallest": leaf("0.4"), "largest": leaf("0.6")}],
        "variables": {"sex": leaf("<1 %")},
        "heat": {"variables": ["sex", "age"], "cells": [{"one": "sex", "other": "age", "value": leaf("2")}]},
        "pairs": [{"variables": "sex × age", "s_pmse": leaf("2"), "specks": leaf("0.1")}],
        "models": [
            {
                "forest": [{"label": "x, released", "term": "x", "file": "released", **dict.fromkeys(ENDS, leaf("1"))}],
                "withheld": "", "formula": "y ~ x", "family": "linear",
                "terms": [
                    {"term": "x", "estimate_original": leaf("1"), "estimate_released": leaf("2"), "overlap": leaf("-1")}
                ],
            }
        ],
        "moved": [],
        "skipped": [{"measure": "ecdf_utility", "reason": "no variable is declared numeric"}],
    }  # fmt: skip


def test_one_release_has_one_column():
    table = utility_blocks(tree(1))[1]
    assert table.columns == ("Level", "Figure", "Release", "Best")
    assert table.rows == (("whole file", "AUC", "0.5", "0.5"),)


def test_several_have_mean_and_spread():
    table = utility_blocks(tree(3))[1]
    assert table.columns == ("Level", "Figure", "Mean", "Smallest", "Largest", "Best")


def test_everything_has_its_table():
    captions = [block.caption for block in utility_blocks(tree(1))[1:]]
    assert captions == [
        "The release at a glance", "Records that moved to other values, by variable",
        "Records that moved to other values, by variable", "Two-way tables that changed most",
        "Standardised pMSE of every two-way table (best 1; the darker, the worse)", "y ~ x (linear)",
        f"Estimates: y ~ x (linear); {ROUNDED}",
    ]  # fmt: skip


def test_nothing_measured_is_said():
    nothing = {**tree(0), "table": [], "variables": {}, "pairs": [], "heat": None, "models": []}
    assert utility_blocks(nothing) == []
    (table,) = view_of("utility_overview").blocks({"utility_overview": nothing}, "utility_overview")
    assert table.caption == "Not measured, and why"
