"""What is told of the risk: protected, kept, and of no record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from redteam.marked import make_files, traces_in, write
from sdckit.data.losses import INFORMATION
from sdckit.errors import DataError, ScenarioError
from sdckit.workflow.proposing import find_best
from sdckit.workflow.sessions import opening, risk as module, roles
from sdckit.workflow.sessions.answering import Desk, answer as answered
from sdckit.workflow.sessions.risk import (
    FOR_THIS_SCREEN,
    TICKED,
    explained,
    further,
    further_questions,
    helps,
    levels,
    moved,
    risk,
    riskiest,
    subgroup_columns,
    subgroups,
)
from session_files import MARKER, SCENARIO, a_desk

TWO: dict[str, Any] = {
    **SCENARIO, "intruders": {"neighbour": ["age", "job", "sex"], "colleague": ["job", "sex"]},
}  # fmt: skip


FURTHER = tuple(further_questions())


def quiet(_: str) -> None:
    """Nobody listens."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return a_desk(tmp_path_factory.mktemp("desk"))


def test_verdict_and_first_figures(desk: Desk) -> None:
    told: list[str] = []
    desk.memo.clear()  # the tests of this file run in any order
    found = risk(desk, told.append, scenario=SCENARIO)
    assert 'class="headline fail"' in found["verdict"]
    assert ">The file as it is:<" in found["verdict"]
    assert found["passed"] is False
    assert "Risk of re-identification" in found["html"]
    assert "Which keys contribute most" not in found["html"]  # asked for apart
    assert told[0] == "tabulating the keys of neighbour"
    assert told[-1] == "protecting the figures"


def test_what_was_measured_is_kept(desk: Desk) -> None:
    desk.memo.clear()
    risk(desk, quiet, scenario=SCENARIO)
    told: list[str] = []
    again = risk(desk, told.append, scenario=SCENARIO, language="de")
    assert told == ["protecting the figures"]
    assert "Als Tabelle" in again["html"]
    risk(desk, told.append, scenario=TWO)
    assert "tabulating the keys of colleague" in told
    assert "tabulating the keys of neighbour" not in told


def test_confirming_a_guess_measures_nothing_anew(desk: Desk) -> None:
    desk.memo.clear()
    guessed = risk(desk, quiet, scenario={**SCENARIO, "unconfirmed": ["job"]})
    told: list[str] = []
    sure = risk(desk, told.append, scenario=SCENARIO)
    assert told == ["protecting the figures"]
    assert ["is not confirmed" in page["html"] for page in (guessed, sure)] == [True, False]
    desk.memo.clear()
    assert sure == risk(desk, quiet, scenario=SCENARIO)


class Hearing(list[str]):
    """Is told how far a task is, and what it has so far."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []

    def __call__(self, text: str) -> None:
        self.append(text)

    def partial(self, so_far: dict[str, Any]) -> None:
        self.parts.append(so_far)


@pytest.mark.parametrize(
    ("language", "still", "state"), [("en", "still being", "not judged yet"), ("de", "wird noch", "noch nicht")]
)
def test_of_a_large_file_the_figures_come_before_what_it_gives_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, still: str, state: str
) -> None:
    """They say what is not judged, never that it holds; the whole answer is as if nothing had come before."""
    path = tmp_path / "gaps.csv"
    make_gaps().write_csv(path)
    asked: dict[str, Any] = {"scenario": {**TWO, "thresholds": {"k": 2, "recoverable": 0.5}}, "language": language}
    answers, heard = [], [Hearing(), Hearing()]
    for hearing, large in zip(heard, (10**9, 0), strict=True):
        monkeypatch.setattr(module, "LARGE", large)
        desk = Desk(tmp_path)
        desk.open(str(path), {})
        answers.append(risk(desk, hearing, **asked))
    assert answers[0] == answers[1]
    assert answers[0]["passed"] is not None  # all was judged in the end
    assert heard[0].parts == []
    (part,) = heard[1].parts
    assert still in part["still"]
    assert 'class="headline open"' in part["verdict"]
    assert state in part["verdict"]
    assert state not in answers[0]["verdict"]
    assert "colleague" in part["html"]
    assert len(part["html"]) > 2000
    risk(desk, again := Hearing(), **asked)
    assert again.parts == []  # all of it is kept


def test_a_proposal_pressed_while_the_risk_is_measured_goes_on_with_what_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was begun after all figures were there, so that whoever was quicker had it judged anew."""
    path = tmp_path / "gaps.csv"
    make_gaps().write_csv(path)
    desk, heard, pressed = Desk(tmp_path), list[dict[str, Any]](), list[dict[str, Any]]()
    desk.open(str(path), {})
    scenario = {**SCENARIO, "thresholds": {"k": 2, "recoverable": 0.5}}
    figures, propose = (
        {"task": task, "file": {}, "arguments": {"scenario": scenario}} for task in ("risk.risk", "protecting.propose")
    )
    propose["arguments"] |= {"keep": [], "loss": INFORMATION}
    monkeypatch.setattr(module, "LARGE", 1)
    judged = find_best.judge_cells
    monkeypatch.setattr(find_best, "judge_cells", lambda *given: pressed.append(propose) or judged(*given))
    answered(desk, figures, heard.append, lambda: next(iter(pressed), None))
    assert any("html" in message.get("partial", {}) for message in heard)
    assert heard[-1] == {"aside": True}
    assert pressed
    judged_ahead = len(pressed)
    heard.clear()
    answered(desk, propose, heard.append)
    assert "steps" in heard[-1]["result"]
    assert len(pressed) == judged_ahead  # none of them anew


def make_gaps() -> pl.DataFrame:
    """Records with missing values, so that something may be given back."""
    rng = np.random.default_rng(3)
    jobs, gaps = rng.choice(["cook", "smith", "clerk"], 300), rng.random(300) < 0.1
    return pl.DataFrame({
        "name": [f"person {at}" for at in range(300)], "age": rng.choice([20, 30, 40], 300),
        "job": [None if gap else job for job, gap in zip(jobs, gaps, strict=True)],
        "sex": rng.choice(["f", "m"], 300), "ill": rng.choice(["no", "yes"], 300),
    })  # fmt: skip


def test_several_intruders_stand_side_by_side(desk: Desk) -> None:
    html = risk(desk, quiet, scenario=TWO)["html"]
    assert "Intruders side by side" in html
    assert html.index("Intruder “neighbour”") < html.index("Intruder “colleague”")


def test_what_would_help_most(desk: Desk) -> None:
    html = helps(desk, quiet, scenario=SCENARIO)["html"]
    assert "<ol>" in html
    assert "One key left out" in html


def test_levels_are_drawn_and_rare_ones_pooled(desk: Desk) -> None:
    html = levels(desk, quiet, scenario=TWO)["html"]
    assert html.count("Levels of job") == html.count("Levels of sex") > 0
    assert "cook" in html


def test_risk_moves_with_the_keys(desk: Desk) -> None:
    html = moved(desk, quiet, scenario=SCENARIO, intruder="neighbour", keys=["job", "sex"])["html"]
    assert TICKED in html
    assert "Records alone with their combination" in html
    german = moved(desk, quiet, scenario=SCENARIO, intruder="neighbour", keys=["job"], language="de")["html"]
    assert TICKED not in german
    assert "Merkmalen" in german
    with pytest.raises(ScenarioError, match="tick one"):
        moved(desk, quiet, scenario=SCENARIO, intruder="neighbour", keys=[])
    with pytest.raises(ScenarioError, match="there is no intruder"):
        moved(desk, quiet, scenario=SCENARIO, intruder="nobody", keys=["job"])


@pytest.mark.parametrize("measure", FURTHER)
def test_further_measures_run_or_say_why_not(desk: Desk, measure: str) -> None:
    html = further(desk, quiet, scenario=TWO, measure=measure, intruder="colleague")["html"]
    assert ("Not measured" in html) == (measure == "outliers")
    assert len(html) > 100


def test_an_unknown_measure_is_refused(desk: Desk) -> None:
    with pytest.raises(ScenarioError, match="is not one of"):
        further(desk, quiet, scenario=TWO, measure="magic")


def test_subgroups_are_shares_unless_exact(desk: Desk) -> None:
    html = subgroups(desk, quiet, scenario=SCENARIO, by=["sex"])["html"]
    assert "Subgroups by sex" in html
    assert "exact" in html
    exact = subgroups(desk, quiet, scenario=SCENARIO, by=["sex"], exact=True)["html"]
    assert "the riskiest first" in exact
    with pytest.raises(ScenarioError, match="choose a variable"):
        subgroups(desk, quiet, scenario=SCENARIO, by=[])


def test_subgroups_are_of_no_identifier_and_of_few_values(desk: Desk) -> None:
    assert subgroup_columns(desk, SCENARIO) == ["job", "sex", "ill"]
    assert risk(desk, quiet, scenario=SCENARIO)["subgroups"] == ["job", "sex", "ill"]
    assert subgroup_columns(desk, {**SCENARIO, "household": "job", "weight": "ill"}) == ["sex"]
    for name in ("name", "age"):
        with pytest.raises(ScenarioError, match=f"{name} is no variable for subgroups"):
            subgroups(desk, quiet, scenario=SCENARIO, by=[name])


def test_subgroups_have_fifty_values_at_most(tmp_path: Path) -> None:
    lines = ["few,many", *(f"f{at % 50},m{at % 51}" for at in range(120))]
    (tmp_path / "levels.csv").write_text("\n".join(lines), encoding="utf-8")
    desk = Desk(tmp_path)
    desk.open(str(tmp_path / "levels.csv"), {})
    assert subgroup_columns(desk, {}) == ["few"]


def test_single_combinations_are_for_exact_figures_only(desk: Desk) -> None:
    for task in (riskiest, explained):
        with pytest.raises(DataError, match="exact figures"):
            task(desk, quiet, scenario=SCENARIO)
    found = riskiest(desk, quiet, scenario=SCENARIO, number=4, exact=True)
    assert found["html"].count("<tr>") == 5
    assert FOR_THIS_SCREEN in found["html"]
    assert found["html"].index(MARKER) < found["html"].index(">2<")  # the rarest value is the first of those alone
    assert "person" not in found["html"]  # no identifier
    german = riskiest(desk, quiet, scenario=SCENARIO, exact=True, language="de")["html"]
    assert ">age<" in german
    assert found["html"] == riskiest(desk, quiet, scenario=SCENARIO, number=4, exact=True)["html"]
    for number in (0, 101, None):
        with pytest.raises(DataError, match="from 1 to 100") as refused:
            riskiest(desk, quiet, scenario=SCENARIO, number=number, exact=True)  # type: ignore[arg-type]
        assert refused.value.argument == "number"


def test_what_makes_a_combination_risky(desk: Desk) -> None:
    every: dict[str, Any] = {"scenario": TWO, "intruder": "colleague", "exact": True}
    html = explained(desk, quiet, which=1, **every)["html"]
    assert "What makes combination 1 risky" in html
    assert "Alone among 240 records." in html
    assert MARKER in html
    assert "age" not in html.replace("page", "")  # the colleague does not know it
    shared = explained(desk, quiet, which=4, **every)["html"]
    assert "records share these values" in shared
    with pytest.raises(DataError, match="from 1 to 7"):
        explained(desk, quiet, which=8, **every)


def test_no_answer_names_a_value_of_the_marked_record(tmp_path: Path) -> None:
    write({"survey": make_files()["survey"]}, tmp_path)
    desk = Desk(tmp_path)
    told: list[str] = []
    scenario = {
        "intruders": {"one": ["region", "sex", "band", "job"]}, "sensitive": ["ill"], "weight": "w", "household": "hh",
        "identifiers": ["id"], "numeric": ["income", "hours"], "release": "public-use",
    }  # fmt: skip
    path = str(tmp_path / "survey.csv")
    for language in ("en", "de"):
        answers = [opening.open_file(desk, told.append, path=path, reading={}, language=language)]
        answers.append(roles.guess(desk, told.append, language=language))
        every: dict[str, Any] = {"scenario": scenario, "language": language}
        answers += [task(desk, told.append, **every) for task in (roles.check, risk, helps, levels)]
        answers.append(moved(desk, told.append, intruder="one", keys=["sex", "job"], **every))
        answers += [further(desk, told.append, measure=measure, **every) for measure in FURTHER]
        answers.append(subgroups(desk, told.append, by=["education"], **every))
        for answer in answers:
            assert not traces_in(text := json.dumps(answer)), (traces_in(text), text[:200])
    assert not traces_in("\n".join(told))


def test_single_combinations_are_of_what_was_measured_for_the_first_figures(desk: Desk) -> None:
    told: list[str] = []
    desk.memo.clear()
    risk(desk, quiet, scenario=SCENARIO)
    every: dict[str, Any] = {"scenario": SCENARIO, "exact": True}
    first = explained(desk, quiet, which=1, **every)
    kept = set(desk.memo)
    assert explained(desk, told.append, which=1, **every) == first
    riskiest(desk, told.append, **every)
    assert set(desk.memo) == kept
    assert not any("tabulating" in text for text in told)
