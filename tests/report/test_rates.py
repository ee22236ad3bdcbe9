"""Rates of attacks: their names, their percentages, who has a residual risk, and what is inside only."""

from __future__ import annotations

from types import SimpleNamespace

from sdckit.report.gate.figures import InternalOnly, Ledger, Ratio
from sdckit.report.rates import (
    attack_name,
    enter_share,
    enter_tally,
    exact_of,
    group_blocks,
    has_residual_risk,
    percent,
    rate_bars,
)


def leaf(text):
    return {"text": text, "value": None}


def test_names():
    assert attack_name("distance_to_closest_record", several=True) == "Distances"
    assert attack_name("probabilistic_linkage:a", several=True) == "Linking records despite slips (a)"
    assert attack_name("an_attack_of:yours") == "an attack of"


def test_an_attack_that_nobody_knows_may_have_a_residual_risk():
    assert has_residual_risk("an_attack_of:yours")
    assert has_residual_risk("membership")


def test_all_shares_are_in_per_cent():
    assert percent({"text": "0.0017", "value": 0.0017}) == "0.17 %"
    assert percent({"text": "0.224432", "value": 0.224432}) == "22.4 %"
    assert percent({"text": "1", "value": 1.0}) == "100 %"
    assert percent({"text": "38.9 %", "value": 0.388889}) == "38.9 %"
    assert percent({"text": "<2.5 %", "value": None, "below": 0.025}) == "<2.5 %"
    assert percent({"text": "<0.025", "value": None, "below": 0.025}) == "<2.5 %"
    assert percent(leaf("not compared")) == "not compared"


def test_the_smaller_one_is_entered():
    ledger = Ledger()
    ledger.count("n", 100, "n")
    assert list(enter_tally(ledger, "a.", "", 30, 100, whole=True)) == ["successes"]
    assert list(enter_tally(ledger, "b.", "control_", 70.0, 100)) == ["control_failures"]
    assert ledger.variables["b.control_failures"].true == 30
    assert enter_share(ledger, "c", 0.5, "n") == Ratio("c", "n")


def test_exact_figures_are_inside():
    result = SimpleNamespace(figures=("a",), a=float("nan"), verdict="so")
    assert exact_of(result, more=1) == InternalOnly({"verdict": "so", "a": None, "more": 1})


def test_a_rate_known_from_below_is_drawn_at_its_bound():
    release = {
        name: {"text": "5 %", "value": 0.05} for name in ("success_rate", "baseline_rate", "control_rate")
    }
    release["success_rate"] = {"text": ">95 %", "value": None, "above": 0.95}
    rows = rate_bars("", {"releases": [release]}, compared=False).data["rows"]
    assert [row["n"]["below"] for row in rows][:1] == [0.95]
    assert len(rows) == 2


def test_at_most_ten_groups_and_how_many_more():
    rows = [{"labels": ["f"], "release": 2, "n": n} for n in range(12)]
    tree = {"exact": {"groups": {"by": ["sex"], "rows": rows}}, "releases": [{}, {}]}
    table, more = group_blocks(tree, "inferring", [("Tries", lambda row: str(row["n"]))])
    assert table.columns == ("sex", "Release", "Tries")
    assert len(table.rows) == 10
    assert table.rows[3] == ("f", "2", "3")
    assert more.text == "… 2 more"
    assert group_blocks({"exact": {"groups": None}, "releases": []}, "inferring", []) == []
