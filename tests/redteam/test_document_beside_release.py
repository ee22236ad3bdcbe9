"""Whoever has a release, its public document and this software tries what was taken out: documents say so."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.data.scenarios.guess import guess_file, write_guesses
from sdckit.data.scenarios.scenario_toml import INSIDE
from sdckit.report.chapters.decision import TOGETHER
from sdckit.report.chapters.document import PROTECTION
from tree import ROOT

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

    def is_alone(row: int, name: str) -> bool:
        others = [value for value in original[name].unique().sort() if value != original[name][row]]
        tried = [
            original.with_columns(
                pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(name).alias(name)
            )
            for value in others
        ]
        return all(printed(tmp_path, other, released) != document for other in tried)

    assert any(is_alone(*at) for at in gone[:4])  # where a document tells none of them any more, it need not warn
    assert "somebody who has a release" in document["methods"][-1]["text"]
    assert document["methods"][-1]["text"] == PROTECTION.text
    with quiet():
        sdc.assess(original, released, scenario=SCENARIO, seed=1).report(tmp_path / "report.md")
    assert TOGETHER in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_a_document_of_the_release_by_itself_follows_from_the_release(tmp_path, original) -> None:
    """What may go out beside it: it is the same whatever was taken out, and wherever and whenever it is written."""
    released = sdc.local_suppression(original, keys=KEYS, k=3).data
    texts = set()
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        with quiet():
            sdc.assess(released.clone(), scenario=SCENARIO).report(tmp_path / name / "report.md")
        texts.add((tmp_path / name / "report.md").read_text(encoding="utf-8"))
    assert len(texts) == 1
    assert TOGETHER not in str(texts)


def test_the_release_by_itself_is_tried_with_the_method_and_the_page_says_so(original) -> None:
    """Of values that were taken out, the others known, the true one alone gives the release, though none follows."""
    recipe = sdc.Recipe([{"method": "local_suppression"}])
    released, again = (recipe.apply(original, scenario=SCENARIO, watch=False) for _ in range(2))
    assert released.data.equals(again.data)  # no secret of the draws stands before it
    assert released.log.steps[0].parameters["n_implied"] == 0
    gone = [(row, name) for name in KEYS for row in np.flatnonzero(released.data[name].is_null().to_numpy()).tolist()]

    def is_alone(row: int, name: str) -> bool:
        guesses = [
            original.with_columns(
                pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(name).alias(name)
            )
            for value in original[name].unique().sort()
            if value != original[name][row]
        ]
        return not any(sdc.local_suppression(guess, keys=KEYS, k=3).data.equals(released.data) for guess in guesses)

    assert any(is_alone(*at) for at in gone)  # where none can be told any more, the page need not say it
    page = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
    assert "The release by itself can be tried, too" in page


def test_the_comments_of_a_scenario_are_of_the_file_and_its_copy_without_them_is_not(tmp_path) -> None:
    """`scenario init` says in the file that its comments tell of the records; what it declares has none of it."""
    ages = [20, *range(30, 90)] * 5
    texts, copies = [], []
    for n in (0, 200):
        pl.DataFrame({"sex": ["f", "m"] * 150 + ["f"] * 5 + ["m"] * n, "age": ages + [95] * n}).write_csv(
            tmp_path / "a.csv"
        )
        guesses, name, looked_at, notes = guess_file(tmp_path / "a.csv")
        texts.append(write_guesses(guesses, name=name, looked_at=looked_at, notes=notes))
        (tmp_path / "s.toml").write_text(texts[-1], encoding="utf-8")
        copies.append(sdc.Scenario.from_toml(tmp_path / "s.toml").to_toml())
    assert texts[0] != texts[1]
    assert copies[0] == copies[1]
    assert "#" not in copies[0]
    assert all(INSIDE in " ".join(text.replace("#", " ").split()) for text in texts)
