"""Telling who is in the file: guesses follow from those called, in the file and out."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown


def test_guesses_are_not_counted():
    (release,) = printed("membership")["releases"]
    assert not [name for name in release if name.startswith("baseline")]
    rows = drawn("membership")
    assert rows[1]["length"] == (rows[0]["length"] + rows[2]["length"]) / 2


def test_the_auc_is_inside_only():
    told = [getattr(block, "text", "") for block in shown("membership", internal=True)]
    (words,) = (text for text in told if "AUC" in text)
    assert words.startswith("Telling who is in the file: ")
    assert words.endswith(f"with chance {result_of('membership').auc:.4g} (AUC)")
    assert "AUC" not in str(shown("membership"))
