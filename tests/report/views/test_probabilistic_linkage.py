"""Linking despite slips: everybody is attacked, with nobody to compare."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.rates import has_residual_risk
from sdckit.report.view import view_of

RARE = {"baseline_rate": {"text": "0.01", "value": 0.01}, "n_attacks": {"text": "100", "value": 100}}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"successes": {"text": "30", "value": 30}}, "released records are linked to the right people"),
        ({"successes": {"text": "<5", "value": None, "below": 5}}, "too few successes"),
        ({"successes": {"text": "0", "value": 0}}, "no better than guessing"),
        ({"successes": {"text": "withheld", "value": None}}, "withheld"),
        ({}, "no attack could be made"),
    ],
)
def test_linkage_in_words(found, words):
    one = view_of("probabilistic_linkage").conclude({"releases": [{**RARE, **found}]})
    assert words in one["means"]
    assert one["residual_risk"]["text"] == one["releases"][0]["control_rate"]["text"] == "not compared"
    assert not has_residual_risk("probabilistic_linkage:a")


def test_rates_are_drawn_and_precision_is_inside():
    assert [row["label"] for row in drawn("probabilistic_linkage")] == ["succeed", "by guessing"]
    assert "recall" not in str(printed("probabilistic_linkage"))
    blocks = shown("probabilistic_linkage", internal=True)
    (table,) = (block for block in blocks if getattr(block, "caption", "").startswith("How sure"))
    assert 0 < len(table.rows) <= 8
    recall = f"recall {100 * result_of('probabilistic_linkage').recall:.3g} %"
    assert any(recall in getattr(block, "text", "") for block in blocks)
