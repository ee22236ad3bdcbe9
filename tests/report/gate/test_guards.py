"""One number has one print; what few records carry is withheld, or has few digits."""

from __future__ import annotations

import math

import pytest

from sdckit.report.gate.figures import Ledger, Quantity, Variable
from sdckit.report.gate.guards import alike, by_records, coarsest, guarded
from sdckit.report.gate.rounding import WITHHELD, print_variable


def of_value(true: float):
    return print_variable(Variable(true, kind="value"), 0)


@pytest.mark.parametrize(
    ("n", "true", "nothing", "text"),
    [
        (0, 0.0123, 0.0, "0.012"), (3, 0.0123, 0.0, "withheld"), (44, 0.0123, 0.0, "withheld"),
        (50, 0.0123, 0.0, "0.01"), (50, 0.098, 0.0, "0.1"), (600, 0.098, 0.0, "0.098"),
        (50, 0.55, 0.5, "0.55"), (50, 0.95, 0.5, "0.9"), (60, 0.0, 0.0, "0"),
    ],
)  # fmt: skip
def test_digits_leave_five_records_in_a_step(n: int, true: float, nothing: float, text: str) -> None:
    found = by_records(of_value(true), [print_variable(Variable(n), 0)], nothing)
    assert found.text == text
    assert found.low <= true <= found.high


def test_a_figure_is_withheld_where_one_of_its_counts_is_few() -> None:
    ledger = Ledger()
    for name, n in (("many", 90), ("none", 0), ("few", 2)):
        ledger.count(name, n, name)
    ledger.value("told", 7.6, "x", guard=("many", "none"))
    ledger.value("hidden", 7.6, "y", guard=("many", "few"))
    prints = {name: print_variable(one, 0) for name, one in ledger.variables.items()}
    found = guarded(prints, ledger)
    assert (found["told"].text, found["hidden"], found["few"].text) == ("8", WITHHELD, "<5")


def test_equal_numbers_are_printed_as_the_coarsest_of_them() -> None:
    ledger = Ledger()
    for name in ("a", "b", "c", "d"):
        ledger.count(name, 12 if name != "d" else 13, name)
    ledger.equal("a", "b")
    ledger.equal("c", "d")
    levels = {"a": 0, "b": 2, "c": 0, "d": 2}
    prints = {name: print_variable(ledger.variables[name], level) for name, level in levels.items()}
    found = alike(prints, {name: Quantity(name) for name in prints}, ledger)
    assert {name: one.text for name, one in found.items()} == {"a": "<20", "b": "<20", "c": "10", "d": "<20"}
    assert math.isfinite(found["a"].high)


def test_words_round_as_what_a_number_could_be_not_as_what_equals_it() -> None:
    ledger = Ledger()
    ledger.count("a", 2, "a")
    ledger.count("b", 63, "b")
    in_words = coarsest(
        ledger, {"a": print_variable(ledger.variables["a"], 1), "b": print_variable(ledger.variables["b"], 2)}
    )
    assert {in_words(n) for n in (1, 2, 3, 4, 9)} == {"<10"}
    assert (in_words(0), in_words(12), in_words(52), in_words(63), in_words(72)) == (
        "0",
        "10",
        "60",
        "60",
        "70",
    )
    assert coarsest(ledger, {"b": WITHHELD})(7) == "<50"
