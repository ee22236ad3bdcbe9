"""The table of edit rules: a row per rule, protected counts, and what was not judged."""

from __future__ import annotations

from report.views.pairs import RULES, drawn, printed, result_of, shown
from sdckit.report.views.edit_rules import VIEW


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
