"""No command tells a value of a marked record: on the terminal, in its errors, in any document it writes."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import sdckit as sdc
from redteam.calls import RECIPE
from redteam.marked import make_files, traces_in, write
from sdckit.cli.app import command_tree, run

FILES = make_files()
KEYS = "--keys region,sex,band"
SCENARIO = """keys = ["region", "sex", "band"]
weight = "w"
sensitive = ["ill"]
numeric = ["income", "hours"]
identifiers = ["id", "hh"]
[thresholds]
k = 3
risk = 0.1
"""
DOMAIN = """dataset = "survey"
person = "hh"
max_rows = 3
[columns.region]
levels = ["north", "south", "east"]
[columns.sex]
levels = ["f", "m"]
[columns.ill]
levels = ["no", "yes"]
[columns.income]
type = "decimal"
edges = [0, 1500, 2000, 5000]
[columns.born]
type = "date"
edges = [1960-01-01, 1970-01-01, 1990-01-01]
"""
ON_PLANS = """derived = {hours = "round(income / 20)"}
[[steps]]
method = "drop_identifiers"
columns = ["id", "hh"]
[[steps]]
method = "round_to"
column = "income"
base = 100
[[steps]]
method = "local_suppression"
[[steps]]
method = "random_order"
"""
UNDER_A_PROMISE = """[[steps]]
method = "synthesize_margins"
domain = "domain.toml"
epsilon = 1
delta = 1e-6
budget = "budget.toml"
[[steps]]
method = "round_to"
column = "income"
base = 100
[[steps]]
method = "random_order"
"""
ATTACK = "survey.parquet --identifiers id,hh,w,born --seed 5 --n-attacks 30 --released made1.parquet"
ONE = f"survey.parquet {KEYS}"
TOLD = f"{ONE} --sensitive ill,job"
PAIR = "survey.parquet --released made1.parquet"
ROWS = "survey.parquet --released changed.parquet --id id"
MIXED = f"{PAIR} --variables region,sex,band,ill,income,hours"
TRIED = "--control control.parquet --n-attacks 30 --seed 5"
# Documents go to the folder out; data, logs and keys, which stay inside, to the folder kept.
LINES = {
    "assess": f"assess survey.parquet {KEYS} --sensitive ill --report out/a.html --json out/a.json",
    "assess a release": f"assess survey.parquet {KEYS} --released made1.parquet --seed 7 --report out/a.md"
    " --json out/a.json",
    "attack": f"attack {ATTACK} --control control.parquet --json out/a.json",
    "canaries make": "canaries make survey.parquet -o kept/planted.csv --key kept/key.json --n 20 --seed 3 --id id"
    " --identifiers hh,w,born",
    "canaries measure": "canaries measure kept/key.json --released kept/planted.csv",
    "check": "check survey.parquet --scenario scenario.toml",
    "check for others": "check survey.parquet --scenario scenario.toml --protected --sarif out/a.sarif"
    " --figures out/table.csv",
    "check a release": "check survey.parquet --released made1.parquet --scenario scenario.toml --seed 7 --protected"
    " --sarif out/a.sarif",
    "delta-presence": f"delta-presence survey.parquet {KEYS} --population population.parquet --upper 0.5",
    "demo": "demo --report out/demo.html",
    "explain": f"explain survey.parquet {KEYS} --row 4",
    "explain inside": f"explain survey.parquet {KEYS} --row 4 --internal",
    "explore": "explore recipe.toml survey.parquet --scenario scenario.toml --seed 11 --grid local_suppression.k=2,3"
    " --out out/table.csv --plot out/map.svg",
    "k-map": f"k-map survey.parquet {KEYS} --population population.parquet",
    "ledger create": "ledger create kept/new --key kept/new.key --survey Survey",
    "ledger add": "ledger add survey.parquet --scenario scenario.toml --ledger ledger --key ledger.key --name 2024",
    "ledger check": "ledger check survey.parquet --scenario scenario.toml --ledger ledger --key ledger.key"
    " --earlier changed.parquet --id id --report out/a.html",
    "ledger list": "ledger list --ledger ledger --key ledger.key",
    "ledger withdraw": "ledger withdraw waiting --ledger ledger --key ledger.key",
    "ledger upgrade": "ledger upgrade --ledger older --key older.key",
    "outliers": "outliers survey.parquet --numeric income,hours",
    "population-risk": f"population-risk survey.parquet {KEYS} --weight w",
    "protect": "protect recipe.toml survey.parquet --scenario scenario.toml --seed 11 -o kept/release.csv"
    " --log kept/log.json --report out/a.html",
    "protect by an engine": "protect plan.toml survey.parquet --scenario scenario.toml -o kept/release.parquet"
    " --log kept/log.json --engine duckdb",
    "propose": "propose survey.parquet --scenario scenario.toml -o out/proposed.toml --json out/a.json"
    " --report out/a.html",
    "recipe init": "recipe init survey.parquet --scenario scenario.toml -o out/recipe.toml",
    "joint-audit": f"joint-audit changed.parquet --original survey.parquet {KEYS} --counted sex,band"
    " --summed income:sex,band",
    "app": "app survey.csv --scenario scenario.toml --no-browser",
    "r-functions": "r-functions",
    "recoverable-values": f"recoverable-values changed.parquet --original survey.parquet {KEYS} --seed 5",
    "key-separation": f"key-separation survey.parquet {KEYS} --figures kept/table.csv",
    "risky-cells": f"risky-cells survey.parquet {KEYS}",
    "scenario init": "scenario init survey.csv -o out/guessed.toml",
    "suda": f"suda survey.parquet {KEYS}",
    "warm-up": "warm-up",
    "doctor": "doctor",
    "key-frequencies": f"key-frequencies {ONE} --weight w --by sex",
    "k-anonymity": f"k-anonymity {ONE} --missing-rule category --interval bootstrap --seed 5",
    "known-points": f"known-points {ONE} --person hh --released changed.parquet --points 1,2",
    "individual-risk": f"individual-risk {ONE} --weight w --household hh",
    "key-contributions": f"key-contributions {ONE},income,born --weight w",
    "household-structure": f"household-structure {ONE} --household hh --weight w",
    "population-uniques": f"population-uniques {ONE} --weight w",
    "l-diversity": f"l-diversity {TOLD}",
    "t-closeness": f"t-closeness {TOLD}",
    "beta-likeness": f"beta-likeness {TOLD}",
    "delta-disclosure": f"delta-disclosure {TOLD}",
    "alpha-k": f"alpha-k {TOLD}",
    "few-matches": f"few-matches {PAIR} {KEYS}",
    "identity-disclosure": f"identity-disclosure {PAIR} {KEYS}",
    "replicated-uniques": f"replicated-uniques {PAIR} {KEYS}",
    "generalization-loss": f"generalization-loss {ROWS} --hierarchies sex=levels.csv",
    "edit-rules": f"edit-rules {PAIR} --rules rules.toml --identifiers id,hh,w",
    "copied-records": f"copied-records {PAIR} --control control.parquet --identifiers id,hh,w",
    "attribute-disclosure": f"attribute-disclosure {PAIR} {KEYS} --target ill",
    "attribute-disclosure-table": f"attribute-disclosure-table {PAIR} {KEYS} --targets ill,job",
    "correct-attribution-probability": f"correct-attribution-probability {PAIR} {KEYS} --target ill",
    "prediction-risk": f"prediction-risk {PAIR} {KEYS} --target ill --seed 5",
    "bayesian-attribute-risk": f"bayesian-attribute-risk {ROWS} --target hours --draws draws.npz",
    "matching-risk": f"matching-risk {ROWS} --known region,sex,band --synthetic income --width 0.1",
    "exact-numbers": "exact-numbers survey.parquet --released changed.parquet --magnitudes income,hours"
    " --number-groups region,sex",
    "interval-risk": f"interval-risk {ROWS} --numeric income,hours",
    "robust-interval-risk": f"robust-interval-risk {ROWS} --numeric income,hours --seed 5",
    "record-linkage": f"record-linkage {ROWS} --variables region,sex,band,income",
    "probabilistic-linkage": f"probabilistic-linkage {ROWS} --variables region,sex,band,income --seed 5",
    "information-loss": f"information-loss {ROWS} --numeric income,hours --seed 5",
    "differencing": f"differencing {ONE} --earlier changed.parquet --sensitive ill --id id",
    "singling-out": f"singling-out {MIXED} {TRIED}",
    "membership": f"membership {MIXED} {TRIED}",
    "distances": f"distances {MIXED} --control control.parquet --seed 5",
    "linkability": f"linkability {PAIR} --known region,sex,band --known income,marital {TRIED}",
    "inference": f"inference {PAIR} --known region,sex,band --target ill {TRIED}",
    "utility-overview": f"utility-overview {MIXED} --seed 5",
    "propensity": f"propensity {MIXED} --seed 5",
    "cluster-utility": f"cluster-utility {MIXED} --seed 5",
    "tabular-utility": f"tabular-utility {PAIR} --identifiers id,hh,w,born",
    "compare-distributions": f"compare-distributions {MIXED}",
    "compare-associations": f"compare-associations {MIXED}",
    "ecdf-utility": f"ecdf-utility {PAIR} --variables income,hours",
    "compare-models": f"compare-models {PAIR} --formula 'income ~ hours + sex'",
    "compare-estimates": f"compare-estimates {PAIR} --statistic mean --variables income,hours",
    "combine": "combine estimates.csv --variances estimates.csv --kind partial",
    "interval-overlap": "interval-overlap intervals.csv --released later.csv",
    "compare-intervals": "compare-intervals intervals.csv --released later.csv",
    "domain init": "domain init survey.csv -o out/declared.toml",
    "budget create": "budget create kept/new.toml --dataset survey --epsilon 3 --delta 1e-6",
    "budget show": "budget show budget.toml",
    "synthesize-margins": "synthesize-margins survey.csv --domain domain.toml --epsilon 2 --delta 1e-6"
    " --n 80 --budget budget.toml -o kept/made.csv --log kept/log.json",
    "budget throw-away": "budget throw-away budget.toml --run 1 --reason audit",
    "protect under a promise": "protect margins.toml survey.csv -o kept/release.csv --log kept/log.json",
    "assess under a promise": "assess survey.csv --released kept/made.csv --log kept/log.json --keys region,sex"
    " --sensitive ill --seed 7 --report out/a.html --json out/a.json",
    "synthesize-margins rounded": "synthesize-margins survey.parquet --domain domain.toml --protect coarsen --base 10"
    " --clique region,sex --clique sex,ill -o kept/made.csv --log kept/log.json",
    "synthesize": "synthesize survey.parquet -o kept/made.csv --identifiers id,hh,w,born --seed 2 --log kept/log.json",
}
BEFORE = {
    "canaries measure": "canaries make", "budget throw-away": "synthesize-margins",
    "assess under a promise": "synthesize-margins",
}  # fmt: skip
WRONG = (" --keys nowhere", " --weight region", " --numeric region", " --k nothing", " --nonsense")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all that the lines read, written once; each test gets a copy."""
    path = tmp_path_factory.mktemp("written")
    for name in ("out", "kept"):
        (path / name).mkdir()
    write(FILES, path)
    (path / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    (path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (path / "rules.toml").write_text('[[rules]]\ncolumn = "ill"\nwhen = {sex = "f"}\nvalue = "no"\n', encoding="utf-8")
    sdc.BudgetLedger.create(path / "budget.toml", dataset="survey", epsilon=3, delta=1e-6)
    (path / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    (path / "levels.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    ledger = sdc.ReleaseLedger.create(path / "ledger", key=path / "ledger.key", survey="Survey")
    for name in ("2023", "waiting"):
        ledger = ledger.add(
            FILES["changed"], name=name, keys=["region", "sex", "band"], sensitive=["ill"], pending=name == "waiting"
        )
    sdc.ReleaseLedger.create(path / "older", key=path / "older.key", survey="Survey")
    older = path / "older" / "ledger.toml"
    older.write_text(older.read_text(encoding="utf-8").replace('version = "2"', 'version = "1"'), encoding="utf-8")
    (path / "older.key.head").unlink()
    (path / "margins.toml").write_text(UNDER_A_PROMISE, encoding="utf-8")
    (path / "plan.toml").write_text(ON_PLANS, encoding="utf-8")
    return path


def lay_out(written: Path, folder: Path) -> None:
    """Make a folder hold what the lines read, and nothing else."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(written, folder, dirs_exist_ok=True)


def files_in(folder: Path) -> dict[Path, int]:
    """Every file and folder, with when it was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture
def folder(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lay_out(written, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sdckit.cli.commands.app.become", lambda _: 0)  # what would become the server
    return tmp_path


def commands() -> Iterator[str]:
    """Every command of the program, with its group."""
    for name, command in command_tree().commands.items():
        inner = getattr(command, "commands", None)
        yield from (f"{name} {one}" for one in inner) if inner else [name]


def test_every_command_has_a_line() -> None:
    assert set(commands()) <= set(LINES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LINES)
def test_a_command_tells_no_value(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if name in BEFORE:
        run(shlex.split(LINES[BEFORE[name]]))
        capfd.readouterr()
    code = run(shlex.split(LINES[name]))
    told = capfd.readouterr()
    assert code in ({2} if name == "explain" else {0, 1}), told.err
    documents = {path.name: path.read_text(encoding="utf-8") for path in (folder / "out").iterdir()}
    assert bool(documents) == ("out/" in LINES[name])
    for place, text in {"standard output": told.out, "standard error": told.err, **documents}.items():
        assert not traces_in(text), (name, place, traces_in(text))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LINES)
def test_an_error_tells_no_value(name: str, written: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there = files_in(folder)
    for wrong in WRONG:
        run(shlex.split(LINES[name] + wrong))
        told = capfd.readouterr()
        assert not traces_in(told.out + told.err), (name, wrong)
        if files_in(folder) != there:  # not wrong for this command: what it wrote is in the way of the next
            lay_out(written, folder)
            there = files_in(folder)
