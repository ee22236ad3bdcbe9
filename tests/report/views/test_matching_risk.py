"""The chance of a match as an expected number of people, its single matches as counts; how variables were matched."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import releases
import sdckit as sdc
from report.views.pairs import drawn, printed, result_of
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.view import view_of

SURVEY = releases.original()


def test_exact_inside_and_rounded_outside():
    result = result_of("matching_risk")
    inside = printed("matching_risk", internal=True)["releases"][0]
    assert inside["mean_match_risk"]["value"] == pytest.approx(result.mean_match_risk)
    assert inside["expected_match_risk"]["value"] == pytest.approx(result.expected_match_risk)
    assert inside["baseline"]["value"] == pytest.approx(result.baseline)
    assert inside["false_match_rate"]["value"] == pytest.approx(result.false_match_rate)
    assert inside["unique_matches"]["value"] == result.unique_matches
    assert inside["n_high_risk"]["value"] == result.n_high_risk
    outside = printed("matching_risk")["releases"][0]
    assert outside["unique_matches"]["value"] in {None, 5 * round(result.unique_matches / 5)}


def test_the_records_are_drawn_by_their_match_risk():
    rows = drawn("matching_risk")
    assert [row["label"] for row in rows] == [
        "0: no match, or wrong ones",
        "up to 0.1",
        "0.1 to 0.2",
        "0.2 to 0.5",
        "1: one match, the right one",
    ]
    assert sum(row["length"] for row in rows) > 0.8 * SURVEY.height


def test_before_and_after_a_replacement_stand_side_by_side():
    one, other = (
        sdc.matching_risk(SURVEY, releases.release(seed=seed), known=["sex"], synthetic=["income"], width=0.2)
        for seed in (1, 2)
    )
    (plain,) = protect(result_document(replace(other, before=one)))["measures"].values()
    labels = [row["label"] for row in view_of("matching_risk").blocks({"x": plain}, "x")[1].data["rows"]]
    assert labels[:2] == ["0: no match, or wrong ones, before", "0: no match, or wrong ones, after"]
    assert len(labels) == 10


def test_the_answer():
    told = view_of("matching_risk").answer({"matching_risk": printed("matching_risk")}, "matching_risk", {})
    assert re.search(
        r"by chance; [\d.]+ % read otherwise\) would be expected to be matched back to their own row\.$", told
    )
    result = sdc.matching_risk(SURVEY, releases.release(), known=["sex"], synthetic=["region"])
    (plain,) = protect(result_document(result))["measures"].values()
    told = view_of("matching_risk").answer({"matching_risk": plain}, "matching_risk", {})
    assert told.endswith("by chance) would be expected to be matched back to their own row.")


def test_both_readings_of_codes_that_nothing_declares():
    result = result_of("matching_risk")
    assert [variable.name for variable in result.read_otherwise] == ["age"]
    (plain,) = protect(result_document(result), internal=True)["measures"].values()
    row = plain["releases"][0]
    assert row["mean_match_risk_otherwise"]["value"] == pytest.approx(result.mean_match_risk_otherwise)
    assert row["mean_match_risk"]["value"] == pytest.approx(result.mean_match_risk)
    blocks = result_blocks(protect(result_document(result)))
    labels = [line[0] for line in blocks[0].rows]
    assert labels[:3] == [
        "records expected to be matched back", "the same (number)",
        "records expected to be matched back, read otherwise",
    ]  # fmt: skip
    table = next(block for block in blocks if getattr(block, "caption", "") == "Variables that can be read otherwise")
    assert table.rows == (("age", "number", "left as it was", "within ± 10 % of the value"),)
    assert any("both readings are given" in str(block) for block in blocks)


def test_how_variables_were_matched_and_high_risk_by_file():
    several = [releases.release(seed=seed) for seed in (1, 2, 3)]
    result = sdc.matching_risk(SURVEY, several, known=["sex"], synthetic=["income"], width=0.2, high_risk=0.05)
    document = protect(result_document(result), internal=True)
    (plain,) = document["measures"].values()
    assert [one["n_high_risk"]["value"] for one in plain["releases"]] == list(result.high_risk_counts(0.05))
    assert plain["n_high_risk_of_mean"]["value"] == result.n_high_risk_of_mean
    blocks = result_blocks(document)
    table = next(one for one in blocks if getattr(one, "caption", "") == "How each variable was matched")
    assert table.rows == (
        ("sex", "category", "left as it was", "exactly"),
        ("income", "number", "changed", "within ± 20 % of the value"),
    )
    assert any("a match risk above 0.05, in each release by itself" in str(one) for one in blocks)
