"""Originals too large to be brought pass by in blocks: the links are those of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import quiet
from engines.conftest import plan, spark  # noqa: F401 (fixtures)
from every_measure import changed, people
from sdckit.cells.plans import lazy
from sdckit.errors import DataError
from sdckit.identity.matching import record_linkage
from sdckit.identity.matching.record_linkage import merged
from sdckit.numerics.coding import differences
from sdckit.numerics.search.neighbours import prepare

ORIGINAL = (
    people(1).rename({"row": "pid"}).with_columns(income=pl.when(pl.col("pid") % 9 > 0).then("income"))
)  # some are missing
RELEASED = changed().rename({"row": "pid"}).sample(fraction=1.0, shuffle=True, seed=2)
HOW: dict[str, dict[str, Any]] = {
    "gower": {"variables": ["sex", "region", "income"]},
    "weighted, of groups": {
        "variables": ["sex", "region", "income"], "weights": {"income": 2}, "n_best": 3, "by": "sex", "targets": 1_000,
    },
    "euclidean": {"variables": ["income", "hours"], "distance": "euclidean"},
    "categories": {"variables": ["sex", "region"], "numeric": []},
}  # fmt: skip


@pytest.mark.parametrize("name", HOW)
def test_blocks_link_as_the_whole(name: str, plan: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    given = {"id": "pid", "targets": 40, "seed": 3, **HOW[name]}
    expected = quiet(sdc.record_linkage, ORIGINAL, RELEASED, **given)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 250)
    monkeypatch.setattr(record_linkage, "BLOCK", 7)
    found = quiet(sdc.record_linkage, plan(ORIGINAL), plan(RELEASED), **given)
    for figure in expected.figures:
        assert getattr(found, figure) == pytest.approx(getattr(expected, figure), rel=1e-12)
    for figure, ends in expected.intervals.items():
        assert found.intervals[figure] == pytest.approx(ends)
    assert found.notes == expected.notes
    mine, whole = (
        pl.DataFrame(result.records).select("pid", "correct", "distance", "second_distance").sort("pid")
        for result in (found, expected)
    )
    for column in mine.columns:
        np.testing.assert_allclose(mine[column].to_numpy(), whole[column].to_numpy(), rtol=1e-12, atol=1e-15)
    if "by" in given:
        assert pl.DataFrame(found.by_group).equals(pl.DataFrame(expected.by_group))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_blocks_of_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    given = {"id": "pid", "targets": 40, "seed": 3, **HOW["gower"]}
    expected = quiet(sdc.record_linkage, ORIGINAL, RELEASED, **given)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 250)
    monkeypatch.setattr(record_linkage, "BLOCK", 40)
    files = (spark.createDataFrame(file.to_dicts()) for file in (ORIGINAL, RELEASED))  # Spark 4.0 took no Arrow tables
    found = quiet(sdc.record_linkage, *files, **given)
    assert found.rate == expected.rate
    assert found.mean_distance == pytest.approx(expected.mean_distance, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("at", [1, 3, 11, 19])
def test_nearest_of_parts_are_those_of_the_whole(k: int, at: int) -> None:
    rng = np.random.default_rng(k)
    base, query = differences([(rng.integers(0, 6, 20).astype(float), rng.integers(0, 6, 30).astype(float))], power=1)
    whole = prepare(base).nearest(query, k)
    parts = [base.take(np.arange(at)), base.take(np.arange(at, 20))]
    a, b = (prepare(part).nearest(query, min(k, part.n)) for part in parts)
    found = merged(a, b, k)
    np.testing.assert_array_equal(found.distance, whole.distance)
    np.testing.assert_array_equal(found.n_closer, whole.n_closer)
    np.testing.assert_array_equal(found.n_tied, whole.n_tied)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "rank", "variables": ["income"]}, "too much from a plan"),
        ({"targets": None}, "too much from a plan"),
        ({"distance": "euclidean"}, "compares numbers"),
    ],
)
def test_refused(change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    given = {"id": "pid", "targets": 40, "seed": 3, **HOW["gower"], **change}
    with pytest.raises(DataError, match=words):
        sdc.record_linkage(ORIGINAL.lazy(), RELEASED.lazy(), **given)


def test_a_number_without_a_value_is_refused_as_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = RELEASED.with_columns(pl.lit(None, pl.Float64).alias("income"))
    given = {"id": "pid", "targets": 40, "variables": ["sex", "income"], "numeric": ["income"]}
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    for files in ((ORIGINAL, bare), (ORIGINAL.lazy(), bare.lazy())):
        with pytest.raises(DataError, match="the release: numeric 'income' has no value at all"):
            sdc.record_linkage(*files, **given)


def test_files_of_other_people_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    others = RELEASED.with_columns(pl.col("pid") + 1)
    with pytest.raises(DataError, match="not the ids of the original"):
        sdc.record_linkage(ORIGINAL.lazy(), others.lazy(), id="pid", targets=90, variables=["sex", "income"])


def test_blocks_of_numbers_whose_squares_are_infinite(monkeypatch: pytest.MonkeyPatch) -> None:
    large = [frame.with_columns(pl.col("income", "hours") * 2.0**532) for frame in (ORIGINAL, RELEASED)]
    given = {"id": "pid", "targets": 40, "seed": 3, **HOW["euclidean"]}
    expected = quiet(sdc.record_linkage, *large, **given)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 250)
    monkeypatch.setattr(record_linkage, "BLOCK", 7)
    found = quiet(sdc.record_linkage, *(frame.lazy() for frame in large), **given)
    assert (found.rate, found.mean_distance) == (pytest.approx(expected.rate), pytest.approx(expected.mean_distance))
    assert found.mean_distance > 1e150
