"""l-diversity in a document: by variable and kind; the smallest only inside."""

from __future__ import annotations

from report.fakes import FULL, assess_fake, survey
from sdckit.report.blocks import TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect
from sdckit.report.views.l_diversity import VIEW


def test_violations_by_variable_kind_and_level() -> None:
    assessment = assess_fake(survey(400), FULL)
    tree = protect(build_document(assessment), internal=True)["intruders"][0]["l_diversity"]["income"]
    exact = assessment.intruders[0]["l_diversity"]
    for kind, levels in exact.violations["income"].items():
        for level, n in levels.items():
            assert tree["violations"][kind][str(level)]["value"] == n
            assert tree["holds"][kind][str(level)]["value"] == (n == 0)
    assert tree["homogeneous"]["value"] == exact.homogeneous["income"]


def test_no_quartile_of_the_data_is_printed() -> None:
    tree = protect(build_document(assess_fake(survey(400), FULL)))["intruders"][0]["l_diversity"]["income"]
    assert tree.keys() == {"holds", "violations", "violation_rates", "homogeneous"}


def test_the_smallest_is_shown_inside_only() -> None:
    document = build_document(assess_fake(survey(400), FULL))
    for internal in (True, False):
        blocks = VIEW.blocks(protect(document, internal=internal)["intruders"][0], "l_diversity")
        table = next(block for block in blocks if isinstance(block, TableBlock))
        assert ("Smallest" in table.columns) == internal
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_mean_and_quartiles_are_shown_inside_only() -> None:
    assessment = assess_fake(survey(400), FULL)
    exact = assessment.intruders[0]["l_diversity"]
    inside = protect(build_document(assessment), internal=True)["intruders"][0]
    spread = inside["l_diversity"]["income"]["spread"]["distinct"]
    assert spread["mean"] == exact.mean["income"]["distinct"]
    assert tuple(spread["quartiles"]) == exact.quartiles["income"]["distinct"]
    table = VIEW.blocks(inside, "l_diversity")[-1]
    assert isinstance(table, TableBlock)
    assert table.caption == "Values in the groups of the records"
    assert [row[0] for row in table.rows] == ["income, distinct", "income, entropy"]
    assert table.rows[0][1] == f"{exact.mean['income']['distinct']:.4g}"
    outside = protect(build_document(assessment))["intruders"][0]
    assert all("Values in the groups" not in str(block) for block in VIEW.blocks(outside, "l_diversity"))
