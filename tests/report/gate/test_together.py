"""Documents joined before they are protected: every leaf is renamed, one quantity has one variable."""

from __future__ import annotations

from typing import get_args

import pytest

from sdckit.report.gate.figures import (
    Count,
    Cumulative,
    Document,
    Histogram,
    InternalOnly,
    Leaf,
    Ledger,
    Levels,
    Quantity,
    Ratio,
    Relation,
    Share,
    SizeClasses,
    Told,
)
from sdckit.report.gate.protect import protect
from sdckit.report.gate.together import NAMES, join


def part(**trues: int) -> tuple[Ledger, dict[str, Count]]:
    ledger = Ledger()
    return ledger, {name: ledger.count(name, true, name) for name, true in trues.items()}


def test_every_kind_of_leaf_can_be_joined() -> None:
    assert set(NAMES) == set(get_args(Leaf))


@pytest.mark.parametrize(
    ("leaf", "found"),
    [
        (Share("a", "n"), Share("r: a", "whole")),
        (Ratio("a", "n"), Ratio("r: a", "whole")),
        (Cumulative(("a", "b"), ("n",)), Cumulative(("r: a", "r: b"), ("whole",))),
        (Told(Count("a"), ("b",), (Count("n"),)), Told(Count("r: a"), ("r: b",), (Count("whole"),))),
        (InternalOnly({"x": Count("a")}), InternalOnly({"x": Count("r: a")})),
        (Levels("a.level", (("f", 3),), "n", 9), Levels("r: a.level", (("f", 3),), "whole", 9)),
        (
            SizeClasses("cells", (("1", 3),), Quantity("alone")),
            SizeClasses("r: cells", (("1", 3),), Quantity("alone", "release 1")),
        ),
        (
            Histogram("risk", (0.0, 1.0), (9,), "n", "e", (("a", 0.1),), guard=("b",)),
            Histogram("r: risk", (0.0, 1.0), (9,), "whole", "r: e", (("r: a", 0.1),), guard=("r: b",)),
        ),
    ],
)
def test_leaves_are_renamed(leaf, found) -> None:
    ledger, _ = part(whole=90)
    other, _ = part(n=90, a=7, b=8)
    document = Document({"x": leaf, "y": ("words", 1)}, other.variables, (), 90, "release 1")
    tree = join(ledger, document, "r: ", same={"n": "whole"})
    assert tree == {"x": found, "y": ("words", 1)}


def test_one_quantity_is_entered_once_and_two_numbers_stay_two() -> None:
    ledger, other, of = Ledger(), Ledger(), Quantity("alone", "release 1")
    ledger.count("u", 7, "u", of=of)
    other.count("same", 7, "x", of=Quantity("alone"))
    document = Document({}, other.variables, (), None, "release 1")
    join(ledger, document, "r: ")
    assert list(ledger.variables) == ["u"]
    third = Ledger()
    third.count("other", 8, "x", of=of)
    join(ledger, Document({}, third.variables, (), None), "s: ")
    assert list(ledger.variables) == ["u", "s: other"]


def test_relations_follow_and_the_size_of_the_file_is_known() -> None:
    ledger, _ = part(whole=90)
    other, _ = part(n=90, a=7)
    other.nested("n", "a")
    other.equal("n", "n")
    join(ledger, Document({}, other.variables, tuple(other.relations), 90), "r: ", same={"n": "whole"})
    assert ledger.relations[0].terms == (("whole", 1.0), ("r: a", -1.0), ("r: n - a", -1.0))
    assert ledger.relations[-1] == Relation((("whole", 1.0),), 90, 90)
    assert len(ledger.relations) == 2


def test_a_difference_over_two_files_is_audited() -> None:
    """Twelve missing before and fourteen after: two values were suppressed, and both stand in one document."""
    before, after = Ledger(), Ledger()
    for one, missing in ((before, 12), (after, 14)):
        one.count("n", 300, "n")
        one.count("missing", missing, "missing")
    ledger = Ledger()
    tree = {
        name: join(ledger, Document({"m": Count("missing")}, one.variables, (), 300, name), f"{name}: ")
        for name, one in (("original", before), ("release 1", after))
    }
    changed = ledger.count("changed", 2, "changed")
    ledger.equal("release 1: missing", "original: missing", "changed")
    plain = protect(Document(tree | {"c": changed}, ledger.variables, tuple(ledger.relations), 300))
    low, high = (
        (leaf["value"] or 0) - leaf.get("rounded_to", 5) / 2
        if side
        else (leaf["value"] or leaf["below"]) + leaf.get("rounded_to", 5) / 2
        for side, leaf in ((1, plain["release 1"]["m"]), (0, plain["original"]["m"]))
    )
    assert plain["c"]["value"] is None
    assert low - high <= 2


@pytest.mark.parametrize("coarse", [3, 12])
def test_one_number_is_printed_one_way(coarse: int) -> None:
    """Two names for one number, of which one is coarsened by what stands beside it."""
    ledger = Ledger()
    for name in ("n", "m"):
        ledger.count(name, 300, name)
    ledger.count("a", 8, "a")
    ledger.count("b", 8, "b")
    ledger.equal("a", "b")
    ledger.count("c", 8 + coarse, "c")
    ledger.nested("c", "a")
    tree = {name: Count(name) for name in "abc"}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), 300))
    assert plain["a"]["text"] == plain["b"]["text"]
