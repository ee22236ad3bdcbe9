"""What the figures of the original stand on where it was recoded as the release is: the one place that says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.chapters.sentences import listed
from sdckit.report.gate.figures import Tree
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.cells.pair import Recoded


KNOWN = {
    "recipe": "the recipe given",
    "log": "the log given",
    "recognised": "recognised from the two files",
}
STANDS_ON = (
    "those of the recoded original: columns coarser in the release by a rule were made so in the original, too; what "
    "the recoding itself takes from risk and usefulness is not counted"
)


def recoded_tree(recoded: Sequence[Recoded]) -> tuple[dict[str, Tree], ...]:
    """The columns that were recoded; no value is among it."""
    return tuple({"column": one.column, "kind": one.kind, "source": one.source} for one in recoded)


def base_name(plain: Plain) -> str:
    """What the file is called whose figures stand before those of the release."""
    return "Recoded original" if plain.get("recoded") else "Original"


def recoded_facts(plain: Plain) -> tuple[tuple[str, str], ...]:
    """A line that says what the figures of the original are; none where it is as it was."""
    return (("Figures of the original", STANDS_ON),) if plain.get("recoded") else ()


def usefulness_note(plain: Plain) -> list[Block]:
    """What the figures of usefulness leave out; nothing where nothing was recoded."""
    if not plain.get("recoded"):
        return []
    columns = listed([one["column"] for one in plain["recoded"]])
    return [
        Paragraph(f"Beside the recoded original: what the recoding of {columns} itself took is not counted.")
    ]


def recoded_blocks(plain: Plain) -> list[Block]:
    """The columns, what was done to them, and how that is known."""
    if not plain.get("recoded"):
        return []
    rows = tuple((one["column"], one["kind"], KNOWN[one["source"]]) for one in plain["recoded"])
    heads = ("Column", "In the original, too", "Known from")
    return [TableBlock("The original, recoded as the release is", heads, rows)]
