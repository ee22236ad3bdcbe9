"""The page Risk: its parts."""

from __future__ import annotations

from inspect import signature

import pytest

from sdckit.app.page_context import speaker
from sdckit.app.pages.risk import ANSWERED, MORE, _keys, _more, _single, panel
from sdckit.workflow.sessions import risk as tasks


@pytest.mark.parametrize("name", MORE)
def test_every_button_asks_for_a_task_that_is_there(name: str) -> None:
    function = getattr(tasks, MORE[name][1].partition(".")[2])
    assert {"scenario", "exact", "language"} <= set(signature(function).parameters)


def test_the_intruder_is_asked_for_where_there_are_several() -> None:
    say = speaker("en")
    assert "<select" not in str(_keys(say, {"a": ["sex"]}, "a"))
    html = str(_keys(say, {"a": ["sex"], "b": ["age"]}, "b"))
    assert '<option value="b" selected="">' in html
    assert 'value="age"' in html
    assert 'value="sex"' not in html
    asked = tasks.further_questions()
    assert str(_more(say, ["a"], ["sex"], asked)).count("<select") == 2
    assert str(_more(say, ["a", "b"], ["sex"], asked)).count("<select") == 3
    assert all(name in str(_more(say, ["a"], ["sex"], asked)) for name in asked)


def test_there_is_a_place_for_every_answer() -> None:
    html = str(panel("risk", speaker("en")))
    assert all(f'id="risk-more_{name}"' in html for name in ANSWERED)


def test_single_combinations_are_asked_for_by_intruder_and_marked() -> None:
    say = speaker("en")
    assert "<select" not in str(_single(say, ["a"]))
    html = str(_single(say, ["a", "b"]))
    assert html.count("<select") == 1
    assert "confidential" in html
    assert 'value="10"' in html
