"""The ledger of releases fails closed: what was forgotten, put back or taken away is told, and nothing is lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sdckit as sdc
from attacks.differencing.several import people
from needs import needs_signals
from sdckit.cli.app import run

DATA = people(200)
SCENARIO = """keys = ["part", "sex"]
sensitive = ["job"]
identifiers = ["id"]
[thresholds]
differencing = 0.0
[ledger]
folder = "ledger"
key = "ledger.key"
survey = "Survey"
id = "id"
"""
RECIPE = """[[steps]]
method = "random_order"
"""
PLACE = ["--ledger", "ledger", "--key", "ledger.key"]
NAMED = ["--scenario", "scenario.toml"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    DATA.write_csv("survey.csv")
    Path("recipe.toml").write_text(RECIPE, encoding="utf-8")
    said()
    assert run(["ledger", "create", "ledger", "--key", "ledger.key", "--survey", "Survey"]) == 0
    return tmp_path


def said(*lines: str) -> None:
    """Write the scenario with more lines of its table [ledger]."""
    Path("scenario.toml").write_text(SCENARIO + "\n".join(lines), encoding="utf-8")


def protect(name: str, *more: str, ending: str = "csv") -> int:
    line = ["protect", "recipe.toml", "survey.csv", "--out", f"{name}.{ending}", "--log", f"{name}.json", *NAMED]
    return run([*line, "--quiet", *more])


def check(name: str, *more: str) -> int:
    line = ["check", "survey.csv", "--released", f"{name}.csv", "--log", f"{name}.json", *NAMED]
    return run([*line, *more])


def states() -> dict[str, bool]:
    """The entries, and whether each is pending."""
    return {entry.name: entry.pending for entry in sdc.ReleaseLedger.open("ledger", key="ledger.key").entries}


def words(capfd: pytest.CaptureFixture[str]) -> str:
    captured = capfd.readouterr()
    return " ".join((captured.out + captured.err).split())


# A forgotten entry.


def test_an_empty_ledger_judges_nothing_until_the_office_says_that_nothing_went_out(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger", "check", "survey.csv", *NAMED]) == 2
    assert "not judged: differencing = 0: the ledger holds no earlier release that went out" in words(capfd)
    assert run(["check", "survey.csv", *NAMED]) == 2
    assert "first = true under [ledger]" in words(capfd)
    assert run(["check", "survey.csv", *NAMED, "--protected"]) == 2
    assert "the ledger holds no earlier release that went out" in words(capfd)
    said("first = true")
    for command in (["ledger", "check"], ["check"]):
        assert run([*command, "survey.csv", *NAMED]) == 0
        assert "together with no earlier release (by the scenario none went out), not above 0 %" in words(capfd)
    run(["assess", "survey.csv", *NAMED])
    assert "so there was nothing to compare with" in words(capfd)


def test_a_verdict_says_how_many_releases_it_is_about(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    DATA.select(reversed(DATA.columns)).write_csv("earlier.csv")
    for number in range(3):
        assert run(["ledger", "add", "earlier.csv", *NAMED, "--name", f"wave {number}"]) == 0
    assert protect("new", "--ledger") == 0
    assert protect("other", "--ledger") == 0
    capfd.readouterr()
    assert check("new") == 0
    assert "something is disclosed together with 4 earlier releases, 1 of them pending, not above 0 %" in words(capfd)
    assert check("other", "--protected") == 0
    assert "is disclosed together with 4 earlier releases: 0 %, not above 0 %" in words(capfd)


def test_a_report_holds_a_file_against_the_releases_that_check_does(folder: Path) -> None:
    """Not against what the ledger remembers of the file itself."""
    DATA.select(reversed(DATA.columns)).write_csv("earlier.csv")
    assert run(["ledger", "add", "earlier.csv", *NAMED, "--name", "earlier"]) == 0
    assert protect("new", "--ledger") == 0
    line = ["assess", "survey.csv", "--released", "new.csv", "--log", "new.json", *NAMED, "--quiet"]
    assert run([*line, "--json", "new.report.json", "--internal"]) == 0
    report = json.loads(Path("new.report.json").read_text(encoding="utf-8"))
    (verdict,) = [one for one in report["verdicts"] if one["name"] == "differencing"]
    assert verdict["beside"] == "1 earlier release"


def test_another_pending_release_is_no_release_that_went_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert protect("a", "--ledger") == 0
    assert protect("b", "--ledger") == 0
    assert check("a") == 2
    assert "the ledger holds no earlier release that went out" in words(capfd)
    assert states() == {"a": True, "b": True}


# Remembered by `protect`, released by `check`.


def test_a_release_is_pending_until_check_passes_it(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said("add = true")
    assert protect("a") == 0
    assert states() == {"a": True}
    assert check("a") == 2
    assert "In the ledger the release stays pending." in words(capfd)
    said("add = true", "first = true")
    assert check("a") == 0
    told = words(capfd)
    head = sdc.ReleaseLedger.open("ledger", key="ledger.key").head
    assert "In the ledger the release is released." in told
    assert f"Ledger of Survey: 1 release; head {head}" in told
    assert Path("ledger.key.head").read_text(encoding="ascii") == f"{head}\n"
    assert states() == {"a": False}
    assert check("a") == 0  # once more: the file is not held against itself
    assert protect("b", "--no-ledger") == 0
    assert states() == {"a": False}
    assert check("b") == 0
    assert "In the ledger the release is not remembered: if it goes out, add it" in words(capfd)


def test_the_gate_says_that_no_limit_is_on_earlier_releases(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    limit, open_question = "differencing = 0.0", "together with the earlier releases is not judged"
    Path("scenario.toml").write_text(SCENARIO.replace(limit, "risk = 1.0"), encoding="utf-8")
    assert protect("a", "--ledger") == 0
    assert check("a") == 0
    assert open_question not in words(capfd)  # there is none
    assert protect("b", "--ledger") == 0
    assert check("b") == 0
    assert open_question in words(capfd)
    Path("scenario.toml").write_text(SCENARIO, encoding="utf-8")
    check("b")
    assert open_question not in words(capfd)


def test_an_entry_of_protect_is_that_of_ledger_add(folder: Path) -> None:
    """The id is taken from the original, in the order of the log, as the file is read that was written."""
    assert protect("a", "--ledger", "--ledger-name", "2024", "--ledger-date", "2024-05") == 0
    line = ["ledger", "add", "a.csv", *NAMED, "--original", "survey.csv", "--log", "a.json", "--name", "again"]
    assert run(line) == 0
    opened = sdc.ReleaseLedger.open("ledger", key="ledger.key")
    first, second = opened.entries
    assert (first.name, first.date, first.released) == ("2024", "2024-05", second.released)
    assert first.sets == second.sets
    assert any(kind == "people" for kind, *_ in first.sets)
    for place, part in opened._file.read(first).parts.items():
        other = opened._file.read(second).parts[place]
        assert (part.digests == other.digests).all()
        assert (part.numbers == other.numbers).all()


def test_a_changed_file_is_not_the_one_that_is_pending(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "add", "survey.csv", *NAMED, "--name", "old"]) == 0
    assert protect("a", "--ledger") == 0
    with Path("a.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    capfd.readouterr()
    assert check("a") == 0
    assert "the release is not remembered" in words(capfd)
    assert states() == {"old": False, "a": True}


def test_what_does_not_go_out_is_withdrawn(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "add", "survey.csv", *NAMED, "--name", "old", "--date", "2023"]) == 0
    assert protect("a", "--ledger") == 0
    capfd.readouterr()
    assert run(["ledger", "list", *NAMED]) == 0
    told = words(capfd)
    assert "old 2023 – released" in told
    assert "a – – pending" in told
    assert run(["ledger", "withdraw", "old", *PLACE]) == 2
    assert "'old' went out; what went out stays in the ledger" in words(capfd)
    assert run(["ledger", "withdraw", "a", *PLACE]) == 0
    assert states() == {"old": False}
    assert run(["ledger", "withdraw", "a", *PLACE]) == 2
    assert "has no release 'a'; 'sdckit ledger list' shows them" in words(capfd)


def test_a_name_that_is_taken_is_told_before_any_work(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert protect("a", "--ledger") == 0
    Path("a.csv").unlink()
    Path("a.json").unlink()
    assert protect("a", "--ledger") == 2
    assert "already, which is pending: 'sdckit ledger withdraw' removes it; give another name" in words(capfd)
    assert not Path("a.csv").exists()
    assert protect("a", "--ledger", "--force") == 0
    assert states() == {"a": True}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--ledger-name", "x"], "--ledger-name and --ledger-date are of an entry in the ledger"),
        (["--ledger", "--ledger-date", "May"], "date is a year, a month or a day"),
        (["--ledger", "--engine", "polars"], "--ledger reads what an engine never does whole"),
    ],
)
def test_what_protect_cannot_remember_is_told(
    folder: Path, capfd: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    ending = "parquet" if "--engine" in more else "csv"
    assert protect("a", *more, ending=ending) == 2
    assert told in words(capfd)
    assert states() == {}
    assert not Path(f"a.{ending}").exists()


def test_several_files_are_remembered_each(folder: Path) -> None:
    said("first = true")
    step = '[[steps]]\nmethod = "synthesize"\nm = 2\ncolumns = ["sex", "age", "job"]\n'
    Path("recipe.toml").write_text(step, encoding="utf-8")
    assert protect("a", "--ledger", "--ledger-name", "made") == 0
    assert states() == {"made 1": True, "made 2": True}
    line = ["check", "survey.csv", "--released", "a_1.csv", "--released", "a_2.csv", "--log", "a.json", *NAMED]
    assert run(line) == 0
    assert states() == {"made 1": False, "made 2": False}


# An older copy.


def test_an_older_copy_put_back_is_refused_by_every_command(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("ledger", "copy")
    assert run(["ledger", "add", "survey.csv", *NAMED, "--name", "old"]) == 0
    shutil.rmtree("ledger")
    shutil.copytree("copy", "ledger")
    capfd.readouterr()
    for line in (
        ["check", "survey.csv"], ["ledger", "check", "survey.csv"], ["ledger", "list"], ["ledger", "withdraw", "old"],
        ["ledger", "add", "survey.csv", "--name", "new"], ["assess", "survey.csv"],
    ):  # fmt: skip
        assert run([*line, *NAMED]) == 2, line
        assert "this is an older copy; put back the newest copy of the whole folder" in words(capfd)
    assert protect("a", "--ledger") == 2
    assert not Path("a.csv").exists()


def test_an_older_ledger_is_sealed_by_upgrade(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "upgrade", *NAMED]) == 2
    assert "has a chain already" in words(capfd)


# The id of the ledger is an identifier in the scenario.


@pytest.mark.parametrize(
    "line",
    [
        ["assess", "survey.csv"],
        ["ledger", "add", "survey.csv", "--name", "x"],
        ["explain", "survey.csv", "--row", "3", "--internal"],
        ["recipe", "init", "survey.csv", "-o", "made.toml"],
        ["explore", "recipe.toml", "survey.csv", "--grid", "local_suppression.k=2"],
        ["k-anonymity", "survey.csv"],
        ["attack", "survey.csv", "--released", "other.csv", "--n-attacks", "5", "--seed", "1"],
        ["propose", "survey.csv", "-o", "made.toml"],
        ["protect", "recipe.toml", "survey.csv", "-o", "made.csv", "--report", "made.md"],
    ],
)
def test_every_command_takes_an_identifier_as_the_id(
    folder: Path, capfd: pytest.CaptureFixture[str], line: list[str]
) -> None:
    text = SCENARIO.replace("differencing = 0.0", "k = 3")
    Path("scenario.toml").write_text(text, encoding="utf-8")
    steps = '[[steps]]\nmethod = "local_suppression"\nkeys = ["part", "sex"]\nk = 3\n'
    Path("recipe.toml").write_text(steps, encoding="utf-8")
    assert run(["ledger", "add", "survey.csv", *NAMED, "--name", "old"]) == 0
    DATA.drop("id").write_csv("other.csv")
    assert run([*line, *NAMED]) in (0, 1), words(capfd)
    if Path("made.csv").exists():
        assert "id" not in sdc.read_file("made.csv").columns


# Whenever a process is killed, there is no file without an entry, and no entry is lost or half.


KILLS = int(os.environ.get("SDCKIT_KILLS", "4"))  # 20 were asked for, and tried: each takes a second or two
WORK = '''
import os, signal, sys
import sdckit.attacks.differencing.differencing, sdckit.workflow.check, sdckit.workflow.recipes.recipe
from sdckit.cli.app import run

def work(name):
    files, named = [f"{name}.csv", f"{name}.json"], ["--scenario", "scenario.toml"]
    beside = ["check", "survey.csv", "--released", files[0], "--log", files[1], "--quiet", *named]
    run(["protect", "recipe.toml", "survey.csv", "--out", files[0], "--log", files[1], "--ledger", "--quiet", *named])
    run(beside)
    run(["ledger", "add", "survey.csv", "--name", f"added {name}", *named])

def killing(after):
    """Kill the process before the file that is opened, moved or removed in this folder after so many others."""
    left = after

    def hook(event, values):
        nonlocal left
        if event in ("open", "os.rename", "os.remove") and not str(values[0]).startswith("/"):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)

for line in sys.stdin:  # nothing is read or counted here: what forks has one thread
    killed, after = line.split()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        killing(int(after))
        for number in range(50):
            work(f"{killed}-{number}")
    os.waitpid(child, 0)
    print(killed, flush=True)
'''


def test_killed_at_any_moment_nothing_is_lost(folder: Path) -> None:
    needs_signals()
    said("first = true")
    moments, before = random.Random(3), {}
    process = subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(sdc.__file__).parents[1])},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for killed in range(KILLS):
        process.stdin.write(f"{killed} {moments.randrange(150)}\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"{killed}\n"
        opened = sdc.ReleaseLedger.open("ledger", key="ledger.key")
        now = {entry.name: entry.pending for entry in opened.entries}
        assert before.keys() <= now.keys()
        assert not any(now[name] for name, pending in before.items() if not pending)
        for entry in opened.entries:
            if entry.name not in before:
                assert opened._file.read(entry).parts
        written = [path.stem for path in Path().glob(f"{killed}-*.csv")]
        assert set(written) <= now.keys()
        assert all(opened.names_of(f"{name}.csv") == (name,) for name in written)
        before = now
    process.communicate()
    assert len(before) >= KILLS // 2
