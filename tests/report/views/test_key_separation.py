"""What sets of keys tell apart: figures inside, words outside."""

from __future__ import annotations

import polars as pl

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document, result_html


def separation(n: int) -> sdc.KeySeparation:
    with quiet():
        return sdc.key_separation(pl.DataFrame(survey(n)), keys=["sex", "age", "occupation"])


def test_figures_stand_in_a_confidential_document_alone() -> None:
    result = separation(300)
    plain = protect(result_document(result))["key_separation"]
    assert all(row.keys() == {"variables", "told_apart"} for row in plain["table"])
    assert plain["table"][-1]["told_apart"] == "99 in 100 or more"
    inside = result_html(result, exact=True)
    for words in (f"{result.separation:.4f}", f"{result.distinction:.4f}", "Distinction"):
        assert words in inside
        assert words not in result_html(result).replace("Distinction and separation", "")


def test_of_few_records_nothing_is_said() -> None:
    plain = protect(result_document(separation(60)))["key_separation"]
    assert {row["told_apart"] for row in plain["table"]} == {"not said of so few records"}


def test_german() -> None:
    page = result_html(separation(300), exact=True, language="de")
    for words in ("Was Mengen von Merkmalen unterscheiden", "99 von 100 oder mehr", "Trennung"):
        assert words in page
    for words in ("Pairs of records", "told apart", "or more"):
        assert words not in page


def test_many_sets_are_cut_off_before_all_keys() -> None:
    frame = pl.DataFrame({f"k{j}": [(i >> j) % 2 for i in range(512)] for j in range(9)})
    with quiet():
        result = sdc.key_separation(frame, keys=frame.columns)
    rows = protect(result_document(result))["key_separation"]["table"]
    assert len(rows) == 40
    assert len(result.table) == 46
    assert len(rows[-1]["variables"]) == 9
