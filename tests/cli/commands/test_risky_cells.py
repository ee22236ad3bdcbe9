"""``sdckit risky-cells``."""

from __future__ import annotations

from pathlib import Path

KEYS = ("--keys", "sex,age,region")


def test_combinations_and_no_value(sdckit, survey: Path) -> None:
    done = sdckit("risky-cells", survey, *KEYS)
    assert (done.code, done.err) == (0, "")
    assert "sex, age and region" in done.out
    assert "Records in an unsafe combination" in done.out
    assert "Zq7Qx" not in done.out


def test_dimension_and_threshold(sdckit, survey: Path) -> None:
    small = sdckit("risky-cells", survey, *KEYS, "--max-dim", 1, "--threshold", 2)
    assert small.code == 0
    assert "sex and age" not in small.out


def test_bad_options_are_one_line(sdckit, survey: Path) -> None:
    for options in (("--max-dim", 0), ("--threshold", 0)):
        done = sdckit("risky-cells", survey, *KEYS, *options)
        assert (done.code, done.out, len(done.lines)) == (2, "", 1)
        assert "whole number" in done.err
