"""Attacks in a document: a row per attack and release, meanings, reasons."""

from __future__ import annotations

from sdckit.report.blocks import Paragraph
from sdckit.report.layout_attacks import ABOUT, ALONE, attack_blocks, attack_name


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
    assert rates.columns[-2:] == ("On people never in the file", "Residual risk")
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
