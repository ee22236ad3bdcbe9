"""The tables of validation.md and performance.md are written from results, which name measures and tests that exist."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import sdckit
from sdckit.catalogue import CATALOGUE
from tree import ROOT, TESTS, none_offends

FACTS = tomllib.loads((ROOT / "docs" / "validation.toml").read_text(encoding="utf-8"))
COMPARISONS: list[dict[str, Any]] = FACTS["comparison"]
DIFFERENCES: list[dict[str, Any]] = FACTS["difference"]
RESULTS = tomllib.loads((ROOT / "benchmarks" / "results.toml").read_text(encoding="utf-8"))["table"]
WRITER = ROOT / ".ci" / "write_pages.py"


def program(path: Path) -> Any:
    """A program outside the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_what_the_program_writes() -> None:
    done = subprocess.run([sys.executable, str(WRITER), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_changed_figure_is_seen() -> None:
    writer = program(WRITER)
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    tables = writer.of_performance()
    assert writer.written(text, tables) == text
    assert writer.written(text, tables | {"utility": tables["utility"].replace("0.78 s", "0.70 s")}) != text
    with pytest.raises(writer.PageError, match="'more'"):
        writer.written(text, tables | {"more": ""})


def test_every_measure_was_compared_with_something() -> None:
    compared = {name for one in COMPARISONS for name in one["names"]}
    none_offends((row.name for row in CATALOGUE if row.name not in compared), "a measure has a comparison")
    named = compared | {name for one in DIFFERENCES for name in one["names"]}
    none_offends(named - set(sdckit.__all__), "what is compared is public")


def test_a_comparison_is_complete_and_held_by_a_test() -> None:
    for one in COMPARISONS:
        assert all(one[part].strip() for part in ("figures", "reference", "data", "precision"))
        assert one["tests"]
    none_offends(
        {name for one in COMPARISONS for name in one["tests"] if not (TESTS / name).is_file()},
        "a test that is named exists",
    )


def test_a_test_of_a_comparison_computes_what_it_compares() -> None:
    none_offends(
        (
            f"{one['figures']}: {name}"
            for one in COMPARISONS
            for name in one["names"]
            if not re.search(rf"\b{name}\b", "".join(map(text_of, one["tests"])))
        ),
        "a test that is named computes what is compared",
    )


def text_of(name: str) -> str:
    """A test with what it shares with others: the calls of the guide's cases, and the comparison of frequencies."""
    path = TESTS / name
    text = path.read_text(encoding="utf-8")
    beside = sorted((path.parent / "guide").glob("*.json")) if path.stem == "test_guide" else []
    beside += [path.parent / "compare.py"] if "from golden.compare import" in text else []
    return text + "".join(one.read_text(encoding="utf-8") for one in beside)


def test_numbers_of_differences_stay() -> None:
    """Other pages refer to them: none is left out, none twice, and none changes its place."""
    assert [one["number"] for one in DIFFERENCES] == list(range(1, len(DIFFERENCES) + 1))
    assert len(DIFFERENCES) >= 55
    started = {int(one["number"]): one["text"].split("**")[1] for one in DIFFERENCES if "**" in one["text"]}
    assert started[25].startswith("Prediction risk takes absolute errors")
    assert started[50].startswith("The residual risk of an attack has a score interval")
    for page in (ROOT / "docs").rglob("*.md"):
        for number in re.findall(r"\(?validation (\d+)|\bsee (\d+)\b", page.read_text(encoding="utf-8")):
            assert int("".join(number)) in range(1, len(DIFFERENCES) + 1), page


def test_differences_that_users_of_others_will_meet() -> None:
    text = "\n".join(one["text"] for one in DIFFERENCES)
    for words in ("ARX counts the uniques of Pitman's model", "scaled columns and all ties", "high risk file by file"):
        assert words in text


def test_a_result_has_its_program_its_day_and_its_machine() -> None:
    assert len({one["name"] for one in RESULTS}) == len(RESULTS) >= 9
    for one in RESULTS:
        assert one["machine"]
        assert one["date"].year >= 2026
        assert one["rows"]
        assert all(len(row) == len(one["columns"]) for row in one["rows"]), one["name"]
        assert all((ROOT / program).is_file() for program in one["programs"])


def test_a_benchmark_keeps_its_rows_and_touches_no_others(tmp_path: Path) -> None:
    path = tmp_path / "results.toml"
    before = (ROOT / "benchmarks" / "results.toml").read_text(encoding="utf-8")
    path.write_text(before, encoding="utf-8")
    recorder = program(ROOT / "benchmarks" / "record.py")
    rows = [['1 M, "complete"', "0.1 s", "0.2 s", "2.0"]]
    recorder.record("frequencies-duckdb", "one core", rows, path)
    after = tomllib.loads(path.read_text(encoding="utf-8"))["table"]
    changed = {"machine": "one core", "date": date.today(), "rows": rows}
    assert after == [one | (changed if one["name"] == "frequencies-duckdb" else {}) for one in RESULTS]
    for one in RESULTS:  # what is written is what was there
        recorder.record(one["name"], one["machine"], one["rows"], path)
    assert path.read_text(encoding="utf-8").replace(str(date.today()), "") == re.sub(
        r"(?<=^date = ).*", "", before, flags=re.MULTILINE
    )
    with pytest.raises(SystemExit, match="no table nobody"):
        recorder.record("nobody", "one core", rows, path)
    with pytest.raises(SystemExit, match="4 cells"):
        recorder.record("frequencies-duckdb", "one core", [["1 M"]], path)
