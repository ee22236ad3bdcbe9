"""Risky combinations in a document: chosen, ordered and rounded so that no small count is told."""

from __future__ import annotations

from typing import Any

import pytest

from report.special import KEYS, assessed, printed
from sdckit.report.blocks import TableBlock
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect
from sdckit.report.views.risky_cells import VIEW


@pytest.fixture(scope="module")
def assessment() -> Any:
    return assessed()


@pytest.fixture(scope="module")
def exact(assessment: Any) -> dict[str, Any]:
    return printed(assessment, internal=True)


@pytest.fixture(scope="module")
def plain(assessment: Any) -> dict[str, Any]:
    return printed(assessment)


def test_inside_the_figures_are_those_of_the_session(assessment: Any, exact: dict[str, Any]) -> None:
    risky, result = exact["risky_cells"], assessment.intruders[0]["risky_cells"]
    assert {int(d): leaf["value"] for d, leaf in risky["unsafe_cells"].items()} == result.unsafe_cells
    assert risky["records_affected"]["value"] == result.records_affected
    cells = {tuple(row.variables): row.n_cells for row in result.table}
    assert {tuple(row["variables"]): row["n_cells"] for row in risky["table"]} == cells


def test_every_count_is_rounded(plain: dict[str, Any]) -> None:
    tree = plain["risky_cells"]
    leaves = [*tree["unsafe_cells"].values(), tree["records_affected"]]
    leaves += [row[name] for row in tree["table"] for name in ("n_unsafe", "records")]
    for leaf in leaves:
        assert leaf["value"] is None or leaf["value"] % 5 == 0, leaf
    assert not any("n_cells" in row for row in tree["table"])


def test_at_most_fifteen_combinations_in_no_telling_order(plain: dict[str, Any]) -> None:
    names = [row["variables"] for row in plain["risky_cells"]["table"]]
    assert len(names) == 14
    assert names == sorted(names, key=lambda one: (len(one), one))
    assert plain["risky_cells"]["n_combinations"] == 14


def test_intruders_print_the_same_combination_alike() -> None:
    two = {"keys": None, "intruders": {"a": KEYS[:3], "b": KEYS}}
    plain = protect(build_document(assessed(300, **two)))
    tables = [
        {tuple(row["variables"]): row["n_unsafe"] for row in one["risky_cells"]["table"]} for one in plain["intruders"]
    ]
    shared = tables[0].keys() & tables[1].keys()
    assert shared
    assert all(tables[0][name] == tables[1][name] for name in shared)


def test_the_largest_stand_first(plain: dict[str, Any]) -> None:
    (table,) = [
        block
        for block in VIEW.blocks(plain, "risky_cells")
        if isinstance(block, TableBlock) and block.caption.startswith("Combinations")
    ]
    unsafe = [0 if "<" in row[1] else int(row[1].replace(",", "")) for row in table.rows]
    assert unsafe == sorted(unsafe, reverse=True)
