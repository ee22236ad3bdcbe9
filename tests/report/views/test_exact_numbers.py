"""Large numbers that go out as they are: what is printed of them, beside an original and of a file by itself."""

from __future__ import annotations

import numpy as np
import polars as pl

import sdckit as sdc
from draw import quiet
from report.views.pairs import drawn, printed, result_of
from sdckit.report.formats.write import plain_document
from sdckit.report.views.exact_numbers import VIEW


def test_counts_are_protected_and_exact_ones_are_not() -> None:
    (column,) = result_of("exact_numbers").columns[0]
    (exact,) = printed("exact_numbers", internal=True)["releases"][0]["columns"]
    assert (exact["dominating"]["value"], exact["exact"]["value"]) == (column.dominating, column.exact)
    assert exact["share"]["value"] == round(column.share, 6) > 0
    (told,) = printed("exact_numbers")["releases"][0]["columns"]
    assert told["exact"]["value"] in (None, 5 * round(column.exact / 5))


def test_both_are_drawn() -> None:
    assert [row["label"] for row in drawn("exact_numbers")] == ["income, dominate", "income, as they are"]


def test_a_document_of_a_file_says_it_too() -> None:
    rng = np.random.default_rng(1)
    file = pl.DataFrame({"region": rng.integers(0, 12, 600), "pay": np.round(rng.lognormal(8, 2, 600))})
    scenario = sdc.Scenario(keys=["region"], magnitudes=["pay"], thresholds={"k": 3, "exact_numbers": 0.0})
    with quiet():
        result = sdc.assess(file, scenario=scenario)
    count = result["default"]["exact_numbers"].columns[0][0].exact
    for internal, value in ((False, 5 * round(count / 5)), (True, count)):
        plain = plain_document(result, internal=internal)
        tree = plain["intruders"][0]["exact_numbers"]
        assert tree["releases"][0]["columns"][0]["exact"]["value"] == value
        assert tree["groups"] == ["region"]
        (verdict,) = [verdict for verdict in plain["verdicts"] if verdict["name"] == "exact_numbers"]
        assert (verdict["holds"]["value"], verdict["variable"]) == (False, None)
    words = VIEW.answer(plain["intruders"][0], "exact_numbers", plain["n"])
    assert words == "Numbers of pay that dominate their group go out within 10 % of the truth."


def test_nothing_to_look_at_is_a_sentence() -> None:
    file = pl.DataFrame({"age": [30, 40] * 40})
    scenario = sdc.Scenario(keys=["age"], numeric=["age"], magnitudes=[], thresholds={"exact_numbers": 0.0})
    with quiet():
        plain = plain_document(sdc.assess(file, scenario=scenario))
    assert "exact_numbers" not in plain["intruders"][0]
    assert plain["verdicts"][0]["holds"]["value"] is None
    nothing = {"exact_numbers": {"releases": [{"columns": []}], "groups": [], "k": 3}}
    (block,) = VIEW.blocks(nothing, "exact_numbers")
    assert block.text == "No column of numbers is released that the intruder does not know."
