"""View of edit rules: how many records break each of them, before and after."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sdckit.report import shares, view
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.common_blocks import of_whole
from sdckit.report.gate.figures import Ledger, Share, Tree

CHART = "Records that newly break a rule"


def _tree(result: Any, setting: Any) -> Mapping[str, Tree]:
    """Enter the records that break each rule, and those of the rule that is newly broken most."""
    ledger, start = setting.ledger, f"{setting.prefix}.{setting.place}"
    releases: list[Tree] = []
    for j, of_release in enumerate(result.shares, 1):
        sizes = (setting.n, setting.sizes[j - 1])
        judged = [number for number, row in enumerate(of_release) if not math.isnan(row[2])]
        leaves = tuple(
            {"rule": result.rules[number], **_rule(of_release[number], f"{start}.{j}.{number}", j, sizes, ledger)}
            for number in judged
        )
        tree: dict[str, Tree] = {"columns": leaves}
        if judged:
            worst = max(judged, key=lambda number: (of_release[number][2], -number))
            name = start if len(result.shares) == 1 else f"{start}.{j}"
            ledger.count(name, round(of_release[worst][2] * setting.n), f"{start}.{j}.{worst}")
            ledger.equal(name, f"{start}.{j}.{worst}.newly")
            tree[result.figures[0]] = Share(name, "n")
        releases.append(tree)
    return {
        "releases": tuple(releases), "unjudged": tuple(result.unjudged),
        "variables": tuple(dict.fromkeys(name for names in result.columns for name in names)),  # kept in translations
        **shares.pair_notes_tree(result),
    }  # fmt: skip


def _rule(row: Sequence[float], start: str, j: int, sizes: tuple[int, int], ledger: Ledger) -> dict[str, Tree]:
    n, released = sizes
    base = f"n.released.{j}"
    before = ledger.count(f"{start}.before", round(row[0] * n), start)
    after = ledger.count(f"{start}.after", round(row[1] * released), start)
    newly = ledger.count(f"{start}.newly", round(row[2] * n), start)
    ledger.nested("n", before.name)
    ledger.nested(base, after.name)
    ledger.nested("n", newly.name)
    if round(row[2] * n) <= round(row[1] * released):
        ledger.nested(after.name, newly.name)
    return {
        "before": before, "after": after, "newly": newly, "share_before": Share(before.name, "n"),
        "share_after": Share(after.name, base), "share_newly": Share(newly.name, "n"),
    }  # fmt: skip


def _blocks(plain: view.Plain, place: str) -> list[Block]:
    tree = plain[place]
    blocks = shares.column_blocks(tree, _table, CHART, {"newly": "newly broken"}, "records", of="rule")
    return [*blocks, *(Paragraph(f"Not judged: {rule}.", "note") for rule in tree["unjudged"])]


def _table(rules: Sequence[view.Plain], of: str) -> TableBlock:
    rows = tuple(
        (rule["rule"], *(of_whole(rule[name], rule[f"share_{name}"]) for name in ("before", "after", "newly")))
        for rule in rules
    )
    return TableBlock(f"Records that break a rule{of}", ("Rule", "Original", "Release", "Newly"), rows, (1, 2, 3))


def _answer(plain: view.Plain, place: str, _: view.Plain) -> str:
    rules = [rule for release in plain[place]["releases"] for rule in release["columns"]]
    if not rules:
        return ""
    newly = {rule["rule"] for rule in rules if rule["newly"]["value"] != 0}
    listed = {rule["rule"] for rule in rules}
    if not newly:
        return "No record of the release newly breaks an edit rule."
    return f"Records of the release newly break {len(newly)} of {len(listed)} edit rules."


VIEW = shares.ShareView("Do records contradict themselves?", _tree, _blocks, view.noted("edit_rules"), answer=_answer)
