"""What the command line says of a file it reads: each thing once, and no record in place of a header."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

MARKER = "Zq7Qx"
KEYS = ("--keys", "sex,age,region")


def headless(survey: Path) -> Path:
    lines = survey.read_text().splitlines()
    marked = next(i for i, line in enumerate(lines) if MARKER in line)
    survey.write_text("\n".join([lines[marked], *lines[1:]]) + "\n")
    return survey


@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--identifiers", MARKER[:-1])])
def test_a_file_without_a_header(sdckit, survey: Path, more: tuple[str, ...]) -> None:
    done = sdckit("assess", headless(survey), *KEYS, *more)
    assert (done.code, done.out) == (2, "")
    assert "does not look like a header" in done.err
    assert MARKER not in done.err


def test_a_file_of_texts_without_a_header(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.select("region", "name", "income").tail(-17).write_csv(survey, include_header=False)
    for more in ((), ("--dry-run",)):
        done = sdckit("assess", survey, *KEYS, *more)
        assert (done.code, done.out) == (2, "")
        assert MARKER not in done.err
    assert MARKER not in sdckit("scenario", "init", survey, "-o", "-").err


def test_codes_and_hints_are_each_told_once(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    region = pl.when(pl.int_range(pl.len()) < 12).then(pl.lit("NA")).otherwise(pl.col("region"))
    age = pl.when(pl.int_range(pl.len()) < 9).then(-999).otherwise(pl.int_range(pl.len()) % 40)
    frame.with_columns(region=region, age=age).write_csv(survey)
    done = sdckit("assess", survey, *KEYS)
    assert done.code == 0
    assert len([line for line in done.lines if "'NA' in region (12 records)" in line]) == 1
    assert len([line for line in done.lines if "age holds -999 in 9 records" in line]) == 1
    chosen = sdckit("assess", survey, *KEYS, "--missing=NA", "--missing=-999")
    assert (chosen.code, chosen.err) == (0, "")
    started = sdckit("scenario", "init", survey, "-o", "-")
    assert len([line for line in started.lines if "'NA' in region" in line]) == 1
    assert '# missing_codes = ["NA", "-999"]' in started.out
    none = sdckit("assess", survey, *KEYS, "--missing=")
    assert "NA" not in none.err


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_codes_are_looked_for_on_engines_too(
    sdckit, survey: Path, frame: pl.DataFrame, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """Of a file that is too large for memory its first records are looked at."""
    age = pl.when(pl.int_range(pl.len()) < 9).then(-999).otherwise(pl.int_range(pl.len()) % 40)
    frame.with_columns(age=age).write_csv(survey)
    done = sdckit("assess", survey, *KEYS, "--engine", engine)
    assert done.code == 0
    assert f"{survey.name}: age holds -999 in 9 records" in done.err
    monkeypatch.setattr("sdckit.data.files.scan_file.LOOKED_AT", 50)
    done = sdckit("assess", survey, *KEYS, "--engine", engine)
    assert f"{survey.name} (its first 50 records): age holds -999 in 9 records" in done.err
    assert "-999" not in sdckit("assess", survey, *KEYS, "--engine", engine, "--missing=-999").err


def test_an_encoding_is_guessed_aloud_once(sdckit, survey: Path) -> None:
    survey.write_bytes(survey.read_bytes().replace(b"north", "nörd".encode("latin-1")))
    for command in (("assess", survey, *KEYS), ("scenario", "init", survey, "-o", "-")):
        done = sdckit(*command)
        assert len([line for line in done.lines if "cp1252" in line]) == 1


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_an_identifier_that_does_not_exist(sdckit, survey: Path, more: tuple[str, ...]) -> None:
    done = sdckit("assess", survey, *KEYS, "--identifiers", "nmae", *more)
    assert done.code == 0
    assert "'nmae' (did you mean 'name'?): listing it protects nothing" in done.err


def test_the_delimiter_and_the_decimal_mark_that_fit(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    done = sdckit("assess", survey, *KEYS, "--delimiter", ";")
    assert done.code == 2
    assert "give ','" in done.err
    comma = frame.with_columns(w=pl.col("w").cast(pl.String).str.replace(".", ",", literal=True))
    comma.write_csv(survey)
    done = sdckit("assess", survey, *KEYS, "--weight", "w")
    assert done.code == 2
    assert any("--decimal ," in line for line in done.lines)
    assert sdckit("assess", survey, *KEYS, "--weight", "w", "--decimal", ",").code == 0


def test_several_rows_per_person_can_be_assessed_as_written(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    gaps = pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("region"))
    frame.drop("w", "hh").with_columns(region=gaps, pid=pl.int_range(pl.len()) // 2).write_csv(survey)
    scenario = survey.with_name("s.toml")
    assert sdckit("scenario", "init", survey, "-o", scenario).code == 0
    done = sdckit("assess", survey, "--scenario", scenario)
    assert done.code == 0, done.err
