"""Cells that do not fit into memory: parts give the same figures, on every engine; what needs all is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.comparing import assert_same_figures, assert_same_records, quiet
from every_measure import CALLED, call
from sdckit.catalogue import Measure
from sdckit.cells.plans import cells_in_parts as parting, count_cells as counting, households
from sdckit.cells.plans.cells_in_parts import PartedCells

KEYS = ["age", "region", "size"]
N = 700
BY_COLUMNS = {"information_loss", "compare_estimates", "compare_models", "propensity"}
IN_PARTS = {
    "key_frequencies", "k_anonymity", "individual_risk", "l_diversity", "t_closeness", "beta_likeness",
    "delta_disclosure", "alpha_k", "k_map", "delta_presence",
}  # fmt: skip


def census(gaps: float, gaps_of: list[str]) -> pl.DataFrame:
    """Some 500 cells of texts, whole numbers and numbers with -0.0, with a share of values missing."""
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "row": np.arange(N),
            "age": rng.integers(20, 44, N),
            "region": rng.choice(["north", "south", "naïve", "west"], N),
            "size": rng.choice([-0.0, 0.0, 0.5, 1.0, 2.5, 4.0, 4.5, 6.0], N),
            "ill": rng.choice(["yes", "no", "perhaps"], N),
            "home": np.arange(N) // 3,
            "w": rng.uniform(5, 40, N).round(3),
        }
    )
    lost = {name: pl.Series(rng.random(N) < gaps) for name in gaps_of}
    return frame.with_columns(
        pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name, gone in lost.items()
    )


CASES = {
    "nothing missing": (census(0, []), {}),
    "one key complete": (census(0.05, ["age", "size"]), {}),
    "every key wild": (census(0.02, KEYS), {}),
    "half a match": (census(0.02, KEYS), {"alpha": 0.5}),
    "a category": (census(0.05, KEYS), {"missing": "category"}),
}


def limit(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Let so few cells fit into memory."""
    monkeypatch.setattr(counting, "MOST_CELLS", cells)
    monkeypatch.setattr(households, "most_cells", lambda *_: N)


def figures(frame: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What can be told of a file by parts of its cells."""
    risk = sdc.individual_risk(frame, keys=KEYS, weight="w", household="home", threshold="mad", **options)
    found = {
        "k": sdc.k_anonymity(frame, keys=KEYS, **options),
        "f": sdc.key_frequencies(frame, keys=KEYS, sampling_fraction=0.1, **options),
        "risk": risk,
        "l": sdc.l_diversity(frame, keys=KEYS, sensitive="ill"),
    }
    told: dict[str, Any] = {name: one.to_dict()["figures"] for name, one in found.items()}
    told["cap"] = risk.threshold_for(0.05)
    told["listed"] = [one["risk"] for one in risk.cells.rows_where(2, None, 3)]
    told["kinds"] = [risk.cells.kind(key) for key in KEYS]
    return told


@pytest.mark.parametrize("case", CASES)
def test_figures_are_those_of_memory(
    case: str, plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, options = CASES[case]
    expected = quiet(figures, frame, options)
    levels = [quiet(sdc.as_cells, plan(frame), keys=KEYS).level_counts(key) for key in KEYS]
    limit(monkeypatch, 400)
    assert_same_figures(expected, quiet(figures, plan(frame), options))
    cells = quiet(sdc.as_cells, plan(frame), keys=KEYS, **options)
    assert isinstance(cells, PartedCells)
    assert len(cells.parts) > 2
    assert cells.parting.loose == (case in {"every key wild", "half a match"})
    assert [cells.level_counts(key) for key in KEYS] == levels


@pytest.mark.parametrize("case", ["every key wild", "half a match", "a category"])
def test_records_are_those_of_memory(
    case: str, plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, options = CASES[case]
    given = {"keys": KEYS, "weight": "w", "household": "home", "id": "row", **options}
    expected = quiet(sdc.individual_risk, frame, **given).records
    groups = quiet(sdc.k_anonymity, frame, keys=KEYS, by="ill").by_group
    limit(monkeypatch, 400)
    found = quiet(sdc.individual_risk, plan(frame), **given)
    assert_same_records(expected, found.records)
    by_group = quiet(sdc.k_anonymity, plan(frame), keys=KEYS, by="ill").by_group
    assert_same_figures(groups.to_dict(as_series=False), by_group.to_pydict())


def test_persons_count_once(plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine records in ten are of their own person, the others of one before; the weight is the person's."""
    frame = census(0.05, KEYS)
    person = np.where(np.arange(N) % 10 == 0, np.maximum(np.arange(N) - 1, 0), np.arange(N))
    frame = frame.with_columns(pl.Series("p", person)).with_columns(pl.col("w").first().over("p"))
    given = {"keys": KEYS, "weight": "w", "person": "p", "household": "home", "missing": "category"}
    expected = quiet(sdc.individual_risk, frame, **given).to_dict()["figures"]
    limit(monkeypatch, 400)
    found = quiet(sdc.individual_risk, plan(frame), **given)
    assert isinstance(found.cells, PartedCells)
    assert_same_figures(expected, found.to_dict()["figures"])


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
def test_on_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, options = CASES["every key wild"]
    plan = spark.createDataFrame(frame.to_arrow())
    given = {"keys": KEYS, "weight": "w", "household": "home", "id": "row", **options}
    expected = quiet(sdc.individual_risk, frame, **given)
    learnt = quiet(sdc.l_diversity, frame, keys=KEYS, sensitive="ill").to_dict()["figures"]
    cells = quiet(sdc.as_cells, plan, scenario=sdc.Scenario(keys=KEYS, sensitive=["ill"]), missing="category")
    assert cells.counted.learnt == ("ill",)  # in one pass with the cells
    assert_same_figures(learnt, quiet(sdc.l_diversity, cells, sensitive="ill").to_dict()["figures"])
    limit(monkeypatch, 400)
    monkeypatch.setattr(parting, "FILLED", 1)
    found = quiet(sdc.individual_risk, plan, **given)
    assert isinstance(found.cells, PartedCells)
    assert found.cells.parting.loose
    assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"])
    assert_same_records(expected.records, found.records)
    assert_same_figures(learnt, quiet(sdc.l_diversity, plan, keys=KEYS, sensitive="ill").to_dict()["figures"])


@pytest.mark.parametrize("row", [row for row in CALLED if row.of_plan == "cells"], ids=lambda row: row.name)
def test_what_needs_all_cells_says_so(
    row: Measure, plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of the measures fails in another way, or finds something else; two files come by their columns instead."""
    if row.name in IN_PARTS | BY_COLUMNS or row.files == "release":
        expected = quiet(call, row, lambda frame: frame).to_dict()["figures"]
        limit(monkeypatch, 22)
        assert_same_figures(expected, quiet(call, row, plan).to_dict()["figures"])
        return
    limit(monkeypatch, 22)
    with pytest.raises(sdc.DataError, match="and the free memory here takes 22; take fewer"):
        quiet(call, row, plan)


def test_assess_tells_what_did_not_run(plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    frame, _ = CASES["every key wild"]
    scenario = sdc.Scenario(keys=KEYS, sensitive=["ill"], weight="w", household="home", thresholds={"k": 3})
    expected = quiet(sdc.assess, frame, scenario=scenario).intruders[0]
    limit(monkeypatch, 400)
    found = quiet(sdc.assess, plan(frame), scenario=scenario).intruders[0]
    assert "needs all" in dict(found.skipped)["key_contributions"]
    for name in ("k_anonymity", "individual_risk", "l_diversity"):
        assert_same_figures(expected.results[name].to_dict()["figures"], found.results[name].to_dict()["figures"], name)


def test_cells_that_cannot_be_parted(plan: Callable[[pl.DataFrame], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the values are missing: too many cells may match those of every part."""
    frame = census(0.5, KEYS)
    limit(monkeypatch, 60)
    with pytest.raises(sdc.DataError, match=r"takes 60; nor do they fall into parts that fit, since cells may"):
        quiet(sdc.k_anonymity, plan(frame), keys=KEYS)
    with pytest.raises(sdc.DataError, match=r"key 'age' is missing in .* records, and missing='error'"):
        quiet(sdc.k_anonymity, plan(frame), keys=KEYS, missing="error")
