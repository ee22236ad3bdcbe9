"""What a document says of a file from protected margins: bounds in plain words, what they leave out, no value."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from sdckit.protect.margins.privacy_budget import Spent
from sdckit.protect.margins.promise import Promise
from sdckit.protect.margins.synthesize_margins import MarginsChange
from sdckit.report.blocks import Items, Page, Paragraph, TableBlock
from sdckit.report.chapters.promise_chapter import (
    NOT_COVERED,
    at_most,
    promise_blocks,
    promise_line,
    promise_section,
    promise_tree,
)
from sdckit.report.language import Names, missing

SPENT = (
    Spent("one-way", ("age",), 30.0, 0.001), Spent("choosing", (), 12.0, 0.003), Spent("choosing", (), 15.0, 0.002),
    Spent("cliques", ("age", "sex"), 7.5, 0.018),
)  # fmt: skip
CHANGE = MarginsChange(
    "synthesize_margins", 100, {}, {"max_rows": 1, "unit": "person"}, spent=SPENT,
    kept=(("age", "sex"),), error=(0.123,),
    epsilon=1.0, delta=1e-6, rho=0.024,
)  # fmt: skip
UNPROMISED = MarginsChange("synthesize_margins", 100, {}, {"base": 10}, kept=(("age",),), error=(math.nan,))


def words(promise: Promise) -> str:
    """The paragraphs and items, one after the other."""
    lines = []
    for block in promise_blocks(promise_tree(promise)):
        if isinstance(block, Paragraph):
            lines.append(block.text)
        if isinstance(block, Items):
            lines += block.items
    return "\n".join(lines)


def test_what_epsilon_means_and_what_it_leaves_out() -> None:
    said = words(Promise(CHANGE, adds_up=True))
    assert "ε = 1 means: whatever the data of one person are" in said
    assert "at most 2.72 times as likely" in said
    assert "right in at most 73.2 % of them" in said
    assert "finds at most 2.72 % of the people" in said
    assert all(sentence in said for sentence in NOT_COVERED)
    assert "Not judged: that the records were drawn from these tables" in said
    assert "declared as public" not in said


def test_a_promise_for_records_names_no_person() -> None:
    for given in ({"max_rows": 1, "unit": "record"}, {"max_rows": 1}):
        said = words(Promise(replace(CHANGE, parameters=dict(given)), adds_up=True))
        assert "whatever one record holds" in said
        assert "where a person has several, it is for each of them by itself" in said
        assert "one person" not in said


def test_several_rows_and_a_declared_number() -> None:
    several = replace(CHANGE, parameters={"max_rows": 3, "n": 1000})
    said = words(Promise(several, adds_up=None, reason="OpenDP is not installed"))
    assert "one person, with up to 3 records, are" in said
    assert "it was declared as public" in said
    assert "Not judged: whether the noise adds up; OpenDP is not installed." in said


def test_no_epsilon_is_printed_without_a_promise() -> None:
    for change in (UNPROMISED, replace(UNPROMISED, parameters={})):
        promise = Promise(change, None, "no ε is promised")
        assert "ε" not in words(promise)
        assert "promises nothing" in words(promise)
        assert promise_line(promise_tree(promise)).endswith("no ε is promised.")


def test_what_was_kept_and_spent() -> None:
    kept, spent = (
        block for block in promise_blocks(promise_tree(Promise(CHANGE, True))) if isinstance(block, TableBlock)
    )
    assert kept.rows == (("age × sex", "12 %"),)
    assert {row[0]: row[1:] for row in spent.rows} == {
        "columns by themselves": ("1", "30", "0.001"), "choosing tables": ("2", "12 to 15", "0.005"),
        "tables of several columns": ("1", "7.5", "0.018"),
    }  # fmt: skip


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0, 100.0])
def test_bounds_are_never_below_the_true_ones(epsilon: float) -> None:
    assert float(at_most(math.exp(epsilon)).replace(",", "")) >= math.exp(epsilon)
    assert "%" in words(Promise(replace(CHANGE, epsilon=epsilon), True))


def test_every_text_has_its_german() -> None:
    promises: list[Any] = [
        Promise(CHANGE, True), Promise(replace(CHANGE, parameters={"max_rows": 4, "n": 9}, epsilon=0.3), True),
        Promise(replace(CHANGE, parameters={"unit": "record"}), True),
        Promise(CHANGE, None, "the log does not say how many rows a person has"),
        Promise(UNPROMISED, None, "no ε is promised"), Promise(replace(UNPROMISED, parameters={}), None, ""),
    ]  # fmt: skip
    for promise in promises:
        sections = (promise_section(promise_tree(promise)),)
        page = Page("Disclosure risk of a release", "", None, "", "", sections, "")
        assert missing(page, "de", Names(data=frozenset({"age", "sex"}))) == []
