"""``sdckit delta-presence``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

KEYS = ("--keys", "sex,age,region")
MARKER = "Zq7Qx"


@pytest.fixture
def people(tmp_path: Path, frame: pl.DataFrame) -> Path:
    """The survey, and everybody but the marked person once more."""
    path = tmp_path / "people.csv"
    pl.concat([frame, frame.filter(~pl.col("region").str.contains(MARKER))]).write_csv(path)
    return path


def test_the_marked_person_is_known_to_be_listed(sdckit, survey: Path, people: Path) -> None:
    done = sdckit("delta-presence", survey, "--population", people, *KEYS, "--upper", 0.5)
    assert (done.code, done.err) == (0, "")
    for words in (
        "People in the population 479",
        "Largest share of a key 1",
        "people with a key above 0.5 1 0.21 %",
        "Every share from 0 to 0.5 does not hold",
    ):
        assert words in " ".join(done.out.split())
    assert MARKER not in done.out


def test_limits_that_hold(sdckit, survey: Path, people: Path) -> None:
    done = sdckit("delta-presence", survey, "--population", people, *KEYS, "--lower", 0.5)
    assert "Every share from 0.5 to 1 holds" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--population"),
        (("--population", "PEOPLE", "--upper", 2), "from 0 to 1"),
        (("--population", "PEOPLE", "--lower", 0.9, "--upper", 0.1), "in order"),
        (("--population", "PEOPLE", "--limits", "0,0.5"), "No such option: --limits"),
        (("--population", "SMALL"), "must be a part of the population"),
    ],
)
def test_bad_options_are_clear(sdckit, survey: Path, people: Path, frame: pl.DataFrame, options, words: str) -> None:
    files = {"PEOPLE": people, "SMALL": people.with_name("small.csv")}
    frame.head(100).write_csv(files["SMALL"])
    done = sdckit("delta-presence", survey, *KEYS, *(files.get(option, option) for option in options))
    assert (done.code, done.out) == (2, "")
    assert words in done.lines[0]
    assert MARKER not in done.err
