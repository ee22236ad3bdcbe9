"""Forms, pictures, runs and proposals: plain values, protected, without a value of the marked record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdckit.data.losses import COARSENING, LOSSES
from sdckit.data.methods import METHODS
from sdckit.errors import SdcError
from sdckit.workflow.proposing.proposal import Candidate
from sdckit.workflow.sessions import protecting, risk
from sdckit.workflow.sessions.answering import answer, work_ahead
from session_files import BANDS, MARKER, SCENARIO, SECRET, STEPS, a_desk

HOW: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET}


def tell(_: str) -> None:
    """Nobody listens."""


def told(result: dict[str, Any]) -> str:
    """What reaches the browser, which never names the marked record."""
    text = json.dumps(result)
    assert MARKER not in text
    return text


def test_every_method_has_its_form(tmp_path: Path) -> None:
    found = protecting.methods(a_desk(tmp_path), tell)["methods"]
    assert [one["method"] for one in found] == list(METHODS)
    recode = found[0]
    assert recode["entries"][0]["name"] == "column"
    assert recode["entries"][0]["kind"] == "column"
    assert "seed" not in [entry["name"] for one in found for entry in one["entries"]]


def test_risk_and_loss_after_every_step(tmp_path: Path) -> None:
    found = protecting.run(a_desk(tmp_path), tell, steps=STEPS, **HOW)
    told(found)
    after = found["figures"]
    assert [one["step"] for one in after] == [0, 1, 2, 3]
    assert after[0]["share_changed"].startswith("0")
    assert after[-1]["below_k"] == "0"
    assert "What was done" in found["html"]


def test_exact_figures_are_marked(tmp_path: Path) -> None:
    found = protecting.run(a_desk(tmp_path), tell, steps=STEPS, exact=True, **HOW)
    assert "confidential" in found["html"].lower()


def test_a_picture_before_and_after(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    for number, variable in ((0, "age"), (1, "job")):
        found = protecting.preview(desk, tell, steps=STEPS, number=number, **HOW)
        told(found)
        assert found["column"] == variable
        assert found["html"].count("<svg") == 2
    assert protecting.preview(desk, tell, steps=STEPS, number=2, column="sex", **HOW)["column"] == "sex"
    order = [{"method": "random_order", "arguments": {}}]
    assert protecting.preview(desk, tell, steps=order, number=0, **HOW)["variables"] == []


def test_an_editor_gets_bins_and_levels(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    bins = protecting.variable(desk, tell, steps=[], number=0, column="age", **HOW)
    assert bins["numeric"]
    assert len(bins["rows"]) == len(bins["edges"]) + 1
    assert bins["suggested"] == sorted(bins["suggested"])
    levels = protecting.variable(desk, tell, steps=[BANDS], number=1, column="job", levels=True, **HOW)
    told(levels)
    assert [one["level"] for one in levels["rows"]] == ["clerk", "cook", "smith", "other"]
    assert levels["rows"][-1]["pooled"]
    for row in levels["rows"]:
        hidden = row["text"].startswith("<")
        assert row["size"] == (int(row["text"].lstrip("<")) / 2 if hidden else int(row["text"])), row
    assert any(row["text"].startswith("<") for row in levels["rows"])
    exact = protecting.variable(desk, tell, steps=[], number=0, column="job", levels=True, exact=True, **HOW)
    assert MARKER in [one["level"] for one in exact["rows"]]


def test_recipes_to_start_from(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    start = protecting.starter(desk, tell, scenario=SCENARIO)
    told(start)
    assert {one["method"] for one in start["steps"]} >= {"recode", "local_suppression"}
    found = protecting.propose(desk, tell, scenario=SCENARIO)
    told(found)
    assert found["passed"]
    assert found["steps"][-1]["method"] == "random_order"
    points = found["map"]["points"]
    assert points[0]["steps"] == found["steps"]
    assert points[0]["front"]
    assert all(point["steps"] and point["passed"] is not None for point in points)
    assert all(point["ends"][0] < point["ends"][1] for point in points)  # a loss is a range: an exact one would count
    made = protecting.run(desk, tell, steps=found["steps"], **HOW)
    assert made["figures"][-1]["below_k"] == "0"


def test_what_the_advice_could_not_judge_is_said(tmp_path: Path) -> None:
    """A public-use file asks about households, of which this scenario says nothing."""
    start = protecting.starter(a_desk(tmp_path), tell, scenario={**SCENARIO, "release": "public-use"})
    assert "household_risk" in start["unjudged"]
    assert not set(start["unjudged"]) & set(start["exceeded"])


def test_a_proposal_that_rests_on_missing_values_says_so_in_the_language(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    lenient = {**SCENARIO, "thresholds": {**SCENARIO["thresholds"], "match_risk": 1.0}}
    found = protecting.propose(desk, tell, scenario=lenient)
    assert found["caution"].startswith("Most records (80 to 85 %) reach k only through missing values of others")
    assert found["caution"].endswith("make keys coarser in the steps, so that less has to be taken out.")
    german = protecting.propose(desk, tell, scenario=lenient, language="de")
    assert german["caution"].startswith("Die meisten Datensätze (80 bis 85")
    assert german["caution"].endswith("sodass weniger herausgenommen werden muss.")


def test_a_proposal_says_in_the_language_what_it_keeps_of_what_k_promises(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    found = protecting.propose(desk, tell, scenario=SCENARIO)
    assert found["kept"] == "At most one in 3 records is expected to be matched back, as k = 3 promises."
    assert found["caution"] == ""
    german = protecting.propose(desk, tell, scenario=SCENARIO, language="de")
    assert german["kept"] == (
        "Höchstens einer von 3 Datensätzen ist als zugeordnet zu erwarten, wie k = 3 es verspricht."
    )
    unmet = protecting.propose(desk, tell, scenario=SCENARIO, keep=SCENARIO["intruders"]["neighbour"], language="de")
    assert unmet["caution"].startswith("Mehr als einer von 3 Datensätzen ist als zugeordnet zu erwarten")
    assert unmet["kept"] == ""


@pytest.mark.parametrize("loss", [*COARSENING, "pmse"])
def test_a_proposal_by_another_loss_says_which(tmp_path: Path, loss: str) -> None:
    found = protecting.propose(a_desk(tmp_path), tell, scenario=SCENARIO, loss=loss)
    told(found)
    assert found["passed"]
    assert f"which is here: {LOSSES[loss]}." in " ".join(found["text"].replace("# ", "").split())
    assert "the one that loses least of what the keys tell" not in found["text"]


def test_a_regression_that_is_to_be_kept_is_written(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    with pytest.raises(SdcError, match="Write the regression"):
        protecting.propose(desk, tell, scenario=SCENARIO, loss="model")
    found = protecting.propose(desk, tell, scenario=SCENARIO, loss="model", formula="age ~ sex", seconds=20)
    assert found["passed"]
    assert "intervals of a regression" in " ".join(found["text"].replace("# ", "").split())


def test_a_recipe_that_passes_is_sent_before_the_search_ends(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []
    request = {"task": "protecting.propose", "arguments": {"scenario": SCENARIO}, "file": {}}
    answer(a_desk(tmp_path), request, sent.append)
    judged, partial, *_ = (at for at, message in enumerate(sent) if "partial" in message)
    first, result = sent[partial]["partial"], sent[-1]["result"]
    told(first)
    told(sent[judged]["partial"])
    assert "These hold: k-anonymity, k" in sent[judged]["partial"]["state"]
    assert "Not judged yet: " in sent[judged]["partial"]["state"]
    assert not {"passed", "steps"} & sent[judged]["partial"].keys()  # some limits wait: nobody takes it
    assert partial < len(sent) - 1
    assert first["passed"]
    assert first["steps"][-1]["method"] == "random_order"
    assert "%" in first["loss"]
    assert result["passed"]
    assert [message["partial"].get("steps") for message in sent if "partial" in message][-1] == result["steps"]


@pytest.mark.parametrize("held", [(), ("k",)])
@pytest.mark.parametrize("waiting", [(), ("risk",)])
def test_of_a_recipe_that_is_judged_no_list_of_limits_is_empty(
    tmp_path: Path, held: tuple[str, ...], waiting: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Told(list[Any]):
        """A line that keeps what the task has so far."""

        __call__, partial = staticmethod(tell), list.append

    def judged(*_: Any, judging: Callable[[Candidate], None], **__: Any) -> None:
        judging(Candidate({"age": "as it is"}, 0.0, held, waiting))
        raise SdcError("no more")

    monkeypatch.setattr("sdckit.workflow.proposing.propose.make_proposal", judged)
    line = Told()
    with pytest.raises(SdcError, match="no more"):
        protecting.propose(a_desk(tmp_path), line, scenario=SCENARIO)
    state = line[0].get("state", "")
    assert ("These hold: k-anonymity, k." in state, "Not judged yet: " in state) == (bool(held), bool(waiting))
    assert ": ." not in state


def test_what_does_not_fit_is_refused_before_it_runs(tmp_path: Path) -> None:
    wrong = [{"method": "recode", "arguments": {"column": "aeg", "bands": [0, 99]}}]
    with pytest.raises(SdcError, match="did you mean 'age'"):
        protecting.run(a_desk(tmp_path), tell, steps=wrong, **HOW)


@pytest.mark.parametrize("task", [protecting.starter, protecting.propose])
def test_the_reasons_are_in_the_language_of_the_session(tmp_path: Path, task: Any) -> None:
    """What a recipe says of its steps is translated where it is shown; the recipe itself is the same."""
    desk = a_desk(tmp_path)
    english = task(desk, tell, scenario=SCENARIO)
    german = task(desk, tell, scenario=SCENARIO, language="de")
    assert german["steps"] == english["steps"]
    assert "The order of the records may tell" in english["html"]
    assert "Die Reihenfolge der Datensätze kann verraten" in german["html"]
    comments = " ".join(line for line in german["html"].splitlines() if line.startswith("#"))
    assert not {"the", "of", "and", "with"} & set(comments.split())
    points = (answer.get("map", {}).get("points", ()) for answer in (german, english))
    for one, other in zip(*points, strict=True):
        assert one["words"] != other["words"]
        assert not {"keeps", "gives", "taken"} & set(one["words"].split())


def test_a_step_that_breaks_an_edit_rule_is_named(tmp_path: Path) -> None:
    """Also where the recipe was carried out before."""
    rules = [{"column": "sex", "when": {"job": "cook"}, "value": "f"}]
    desk = a_desk(tmp_path)
    steps = [{"method": "pram", "arguments": {"columns": ["sex"], "pd": 0.5}, "on": True}]
    asked = {"scenario": {**SCENARIO, "rules": rules}, "steps": steps, "secret": SECRET}
    html = {language: protecting.run(desk, tell, **asked, language=language)["html"] for language in ("en", "de")}
    assert "step 1 (pram) breaks an edit rule in records that kept it: where job is cook: sex is f." in html["en"]
    german = "Schritt 1 (pram) verletzt in Datensätzen, die sie einhielten, eine Plausibilitätsregel: wo job ist cook: "
    assert f"{german}sex ist f." in html["de"].replace("\u00ad", "").replace("&shy;", "")


@pytest.mark.parametrize("guessed", [(), ("sex",)])  # which nobody has confirmed yet
def test_a_proposal_begins_while_page_risk_is_read_and_its_first_recipe_is_there_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guessed: tuple[str, ...]
) -> None:
    desk, heard = a_desk(tmp_path), list[dict[str, Any]]()
    risk.risk(desk, tell, scenario=SCENARIO)
    assert desk.ahead is None  # of a small file it is there as soon
    monkeypatch.setattr(risk, "LARGE", 1)
    risk.risk(desk, tell, scenario={**SCENARIO, "unconfirmed": list(guessed)})
    assert desk.ahead is not None
    work_ahead(desk, lambda: None)
    assert desk.ahead is None
    monkeypatch.setattr("sdckit.workflow.proposing.find_best.judge_cells", None)  # nothing is judged anew before
    request = {"task": "protecting.propose", "file": {}, "arguments": {"scenario": SCENARIO, "keep": []}}
    answer(desk, request, heard.append)
    assert "steps" in heard[0]["partial"]
    monkeypatch.undo()
    again = protecting.propose(a_desk(tmp_path), tell, scenario=SCENARIO)
    assert {name: heard[-1]["result"][name] for name in again} == again
