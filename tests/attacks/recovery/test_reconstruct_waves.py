"""Waves of a person: what lasts tells what was taken out of one of them, and what changes at random does not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.recovery.made import blanked
from sdckit.attacks.recovery.reconstruct import Waves
from sdckit.attacks.recovery.touched_cells import read_columns
from sdckit.data.frames import open_frame

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


def test_what_is_different_in_between_now_and_then_is_not_told_by_both_sides() -> None:
    """Both sides are alike, and some of those between are others: likely, and nothing that anybody is for sure."""
    rng = np.random.default_rng(6)
    degree = np.sort(rng.integers(1, 4, (PEOPLE, WAVES)), axis=1).ravel()
    rows = pl.DataFrame({"who": np.repeat(np.arange(PEOPLE), WAVES), "year": np.tile(np.arange(WAVES), PEOPLE)})
    for share, is_told in ((0.0, True), (0.06, False)):
        shown = np.where(rng.random(len(degree)) < share, rng.integers(1, 4, len(degree)), degree)
        sources = told(rows.with_columns(degree=pl.Series(shown)), "degree").sources
        assert any("before and after" in source.words for source in sources) == is_told


@pytest.mark.parametrize("times", [[9, 10, 100], ["1. wave", "2. wave", "3. wave"], [9.5, 10.5, None]])
def test_neighbours_are_those_of_the_same_person_in_the_order_of_time(times: list[float | str | None]) -> None:
    """By going through all rows; who is not known belongs to nobody."""
    rng = np.random.default_rng(7)
    n = 60
    at, person = rng.integers(0, 3, n), rng.integers(0, 8, n)
    seen = pl.DataFrame({
        "who": [None if who == 0 else int(who) for who in person], "when": [times[i] for i in at.tolist()],
    })  # fmt: skip
    columns = read_columns(open_frame(seen), seen.columns)
    waves = Waves.of(columns, "who", "when")
    assert waves is not None
    known = rng.random(n) < 0.7
    before, after = waves.neighbours(known[waves.order])
    place = {row: at for at, row in enumerate(waves.order.tolist())}
    rank = {None: 9 if None in times and isinstance(times[0], float) else -1}
    when = [rank.get(times[i], i) for i in at.tolist()]
    for row in range(n):
        own = [other for other in range(n) if person[other] == person[row] != 0 and known[other] and other != row]
        earlier = max((o for o in own if (when[o], o) < (when[row], row)), key=lambda o: (when[o], o), default=None)
        later = min((o for o in own if (when[o], o) > (when[row], row)), key=lambda o: (when[o], o), default=None)
        assert before[place[row]] == (-1 if earlier is None else place[earlier])
        assert after[place[row]] == (-1 if later is None else place[later])
    assert Waves.of(columns, "who", None) is not None
    assert Waves.of(read_columns(open_frame(seen.with_row_index("row")), ["row"]), "row", None) is None
    assert Waves.of(columns, "nobody", "when") is None


def test_a_gate_does_not_hold_for_a_panel_that_gives_jobs_back() -> None:
    whole = panel(0.8)
    scenario = sdc.Scenario(
        keys=["job"], person="who", time="year", missing="category", aligned=True, thresholds={"recoverable": 0.0}
    )
    assert not sdc.check(whole, blanked(whole, ["job"]), scenario=scenario).passed
