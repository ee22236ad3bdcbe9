"""``sdckit outliers``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest


def test_counts_and_no_value(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    done = sdckit("outliers", survey, "--numeric", "w")
    assert (done.code, done.err) == (0, "")
    assert "Records with an extreme value 12 (5.0 %)" in done.out
    assert f"{frame['w'].max()}" not in done.out


@pytest.mark.parametrize(
    ("method", "words"),
    [("mad", "median plus or minus three"), ("robust_mahalanobis", "robust distance of all variables together")],
)
def test_other_methods(sdckit, survey: Path, method: str, words: str) -> None:
    done = sdckit("outliers", survey, "--numeric", "w,hh", "--method", method)
    assert done.code == 0
    assert words in done.out


def test_both_ends_and_groups(sdckit, survey: Path) -> None:
    lower = sdckit("outliers", survey, "--numeric", "w", "--lower-quantile", 0.1)
    assert "24 (10.0 %)" in lower.out
    assert sdckit("outliers", survey, "--numeric", "w", "--by", "sex").code == 0


def test_a_scenario_names_the_variables(sdckit, survey: Path, tmp_path: Path) -> None:
    stored = tmp_path / "s.toml"
    stored.write_text('keys = ["sex"]\nnumeric = ["w"]\nmissing_codes = ["27"]\n')
    typed = sdckit("outliers", survey, "--numeric", "w", "--missing", 27)
    assert sdckit("outliers", survey, "--scenario", stored).out == typed.out
    other = sdckit("outliers", survey, "--scenario", stored, "--numeric", "hh")
    assert other.out == sdckit("outliers", survey, "--numeric", "hh", "--missing", 27).out
    stored.write_text('keys = ["sex"]\n')
    done = sdckit("outliers", survey, "--scenario", stored)
    assert (done.code, len(done.lines)) == (2, 1)
    assert "--numeric A,B, or a scenario that names them" in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--numeric", "w", "--method", "x"), "is unknown"),
        (("--numeric", "income"), "'income'"),
        (("--numeric", "wieght"), "wieght"),
        (("--numeric", "w", "--upper-quantile", 2), "between 0 and 1"),
    ],
)
def test_bad_options_are_one_line(sdckit, survey: Path, options, words: str) -> None:
    done = sdckit("outliers", survey, *options)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert words in done.err
    assert "Zq7Qx" not in done.err
