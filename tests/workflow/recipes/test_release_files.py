"""A release as files: names, what is not read, and the log beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from recipes import scenario
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recipes.release_files import numbered, unread, write_release


def test_names_of_files() -> None:
    assert numbered(Path("a/b.csv"), 1) == [Path("a/b.csv")]
    assert numbered(Path("a/b.csv"), 2) == [Path("a/b_1.csv"), Path("a/b_2.csv")]


def test_identifiers_that_no_step_deals_with_are_not_read() -> None:
    recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": ["name"]}])
    assert unread(recipe, scenario(identifiers=["name", "phone"])) == ("phone",)
    assert unread(recipe, None) == ()


def a_log() -> RecipeLog:
    data = pl.DataFrame({"a": range(60)})
    return sdc.Recipe([{"method": "random_order"}]).apply(data).log


def test_the_log_comes_into_place_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    move = Path.replace

    def watched(self: Path, target: Path) -> Path:
        moved.append(Path(target).name)
        return move(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    frames = [pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [2]})]
    written = write_release(
        frames,
        tmp_path / "out.csv",
        log=a_log(),
        log_path=tmp_path / "log.json",
        sources=[],
        excel_safe=False,
        labels=sdc.FileLabels(),
    )
    assert moved[-3:] == ["log.json", "out_2.csv", "out_1.csv"]
    assert RecipeLog.read(tmp_path / "log.json").released == ("out_1.csv", "out_2.csv")
    assert (tmp_path / "log.json").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in written] == ["out_1.csv", "out_2.csv"]
