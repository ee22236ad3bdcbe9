"""What is printed and drawn of people followed over time."""

from __future__ import annotations

import numpy as np
import polars as pl

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.views.known_points import VIEW

RNG = np.random.default_rng(1)
PANEL = pl.DataFrame({"who": np.repeat(range(400), 4), "t": [1, 2, 3, 4] * 400, "a": RNG.integers(0, 12, 1600)})


def told(result, *, internal=False):
    return protect(result_document(result), internal=internal)


def test_shares_are_of_the_people_and_small_ones_are_not_told():
    result = sdc.known_points(PANEL, person="who", time="t", keys=["a"])
    exact, plain = (told(result, internal=internal)["measures"]["known_points"] for internal in (True, False))
    assert [row["points"] for row in exact["releases"][0]] == [1, 2, 3]
    assert exact["releases"][0][1]["alone"]["value"] == round(result.alone, 6)
    assert 0 < result.of_points(1).alone * 400 < 5 or plain["releases"][0][0]["alone"]["value"] is not None
    assert plain["persons"]["value"] == 400
    sentence = VIEW.answer({"known_points": plain}, "known_points", {})
    assert sentence.startswith("Who knows 2 rows of a person finds ")


def test_the_original_is_drawn_beside_the_release():
    labels = [row["label"] for row in drawn("known_points")]
    assert labels == ["1 row, in the original", "1 row"]
    (curve,) = printed("known_points", internal=True)["releases"]
    assert curve[0]["alone_right"]["value"] == result_of("known_points").of_points(1).alone_right


def test_a_number_nobody_has_is_left_out_and_said():
    result = sdc.known_points(PANEL, person="who", time="t", keys=["a"], points=(2, 9))
    blocks = result_blocks(told(result))
    (table,) = [block for block in blocks if block.kind == "table"]
    assert [row[0] for row in table.rows] == ["2 rows"]
    assert all(share.endswith(" %") for share in table.rows[0][2:])
    assert any("nobody" in getattr(block, "text", "").lower() for block in blocks)
