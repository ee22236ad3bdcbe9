"""What stands on the page Roles."""

from __future__ import annotations

from typing import Any

from sdckit.app.role_form import drawn_part, files_part, intruder_part, limits_part, variables_part
from sdckit.app.words import speaker

SAY = speaker("en")
GUESSED: dict[str, Any] = {
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
    html = str(variables_part(SAY, GUESSED, {"keys": ["sex"]}))
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
