"""Utility in a document: the overview, then variables, pairs, models, and what did not run."""

from __future__ import annotations

from sdckit.report.layout_utility import HEAT, utility_blocks


def leaf(text):
    return {"text": text, "value": None}


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
                "forest": [], "withheld": "", "formula": "y ~ x", "family": "linear",
                "terms": [
                    {"term": "x", "estimate_original": leaf("1"), "estimate_released": leaf("2"), "overlap": leaf("-1")}
                ],
            }
        ],
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
        "Two-way tables that changed most", HEAT, "y ~ x (linear)", "Estimates and intervals: y ~ x (linear)",
        "Not measured, and why",
    ]  # fmt: skip


def test_nothing_measured_is_said():
    blocks = utility_blocks(
        {**tree(0), "table": [], "variables": {}, "pairs": [], "heat": None, "models": []}
    )
    assert len(blocks) == 1
