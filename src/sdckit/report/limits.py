"""Records in groups beyond each limit on what a group gives away: alike for every measure of closeness."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sdckit.report.blocks import Block, TableBlock
from sdckit.report.gate.figures import Holds, Share, Tree
from sdckit.report.parts import bars, texts
from sdckit.report.setting import Setting, notes_tree
from sdckit.report.view import Note, Plain, View, noted

__all__ = ["limits_view"]

HEADS = ("Sensitive variable and test", "Result", "Records in violation", "Share of records")


def limits_view(
    words: str, letter: str, text: str, source: str, *, kinds: Mapping[str, str] | None = None
) -> View:
    """Make the view of a measure of closeness; `kinds` are words for each of its kinds, where it has several."""

    def blocks(one: Plain, place: str) -> list[Block]:
        rows, drawn = [], []
        for variable, found in one[place]["variables"].items():
            for kind, limits in found.items():
                for limit, leaf in limits.items():
                    label = f"{variable}, {(kinds or {}).get(kind, words)}, {letter} = {limit}"
                    rows.append((label, *texts(leaf["holds"], leaf["n"], leaf["rate"])))
                    drawn.append((label, leaf["n"]))
        caption = "Records in groups beyond the limit"
        return [bars(caption, "records", drawn), TableBlock(caption, HEADS, tuple(rows), (2, 3))]

    return View(f"What would be learnt: {words}", _tree, blocks, noted(Note(words, text, source)))


def _tree(result: Any, setting: Setting) -> dict[str, Tree]:
    """Records beyond each tested limit, by variable and kind; no largest value."""
    measure = result.measure
    return {
        "variables": {
            variable: {
                kind: _limits(f"{measure}.{variable}.{kind}", counts, setting)
                for kind, counts in _by_kind(result.violations[variable], measure).items()
            }
            for variable in result.variables
        },
        "notes": notes_tree(result),
    }


def _by_kind(violations: Mapping[Any, Any], measure: str) -> Mapping[str, Mapping[float, int]]:
    """The violations by kind; a measure of one kind is its own."""
    nested = any(isinstance(part, Mapping) for part in violations.values())
    return violations if nested else {measure: violations}


def _limits(name: str, counts: Mapping[float, int], setting: Setting) -> dict[str, Tree]:
    """Records beyond each limit; those beyond a wider one are beyond a narrower one, too."""
    leaves = {limit: setting.count(f"{name}.{limit:g}", n, name) for limit, n in sorted(counts.items())}
    for leaf in leaves.values():
        setting.ledger.nested("n", leaf.name)
    for narrow, wide in pairwise(leaves.values()):
        setting.ledger.nested(narrow.name, wide.name)
    return {
        f"{limit:g}": {
            "holds": Holds(counts[limit] == 0, none=(leaf.name,)),
            "n": leaf,
            "rate": Share(leaf.name, "n"),
        }
        for limit, leaf in leaves.items()
    }
