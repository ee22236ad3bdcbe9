"""What a file may hold: each limit at its edge."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.files import file_limits
from sdckit.data.files.file_limits import (
    COLUMNS,
    DEEP,
    DIGITS,
    SETTINGS,
    VALUES,
    check_columns,
    check_values,
    json_in,
    json_of,
    most,
    toml_of,
)
from sdckit.errors import FileFormatError
from sdckit.workflow.recipes.recipe_log import RecipeLog

LARGEST = 10**DIGITS - 1


def test_columns() -> None:
    check_columns(Path("a.csv"), COLUMNS)
    with pytest.raises(FileFormatError, match=r"a\.csv: 10,001 columns are asked for, and at most 10,000 are read"):
        check_columns(Path("a.csv"), COLUMNS + 1)


def test_values_are_held_against_the_size_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_limits, "free_bytes", lambda: None)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"0" * 60_000)
    assert most(VALUES, path) == 60_000_000
    check_values(path, 30_000_000, 2)
    check_values(path, None, 2)
    with pytest.raises(FileFormatError, match="says that it has far more records than"):
        check_values(path, 30_000_001, 2)


def test_values_are_held_against_free_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"0" * 100_000)
    monkeypatch.setattr(file_limits, "free_bytes", lambda: 1 << 30)
    check_values(path, VALUES[1], 1)
    with pytest.raises(FileFormatError, match="has more records than fit into memory; name fewer columns"):
        check_values(path, VALUES[1] + 1, 1)


def test_numbers_and_depth_of_toml() -> None:
    assert toml_of(f"k = [{LARGEST}, {-LARGEST}]") == {"k": [LARGEST, -LARGEST]}
    assert toml_of("k = " + "[" * (DEEP - 1) + "]" * (DEEP - 1))["k"] is not None
    for text in (f"k = {LARGEST + 1}", "k = " + "9" * 5_000, "a = {b = [" + "9" * 400 + "]}"):
        with pytest.raises(ValueError, match="more than 100 digits"):
            toml_of(text)
    for text in ("k = " + "[" * DEEP + "]" * DEEP, "k = " + "[" * 100_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            toml_of(text)
    with pytest.raises(ValueError, match="too large"):
        toml_of(" " * (SETTINGS + 1))


def test_numbers_of_json() -> None:
    assert json_of("9" * DIGITS) == int("9" * DIGITS)
    with pytest.raises(ValueError, match="more than 100 digits"):
        json_of("9" * (DIGITS + 1))


def test_json_files_have_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hole in a file takes no room on the disk; nothing of it is parsed."""
    file = tmp_path / "log.json"
    with file.open("wb") as empty:
        empty.truncate(file_limits.DOCUMENT + 1)
    with pytest.raises(ValueError, match="larger than 128 MB"):
        json_in(file)
    with pytest.raises(FileFormatError, match=r"log\.json cannot be read as a log: it is larger than 128 MB$"):
        RecipeLog.read(file)
    monkeypatch.setattr(file_limits, "PARTS_OF_IT", 4)
    file.write_text('{"a": [1, 2], "b": 3}')
    assert json_in(file) == {"a": [1, 2], "b": 3}
    file.write_text('{"a": [1, 2], "b": [3]}')
    with pytest.raises(ValueError, match="more than 4 values"):
        json_in(file)
    file.write_text("{'no': 'json'}")
    with pytest.raises(FileFormatError, match=r"log\.json cannot be read as a log$"):
        RecipeLog.read(file)
