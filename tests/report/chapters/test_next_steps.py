"""What to do next: ranked by the printed advice, and what is left open is said."""

from __future__ import annotations

from typing import Any

import sdckit as sdc
from report.fakes import FULL, assess_fake, survey
from report.real import page
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.blocks import Items, Page
from sdckit.report.chapters.next_steps import AGAIN, READY, TAKE_OUT, next_steps, remaining_questions
from sdckit.report.formats.write import plain_document


def listed(shown: Page, place: str) -> tuple[str, ...]:
    (section,) = (one for one in shown.decision if one.place == place)
    (block,) = section.blocks
    assert isinstance(block, Items)
    return block.items


def plain(**more: Any) -> dict[str, Any]:
    return plain_document(
        assess_fake(survey(300), Scenario(**{"keys": ["sex", "age", "occupation"], **more}))
    )


def test_the_key_that_saves_most_comes_first() -> None:
    document = plain_document(
        sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario().changed(thresholds={"k": 3}))
    )
    steps = next_steps(document)
    tree = document["intruders"][0]["key_contributions"]
    told = [row for row in tree["coarsenings"] if row["uniques_without"]["value"] is not None]
    best = min(told, key=lambda row: row["uniques_without"]["value"])
    assert steps[0] == (
        f"Make {best['variables'][0]} coarser: of the {tree['uniques']['text']} records that are alone, "
        f"{best['uniques_without']['text']} would stay alone."
    )
    assert steps[-2:] == [TAKE_OUT, AGAIN]


def test_without_limits_they_come_first() -> None:
    (step,) = next_steps(plain())
    assert step.startswith("Decide how much risk is acceptable")


def test_a_file_that_holds_is_told_what_to_mind() -> None:
    assert next_steps(plain(keys=["sex"], thresholds={"k": 2})) == list(READY)


def test_values_that_a_group_gives_away() -> None:
    steps = next_steps(plain(sensitive=["sex"], keys=["age"], thresholds={"l": 3}))
    assert steps == [
        "Form larger groups, or make sex coarser or leave it out, where a group gives it away.", AGAIN,
    ]  # fmt: skip


def test_an_open_question_is_asked_first() -> None:
    document = plain(keys=["sex"], thresholds={"k": 2})
    document["verdicts"][0]["holds"] = {"text": "not judged", "value": None}
    assert next_steps(document) == ["Have the open questions answered, then assess again."]
    assert remaining_questions(document)[0] == "1 limit could not be judged: see the answer."


def test_what_remains_open_is_said() -> None:
    assert any("whole population" in one for one in remaining_questions(plain()))
    sample = remaining_questions(plain(sampling_fraction=0.1))
    assert not any("whole population" in one for one in sample)
    assert sample[-1].startswith("Somebody may know more than")
    assert "Nobody has tried to attack the release yet." in listed(page("release"), "open")
    assert "Nobody has tried to attack the release yet." not in listed(page("attacks"), "open")
    warned = plain_document(assess_fake(survey(200), FULL, warnings=("one", "two")))
    assert "The annex has 2 warnings on how this was measured." in remaining_questions(warned)
