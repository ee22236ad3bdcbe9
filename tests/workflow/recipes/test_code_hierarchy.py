"""A hierarchy built from codes is one that can be read and used."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import DataError
from sdckit.workflow.recipes.code_hierarchy import code_hierarchy

DATA = pl.DataFrame({"place": [1101, 1102, 1201, 2101, None], "name": ["a;b", "a;c", "d", "e", "f"]})


def test_it_is_read_and_recoded_with(tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    file.write_text(code_hierarchy(DATA, "place"), encoding="utf-8")
    safe, _ = sdc.recode(DATA, column="place", hierarchy=file, level=2)
    assert [str(one) for one in safe["place"].drop_nulls()] == ["11", "11", "12", "21"]
    file.write_text(code_hierarchy(DATA, "name"), encoding="utf-8")
    assert sdc.recode(DATA, column="name", hierarchy=file, level=2).data["name"].to_list()[:2] == ["a", "a"]


def test_single_letters_have_no_end_to_cut() -> None:
    with pytest.raises(DataError, match="column 'x' has no codes"):
        code_hierarchy(pl.DataFrame({"x": ["a", "b"]}), "x")
