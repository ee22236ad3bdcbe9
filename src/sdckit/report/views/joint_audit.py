"""View of hidden values that can be reconstructed from a release together with published tables."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sdckit.data.limits import LIMITS
from sdckit.report import shares, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.common_blocks import of_whole
from sdckit.report.gate.figures import Quantity, Share, Tree
from sdckit.report.setting import PairSetting, changed_words

TITLE = "What can be reconstructed from release and published tables together?"
SUPPRESSED = "suppressed"
CHART = "Values hidden and reconstructed with tables, by column"
CHARTED = {"hidden": "hidden", "back": "reconstructed"}
UNDONE = {"joint_uniques": "Records alone with their keys", "joint_below": "Records in groups of fewer than {k}"}
REMEDIES = {
    "leave out": "Leave tables out", "round": "Round tables to base {base}", "take out": "Take out further values",
}  # fmt: skip
NOTHING = "No value of the tables' variables is hidden: there is nothing to reconstruct."
UNSEEN = (
    "Not looked at is what the tables give back of {}: not every value that the release shows there is the original's, "
    "or nothing says which records of both belong together."
)


LIMIT = next(kind.name for kind in LIMITS.values() if kind.measure == "joint_audit")
TABLES_OPEN = f"What the tables published beside the file give back of its hidden values is not judged ({LIMIT}):"
CELLS_OPEN = f"What the file gives back of suppressed cells of published tables is not judged ({LIMIT} counts none):"


def tables_open(tables: Sequence[str], judged: Collection[str], *, cells: bool) -> str:
    """What limits that are `judged` leave open of tables, with suppressed `cells` or without; "" where nothing is."""
    if LIMIT in judged:
        return CELLS_OPEN if cells else ""
    return TABLES_OPEN if tables else ""


def tables_command(tables: Sequence[str], released: str, original: str, scenario: str) -> str:
    """The command that tells what tables and a file give back.

    `tables`: "file" or "counted" for each, by where its counts come from. Files as they are typed, or `original` "".

    >>> tables_command(["file"], "safe.csv", "", "s.toml")
    'sdckit joint-audit safe.csv --scenario s.toml'
    """
    original = original or ("ORIGINAL" if "counted" in tables else "")
    return f"sdckit joint-audit {released} --scenario {scenario}" + (original and f" --original {original}")


def _tree(result: Any, setting: PairSetting) -> Mapping[str, Tree]:
    releases = shares.given_back_tree(result, setting, "hidden", "joint_recoverable", _column, _undone, _further)
    return {
        "releases": releases, "tables": tuple(result.tables), "unseen": result.unseen,
        **shares.pair_notes_tree(result),
    }  # fmt: skip


def _undone(result: Any, j: int, start: str, setting: PairSetting) -> dict[str, Tree]:
    return shares.enter_put_back(setting.ledger, start, "joint_uniques", "joint_below", result, j)


def _further(result: Any, j: int, start: str, setting: PairSetting) -> dict[str, Tree]:
    tree: dict[str, Tree] = {}
    if result.cells and result.cells[j - 1]:
        tree["cells"] = tuple(
            _cells(result.tables[cells.table], cells, f"{start}cell.{at}.", setting)
            for at, cells in enumerate(result.cells[j - 1])
        )
    if result.columns[j - 1] and result.damage and result.damage[j - 1]:
        tree |= _remedies(result, j, start, len(result.columns[j - 1]), setting)
    return tree


def _column(column: Any, start: str, setting: PairSetting, j: int) -> Tree:
    ledger = setting.ledger
    changed = Quantity(changed_words(column.column), f"release {j}")
    known = next((name for name, other in ledger.variables.items() if other.of == changed), "")
    alike = bool(known) and ledger.variables[known].true == column.hidden
    of = Quantity(f"Values of {column.column} hidden ({column.kind})", f"release {j}")
    hidden = ledger.count(f"{start}hidden", column.hidden, start, of=changed if alike else of)
    ledger.nested(f"n.released.{j}", hidden.name)
    if alike:
        ledger.equal(known, hidden.name)
    elif known and column.kind == SUPPRESSED and (ledger.variables[known].true or 0) > column.hidden:
        ledger.nested(known, hidden.name)  # what was taken out is among what was changed
    leaves = shares.enter_given_back(ledger, start, hidden.name, column)
    return {
        "column": column.column,
        "kind": column.kind,
        "hidden": hidden,
        **leaves,
        "share": Share(f"{start}back", hidden.name),
    }


def _cells(table: str, cells: Any, start: str, setting: PairSetting) -> dict[str, Tree]:
    """Enter the suppressed cells of a table: how many, with an exactly known count, with a narrowed one."""
    ledger = setting.ledger
    counts = {
        name: ledger.count(f"{start}{name}", getattr(cells, name), start) for name in ("cells", "certain", "narrowed")
    }
    ledger.nested(counts["cells"].name, counts["certain"].name)
    ledger.nested(counts["cells"].name, counts["narrowed"].name)
    ledger.equal(counts["cells"].name, counts["certain"].name, counts["narrowed"].name, ledger.latent(f"{start}rest"))
    return {"table": table, **counts}


def _remedies(result: Any, j: int, start: str, n_columns: int, setting: PairSetting) -> dict[str, Tree]:
    """Enter what each table discloses and the remedies; no table discloses more than all of them together."""
    ledger, whole = setting.ledger, setting.ledger.latent(f"{start}all")
    ledger.equal(whole, *(f"{start}{number}.back" for number in range(n_columns)))

    def among(name: str, true: int) -> Tree:
        leaf = ledger.count(f"{start}{name}", true, f"{start}tables")
        ledger.nested(whole, leaf.name)
        return leaf

    damage: list[Tree] = [
        {"table": row.table, "alone": among(f"alone.{i}", row.alone), "without": among(f"without.{i}", row.without)}
        for i, row in enumerate(result.damage[j - 1])
    ]
    groups = {"cells": "changed", "values": "changed", "left": "tables"}
    remedies: list[Tree] = [
        {"kind": remedy.kind, "tables": remedy.tables, "base": remedy.base}
        | {name: ledger.count(f"{start}{name}.{i}", getattr(remedy, name), start + of) for name, of in groups.items()}
        for i, remedy in enumerate(result.remedies[j - 1])
    ]
    return {"damage": tuple(damage), "remedies": tuple(remedies)}


def _blocks(plain: view.Plain, place: str) -> list[Block]:
    tree = plain[place]
    shown = shares.column_blocks(tree, _table, CHART, CHARTED)
    blocks: list[Block] = [Paragraph(f"Published beside it: {'; '.join(tree['tables'])}."), *shown]
    releases = shares.of_releases(tree["releases"])
    cell_tables = [block for release, of in releases for block in _cells_table(release, of)]
    unseen = [Paragraph(UNSEEN.format(", ".join(tree["unseen"])))] if tree["unseen"] else []
    if len(blocks) == 1:
        return [*blocks, *cell_tables, *(unseen or [Paragraph(NOTHING)]), *shares.pair_notes_blocks(tree)]
    blocks += [*unseen, *cell_tables]
    for release, of in releases:
        blocks += _instead(release, of)
    blocks += shares.put_back_tables(
        tree,
        UNDONE,
        head="With suppressed values put back by tables",
        title="The release with values reconstructed from tables",
    )
    return [*blocks, *shares.pair_notes_blocks(tree)]


def _cells_table(release: view.Plain, of: str) -> list[Block]:
    """Table of the suppressed cells and how many can be reconstructed."""
    if "cells" not in release:
        return []
    heads = ("Table", "Suppressed cells", "Count reconstructed", "Count narrowed")
    rows = tuple(
        (cell["table"], *(cell[name]["text"] for name in ("cells", "certain", "narrowed"))) for cell in release["cells"]
    )
    return [TableBlock(f"Suppressed cells of tables reconstructed from release and tables{of}", heads, rows, (1, 2, 3))]


def _instead(release: view.Plain, of: str) -> list[Block]:
    """Tables of what each published table discloses, and of the remedies."""
    if "damage" not in release:
        return []
    heads = ("Table", "Reconstructed by it alone", "Reconstructed without it")
    rows = tuple((row["table"], row["alone"]["text"], row["without"]["text"]) for row in release["damage"])
    blocks: list[Block] = [TableBlock(f"What each table reveals{of}", heads, rows, (1, 2))]
    if release["remedies"]:
        changes = ("What to do", "Cells changed or left out", "Values taken out", "Still reconstructed")
        remedies = tuple(
            (_words(remedy), *(remedy[name]["text"] for name in ("cells", "values", "left")))
            for remedy in release["remedies"]
        )
        blocks.append(TableBlock(f"What to do instead{of}", changes, remedies, (1, 2, 3)))
        blocks += [
            Paragraph(f"{_words(remedy)}: {'; '.join(remedy['tables'])}.")
            for remedy in release["remedies"]
            if remedy["tables"]
        ]
    return blocks


def _words(remedy: view.Plain) -> str:
    return REMEDIES[remedy["kind"]].format(base=remedy["base"])


def _table(columns: Sequence[view.Plain], of: str) -> TableBlock:
    heads = ("Column", "How it is hidden", "Hidden", "Reconstructed", "Narrowed", "To two")
    rows = tuple(
        (
            column["column"], column["kind"], column["hidden"]["text"], of_whole(column["back"], column["share"]),
            column["narrowed"]["text"], column["between_two"]["text"],
        )
        for column in columns
    )  # fmt: skip
    return TableBlock(f"Hidden values reconstructed from release and tables{of}", heads, rows, (2, 3, 4, 5))


VIEW = shares.ShareView(
    TITLE, _tree, _blocks, view.noted("joint_audit"), answer=shares.back_answer(
        "Release and published tables together give none of the hidden values back for certain.",
        "Hidden values of {} can be reconstructed from release and published tables together.",
    ),
)  # fmt: skip
