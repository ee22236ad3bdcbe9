"""``sdckit joint-audit``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

KEYS = ("--keys", "sex,age,region")
COMMAND = "joint-audit"
MARKER = "Zq7Qx"


@pytest.fixture
def released(tmp_path: Path, survey: Path) -> Path:
    """The survey with some regions suppressed."""
    path = tmp_path / "released.csv"
    gone = pl.int_range(pl.len()) % 8 == 3
    pl.read_csv(survey).with_columns(region=pl.when(gone).then(None).otherwise("region")).write_csv(path)
    return path


@pytest.fixture
def counts(tmp_path: Path, survey: Path) -> Path:
    """The counts of four variables, as they were published."""
    path = tmp_path / "counts.csv"
    pl.read_csv(survey).group_by("sex", "age", "region", maintain_order=True).len(name="n").write_csv(path)
    return path


def test_a_file_of_counts_and_tables_counted_in_the_original(
    sdckit, released: Path, survey: Path, counts: Path
) -> None:
    done = sdckit(COMMAND, released, *KEYS, "--original", survey, "--tables", counts, "--counted", "region,income,sex")
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    for said in ("region suppressed 30", "counts.csv", "region × income × sex", "Records alone with their keys"):
        assert said in words
    assert MARKER not in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_the_tables_of_a_scenario(sdckit, tmp_path: Path, released: Path, counts: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text('keys = ["sex", "age", "region"]\n\n[[tables]]\nfile = "counts.csv"\n', encoding="utf-8")
    done = sdckit(COMMAND, released, "--scenario", scenario)
    assert (done.code, done.err) == (0, "")
    assert "counts.csv" in done.out


def test_what_cannot_be_audited(sdckit, released: Path, counts: Path) -> None:
    done = sdckit(COMMAND, released, *KEYS)
    assert done.code != 0
    assert "--tables, --counted" in done.err
    done = sdckit(COMMAND, released, *KEYS, "--counted", "sex,region")
    assert done.code != 0
    assert MARKER not in done.err
    pl.read_csv(counts).head(3).write_csv(counts)
    done = sdckit(COMMAND, released, *KEYS, "--tables", counts)
    assert done.code != 0
    assert "counts.csv" in done.err
    assert MARKER not in done.err


def test_what_to_do_instead(sdckit, released: Path, survey: Path) -> None:
    done = sdckit(
        COMMAND, released, *KEYS, "--original", survey, "--counted", "sex,age,region", "--counted", "sex", "--remedies"
    )
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    for said in ("What each table reveals", "Leave tables out: sex × age × region.", "Take out further"):
        assert said in words
    assert max(map(len, done.out.splitlines())) <= 80


def test_sums_added_up_and_in_a_file(sdckit, tmp_path: Path, released: Path, survey: Path) -> None:
    sums = tmp_path / "sums.csv"
    frame = pl.read_csv(survey).group_by("sex", "region", maintain_order=True).agg(pl.col("w").sum())
    frame.write_csv(sums)
    given = (COMMAND, released, *KEYS, "--original", survey, "--summed", "w:sex,region")
    done = sdckit(*given, "--sums", f"w:{sums}", "--sums-rounded", "10")
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    assert "Σ w: sex × region" in words
    assert "sums.csv" in words
    assert MARKER not in done.out
    done = sdckit(*given, "--summed", "age")
    assert done.code != 0
    assert "--summed income:region,sex" in done.err
    frame.with_columns(w=pl.col("w") + 1).write_csv(sums)
    done = sdckit(COMMAND, released, *KEYS, "--sums", f"w:{sums}")
    assert done.code != 0
    assert "another sum" in done.err
