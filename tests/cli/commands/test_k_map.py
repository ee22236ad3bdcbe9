"""``sdckit k-map``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

KEYS = ("--keys", "sex,age,region")
MARKER = "Zq7Qx"


@pytest.fixture
def people(tmp_path: Path, frame: pl.DataFrame) -> Path:
    """The survey twice over: everybody has company but the marked person, who has one."""
    path = tmp_path / "people.csv"
    pl.concat([frame, frame]).write_csv(path)
    return path


def test_with_a_population(sdckit, survey: Path, people: Path) -> None:
    done = sdckit("k-map", survey, "--population", people, *KEYS, "--k", "2,3")
    assert (done.code, done.err) == (0, "")
    told = " ".join(done.out.split())
    assert "k = 2 holds 0 0 %" in told
    assert "k = 3 does not hold 1 0.42 %" in told
    assert "Largest k that holds 2" in told
    assert MARKER not in done.out


def test_without_one_it_estimates(sdckit, survey: Path) -> None:
    done = sdckit("k-map", survey, *KEYS, "--weight", "w")
    assert done.code == 0
    for words in ("Records expected", "fewer than k people", "k = 5", "No population file"):
        assert words in done.out
    assert "Largest k" not in done.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "how large the population is"),
        (("--k", "two", "--weight", "w"), "--k takes whole numbers"),
        (("--k", "1", "--weight", "w"), "whole numbers of 2 or more"),
        (("--population", "PEOPLE", "--weight", "w"), "leave --weight and --sampling-fraction out"),
        (("--population", "nowhere.csv"), "nowhere.csv"),
        (("--population", "SMALL"), "must be a part of the population"),
        (("--population", "OTHER"), "population other.csv"),
    ],
)
def test_bad_options_are_one_line(
    sdckit, survey: Path, people: Path, frame: pl.DataFrame, options: tuple[str, ...], words: str
) -> None:
    files = {"PEOPLE": people, "SMALL": people.with_name("small.csv"), "OTHER": people.with_name("other.csv")}
    frame.head(100).write_csv(files["SMALL"])
    frame.drop("region").write_csv(files["OTHER"])
    done = sdckit("k-map", survey, *KEYS, *(files.get(option, option) for option in options))
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert words in done.err
    assert MARKER not in done.err
