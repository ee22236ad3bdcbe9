"""``sdckit synthesize-margins``, ``domain`` and ``budget``: what they write, and that no record decides what they say."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

pytest.importorskip("opendp")
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


def test_a_budget_is_spent_and_ends(sdckit: Runner, folder: Path) -> None:
    created = sdckit("budget", "create", "budget.toml", "--dataset", "survey", "--epsilon", 1.6, "--delta", "1e-6")
    assert created.out.startswith(
        "Budget of survey: ε = 0 of 1.6 spent, a run may still have 1.6, at δ = 1e-06; head 0 "
    )
    run = ("synthesize-margins", "a.csv", "--domain", "domain.toml", *PRIVATE, "--budget", "budget.toml", "--out")
    assert "ε = 1 of 1.6 spent" in sdckit(*run, "made1.csv").out
    assert sdckit(*run, "made2.csv").code == 0
    (folder / "a.csv").write_text("id,sex,age,job\n")  # would be read otherwise: a header alone is
    third = sdckit(*run, "made3.csv")
    assert (third.code, (folder / "made3.csv").exists()) == (2, False)
    assert "the budget of 'survey' does not reach" in third.err
    assert "no data were read" in third.err
    shown = sdckit("budget", "show", "budget.toml").out
    assert len(re.findall("done", shown)) == 2
    assert stat.S_IMODE((folder / "budget.toml").stat().st_mode) == 0o600
    (folder / "domain.toml").write_text(DOMAIN.replace('"survey"', '"another"'))
    assert "names the dataset 'another'" in sdckit(*run, "made4.csv").err


def test_what_fails_after_noise_is_spent_and_before_is_not(
    sdckit: Runner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdc.BudgetLedger.create(folder / "budget.toml", dataset="survey", epsilon=3, delta=1e-6)
    given: dict[str, Any] = {
        "domain": folder / "domain.toml", "epsilon": 1, "delta": 1e-6, "budget": folder / "budget.toml"
    }  # fmt: skip
    with pytest.raises(sdc.ColumnError):
        sdc.synthesize_margins(pl.DataFrame({"sex": ["f"]}), **given)
    with pytest.raises(sdc.DataError, match="cannot be carried out"):
        plan = pl.LazyFrame({name: ["a"] for name in ("id", "sex", "age", "job")}).with_columns(
            pl.col("age").cast(pl.Int64)
        )
        sdc.synthesize_margins(plan, **given)
    assert sdc.BudgetLedger.open(folder / "budget.toml").spent == 0
    monkeypatch.setattr("sdckit.protect.margins.synthesize_margins.private_margins", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sdc.synthesize_margins(folder / "a.csv", **given)
    ledger = sdc.BudgetLedger.open(folder / "budget.toml")
    assert ledger.spent == pytest.approx(1)
    assert [state for _, _, state in ledger.rows][-1] == "reserved, or failed after noise was drawn"


def test_published_tables_take_the_place_of_a_file(sdckit: Runner, folder: Path) -> None:
    (folder / "one.csv").write_text("sex,age,n\nf,20,10\nm,20,20\nf,70,5\n")
    (folder / "two.csv").write_text("sex,job,n\nf,cook,15\nm,clerk,20\n")
    done = sdckit("synthesize-margins", "--table", "one.csv", "--table", "two.csv", "--protect", "coarsen", "--domain",
                  "domain.toml", "--out", "made.csv")  # fmt: skip
    assert done.code == 0, done.err
    assert "made.csv promises nothing" in done.out
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


def test_a_domain_to_be_filled_in(sdckit: Runner, folder: Path) -> None:
    done = sdckit("domain", "init", "a.csv", "--out", "new.toml")
    assert done.code == 0
    written = (folder / "new.toml").read_text(encoding="utf-8")
    assert written.startswith('dataset = "a"\n')
    assert re.findall(r"^\[columns\.(\w+)\]\ntype = \"(\w+)\"$", written, re.M) == [
        ("id", "text"), ("sex", "text"), ("age", "text"), ("job", "text")
    ]  # fmt: skip
    again = sdckit("domain", "init", "a.csv", "--out", "new.toml")
    assert "--force replaces it" in again.err
    unfinished = sdckit("synthesize-margins", "a.csv", "--domain", "new.toml", *PRIVATE, "--out", "made.csv")
    assert "new.toml: the domain of 'id' has neither levels nor edges" in unfinished.err
    assert sdckit("domain", "init", "a.csv", "--out", "-").out == written
    assert "has no value labels" in sdckit("domain", "init", "a.csv", "--from-codebook", "--force").err
