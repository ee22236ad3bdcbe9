"""``sdckit explain``: the values of a record, to those who say that they may see them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

MARKER = "Zq7Qx"
KEYS = ("--keys", "sex,age,region")


def test_it_is_refused_without_internal(sdckit, survey: Path) -> None:
    done = sdckit("explain", survey, *KEYS, "--row", 18)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert "--internal" in done.err
    assert MARKER not in done.err


def test_inside_the_record_is_shown(sdckit, survey: Path) -> None:
    done = sdckit("explain", survey, *KEYS, "--row", 18, "--internal")
    assert (done.code, done.err) == (0, "")
    assert "contains confidential information" in done.out
    assert f"{MARKER}r" in done.out
    assert "Smallest sets of keys" in done.out
    assert "leave out region" in done.out


def test_a_record_that_is_not_alone(sdckit, survey: Path) -> None:
    done = sdckit("explain", survey, "--keys", "sex", "--row", 1, "--internal")
    assert done.code == 0
    assert "is not alone" in done.out
    assert "Single changes" not in done.out


def test_a_row_that_does_not_exist(sdckit, survey: Path) -> None:
    done = sdckit("explain", survey, *KEYS, "--row", 999, "--internal")
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert "from 1 to 240" in done.err


def test_the_record_by_a_column_and_its_value(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.with_columns(pid=pl.int_range(pl.len()) + 1001).write_csv(survey)
    by_row = sdckit("explain", survey, *KEYS, "--row", 18, "--internal")
    by_value = sdckit("explain", survey, *KEYS, "--id", "pid", "--value", 1018, "--internal")
    assert by_value.code == 0
    assert "survey.csv, record with pid 1018" in by_value.out
    assert by_value.out.splitlines()[2:] == by_row.out.splitlines()[2:]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--row N, or --id COLUMN with --value VALUE"),
        (("--id", "hh"), "--id COLUMN with --value VALUE"),
        (("--value", 3), "--id COLUMN with --value VALUE"),
        (("--row", 1, "--id", "hh", "--value", 3), "say which record"),
        (("--id", "hh", "--value", 3), "3 records have the value"),
        (("--id", "hh", "--value", "x"), "no record has the value"),
        (("--id", "hhh", "--value", 3), "did you mean 'hh'"),
    ],
)
def test_a_record_that_is_not_named_well(sdckit, survey: Path, options, words: str) -> None:
    done = sdckit("explain", survey, *KEYS, *options, "--internal")
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert words in done.err


def test_a_direct_identifier_is_not_read(sdckit, survey: Path, tmp_path: Path) -> None:
    stored = tmp_path / "s.toml"
    stored.write_text('keys = ["sex", "age"]\nidentifiers = ["name"]\n')
    done = sdckit("explain", survey, "--scenario", stored, "--id", "name", "--value", "person 3", "--internal")
    assert (done.code, done.out) == (2, "")
    assert "direct identifier, which is never read" in done.err


def test_the_only_record_of_a_file(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.head(1).write_csv(survey)
    done = sdckit("explain", survey, *KEYS, "--row", 1, "--internal")
    assert done.code == 0
    assert "The file has no other record." in done.out
    assert "Smallest sets" not in done.out
