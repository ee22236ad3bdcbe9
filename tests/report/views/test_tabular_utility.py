"""The two-way tables, drawn, the worst listed, and the sample that is as near."""

from __future__ import annotations

import pytest

import sdckit as sdc
from releases import release
from report.views.pairs import EVERYBODY, drawn, printed, result_of, shown
from sdckit.report.blocks import Page, Section
from sdckit.report.gate.protect import protect
from sdckit.report.language import missing, names_of
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.setting import n_moved


def test_every_pair_is_drawn_and_the_worst_listed():
    assert len(drawn("tabular_utility")) == 3
    (heat, said, score, bars, table) = shown("tabular_utility")
    assert heat.data["variables"] == ["sex", "age", "region"]
    assert len(table.rows) == 3
    result = result_of("tabular_utility")
    own, redraw, other = (
        f"{100 * float(printed('tabular_utility')['sample'][name]['text']):.3g} %"
        for name in ("equivalent", "redraw", "other_sample")
    )
    assert said.text == (
        f"The two-way tables of the release are as near to the original's as those of a random sample of {own} of its "
        f"records; a redraw of the file reaches about {redraw}, another sample of this size about {other}, only a copy "
        "100 %."
    )
    assert float(own[:-2]) / 100 == pytest.approx(result.sample_equivalent, abs=0.06)
    assert score.text.startswith("NIST's k-marginal score of the two-way tables: ")
    assert [row["label"] for row in bars.data["rows"]][::3] == ["the release", "a copy"]


def test_groups_stand_in_a_confidential_document_only_and_everything_in_german():
    result = sdc.tabular_utility(
        EVERYBODY, release(EVERYBODY), variables=["sex", "age", "income"], by=["region"], ways=1
    )
    outside, inside = (protect(result_document(result), internal=internal) for internal in (False, True))
    assert "by region" in result_blocks(outside)[0].text
    assert not outside["measures"]["tabular_utility"]["sample"]["groups"]
    *_, chart, table, _ = result_blocks(inside)
    assert table.columns == ("region", "Records", "Score (best 1,000)")
    assert [row["n"]["value"] for row in chart.data["rows"]] == result.by_group["k_marginal"].to_list()
    for plain in (outside, inside):
        page = Page("", "", None, "", "", (Section("Utility", tuple(result_blocks(plain))),), "")
        assert not missing(page, "de", names_of(plain))


def test_without_a_sample_the_score_is_said_alone():
    result = sdc.tabular_utility(EVERYBODY, release(EVERYBODY), variables=["sex", "age"], drop_missing=True)
    (_, score, _) = result_blocks(protect(result_document(result), internal=False))
    assert score.text.startswith("NIST's k-marginal score of the two-way tables: ")


def test_digits_follow_the_records_in_other_values():
    result = result_of("tabular_utility")
    matrix, names = result.matrix(), list(result.variables)
    for cell in printed("tabular_utility")["heat"]["cells"]:
        i, j = names.index(cell["one"]), names.index(cell["other"])
        if n_moved(result.pair, [cell["one"], cell["other"]]) < 48:
            assert cell["value"]["text"] == "withheld"
        else:
            assert cell["value"]["value"] == pytest.approx(matrix[i, j], rel=0.5)
