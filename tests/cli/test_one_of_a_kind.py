"""No text says "1 variables": commands and documents on files in which there is one of everything."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sdckit.cli.app import run

# Words after a 1 that are no plural, and headings that stand behind a figure.
ALLOWED = {"is", "has", "was", "does", "less", "this", "others", "plus", "its", "as", "us", "holds", "values"}
ALLOWED |= {"records"}  # "Largest individual risk 1", and the heading of the next table
PLURAL = re.compile(r"(?<![\d.,%−-])1 ([a-zA-Z]+s)\b")
SCENARIO = 'keys = ["age"]\nsensitive = ["ill"]\nnumeric = ["pay"]\n[thresholds]\nk = 2\n'
RECIPE = '[[steps]]\nmethod = "recode"\ncolumn = "age"\nbands = [0, 30, 50, inf]\n'
S = "a.csv --scenario s.toml"
LINES = [
    f"assess {S} --measures all --report b.md --internal",
    f"assess {S} --dry-run",
    f"check {S}",
    f"protect r.toml {S} --out o.csv --log log.json --report c.md",
    f"protect r.toml {S} --out o2.csv --dry-run",
    f"assess {S} --released o.csv --log log.json --report d.md",
    f"explore r.toml {S} --grid 1.bands=3",
    f"recipe init {S} --out start.toml",
    f"propose {S} --out found.toml --alternatives 0",
    "scenario init a.csv --out i.toml",
    "suda a.csv --keys age",
    "risky-cells a.csv --keys age --max-dim 1",
    "outliers a.csv --numeric pay",
    "population-risk a.csv --keys age --sampling-fraction 0.1",
    "explain a.csv --keys age --row 3 --internal",
    "recoverable-values o.csv --keys age --original a.csv",
    "joint-audit o.csv --keys age --original a.csv --counted age",
]


def plurals(text: str) -> set[str]:
    """The plurals that stand behind a 1 in a line or a table's cell."""
    return {word for word in PLURAL.findall(re.sub(r"[ \t]+", " ", text)) if word.lower() not in ALLOWED}


def test_what_is_looked_for_is_found() -> None:
    assert plurals("All subsets of the 1 keys; 21 keys, 1.1 keys and 1 key") == {"keys"}


@pytest.mark.filterwarnings("ignore")
def test_one_is_no_plural(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(1), 120
    pl.DataFrame(
        {"age": rng.integers(18, 70, n), "ill": rng.choice(["y", "n"], n), "pay": rng.normal(100, 9, n).round(1)}
    ).write_csv("a.csv")
    Path("s.toml").write_text(SCENARIO, encoding="utf-8")
    Path("r.toml").write_text(RECIPE, encoding="utf-8")
    for line in LINES:
        assert run(shlex.split(line)) < 2, line
        told = capfd.readouterr()
        assert not plurals(told.out + told.err), line
    for path in [*tmp_path.glob("*.md"), Path("start.toml"), Path("i.toml")]:
        assert not plurals(path.read_text(encoding="utf-8")), path.name
