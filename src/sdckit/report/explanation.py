"""Confidential blocks on single combinations of keys: the riskiest ones, and what singles one of them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Paragraph, TableBlock

if TYPE_CHECKING:
    from sdckit.identity.special_uniques.explain import Change, Explanation


MOST_SETS = 20


def explanation_blocks(explained: Explanation) -> list[Block]:
    """The values of the record, the smallest sets of keys that single it out, and what would end it.

    >>> import polars as pl
    >>> import sdckit as sdc
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 31, 30]})
    >>> explained = sdc.explain(people, keys=["sex", "age"], row=3)
    >>> [block.caption for block in explanation_blocks(explained) if block.kind == "table"]
    ['The record', 'Smallest sets of keys that single it out', 'Single changes that end it']
    """
    values = tuple((key, str(value)) for key, value in explained.values.items())
    blocks: list[Block] = [TableBlock("The record", ("Key", "Value"), values)]
    if any(explained.key_sets):  # the one record of a file is alone on no key at all
        rows = tuple((" + ".join(key_set), str(len(key_set))) for key_set in explained.key_sets[:MOST_SETS])
        blocks.append(TableBlock("Smallest sets of keys that single it out", ("Keys", "Size"), rows, (1,)))
        if len(explained.key_sets) > MOST_SETS:
            blocks.append(Paragraph(f"the first {MOST_SETS} of {len(explained.key_sets):,}", "note"))
    if explained.changes:
        changes = tuple(
            (_words(change), f"{change.entropy_lost:.3f}", f"{change.sharing:,}") for change in explained.changes
        )
        heads = ("Change", "Bits lost", "Then sharing")
        blocks.append(TableBlock("Single changes that end it", heads, changes, (1, 2)))
    return blocks


def _words(change: Change) -> str:
    how = "leave out" if change.action == "drop" else "coarsen"
    return f"{how} {change.variable}{', ' if change.rule else ''}{change.rule}"


def alone_words(explained: Explanation) -> str:
    """Whether the record is alone, in a sentence."""
    if explained.sharing == 1:
        return f"Alone among {explained.n:,} records."
    return f"{explained.sharing:,} records share these values: none of them is alone, so no key singles one out."


def riskiest_block(keys: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> TableBlock:
    """A table of combinations, the riskiest first: the values of the keys, records of the file, and the risk."""
    cells = tuple(
        (str(number), *("–" if value is None else str(value) for value in values), f"{records:,}", f"{risk:.3g}")
        for number, (*values, records, risk) in enumerate(rows, 1)
    )
    heads = ("No.", *keys, "Records", "Risk of each")
    return TableBlock("The riskiest combinations of keys", heads, cells, (0, len(keys) + 1, len(keys) + 2))
