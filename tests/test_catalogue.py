"""The catalogue: one row per measure, found by name."""

from __future__ import annotations

import pytest

from sdckit.catalogue import CATALOGUE, Measure, further, measure, rows


def test_names_are_distinct_without_regard_to_case() -> None:
    names = [row.name.casefold() for row in CATALOGUE]
    assert len(set(names)) == len(names)


def test_a_measure_is_found_by_its_name() -> None:
    for row in CATALOGUE:
        assert measure(row.name) is row


def test_an_unknown_measure_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="key_frequencies, k_anonymity"):
        measure("k_anonimity")


def test_rows_are_chosen_by_the_files_they_take() -> None:
    assert rows() == list(CATALOGUE)
    for files in ("one", "release", "attack", "utility"):
        assert rows(files)
        assert all(row.runs and (row.files == files or (row.alone and files == "one")) for row in rows(files))
    assert rows("one", "release") == [row for row in CATALOGUE if row.files in {"one", "release"} and row.runs]
    assert set(further()) < {row.name for row in rows("one")}


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_row_says_what_it_answers(row: Measure) -> None:
    assert row.question.endswith("?")
    assert bool(row.words) == row.runs  # what is told while it runs
    assert not row.on_request or row.runs
    assert row.files == "attack" or not row.residual


@pytest.mark.parametrize("row", rows("one", "release", "attack", "utility"), ids=lambda row: row.name)
def test_what_runs_is_run_in_one_way(row: Measure) -> None:
    assert (row.arguments is None) != (row.parts is None)
    assert not row.per_target or "target" in row.needs
