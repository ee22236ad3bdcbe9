"""The page Roles: what its fields say."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from shiny import reactive
from shiny.types import SilentException

from sdckit.app.page_context import speaker
from sdckit.app.pages.roles import (
    PARTS,
    _Form,
    drawn_part,
    files_part,
    intruder_part,
    limits_part,
    panel,
    rest_part,
    variables_part,
)
from sdckit.data.limits import LIMITS
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


def form(scenario: dict[str, Any] | None = None, **fields: Any) -> _Form:
    """The form after the guesses came, with what is typed in it."""
    given = {
        "role_0": "key", "role_1": "key numeric", "role_2": "sensitive", "release": "teaching", "fraction": "0,05",
        "population": "",
        "missing": "wildcard", "confirmed": False,
        **{f"limit_{one}": "" for one in LIMITS if LIMITS[one].form},
        **fields,
    }  # fmt: skip
    facts = reactive.Value({"records": 1003})
    room: Any = SimpleNamespace(facts=facts, scenario=reactive.Value(scenario), say=speaker("en"))
    made = _Form(Fields(given), room)  # type: ignore[arg-type]
    made.guessed.set(GUESSED)
    made.name({"default": ["sex"]})
    return made


def drawn(*keys: str, turn: int = 1) -> str:
    """What the page says of the intruders' fields: their turn, and the keys that they ask about."""
    return json.dumps([turn, *keys])


def test_the_fields_make_a_scenario() -> None:
    with reactive.isolate():
        stated = form(drawn=drawn("sex", "age"), name_0="neighbour", knows_0=["sex", "age"], limit_k="3").stated()
    assert stated == {
        "intruders": {"neighbour": ["sex", "age"]}, "sensitive": ["ill"], "numeric": ["age"], "release": "teaching",
        "sampling_fraction": 0.05, "missing": "wildcard", "thresholds": {"k": 3}, "unconfirmed": ["ill"],
    }  # fmt: skip


def test_the_rest_is_insensitive_for_a_reason() -> None:
    with reactive.isolate():
        stated = form(role_2="insensitive", because=" attitudes, looked through ").stated(rest=True)
        with pytest.raises(ScenarioError, match="say who found all other columns insensitive, and why"):
            form(because="  ").stated(rest=True)
        assert "insensitive" not in form(because="kept for later").stated()
    assert stated["insensitive"] == ["ill", "*"]
    assert stated["insensitive_because"] == "attitudes, looked through"


def test_patterns_in_use_stay_until_they_are_taken_back() -> None:
    used = {**GUESSED["scenario"], "insensitive": ["att_*"], "insensitive_because": "attitudes"}
    with reactive.isolate():
        assert form(used).stated()["insensitive"] == ["att_*"]
        assert "insensitive" not in form(used, patterns=False, because="attitudes").stated()
        with pytest.raises(ScenarioError, match="say who found"):
            form(used, because="").stated()


def test_it_can_be_said_that_no_column_has_a_role_or_a_limit_is_not_asked() -> None:
    said = {"nobody": ["sensitive", "household"], "limit_l": " None ", "limit_k": "3"}
    with reactive.isolate():
        stated = form(role_2="insensitive", **said).stated()
        assert (stated["sensitive"], stated["household"]) == ([], "none")
        assert stated["thresholds"] == {"k": 3, "l": "none"}
        again = form(stated, role_2="insensitive", limit_l="none").stated()
        assert (again["sensitive"], again["household"]) == ([], "none")  # its fields are not there yet
        back = form(stated, role_2="insensitive", nobody=[]).stated()
        assert "sensitive" not in back
        assert "household" not in back
        named = form(**said).stated()
        assert named["sensitive"] == ["ill"]  # a column that has the role says more


def test_what_is_said_of_all_others_stands_as_it_is_stated() -> None:
    asked = str(rest_part(SAY, {}))
    assert 'id="rest"' in asked
    assert 'id="patterns"' not in asked
    stated = {"sensitive": [], "insensitive": ["note", "att_*", "*"], "insensitive_because": "attitudes"}
    shown_now = str(rest_part(SAY, stated))
    assert "Insensitive by pattern: att_*, *" in shown_now
    assert 'value="attitudes"' in shown_now
    assert 'id="rest"' not in shown_now


def test_an_answered_question_is_asked_no_more() -> None:
    with reactive.isolate():
        assert "unconfirmed" not in form(confirmed=True).stated()


def test_an_intruder_whose_fields_are_not_there_yet_stays() -> None:
    with reactive.isolate():
        assert form(role_1="ignore").typed() == {"default": ["sex"]}
        assert form(role_1="ignore", name_0="  ", drawn=drawn("sex")).typed() == {"default": ["sex"]}


def test_who_is_alone_knows_a_key_that_the_fields_did_not_ask_about_yet() -> None:
    """A role was changed, and the roles are taken into use before the fields are drawn anew."""
    stale = {"name_0": "neighbour", "knows_0": ["sex"], "drawn": drawn("sex")}
    with reactive.isolate():
        assert form(**stale).stated()["intruders"] == {"neighbour": ["sex", "age"]}


def test_a_key_that_nobody_knows_is_refused() -> None:
    unticked = {"knows_0": ["sex"], "drawn": drawn("sex", "age")}
    with reactive.isolate(), pytest.raises(ScenarioError, match="no intruder knows 'age'"):
        form(**unticked).stated()


def test_fields_of_other_intruders_are_not_read() -> None:
    """Another scenario was taken, and the page still shows the intruders of the one before."""
    with reactive.isolate():
        made = form(name_0="neighbour", knows_0=["sex"], drawn=drawn("sex", "age"))
        made.name({"press": ["age"], "clerk": ["sex"]})
        assert made.typed() == {"press": ["age"], "clerk": ["sex"]}


def shown(made: _Form) -> list[Any]:
    return [made.drawn(part) for part in PARTS]


def test_a_choice_not_taken_into_use_yet_is_drawn_again() -> None:
    with reactive.isolate():
        made = form(role_2="ignore", limit_k="3")
        assert shown(made) == [GUESSED["scenario"]] * len(PARTS)
        made.keep()
        for again in shown(made):
            assert (again["thresholds"], again.get("sensitive")) == ({"k": 3}, None)
        made.forget()
        assert shown(made) == [GUESSED["scenario"]] * len(PARTS)


def test_fields_of_another_scenario_are_not_kept() -> None:
    """It was taken while the fields were not on the screen, or after they were kept."""
    other = {"intruders": {"default": ["age"]}}
    with reactive.isolate():
        made = form(limit_k="3")
        made.keep()  # nothing was drawn yet
        assert shown(made) == [GUESSED["scenario"]] * len(PARTS)
        made.keep()
        made.room.scenario.set(other)
        made.keep()
        assert shown(made) == [other] * len(PARTS)
        made.keep()
        made.room.scenario.set(None)
        assert shown(made) == [GUESSED["scenario"]] * len(PARTS)


@pytest.mark.parametrize("unfit", [{"limit_k": "three"}, {"drawn": drawn("sex", "age"), "knows_0": ["sex"]}])
def test_what_makes_no_scenario_is_not_drawn_again(unfit: dict[str, Any]) -> None:
    with reactive.isolate():
        made = form(**unfit)
        shown(made)
        made.keep()
        assert shown(made) == [GUESSED["scenario"]] * len(PARTS)


QUARTER = {**GUESSED["scenario"], "sampling_fraction": 0.1 + 0.15000000001}


@pytest.mark.parametrize(
    ("fraction", "population", "used"),
    [
        ("", "20 050", "no number"), ("", "20050", 1005 / 20050), ("0,05", "", 0.05), ("", "1003", 1.0), ("", "", None),
        ("", "900", "smaller than the file"), ("0.05", "20100", 0.05), ("0.05", "90000", "different things"),
    ],
)  # fmt: skip
def test_a_population_becomes_the_share_that_documents_print(
    fraction: str, population: str, used: float | str | None
) -> None:
    """1,003 records are printed as 1,005: the share tells no more."""
    with reactive.isolate():
        made = form(fraction=fraction, population=population)
        if isinstance(used, str):
            with pytest.raises(ScenarioError, match=used.replace("no number", "not a number")):
                made.stated()
        else:
            assert made.stated().get("sampling_fraction") == used


@pytest.mark.parametrize(
    ("fraction", "population", "used"),
    [
        ("0.25", "4020", QUARTER["sampling_fraction"]), ("0.5", "4020", 0.5), ("0.25", "8040", 0.125), ("", "", None),
        ("", "4020", None), ("0.25", "", 0.25),
    ],
)  # fmt: skip
def test_the_field_that_was_changed_counts(fraction: str, population: str, used: float | None) -> None:
    """What nobody touched stays to the last digit."""
    with reactive.isolate():
        made = form(QUARTER, fraction=fraction, population=population)
        assert made.stated().get("sampling_fraction") == used


def test_the_panel_is_in_the_session_s_language() -> None:
    assert "Das Szenario als Datei" in str(panel("roles", speaker("de")))


# What stands on the page Roles.


SAY = speaker("en")
FORM_GUESSED: dict[str, Any] = {
    "rows": [
        {
            "column": "sex", "label": "Sex of the person", "role": "key", "confidence": "sure",
            "evidence": ["its name speaks of sex or gender", "<5 values"], "warning": "", "question": "",
        },
        {
            "column": "<b>", "label": "", "role": "ignore", "confidence": "unsure", "evidence": ["2 values"],
            "warning": "too fine", "question": "could a stranger know it?",
        },
    ]
}  # fmt: skip


def test_each_column_has_a_labelled_choice_with_its_role_and_its_reasons() -> None:
    html = str(variables_part(SAY, FORM_GUESSED, {"keys": ["sex"]}))
    assert '<label class="control-label" id="role_0-label" for="role_0">' in html
    assert "Role of sex" in html
    assert '<option value="key" selected="">' in html
    assert "Sex of the person" in html
    assert "its name speaks of sex or gender; &lt;5 values" in html
    assert '<div class="warn">too fine</div>' in html
    assert "? could a stranger know it?" in html
    assert "<b>" not in html


def test_an_intruder_is_a_group_of_fields() -> None:
    html = str(intruder_part(SAY, 1, "neighbour", ["sex"], ["sex", "age"]))
    assert "<legend>Intruder 2</legend>" in html
    assert 'value="neighbour"' in html
    assert html.count('checked="checked"') + html.count(" checked") >= 1


def test_limits_stand_as_they_are_stated() -> None:
    html = str(limits_part(SAY, {"thresholds": {"k": 3, "risk": 0.05}, "release": "teaching"}, 100))
    assert 'value="3"' in html
    assert 'value="0.05"' in html
    assert '<option value="teaching" selected="">' in html


def test_share_and_population_are_shown_as_one() -> None:
    html = str(limits_part(SAY, {"sampling_fraction": 0.25}, 1000))
    assert 'value="0.25"' in html
    assert 'value="4000"' in html


def test_a_type_of_an_office_can_stay() -> None:
    html = str(limits_part(SAY, {"release": "partners", "release_types": {"partners": {"k": 4}}}, 100))
    assert '<option value="partners" selected="">partners</option>' in html


def test_german_words() -> None:
    html = str(limits_part(speaker("de"), {}, 100)) + str(files_part(speaker("de")))
    assert "Grenzwerte und Grundgesamtheit" in html
    assert "Limits" not in html


def test_the_hidden_field_says_what_the_intruders_fields_ask_about() -> None:
    html = str(drawn_part(2, ["sex", 'a "b"']))
    assert 'hidden=""' in html
    assert 'value="[2, &quot;sex&quot;, &quot;a \\&quot;b\\&quot;&quot;]"' in html
