"""``sdckit canaries``: plant, synthesise, measure; nothing is overwritten or left half done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as package

N = 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A survey of 200 people in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    people = pl.DataFrame(
        {
            "pid": np.arange(N) + 100,
            "age": rng.integers(20, 80, N),
            "pay": rng.normal(3000, 500, N).round(1),
            "town": rng.choice(["Rome", "Oslo", "Bonn"], N),
        }
    )
    people.write_csv("survey.csv")
    return tmp_path


MAKE = ("canaries", "make", "survey.csv", "-o", "train.csv", "--key", "key.json", "--id", "pid")


def seed() -> int:
    """What the key keeps to make its records again."""
    return int(json.loads(Path("key.json").read_text())["seed"])


def test_a_short_seed_warns_and_does_not_say_which_are_planted(sdckit, folder: Path) -> None:
    done = sdckit(*MAKE, "--n", 10, "--seed", 1)
    assert done.err.startswith("warning: a seed below 2^64")
    assert Path("key.json").stat().st_mode & 0o777 == 0o600
    train, survey = pl.read_csv("train.csv"), pl.read_csv("survey.csv")
    assert not train.equals(package.canaries(survey, n=10, id="pid", seed=1).data)
    assert train.equals(package.canaries(survey, n=10, id="pid", seed=seed()).data)
    assert str(seed()) not in done.out + done.err
    assert seed() >= 2**64


def test_planted_records_are_found_again(sdckit, folder: Path) -> None:
    before = (folder / "survey.csv").read_bytes()
    done = sdckit(*MAKE, "--n", 10, "--copies", 2)
    assert (done.code, done.err) == (0, "")
    assert "Planted 10 records of nobody, 2 times each, behind the 200 of survey.csv." in done.out
    assert "Written: train.csv, key.json." in done.out
    assert (folder / "survey.csv").read_bytes() == before
    train, survey = pl.read_csv("train.csv"), pl.read_csv("survey.csv")
    made = package.canaries(survey, n=10, copies=2, id="pid", seed=seed())
    assert train.equals(made.data)
    assert sorted(file.name for file in folder.iterdir()) == ["key.json", "survey.csv", "train.csv"]
    assert {(folder / name).stat().st_mode & 0o777 for name in ("key.json", "train.csv")} == {0o600}

    told = sdckit("canaries", "measure", "key.json", "--released", "train.csv")
    assert (told.code, told.err) == (0, "")
    assert "10 records of nobody planted, 2 times each, 10 held back" in told.out
    assert "The release remembers" in told.out
    rows = {line.split("  ")[0].strip(): line.split() for line in told.out.splitlines()}
    assert rows["in the release to the letter"][-5:-3] == ["100.0", "%"]
    found = made.exposure(train)
    assert f"{100 * found.auc_low:.1f}–{100 * found.auc_high:.1f}" in told.out
    assert max(map(len, told.out.splitlines())) <= 80


def test_without_memory_and_with_several_releases(sdckit, folder: Path) -> None:
    assert sdckit(*MAKE, "--n", 10, "--variables", "age,town").code == 0
    told = sdckit("canaries", "measure", "key.json", "--released", "survey.csv", "--released", "train.csv")
    found = package.canaries(
        pl.read_csv("survey.csv"), n=10, id="pid", variables=["age", "town"], seed=seed()
    ).exposure([pl.read_csv("survey.csv"), pl.read_csv("train.csv")])
    assert f"{100 * found.auc:.1f} %" in told.out
    assert "Note: intervals: their ends are means over the releases" in told.out
    alone = sdckit("canaries", "measure", "key.json", "--released", "survey.csv", "--no-progress")
    assert "No sign of memory" in alone.out


def test_the_next_command_has_the_files_as_they_were_typed(sdckit, folder: Path) -> None:
    (folder / "our keys").mkdir()
    typed = [{"key.json": "our keys/k.json"}.get(str(word), word) for word in MAKE]
    done = sdckit(*typed, "--n", 5)
    assert "sdckit canaries measure 'our keys/k.json' --released FILE" in done.out


def test_coins_and_the_file_before_planting_bound_epsilon(sdckit, folder: Path) -> None:
    done = sdckit(*MAKE, "--n", 20, "--coins")
    assert (done.code, done.err) == (0, "")
    train, survey = pl.read_csv("train.csv"), pl.read_csv("survey.csv")
    made = package.canaries(survey, n=20, coins=True, id="pid", seed=seed())
    assert train.equals(made.data)
    assert f"Planted {made.n_planted} records of nobody, once," in done.out
    assert "sdckit canaries measure key.json --released FILE --reference survey.csv" in done.out
    measure = ("canaries", "measure", "key.json", "--released", "train.csv")
    told = sdckit(*measure, "--reference", "survey.csv")
    found = made.exposure(train)
    assert f"Of 20 guesses which of them were planted {found.n_right} are right" in found.verdict
    assert found.verdict in " ".join(told.out.split())
    several = made.exposure(train, guesses=[10, 30])
    assert several.verdict in " ".join(sdckit(*measure, "--reference", "survey.csv", "--guesses", "10,30").out.split())
    assert "not judged: it needs a reference" in " ".join(sdckit(*measure).out.split())
    for options, why in (
        (("--reference", "train.csv"), "the reference holds canaries"),
        (("--reference", "survey.csv", "--guesses", "10,11"), "give even numbers from 2 to 40"),
        (("--guesses", "ten"), "--guesses takes whole numbers"),
    ):
        refused = sdckit(*measure, *options)
        assert (refused.code, refused.out) == (2, "")
        assert why in refused.err


def test_identifiers_are_not_in_the_file_to_train_on(sdckit, folder: Path) -> None:
    make = [one for one in MAKE if one not in ("--id", "pid")]
    assert sdckit(*make, "--identifiers", "pid").code == 0
    assert pl.read_csv("train.csv").columns == ["age", "pay", "town"]


REFUSED = {
    "one record": (("one.csv", "-o", "t.csv", "--key", "k.json"), "combinations that nobody has"),
    "the input": (("survey.csv", "-o", "survey.csv", "--key", "k.json"), "the command reads this file"),
    "the input as key": (("survey.csv", "-o", "t.csv", "--key", "survey.csv"), "the command reads this file"),
    "one name twice": (("survey.csv", "-o", "t.csv", "--key", "t.csv"), "two outputs have the same name"),
    "no folder": (("survey.csv", "-o", "none/t.csv", "--key", "k.json"), "folder 'none' does not exist"),
    "no format": (("survey.csv", "-o", "t.xlsx", "--key", "k.json"), "a data file ends in"),
    "few": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--n", 4), "5 or more"),
    "no copies": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--copies", 0), "1 or more"),
    "seed": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--seed", -1), "--seed takes"),
    "column": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--variables", "agee"), "did you mean 'age'?"),
    "text as number": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--numeric", "town"), "'town'"),
    "no id": (("survey.csv", "-o", "t.csv", "--key", "k.json", "--id", "none"), "no column 'none'"),
    "no header": (("bare.csv", "-o", "t.csv", "--key", "k.json"), "may be a record"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_bad_input_is_one_line_and_leaves_nothing(sdckit, folder: Path, case: str) -> None:
    (folder / "one.csv").write_text("age,town\n20,Rome\n")
    (folder / "bare.csv").write_text("ann,rome\nbob,oslo\ncid,bonn\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    options, words = REFUSED[case]
    done = sdckit("canaries", "make", *options)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert len([line for line in done.lines if line.startswith("error: ")]) == 1
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_release_that_does_not_fit_the_key(sdckit, folder: Path) -> None:
    assert sdckit(*MAKE, "--n", 10).code == 0
    pl.read_csv("train.csv").drop("town").write_csv("narrow.csv")
    for options, words in (
        (("key.json", "--released", "narrow.csv"), "narrow.csv has no column 'town'"),
        (("key.json", "--released", "none.csv"), "none.csv"),
        (("survey.csv", "--released", "train.csv"), "survey.csv is no key of canaries"),
        (("none.json", "--released", "train.csv"), "cannot read none.json"),
    ):
        done = sdckit("canaries", "measure", *options)
        assert (done.code, done.out) == (2, "")
        assert words in done.err


def test_a_key_that_is_there_is_never_replaced(sdckit, folder: Path) -> None:
    """Without it nobody finds the records that it tells of."""
    key, out = folder / "key.json", folder / "train.csv"
    words = ("canaries", "make", folder / "survey.csv", "--key", key, "--n", 5, "--seed", 1)
    assert sdckit(*words, "--out", out).code == 0
    before, trained = key.read_bytes(), out.read_bytes()
    done = sdckit(*words, "--out", folder / "other.csv")
    assert done.code == 2
    assert done.lines == ["error: key.json exists, and without it nobody finds its records; give another --key"]
    assert (key.read_bytes(), out.read_bytes()) == (before, trained)
    assert not (folder / "other.csv").exists()
