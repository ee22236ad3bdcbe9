"""Runs that were finished are known again; a torn line is forgotten, a foreign file refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sdckit.errors import FileFormatError
from sdckit.workflow.recipes.explore_runs import Runs, key_of
from sdckit.workflow.recipes.recipe_figures import FIGURES

RUN = {**dict.fromkeys(FIGURES, 1.5), "pmse": math.nan, "note": "none"}


def test_kept_and_known_again(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Runs(path).add("a", RUN)
    Runs(path).add("b", {**RUN, "below_k": 3.0})
    assert path.stat().st_mode & 0o777 == 0o600
    again = Runs(path)
    assert again.get("b")["below_k"] == 3.0
    assert math.isnan(again.get("a")["pmse"])
    assert again.get("c") is None
    assert [json.loads(line)["key"] for line in path.read_text(encoding="utf-8").splitlines()] == ["a", "b"]


def test_a_torn_line_is_forgotten_and_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    Runs(path).add("a", RUN)
    whole = path.read_text(encoding="utf-8")
    for cut in (1, 10, 30, len(whole) - 1):
        path.write_text(whole + whole[:cut], encoding="utf-8")
        runs = Runs(path)
        assert path.read_text(encoding="utf-8") == whole
        runs.add("b", RUN)
        assert Runs(path).get("b") is not None


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "secret", '{"key": 1}\n', "[1]\n", '{"format": "x", "key": "a"}\n']
)
def test_another_file_stays_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 1: not a run of explore") as caught:
        Runs(path)
    assert "secret" not in str(caught.value)
    assert path.read_text(encoding="utf-8") == text


def test_no_place_for_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "runs.jsonl"):
        with pytest.raises(FileFormatError, match="folder"):
            Runs(path)


def test_without_a_file_and_keys() -> None:
    runs = Runs(None)
    runs.add("a", RUN)
    assert runs.get("a") == RUN
    assert key_of("a", [1]) != key_of("a", [2])
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
