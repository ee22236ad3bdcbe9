from __future__ import annotations

from sdckit.report.gate.figures import Ledger, Relation, Variable


def test_a_difference_of_nested_counts_is_watched() -> None:
    ledger = Ledger()
    ledger.count("v3", 9, "k")
    ledger.count("v2", 4, "k")
    ledger.nested("v3", "v2")
    assert ledger.relations == [Relation((("v3", 1.0), ("v2", -1.0), ("v3 - v2", -1.0)))]
    assert ledger.variables["v3 - v2"] == Variable(None)
    ledger.nested("v3", "absent")
    ledger.nested("v3", "v3")
    assert len(ledger.relations) == 1


def test_a_total_is_bounded_on_both_sides() -> None:
    ledger = Ledger()
    ledger.bounded("sum", {"low": (0.0, 0.5), "high": (0.5, 1.0)})
    below, above = ledger.relations
    assert below == Relation((("sum", 1.0), ("high", -0.5)), upper=float("inf"))
    assert above == Relation((("sum", 1.0), ("low", -0.5), ("high", -1.0)), lower=-float("inf"))


def test_a_latent_count_does_not_replace_a_printed_one() -> None:
    ledger = Ledger()
    ledger.count("a", 3, "t")
    ledger.latent("a")
    assert ledger.variables["a"].true == 3
