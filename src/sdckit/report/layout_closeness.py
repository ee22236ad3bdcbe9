"""An intruder's measures of closeness in a document: who is in a group that gives too much away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Section, TableBlock

__all__ = ["CLOSENESS_BLOCKS", "closeness_sections"]

Plain = Mapping[str, Any]
WORDS = {
    "t_closeness": ("t-closeness", "t"),
    "basic": ("basic β-likeness", "β"),
    "enhanced": ("enhanced β-likeness", "β"),
    "delta": ("δ-disclosure", "δ"),
    "delta_present": ("δ-disclosure over the values present", "δ"),
    "alpha_k": ("(α, k)-anonymity", "α"),
}
HEADS = {
    "t_closeness": "What would be learnt: t-closeness",
    "beta_likeness": "What would be learnt: β-likeness",
    "delta_disclosure": "What would be learnt: δ-disclosure",
    "alpha_k": "What would be learnt: (α, k)-anonymity",
}


def closeness_sections(one: Plain) -> list[Section]:
    """Lay out the measures of closeness that ran."""
    return [Section(title, tuple(_closeness(name)(one)), 3) for name, title in HEADS.items() if one.get(name)]


def _closeness(name: str) -> Callable[[Plain], list[Block]]:
    def blocks(one: Plain) -> list[Block]:
        rows, drawn = [], []
        for variable, kinds in one[name]["variables"].items():
            for kind, limits in kinds.items():
                words, letter = WORDS[kind]
                for limit, leaf in limits.items():
                    label = f"{variable}, {words}, {letter} = {limit}"
                    rows.append((label, leaf["holds"]["text"], leaf["n"]["text"], leaf["rate"]["text"]))
                    drawn.append({"label": label, "n": leaf["n"]})
        caption = "Records in groups beyond the limit"
        heads = ("Sensitive variable and test", "Result", "Records in violation", "Share of records")
        return [
            ChartBlock("bars", {"rows": drawn, "unit": "records"}, caption),
            TableBlock(caption, heads, tuple(rows), (2, 3)),
        ]

    return blocks


# What a single measure shows in a notebook.
CLOSENESS_BLOCKS: Mapping[str, Callable[[Plain], list[Block]]] = {name: _closeness(name) for name in HEADS}
