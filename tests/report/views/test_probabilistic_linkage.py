"""Linking despite slips: everybody is attacked, with nobody to compare."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from report.views.pairs import drawn, printed, result_of, shown
from sdckit.report.blocks import TableBlock
from sdckit.report.notebook import screen_blocks
from sdckit.report.rates import has_residual_risk
from sdckit.report.view import view_of
from sdckit.report.views.probabilistic_linkage import _weights

RARE = {"baseline_rate": {"text": "0.01", "value": 0.01}, "n_attacks": {"text": "100", "value": 100}}


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"successes": {"text": "30", "value": 30}}, "released records are linked to the right people"),
        ({"successes": {"text": "<5", "value": None, "below": 5}}, "too few successes"),
        ({"successes": {"text": "0", "value": 0}}, "no better than guessing"),
        ({"successes": {"text": "withheld", "value": None}}, "withheld"),
        ({}, "no attack could be made"),
    ],
)
def test_linkage_in_words(found, words):
    one = view_of("probabilistic_linkage").conclude({"releases": [{**RARE, **found}]})
    assert words in one["means"]
    assert one["residual_risk"]["text"] == one["releases"][0]["control_rate"]["text"] == "not compared"
    assert not has_residual_risk("probabilistic_linkage:a")


def test_rates_are_drawn_and_precision_is_inside():
    assert [row["label"] for row in drawn("probabilistic_linkage")] == ["succeed", "by guessing"]
    assert "recall" not in str(printed("probabilistic_linkage"))
    blocks = shown("probabilistic_linkage", internal=True)
    (table,) = (block for block in blocks if getattr(block, "caption", "").startswith("How sure"))
    assert 0 < len(table.rows) <= 8
    recall = f"recall {100 * result_of('probabilistic_linkage').recall:.3g} %"
    assert any(recall in getattr(block, "text", "") for block in blocks)


NAMES = [
    first + last for first in ("Anna", "Berta", "Chloe", "Dora") for last in ("Kant", "Mill", "Hume", "Locke", "Marx")
]
PEOPLE = pl.DataFrame({"name": NAMES * 3, "age": [20 + (7 * i) % 61 for i in range(60)], "town": ["a", "b", "c"] * 20})
VARIABLES = ["name", "age", "town"]


def inside(result: Any) -> tuple[dict[str, TableBlock], str]:
    """The tables of the exact document, and its words."""
    blocks = screen_blocks(result)
    tables = {block.caption: block for block in blocks if isinstance(block, TableBlock)}
    return tables, " ".join(str(getattr(block, "text", "")) for block in blocks)


def test_every_figure_beside_its_words() -> None:
    typed = PEOPLE.with_columns(name=pl.col("name").str.replace("a", "o"))
    found = sdc.probabilistic_linkage(PEOPLE, [typed, PEOPLE], variables=VARIABLES, seed=1)
    tables, words = inside(found)
    assert f"{found.n_links:,.0f} of 3,600 pairs compared are called a match" in words
    assert f"precision {100 * found.precision:.3g} %; recall {100 * found.recall:.3g} %." in words
    assert f"{found.rate:.1%} of the released records are linked to the right person" in words
    assert f"(between {found.rate_low:.1%} and {found.rate_high:.1%}), {found.baseline:.1%} by guessing" in words
    assert "Linking records despite slips: 1 of 2 releases have the original's values" in words
    first = found.scores.row(0, named=True)
    rows = tables["How sure can the intruder be?, release 1"].rows
    assert rows[0] == (
        f"{first['weight']:.0f}", f"{first['pairs']:,}", f"{first['right']:,}",
        f"{100 * first['precision']:.3g} %", f"{100 * first['recall']:.3g} %",
    )  # fmt: skip
    assert len(rows) <= 8
    assert len({row[1] for row in rows}) == len(rows)
    assert rows[-1][1] == f"{found.scores.filter(release=1)['pairs'][-1]:,}"


@pytest.mark.parametrize(("n", "pairs"), [(100, [0, 14, 28, 42, 57, 71, 85, 99]), (8, [*range(8)]), (0, [])])
def test_weights_are_shortened_to_eight(n: int, pairs: list[int]) -> None:
    row = {"release": 1, "weight": 0.0, "right": 0.0, "precision": 0.5, "recall": 0.5}
    twice = [{**row, "pairs": i // 2} for i in range(2 * n)]  # where nothing changes, one is left
    result = SimpleNamespace(scores=pl.DataFrame(twice, schema=[*row, "pairs"]))
    assert [one["pairs"] for one in _weights(result)] == pairs


def test_no_pair_at_all() -> None:
    found = result_of("probabilistic_linkage")
    none = replace(found, links=(), n_links=0, n_pairs=0, precision=float("nan"))
    tables, words = inside(none)
    assert "0 of 0 pairs compared are called a match; precision –" in words
    assert not any(caption.startswith("How sure") for caption in tables)
