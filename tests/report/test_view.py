from __future__ import annotations

import pytest

from sdckit.data.packaged import packaged
from sdckit.errors import DataError
from sdckit.report.view import View, added, find_view, view_of, views_of
from tree import sources

OTHER = View("Other", lambda _result, _setting: {}, lambda _one, _place: [])


def test_a_view_is_found_by_the_name_of_its_measure() -> None:
    found = find_view("k_anonymity")
    assert found is not None
    assert found.title == "k-anonymity"
    for name in ("name", "no_such_measure", "../view", ""):
        assert find_view(name) is None
    with pytest.raises(DataError, match="no chart or notebook view"):
        view_of("no_such_measure")


def test_one_from_outside_lasts_as_long_as_its_context() -> None:
    with added("other", OTHER):
        assert view_of("other") is OTHER
    assert find_view("other") is None


def test_only_places_with_a_view_and_figures_are_shown() -> None:
    one = {
        "name": "x",
        "k_anonymity_category": {"a": 1},
        "k_anonymity": {"a": 1},
        "other:income": {"b": 2},
        "risky_cells": {},
    }
    with added("other", OTHER):
        assert [place for place, _ in views_of(one)] == ["k_anonymity", "other:income"]


def test_every_note_on_a_method_is_of_a_document() -> None:
    of_report = "".join(path.read_text(encoding="utf-8") for path in sources() if "report" in path.parts)
    assert [name for name in packaged("report/notes.toml") if f'"{name}"' not in of_report] == []
