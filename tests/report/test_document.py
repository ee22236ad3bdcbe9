from __future__ import annotations

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenario import Scenario
from sdckit.report.document import build_document
from sdckit.report.figures import Count, InternalOnly
from sdckit.report.protect import protect


def test_a_verdict_prints_the_figure_of_its_table() -> None:
    document = build_document(assess_fake(survey(300), FULL))
    counts = {one["name"]: one["n_records"] for one in document.tree["verdicts"]}  # type: ignore[index, union-attr]
    assert counts["k"] == Count("i0.violations.3")
    assert counts["risk"] == Count("i0.above")
    assert counts["l"] == Count("i0.l.income.distinct.2")
    assert counts["global_risk"] is None


def test_records_are_listed_for_internal_use_only() -> None:
    assessment = assess_fake(survey(300), FULL)
    assert build_document(assessment).tree["records_at_risk"] == InternalOnly(None)
    listed = build_document(assessment, internal=True).tree["records_at_risk"]
    assert isinstance(listed, InternalOnly)
    assert isinstance(listed.content, dict)
    assert listed.content["total"] == sum(assessment.n_at_risk().values())
    assert "records_at_risk" not in protect(build_document(assessment))


def test_fewer_keys_are_linked_to_more() -> None:
    scenario = Scenario(intruders={"wide": ["sex", "age"], "narrow": ["sex"]})
    document = build_document(assess_fake(survey(300), scenario))
    assert "i0.violations.3 - i1.violations.3" in document.variables
    assert "i1.violations.3 - i0.violations.3" not in document.variables


def test_figures_of_persons_are_not_taken_for_cells() -> None:
    scenario = Scenario(keys=["sex", "age"], person="household", missing="category")
    document = build_document(assess_fake(survey(300), scenario))
    linked = {name for one in document.relations for name, _ in one.terms}
    assert "i0.violations.3" in linked
    assert not any(
        {"i0.violations.3", "i0.records in 1-1"} <= {name for name, _ in one.terms}
        for one in document.relations
    )
