"""Losses, estimates, models and propensity of plans: the figures of the same files in memory, no record brought."""

from __future__ import annotations


import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from every_measure import assert_close
from plans import polars_plan
from sdckit.cells.plans import lazy



def duckdb_plans():
    """DuckDB relations on one connection, which can join them."""
    import duckdb

    connection = duckdb.connect()

    def of(frame):
        name = f"frame_{id(frame)}"
        connection.register(name, frame.to_arrow())
        return connection.table(name)

    return of


@pytest.fixture(params=["polars", "duckdb"])
def plan(request):
    return polars_plan if request.param == "polars" else duckdb_plans()


NUMBERS = ["income", "hours", "far", "flat", "tiny"]


def masked(seed, n=160, *, gaps=True):
    """An original, and two releases of it in other orders of rows."""
    rng = np.random.default_rng(seed)

    def holed(values):
        lost = gaps & (rng.random(n) < 0.1)
        return [None if gone else value for gone, value in zip(lost, values.tolist(), strict=True)]

    def person(noise):
        return pl.DataFrame(
            {
                "row": np.arange(n),
                "sex": rng.choice(["f", "m"] if not noise else ["f", "x"], n),
                "size": holed(rng.integers(1, 5, n)),
                "income": holed(np.round(income + noise * rng.normal(0, 20, n), 1)),
                "hours": holed(hours + noise * rng.integers(0, 2, n)),
                "far": 1e4 + far + noise * rng.normal(0, 1, n).round(2),
                "flat": np.full(n, 0.1),
                "tiny": (rng.random(n) < 0.1) * 1e-7,
            }
        )

    income, hours, far = np.exp(rng.normal(6, 0.4, n)), rng.integers(0, 60, n), rng.normal(0, 9, n)
    return person(0), [person(1).sample(fraction=1.0, shuffle=True, seed=seed), person(1)]


LOSSES = (
    {"numeric": NUMBERS, "categorical": ["sex"], "ordered": ["size"]},
    {"numeric": ["income", "hours", "far"]},
    {"numeric": ["hours"], "ordered": {"size": ["4", "3", "2", "1"]}},
    {"categorical": ["sex", "size"]},
)


def same_losses(here, there):
    assert_close(here.to_dict(), there.to_dict(), "information_loss")
    for table in ("variables", "pairs"):
        assert_close(getattr(here, table).to_dict(as_series=False), getattr(there, table).to_pydict(), table)


@pytest.mark.parametrize("gaps", [True, False])
def test_losses_are_those_in_memory(plan, gaps, monkeypatch):
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    original, released = masked(1, gaps=gaps)
    plans = plan(original), [plan(release) for release in released]
    for options in LOSSES:
        same_losses(
            sdc.information_loss(original, released, id="row", robust=False, **options),
            sdc.information_loss(*plans, id="row", robust=False, **options),
        )
    same = sdc.information_loss(plans[0], plan(original.reverse()), id="row", **LOSSES[0])
    assert "row by row" in same.notes["released"]
    assert "more than may be brought" in same.notes["robust_eigenvalues"]


def test_distances_of_records_and_robust_losses_are_those_in_memory(plan):
    original, released = masked(2)
    options = {"numeric": ["income", "hours"], "categorical": ["sex"], "id": "row", "seed": 1}
    here = sdc.information_loss(original, released[0], **options)
    there = sdc.information_loss(plan(original), plan(released[0]), **options)
    assert there.robust_eigenvalues == pytest.approx(here.robust_eigenvalues, rel=1e-9)
    records = pl.from_arrow(there.records).sort("row")
    np.testing.assert_allclose(records["distance"].to_numpy(), here.records["distance"].to_numpy(), rtol=1e-9)
