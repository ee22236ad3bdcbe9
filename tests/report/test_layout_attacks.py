"""Attacks in a document: a row per attack and release, meanings, reasons."""

from __future__ import annotations

from sdckit.report.blocks import Paragraph
from sdckit.report.layout_attacks import ABOUT, ALONE, attack_blocks, attack_name, percent


def leaf(text):
    return {"text": text, "value": None}


def one(m=1, **more):
    release = {name: leaf(name) for name in ("n_attacks", "success_rate", "baseline_rate", "control_rate")}
    return {"releases": [release] * m, "means": "no sign of it", "residual_risk": leaf("up to 5 %"), **more}


def tree(**more):
    given = {
        "control": True,
        "attacks": {"membership": one(), "inference:neighbour:income": one()},
        "distances": {"releases": [{"copies": leaf("0"), "hitting_rate": leaf("0.2")}], "means": "far away"},
        "skipped": [{"measure": "linkability:neighbour", "reason": "there is only one key"}],
    }
    return {**given, **more}


def test_everything_has_its_table():
    blocks = attack_blocks(tree(), several=False)
    assert blocks[0] == Paragraph(ABOUT)
    rates, means, near, words, skipped = blocks[1:]
    assert rates.columns[-2:] == ("Never in it", "Residual risk")
    assert rates.rows[0] == (
        "Telling who is in the file", "n_attacks", "success_rate", "baseline_rate", "control_rate", "up to 5 %",
    )  # fmt: skip
    assert means.rows[1] == ("Inferring income", "No sign of it.")
    assert near.rows == (
        ("released records equal to an original", "0"),
        ("originals hit by a released record", "0.2"),
    )
    assert words == Paragraph("Far away.")
    assert skipped.rows == (("Linking two pieces of knowledge", "there is only one key"),)


def test_without_a_control_its_columns_are_left_out():
    blocks = attack_blocks(tree(control=False, distances=None, skipped=[]), several=True)
    assert blocks[0] == Paragraph(ALONE)
    assert blocks[1].columns == ("Attack", "Attempts", "Succeed", "By guessing")
    assert blocks[1].rows[1][0] == "Inferring income (neighbour)"
    assert len(blocks) == 3


def test_several_releases_have_rows_of_their_own():
    rows = attack_blocks(tree(attacks={"membership": one(2)}), several=False)[1].rows
    assert [row[0] for row in rows] == [f"Telling who is in the file, release {j}" for j in (1, 2)]
    assert [row[-1] for row in rows] == ["up to 5 %", ""]


def test_a_confidential_document_has_the_exact_verdict():
    exact = {"membership": one(exact={"verdict": "Succeeds in 12.3%."})}
    assert attack_blocks(tree(attacks=exact), several=False)[2].rows[0][1] == "Succeeds in 12.3%."


def test_nothing_made():
    assert len(attack_blocks(tree(attacks={}, distances=None, skipped=[]), several=False)) == 1


def test_names():
    assert attack_name("singling_out:univariate") == "Singling out by one column"
    assert attack_name("distance_to_closest_record", several=True) == "Distances"
    assert attack_name("probabilistic_linkage:a", several=True) == "Linking records despite slips (a)"


def test_all_shares_are_in_per_cent():
    assert percent({"text": "0.0017", "value": 0.0017}) == "0.17 %"
    assert percent({"text": "0.224432", "value": 0.224432}) == "22.4 %"
    assert percent({"text": "1", "value": 1.0}) == "100 %"
    assert percent({"text": "38.9 %", "value": 0.388889}) == "38.9 %"
    assert percent({"text": "<2.5 %", "value": None, "below": 0.025}) == "<2.5 %"
    assert percent({"text": "<0.025", "value": None, "below": 0.025}) == "<2.5 %"
    assert percent(leaf("not compared")) == "not compared"
    shares = {
        name: {"text": "0.19", "value": 0.19} for name in ("success_rate", "baseline_rate", "control_rate")
    }
    release = {"n_attacks": {"text": "1,005", "value": 1005}, **shares}
    rows = attack_blocks(tree(attacks={"membership": {**one(), "releases": [release]}}), several=False)[
        1
    ].rows
    assert rows[0][1:5] == ("1,005", "19 %", "19 %", "19 %")
    near = {"releases": [{"copies": {"text": "0.77", "value": 0.77}}], "means": "far away"}
    assert attack_blocks(tree(distances=near), several=False)[3].rows[0][1] == "77 %"
