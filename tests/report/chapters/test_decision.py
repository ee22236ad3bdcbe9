"""The decision page: eight parts, the same figures as the annex, and a place to sign."""

from __future__ import annotations

import pytest

from report.fakes import assess_fake, survey
from report.real import MADE, page, plain as printed
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Blanks, ChartBlock, Facts, Paragraph, Verdicts
from sdckit.report.chapters.decision import CONDITIONS, NEXT, decision_sections
from sdckit.report.formats.write import plain_document

PLACES = ["answer", "next", "picture", "good", "question", "open", "conditions", "signed"]


def facts(plain: object, place: str) -> dict[str, str]:
    (section,) = (one for one in decision_sections(plain) if one.place == place)  # type: ignore[arg-type]
    (block,) = section.blocks
    assert isinstance(block, Facts)
    return dict(block.items)


@pytest.mark.parametrize("name", MADE)
def test_every_document_has_its_parts(name: str) -> None:
    shown = page(name)
    assert [one.place for one in shown.decision] == PLACES
    assert [one.title for one in shown.decision if not one.paper] == [NEXT]  # on a terminal
    (verdicts,) = shown.decision[0].blocks
    assert isinstance(verdicts, Verdicts)
    exceeded = any(state == "exceeded" for state, _, _ in verdicts.items)
    assert exceeded == (shown.state == "fail")
    (blanks,) = shown.decision[-1].blocks
    assert isinstance(blanks, Blanks)
    assert [label for label, _ in blanks.items] == [
        "Decision",
        "Name, signature",
        "Date",
        "Valid until",
        "Next review",
    ]
    assert blanks.items[0][1] == ("release", "release after changes", "do not release")


def test_the_picture_has_the_figures_of_the_annex() -> None:
    plain = printed("recipe")
    (chart,) = page("recipe").decision[2].blocks
    assert isinstance(chart, ChartBlock)
    files = (plain["original"], plain["released"][0])
    told = [one["intruders"][0]["k_anonymity"]["violations"]["3"]["text"] for one in files]
    assert [(row["label"], row["n"]["text"]) for row in chart.data["rows"]] == [
        ("before", told[0]), ("after", told[1])
    ]  # fmt: skip


def test_of_several_releases_the_first_is_drawn_and_named() -> None:
    (chart,) = page("two releases").decision[2].blocks
    assert isinstance(chart, ChartBlock)
    assert [row["label"] for row in chart.data["rows"]] == ["before", "after (first release)"]


def test_a_file_alone_shows_how_few_share_what_is_known() -> None:
    plain = printed("one file")
    (chart,) = page("one file").decision[2].blocks
    assert isinstance(chart, ChartBlock)
    violations = plain["intruders"][0]["k_anonymity"]["violations"]
    assert [row["n"]["text"] for row in chart.data["rows"]] == [violations[k]["text"] for k in "235"]
    several = Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    sections = decision_sections(plain_document(assess_fake(survey(300), several)))
    (both,) = sections[2].blocks
    assert isinstance(both, ChartBlock)
    assert [row["label"] for row in both.data["rows"]] == ["a", "b"]


def test_what_it_is_good_for_names_what_moved_most() -> None:
    plain = printed("recipe")
    variables = plain["utility"]["variables"]
    most = max(variables, key=lambda name: variables[name]["value"] or 0.0)
    told = [one.text for one in page("recipe").decision[3].blocks if isinstance(one, Paragraph)]
    assert told[0].startswith("Coarser than before: age. Beside that, on average ")
    assert f"most of them of {most} (" in told[0]
    assert told[1].startswith("Tables of two variables agree with the original to ")
    unchanged = page("one file").decision[3].blocks[0]
    assert isinstance(unchanged, Paragraph)
    assert unchanged.text == "Nothing was changed: the file is as good as it was collected."


@pytest.mark.parametrize("release", [*CONDITIONS, None])
def test_the_five_safes_follow_the_type_of_release(release: str | None) -> None:
    plain = plain_document(
        assess_fake(survey(300), Scenario(keys=["sex"], thresholds={"k": 2}, release=release))
    )
    told = facts(plain, "conditions")
    assert list(told) == ["Safe data", "Safe projects", "Safe people", "Safe settings", "Safe outputs"]
    assert (
        told["Safe data"] in ("the only limit holds", "1 of 2 limits hold", "4 of 5 limits hold")
        or "limits hold" in told["Safe data"]
    )
    if release is None:
        assert set(list(told.values())[1:]) == {"to be agreed: ______"}
        assert facts(plain, "question")["Asked"] == "Can it be given out?"
    else:
        assert tuple(told.values())[1:] == CONDITIONS[release]
        assert facts(plain, "question")["Asked"].startswith("Can it be given out as a ")
