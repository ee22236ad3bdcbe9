"""What the commands share that change files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from recipes import STEPS, scenario
from sdckit.cli.recipe_files import check_format, codes_of, numbered, scenario_of, unread, write_release
from sdckit.errors import FileFormatError
from sdckit.workflow.recipes.recipe_log import RecipeLog


def test_names_of_files() -> None:
    assert numbered(Path("a/b.csv"), 1) == [Path("a/b.csv")]
    assert numbered(Path("a/b.csv"), 2) == [Path("a/b_1.csv"), Path("a/b_2.csv")]


def test_the_scenario_of_the_option_wins(tmp_path: Path) -> None:
    for name, key in (("a.toml", "sex"), ("b.toml", "job")):
        (tmp_path / name).write_text(f'keys = ["{key}"]\nmissing_codes = ["-9"]\n', encoding="utf-8")
    recipe = sdc.Recipe(STEPS, scenario="a.toml", folder=tmp_path)
    own, other = scenario_of(recipe, None), scenario_of(recipe, tmp_path / "b.toml")
    assert (own.keys, other.keys) == (("sex",), ("job",))
    assert scenario_of(sdc.Recipe(STEPS), None) is None
    assert list(codes_of(None, own)) == ["-9"]
    assert list(codes_of(["NA"], own)) == ["NA"]
    assert list(codes_of(None, None)) == []


def test_identifiers_that_no_step_deals_with_are_not_read() -> None:
    recipe = sdc.Recipe([{"method": "drop_identifiers", "columns": ["name"]}])
    assert unread(recipe, scenario(identifiers=["name", "phone"])) == ("phone",)
    assert unread(recipe, None) == ()


def test_formats(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("a\n1\n", encoding="utf-8")
    check_format(tmp_path / "b.csv", source, excel_safe=True)
    with pytest.raises(FileFormatError, match="never overwritten"):
        check_format(source, source, excel_safe=False)


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
