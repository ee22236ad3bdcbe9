"""Linking two pieces of knowledge: guesses follow from the number of released rows."""

from __future__ import annotations

from report.views.pairs import drawn, printed, shown
from sdckit.report.rates import attack_name
from sdckit.report.view import view_of


def test_guessing_is_a_share_of_the_rows():
    (release,) = printed("linkability")["releases"]
    assert release["baseline_rate"]["text"] == "0.0042"
    assert len(drawn("linkability")) == 3


def test_subgroups_are_inside_only():
    captions = [getattr(block, "caption", "") for block in shown("linkability", internal=True)]
    assert "Linking two pieces of knowledge, by sex" in captions
    assert not any("by sex" in getattr(block, "caption", "") for block in shown("linkability"))
    assert "groups" not in str(printed("linkability"))


def test_names_and_what_was_asked():
    assert attack_name("linkability:neighbour", several=True) == "Linking two pieces of knowledge (neighbour)"
    asked = {"halves": {"a": [["age"], ["sex", "region"]]}}
    assert view_of("linkability").options_words(asked, "a") == "age | sex, region"
    assert view_of("linkability").options_words(asked, "b") == ""
