"""Waves of a person: what lasts tells what was taken out of one of them, and what changes at random does not."""

from __future__ import annotations

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.recovery.made import blanked

PEOPLE, WAVES = 600, 5


def panel(stays: float, seed: int = 3) -> pl.DataFrame:
    """Jobs of people in five years, and for how long they have had them; rows in any order."""
    rng = np.random.default_rng(seed)
    job, tenure = rng.integers(1, 9, PEOPLE), rng.integers(0, 20, PEOPLE)
    waves = []
    for year in range(2018, 2018 + WAVES):
        if waves:
            moves = rng.random(PEOPLE) > stays
            job = np.where(moves, rng.integers(1, 9, PEOPLE), job)
            tenure = np.where(moves, 0, tenure + 1)
        names = [f"job {number}" for number in job]
        waves.append(pl.DataFrame({"who": np.arange(PEOPLE), "year": year, "job": names, "tenure": tenure}))
    return pl.concat(waves).sample(fraction=1.0, shuffle=True, seed=seed)


def told(whole: pl.DataFrame, column: str, *, time: str | None = "year"):
    scenario = sdc.Scenario(keys=["year"], person="who", time=time, missing="category")
    result = sdc.recoverable_values(
        blanked(whole, [column], 0.05), whole, scenario=scenario, columns=[column], guess=False
    )
    return result.columns[0][0]


def test_a_job_that_is_not_new_is_that_of_the_wave_before() -> None:
    one = told(panel(0.8), "job")
    assert one.right == one.restored > 0.7 * one.touched
    assert "the wave before of who, where tenure is above its least" in one.alone_by
    assert told(panel(0.8).drop("tenure"), "job").restored == 0


def test_what_never_falls_is_told_where_both_sides_are_alike() -> None:
    rng = np.random.default_rng(4)
    degree = np.sort(rng.integers(1, 4, (PEOPLE, WAVES)), axis=1)
    rows = pl.DataFrame({"who": np.repeat(np.arange(PEOPLE), WAVES), "year": np.tile(np.arange(WAVES), PEOPLE)})
    whole = rows.with_columns(degree=pl.Series(degree.ravel())).sample(fraction=1.0, shuffle=True, seed=1)
    one = told(whole, "degree")
    assert one.right == one.restored > 10
    assert "the waves before and after of who" in one.alone_by
    drawn = whole.with_columns(degree=pl.Series(rng.integers(1, 4, len(whole))))
    assert told(drawn, "degree").restored == 0
    assert told(whole, "degree", time=None).restored == 0  # nobody says in which order the rows are


def test_a_gate_does_not_hold_for_a_panel_that_gives_jobs_back() -> None:
    whole = panel(0.8)
    scenario = sdc.Scenario(
        keys=["job"], person="who", time="year", missing="category", aligned=True, thresholds={"recoverable": 0.0}
    )
    assert not sdc.check(whole, blanked(whole, ["job"]), scenario=scenario).passed
