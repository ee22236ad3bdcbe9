"""``sdckit protect``: the release, its log and its report; nothing is written where something is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from cli.conftest import make_survey
from sdckit.workflow.recipes.recipe_figures import Watch

Runner = Callable[..., object]

RECIPE = """
title = "Test"
scenario = "s.toml"

[[steps]]
method = "pram"
columns = ["income"]
pd = 0.5

[[steps]]
method = "local_suppression"
k = 3
"""
SCENARIO = """
keys = ["sex", "age", "region"]
weight = "w"
sensitive = ["income"]
identifiers = ["name"]
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "s.toml").write_text(SCENARIO, encoding="utf-8")
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def test_a_release_with_log_and_report(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    raw = survey.read_bytes()
    out, log, report = tmp_path / "out.parquet", tmp_path / "log.json", tmp_path / "r.md"
    done = sdckit("protect", recipe, survey, "--out", out, "--log", log, "--report", report)
    assert (done.code, done.err) == (0, "")
    released = pl.read_parquet(out)
    assert "name" not in released.columns
    assert sdc.k_anonymity(released, keys=["sex", "age", "region"], k=[3]).violations[3] == 0
    assert log.stat().st_mode & 0o777 == 0o600
    assert "What was done" in report.read_text(encoding="utf-8")
    assert survey.read_bytes() == raw
    for text in (
        "2. local_suppression",
        "figures are exact",
        "Written: out.parquet",
        "keep it in the room",
        "r.md. It is for those",
    ):
        assert text in done.out
    assert "Zq7Qx" not in done.out + report.read_text(encoding="utf-8")
    original = sdc.read_file(survey, identifiers=["name"])
    again = sdc.Recipe.replay(original, log)
    assert again.data.equals(released)


def test_a_report_is_audited_with_earlier_documents(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "earlier"
    folder.mkdir()
    call = ("protect", recipe, survey, "--out", tmp_path / "out.parquet", "--beside", folder)
    done = sdckit(*call)
    assert (done.code, done.out) == (2, "")
    assert "name the document by --report" in done.err
    first = ("assess", survey, "--keys", "sex,age", "--json", folder / "first.json", "-q")
    assert sdckit(*first).code == 0
    report = tmp_path / "r.md"
    assert sdckit(*call, "--report", report).code == 0
    assert report.exists()
    (folder / "odd.json").write_text("[]", encoding="utf-8")
    again = sdckit(*call, "--report", tmp_path / "again.md")
    assert again.code == 2
    assert "odd.json is no protected JSON document" in again.err
    assert not (tmp_path / "again.md").exists()


def test_the_log_repeats_and_a_seed_does_not(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    call = ("protect", recipe, survey, "--out")
    done = sdckit(*call, tmp_path / "a.csv", "--seed", 2**64, "--log", log, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = sdckit(*call, tmp_path / "b.csv", "--replay", log, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    done = sdckit(*call, tmp_path / "c.csv", "--seed", 2**64)
    assert "Without --log this release cannot be made again" in done.out
    a, b, c = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_figures_that_nobody_sees_are_not_measured(
    sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str | None
) -> None:
    """The release and its log are those of a run that shows them."""
    how = [] if engine is None else ["--engine", engine]
    log = tmp_path / "log.json"
    whole = sdckit("protect", recipe, survey, "--out", tmp_path / "a.parquet", "--log", log, *how)
    assert whole.code == 0
    assert "figures are exact" in whole.out
    measured, by_intruder = list[int](), Watch._by_intruder
    monkeypatch.setattr(Watch, "_by_intruder", lambda *a: measured.append(1) or by_intruder(*a))
    for name in ("after", "of_plans", "differing", "_pmse"):
        monkeypatch.delattr(Watch, name)
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "b.parquet", "--replay", log, "-q", *how)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(measured) == 2
    assert pl.read_parquet(tmp_path / "b.parquet").equals(pl.read_parquet(tmp_path / "a.parquet"))


@pytest.mark.parametrize("step", ["", '[[steps]]\nmethod = "top_bottom_code"\ncolumn = "w"\ntop = -1\n'])
def test_a_quiet_run_refuses_what_any_other_refuses(
    sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path, step: str
) -> None:
    """Weights below nothing: of the file, or of the release by its last step."""
    data = pl.read_csv(survey) if survey.suffix == ".csv" else pl.read_parquet(survey)
    data = data if step else data.with_columns(w=-pl.col("w"))
    data.write_parquet(tmp_path / "odd.parquet")
    recipe.write_text(RECIPE + step, encoding="utf-8")
    call = ("protect", recipe, tmp_path / "odd.parquet", "--out", tmp_path / "x.parquet")
    loud, quiet = (sdckit(*call, *options) for options in ((), ("-q",)))
    assert loud.code == quiet.code == 2
    assert "weight" in quiet.err
    assert quiet.err.splitlines()[0] == loud.err.splitlines()[0]
    assert not (tmp_path / "x.parquet").exists()


def test_a_short_seed_warns(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "a.csv", "--seed", 1789, "-q")
    assert done.code == 0
    assert done.lines == [done.err.strip()]
    assert done.err.startswith("warning: a seed below 2^64, such as a year, can be guessed. ")
    assert "1789" not in done.err


def test_replay_refuses_what_the_log_is_not_about(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    log, out = tmp_path / "log.json", tmp_path / "out.csv"
    assert sdckit("protect", recipe, survey, "--out", out, "--log", log, "-q").code == 0
    out.unlink()
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.replace("0.5", "0.6"), encoding="utf-8")
    scene = tmp_path / "t.toml"
    scene.write_text(SCENARIO.replace('"age", ', ""))
    few = tmp_path / "few.csv"
    few.write_bytes(b"".join(survey.read_bytes().splitlines(keepends=True)[:100]))
    for given, said in (
        ((recipe, survey, "--seed", 1), "leave out --seed and --id-key"),
        ((other, survey), "log.json is the log of another recipe"),
        ((recipe, survey, "--scenario", scene), "log.json is the log of another scenario"),
        ((recipe, few), "the log is about another file"),
        ((recipe, survey, "--log", log), "the command reads this file"),
    ):
        done = sdckit("protect", *given, "--out", out, "--replay", log, "-q")
        assert done.code == 2
        assert said in done.err
        assert not out.exists()


def test_dry_run_writes_nothing(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "out.csv", "--dry-run")
    assert (done.code, done.out) == (0, "recipe.toml fits survey.csv: 2 steps, 240 records\n")
    assert not (tmp_path / "out.csv").exists()


def test_a_key_for_identifiers(sdckit: Runner, survey: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "ids.toml"
    recipe.write_text('[[steps]]\nmethod = "new_ids"\ncolumn = "name"\n', encoding="utf-8")
    key = tmp_path / "key.hex"
    key.write_text("00" * 16 + "\n", encoding="ascii")
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "out.csv", "--id-key", f"name={key}")
    assert done.code == 0
    expected = sdc.new_ids(sdc.read_file(survey), column="name", key="00" * 16).data["name"]
    assert pl.read_csv(tmp_path / "out.csv")["name"].to_list() == expected.to_list()
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "other.csv", "--id-key", "name=no.hex")
    assert (done.code, done.err) == (2, "error: --id-key name: no.hex cannot be read as a hexadecimal key\n")


@pytest.mark.parametrize(
    ("out", "more", "said"),
    [
        ("survey.csv", (), "the command reads this file"),
        ("recipe.toml", (), "the command reads this file"),
        ("out.xlsx", (), "a data file ends in one of"),
        ("out.txt", (), "error: out.txt: a data file ends in one of"),
        ("out.xlsx", (), "Excel is read and not written; a data file ends in one of .csv, .tsv, .parquet"),
        ("out.xpt", (), "SAS transport is read and not written; a data file ends in one of .csv, .tsv, .parquet"),
        ("out.sas7bdat", (), ".dta; .sav and .dta keep labels"),
        ("out.parquet", ("--excel-safe",), "--excel-safe is for CSV"),
        ("out.csv", ("--report", "r.txt"), "a report ends in"),
        ("out.csv", ("--log", "out.csv"), "two outputs have the same name"),
        ("no/out.csv", (), "does not exist"),
        ("out.csv", ("--scenario", "none.toml"), "none.toml"),
        ("out.csv", ("--id-key", "nme=key.hex"), "key.hex cannot be read"),
    ],
)
def test_bad_options(
    sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    out: str, more: tuple[str, ...], said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = sdckit("protect", recipe, survey, "--out", out, *more)
    assert done.code == 2
    assert said in done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"pram"', '"prma"', "recipe.toml: step 1: there is no method 'prma'; did you mean 'pram'?"),
        ('"income"', '"incme"', "no column 'incme' in the data; did you mean 'income'?"),
        ("k = 3", "k = 9999", "k = 9999 is more than the 240 records"),
        ("pd = 0.5", 'pd = "x"', "pd takes a number or a table"),
    ],
)
def test_a_bad_recipe_changes_nothing(
    sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    recipe.write_text(RECIPE.replace(old, new), encoding="utf-8")
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "out.csv", "--log", tmp_path / "log.json")
    assert done.code == 2
    assert said in done.err
    assert "Zq7Qx" not in done.err
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "log.json").exists()


def test_the_wrong_way_round_is_told(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    done = sdckit("protect", survey, recipe, "--out", tmp_path / "out.csv")
    assert done.code == 2
    assert f"the recipe comes first: sdckit protect {recipe.name} {survey.name}" in done.err
    done = sdckit("protect", survey, "--recipe", recipe, "--out", "out.csv")
    assert (done.code, "the recipe comes first: sdckit protect RECIPE.toml FILE" in done.err) == (2, True)


def test_a_report_needs_a_scenario(sdckit: Runner, survey: Path, recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(RECIPE.replace('scenario = "s.toml"', ""), encoding="utf-8")
    done = sdckit("protect", recipe, survey, "--out", tmp_path / "o.csv", "--report", tmp_path / "r.html")
    assert done.code == 2
    assert "--report tells who could be recognised; give --scenario" in done.err


def test_a_first_line_that_may_be_a_record_is_not_told(sdckit: Runner, tmp_path: Path) -> None:
    recipe, file = tmp_path / "r.toml", tmp_path / "raw.csv"
    recipe.write_text('[[steps]]\nmethod = "pram"\ncolumns = ["job"]\n', encoding="utf-8")
    file.write_text("Ann;Graz\nBob;Linz\nEva;Wels\n", encoding="utf-8")
    done = sdckit("protect", recipe, file, "--out", tmp_path / "out.csv")
    assert done.code == 2
    assert "raw.csv has no column 'job'" in done.err
    assert "Ann" not in done.err


HIDDEN = "Zq7Qx of nobody at all"


def _labelled(path: Path) -> None:
    """A file whose labels, categories and notes hold a word that no record shows."""
    import pandas as pd
    import pyreadstat

    people = make_survey().to_pandas().drop(columns="name")
    labels = {float(i): one for i, one in enumerate(["north", HIDDEN, "south", "east"])}
    codes = {one: code for code, one in labels.items()}
    people["region"] = people["region"].map(codes)
    told = {"variable_value_labels": {"region": labels}, "column_labels": [HIDDEN] * len(people.columns)}
    if path.suffix == ".sav":
        pyreadstat.write_sav(people, path, file_label=HIDDEN, note=HIDDEN, **told)
    elif path.suffix == ".dta":
        pyreadstat.write_dta(people, path, file_label=HIDDEN, **told)
    else:
        people["region"] = pd.Categorical(people["region"].map(labels), categories=list(labels.values()))
        people.attrs = {"note": HIDDEN}
        people.to_parquet(path)


@pytest.mark.parametrize("written", ["csv", "tsv", "parquet", "arrow"])
@pytest.mark.parametrize("read", ["sav", "dta", "parquet"])
def test_no_label_category_or_note_of_the_source_is_written(
    sdckit: Runner, recipe: Path, tmp_path: Path, read: str, written: str
) -> None:
    source, out = tmp_path / f"in.{read}", tmp_path / f"out.{written}"
    _labelled(source)
    assert HIDDEN.encode() in source.read_bytes()
    done = sdckit("protect", recipe, source, "--out", out, "--seed", 1, "-q")
    assert done.code == 0, done.err
    assert HIDDEN.encode() not in out.read_bytes()
    assert b"north" in out.read_bytes()


MARGINS = """
[[steps]]
method = "synthesize_margins"
domain = "domain.toml"
epsilon = 1
delta = 1e-6
budget = "budget.toml"

[[steps]]
method = "random_order"
"""
DECLARED = """
dataset = "survey"
[columns.sex]
levels = ["f", "m"]
[columns.age]
levels = ["15-29", "30-44", "45-59", "60+"]
"""


@pytest.fixture
def promised(tmp_path: Path) -> Path:
    (tmp_path / "domain.toml").write_text(DECLARED, encoding="utf-8")
    sdc.BudgetLedger.create(tmp_path / "budget.toml", dataset="survey", epsilon=1, delta=1e-6)
    path = tmp_path / "margins.toml"
    path.write_text(MARGINS, encoding="utf-8")
    return path


def test_a_recipe_under_a_promise_alone_reads_the_original(
    sdckit: Runner, survey: Path, promised: Path, tmp_path: Path
) -> None:
    out, log = tmp_path / "made.csv", tmp_path / "log.json"
    line = ("protect", promised, survey, "--out", out)
    assert "fits" in sdckit(*line, "--dry-run").out
    refused = {
        ("--seed", 3): "could take it away", ("--report", tmp_path / "r.html"): "sdckit assess",
        ("--replay", log): "never drawn again", ("--labels",): "read by its domain", ("--engine", "duckdb"): "memory",
        ("--missing", "9"): "read by its domain",
    }  # fmt: skip
    (tmp_path / "s.toml").write_text('keys = ["sex", "age"]', encoding="utf-8")
    for options, why in refused.items():
        done = sdckit(*line, "--scenario", tmp_path / "s.toml", *options)
        assert (done.code, out.exists()) == (2, False)
        assert why in done.err, options
    assert sdc.BudgetLedger.open(tmp_path / "budget.toml").spent == 0
    done = sdckit(*line, "--log", log)
    assert (done.code, done.err) == (0, "")
    assert "ε = 1 means" in done.out
    assert "It tells nothing that the release does not" in done.out
    assert log.stat().st_mode & 0o044
    assert "does not reach" in sdckit("protect", promised, survey, "--out", tmp_path / "more.csv").err
    checked = sdckit("check", survey, "--released", out, "--log", log, "--scenario", tmp_path / "s.toml", "--k", 2)
    assert "claims ε = 1 at δ = 1e-06: the noise in its log adds up to it" in checked.out


def test_a_report_needs_the_key_of_the_ledger_before_any_work(sdckit: Runner, recipe: Path, tmp_path: Path) -> None:
    """It was missed once the recipe was carried out: the file here cannot even be read."""
    scenario = tmp_path / "s.toml"
    scenario.write_text(SCENARIO + '[ledger]\nfolder = "ledger"\nkey = "gone.key"\n', encoding="utf-8")
    broken, out = tmp_path / "broken.csv", tmp_path / "safe.csv"
    broken.write_bytes(b"")
    done = sdckit("protect", recipe, broken, "--out", out, "--report", tmp_path / "r.html")
    assert (done.code, done.out) == (2, "")
    assert "there is no key gone.key" in done.err
    assert not out.exists()


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_a_column_called_height_is_no_sign_of_a_file_in_memory(sdckit: Runner, engine: str, tmp_path: Path) -> None:
    people = pl.DataFrame({"name": [f"p{i:02}" for i in range(40)], "height": [150 + i for i in range(40)]})
    people.write_parquet(tmp_path / "people.parquet")
    recipe = tmp_path / "ids.toml"
    recipe.write_text('[[steps]]\nmethod = "new_ids"\ncolumn = "name"\n', encoding="utf-8")
    out = tmp_path / "out.parquet"
    done = sdckit("protect", recipe, tmp_path / "people.parquet", "--out", out, "--engine", engine)
    assert (done.code, done.err.count("error")) == (0, 0)
    assert pl.read_parquet(out)["height"].sort().to_list() == people["height"].to_list()
