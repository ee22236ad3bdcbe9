"""View of intervals given as numbers, from an original and its releases."""

from itertools import groupby
from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report import common_blocks, estimates, view
from sdckit.report.blocks import Block, TableBlock
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the intervals file by file (two digits unless confidential), and their overlaps."""
    start = f"{setting.prefix}.{setting.place}"
    rows: list[Tree] = []
    by_term = groupby(enumerate(rows_of(result.forest())), key=lambda numbered: numbered[1]["term"])
    for term, files in [(str(name), list(own)) for name, own in by_term][: estimates.MOST_TERMS]:
        rows += [estimates.forest_row(setting, str(at), row, term=term, file=str(row["file"])) for at, row in files]
    overlaps = {
        file: {
            name: common_blocks.value_leaf(setting.ledger, f"{start}.overlap.{file}.{name}", overlap)
            for name, overlap in list(by_name.items())[: estimates.MOST_TERMS]
        }
        for file, by_name in result.overlap.items()
    }
    mean = common_blocks.value_leaf(setting.ledger, f"{start}.mean_overlap", result.mean_overlap)
    return {"forest": tuple(rows), "overlap": overlaps, "mean_overlap": mean}


def blocks(plain: view.Plain, place: str) -> list[Block]:
    """Forest plot and table of the intervals, and a table of their overlaps."""
    figures = plain[place]
    rows = tuple(
        (f"{name}, {file}", leaf["text"])
        for file, by_name in figures["overlap"].items()
        for name, leaf in by_name.items()
    )
    rows = (*rows, ("Mean", figures["mean_overlap"]["text"]))
    table = TableBlock("Overlap with the original's interval", ("Quantity and file", "Overlap"), rows, (1,))
    return [*estimates.forest_blocks(figures["forest"], "every quantity, file by file"), table]


VIEW = estimates.UtilityView(estimates.USEFULNESS, tree, blocks)
