"""``sdckit suda``."""

from __future__ import annotations

from pathlib import Path

import polars as pl

KEYS = ("--keys", "sex,age,region")
MARKER = "Zq7Qx"


def test_it_prints_minimal_uniques_and_no_value(sdckit, survey: Path) -> None:
    done = sdckit("suda", survey, *KEYS)
    assert (done.code, done.err) == (0, "")
    for words in ("survey.csv: 240 records", "Minimal uniques by the number of keys", "Minimal uniques", "DIS"):
        assert words in done.out
    assert MARKER not in done.out


def test_options_reach_the_measure(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.with_columns(w=pl.int_range(pl.len()) * 7 % 60).write_csv(survey)
    keys = ("--keys", "sex,age,region,w")
    whole = sdckit("suda", survey, *keys).out
    for options in (("--max-size", 1), ("--scoring", "ihsn"), ("--sampling-fraction", 0.5)):
        assert sdckit("suda", survey, *keys, *options).out != whole


def test_a_missing_value_may_be_a_category(sdckit, survey: Path, frame) -> None:
    gap = pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise(pl.col("region")).alias("region")
    frame.with_columns(gap).write_csv(survey)
    rules = [sdckit("suda", survey, *KEYS, "--missing-rule", rule) for rule in ("wildcard", "category")]
    assert [done.code for done in rules] == [0, 0]
    assert rules[0].out != rules[1].out


def test_bad_options_are_one_line(sdckit, survey: Path) -> None:
    for options, words in (
        (("--max-size", 9), "whole number from 1 to 3"),
        (("--scoring", "x"), "there are: elliot, ihsn"),
        (("--sampling-fraction", 2), "at most 1"),
    ):
        done = sdckit("suda", survey, *KEYS, *options)
        assert (done.code, done.out, len(done.lines)) == (2, "", 1)
        assert words in done.err


def test_a_column_that_does_not_exist(sdckit, survey: Path) -> None:
    done = sdckit("suda", survey, "--keys", "sex,regoin")
    assert done.code == 2
    assert "did you mean 'region'" in done.err
    assert sdckit("suda", survey).code == 2


def test_the_sampling_fraction_of_a_scenario(sdckit, survey: Path, tmp_path: Path) -> None:
    for entry, fraction in (("sampling_fraction = 0.5\n", 0.5), ("", 0.01)):
        stored = tmp_path / "s.toml"
        stored.write_text(f'keys = ["sex", "age", "region"]\n{entry}')
        from_file = sdckit("suda", survey, "--scenario", stored)
        assert from_file.out == sdckit("suda", survey, *KEYS, "--sampling-fraction", fraction).out
    stored.write_text('keys = ["sex", "age", "region"]\nsampling_fraction = 0.5\n')
    typed = sdckit("suda", survey, "--scenario", stored, "--sampling-fraction", 0.01)
    assert typed.out == from_file.out


def test_quiet_keeps_the_tables(sdckit, survey: Path) -> None:
    assert sdckit("suda", survey, *KEYS, "--no-progress").out == sdckit("suda", survey, *KEYS).out
