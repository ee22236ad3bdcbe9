"""What the commands share that change files."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdckit as sdc
from recipes import STEPS
from sdckit.cli.recipe_files import check_format, codes_of, scenario_of
from sdckit.errors import FileFormatError


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


def test_formats(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("a\n1\n", encoding="utf-8")
    check_format(tmp_path / "b.csv", source, excel_safe=True)
    with pytest.raises(FileFormatError, match="never overwritten"):
        check_format(source, source, excel_safe=False)
