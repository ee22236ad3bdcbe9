"""``--engine``: the figures of memory, from a file that is never read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sdckit.cells.plans import count_cells
from sdckit.cli import engine_options
from sdckit.cli.app import run
from sdckit.data import memory
from sdckit.data.files import readers, scan_file as scanning
from sdckit.data.files.scan_file import scan_file
from stages import people

KEYS = ["--keys", "sex,age,region", "--weight", "w", "--sensitive", "job", "--k", "3"]


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    people(400).with_columns(
        age=pl.when(pl.int_range(pl.len()) % 40 == 0).then(None).otherwise("age")
    ).write_parquet(tmp_path / "survey.parquet")
    return tmp_path / "survey.parquet"


def figures(path: Path) -> object:
    told = json.loads(path.read_text())
    return {name: told[name] for name in ("intruders", "verdicts") if name in told} or told["intruders"]


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_the_same_document(
    survey: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["assess", str(survey), *KEYS, "--quiet"]
    assert run([*line, "--json", str(tmp_path / "here.json")]) == 0
    monkeypatch.setattr(readers, "read_file", None)  # nothing is read whole
    assert run([*line, "--engine", engine, "--json", str(tmp_path / "there.json")]) == 0
    assert figures(tmp_path / "there.json") == figures(tmp_path / "here.json")


def test_the_gate_and_a_folder(survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scenario.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 3\n')
    (tmp_path / "parts").mkdir()
    pl.read_parquet(survey)[:200].write_parquet(tmp_path / "parts" / "a.parquet")
    pl.read_parquet(survey)[200:].write_parquet(tmp_path / "parts" / "b.parquet")
    line = ["check", str(tmp_path / "parts"), "--scenario", str(tmp_path / "scenario.toml")]
    assert run([*line, "--engine", "duckdb", "--memory", "500MB"]) == 0
    assert "k" in capsys.readouterr().out
    report = ["--report", str(tmp_path / "r.html")]
    assert run(["assess", str(tmp_path / "parts"), *KEYS, "--engine", "polars", "--quiet", *report]) == 0
    assert (tmp_path / "r.html").stat().st_size > 10_000


@pytest.mark.parametrize("by", ["duckdb", "polars"])
def test_a_folder_and_what_does_not_fit_go_to_an_engine(
    survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    (tmp_path / "parts").mkdir()
    pl.read_parquet(survey)[:200].write_parquet(tmp_path / "parts" / "a.parquet")
    pl.read_parquet(survey)[200:].write_parquet(tmp_path / "parts" / "b.parquet")
    opened: list[tuple[str, str]] = []

    def noted(path: Path, *, engine: str, **how: Any) -> Any:
        opened.append((Path(path).name, engine))
        return scan_file(path, engine=engine, **how)

    monkeypatch.setattr(scanning, "scan_file", noted)
    if by == "polars":
        monkeypatch.setattr(engine_options, "find_spec", lambda _name: None)  # DuckDB is not installed
    assert run(["assess", str(tmp_path / "parts"), *KEYS, "--quiet"]) == 0
    assert run(["assess", str(survey), *KEYS, "--quiet"]) == 0
    assert opened == [("parts", by)]
    told = tmp_path / "meminfo"
    told.write_text("MemAvailable:   20 kB\n")
    monkeypatch.setattr(memory, "MEMORY", told)
    monkeypatch.setattr(count_cells, "free_bytes", lambda: 2**30)
    monkeypatch.setattr(engine_options, "SHARE", 1e-3)  # DuckDB starts with no less than some megabytes
    (tmp_path / "scenario.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 2\n')
    assert run(["check", str(survey), "--scenario", str(tmp_path / "scenario.toml"), "--quiet"]) == 0
    assert opened == [("parts", by), ("survey.parquet", by)]
    assert run(["assess", str(survey), *KEYS, "--quiet", "--engine", "memory"]) == 0
    assert len(opened) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--engine", "dask"], "engine"),
        (["--memory", "4GB"], "--memory is what an engine may take; give --engine duckdb"),
        (["--engine", "memory", "--memory", "4GB"], "--memory is what an engine may take"),
        (["--engine", "polars", "--memory", "4GB"], "is what DuckDB may take"),
        (["--engine", "duckdb", "--released", "other.parquet"], "--engine is for a file by itself"),
        (
            ["--engine", "duckdb", "--user-missing"],
            "leave --join, --user-missing out",
        ),
    ],
)
def test_what_is_refused(
    survey: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["assess", str(survey), *KEYS, *options]) == 2
    assert words in capsys.readouterr().err


RECIPE = """[[steps]]
method = "recode"
column = "age"
bands = [18, 40, 60, 80]
[[steps]]
method = "local_suppression"
keys = ["sex", "region", "age"]
k = 5
[[steps]]
method = "random_order"
"""


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_release_is_written_by_the_engine(
    survey: Path, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    line = ["protect", str(tmp_path / "recipe.toml"), str(survey), "--quiet"]
    there, here, log = (tmp_path / name for name in ("there.parquet", "here.parquet", "log.json"))
    with monkeypatch.context() as patched:
        patched.setattr(readers, "read_file", None)  # nothing is read whole
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine]) == 0
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine]) == 2
        assert run([*line, "-o", str(there), "--log", str(log), "--engine", engine, "--force"]) == 0
    assert run([*line, "-o", str(here), "--replay", str(log)]) == 0
    expected = pl.read_parquet(here).with_columns(pl.col(pl.Enum).cast(pl.String))
    assert pl.read_parquet(there).equals(expected)
    assert run([*line, "-o", str(tmp_path / "again.parquet"), "--replay", str(log), "--engine", engine]) == 0
    assert pl.read_parquet(tmp_path / "again.parquet").equals(expected)
    assert {one.name for one in tmp_path.iterdir()} >= {"there.parquet", "here.parquet", "again.parquet"}
    assert not list(tmp_path.glob(".sdckit*"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-o", "out.csv"], "out.csv: an engine writes Parquet"),
        (["-o", "out.parquet", "--labels"], "--labels: an engine writes none"),
        (["-o", "out.parquet", "--report", "r.html", "--scenario", "s.toml"], "--report compares in memory"),
    ],
)
def test_what_no_engine_writes(
    survey: Path, tmp_path: Path, options: list[str], words: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "s.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 3\n')
    assert run(["protect", "recipe.toml", str(survey), "--engine", "duckdb", *options]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / options[1]).exists()


def test_a_dry_run_says_which_step_does_not_run(
    survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdckit.protect import change as on_plans

    recipe = tmp_path / "recipe.toml"
    line = [
        "protect",
        str(recipe),
        str(survey),
        "-o",
        str(tmp_path / "out.parquet"),
        "--engine",
        "polars",
        "--dry-run",
    ]
    recipe.write_text(RECIPE)
    assert run(line) == 0
    assert "recipe.toml fits" in capsys.readouterr().out
    recipe.write_text(RECIPE + '[[steps]]\nmethod = "synthesize"\nm = 2\n')
    assert run(line) == 0
    monkeypatch.setattr(on_plans, "COLLECT_LIMIT", 50)
    assert run(line) == 2
    assert "step 4 (synthesize): it brings " in capsys.readouterr().err
    assert not (tmp_path / "out.parquet").exists()


def test_a_dry_run_of_a_folder_reads_its_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in "ab":
        pl.DataFrame({"sex": ["f", "m"], "age": [30, 40]}).write_parquet(tmp_path / f"{part}.parquet")
    assert (
        run(["assess", str(tmp_path), "--keys", "sex,age", "--k", "3", "--engine", "polars", "--dry-run"])
        == 0
    )
    told = capsys.readouterr().out
    assert f"Would read 2 of 2 columns of {tmp_path.name} (2 files, Parquet):" in told
    assert "4 records would be left with polars, and never read whole" in told
