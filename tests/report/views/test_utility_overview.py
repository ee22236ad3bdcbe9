"""The overview, and what the measures behind it add."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.cells.pair import open_files
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document
from sdckit.workflow.recoded_original.open_recoded import open_recoded


def test_the_headlines_and_the_variables():
    tree, result = printed("utility_overview"), result_of("utility_overview")
    rows = {row["name"]: row for row in tree["table"]}
    assert rows["auc"]["value"]["value"] == pytest.approx(result.auc, rel=0.06)
    assert set(tree["variables"]) == {"sex", "age", "region"}
    assert tree["models"] == []
    assert {row["label"] for row in drawn("utility_overview")} == {"sex", "age", "region"}


def test_all_of_it_is_laid_out():
    captions = [block.caption for block in shown("utility_overview") if hasattr(block, "caption")]
    assert captions[0] == "The release at a glance"
    assert "Two-way tables that changed most" in captions


@pytest.mark.parametrize(("top", "few"), [(500_000, True), (40, False)])
def test_what_the_recoding_of_few_records_took_is_withheld(top: int, few: bool) -> None:
    """Entropy and loss rest on the records beyond a top code; the pair, recoded alike, shows no difference."""
    ages = [*range(20, 70)] * 12
    data = pl.DataFrame({"age": [*ages, 500_001, 500_002, 500_003], "sex": ["f", "m", "f"] * 201})
    release = data.with_columns(pl.col("age").clip(upper_bound=top))
    pair = open_recoded(open_files(data, release), {"variables": ["age", "sex"]}, aligned=True).pair
    result = sdc.utility_overview(pair, variables=["age", "sex"], numeric=["age"], aligned=True, seed=1)
    assert result["generalization_loss"].n_changed == (3 if few else len(data.filter(pl.col("age") >= top)))
    (tree,) = protect(result_document(result), internal=False)["measures"].values()
    rows = {row["name"]: row["value"] for row in tree["table"] if row["name"].startswith("coarsening")}
    assert [leaf["value"] is None for leaf in rows.values()] == [few] * 3
    lost = sdc.generalization_loss(pair)
    (alone,) = protect(result_document(lost), internal=False)["measures"].values()
    assert (alone["loss"]["value"] is None) is few
