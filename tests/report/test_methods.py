from __future__ import annotations

import re
from dataclasses import replace

from sdckit.report.methods import method_notes, release_notes

from report.fakes import FULL, assess_fake, survey
from sdckit.data.scenario import Scenario


def test_every_note_names_authors_and_years() -> None:
    notes = method_notes(assess_fake(survey(60), FULL).intruders, FULL)
    assert [note["name"] for note in notes] == [
        "k-anonymity", "Missing values in keys", "Individual risk", "Contribution of keys", "Household risk",
        "l-diversity", "Protection of this document",
    ]  # fmt: skip
    assert all(re.search(r"\w+ .*\(\d{4}\)", str(note["source"])) for note in notes)


def test_a_census_is_called_one() -> None:
    scenario = Scenario(keys=["sex"])
    notes = {
        str(n["name"]): str(n["text"])
        for n in method_notes(assess_fake(survey(60), scenario).intruders, scenario)
    }
    assert "whole population" in notes["Individual risk"]
    assert "l-diversity" not in notes


def test_further_measures_have_their_notes_where_they_ran() -> None:
    one = replace(assess_fake(survey(60), FULL).intruders[0], suda=object(), risky_cells=object())
    names = [note["name"] for note in method_notes([one], FULL)]
    assert names[-3:] == ["Special uniques", "Risky combinations", "Protection of this document"]


def test_attacks_are_explained_where_they_ran() -> None:
    assert len(release_notes(attacked=True)) == len(release_notes()) + 1
    assert "Simulated attacks" in [note["name"] for note in release_notes(attacked=True)]
