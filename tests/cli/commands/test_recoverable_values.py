"""``sdckit recoverable-values``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

KEYS = ("--keys", "sex,age,region")
COMMAND = "recoverable-values"
MARKER = "Zq7Qx"


@pytest.fixture
def original(tmp_path: Path, frame: pl.DataFrame) -> Path:
    """The survey with weights that are those of its regions."""
    path = tmp_path / "original.csv"
    place = pl.col("region").rank("dense")
    frame.with_columns(w=place * 100.5 + pl.int_range(frame.height) % 7).write_csv(path)
    return path


@pytest.fixture
def released(tmp_path: Path, original: Path) -> Path:
    """The same with some regions suppressed."""
    path = tmp_path / "released.csv"
    gone = pl.int_range(pl.len()) % 8 == 3
    pl.read_csv(original).with_columns(region=pl.when(gone).then(None).otherwise("region")).write_csv(path)
    return path


def test_what_is_given_back_and_what_to_do(sdckit, released: Path, original: Path) -> None:
    done = sdckit(COMMAND, released, *KEYS, "--original", original, "--weight", "w", "--seed", 1)
    assert (done.code, done.err) == (0, "")
    words = " ".join(done.out.split())
    for said in (
        "region suppressed 30 30",
        "w",
        "Coarsen the weight w (coarsen_weights)",
        "Expected re-identifications",
    ):
        assert said in words
    assert MARKER not in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_without_the_original(sdckit, released: Path) -> None:
    done = sdckit(COMMAND, released, *KEYS, "--weight", "w", "--household", "hh")
    assert (done.code, done.err) == (0, "")
    assert "region suppressed" in " ".join(done.out.split())
    assert MARKER not in done.out


def test_nothing_to_give_back(sdckit, survey: Path) -> None:
    same = survey.with_name("same.csv")
    same.write_bytes(survey.read_bytes())
    done = sdckit(COMMAND, survey, *KEYS, "--original", same)
    assert (done.code, done.err) == (0, "")
    assert "No value of the release was changed" in " ".join(done.out.split())


def test_the_log_of_a_recipe(sdckit, tmp_path: Path, released: Path, original: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    (tmp_path / "s.toml").write_text('keys = ["sex", "region"]\nweight = "w"\n', encoding="utf-8")
    steps = 'title = "Test"\nscenario = "s.toml"\n\n[[steps]]\nmethod = "local_suppression"\nk = 40\n'
    recipe.write_text(steps, encoding="utf-8")
    made, log = tmp_path / "made.csv", tmp_path / "log.json"
    protect = sdckit("protect", recipe, original, "--out", made, "--log", log)
    assert protect.code == 0, protect.err
    done = sdckit(COMMAND, made, *KEYS, "--log", log, "--weight", "w")
    assert (done.code, done.err) == (0, "")
    assert "suppressed" in done.out
    other = tmp_path / "other.csv"
    pl.read_csv(made).head(9).write_csv(other)
    refused = sdckit(COMMAND, other, *KEYS, "--log", log)
    assert (refused.code, refused.out, len(refused.lines)) == (2, "", 1)
    assert "log" in refused.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--keys", "sex,agee"), "agee"),
        ((*KEYS, "--household", "home"), "home"),
        ((*KEYS, "--weight", "ww"), "ww"),
        ((*KEYS, "--log", "gone.json"), "gone.json"),
        ((*KEYS, "--original", "gone.csv"), "gone.csv"),
        ((*KEYS, "--seed", "-1"), "seed"),
    ],
)
def test_bad_input_is_one_line(sdckit, survey: Path, options, words) -> None:
    done = sdckit(COMMAND, survey, *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert MARKER not in done.err
    assert len(done.lines) == 1


def test_an_original_of_other_records(sdckit, tmp_path: Path, released: Path, frame: pl.DataFrame) -> None:
    short = tmp_path / "short.csv"
    frame.head(40).write_csv(short)
    done = sdckit(COMMAND, released, *KEYS, "--original", short)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)


def test_rows_that_nothing_brings_together_are_not_compared(sdckit, tmp_path: Path, released: Path, original: Path):
    moved = tmp_path / "moved.csv"
    pl.read_csv(released).sample(fraction=1, shuffle=True, seed=1).write_csv(moved)
    how = (COMMAND, moved, *KEYS, "--original", original, "--weight", "w")
    printed = " ".join(sdckit(*how).out.split())
    assert "values are not compared: nothing says which rows of the release and of the original" in printed
    assert "perturbed" not in printed
    by_hand = " ".join(sdckit(*how, "--aligned").out.split())
    assert "perturbed" in by_hand
    assert "not compared" not in by_hand
    assert "not compared" not in sdckit(COMMAND, released, *KEYS, "--original", original, "--weight", "w").out


def test_rows_brought_together_by_an_id(sdckit, tmp_path: Path, released: Path, original: Path) -> None:
    moved = tmp_path / "moved.csv"
    pl.read_csv(released).sample(fraction=1, shuffle=True, seed=1).write_csv(moved)
    done = sdckit(COMMAND, moved, *KEYS, "--original", original, "--id", "name", "--weight", "w")
    assert done.code == 0
    assert "region suppressed 30 30" in " ".join(done.out.split())


def test_a_release_is_not_its_own_original(sdckit, survey) -> None:
    done = sdckit("recoverable-values", survey, "--original", survey, "--keys", "sex,age")
    assert done.code == 2
    assert f"--original {survey.name} is the release itself" in done.err
