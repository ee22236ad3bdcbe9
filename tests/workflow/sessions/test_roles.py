"""Guesses, and the scenario that is said."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sdckit as sdc
from app.browsing import ENGLISH
from every_message import _texts
from sdckit.data.scenarios.guessing import judge
from sdckit.data.scenarios.guessing.topics import VOCABULARY
from sdckit.errors import ColumnError, ScenarioError
from sdckit.report.wording import say
from sdckit.workflow.sessions.answering import Desk
from sdckit.workflow.sessions.risk import further_questions
from sdckit.workflow.sessions.roles import check, guess, load, plain_scenario
from session_files import MARKER, SCENARIO, a_desk
from tree import SRC, parsed


def quiet(_: str) -> None:
    """Nobody listens."""


def test_guesses_have_evidence_and_make_a_scenario(tmp_path: Path) -> None:
    found = guess(a_desk(tmp_path), quiet)
    rows = {one["column"]: one for one in found["rows"]}
    assert rows["sex"]["role"] == "key"
    assert rows["sex"]["evidence"][0].startswith("its name")
    assert rows["name"]["role"] == "identifier"
    assert found["scenario"]["intruders"]["default"] == ["age", "job", "sex"]
    assert found["scenario"]["release"] == "public-use"
    assert MARKER not in str(found)
    assert sdc.Scenario(**found["scenario"]).unconfirmed


def test_counts_in_the_evidence_are_protected(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    hidden, exact = (
        {one["column"]: "; ".join(one["evidence"]) for one in guess(desk, quiet, exact=exact)["rows"]}
        for exact in (False, True)
    )
    assert "2 values" in exact["sex"]
    assert "<5 values" in hidden["sex"]


def test_a_small_file_gives_no_evidence_unless_exact(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("sex,age\n" + "f,30\nm,31\n" * 10, encoding="utf-8")
    desk = Desk(tmp_path)
    desk.open(str(path), {})
    assert all(one["evidence"] == [] for one in guess(desk, quiet)["rows"])
    assert all(one["evidence"] for one in guess(desk, quiet, exact=True)["rows"])


def test_a_scenario_comes_back_as_it_is_read(tmp_path: Path) -> None:
    found = check(a_desk(tmp_path), quiet, scenario=SCENARIO)
    again = sdc.Scenario(**found["scenario"])
    assert again == sdc.Scenario(**SCENARIO)
    assert "[intruders.neighbour]" in found["toml"]
    assert found["limits"] == "k 3"
    assert plain_scenario(again) == found["scenario"]


def test_a_type_of_release_says_its_limits(tmp_path: Path) -> None:
    told = check(a_desk(tmp_path), quiet, scenario={**SCENARIO, "release": "teaching"}, language="de")
    assert told["limits"].startswith("Art der Veröffentlichung")


def test_a_file_of_a_scenario_is_held_against_the_columns(tmp_path: Path) -> None:
    desk = a_desk(tmp_path)
    path = tmp_path / "s.toml"
    path.write_text('keys = ["age"]\nmissing_codes = ["-9"]\n', encoding="utf-8")
    assert load(desk, quiet, path=str(path))["scenario"]["missing_codes"] == ["-9"]
    path.write_text('keys = ["agee"]\n', encoding="utf-8")
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        load(desk, quiet, path=str(path))
    path.write_text("keys = 3", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"s\.toml"):
        load(desk, quiet, path=str(path))


def test_a_loaded_scenario_says_which_codes_the_file_was_read_with(tmp_path: Path) -> None:
    """Else the command line would read the file in another way by it, and say other figures."""
    desk = a_desk(tmp_path)
    path = tmp_path / "scenario.toml"
    path.write_text(sdc.Scenario(**SCENARIO).to_toml(), encoding="utf-8")
    assert "missing_codes" not in load(desk, quiet, path=str(path))["toml"]
    desk.open(str(desk.path), {"missing": ["clerk"]})
    loaded = load(desk, quiet, path=str(path))
    assert sdc.Scenario(**loaded["scenario"]).missing_codes == ("clerk",)
    assert 'missing_codes = ["clerk"]' in loaded["toml"]


PLACES = "12", "12 values"  # what may stand where something is filled in


def _sentences() -> Iterator[tuple[str, ...]]:
    """What the guesses say of a column and ask, filled in both ways; no part of a sentence, and no error."""
    for path in sorted((SRC / "data" / "scenarios" / "guessing").glob("*.py")):
        tree = parsed(path)
        whole = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Raise | ast.BinOp | ast.Expr)]
        parts = {id(part) for node in whole for part in ast.walk(node) if part is not node}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in parts:
                filled = zip(*(_texts(node, place) for place in PLACES), strict=True)
                yield from (texts for texts in filled if re.search(r"[a-z]{2,} [a-z]{2,} [^\\]*\b$", texts[0]))


def test_what_is_said_and_asked_of_columns_is_in_german() -> None:
    sentences = {*_sentences()}
    assert len(sentences) > 40

    def is_german(text: str) -> bool:
        return not {*re.findall(r"\w+", say(text, "de"))} & {*ENGLISH}

    lacking = {texts[0] for texts in sentences if not any(map(is_german, texts))}
    # Two parts of a text, and one of which a part stands in the rows of methods.
    assert lacking == {
        "too fine (12): 12 before it is used as a key", "recode to fewer groups", "it names the person: 12; 12"
    }  # fmt: skip
    assert is_german(judge._NAMES_PERSON)


def test_the_names_of_known_surveys_are_said_in_german() -> None:
    surveys = [f"its name in {survey} speaks of money" for survey in VOCABULARY["surveys"]]
    within = [f"in {survey} a number within something" for survey in VOCABULARY["surveys"]]
    assert len(surveys) >= 5
    for text in (*surveys, *within):
        assert not {*re.findall(r"\w+", say(text, "de"))} & {"its", "in the", "of", "something", "number"}


def test_every_further_question_is_asked_in_german() -> None:
    for question in further_questions().values():
        assert not {*re.findall(r"\w+", say(question, "de"))} & {*ENGLISH}
