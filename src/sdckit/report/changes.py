"""The record of a protection step as it may leave the room: small counts hidden, as in every document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdckit.display import EXACT
from sdckit.report.blocks import Block, Paragraph, TableBlock
from sdckit.report.formats.html import render_fragment
from sdckit.report.gate.figures import Document, Foreign, Ledger, Tree
from sdckit.report.gate.protect import SMALLEST_FILE, WITHHELD, protect


def change_html(told: Mapping[str, Any], *, exact: bool) -> str:
    """A change for a notebook, as its `to_dict` tells it."""
    rows = tuple((name, _text(count)) for name, count in told["changed"].items())
    blocks: list[Block] = [
        TableBlock(
            f"Values changed, of {_text(told['n'])} records", ("variable", "changed"), rows, numeric=(1,)
        ),
        *(Paragraph(f"{name}: {_text(note)}") for name, note in told["notes"].items()),
    ]
    return render_fragment(str(told["method"]), blocks, note=EXACT if exact else "")


def _text(leaf: Any) -> str:
    if isinstance(leaf, Mapping):
        return str(leaf["text"])
    return f"{leaf:,}" if isinstance(leaf, int) else str(leaf)


def protected_change(n: int, changed: Mapping[str, int], notes: Mapping[str, str]) -> dict[str, Any]:
    """Records, values changed by variable, and notes, as `protect` prints them; of a small file no count at all.

    Examples
    --------
    >>> found = protected_change(1003, {"age": 2, "region": 128}, {})
    >>> {name: leaf["text"] for name, leaf in found["changed"].items()}, found["n"]["text"]
    ({'age': '<5', 'region': '130'}, '1,005')
    """
    if n < SMALLEST_FILE:
        return {
            "n": {"text": f"<{SMALLEST_FILE}", "value": None, "below": SMALLEST_FILE},
            "changed": {name: dict(WITHHELD) for name in changed}, "notes": {},
        }  # fmt: skip
    ledger = Ledger()
    tree: dict[str, Tree] = {"n": ledger.count("n", n, "n")}
    counts: dict[str, Tree] = {}
    for number, (name, count) in enumerate(changed.items()):
        counts[name] = ledger.count(f"v{number}", count, "changed")
        ledger.nested("n", f"v{number}")
    tree["changed"] = counts
    tree["notes"] = {name: Foreign(note) for name, note in notes.items()}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), n))
    return {name: plain[name] for name in ("n", "changed", "notes")}
