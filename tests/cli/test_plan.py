"""The plan says what would run and what it would cost, from the header alone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sdckit.catalogue import CATALOGUE
from sdckit.cli.plan import ALWAYS, applicable, plan_lines
from sdckit.data.readers import FileHeader, scan_header
from sdckit.data.scenario import Scenario
from sdckit.workflow.extra_measures import CLOSENESS, EXTRA


def test_keys_alone_permit_the_measures_that_need_nothing_else() -> None:
    will, will_not = applicable(Scenario(keys=["a"]))
    assert {row.name for row in will} >= {"key_frequencies", "k_anonymity", "individual_risk"}
    assert {row.name: reason for row, reason in will_not} == {
        "household_structure": "needs household",
        "l_diversity": "needs sensitive",
    }


def test_all_roles_permit_everything_that_always_runs() -> None:
    will, will_not = applicable(Scenario(keys=["a"], household="h", sensitive=["s"]))
    assert tuple(row.name for row in will) == tuple(row.name for row in CATALOGUE if row.name in ALWAYS)
    assert not will_not


def test_what_always_runs_and_what_can_be_asked_for_are_measures() -> None:
    names = {row.name: row for row in CATALOGUE}
    assert set(ALWAYS) | set(EXTRA) <= names.keys()
    assert not set(ALWAYS) & set(EXTRA)
    assert all(names[name].n_files == 1 for name in (*ALWAYS, *EXTRA))


def test_further_measures_are_shown_when_they_are_asked_for() -> None:
    will, will_not = applicable(Scenario(keys=["a"], household="h", sensitive=["s"]), EXTRA)
    assert {row.name for row in will} - set(ALWAYS) == {"suda", "risky_cells", *CLOSENESS}
    design = "needs weight or sampling_fraction"
    assert {row.name: reason for row, reason in will_not} == {
        "population_risk": design,
        "population_uniques": design,
        "outliers": "needs numeric",
    }
    full = Scenario(keys=["a"], household="h", sensitive=["s"], numeric=["x"], sampling_fraction=0.1)
    will, will_not = applicable(full, EXTRA)
    assert {row.name for row in will} == {*ALWAYS, *EXTRA}
    assert not will_not


def test_the_plan_names_columns_intruders_and_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": [1, 2], "b": [1, 2], "name": ["x", "y"]}).write_parquet(path)
    scenario = Scenario(
        intruders={"one": ["a"], "two": ["a", "b"]}, identifiers=["name"], thresholds={"k": 3}
    )
    text = "\n".join(plan_lines(path, scan_header(path), scenario))
    for part in ("2 of 3 columns", "a, b", "Would not read: name", "'two' knows a, b", "k 3", "2 records"):
        assert part in text


@pytest.mark.parametrize("rows", [1_000, 10_000_000])
def test_the_cost_grows_with_the_records(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    told = plan_lines(path, FileHeader(("a",), rows, "Parquet"), Scenario(keys=["a"]))[-1]
    assert told.startswith(f"{rows:,} records: memory about ")
    assert "MB, time about" in told


def test_an_unknown_number_of_records_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    path.write_bytes(b"0" * 1000)
    told = plan_lines(path, FileHeader(("a",), None, "SPSS"), Scenario(keys=["a"]))[-1]
    assert told.startswith("The number of records is not known before reading; memory about 400 MB")
