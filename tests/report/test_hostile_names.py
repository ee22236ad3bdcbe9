"""Names and levels that hold what no document may hold: every document is written, readable and clean."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.display import displayed
from sdckit.report.blocks import ChartBlock
from sdckit.report.formats.html import figure_of
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
N = 300
KEY, OTHER, LEARNT = "key\x1b[31m", "key\u202e\x00", "learnt\r\n\x07"
pytestmark = pytest.mark.filterwarnings("ignore::sdckit.SdcWarning")


def survey() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            KEY: rng.choice(["a\x1b]0;title\x07", "b\u202eb", "c\x00", "c"], N),
            OTHER: rng.integers(1, 5, N),
            LEARNT: rng.choice(["x\n| y |", "<script>\x0b", "z\u2028", "\uffff"], N),
            "w": rng.integers(2, 9, N) + 0.0,
        }
    )


SCENARIO = sdc.Scenario(
    intruders={"nosy\x1b\u2066": (KEY, OTHER)}, weight="w", sensitive=(LEARNT,), title="title\x00\x1b", aligned=True
)


def hidden(text: str) -> set[str]:
    return {one for one in text if unicodedata.category(one) in HIDDEN and one != "\n"}


def strings(plain: Any) -> set[str]:
    if isinstance(plain, dict):
        return {part for key, value in plain.items() for part in {key} | strings(value)}
    if isinstance(plain, list):
        return {part for value in plain for part in strings(value)}
    return {plain} if isinstance(plain, str) else set()


@pytest.fixture(scope="module")
def found() -> list[Any]:
    data = survey()
    one = sdc.assess(data, scenario=SCENARIO, measures=["risky_cells", "suda", "population_risk"])
    released = sdc.pram(data, columns=[KEY, LEARNT], pd=0.8, seed=1).data
    return [one, sdc.assess(data, released, scenario=SCENARIO)]


@pytest.mark.parametrize("internal", [False, True])
def test_documents(internal: bool, found: list[Any], tmp_path: Path) -> None:
    for assessment in found:
        for name in ("a.html", "a.md", "a.json"):
            path = tmp_path / name
            (assessment.to_json if name == "a.json" else assessment.report)(path, internal=internal)
            text = path.read_text(encoding="utf-8")
            assert not hidden(text), name
            assert displayed(OTHER) in text.replace("\\\\", "\\").replace("&#39;", "'").replace("\\[", "["), name
        plain = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
        assert not {one for one in strings(plain) if hidden(one)}


def test_charts(found: list[Any]) -> None:
    drawn = 0
    for assessment in found:
        spec = json.dumps(assessment.plot().to_dict(validate=False), ensure_ascii=False)
        assert not {one for one in strings(json.loads(spec)) if hidden(one)}
    for result in (sdc.k_anonymity(survey(), keys=[KEY, OTHER]), sdc.key_frequencies(survey(), keys=[KEY, OTHER])):
        for block in result_blocks(protect(result_document(result))):
            if isinstance(block, ChartBlock):
                ElementTree.fromstring(str(figure_of(block)["svg"]))
                drawn += 1
    assert drawn


def test_the_real_names_are_the_arguments() -> None:
    result = sdc.l_diversity(survey(), keys=[KEY, OTHER], sensitive=LEARNT)
    assert repr(result).isprintable()
    assert not hidden(result._repr_html_())
    with pytest.raises(sdc.ColumnError) as caught:
        sdc.k_anonymity(survey(), keys=["key\x1b"])
    assert str(caught.value).isprintable()
    assert repr(OTHER) in str(caught.value)
