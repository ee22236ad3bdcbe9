"""The declared columns of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared, read_release, release_header
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError


def test_only_declared_columns_are_read(survey: Path) -> None:
    scenario = Scenario(keys=["sex", "age"], weight="w", identifiers=["name"])
    assert read_declared(survey, scenario, steps=Steps(quiet=True)).columns == ["sex", "age", "w"]


def test_an_absent_column_is_named_by_its_role(survey: Path) -> None:
    scenario = Scenario(keys=["sex"], weight="wt")
    with pytest.raises(ColumnError, match="weight"):
        read_declared(survey, scenario, steps=Steps(quiet=True))


def test_a_release_without_an_optional_column_is_read_without_it(
    survey: Path, frame: pl.DataFrame, tmp_path: Path
) -> None:
    scenario = Scenario(keys=["sex", "age"], weight="w", sensitive=["income"], identifiers=["name"])
    release = tmp_path / "release.csv"
    frame.drop("w", "name").write_csv(release)
    read = read_release(release, scenario.model_copy(update={"identifiers": ()}), steps=Steps(quiet=True))
    assert read.columns == ["sex", "age", "income"]
    assert "hh" in release_header(release, scenario).columns


def test_a_release_needs_every_key_and_the_id(survey: Path) -> None:
    with pytest.raises(ColumnError, match=r"survey\.csv has no column 'job'; a release and a control"):
        release_header(survey, Scenario(keys=["sex", "job"]))
    with pytest.raises(ColumnError, match="has no column 'pid'"):
        release_header(survey, Scenario(keys=["sex"]), also=("pid",))
    with pytest.raises(ColumnError, match="has no column 'pid'"):
        read_release(survey, Scenario(keys=["sex"]), steps=Steps(quiet=True), also=("pid",))
