"""Blocks on single combinations of keys, as command line and app show them to somebody who may see them."""

from __future__ import annotations

import polars as pl

import sdckit as sdc
from sdckit.report.blocks import TableBlock
from sdckit.report.explanation import MOST_SETS, alone_words, explanation_blocks, riskiest_block

PEOPLE = pl.DataFrame({"sex": ["f", "f", "m", "f"], "age": [30, 30, 30, 40]})


def test_one_that_is_alone_is_explained() -> None:
    explained = sdc.explain(PEOPLE, keys=["sex", "age"], row=3)
    tables = {block.caption: block for block in explanation_blocks(explained) if isinstance(block, TableBlock)}
    assert tables["The record"].rows == (("sex", "m"), ("age", "30"))
    assert tables["Smallest sets of keys that single it out"].rows == (("sex", "1"),)
    assert tables["Single changes that end it"].rows[0][0] == "leave out sex"
    assert alone_words(explained) == "Alone among 4 records."


def test_one_that_is_not_alone_has_no_sets() -> None:
    explained = sdc.explain(PEOPLE, keys=["sex", "age"], row=1)
    assert [block.caption for block in explanation_blocks(explained) if isinstance(block, TableBlock)] == ["The record"]
    assert alone_words(explained).startswith("2 records share these values")


def test_many_sets_are_cut() -> None:
    wide = pl.DataFrame({f"x{at}": [0, *([1] * 9)] for at in range(MOST_SETS + 4)})
    blocks = explanation_blocks(sdc.explain(wide, keys=wide.columns, row=1))
    (sets,) = [block for block in blocks if getattr(block, "caption", "").startswith("Smallest")]
    assert isinstance(sets, TableBlock)
    assert len(sets.rows) == MOST_SETS


def test_combinations_have_their_records_and_risk() -> None:
    block = riskiest_block(["sex", "age"], [("f", "30", 1234, 0.5), ("m", None, 1, 1.0)])
    assert block.rows == (("1", "f", "30", "1,234", "0.5"), ("2", "m", "–", "1", "1"))
    assert block.columns == ("No.", "sex", "age", "Records", "Risk of each")
