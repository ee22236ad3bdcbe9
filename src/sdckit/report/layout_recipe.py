"""The section "What was done" of a report: the steps, what they changed, the risk after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Paragraph, Section, TableBlock
from sdckit.report.sentences import listed

__all__ = ["recipe_section"]

Plain = Mapping[str, Any]
MOST_NOTES = 12


def recipe_section(plain: Plain) -> Section:
    """Lay out what `plain_recipe` gave."""
    methods = [f"{one['step']}. {one['method']}" for one in plain["steps"]]
    several = len(methods) > 1
    first = f"The release was made from the original in {len(methods)} step{'s' if several else ''}: {listed(methods)}."
    blocks: list[Block] = [Paragraph(first), _steps(plain["steps"]), _changed(plain["steps"])]
    if any("below_k" in one for one in plain["figures"]):
        blocks += _after(plain)
    notes = [f"Step {one['step']}: {note}." for one in plain["steps"] for note in one["notes"]]
    blocks += [Paragraph(note) for note in notes[:MOST_NOTES]]
    made = listed([f"{name} {number}" for name, number in plain["versions"].items()])
    blocks.append(
        Paragraph(
            f"Made with {made}. Seed, keys and matrices are in the internal log, which is not to go out."
        )
    )
    return Section("What was done", tuple(blocks))


def _steps(steps: Sequence[Plain]) -> TableBlock:
    rows = tuple(
        (
            f"{one['step']}. {one['method']}",
            "; ".join(f"{name} = {text}" for name, text in one["arguments"].items()),
        )
        for one in steps
    )
    return TableBlock("The steps", ("Step", "As asked"), rows)


def _changed(steps: Sequence[Plain]) -> TableBlock:
    rows = tuple(
        (f"{one['step']}. {one['method']}", row["variable"], row["n"]["text"], row["share"]["text"])
        for one in steps
        for row in one["changed"]
    )
    return TableBlock("Values changed", ("Step", "Variable", "Values", "Share of the records"), rows, (2, 3))


def _after(plain: Plain) -> list[Block]:
    figures = [one for one in plain["figures"] if "below_k" in one]
    several = len({one["intruder"] for one in figures}) > 1
    rows = tuple(
        (
            _label(one, several=several),
            one["sample_uniques"]["text"],
            one["below_k"]["text"],
            one["expected_reidentifications"]["text"] if "expected_reidentifications" in one else "–",
            one["share_changed"]["text"],
            "–" if one["pmse"] is None else one["pmse"]["text"],
        )
        for one in figures
    )
    heads = (
        "After",
        "Alone with their keys",
        f"In groups of fewer than {plain['k']}",
        "Expected re-identifications",
        "Values that differ",
        "pMSE",
    )
    bars = [{"label": _label(one, several=several), "n": one["below_k"]} for one in figures]
    caption = f"Records in groups of fewer than {plain['k']} with the same keys, after each step"
    return [
        TableBlock("Risk and utility after each step", heads, rows, tuple(range(1, len(heads)))),
        ChartBlock("bars", {"rows": bars, "unit": "records"}, caption),
    ]


def _label(one: Plain, *, several: bool) -> str:
    step = "the original" if one["step"] == 0 else f"{one['step']}. {one['method']}"
    return f"{step}, {one['intruder']}" if several else step
