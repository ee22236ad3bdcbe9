"""What is told of codes for missing."""

from __future__ import annotations

import pytest

from sdckit.data.missing_values.missing_codes import Found
from sdckit.data.missing_values.missing_notes import MissingNotes, by_code, counted
from sdckit.errors import SdcWarning


def test_nothing_to_tell():
    assert MissingNotes().messages("x.csv") == []
    assert MissingNotes(given=("NA",)).messages("x.csv") == []


def test_the_codes_to_give_keep_those_applied():
    suspected = (Found("a", "-999", 3), Found("b", "don't know", 1), Found("c", "-999", 2))
    notes = MissingNotes(taken=(Found("b", "NA", 1),), suspected=suspected)
    assert notes.suggested == ("NA", "-999", "don't know")
    assert MissingNotes(given=("", "X"), suspected=suspected[:1]).suggested == ("X", "-999")
    told = notes.messages("x.csv")[1]
    assert "--missing='don'\"'\"'t know'" in told
    assert 'missing=["NA", "-999", "don\'t know"]' in told


def test_many_columns_are_not_all_named():
    found = [Found(f"v{i}", "NA", 1_234) for i in range(8)]
    assert by_code(found).endswith("v4 (1,234 records) and 3 more")
    assert counted(found).endswith("v4 holds 'NA' in 1,234 records and 3 more")


def test_one_warning_each():
    notes = MissingNotes(taken=(Found("b", "NA", 1),), suspected=(Found("a", "99", 3),))
    with pytest.warns(SdcWarning) as caught:
        notes.warn("x.csv")
    assert [str(warning.message) for warning in caught] == notes.messages("x.csv")
