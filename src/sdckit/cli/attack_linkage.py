"""Linkage by agreement weights as tables for a terminal: how often it is right, and how sure it can be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from sdckit.cli.attack_groups import interval, share
from sdckit.cli.formats import count, make_table
from sdckit.data.frames import rows_of

if TYPE_CHECKING:
    from sdckit.attacks.probabilistic_linkage import ProbabilisticLinkage

__all__ = ["linkage_parts"]

MOST_ROWS = 8


def linkage_parts(words: str, one: ProbabilisticLinkage) -> list[RenderableType]:
    """The rate beside guessing, precision and recall of the pairs called a match, and both by weight."""
    table = make_table(f"{words[:1].upper()}{words[1:]}", "", "share", "interval of 95 %")
    table.add_row(
        "released records linked to the right person", share(one.rate), interval(one.rate_low, one.rate_high)
    )
    table.add_row("the same by guessing", share(one.baseline), "")
    table.add_row("pairs called a match that are right (precision)", share(one.precision), "")
    table.add_row("records whose pair is among them (recall)", share(one.recall), "")
    parts: list[RenderableType] = [table]
    parts.append(
        Text(f"{_number(one.n_links)} of {_number(one.n_pairs)} pairs compared are called a match.", "dim")
    )
    rows = _shortened([row for row in rows_of(one.scores) if row["release"] == 1])
    if rows:
        which = ", release 1" if len(one.per_release) > 1 else ""
        by_weight = make_table(
            f"How sure can the intruder be?{which}",
            "weight at least",
            "pairs",
            "right",
            "precision",
            "recall",
        )
        for row in rows:
            by_weight.add_row(
                f"{row['weight']:.0f}", count(row["pairs"]), count(row["right"]), share(row["precision"]),
                share(row["recall"]),
            )  # fmt: skip
        parts.append(by_weight)
    told = dict.fromkeys(text for name, text in one.notes.items() if name != "precision")
    return [*parts, *(Text(f"Note: {text}", "dim") for text in told)]


def _shortened(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of the weights those at which something changes, and of these at most eight, evenly spread."""
    changed = [
        row for i, row in enumerate(rows) if i == 0 or row["pairs"] != rows[i - 1]["pairs"]
    ]  # fmt: skip
    if len(changed) <= MOST_ROWS:
        return changed
    step = (len(changed) - 1) / (MOST_ROWS - 1)
    return [changed[round(i * step)] for i in range(MOST_ROWS)]


def _number(value: float) -> str:
    return "–" if math.isnan(value) else count(value)
