"""Closeness of groups in a document: a section for each measure that ran."""

from __future__ import annotations

import json

from sdckit.report.layout import lay_out

import releases
import sdckit as sdc
from sdckit.report.write import plain_document


def test_each_measure_has_its_section(tmp_path):
    found = sdc.assess(
        releases.original(), scenario=releases.scenario(aligned=False),
        measures=["t_closeness", "beta_likeness", "delta_disclosure", "alpha_k"],
    )  # fmt: skip
    titles = [section.title for section in lay_out(plain_document(found)).sections]
    for words in ("t-closeness", "β-likeness", "δ-disclosure", "(α, k)-anonymity"):
        assert f"What would be learnt: {words}" in titles
    found.to_json(tmp_path / "a.json")
    told = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["intruders"][0]
    assert set(told["t_closeness"]["variables"]) == {"ill", "income"}
    assert [one["name"] for one in json.loads((tmp_path / "a.json").read_text())["methods"]].count(
        "t-closeness"
    ) == 1
