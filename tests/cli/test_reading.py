"""The declared columns of a file, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError


def test_only_declared_columns_are_read(survey: Path) -> None:
    scenario = Scenario(keys=["sex", "age"], weight="w", identifiers=["name"])
    assert read_declared(survey, scenario, steps=Steps(quiet=True)).columns == ["sex", "age", "w"]


def test_an_absent_column_is_named_by_its_role(survey: Path) -> None:
    scenario = Scenario(keys=["sex"], weight="wt")
    with pytest.raises(ColumnError, match="weight"):
        read_declared(survey, scenario, steps=Steps(quiet=True))
