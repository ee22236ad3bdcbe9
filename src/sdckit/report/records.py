"""The records at risk, in a confidential document: the riskiest of each intruder, and of how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report.blocks import Block, Paragraph, Section, TableBlock

__all__ = ["MOST_ROWS", "records_section"]

Plain = Mapping[str, Any]
# A page is for reading; all that are listed are in the JSON.
MOST_ROWS = 200


def records_section(plain: Plain) -> Section:
    """Show the riskiest records against each intruder, and say how many there are."""
    found = plain["records_at_risk"]
    blocks: list[Block] = [Paragraph(plain["confidential"], "warning")]
    for name, numbers in found["intruders"].items():
        who = f"Intruder “{name}”: " if len(found["intruders"]) > 1 else ""
        rows = [row for row in found["rows"] if row["intruder"] == name]
        if rows:
            blocks.append(_table(rows[:MOST_ROWS], who + _how_many(numbers)))
        else:
            blocks.append(Paragraph(f"{who}no record is unique or beyond a limit."))
    return Section("Records at risk", tuple(blocks), paper=True)


def _how_many(numbers: Plain) -> str:
    listed, total = numbers["listed"], numbers["total"]
    shown = min(listed, MOST_ROWS)
    if shown == total:
        return f"{total:,} record{'' if total == 1 else 's'}, the riskiest first"
    more = f"; the JSON lists {listed:,}" if listed > shown else ""
    return f"{shown:,} of {total:,} records, the riskiest first{more}"


def _table(rows: Sequence[Plain], caption: str) -> TableBlock:
    # A plan has no row numbers.
    left_out = {"intruder"} | ({"row"} if all(row.get("row") is None for row in rows) else set())
    names = [name for name in rows[0] if name not in left_out]
    cells = tuple(
        tuple(str(row[name]) if name == "row" else _cell(row[name]) for name in names) for row in rows
    )
    return TableBlock(caption, tuple(name.replace("_", " ") for name in names), cells)


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {'missing' if one is None else one}" for key, one in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    return "missing" if value is None else str(value)
