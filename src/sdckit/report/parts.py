"""Small pieces that several views lay out alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, ChartBlock, Paragraph
from sdckit.report.gate.figures import Count
from sdckit.report.gate.relations import link_records
from sdckit.report.setting import Setting

__all__ = ["bars", "notes_blocks", "of_whole", "texts", "uniques_of"]

Plain = Mapping[str, Any]
UNDEFINED = {"text": "undefined", "value": None}


def bars(
    caption: str, unit: str, rows: Iterable[tuple[str, Plain | None] | tuple[str, Plain, str]]
) -> ChartBlock:
    """Draw printed figures as bars: label, figure and, where rows differ, tone of each.

    Examples
    --------
    >>> bars("Cells", "cells", [("1 record", {"text": "<5", "value": None, "below": 5}, "dark")]).data["unit"]
    'cells'
    """
    drawn = [
        {"label": label, "n": UNDEFINED if leaf is None else leaf} | ({"tone": tone[0]} if tone else {})
        for label, leaf, *tone in rows
    ]
    return ChartBlock("bars", {"rows": drawn, "unit": unit}, caption)


def notes_blocks(tree: Plain) -> Sequence[Block]:
    """What a measure has to say about its figures, a paragraph each."""
    return [
        Paragraph(f"{text[:1].upper()}{text[1:]}.", "note") for text in dict.fromkeys(tree["notes"].values())
    ]


def texts(*leaves: Plain) -> tuple[str, ...]:
    """The figures as printed."""
    return tuple(leaf["text"] for leaf in leaves)


def of_whole(count: Plain, rate: Plain) -> str:
    """A count with its share in brackets.

    Examples
    --------
    >>> of_whole({"text": "25"}, {"text": "4.2 %"})
    '25 (4.2 %)'
    """
    return f"{count['text']} ({rate['text']})"


def uniques_of(setting: Setting, true: int) -> Count:
    """Enter the cells of one record, once for all measures that start from them."""
    uniques = setting.count("sample_uniques.cells", true, "violations")
    link_records(setting.ledger, setting.sizes, uniques.name, 1, 1)
    setting.ledger.nested("n", uniques.name)
    return uniques
