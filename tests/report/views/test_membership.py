"""Telling who is in the file: guesses follow from those called, in the file and out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.blocks import TableBlock
from sdckit.report.chapters.attacks_chapter import plain_attacks, tried_words
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.view import view_of


def test_guesses_are_not_counted():
    (release,) = printed("membership")["releases"]
    assert not [name for name in release if name.startswith("baseline")]
    rows = drawn("membership")
    assert rows[1]["length"] == (rows[0]["length"] + rows[2]["length"]) / 2


def test_the_auc_is_inside_only():
    told = [getattr(block, "text", "") for block in shown("membership", internal=True)]
    words, ratio = (text for text in told if "AUC" in text)
    assert words.startswith("Telling who is in the file: ")
    assert words.endswith(f"with chance {result_of('membership').auc:.4g} (AUC)")
    assert ratio.endswith(f"with chance {result_of('membership').ratio_auc:.4g} (AUC)")
    assert "AUC" not in str(shown("membership"))


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: rng.choice(list("abcdefgh"), n) for name in ("job", "town", "kin", "home")})


ORIGINAL, CONTROL = people(1_000, 1), people(1_000, 2)
COPIED = pl.concat([ORIGINAL[:400], people(600, 3)])


def attacks(*, internal=False, **more):
    result = sdc.membership(ORIGINAL, COPIED, **{"control": CONTROL, "seed": 1, **more})
    asked = {"columns": ORIGINAL.columns}
    given = {"n": 1_000, "sizes": [1_000], "control": True, "internal": internal}
    return result, plain_attacks({"membership": result}, **given), asked


@pytest.mark.parametrize("internal", [False, True])
def test_the_ratio_is_told_by_rates(internal):
    result, plain, _ = attacks(internal=internal)
    tree = plain["attacks"]["membership"]
    first = result.detections[0]
    near = {"abs": 1e-9} if internal else {"rel": 0.1}
    assert tree["ratio"]["rates"][0]["tpr"]["value"] == pytest.approx(first.tpr, **near)
    assert tree["tpr_multiple"]["value"] == pytest.approx(result.tpr_multiple, **near)
    assert tree["tpr_multiple"]["text"].endswith(f"× 1 %, excess {tree['ratio']['rates'][0]['excess']['text']}")
    excess = tree["ratio"]["rates"][1]["excess"]
    assert [excess[name] for name in ("low", "high")] == pytest.approx(
        [result.detections[1].low, result.detections[1].high], abs=0.01
    )
    assert ("auc" in str(tree)) == internal


def test_the_table_has_a_row_for_each_rate():
    result, _, _ = attacks()
    blocks = result_blocks(protect(result_document(result)))
    (table,) = (block for block in blocks if isinstance(block, TableBlock) and "calibrated ratio" in block.caption)
    assert [row[0] for row in table.rows] == ["1 %", "10 %"]
    assert all("%" in cell for row in table.rows for cell in row)


def test_page_one_says_it():
    _, plain, asked = attacks()
    tree = {**plain, "asked": {**asked, "every_column": [], "n_going_out": 4}}
    words = tried_words(tree)
    told = plain["attacks"]["membership"]["ratio"]["rates"][0]["tpr"]["value"]
    assert f"Whoever wrongly takes 1 in 100 others for members tells {100 * told:.3g} % of the members" in words
    assert "by guessing 1 %" in words


def test_too_few_others_are_said():
    few = result_of("membership")  # 160 others: enough for one in ten
    assert [rate.fpr for rate in few.detections] == [0.1]
    words = [getattr(block, "text", "") for block in shown("membership")]
    assert any("not judged at a false-positive rate of 0.01:" in text for text in words)
    assert view_of("membership").answer({"membership": printed("membership")}, "membership", {}) == ""
    result, plain, _ = attacks(control=CONTROL[:90])
    assert "ratio" in plain["attacks"]["membership"]
    blocks = result_blocks(protect(result_document(result)))
    assert any("100 are needed" in str(getattr(block, "text", "")) for block in blocks)


def test_subgroups_are_told_in_a_confidential_document():
    result, _, _ = attacks(by="job")
    blocks = result_blocks(protect(result_document(result), internal=True))
    (table,) = (block for block in blocks if isinstance(block, TableBlock) and ", by job" in block.caption)
    assert table.columns[-2:] == ("Told at 1 %", "Excess")
