"""The table of edit rules: a row per rule, protected counts, and what was not judged."""

from __future__ import annotations

from report.views.pairs import RULES, drawn, printed, result_of, shown
from sdckit.data.rule_conditions import read_edit_rules
from sdckit.report.language import names_of
from sdckit.report.views.edit_rules import VIEW
from sdckit.report.wording import say


def test_a_row_for_each_rule_and_what_was_not_judged() -> None:
    table, _, *notes = shown("edit_rules")
    assert table.columns == ("Rule", "Original", "Release", "Newly")
    assert [row[0] for row in table.rows] == list(result_of("edit_rules").rules[:2])
    assert any("Not judged: where nowhere is 1: sex is f" in note.text for note in notes)
    assert len(drawn("edit_rules")) == 2
    assert len(RULES) == 3


def test_counts_are_protected_and_exact_ones_are_not() -> None:
    for number, row in enumerate(result_of("edit_rules").shares[0][:2]):
        exact = printed("edit_rules", internal=True)["releases"][0]["columns"][number]
        assert [exact[f"share_{name}"]["value"] for name in ("before", "after", "newly")] == [
            round(share, 6) for share in row
        ]
        rule = printed("edit_rules")["releases"][0]["columns"][number]
        for name in ("before", "after", "newly"):
            assert (rule[name]["value"] or 0) % 5 == 0


def test_the_first_page_says_how_many_are_newly_broken() -> None:
    plain = {"measures": {"edit_rules": printed("edit_rules")}}
    assert VIEW.answer(plain["measures"], "edit_rules", plain) == (
        "Records of the release newly break 1 of 2 edit rules."
    )


def test_a_rule_is_said_in_the_language_of_the_document_and_its_names_are_kept() -> None:
    names = names_of({"measures": {"edit_rules": printed("edit_rules")}}).data
    assert {name for rule in read_edit_rules(RULES) for name in rule.columns} <= names
    for rule, words in (
        ({"below": 16.5, "at_least": 3}, "wo {a} unter 16,5 und {a} mindestens 3: {b} fehlt nicht"),
        (["north", "south"], "wo {a} ist north oder south: {b} fehlt nicht"),
        ({"missing": True}, "wo {a} fehlt: {b} fehlt nicht"),
        ({"above": 4, "at_most": 5}, "wo {a} über 4 und {a} höchstens 5: {b} fehlt nicht"),
    ):
        (read,) = read_edit_rules({"b": {"when": {"a": rule}, "value": {"missing": False}}})
        assert say(read.words, "de", {"a", "b"}) == words.format(a="a", b="b")
        assert say(f"Not judged: {read.words} (no column a in every file).", "de", {"a", "b"}).startswith("Nicht beurt")
