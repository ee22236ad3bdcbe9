"""Nearest names."""

from __future__ import annotations

from hypothesis import given, strategies as st

from draw import CHARACTERS
from sdckit.data.nearest import did_you_mean, nearest


def test_case_and_spaces_come_before_spelling():
    assert nearest("AGE", ["ages", " age"]) == " age"
    assert nearest("straße", ["STRASSE", "strafe"]) == "STRASSE"


def test_many_names_are_not_all_listed():
    told = did_you_mean("qqq", [f"v{i}" for i in range(15)])
    assert told == "there are: " + ", ".join(f"v{i}" for i in range(12)) + " and 3 more"
    assert did_you_mean("qqq", []) == "there are none"


@given(st.text(CHARACTERS), st.lists(st.text(CHARACTERS)))
def test_gives_one_of_the_candidates(name, candidates):
    found = nearest(name, candidates)
    assert found is None or found in candidates
