"""The catalogue: one row per measure, found by name."""

from __future__ import annotations

import dataclasses

import pytest

from sdckit.catalogue import CATALOGUE, measure


def test_names_are_distinct_without_regard_to_case() -> None:
    names = [row.name.casefold() for row in CATALOGUE]
    assert len(set(names)) == len(names)


def test_a_measure_is_found_by_its_name() -> None:
    for row in CATALOGUE:
        assert measure(row.name) is row


def test_an_unknown_measure_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="key_frequencies, k_anonymity"):
        measure("k_anonimity")


def test_two_file_measures_say_whether_rows_are_aligned() -> None:
    for row in CATALOGUE:
        assert (row.aligned is None) == (row.n_files == 1)


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_every_field_says_something(row: object) -> None:
    assert all(value != "" for value in dataclasses.asdict(row).values())
