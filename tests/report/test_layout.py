from __future__ import annotations

from sdckit.report.layout import lay_out

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenario import Scenario
from sdckit.report.blocks import Code, Facts, Verdicts
from sdckit.report.write import plain_document


def test_the_answer_comes_first_and_the_methods_last() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL)))
    titles = [section.title for section in page.sections]
    assert titles[:3] == ["The question and the answer", "Scenario", "File"]
    assert titles[-1] == "Methods, and how to repeat this"
    assert page.title == "Invented survey 2025"
    assert page.state == "fail"
    assert page.confidential is None


def test_the_scenario_and_the_call_are_told() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL)))
    facts = dict(next(one for one in page.sections[1].blocks if isinstance(one, Facts)).items)
    assert facts["Limits"] == "k 3, individual risk 0.02, l 2 and global risk 0.02"
    assert facts["Release"] == "scientific-use file"
    codes = [one.text for one in page.sections[-1].blocks if isinstance(one, Code)]
    assert "sdc.assess(data, scenario=scenario)" in codes[0]
    assert codes[1].startswith("sdckit assess FILE")


def test_intruders_stand_side_by_side() -> None:
    scenario = Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    page = lay_out(plain_document(assess_fake(survey(200), scenario)))
    titles = [section.title for section in page.sections]
    assert "Intruders side by side" in titles
    assert "Intruder “b”" in titles
    verdicts = next(one for one in page.sections[0].blocks if isinstance(one, Verdicts))
    assert [who for _, who, _ in verdicts.items] == ["a", "b"]


def test_warnings_stand_at_the_top() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), FULL, warnings=("the key is constant",))))
    assert any(getattr(one, "text", "") == "Warning: the key is constant" for one in page.sections[0].blocks)


def test_without_a_limit_there_is_no_verdict() -> None:
    page = lay_out(plain_document(assess_fake(survey(200), Scenario(keys=["sex"]))))
    assert page.state == "open"
    assert page.headline.startswith("No limit was declared")
