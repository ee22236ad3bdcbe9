"""A variable before and after a step, in a document: bars of its records, rare values pooled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdckit.report.blocks import Block, Paragraph
from sdckit.report.gate.figures import Document, Ledger, Levels, Tree
from sdckit.report.gate.protect import protect
from sdckit.report.gate.relations import level_names
from sdckit.report.parts import bars
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.workflow.recipes.step_forms import Picture, VariableCounts


SIDES = ("before", "after")
CAPTIONS = {"before": "Before the step", "after": "After the step"}
GONE = {
    "before": "The variable is not in the file before the step.",
    "after": "The step leaves the variable out.",
}
MISSING = "missing"
MOST_LEVELS = 30


def plain_picture(picture: Picture, *, internal: bool = False) -> dict[str, Any]:
    """Give the protected figures of a variable on both sides of a step.

    Raises DataError: fewer than 50 records, unless internal.
    """
    ledger = Ledger()
    tree: dict[str, Tree] = {"variable": picture.variable}
    sizes = []
    for side in SIDES:
        found: VariableCounts | None = getattr(picture, side)
        if found is not None:
            sizes.append(found.n)
            tree[side] = _side(side, found, ledger)
    if not internal:
        _link(picture, tree, ledger)
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), min(sizes)), internal=internal)
    for side in SIDES:
        if side in plain and not plain[side]["edges"]:
            order = [name for name, _ in getattr(picture, side).counts]
            plain[side]["rows"] = _in_order(plain[side]["rows"], order)
    return plain


def _side(side: str, found: VariableCounts, ledger: Ledger) -> dict[str, Tree]:
    n = ledger.count(f"{side}.n", found.n, f"{side}.n")
    missing = ledger.count(f"{side}.missing", found.n_missing, side)
    told: dict[str, Tree] = {"n": n, "missing": missing, "edges": found.edges, "whole": found.whole}
    if not found.edges:
        levels = Levels(
            f"{side}.level", found.counts, n.name, found.n, missing.name, found.n_missing, shown=MOST_LEVELS
        )
        return told | {"rows": levels}
    bins = [ledger.count(f"{side}.bin.{at}", count, side) for at, (_, count) in enumerate(found.counts)]
    ledger.equal(n.name, missing.name, *(one.name for one in bins))
    names = [name for name, _ in found.counts]
    rows: tuple[Tree, ...] = tuple({"level": name, "n": one} for name, one in zip(names, bins, strict=True))
    return told | {"rows": rows}


def _link(picture: Picture, tree: dict[str, Tree], ledger: Ledger) -> None:
    """Say which records are counted on both sides: the difference of two figures could count few of them."""
    if picture.before is not None and picture.after is not None and picture.before.n == picture.after.n:
        ledger.equal("before.n", "after.n")
    if not picture.flows:
        return
    names = {side: _names(side, getattr(picture, side), tree[side]) for side in SIDES}
    flows = {(names["before"][one], names["after"][other]) for one, other, _ in picture.flows}
    for at in range(len(SIDES)):
        for name in sorted({one[at] for one in flows}):
            parts = sorted(one for one in flows if one[at] == name)
            ledger.equal(name, *(ledger.latent(" to ".join(one)) for one in parts))


def _names(side: str, found: VariableCounts, tree: Tree) -> list[str]:
    """The variables of a side by the places of its counts, the missing at the end."""
    levels = tree["rows"] if isinstance(tree, dict) else None
    known = level_names(levels) if isinstance(levels, Levels) else [
        f"{side}.bin.{at}" for at in range(len(found.counts))
    ]  # fmt: skip
    return [*known, f"{side}.missing"]


def _in_order(rows: list[Plain], order: list[str]) -> list[Plain]:
    """Levels that are shown, in the order of the variable, what is pooled last."""
    place = {name: at for at, name in enumerate(order)}
    return sorted(rows, key=lambda row: (bool(row.get("pooled")), place.get(str(row["level"]), len(place))))


def picture_blocks(plain: Plain) -> list[Block]:
    """Draw both sides."""
    found: list[Block] = []
    for side in SIDES:
        if side not in plain:
            found.append(Paragraph(GONE[side]))
            continue
        rows = [(str(row["level"]), row["n"]) for row in _used(plain[side])]
        if plain[side]["missing"]["text"] != "0":
            rows.append((MISSING, plain[side]["missing"]))
        found.append(bars(CAPTIONS[side], "records", rows))
    return found


def _used(side: Plain) -> list[Plain]:
    """The rows without empty bins at the ends."""
    rows = list(side["rows"])
    while side["edges"] and len(rows) > 1 and rows[0]["n"]["text"] == "0":
        rows = rows[1:]
    while side["edges"] and len(rows) > 1 and rows[-1]["n"]["text"] == "0":
        rows = rows[:-1]
    return rows
