"""One release against one before it: what is looked for, and what is said where it cannot be."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import KEYS, people, with_gaps
from sdckit.attacks.differencing.held_against import EarlierRelease

DATA = people(200)
OF = {"keys": KEYS, "sensitive": ["job"]}


@pytest.fixture
def ledger(tmp_path: Path) -> sdc.ReleaseLedger:
    made = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Survey")
    return made.add(DATA, name="first", people="wave 1", date="2023", **OF)  # type: ignore[arg-type]


def against(new: pl.DataFrame, **given: object) -> EarlierRelease:
    (entry,) = sdc.differencing(new, **{**OF, **given}).entries  # type: ignore[arg-type]
    return entry


def test_a_sketch_without_ids_says_that_candidates_were_not_looked_for(ledger: sdc.ReleaseLedger) -> None:
    found = against(DATA.head(199), ledger=ledger)
    assert (found.name, found.date, found.source, found.linked) == ("first", "2023", "sketch", 0)
    assert found.relation == "subset"
    assert found.related == "the release has all of its records but 1"
    result = sdc.differencing(DATA.head(199), ledger=ledger, **OF)  # type: ignore[arg-type]
    assert result.not_intersected == ("first",)
    assert any("nothing says which records are the same person's" in note for note in found.notes)


def test_people_of_another_wave_are_compared_by_counts_only(ledger: sdc.ReleaseLedger) -> None:
    new = with_gaps(pl.concat([DATA, people(50, seed=9)]), "age", 0.3)
    same, other = against(new, ledger=ledger, people="wave 1"), against(new, ledger=ledger, people="wave 2")
    assert same.given_back > 0
    assert (other.given_back, other.unprotected, other.told_by_difference) == (0, 0, 0)
    assert not other.same_people
    assert other.new_uniques == same.new_uniques > 0
    assert other.notes == ("it is about other people, so nothing is told of anybody together with it",)


def test_a_file_finds_no_less_than_its_sketch(ledger: sdc.ReleaseLedger) -> None:
    new = with_gaps(DATA, "age", 0.3)
    sketch, file = against(new, ledger=ledger), against(new, earlier=DATA, aligned=True)
    gone = new["age"].is_null().sum()
    assert sketch.given_back <= file.given_back == gone
    assert (file.source, file.linked) == ("file", 200)


def test_a_ledger_of_another_survey_or_other_codings_is_told(ledger: sdc.ReleaseLedger) -> None:
    with pytest.raises(
        sdc.ColumnError, match="no column that 'first' of the ledger has: a ledger of another survey"
    ):
        sdc.differencing(DATA, keys=["band"], sensitive=["part"], ledger=ledger)
    other = DATA.select(age=pl.format("{} years", "age"), sex=pl.format("sex {}", "sex"))
    with pytest.raises(
        sdc.ColumnError, match=r"no column is coded as in 'first' .*coded otherwise: sex, age"
    ):
        sdc.differencing(other, keys=["sex", "age"], ledger=ledger)


def test_some_columns_coded_otherwise_are_named_and_the_rest_compared(ledger: sdc.ReleaseLedger) -> None:
    found = against(DATA.with_columns(age=pl.col("band")), ledger=ledger)
    assert found.otherwise == ("age",)
    assert found.counted == ("region", "sex")
    assert found.relation == "same"


def test_ids_that_did_not_go_out_link_the_sketches(tmp_path: Path) -> None:
    ledger = sdc.ReleaseLedger.create(tmp_path / "ids", key=tmp_path / "ids.key", survey="Survey")
    ledger = ledger.add(DATA, name="first", keys=["region", "band"], sensitive=["job"], id="id")
    new = {"keys": ["part", "sex", "age"], "sensitive": ["job"]}
    by_sketch = sdc.differencing(DATA, ledger=ledger, id="id", **new)  # type: ignore[arg-type]
    by_file = sdc.differencing(DATA, earlier=DATA, earlier_keys=["region", "band"], id="id", **new)  # type: ignore[arg-type]
    assert by_sketch.certain_together == by_file.certain_together > 0
    assert by_sketch.entries[0].linked == 200
    assert by_sketch.records.equals(by_file.records)
