"""What a release gives back, in a document: small counts are hidden, and what told them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from attacks.recovery.made import KEYS, released, survey
from sdckit import recoverable_values
from sdckit.report.charts import to_svg
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

ORIGINAL = survey(700)


def found(hidden, whole=ORIGINAL, **given):
    roles = {"keys": KEYS, "weight": "weight", "household": "home", "seed": 1}
    return recoverable_values(hidden, whole, **roles | given)


def few(n):
    """A release in which n regions are missing, which the weight tells."""
    rows = np.random.default_rng(5).choice(ORIGINAL.height, n, replace=False)
    gone = pl.Series(np.isin(np.arange(ORIGINAL.height), rows))
    return ORIGINAL.with_columns(region=pl.when(gone).then(None).otherwise("region"))


def tree_of(result, *, internal=False):
    (tree,) = protect(result_document(result), internal=internal)["measures"].values()
    return tree


def blocks_of(result, *, internal=False):
    return result_blocks(protect(result_document(result), internal=internal))


def text_of(result, *, internal=False):
    return "\n".join(repr(block) for block in blocks_of(result, internal=internal))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_than_five_values_given_back_are_never_told(n):
    result = found(few(n))
    assert result.right == n
    tree = tree_of(result)
    plain = json.dumps(tree["releases"])
    assert "weight" not in plain
    (column,) = tree["releases"][0]["columns"]
    assert column["told_by"] == ""
    assert column["back"]["text"] != str(n)
    assert column["touched"]["text"] != str(n)
    assert tree["advice"] in ((), [])
    assert "exact" not in tree
    said = text_of(result)
    assert "coarsen" not in said
    assert "mates share it" not in said


def test_inside_everything_is_told():
    result = found(few(3))
    tree = tree_of(result, internal=True)
    assert tree["releases"][0]["columns"][0]["back"]["text"] == "3"
    assert "coarsen_weights" in " ".join(tree["exact"]["advice"])
    assert "coarsen_weights" in text_of(result, internal=True)


def test_what_many_values_tell_is_printed():
    result = found(released(ORIGINAL))
    tree = tree_of(result)
    columns = {one["column"]: one for one in tree["releases"][0]["columns"]}
    assert "weight" in columns["region"]["told_by"]
    assert columns["sex"]["told_by"] == ""
    assert any("coarsen_weights" in words for words in tree["advice"])
    assert "What to do" in text_of(result)
    assert "Values changed and given back, by column" in text_of(result)


def test_every_chart_can_be_drawn():
    result = found(released(ORIGINAL))
    assert "<svg" in to_svg(result.plot())
    (rows,) = result.plot().to_dict()["datasets"].values()
    said = {str(value) for row in rows for value in row.values()}
    assert {"region, changed", "region, given back", "sex, changed"} <= said


def test_nothing_changed_and_several_releases():
    nothing = found(ORIGINAL)
    assert "No value of the release was changed" in text_of(nothing)
    two = found([released(ORIGINAL), few(20)])
    captions = [getattr(block, "caption", "") for block in blocks_of(two)]
    assert "Changed values that the release gives back, release 1" in captions
    assert "Changed values that the release gives back, release 2" in captions


def test_without_keys_and_without_the_original():
    result = found(released(ORIGINAL), None, keys=None)
    tree = tree_of(result)
    assert "undone_uniques" not in tree["releases"][0]
    assert "guess" not in tree["releases"][0]["columns"][0]
    assert "–" in text_of(result)
