"""From the raw file to the gate: ``protect``, then ``check``, ``assess`` and ``attack`` on what it wrote."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from homes import people
from recoded_files import STEPS, scenario, survey

LIMITS = {"k": 3, "match_risk": 0.5}
BANDS_AND_LIMITS = [STEPS[0], STEPS[2], {**STEPS[4], "keys": ["age", "job", "size"]}]


@pytest.fixture(params=["csv", "parquet"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The raw files, the recipe and scenarios in the working folder."""
    monkeypatch.chdir(tmp_path)
    survey().write_csv("raw.csv")
    survey().write_parquet("raw.parquet")
    Path("r.toml").write_text(sdc.Recipe(STEPS).to_toml())
    Path("bands.toml").write_text(sdc.Recipe(BANDS_AND_LIMITS).to_toml())
    for name, more in (("s", {"thresholds": LIMITS, "aligned": True}), ("k", {"thresholds": {"k": 3}})):
        Path(f"{name}.toml").write_text(scenario(identifiers=["name"], **more).to_toml())
    return tmp_path


def protected(sdckit, kind: str, recipe: str = "r", scene: str = "s") -> None:
    done = sdckit(
        "protect", f"{recipe}.toml", f"raw.{kind}", "--scenario", f"{scene}.toml", "--out", f"rel.{kind}", "--log",
        "l.json", "-q",
    )  # fmt: skip
    assert done.code == 0, done.err


def test_raw_to_gate_without_a_second_recipe(sdckit, folder: Path, kind: str) -> None:
    protected(sdckit, kind, "bands", "k")
    gate = ("check", f"raw.{kind}", "--released", f"rel.{kind}", "--scenario", "k.toml")
    for more in ((), ("--log", "l.json"), ("--recipe", "bands.toml"), ("--log", "l.json", "--recipe", "bands.toml")):
        done = sdckit(*gate, *more)
        assert done.code == 0, done.err
        assert done.out.splitlines()[-1] == f"raw.{kind}: passed"
        assert "age (numbers in bands)" in done.err
        assert "name" not in done.err


def test_groups_need_the_rows_the_log_or_the_recipe(sdckit, folder: Path, kind: str) -> None:
    protected(sdckit, kind)
    gate = ("check", f"raw.{kind}", "--released", f"rel.{kind}", "--scenario")
    done = sdckit(*gate, "k.toml")
    assert done.code == 2
    assert "column 'job' holds numbers in the original and text in the release" in done.err
    assert "--recipe, --log" in done.err
    for scene, more in (
        ("s", ()),
        ("k", ("--log", "l.json")),
        ("k", ("--recipe", "r.toml")),
        ("s", ("--log", "l.json")),
    ):
        done = sdckit(*gate, f"{scene}.toml", *more)
        assert done.code == 0, done.err
        assert "job (values in groups)" in done.err


def test_the_gate_still_fails(sdckit, folder: Path, kind: str) -> None:
    protected(sdckit, kind)
    strict = scenario(identifiers=["name"], thresholds={"k": 300})
    Path("strict.toml").write_text(strict.to_toml())
    done = sdckit("check", f"raw.{kind}", "--released", f"rel.{kind}", "--scenario", "strict.toml", "--log", "l.json")
    assert done.code == 1
    assert done.out.splitlines()[-1] == f"raw.{kind}: NOT passed"


def test_the_figures_before_are_those_of_the_recoded_original(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    call = ("assess", "raw.csv", "--released", "rel.csv", "--scenario", "k.toml", "--log", "l.json")
    done = sdckit(*call, "--report", "r.md", "--json", "r.json")
    assert done.code == 0, done.err
    assert "Recoded original" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    told = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert [one["column"] for one in told["recoded"]] == ["age", "job", "size", "income"]
    assert {one["source"] for one in told["recoded"]} == {"log"}
    assert told["reproduce"]["command"].endswith("--log LOG.json")
    text = Path("r.md").read_text(encoding="utf-8")
    assert "those of the recoded original" in text
    assert "numbers in bands" in text
    raw = sdckit("assess", "raw.csv", "--released", "raw.parquet", "--scenario", "k.toml")
    assert "Recoded original" not in raw.out


def test_attacks(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    survey(200, seed=11).write_csv("aside.csv")
    call = (
        "attack", "raw.csv", "--released", "rel.csv", "--identifiers", "name,w", "--known", "age,job", "--target",
        "ill", "--control", "aside.csv", "--n-attacks", 40, "--seed", 1,
    )  # fmt: skip
    done = sdckit(*call)
    assert done.code == 2
    assert "column 'job' holds numbers" in done.err
    for more in (("--log", "l.json"), ("--recipe", "r.toml"), ("--recipe", "r.toml", "--log", "l.json")):
        done = sdckit(*call, *more)
        assert done.code == 0, done.err
        assert "Inferring ill" in done.out
        assert "In the original recoded as in the release: " in done.out
        assert "job (values in groups)" in done.err


def test_the_json_of_attacks_says_what_was_recoded(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    call = ("attack", "raw.csv", "--released", "rel.csv", "--identifiers", "name,w", "--kind", "singling-out")
    assert sdckit(*call, "--log", "l.json", "--n-attacks", 20, "--json", "a.json").code == 0
    told = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert {one["column"]: one["source"] for one in told["recoded"]} == dict.fromkeys(
        ("age", "job", "size", "income"), "log"
    )


def test_a_key_and_a_sensitive_variable_that_the_recipe_drops(sdckit, folder: Path, kind: str) -> None:
    steps = [*BANDS_AND_LIMITS[:2], {"method": "drop_identifiers", "columns": ["job", "ill"]}]
    Path("drop.toml").write_text(
        sdc.Recipe([*steps, {"method": "local_suppression", "keys": ["age", "size"], "k": 3}]).to_toml()
    )
    Path("d.toml").write_text(scenario(identifiers=["name"], thresholds={"k": 3, "l": 2}).to_toml())
    protected(sdckit, kind, "drop", "d")
    gate = ("check", f"raw.{kind}", "--released", f"rel.{kind}", "--scenario", "d.toml")
    done = sdckit(*gate)
    assert done.code == 2
    assert "has no column 'job'" in done.err
    assert "give --recipe or --log" in done.err
    for more, code in ((("--log", "l.json"), 0), (("--recipe", "drop.toml"), 2)):
        done = sdckit(*gate, *more)
        assert done.code == code, done.err
        assert ("nobody looked whether another column tells what was left out" in done.err) is (code == 2)
        assert "job: left out of the release, so it is no key of an intruder there" in done.err
    attack = (
        "attack",
        f"raw.{kind}",
        "--released",
        f"rel.{kind}",
        "--scenario",
        "d.toml",
        "--log",
        "l.json",
        "--n-attacks",
        20,
    )
    assert sdckit(*attack).code == 0


def test_without_any_key_what_the_release_tells_of_them_is_judged(sdckit, folder: Path) -> None:
    drop = {"method": "drop_identifiers", "columns": ["age", "job", "size"]}
    Path("drop.toml").write_text(sdc.Recipe([drop]).to_toml())
    survey().drop("name", "age", "job", "size").write_csv("rel.csv")
    how = ("raw.csv", "--released", "rel.csv", "--scenario", "k.toml", "--recipe", "drop.toml")
    unsaid = sdckit("check", *how)
    assert unsaid.code == 2
    assert "all keys of this intruder were left out" not in unsaid.out
    assert "say aligned = true in the scenario" in " ".join(unsaid.out.split())
    declared = Path("k.toml").read_text()
    Path("k.toml").write_text("aligned = true\n" + declared)
    for more in ((), ("--protected",)):
        done = sdckit("check", *how, *more)
        assert done.code == 0
        assert "and no column that goes out tells them" in " ".join(done.out.split())
    report = sdckit("assess", *how, "--report", "out.md")
    assert report.code == 0
    assert "All of it was left out of the release" in Path("out.md").read_text()


def spoilt(name: str) -> tuple[str, ...]:
    """Files that do not belong together, by what is wrong with them."""
    if name == "another file":
        survey(300).write_csv("raw.csv")
    if name == "other columns":
        survey().with_columns(pl.lit(1).alias("more")).write_csv("raw.csv")
    if name == "another release":
        pl.read_csv("rel.csv")[:100].write_csv("rel.csv")
    if name == "another order":
        pl.read_csv("rel.csv").reverse().write_csv("rel.csv")
    if name == "random steps":
        Path("r.toml").write_text(sdc.Recipe([{"method": "pram", "columns": ["ill"], "pd": 0.9}]).to_toml())
        return ("--recipe", "r.toml")
    if name == "no recipe":
        Path("r.toml").write_text("x = 1\n")
        return ("--recipe", "r.toml")
    if name == "another recipe":
        return ("--recipe", "bands.toml", "--log", "l.json")
    if name == "no log":
        return ("--log", "raw.csv")
    if name == "absent":
        return ("--recipe", "none.toml")
    return ("--log", "l.json")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("another file", "the log is about another file: the original has 300 records, that of the log 400"),
        ("other columns", "the log is about another file: the original has a column 'more' more"),
        ("another release", "the release has 100 records, that of the log 400"),
        ("another order", "its rows stand in another order"),
        ("random steps", "error: --recipe recodes nothing: its steps (pram) perturb or suppress"),
        ("no recipe", "a recipe has no entry 'x'"),
        ("another recipe", "--recipe is not the recipe of the log"),
        ("no log", "raw.csv cannot be read as a log"),
        ("absent", "there is no recipe none.toml"),
    ],
)
def test_what_does_not_belong_together_is_refused(sdckit, folder: Path, name: str, words: str) -> None:
    protected(sdckit, "csv", "r", "k")
    options = spoilt(name)
    for command in ("check", "assess"):
        done = sdckit(command, "raw.csv", "--released", "rel.csv", "--scenario", "k.toml", *options)
        assert done.code == 2, done.err
        assert words in done.err
        assert "person 1" not in done.err + done.out
    done = sdckit("attack", "raw.csv", "--released", "rel.csv", "--scenario", "k.toml", "--n-attacks", 5, *options)
    assert done.code == 2, done.err
    assert words in done.err or "release 1 has 100 records" in done.err


def test_a_claim_that_rows_belong_together_is_held_to(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    pl.read_csv("rel.csv")[:100].write_csv("rel.csv")
    done = sdckit("check", "raw.csv", "--released", "rel.csv", "--scenario", "s.toml", "--recipe", "r.toml")
    assert done.code == 2
    assert "rows must belong together one by one" in done.err


def test_the_options_need_a_release(sdckit, folder: Path) -> None:
    for command in ("check", "assess"):
        done = sdckit(command, "raw.csv", "--scenario", "k.toml", "--recipe", "r.toml")
        assert done.code == 2
        assert "--recipe and --log tell how a release was made; give --released FILE" in done.err
        assert "by itself, where no column was left out: leave them off" in done.err


def test_no_document_is_written_over_the_log(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    before = Path("l.json").read_bytes()
    done = sdckit(
        "assess", "raw.csv", "--released", "rel.csv", "--scenario", "k.toml", "--log", "l.json", "--json", "l.json"
    )
    assert done.code == 2
    assert Path("l.json").read_bytes() == before


def test_a_dry_run_reads_recipe_and_log(sdckit, folder: Path) -> None:
    protected(sdckit, "csv")
    call = ("assess", "raw.csv", "--released", "rel.csv", "--scenario", "k.toml", "--dry-run")
    assert sdckit(*call, "--log", "l.json").code == 0
    assert sdckit(*call, "--log", "r.toml").code == 2


def test_a_hierarchy_stands_beside_the_recipe(sdckit, folder: Path) -> None:
    Path("away").mkdir()
    Path("away/job.csv").write_text("".join(f"{job};j{job // 10};all\n" for job in (11, 12, 13, 21, 22, 23)))
    up = {"method": "recode", "column": "job", "hierarchy": "job.csv", "level": 1}
    Path("away/r.toml").write_text(sdc.Recipe([*BANDS_AND_LIMITS[:2], up, BANDS_AND_LIMITS[2]]).to_toml())
    protected(sdckit, "csv", "away/r", "k")
    gate = ("check", "raw.csv", "--released", "rel.csv", "--scenario", "k.toml")
    assert sdckit(*gate, "--recipe", "away/r.toml").code == 0
    done = sdckit(*gate, "--log", "l.json")
    assert (done.code, "the hierarchy job.csv that the log names is not beside the log" in done.err) == (2, True)
    assert sdckit(*gate, "--log", "l.json", "--recipe", "away/r.toml").code == 0
    Path("away/job.csv").write_text(Path("away/job.csv").read_text().replace("j2", "j3"))
    done = sdckit(*gate, "--log", "l.json", "--recipe", "away/r.toml")
    assert (done.code, "is not the one of the log" in done.err) == (2, True)


def test_the_order_of_households_that_were_divided_is_drawn_again(sdckit, tmp_path: Path, monkeypatch) -> None:
    """The steps before go by columns that the scenario does not name, or nobody reads."""
    monkeypatch.chdir(tmp_path)
    people().with_columns(name=pl.lit("x"), note=pl.lit("y")).write_csv("raw.csv")
    Path("s.toml").write_text(
        'keys = ["region", "age", "sex", "size"]\nhousehold = "home"\nidentifiers = ["name"]\n'
        "[thresholds]\nk = 2\nrecoverable = 0.5\n"
    )
    steps = [
        {"method": "drop_identifiers", "columns": ["name", "note", "income"]},
        {"method": "limit_households", "household": "home", "largest": 4, "size": "size"},
        {"method": "local_suppression", "k": 2, "together": [["size", "home"]]},
        {"method": "random_order", "household": "home"},
    ]
    Path("r.toml").write_text(sdc.Recipe(steps).to_toml())
    given = ("r.toml", "raw.csv", "--scenario", "s.toml", "--out", "rel.csv", "--log", "l.json")
    assert sdckit("protect", *given, "-q").code == 0
    done = sdckit("check", "raw.csv", "--released", "rel.csv", "--scenario", "s.toml", "--log", "l.json")
    assert done.code in {0, 1}, done.err
    call = ("assess", "raw.csv", "--released", "rel.csv", "--scenario", "s.toml", "--dry-run")
    assert "would run  matching_risk" in sdckit(*call, "--log", "l.json").out
    assert "would not  matching_risk" in sdckit(*call).out
    seen = ("rel.csv", "--scenario", "s.toml", "--original", "raw.csv", "--log", "l.json", "--seed", 1)
    told = sdckit("recoverable-values", *seen)
    assert told.code == 0, told.err
    region = next(line.split() for line in told.out.splitlines() if line.startswith("region"))
    blank = pl.read_csv("rel.csv")["region"].null_count()
    assert region[1:3] == ["suppressed", str(blank)]


def test_a_release_by_itself_is_told_what_was_left_out(sdckit, folder: Path) -> None:
    """The report that may go out beside it; a column that nobody left out is amiss, and the original is none."""
    steps = [{"method": "drop_identifiers", "columns": ["size", "name"]}, *STEPS[:2]]
    Path("r.toml").write_text(sdc.Recipe(steps).to_toml())
    protected(sdckit, "csv", scene="k")
    release = ("--scenario", "k.toml", "--recipe", "r.toml")
    checked = sdckit("check", "raw.csv", "--released", "rel.csv", *release[:2], "--log", "l.json")
    assert checked.code == 0, checked.out
    report, public = (shlex.split(line)[1:] for line in checked.out.splitlines() if line.startswith("  sdckit "))
    assert tuple(public[public.index("--log") :][:2]) == ("--log", "l.json")
    assert public[-1] == "rel-public.html"
    assert sdckit(*report).code == 0
    done = sdckit(*public[:-1], "public.md")
    assert done.code == 0, done.err
    text = Path("public.md").read_text(encoding="utf-8")
    assert "Somebody knows: **age and job**" in text
    assert "Name, signature" not in text
    for wrong in (
        ("raw.csv", "--released", "rel.csv", "--public", "--report", "p.md"), ("rel.csv", "--public"),
        ("rel.csv", "--public", "--report", "p.md", "--beside", "."),
    ):  # fmt: skip
        refused = sdckit("assess", *wrong, *release)
        assert (refused.code, "give the release alone" in " ".join(refused.err.split())) == (2, True)
    assert not Path("p.md").exists()
    assert sdckit("assess", "rel.csv", "--scenario", "k.toml").code == 2
    assert "give --released FILE" in sdckit("assess", "raw.csv", *release).err
    pl.read_csv("rel.csv").drop("job").write_csv("rel.csv")
    assert "'job'" in sdckit("assess", "rel.csv", *release).err
