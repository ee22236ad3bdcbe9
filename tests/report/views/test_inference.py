"""Inferring a value: guesses are people, too."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.rates import attack_name


def test_guesses_are_counted():
    (release,) = printed("inference")["releases"]
    assert {"baseline_successes", "baseline_failures"} & set(release)
    assert len(drawn("inference")) == 3


def test_the_rates_by_groups_inside():
    tables = {getattr(block, "caption", ""): block for block in shown("inference", internal=True)}
    groups = tables["Inferring ill, by sex"]
    assert groups.columns == ("sex", "Tries", "Succeed", "Guessing", "Never in it", "Risk", "Interval")
    assert len(groups.rows) == len(result_of("inference").groups)


def test_names():
    assert attack_name("inference:default:income") == "Inferring income"
    assert attack_name("inference:a:income", several=True) == "Inferring income (a)"
    assert attack_name("inference:ill") == "Inferring ill"


def test_notes_name_their_attack():
    told = [getattr(block, "text", "") for block in shown("inference", internal=True)]
    assert "Inferring ill: a guess is right where it is equal" in told
