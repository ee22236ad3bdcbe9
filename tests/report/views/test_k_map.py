"""k-map in a document: people counted or expected, the level only inside."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from sdckit.report.blocks import TableBlock
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.protect import protect
from sdckit.report.settle import sound_relations

KEYS = ["sex", "age", "region", "occupation"]


@pytest.fixture(scope="module", params=["counted", "expected"])
def result(request: pytest.FixtureRequest) -> Any:
    people = pl.DataFrame(survey(1200))
    with quiet():
        if request.param == "counted":
            return sdc.k_map(people[:500], people, keys=KEYS, k=(2, 3, 5))
        return sdc.k_map(people[:500], keys=KEYS, sampling_fraction=0.3, k=(2, 3, 5))


def test_exact_inside_and_rounded_outside(result: Any) -> None:
    inside, outside = (protect(result_document(result), internal=one)["k_map"] for one in (True, False))
    for k, n in result.violations.items():
        assert inside["violations"][str(k)]["value"] == pytest.approx(n)
        value = outside["violations"][str(k)]["value"]
        assert value is None or value % 5 == 0
    assert "level" not in outside
    assert inside.get("level") == (result.level if result.level == result.level else None)


def test_what_is_known_of_the_figures_is_true(result: Any) -> None:
    document = result_document(result)
    counts = [name for name, one in document.variables.items() if one.kind == "count"]
    sound = sound_relations(document.variables, list(document.relations), counts)
    assert len(sound) == len(document.relations)


def test_it_is_drawn_and_shown(result: Any) -> None:
    (drawn,) = result.plot().to_dict()["datasets"].values()
    assert [row["label"] for row in drawn] == ["k = 2", "k = 3", "k = 5"]
    assert all(row["length"] % 5 == 0 for row in drawn)
    assert "fewer than k people of the population" in result._repr_html_()
    for internal in (True, False):
        for block in result_blocks(protect(result_document(result), internal=internal)):
            if isinstance(block, TableBlock):
                assert all(len(row) == len(block.columns) for row in block.rows)
