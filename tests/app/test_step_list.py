"""The list of steps: its switches, its buttons with names, and the figures after each step."""

from __future__ import annotations

from sdckit.app.step_list import button, found_shown, is_ready, name_of, step_shown
from sdckit.app.words import speaker
from sdckit.app.work import Step, Work

say = speaker("en")
WORK = Work(
    path="a.csv", scenario={"intruders": {"a": ["age"], "b": ["sex"]}},
    steps=(Step("recode", {"column": "age"}), Step("pram", {"columns": ["job"]}, on=False), Step("random_order")),
)  # fmt: skip


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


def test_what_was_found_is_told_with_the_recipes_beside_it() -> None:
    other = {"words": "keeps age", "loss": "5 to 10 %", "passed": False}
    told = str(found_shown(say, {"exceeded": ["l"], "html": "<p>why</p>", "alternatives": [other]}))
    assert "Limits that do not hold yet: ℓ-diversity, ℓ." in told
    assert "keeps age (loses 5 to 10 %); not every limit holds" in told
    german = str(
        found_shown(speaker("de"), {"exceeded": ["k", "recoverable"], "html": "", "alternatives": [other]})
    )
    assert "k-Anonymität, k, größter Anteil preisgegebener" in german
    assert "verliert 5 bis 10" in german
    assert "Every limit holds" in str(found_shown(say, {"exceeded": [], "html": "", "alternatives": []}))
