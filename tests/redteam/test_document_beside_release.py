"""Whoever has a release, its public document and this software tries what was taken out: documents say so."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.report.chapters.decision import TOGETHER
from sdckit.report.chapters.document import PROTECTION

KEYS = ["sex", "age", "region"]
SCENARIO = sdc.Scenario(keys=KEYS, household="none", magnitudes=[], sensitive=["ill"], thresholds={"k": 3})


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    n = 200
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "age": rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1]),
        "region": rng.choice(list("NSEW"), n, p=[0.5, 0.3, 0.15, 0.05]),
        "ill": rng.choice(["no", "flu", "hiv"], n, p=[0.7, 0.25, 0.05]),
    })  # fmt: skip


def printed(tmp_path, original: pl.DataFrame, *released: pl.DataFrame) -> dict:
    with quiet():
        sdc.assess(original, *released, scenario=SCENARIO, seed=1).to_json(tmp_path / "document.json")
    return json.loads((tmp_path / "document.json").read_text(encoding="utf-8"))


def test_what_was_taken_out_is_tried_and_the_document_warns_of_it(tmp_path, original) -> None:
    """Of each value that was taken out, the others known, only the true one gives this document in the most cases."""
    released = sdc.local_suppression(original, keys=KEYS, k=3).data
    document = printed(tmp_path, original, released)
    gone = [(row, name) for name in KEYS for row in np.flatnonzero(released[name].is_null().to_numpy()).tolist()]
    alone = 0
    for row, name in gone[:4]:
        others = [value for value in original[name].unique().sort() if value != original[name][row]]
        tried = [
            original.with_columns(
                pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(name).alias(name)
            )
            for value in others
        ]
        alone += all(printed(tmp_path, other, released) != document for other in tried)
    assert alone > 0  # where a document tells none of them any more, it need not warn
    assert "somebody who has a release" in document["methods"][-1]["text"]
    assert document["methods"][-1]["text"] == PROTECTION.text
    with quiet():
        sdc.assess(original, released, scenario=SCENARIO, seed=1).report(tmp_path / "report.md")
    assert TOGETHER in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_a_document_of_the_release_by_itself_follows_from_the_release(tmp_path, original) -> None:
    """What may go out beside it: it is the same whatever was taken out."""
    released = sdc.local_suppression(original, keys=KEYS, k=3).data
    with quiet():
        sdc.assess(released, scenario=SCENARIO).report(tmp_path / "report.md")
    assert TOGETHER not in (tmp_path / "report.md").read_text(encoding="utf-8")
