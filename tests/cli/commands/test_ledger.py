"""sdckit ledger: create, add, check; exit codes as those of check."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdckit as sdc
from attacks.differencing.several import people
from sdckit.cli.app import run
from sdckit.data.ledger.digests import Digester
from sdckit.data.ledger.ledger_file import LedgerEntry, LedgerFile, Sketch, open_file

DATA = people(200)
SCENARIO = """keys = ["part", "sex", "age"]
sensitive = ["job"]
[ledger]
folder = "ledger"
key = "ledger.key"
survey = "Survey"
id = "id"
new = ["sex"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    DATA.write_csv("first.csv")
    DATA.select(reversed(DATA.columns)).write_csv("earlier.csv")  # another file of the same people
    Path("scenario.toml").write_text(SCENARIO, encoding="utf-8")
    Path("first.toml").write_text('keys = ["region", "band"]\nsensitive = ["job"]\n', encoding="utf-8")
    assert run(["ledger", "create", "ledger", "--key", "ledger.key", "--survey", "Survey"]) == 0
    return tmp_path


def add(*more: str, name: str = "2023") -> int:
    line = ["ledger", "add", "earlier.csv", "--scenario", "first.toml", "--name", name, "--id", "id"]
    return run([*line, "--ledger", "ledger", "--key", "ledger.key", *more])


def check(*more: str) -> int:
    return run(["ledger", "check", "first.csv", "--scenario", "scenario.toml", *more])


def limited(limit: float) -> None:
    Path("scenario.toml").write_text(SCENARIO + f"[thresholds]\ndifferencing = {limit}\n", encoding="utf-8")


def test_the_whole_way(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert add("--date", "2023", "--people", "all") == 0
    assert "earlier.csv is in the ledger of Survey as 2023; it holds 1 release." in capfd.readouterr().out
    assert check() == 0
    found = sdc.differencing(
        DATA, earlier=DATA, earlier_keys=["region", "band"], keys=["part", "sex", "age"], sensitive=["job"], id="id"
    )
    shown = capfd.readouterr().out
    assert f"{found.certain_together:,}" in shown
    assert "2023 (2023)" in shown
    limited(0.0)
    assert check() == 1
    assert "exceeded: of" in capfd.readouterr().out
    limited(1.0)
    assert check() == 0
    assert run(["check", "first.csv", "--scenario", "scenario.toml"]) == 0
    assert (folder / "ledger.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_a_release_on_an_engine_is_remembered_and_checked_as_in_memory(
    folder: Path, engine: str, capfd: pytest.CaptureFixture[str]
) -> None:
    limited(0.0)
    assert add("--engine", engine) == 0
    shown = []
    for how in ((), ("--engine", engine)):
        capfd.readouterr()
        assert check(*how) == 1
        shown.append(capfd.readouterr().out)
    assert shown[0] == shown[1]
    assert "exceeded: of" in shown[0]
    found = sdc.differencing(
        DATA, earlier=DATA, earlier_keys=["region", "band"], keys=["part", "sex", "age"], sensitive=["job"], id="id"
    )
    assert f"{found.certain_together:,}" in shown[0]
    refused = ["ledger", "add", "first.csv", "--scenario", "scenario.toml", "--name", "x", "--original", "earlier.csv"]
    assert run([*refused, "--engine", engine]) == 2
    assert "leave --engine out" in capfd.readouterr().err


def test_the_gate_opens_its_ledger_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert add() == 0
    line = ["ledger", "add", "first.csv", "--scenario", "scenario.toml", "--name", "the file itself"]
    assert run(line) == 0
    limited(1.0)
    opened: list[Path] = []
    held_against: set[str] = set()

    def open_once(place: Path, digester: Digester, head: Path) -> LedgerFile:
        opened.append(place)
        return open_file(place, digester, head)

    def read(file: LedgerFile, entry: LedgerEntry) -> Sketch:
        held_against.add(entry.name)
        return whole(file, entry)

    whole = LedgerFile.read
    monkeypatch.setattr("sdckit.attacks.differencing.release_ledger.open_file", open_once)
    monkeypatch.setattr(LedgerFile, "read", read)
    assert run(["check", "first.csv", "--scenario", "scenario.toml"]) == 0
    assert len(opened) == 1
    assert held_against == {"2023"}


def test_the_limit_of_an_office_is_judged_as_one_of_the_scenario(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert add() == 0
    limited(0.0)
    capfd.readouterr()
    assert check() == 1
    stated = capfd.readouterr().out
    of_office = SCENARIO.replace("[ledger]", 'release = "enclave"\n[ledger]')
    Path("scenario.toml").write_text(of_office + "[release_types.enclave]\ndifferencing = 0.0\n", encoding="utf-8")
    assert check() == 1
    assert "exceeded: of " in stated
    assert capfd.readouterr().out == stated


def test_what_could_not_be_looked_for_is_not_held(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    DATA.drop("id").write_csv("bare.csv")
    line = ["ledger", "add", "bare.csv", "--scenario", "first.toml", "--name", "no id"]
    assert run([*line, "--ledger", "ledger", "--key", "ledger.key"]) == 0
    limited(0.5)
    assert check() == 2
    assert "not judged: differencing = 0.5: nothing says which records of no id" in capfd.readouterr().out
    assert check("--people", "others") == 0


def test_earlier_files_are_compared_exactly(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert check("--earlier", "first.csv", "--earlier-keys", "region,band", "--within", "2") == 0
    assert "the file itself compared" in capfd.readouterr().out
    Path("scenario.toml").write_text(SCENARIO.partition("[ledger]")[0], encoding="utf-8")
    assert check("--earlier", "first.csv", "--earlier-keys", "region,band", "--aligned") == 0
    assert "1 earlier release" in capfd.readouterr().out


def test_paths_start_where_the_scenario_lies(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert add() == 0
    (folder / "set").mkdir()
    for name in ("ledger", "ledger.key", "ledger.key.head"):
        (folder / name).rename(folder / "set" / name)
    Path("set/scenario.toml").write_text(SCENARIO + "[thresholds]\ndifferencing = 1.0\n", encoding="utf-8")
    for command in (["ledger", "check"], ["check"], ["assess", "--full"]):
        assert run([*command, "first.csv", "--scenario", "set/scenario.toml"]) == 0
    assert "What do releases disclose together" in capfd.readouterr().out
    line = ["assess", "first.csv", "--scenario", "set/scenario.toml", "--public", "--report", "public.md"]
    assert run(line) == 0
    assert "ledger" not in Path("public.md").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["create", "ledger", "--key", "new.key", "--survey", "Survey"], "holds a ledger already"),
        (["create", "new", "--key", "ledger.key", "--survey", "Survey"], "may be the key of another ledger"),
        (["add", "first.csv", "--scenario", "first.toml", "--name", "a"], "name the ledger and its key"),
        (["check", "first.csv", "--scenario", "scenario.toml", "--key", "lost.key"], "there is no key lost.key"),
        (["check", "first.csv", "--scenario", "scenario.toml", "--ledger", "none"], "there is no ledger in none"),
        (["check", "first.csv", "--scenario", "scenario.toml", "--id", "idd"], "no column 'idd'"),
        (["upgrade", "--ledger", "none", "--key", "ledger.key"], "there is no ledger in none"),
    ],
)
def test_bad_input_is_told(folder: Path, capfd: pytest.CaptureFixture[str], line: list[str], told: str) -> None:
    assert run(["ledger", *line]) == 2
    assert told in capfd.readouterr().err


def test_a_name_goes_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert add() == 0
    assert add() == 2
    assert "has a release '2023' already" in capfd.readouterr().err


MIXED = """[[steps]]
method = "drop_identifiers"
columns = ["id"]
[[steps]]
method = "random_order"
"""


def test_the_id_need_not_go_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What the original and the log tell of a release without its id is what the file with its id tells."""
    Path("recipe.toml").write_text(MIXED, encoding="utf-8")
    limits = "[thresholds]\ndifferencing = 0.0\n"
    Path("scenario.toml").write_text(f'identifiers = ["id"]\n{SCENARIO}{limits}', encoding="utf-8")
    assert run(["protect", "recipe.toml", "first.csv", "--out", "safe.csv", "--log", "log.json"]) == 0
    assert "id" not in sdc.read_file("safe.csv").columns
    assert add() == 0
    capfd.readouterr()
    assert run(["ledger", "check", "safe.csv", "--scenario", "scenario.toml"]) == 2
    assert "safe.csv has no column 'id', the id of the ledger" in capfd.readouterr().err
    beside = ["check", "first.csv", "--scenario", "scenario.toml", "--released", "safe.csv", "--log", "log.json"]
    assert run(beside) == 1
    told = " ".join(capfd.readouterr().out.split())
    keys = ["part", "sex", "age"]
    found = sdc.differencing(DATA, earlier=DATA, earlier_keys=["region", "band"], keys=keys, sensitive=["job"], id="id")
    assert found.certain_together > 0
    exceeded = f"of {100 * found.certain_together / len(DATA):.3g} % of the records"
    assert f"exceeded {exceeded}" in told, told
    held = [
        "ledger",
        "check",
        "safe.csv",
        "--scenario",
        "scenario.toml",
        "--original",
        "first.csv",
        "--log",
        "log.json",
    ]
    assert run(held) == 1
    told = " ".join(capfd.readouterr().out.split())
    assert f"exceeded: {exceeded}" in told, told


def test_a_ledger_is_started_as_the_scenario_names_it(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = Path("scenario.toml").read_text(encoding="utf-8").replace('"ledger', '"second')
    Path("second.toml").write_text(text, encoding="utf-8")
    assert run(["ledger", "create", "--scenario", "second.toml"]) == 0
    assert sdc.ReleaseLedger.open("second", key="second.key").survey == "Survey"
    assert run(["ledger", "check", "first.csv", "--scenario", "second.toml"]) == 0
    Path("third.toml").write_text(text.replace("second", "third").replace('survey = "Survey"', ""), encoding="utf-8")
    line = ["ledger", "create", "--scenario", "third.toml"]
    assert run(line) == 2
    assert "say what the releases are releases of: --survey TEXT" in capfd.readouterr().err
    assert not Path("third").exists()
    assert run([*line, "--survey", "Panel"]) == 0
    assert sdc.ReleaseLedger.open("third", key="third.key").survey == "Panel"
    assert run(["ledger", "create", "--survey", "Survey"]) == 2
    assert "name the ledger and its key" in capfd.readouterr().err
    place = ["--ledger", "fourth", "--key", "fourth.key"]  # as add, check and list are called
    assert run(["ledger", "create", "fourth", *place, "--survey", "Survey"]) == 2
    assert "named twice" in capfd.readouterr().err
    assert run(["ledger", "create", *place, "--survey", "Survey"]) == 0
    assert run(["ledger", "list", *place]) == 0


def test_a_release_without_its_id_is_remembered_with_it(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("recipe.toml").write_text(MIXED, encoding="utf-8")
    assert run(["protect", "recipe.toml", "first.csv", "--out", "safe.csv", "--log", "log.json"]) == 0
    line = ["ledger", "add", "safe.csv", "--scenario", "first.toml", "--name", "mixed"]
    place = ["--ledger", "ledger", "--key", "ledger.key"]
    assert run([*line, *place, "--id", "id", "--original", "first.csv", "--log", "log.json"]) == 0
    assert add(name="itself") == 0
    capfd.readouterr()
    opened = sdc.ReleaseLedger.open("ledger", key="ledger.key")
    found = sdc.differencing(DATA, ledger=opened, keys=["part", "sex", "age"], sensitive=["job"], id="id")
    mixed, itself = found.entries
    assert mixed.linked == itself.linked == len(DATA)
    assert mixed.certain_together == itself.certain_together > 0
    assert run([*line, *place, "--original", "first.csv"]) == 2
    assert "name it: --id" in capfd.readouterr().err
    assert run([*line, *place, "--id", "id", "--original", "first.csv", "--engine", "duckdb"]) == 2
    assert "an engine has no order of rows: leave --engine out" in " ".join(capfd.readouterr().err.split())
    DATA.head(50).write_csv("half.csv")
    assert run([*line, *place, "--id", "id", "--original", "half.csv"]) == 2
    assert "row by row they are not the same people's" in " ".join(capfd.readouterr().err.split())


def test_a_key_that_the_recipe_left_out_is_asked_of_nobody(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("recipe.toml").write_text(MIXED.replace('"id"', '"band"'), encoding="utf-8")
    assert run(["protect", "recipe.toml", "first.csv", "--out", "safe.csv", "--log", "log.json"]) == 0
    place = ["--ledger", "ledger", "--key", "ledger.key", "--scenario", "first.toml"]
    line = ["ledger", "add", "safe.csv", *place, "--name", "less"]
    assert run(line) == 2
    assert "no column 'band'" in capfd.readouterr().err
    assert run([*line, "--log", "log.json"]) == 0
    assert "band was left out of the release, so it is no key of an intruder there." in capfd.readouterr().out
    assert run(["ledger", "check", "safe.csv", *place, "--log", "log.json"]) == 0
    assert "band was left out" in capfd.readouterr().out


def test_earlier_files_are_held_against_a_release_without_id_and_household(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The recipe left both out, as its log says; the ledger's own entry of an earlier file gives way to the file."""
    home = DATA.with_columns(home=DATA["id"] // 2)
    home.write_csv("first.csv")
    home.drop("id").write_csv("earlier.csv")
    Path("scenario.toml").write_text(f'household = "home"\nidentifiers = ["id"]\n{SCENARIO}', encoding="utf-8")
    steps = '[[steps]]\nmethod = "drop_identifiers"\ncolumns = ["id", "home"]\n'
    Path("recipe.toml").write_text(steps, encoding="utf-8")
    assert run(["protect", "recipe.toml", "first.csv", "--out", "safe.csv", "--log", "log.json"]) == 0
    place = ["--ledger", "ledger", "--key", "ledger.key", "--scenario", "first.toml"]
    assert run(["ledger", "add", "earlier.csv", *place, "--name", "wave 1"]) == 0
    line = ["ledger", "check", "safe.csv", "--scenario", "scenario.toml"]
    assert run([*line, "--earlier", "earlier.csv"]) == 2
    assert "declared as the household" in " ".join(capfd.readouterr().err.split())
    assert run([*line, "--log", "log.json"]) == 2
    assert "the id of the ledger" in " ".join(capfd.readouterr().err.split())
    assert run([*line, "--earlier", "earlier.csv", "--log", "log.json"]) == 0
    shown = capfd.readouterr().out
    assert "earlier.csv: the file itself compared" in shown
    assert "Left out of the ledger, as the file itself is given: wave 1." in shown


def test_what_is_found_is_written_as_a_report(folder: Path) -> None:
    assert add("--date", "2023", "--people", "all") == 0
    limited(0.0)
    assert check("--report", "report.html") == 1
    told = Path("report.html").read_text(encoding="utf-8")
    assert "A release held against earlier ones" in told
    assert "2023 (2023)" not in told
    assert check("--report", "inside.html", "--internal") == 1
    assert "2023 (2023)" in Path("inside.html").read_text(encoding="utf-8")
    assert Path("inside.html").stat().st_mode & 0o777 == 0o600
    assert check("--report", "report.txt") == 2
    assert check("--report", "first.csv") == 2


def test_releases_that_an_id_links_are_judged_together(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert add() == 0
    Path("scenario.toml").write_text(SCENARIO + "[thresholds]\nk = 2\ndifferencing = 1.0\n", encoding="utf-8")
    assert check("--report", "found.md") == 1
    told = capfd.readouterr().out
    assert "exceeded: with the keys of 2023 (linked by id), " in told
    assert "id: new identifiers (new_ids)" in told
    report = Path("found.md").read_text(encoding="utf-8")
    assert "with the keys of all linked releases" in report
    assert "2023" not in report


def test_files_beside_a_release_are_read_by_their_own_shape(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    DATA.write_csv("german.csv", separator=";")
    Path("recipe.toml").write_text(MIXED, encoding="utf-8")
    assert (
        run(["protect", "recipe.toml", "german.csv", "--delimiter", ";", "--out", "safe.csv", "--log", "log.json"]) == 0
    )
    place = ["--scenario", "first.toml", "--delimiter", ",", "--log", "log.json"]
    line = ["ledger", "add", "safe.csv", *place, "--name", "mixed", "--ledger", "ledger", "--key", "ledger.key"]
    assert run([*line, "--id", "id", "--original", "german.csv"]) == 0
    assert run(["ledger", "check", "safe.csv", *place, "--earlier", "german.csv"]) == 0
    said = "german.csv: read by the delimiter ';' of its own, not as safe.csv is"
    assert capfd.readouterr().err.count(said) == 2
