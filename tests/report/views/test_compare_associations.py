"""The change of every association, where enough people have both values."""

from __future__ import annotations

import polars as pl

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document


def test_every_pair_is_drawn():
    assert {(row["one"], row["other"]) for row in drawn("compare_associations")} == {
        ("sex", "age"), ("sex", "region"), ("age", "region"),
    }  # fmt: skip
    assert 0 <= printed("compare_associations")["contingency_similarity"]["value"] <= 1


def test_an_association_of_few_records_is_withheld():
    files = [
        frame.with_columns(pay=pl.when(pl.int_range(240) < 20).then(pl.col("income")))
        for frame in (releases.original(), releases.release())
    ]
    result = sdc.compare_associations(*files, variables=["age", "income", "pay"], numeric=["age", "income", "pay"])
    (tree,) = protect(result_document(result))["measures"].values()
    found = {(cell["one"], cell["other"]): cell["value"]["text"] for cell in tree["heat"]["cells"]}
    assert found["age", "pay"] == found["income", "pay"] == "withheld"
    assert found["age", "income"] != "withheld"
