"""``sdckit synthesize-margins``: what it writes, and that no record decides what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

Runner = Callable[..., Any]
DOMAIN = """dataset = "survey"
person = "id"
max_rows = 2
records = 500

[columns.sex]
levels = ["f", "m"]

[columns.age]
type = "integer"
edges = [0, 18, 65, 120]

[columns.job]
levels = ["clerk", "cook"]
"""
CLIQUES = ("--clique", "sex,age", "--clique", "age,job")
PRIVATE = ("--epsilon", 1, "--delta", "1e-6", *CLIQUES)


def text(rows: list[str]) -> str:
    return "\n".join(["id,sex,age,job", *rows]) + "\n"


def plain_rows(n: int = 300) -> list[str]:
    rng = np.random.default_rng(1)
    sex, job = rng.choice(["f", "m"], n), rng.choice(["clerk", "cook", ""], n)
    return [f"{i},{s},{a},{j}" for i, (s, a, j) in enumerate(zip(sex, rng.integers(0, 100, n), job, strict=True))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text(plain_rows()), encoding="utf-8")
    (tmp_path / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    return tmp_path


def shape(value: Any) -> Any:
    """A document without its numbers."""
    if isinstance(value, dict):
        return {name: shape(entry) for name, entry in value.items()}
    return [shape(entry) for entry in value] if isinstance(value, list) else re.sub(r"[\d.,e-]+", "#", str(value))


PLAIN = plain_rows()
NEIGHBOURS = {
    "one more": [*PLAIN, "5000,f,30,cook"],
    "one less": PLAIN[:-1],
    "marked": [*PLAIN, "ZQX917,ZQXSEX,917355123,ZQXJOB"],
    "many rows": [*PLAIN, *["7,m,44,clerk"] * 40],
    "no number": [*PLAIN, "5001,f,very old,cook"],
    "infinite": [*PLAIN, "5001,f,1e999,cook", "5002,nan,NaN,NA"],
    "ragged": [*PLAIN, "5001,f", "5002,m,33,cook,x,y,z"],
    "no text": [*PLAIN, "5001,f\udcff,33,\udcfe"],
    "quoted": [*PLAIN, '"50,01","f""",33,"a\nb"'],
    "nobody": [],
    "one": ["1,f,3,cook"],
}


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("protect", [PRIVATE, ("--protect", "coarsen", "--base", 10, *CLIQUES)])
def test_no_record_decides_what_is_said(
    sdckit: Runner, folder: Path, name: str, protect: tuple[object, ...], recwarn: pytest.WarningsRecorder
) -> None:
    said, logs, schemas = [], [], []
    for rows in (PLAIN, NEIGHBOURS[name]):
        (folder / "a.csv").write_bytes(text(rows).encode("utf-8", "surrogateescape"))
        done = sdckit("synthesize-margins", "a.csv", "--domain", "domain.toml", *protect, "--out", "made.parquet",
                      "--log", "log.json", "--force")  # fmt: skip
        said.append((done.code, *(" ".join(shape(stream).split()) for stream in (done.out, done.err))))
        document = (folder / "log.json").read_text(encoding="utf-8")
        logs.append(shape(json.loads(document)))
        made = pl.read_parquet(folder / "made.parquet")
        schemas.append((made.schema, made.height))
        written = done.out + done.err + document + made.write_csv()
        assert "ZQX" not in written
        assert "917355" not in written
    assert said[0] == said[1]
    assert said[0][0] == 0
    assert logs[0] == logs[1]
    assert schemas[0] == schemas[1]
    assert schemas[0][1] == 500
    assert not recwarn.list


def test_the_report_that_goes_out_is_of_the_columns_of_the_domain(sdckit: Runner, folder: Path) -> None:
    """The command that check prints runs, though the scenario names columns that the domain has not."""
    scenario = 'keys = ["sex", "age"]\nsensitive = ["job"]\nidentifiers = ["id"]\ninsensitive = ["w"]\n'
    Path("s.toml").write_text(f"{scenario}[thresholds]\ncopied_records = 1.0\n", encoding="utf-8")
    pl.read_csv("a.csv").with_columns(w=pl.lit(1)).write_csv("a.csv")
    made = ("--out", "m.csv", "--log", "m.json")
    assert sdckit("synthesize-margins", "a.csv", "--domain", "domain.toml", *PRIVATE, *made).code == 0
    checked = sdckit("check", "a.csv", "--scenario", "s.toml", "--released", "m.csv", "--log", "m.json")
    (public,) = (line for line in checked.out.splitlines() if line.startswith("  sdckit assess m.csv"))
    for more in (["--dry-run"], []):
        done = sdckit(*shlex.split(public)[1:], *more)
        assert done.code == 0, done.err
    Path("s.toml").write_text(scenario.replace('"age"]', '"age", "wrong"]'), encoding="utf-8")
    assert "no column 'wrong'" in sdckit(*shlex.split(public)[1:]).err


def test_published_tables_take_the_place_of_a_file(sdckit: Runner, folder: Path) -> None:
    (folder / "one.csv").write_text("sex,age,n\nf,20,10\nm,20,20\nf,70,5\n")
    (folder / "two.csv").write_text("sex,job,n\nf,cook,15\nm,clerk,20\n")
    done = sdckit("synthesize-margins", "--table", "one.csv", "--table", "two.csv", "--protect", "coarsen", "--domain",
                  "domain.toml", "--out", "made.csv")  # fmt: skip
    assert done.code == 0, done.err
    assert "made.csv promises nothing" in done.out
    assert "FILE" not in done.out
    assert "ε" not in done.out
    assert set(pl.read_csv(folder / "made.csv").select("sex", "job").unique().rows()) <= {("f", "cook"), ("m", "clerk")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--epsilon", 1), "delta has no default"),
        (("--delta", "1e-6"), "epsilon has no default"),
        (("--epsilon", 1, "--delta", 2), "--delta is the chance"),
        ((*PRIVATE, "--base", 10), "--base"),
        (("--protect", "coarsen", "--base", 10, "--epsilon", 1), "--epsilon"),
        (("--protect", "none"), "--protect 'none' is unknown"),
        ((*PRIVATE[:4], "--clique", "sex,jobb"), "did you mean 'job'?"),
        ((*PRIVATE, "--delimiter", ";;"), "a delimiter is one character"),
        ((*PRIVATE, "--encoding", "utf-800"), "there is no encoding"),
        ((*PRIVATE, "--budget", "nowhere.toml"), "there is no budget nowhere.toml"),
    ],
)
def test_what_does_not_go_together_is_refused(
    sdckit: Runner, folder: Path, given: tuple[object, ...], said: str
) -> None:
    done = sdckit("synthesize-margins", "a.csv", "--domain", "domain.toml", *given, "--out", "made.csv")
    assert (done.code, (folder / "made.csv").exists()) == (2, False)
    assert said in done.err
    assert len(done.lines) == 1
