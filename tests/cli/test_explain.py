"""``sdckit explain``: the values of a record, to those who say that they may see them."""

from __future__ import annotations

from pathlib import Path

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
