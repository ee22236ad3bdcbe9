"""Every measure of the catalogue takes Spark frames and gives the figures of the same files in memory."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from every_measure import CALLED, OTHERS, assert_close, call, changed, figures, people
from sdckit.catalogue import CATALOGUE, Measure

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # PySpark's about pandas 3
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def sparked(spark: Any) -> Any:
    """A file as a Spark frame, made once."""
    made: dict[int, Any] = {}

    def make(frame: pl.DataFrame) -> Any:
        return made.setdefault(id(frame), spark.createDataFrame(frame.to_arrow()))

    return make


# Linkage is compared on Spark in attacks/linkage/test_probabilistic_linkage.py, by blocks and of all pairs.
COMPARED_ELSEWHERE = {"probabilistic_linkage"}
HERE = [row for row in CALLED if row.name not in COMPARED_ELSEWHERE]


@pytest.mark.parametrize("row", HERE, ids=lambda row: row.name)
def test_the_figures_are_those_in_memory(row: Measure, sparked: Any) -> None:
    expected, found = quiet(call, row), quiet(call, row, sparked)
    assert_close(figures(expected), figures(found), row.name)


def test_people_drawn_by_their_id(sparked: Any) -> None:
    original, released, control = people(1).rename({"row": "pid"}), changed(), people(2)
    given: dict[str, Any] = {"known": ["sex", "region"], "target": "ill", "id": "pid", "targets": 40, "seed": 1}
    expected = quiet(sdc.inference, original, released, control=control, **given)
    found = quiet(sdc.inference, sparked(original), sparked(released), control=control, **given)
    assert figures(found) == figures(expected)


@pytest.mark.parametrize("options", [
    {"statistic": "total", "variables": ["income", "hours"]},
    {"statistic": "quantile", "variables": ["income"]},
    {"statistic": "proportion", "variables": ["region", "size"]},
], ids=lambda options: options["statistic"])  # fmt: skip
def test_weighted_estimates(sparked: Any, options: dict[str, Any]) -> None:
    """Means are tried by the row of the catalogue."""
    expected = sdc.compare_estimates(people(1), people(2), weight="w", **options)
    found = sdc.compare_estimates(sparked(people(1)), sparked(people(2)), weight="w", **options)
    assert_close(expected.to_dict(), found.to_dict(), options["statistic"])
    assert (expected.few, expected.few_spread) == (found.few, found.few_spread)


def test_what_changes_a_file_asks_for_one_in_memory(sparked: Any) -> None:
    with pytest.raises(sdc.DataError, match="a plan cannot be changed in place; bring it into memory first"):
        sdc.canaries(sparked(people(1)), n=5, seed=1)


def test_every_measure_is_tried() -> None:
    """Of what the catalogue has, all but those that take no file or make one."""
    assert {row.name for row in CATALOGUE} >= OTHERS | COMPARED_ELSEWHERE
    assert len(CATALOGUE) - len(OTHERS) >= 46
