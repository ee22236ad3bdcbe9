"""``sdckit domain init``: names and types to be filled in, and no value."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from cli.commands.test_synthesize_margins import DOMAIN, PLAIN, PRIVATE, Runner, text


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(text(PLAIN), encoding="utf-8")
    (tmp_path / "domain.toml").write_text(DOMAIN, encoding="utf-8")
    return tmp_path


def test_a_domain_to_be_filled_in(sdckit: Runner, folder: Path) -> None:
    done = sdckit("domain", "init", "a.csv", "--out", "new.toml")
    assert done.code == 0
    written = (folder / "new.toml").read_text(encoding="utf-8")
    assert written.startswith('dataset = "a"\n')
    assert re.findall(r"^\[columns\.(\w+)\]\ntype = \"(\w+)\"$", written, re.M) == [
        ("id", "text"), ("sex", "text"), ("age", "text"), ("job", "text")
    ]  # fmt: skip
    (folder / "our files").mkdir()
    (folder / "our files" / "a.csv").write_text(text(PLAIN).replace(",", ";"), encoding="utf-8")
    there = sdckit("domain", "init", "our files/a.csv", "--out", "our files/d.toml", "--delimiter", ";")
    assert "synthesize-margins 'our files/a.csv' --domain 'our files/d.toml' --delimiter ';' --epsilon" in there.out
    again = sdckit("domain", "init", "a.csv", "--out", "new.toml")
    assert "--force replaces it" in again.err
    unfinished = sdckit("synthesize-margins", "a.csv", "--domain", "new.toml", *PRIVATE, "--out", "made.csv")
    assert "new.toml: the domain of 'id' has neither levels nor edges" in unfinished.err
    assert sdckit("domain", "init", "a.csv", "--out", "-").out == written
    labels = sdc.FileLabels({"sex": sdc.ColumnLabels("Sex", {"f": 1, "m": 2})})
    sdc.write_file(pl.DataFrame({"sex": ["f", "m"], "age": [3, 40]}), folder / "b.sav", labels=labels)
    told = "The value labels of sex are no levels in it: --from-codebook takes them."
    assert told in sdckit("domain", "init", "b.sav", "--out", "b.toml").out
    assert told not in sdckit("domain", "init", "b.sav", "--from-codebook", "--out", "c.toml").out
    assert "no levels in it" not in again.out + done.out
    assert "has no value labels" in sdckit("domain", "init", "a.csv", "--from-codebook", "--force").err
