"""A form of a step, and the arguments it is read back into."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sdckit.app.browser_sessions import Step, Work
from sdckit.app.page_context import speaker
from sdckit.app.step_form import (
    arguments_of,
    as_text,
    button,
    form,
    found_shown,
    is_ready,
    name_of,
    passing_shown,
    step_shown,
)
from sdckit.data.limits import LIMITS
from sdckit.data.methods import METHODS
from sdckit.errors import ScenarioError

say = speaker("en")
ENTRIES = [
    {"name": "columns", "kind": "columns", "choices": [], "default": None, "needed": True, "about": "Which."},
    {"name": "k", "kind": "whole", "choices": [], "default": 3, "needed": False, "about": "How many."},
    {"name": "noise", "kind": "number", "choices": [], "default": 10.0, "needed": False, "about": "How much."},
    {"name": "how", "kind": "choice", "choices": ["up", "down"], "default": "up", "needed": False, "about": ""},
    {"name": "keep", "kind": "flag", "choices": [], "default": False, "needed": False, "about": ""},
    {"name": "limits", "kind": "value", "choices": [], "default": None, "needed": False, "about": ""},
]
ASKED = {"method": "add_noise", "about": "Adds.", "entries": ENTRIES}


def read(**given: Any) -> Any:
    return lambda name: given.get(name.removeprefix("arg_"))


def test_every_method_has_a_name_for_people() -> None:
    titles = [kind.title for kind in METHODS.values()]
    assert all(titles)
    assert len(set(titles)) == len(METHODS)


def test_fields_are_read_as_what_they_are() -> None:
    found = arguments_of(
        say, ASKED,
        read(columns=("a", "b"), k="4", noise=" 2.5 ", how="down", keep="false", limits="[-inf, 1, inf]"),
    )  # fmt: skip
    assert found == {
        "columns": ["a", "b"], "k": 4, "noise": 2.5, "how": "down", "keep": False, "limits": [None, 1, None],
    }  # fmt: skip
    assert arguments_of(say, ASKED, read(columns=["a"], k="", how="")) == {"columns": ["a"]}
    assert arguments_of(say, ASKED, read(columns=["a"], limits="individual_risk"))["limits"] == "individual_risk"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "columns is needed"),
        ({"columns": ["a"], "k": "2.5"}, "k takes a whole number"),
        ({"columns": ["a"], "noise": "much"}, "noise takes a number"),
        ({"columns": ["a"], "limits": "[1, "}, "limits: write a number"),
    ],
)
def test_what_is_wrong_is_told_with_the_field(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        arguments_of(say, ASKED, read(**given))


def test_what_few_need_is_folded_away() -> None:
    html = str(form(say, ASKED, {"noise": 5.0}, columns=["a", "b"], intruders=[]))
    before, _, folded = html.partition("<details")
    assert 'value="5.0"' in before
    assert "limits" in folded
    assert "limits" not in before


def test_values_are_written_as_recipes_are() -> None:
    assert as_text({"a b": ["x"], "n": 1}) == '{"a b" = ["x"], n = 1}'
    assert as_text([1.5, True, "x"]) == '[1.5, true, "x"]'
    assert as_text(math.pi).startswith("3.14")


# The list of steps: its switches, its buttons with names, and the figures after each step.


WORK = Work(
    path="a.csv", scenario={"intruders": {"a": ["age"], "b": ["sex"]}},
    steps=(Step("recode", {"column": "age"}), Step("pram", {"columns": ["job"]}, on=False), Step("random_order")),
)  # fmt: skip


DERIVED = {
    "method": "recompute",
    "entries": [
        {"name": "derived", "kind": "value", "choices": [], "default": None, "needed": True, "about": "Formulas."}
    ],
}  # fmt: skip


def test_computed_columns_are_lines_with_their_formulas() -> None:
    arguments = {"derived": {"total pay": "wage + benefits", "annual": "12 * `total pay`"}}
    html = str(form(say, DERIVED, arguments, columns=[], intruders=[]))
    assert "total pay = wage + benefits\nannual = 12 * `total pay`</textarea>" in html
    typed = "\n total pay = wage + benefits \n\nannual=12 * `total pay`\n"
    assert arguments_of(say, DERIVED, {"arg_derived": typed}.get) == arguments


@pytest.mark.parametrize("typed", ["wage + benefits", "total =", "total = wage +", "a = b\na = c", "a = a + 1"])
def test_what_is_no_formula_is_refused(typed: str) -> None:
    with pytest.raises(ScenarioError):
        arguments_of(say, DERIVED, {"arg_derived": typed}.get)


def figures(**more: object) -> dict[str, object]:
    one = {"intruder": "a", "below_k": "25", "sample_uniques": "<5", "share_changed": "3 %"}
    return {"name": name_of(WORK), "k": 3, "figures": [{"step": 1, **one}, {"step": 2, **one}], **more}


def test_a_page_is_ready_once_somebody_could_know_something() -> None:
    assert is_ready(WORK)
    assert not is_ready(Work(path="a.csv", scenario={"sensitive": ["ill"]}))


def test_figures_stand_with_the_step_that_was_carried_out() -> None:
    shown = [str(step_shown(say, WORK, at, figures())) for at in range(3)]
    assert "records in groups of fewer than 3: 25; alone: &lt;5; values that differ: 3 %" in shown[0]
    assert "values that differ" not in shown[1]
    assert "values that differ" in shown[2]
    stale = str(step_shown(say, WORK, 0, figures(name="another")))
    assert "values that differ" not in stale


def test_every_button_has_a_name_and_the_ends_cannot_move_on() -> None:
    first, last = str(step_shown(say, WORK, 0, {})), str(step_shown(say, WORK, 2, {}))
    assert 'aria-label="Move step 1 up"' in first
    assert 'data-act="up" data-at="0" disabled' in first
    assert 'data-act="down" data-at="2" disabled' in last
    assert "disabled" in str(button("Undo", "undo", disabled=True))


def test_what_was_found_is_told() -> None:
    told_of = {"exceeded": ["l"], "unjudged": [], "html": "<p>why</p>", "loss": "5 to 10 %"}
    told = str(found_shown(say, told_of))
    assert "Limits that do not hold yet: ℓ-diversity, ℓ. Of what the keys tell, 5 to 10 % is lost." in told
    german = str(found_shown(speaker("de"), {**told_of, "exceeded": ["k", "recoverable"]}))
    assert "Von der Aussage der Schlüsselmerkmale gehen 5 bis 10" in german
    assert "k-Anonymität, k, größter Anteil rekonstruierter" in german
    holds = str(
        found_shown(say, {"exceeded": [], "unjudged": [], "html": "", "caution": "Most records match by gaps."})
    )
    assert "Every limit holds" in holds
    assert '<p class="warn">Most records match by gaps.</p>' in holds
    assert '<p class="good">Every limit holds' in holds
    passed: dict[str, Any] = {"exceeded": [], "unjudged": [], "html": ""}
    of_before = str(found_shown(say, passed, changed=True))
    assert "have changed since; this was said of those before: Every limit holds" in of_before
    assert 'class="good"' not in of_before
    opened = {"exceeded": [], "unjudged": ["household_risk", "roles"], "html": ""}
    told = str(found_shown(say, opened))
    assert '<p class="warn">Not judged yet: largest household risk, roles of the columns.</p>' in told
    assert "holds" not in told
    german = str(found_shown(speaker("de"), {**opened, "exceeded": ["k"]}))
    assert "Noch nicht eingehaltene Grenzen: k-Anonymität, k. Noch nicht beurteilt: größtes Haushalts" in german
    assert "<p>At most some.</p>" in str(
        found_shown(say, {"exceeded": [], "unjudged": [], "html": "", "kept": "At most some."})
    )
    derived = [
        "risk after reconstruction",
        *(name for name, kind in LIMITS.items() if kind.of),
    ]  # no field asks for them
    told = str(found_shown(say, {**told_of, "exceeded": derived}))
    assert "do not hold yet: risk after reconstruction, k after reconstruction, " in told
    assert "_" not in told.partition("It loses")[0]


def test_a_recipe_can_be_taken_once_all_of_it_is_judged() -> None:
    so_far = {"words": "keeps sex as it is", "loss": "10 to 20 %", "state": "These hold: k."}
    judged = str(passing_shown(say, so_far))
    assert "These hold: k." in judged
    assert "good" not in judged
    assert "Take this one" not in judged
    for passed in (True, False):
        shown = str(passing_shown(say, {**so_far, "passed": passed, "steps": []}))
        assert ("good" in shown) is passed
        assert "Take this one" in shown
    of_before = str(passing_shown(say, {**so_far, "passed": True, "steps": []}, changed=True))
    assert "this was said of those before: These hold: k." in of_before
    assert "good" not in of_before
