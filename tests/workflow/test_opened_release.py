"""Original and releases of an assessment: what is noticed as they are opened."""

from __future__ import annotations

import polars as pl

import sdckit as sdc
from sdckit.cells.pair import open_files, open_pair
from sdckit.workflow.opened_release import (
    columns_of,
    households_in_both,
    identical_keys,
    in_every_file,
    open_release,
    with_bands,
)

ORIGINAL = pl.DataFrame({"age": [1, 2, 3], "home": [1, 1, 2], "sex": ["f", "m", "f"]})
SCENARIO = sdc.Scenario(keys=["age", "sex"], numeric=["age"])


def test_a_key_in_bands_is_ordered_and_no_number() -> None:
    banded = with_bands(SCENARIO, ["age", "income"])
    assert (banded.ordered, banded.numeric) == (("age",), ())
    assert with_bands(SCENARIO, ["income"]) is SCENARIO


def test_columns_of_all_and_of_any_file() -> None:
    pair = open_files(ORIGINAL, ORIGINAL.drop("home"))
    assert in_every_file(pair) == {"age", "sex"}
    assert columns_of(pair.frames) == {"age", "home", "sex"}


def test_keys_that_were_not_touched_are_named() -> None:
    mixed = ORIGINAL.with_columns(age=pl.col("age").reverse())
    pair = open_pair(ORIGINAL, [ORIGINAL, mixed], categories={"keys": ["age", "sex"]}, aligned=True)
    (note,) = identical_keys(pair, ["age", "sex"], aligned=True)
    assert note.endswith("has the keys of the original, row by row: nothing in them was changed")


def test_households_in_original_and_control_are_counted() -> None:
    pair = open_files(ORIGINAL, ORIGINAL, control=pl.DataFrame({"age": [9], "home": [2], "sex": ["f"]}))
    (note,) = households_in_both(pair, "home")
    assert "1" in note
    assert households_in_both(pair, None) == households_in_both(open_files(ORIGINAL, ORIGINAL), "home") == []


def test_files_in_memory_are_attacked_as_they_are_measured() -> None:
    opened = open_files(ORIGINAL, ORIGINAL)
    measured, attacked, aligned = open_release(opened, None, SCENARIO.changed(aligned=True), None, (), attacked=True)
    assert measured is attacked
    assert aligned
