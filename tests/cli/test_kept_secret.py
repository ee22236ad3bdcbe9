"""A log stays what it is: no command that reads or writes one prints its secret, seeds or keys, nor writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from cli.test_same_options import commands
from recoded_files import STEPS, scenario, survey
from sdckit.workflow.recipes.recipe_log import RecipeLog

DRAWN = [
    *STEPS[:4],
    {"method": "add_noise", "columns": ["income"], "noise": 3.0},
    {"method": "pram", "columns": ["ill"]},
]
RELEASE = ("--released", "rel.csv", "--scenario", "s.toml", "--log", "l.json")
ORIGINAL = ("--original", "raw.csv", "--scenario", "s.toml", "--log", "l.json")
PLACE = ("--ledger", "ledger", "--key", "ledger.key")
LEDGER = ("rel.csv", "--scenario", "s.toml", *PLACE, "--log", "l.json")
# Every command that reads a log, with what else it needs and what it writes; a new one needs a line.
READING: dict[str, list[tuple[str, ...]]] = {
    "assess": [
        ("raw.csv", *RELEASE, "--report", "r.html", "--json", "j.json"),
        ("raw.csv", *RELEASE, "--report", "i.md", "--internal"),
        ("raw.csv", *RELEASE, "--dry-run"),
    ],
    "attack": [("raw.csv", *RELEASE, "--known", "age,job", "--n-attacks", "40", "--json", "a.json")],
    "check": [("raw.csv", *RELEASE)],
    "ledger add": [(*LEDGER, "--name", "2026")],
    "ledger check": [LEDGER],
    "joint-audit": [("rel.csv", *ORIGINAL, "--counted", "age,job")],
    "recoverable-values": [("rel.csv", *ORIGINAL)],
    "generalization-loss": [("raw.csv", "--released", "same.csv", "--scenario", "s.toml", "--log", "l.json")],
}
SYNTHESIZE = ("--columns", "income", "--models", "income=sample")
WRITING: dict[str, list[tuple[str, ...]]] = {
    "protect": [
        ("r.toml", "raw.csv", "--scenario", "s.toml", "-o", "o.csv", "--log", "m.json", "--report", "p.html"),
        ("r.toml", "raw.csv", "--scenario", "s.toml", "-o", "q.csv", "--replay", "l.json", "--report", "q.md"),
    ],
    "synthesize": [
        ("raw.csv", "-o", "y.csv", *SYNTHESIZE, "--log", "n.json"),
        ("raw.csv", "-o", "z.csv", *SYNTHESIZE, "--replay", "n.json"),
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The raw file, its release and the log, in the working folder."""
    monkeypatch.chdir(tmp_path)
    for file in ("raw.csv", "same.csv"):
        survey().drop("name").write_csv(file)
    scene = scenario(aligned=True)
    Path("s.toml").write_text(scene.to_toml())
    recipe = sdc.Recipe(DRAWN)
    Path("r.toml").write_text(recipe.to_toml())
    applied = recipe.apply(sdc.read_file("raw.csv"), scenario=scene, seed=2**70 + 987654321, watch=False)
    applied.data.write_csv("rel.csv")
    applied.log.write("l.json")
    sdc.ReleaseLedger.create("ledger", key="ledger.key", survey="Survey")
    return tmp_path


def having(*names: str) -> set[str]:
    """Commands with one of some options."""
    return {name for name, one in commands() if set(names) & {taken.name for taken in one.params}}


def test_no_command_is_forgotten() -> None:
    public = {"synthesize-margins"}  # its log has no secret: noise is not replayed
    assert having("log", "replay") == set(READING) | set(WRITING) | public
    assert having("replay") == set(WRITING)
    # What is drawn and written: by a recipe with its log, by the key of planted records, or no release.
    assert {name for name in having("seed") if name in having("out")} == {*WRITING, "canaries make", "explore"}


def hidden(log: Path) -> list[str]:
    """The secret and every seed of a log, as they may be written."""
    kept = RecipeLog.read(log)
    seeds = [change.secret["seed"] for change in kept.steps if "seed" in change.secret]
    assert seeds
    texts = [kept.secret, kept.secret.upper(), *([str(kept.seed)] if kept.seed else [])]
    return [*texts, *(form(one) for one in seeds for form in (str, hex, "{:,}".format))]


def printed_and_written(done: Any, folder: Path) -> str:
    """All that a reader may come to see: both streams, and every file but the logs."""
    files = [file for file in folder.rglob("*") if file.name not in {"l.json", "m.json", "n.json"}]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
    return done.out + done.err + "".join(texts)


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_a_log_does_not_tell_it(sdckit, folder: Path, name: str) -> None:
    for given in READING[name]:
        done = sdckit(*name.split(), *given)
        assert done.code in {0, 1}, done.err
        text = printed_and_written(done, folder)
        assert not [one for one in hidden(folder / "l.json") if one in text]


@pytest.mark.parametrize("name", WRITING)
def test_a_command_that_writes_a_log_keeps_it_there(sdckit, folder: Path, name: str) -> None:
    for given in WRITING[name]:
        done = sdckit(*name.split(), *given)
        assert done.code == 0, done.err
        text = printed_and_written(done, folder)
        for log in (file for file in folder.iterdir() if file.name in {"l.json", "m.json", "n.json"}):
            assert log.stat().st_mode & 0o777 == 0o600
            assert not [one for one in hidden(log) if one in text]


def test_a_replay_is_the_release_to_the_byte(sdckit, folder: Path) -> None:
    for given in WRITING["synthesize"]:
        assert sdckit("synthesize", *given, "-q").code == 0
    assert Path("y.csv").read_bytes() == Path("z.csv").read_bytes()
    assert sdckit("protect", *WRITING["protect"][1], "-q").code == 0
    assert sdc.read_file("q.csv").equals(sdc.read_file("rel.csv"))


def test_a_damaged_log_is_refused_without_a_word_of_it(sdckit, folder: Path) -> None:
    text = Path("l.json").read_text(encoding="utf-8")
    secret = RecipeLog.read("l.json").secret
    for spoilt in (text[: len(text) // 2], text.replace(secret, secret[:-1]), text.replace(f'"{secret}"', "null")):
        Path("l.json").write_text(spoilt, encoding="utf-8")
        done = sdckit("check", "raw.csv", *RELEASE)
        assert done.code == 2
        assert "l.json" in done.err
        assert secret[:-1] not in done.err
