"""View of records whose number dominates its group and goes out close to the truth."""

from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report import common_blocks, shares, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.gate.figures import Ledger, Share, Tree
from sdckit.report.setting import notes_tree

TITLE = "Whose large number goes out as it is?"
CHART = "Large numbers, and those that go out as they are, by column"
CHARTED = {"dominating": "dominate", "exact": "as they are"}


def _tree(result: Any, setting: Any) -> Mapping[str, Tree]:
    """Enter the records that count, of each column and of the worst."""
    ledger, start = setting.ledger, f"{setting.prefix}.{result.measure}"
    releases: list[Tree] = []
    for j, columns in enumerate(result.columns, 1):
        leaves = tuple(_column(column, f"{start}.{j}.{number}", ledger) for number, column in enumerate(columns))
        shown = [shares.shown_share(column.exact, result.n) for column in columns]
        worst = shown.index(max(shown)) if shown else 0
        name = start if len(result.columns) == 1 else f"{start}.{j}"
        ledger.count(name, columns[worst].exact if columns else 0, f"{start}.{j}.{worst}")
        if columns:
            ledger.equal(name, f"{start}.{j}.{worst}.exact")
        releases.append({"columns": leaves, "share": Share(name, "n")})
    return {"releases": tuple(releases), "groups": tuple(result.groups), "k": result.k, "notes": notes_tree(result)}


def _column(column: Any, start: str, ledger: Ledger) -> dict[str, Tree]:
    dominating = ledger.count(f"{start}.dominating", column.dominating, start)
    exact = ledger.count(f"{start}.exact", column.exact, start)
    ledger.nested("n", dominating.name)
    ledger.nested(dominating.name, exact.name)
    return {"column": column.column, "dominating": dominating, "exact": exact, "share": Share(exact.name, "n")}


def _blocks(plain: view.Plain, place: str) -> list[Block]:
    tree = plain[place]
    if not any(release["columns"] for release in tree["releases"]):
        return [Paragraph("No column of numbers is released that the intruder does not know.")]
    blocks = shares.column_blocks(tree, _table, CHART, CHARTED, "records")
    by = f"Groups by {', '.join(tree['groups'])}" if tree["groups"] else "The file is one group"
    blocks.append(Paragraph(f"{by}; {tree['k']} numbers within 10 % hide one another.", "note"))
    return blocks


def _table(columns: Sequence[view.Plain], of: str) -> TableBlock:
    rows = tuple(
        (column["column"], column["dominating"]["text"], common_blocks.of_whole(column["exact"], column["share"]))
        for column in columns
    )
    heads = ("Column", "Dominate their group", "Go out within 10 % of the truth")
    return TableBlock(f"Records whose number dominates its group{of}", heads, rows, (1, 2))


def _answer(plain: view.Plain, place: str, _: view.Plain) -> str:
    columns = [column for release in plain[place]["releases"] for column in release["columns"]]
    if not columns:
        return ""
    exact = ", ".join(dict.fromkeys(column["column"] for column in columns if column["exact"]["value"] != 0))
    if not exact:
        return "No number that dominates its group goes out within 10 % of the truth."
    return f"Numbers of {exact} that dominate their group go out within 10 % of the truth."


VIEW = shares.ShareView(TITLE, _tree, _blocks, view.noted("exact_numbers"), answer=_answer)
