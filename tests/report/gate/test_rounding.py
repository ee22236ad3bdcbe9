from __future__ import annotations

import json
import math
import pickle
from copy import deepcopy

import pytest
from hypothesis import given, strategies as st

from sdckit.report.gate.figures import Document, Ledger, Quantity, Ratio, Share, Variable
from sdckit.report.gate.protect import protect
from sdckit.report.gate.rounding import (
    LADDER,
    Identity,
    Printed,
    format_number,
    last_level,
    leaves,
    print_exact,
    print_variable,
    prints_between,
)


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0"), (1, "<5"), (4, "<5"), (5, "5"), (6, "5"), (7, "5"), (8, "10"), (12, "10"), (13, "15"), (6366, "6,365")],
)
def test_counts_are_rounded_to_five(n: int, text: str) -> None:
    assert print_variable(Variable(n), 0).text == text


@given(st.integers(0, 20_000), st.integers(0, len(LADDER)), st.sampled_from(["count", "sum"]))
def test_the_interval_holds_the_true_count(n: int, level: int, kind: str) -> None:
    printed = print_variable(Variable(n, kind=kind), level)
    assert printed.low <= n <= printed.high
    if level < len(LADDER) and n > 0:
        # Every other count in the interval is printed the same way.
        for other in range(math.ceil(printed.low), math.floor(printed.high) + 1):
            if kind == "count":
                assert print_variable(Variable(other), level).text == printed.text
        outside = math.floor(printed.high) + 1
        assert kind == "sum" or print_variable(Variable(outside), level).text != printed.text


@given(st.floats(1e-9, 1e9), st.integers(0, 3))
def test_the_interval_holds_the_true_estimate(x: float, level: int) -> None:
    printed = print_variable(Variable(x, kind="value"), level)
    assert printed.low <= x * (1 + 1e-12)
    assert x <= printed.high * (1 + 1e-12)


@given(st.floats(1e-7, 1e7))
def test_estimates_have_two_significant_digits(x: float) -> None:
    digits = format_number(x).replace(",", "").split("e")[0].replace(".", "").strip("0")
    assert len(digits) <= 2


def test_the_last_level_says_nothing() -> None:
    for variable in (Variable(3), Variable(0.3, kind="value"), Variable(3.5, kind="sum")):
        printed = print_variable(variable, last_level(variable))
        assert (printed.text, printed.value, printed.high) == ("withheld", None, math.inf)


def test_an_undefined_estimate_is_said_to_be() -> None:
    assert print_variable(Variable(math.nan, kind="value"), 0).text == "undefined"
    assert print_exact(Variable(math.nan, kind="value")).text == "undefined"


def test_a_confidential_number_is_exact() -> None:
    assert print_exact(Variable(3)).text == "3"
    assert print_exact(Variable(0.0158213, kind="value")).text == "0.0158213"


def test_a_latent_number_has_no_print() -> None:
    with pytest.raises(ValueError, match="never printed"):
        print_variable(Variable(None), 0)


def test_negative_estimates_are_printed_as_their_mirror_image() -> None:
    one = print_variable(Variable(-0.01234, "g", "value"), 0)
    other = print_variable(Variable(0.01234, "g", "value"), 0)
    assert (one.text, one.value) == (f"-{other.text}", -other.value)
    assert (one.low, one.high) == (-other.high, -other.low)


@given(low=st.integers(0, 2000), width=st.integers(0, 190), level=st.integers(0, 7), data=st.data())
def test_every_print_a_count_could_have_is_looked_at(low: int, width: int, level: int, data: st.DataObject) -> None:
    """Else the true number decides whether its own print is looked at, and the step tells of it."""
    true = data.draw(st.integers(low, low + width))
    own = print_variable(Variable(true), level)
    prints = prints_between("count", level, (low, low + width))
    assert (own.low, own.high) in prints
    assert prints_between("count", level, (low, low + width)) is prints


@given(low=st.floats(1e-6, 1e6), share=st.floats(0, 1), times=st.floats(1, 10), level=st.integers(0, 1))
def test_every_print_an_estimate_could_have_in_a_decade_is_looked_at(
    low: float, share: float, times: float, level: int
) -> None:
    high = low * times
    true = low + share * (high - low)
    own = print_variable(Variable(true, kind="value"), level)
    found = prints_between("value", level, (low, high))
    assert any(
        math.isclose(own.low, one[0], rel_tol=1e-9) and math.isclose(own.high, one[1], rel_tol=1e-9) for one in found
    )


# A printed number knows what it is a number of, and is a text like any other.


ALONE = Quantity("records alone", "original")


def test_it_is_a_text_that_can_be_copied() -> None:
    text = Printed("<5", Identity("count", (ALONE,)), 4.0)
    assert json.dumps({"text": text}) == '{"text": "<5"}'
    for again in (pickle.loads(pickle.dumps(text)), deepcopy(text)):
        assert (again, again.identity, again.span) == ("<5", text.identity, 4.0)
    assert again is text  # nothing in it changes: documents have thousands


def test_every_figure_says_of_which_file_it_is() -> None:
    ledger = Ledger()
    tree = {"n": ledger.count("n", 200, "n"), "alone": ledger.count("u", 20, "u", of=Quantity("records alone"))}
    ledger.value("expected", 12.5, "e", kind="sum")
    tree |= {"rate": Share("u", "n"), "risk": Ratio("expected", "n")}
    plain = protect(Document(tree, ledger.variables, (), 200, "original"))
    assert [leaf["text"].identity.of[0] for leaf in leaves(plain)] == [
        Quantity("n", "original"), ALONE, ALONE, Quantity("expected", "original")
    ]  # fmt: skip


def test_a_quantity_that_stands_twice_is_coarsened_together() -> None:
    ledger = Ledger()
    ledger.count("u", 20, "first", of=ALONE)
    ledger.count("again", 20, "second", of=ALONE)
    ledger.count("other", 20, "second")
    assert [one.group for one in ledger.variables.values()] == ["first", "first", "second"]
