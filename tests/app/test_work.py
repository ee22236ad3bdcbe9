"""What a session decided, and what undo takes back."""

from __future__ import annotations

from dataclasses import replace

from sdckit.app.work import DEEPEST, History, Step, Work

ONE, TWO = Step("round_values", {"base": 5}), Step("microaggregate", {"k": 3}, on=False)


def test_a_step_that_is_off_stands_in_the_list_and_not_in_the_recipe() -> None:
    work = Work(steps=(ONE, TWO))
    assert work.recipe() == [{"method": "round_values", "arguments": {"base": 5}}]
    assert [one["on"] for one in work.saved()["steps"]] == [True, False]


def test_the_digest_follows_file_scenario_and_recipe_alone() -> None:
    work = Work(path="a", reading={"missing": ["9"]}, scenario={"keys": ["sex"]}, steps=(ONE, TWO))
    same = [
        replace(work, language="de"),
        replace(work, exact=True),
        replace(work, facts={}),
        replace(work, control="c"),
    ]
    same += [replace(work, steps=(ONE,)), replace(work, secret="5")]
    assert {one.digest() for one in same} == {work.digest()}
    others = [
        replace(work, path="b"), replace(work, reading={}), replace(work, scenario=None), replace(work, steps=()),
        replace(work, steps=(ONE, replace(TWO, on=True))), replace(work, steps=(replace(ONE, arguments={}),)),
    ]  # fmt: skip
    assert len({one.digest() for one in [*others, work]}) == len(others) + 1


def test_undo_and_redo_walk_through_decisions() -> None:
    history = History()
    states = [Work(steps=(ONE,) * count, scenario={"k": count}, language="de") for count in range(4)]
    for one in states[:-1]:
        history.keep(one)
    now = states[-1]
    back = []
    for _ in range(5):
        now = history.undo(replace(now, exact=True))
        back.append(len(now.steps))
    assert back == [2, 1, 0, 0, 0]
    assert now.exact
    assert now.scenario == {"k": 0}
    forth = []
    for _ in range(4):
        now = history.redo(now)
        forth.append(len(now.steps))
    assert forth == [1, 2, 3, 3]
    now = history.undo(now)
    history.keep(now)
    assert history.redo(now) == now
    history.clear()
    assert history.undo(now) == now


def test_history_is_bounded() -> None:
    history = History()
    for count in range(DEEPEST + 50):
        history.keep(Work(scenario={"k": count}))
    assert len(history.before) == DEEPEST
    assert history.before[0]["scenario"] == {"k": 50}


def test_the_secret_is_not_shown() -> None:
    assert "5ec4e7" not in repr(Work(secret="5ec4e7"))
