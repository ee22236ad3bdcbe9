"""Original and releases of an assessment: what is noticed as they are opened."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells import pair as pairs
from sdckit.cells.as_cells import tabulate_roles
from sdckit.cells.pair import keep_rows, open_files, open_pair
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.workflow.opened_release import (
    columns_of,
    count_ahead,
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


def test_what_was_counted_of_a_file_by_itself_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], sensitive=["home"])
    files = [pl.concat([ORIGINAL] * times).lazy() for times in (3, 2)]
    expected = open_pair(*files, categories={"keys": ["age", "sex", "home"]}, counted=True)
    pair = open_files(*files)
    keep_rows(pair, 0, None)  # of a file in memory, or of cells in parts, nothing is kept
    for file, frame in enumerate(files):
        keep_rows(pair, file, tabulate_roles(frame, resolve_roles(scenario=scenario), by_levels=True))
    monkeypatch.setattr(pairs, "count_file", lambda *_: pytest.fail("counted again"))
    count_ahead(pair, scenario)
    found = open_pair(pair, categories={"keys": ["age", "sex", "home"]}, counted=True)
    for other, own in zip(expected.frames, found.frames, strict=True):
        assert sorted(other.rows()) == sorted(own.rows())
    assert [times.tolist() for times in found.times or ()] == [[3, 3, 3], [2, 2, 2]]


def test_cells_are_added_up_where_that_spares_some() -> None:
    many = pl.DataFrame({"a": range(40), "b": [0, 1] * 20, "c": [0] * 40}).lazy()
    pair = open_files(many, many)
    count_ahead(pair, sdc.Scenario(keys=["a", "b"], sensitive=["c"]))
    for names, columns in ((["a", "b"], ["a", "b", "c"]), (["b", "c"], ["b", "c"])):
        own = open_pair(pair, categories={"keys": names}, counted=True)
        assert own.original.columns == columns
        assert own.groups(names).n_groups == (40 if "a" in names else 2)
        assert own.n == 40
