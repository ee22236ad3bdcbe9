"""The page Roles: what its fields say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from shiny import reactive
from shiny.types import SilentException

from sdckit.app.pages.roles import _Form, _number, panel
from sdckit.app.words import speaker
from sdckit.app.work import Work
from sdckit.data.scenarios.scenario_form import LIMITS
from sdckit.errors import ScenarioError

GUESSED = {
    "rows": [{"column": "sex"}, {"column": "age"}, {"column": "ill"}],
    "scenario": {
        "intruders": {"default": ["sex"]}, "sensitive": ["ill"], "release": "public-use", "unconfirmed": ["ill"],
    },
}  # fmt: skip


class Fields(dict[str, Any]):
    """Inputs as a session has them: what is not there yet is silent."""

    def __getitem__(self, name: str) -> Any:
        return lambda: self.get_or_wait(name)

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def get_or_wait(self, name: str) -> Any:
        if name not in self:
            raise SilentException
        return self.get(name)


def form(**fields: Any) -> _Form:
    """The form after the guesses came, with what is typed in it."""
    given = {
        "role_0": "key", "role_1": "key numeric", "role_2": "sensitive", "release": "teaching", "fraction": "0,05",
        "missing": "wildcard", "confirmed": False,
        **{f"limit_{one}": "" for one in LIMITS},
        **fields,
    }  # fmt: skip
    room: Any = SimpleNamespace(work=reactive.Value(Work()), say=speaker("en"))
    made = _Form(Fields(given), room)  # type: ignore[arg-type]
    made.guessed.set(GUESSED)
    made.named.set({"default": ["sex"]})
    return made


def test_the_fields_make_a_scenario() -> None:
    with reactive.isolate():
        stated = form(name_0="neighbour", knows_0=["sex", "age"], limit_k="3").stated()
    assert stated == {
        "intruders": {"neighbour": ["sex", "age"]}, "sensitive": ["ill"], "numeric": ["age"], "release": "teaching",
        "sampling_fraction": 0.05, "missing": "wildcard", "thresholds": {"k": 3}, "unconfirmed": ["ill"],
    }  # fmt: skip


def test_an_answered_question_is_asked_no_more() -> None:
    with reactive.isolate():
        assert "unconfirmed" not in form(confirmed=True).stated()


def test_an_intruder_whose_fields_are_not_there_yet_stays() -> None:
    with reactive.isolate():
        assert form().typed() == {"default": ["sex"]}
        assert form(name_0="  ").typed() == {"default": ["sex"]}


@pytest.mark.parametrize(("text", "whole"), [("many", False), ("2.5", True)])
def test_what_is_no_number_is_told_by_its_field(text: str, whole: bool) -> None:
    with pytest.raises(ScenarioError, match="k-anonymity: this is not a"):
        _number("k-anonymity", text, whole=whole)


def test_the_panel_is_in_the_session_s_language() -> None:
    assert "Das Szenario als Datei" in str(panel("roles", speaker("de")))
