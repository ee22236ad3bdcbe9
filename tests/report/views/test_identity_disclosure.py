"""Uniques in both files, contained in each other, and the same as those of the original by itself."""

from __future__ import annotations

from report.views.pairs import drawn, result_of
from sdckit.report.gate.figures import Ledger, Share
from sdckit.report.setting import PairSetting, release_sizes
from sdckit.report.view import view_of


def test_uniques_of_the_original_are_one_number_in_all_of_a_document():
    result, ledger = result_of("identity_disclosure"), Ledger()
    ledger.count("n", 240, "n")
    sizes = [count.name for count in release_sizes(ledger, [240])]
    uniques = round(result.unique_in_original * 240)
    ledger.count("i0.sample_uniques", uniques, "violations")
    view = view_of("identity_disclosure")
    tree = view.tree(result, PairSetting(ledger, "c0", "identity_disclosure", [240]))
    name = "c0.identity_disclosure.1.unique_in_original"
    assert tree["releases"][0]["unique_in_original"] == Share(name, "n")
    assert tree["releases"][0]["unique_in_released"].whole == sizes[0]
    linked = [relation.terms for relation in ledger.relations]
    assert (("i0.sample_uniques", 1.0), (name, -1.0)) in linked


def test_four_shares_are_drawn():
    assert len(drawn("identity_disclosure")) == 4


def test_the_answer():
    view = view_of("identity_disclosure")
    tree = {"releases": [{"replicated_uniques": {"text": "<2 %", "value": None, "below": 0.02}}]}
    told = view.answer({"identity_disclosure": tree}, "identity_disclosure", {})
    assert told == "Unique in both files are <2 % of the original's records."
