"""Rates of attacks: their names, their percentages, who has a residual risk, and what is inside only."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from sdckit.report.gate.figures import InternalOnly, Ledger, Value
from sdckit.report.rates import (
    _group_columns,
    _notes,
    _release,
    attack_name,
    enter_tally,
    exact_of,
    group_blocks,
    has_residual_risk,
    meaning_of,
    percent,
    rate_bars,
    rates_table,
)
from sdckit.report.view import view_of
from sdckit.report.views import membership
from sdckit.report.wording import say


def leaf(text):
    return {"text": text, "value": None}


HIDDEN = {"text": "withheld", "value": None}
RATE = {"fpr": 0.01, "tpr": HIDDEN, "distance_tpr": HIDDEN}
BELOW = {"distinct": {"2": HIDDEN}}
ANSWERS = {
    "differencing": {"figures": {"people": {"n": HIDDEN}}, "n_earlier": 1, "in_part": False},
    "known_points": {"releases": [[{"points": 2, "alone": HIDDEN}]]},
    "membership": {membership.MULTIPLE: 1, "ratio": {"rates": [RATE], membership.JUDGED: 0.01}},
    "l_diversity": {"ill": {"violations": BELOW, "violation_rates": BELOW}},
}


@pytest.mark.parametrize("place", [*ANSWERS, "key_contributions"])
def test_a_withheld_part_stands_in_a_whole_sentence_of_each_view(place):
    """'something of withheld of the records' is none; in English and German."""
    if place in ANSWERS:
        words = view_of(place).answer({place: ANSWERS[place]}, place, {"text": "600"})
    else:
        tree = {"uniques": HIDDEN, "table": [], "coarsenings": [], "rule": "category", "missing": False}
        words = view_of(place).blocks({place: tree}, place)[0].text
    assert "how many is withheld" in words
    assert "withheld of" not in words
    assert "withheld records" not in words
    german = say(words, "de", ["ill"])
    assert not {"of", "the", "some", "records", "people", "members", "withheld"} & {*german.split()}, german


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


def test_exact_figures_are_inside():
    result = SimpleNamespace(figures=("a",), a=float("nan"), verdict="so")
    assert exact_of(result, more=1) == InternalOnly({"verdict": "so", "a": None, "more": 1})


def test_a_rate_known_from_below_is_drawn_at_its_bound():
    release = {name: {"text": "5 %", "value": 0.05} for name in ("success_rate", "baseline_rate", "control_rate")}
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


FIGURES = {"successes": 4.0, "baseline_rate": 0.2, "control_rate": 0.5, "residual_low": -0.204, "residual_high": 0.301}


@pytest.mark.parametrize(("n", "n_control", "told"), [(9, 10, 2), (10, 9, 5), (10, 10, 6)])
def test_ten_attempts_have_a_rate_and_nine_have_none(n, n_control, told):
    ledger = Ledger()
    tree = _release("r.", {**FIGURES, "n_attacks": n, "n_control": n_control}, ledger, "count", dependent=False)
    assert len(tree) == told
    assert ("successes" in tree) == (n >= 10)
    assert ("control_successes" in tree) == (n >= 10 and n_control >= 10)
    assert ("baseline_successes" in tree) == (n >= 10)
    if n >= 10:
        assert ledger.variables["r.successes"].true == 4
        assert ledger.variables["r.baseline_successes"].true == 2


def test_half_are_successes_and_one_more_is_told_by_the_failures():
    ledger = Ledger()
    assert list(enter_tally(ledger, "a.", "", 5, 10)) == ["successes"]
    assert list(enter_tally(ledger, "b.", "", 6, 10)) == ["failures"]
    assert ledger.variables["a.successes"].true == 5
    assert ledger.variables["b.failures"].true == 4


def test_queries_that_depend_on_each_other_have_ends_in_whole_per_cent():
    given = {**FIGURES, "n_attacks": 20, "n_control": 20}
    tree = _release("r.", given, Ledger(), "share", dependent=True)
    assert tree["ends"] == (0.0, 0.31)
    assert tree["baseline_rate"] == Value("r.baseline")
    assert "ends" not in _release("r.", given, Ledger(), "share", dependent=False)
    assert "baseline_rate" not in _release("r.", given, Ledger(), "none", dependent=False)


def group(**figures):
    return {"labels": ["f"], "release": 1, "n_attacks": 1234.0, **figures}


RATES = {"success_rate": 0.5, "baseline_rate": 0.25, "success_low": 0.4, "success_high": 0.604}


def columns(*rows):
    """The heads of subgroups, and what stands under each in the first row."""
    found = _group_columns({"exact": {"groups": {"by": ["sex"], "rows": rows}}})
    return {head: text(rows[0]) for head, text in found}


def test_subgroups_without_a_control_file_show_the_interval_of_success():
    assert columns(group(**RATES, control_rate=None)) == {
        "Tries": "1,234", "Succeed": "50.0 %", "Guessing": "25.0 %", "Interval": "40–60",
    }  # fmt: skip
    nothing = {**RATES, "success_low": None, "baseline_rate": None}
    assert columns(group(**nothing, control_rate=None))["Interval"] == "–"
    assert columns(group(**nothing, control_rate=None))["Guessing"] == "–"


def test_the_risk_of_a_subgroup_is_shown_where_the_attack_beats_guessing():
    control = {"control_rate": 0.3, "risk": 0.286, "risk_low": 0.1, "risk_high": 0.46}
    assert columns(group(**RATES, **control)) == {
        "Tries": "1,234", "Succeed": "50.0 %", "Guessing": "25.0 %", "Never in it": "30.0 %", "Risk": "28.6 %",
        "Interval": "10–46",
    }  # fmt: skip
    even = columns(group(**{**RATES, "baseline_rate": 0.5}, **control))
    assert (even["Risk"], even["Interval"]) == ("–", "–")
    mixed = (group(**RATES, **control), group(**RATES, control_rate=None))
    assert "Risk" in columns(*mixed)


def test_the_table_of_rates_says_which_release():
    one = {
        "n_attacks": leaf("40"), "success_rate": leaf("5 %"), "baseline_rate": leaf("1 %"),
        "control_rate": leaf("2 %"), "residual_risk": leaf("3 %"),
    }  # fmt: skip
    table = rates_table({"Linking": {"releases": [one, one]}}, "Rates", control=True)
    assert table.columns == ("Attack", "Tries", "Succeed", "By guessing", "Never in it", "Residual risk")
    assert table.rows[1] == ("Linking, release 2", "40", "5 %", "1 %", "2 %", "3 %")
    assert table.numeric == (1, 2, 3, 4, 5)
    table = rates_table({"Linking": {"releases": [one]}}, "Rates", control=False)
    assert table.columns == ("Attack", "Tries", "Succeed", "By guessing")
    assert table.rows == (("Linking", "40", "5 %", "1 %"),)


def result(*per_release, notes=None, **more):
    return SimpleNamespace(per_release=per_release, notes=notes or {}, **more)


def test_notes_on_what_is_undefined_are_left_to_the_verdict():
    notes = {"risk": "why", "intervals": "how", "control_rate": "none", "control": "few people", "again": "few people"}
    assert _notes(result({"n_attacks": 5.0, "control_rate": math.nan}, notes=notes)) == ("few people",)
    assert _notes(result({"n_attacks": 0.0}, notes={})) == ()


def test_releases_on_which_nothing_could_be_tried_are_named():
    tried = ({"n_attacks": 0.0}, {"n_attacks": 1200.0}, {"n_attacks": 0.0})
    assert _notes(result(*tried)) == ("no attack could be made on releases 1, 3; the means are over the others",)
    assert _notes(result(*tried[:2])) == ("no attack could be made on release 1; the means are over the others",)
    fewer = {"n_attacks": "fewer than asked for"}
    (told,) = _notes(result(*tried[1:2], {"n_attacks": 30.0}, notes=fewer))
    assert told == "attempts on each release: 1,200, 30; fewer than asked for were found"
    assert _notes(result(*2 * tried[1:2], notes=fewer)) == ("fewer than asked for",)


def test_a_sentence_begins_with_a_large_letter_and_ends_with_a_point():
    assert meaning_of({"means": "no attack could be made"}) == "No attack could be made."
    assert meaning_of({"means": "no", "exact": {"verdict": "It is so."}}) == "It is so."


def test_exactly_ten_groups_leave_none_out():
    rows = [{"labels": ["f"], "release": 1} for _ in range(10)]
    tree = {"exact": {"groups": {"by": ["sex"], "rows": rows}}, "releases": [{}]}
    (table,) = group_blocks(tree, "inferring", [("Tries", lambda _: "1")])
    assert (table.columns, table.caption, table.numeric) == (("sex", "Tries"), "Inferring, by sex", (1,))
