"""Suppressed cells of tables beside a release: worked out by hand, and against every file that could have been."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

REGIONS, JOBS = ("n", "s"), ("cook", "smith", "miner")
WHOLE = pl.DataFrame(
    {"region": ["n", "n", "n", "s", "s"], "job": ["cook", "smith", "smith", "cook", "miner"]}
)


def table(whole: pl.DataFrame, below: int, names: tuple[str, ...] = ("region", "job")) -> sdc.PublishedTable:
    """The counts of a file, those below a limit left empty, none of which is told."""
    counts = whole.group_by(list(names), maintain_order=True).len(name="n")
    shown = counts.with_columns(n=pl.when(pl.col("n") < below).then(None).otherwise("n"))
    return sdc.PublishedTable(counts=shown, suppressed_below=below)


def bounds(found: sdc.JointAudit) -> dict[str, tuple[float, float]]:
    cells = found.suppressed_cells
    return {row["cell"]: (row["low"], row["high"]) for row in cells.rows(named=True)}


def test_a_release_that_shows_everything_gives_every_cell_back() -> None:
    found = sdc.joint_audit(WHOLE, tables=[table(WHOLE, 3)])
    assert bounds(found) == {
        "region = n, job = cook": (1, 1), "region = n, job = smith": (2, 2), "region = s, job = cook": (1, 1),
        "region = s, job = miner": (1, 1),
    }  # fmt: skip
    (cells,) = found.cells[0]
    assert (cells.cells, cells.certain, cells.narrowed) == (4, 4, 0)


def test_a_hidden_value_leaves_an_interval() -> None:
    """The job of the first is hidden, and it is no miner: the north has none. A cook and a smith are left."""
    safe = WHOLE.with_columns(job=pl.Series([None, "smith", "smith", "cook", "miner"]))
    found = sdc.joint_audit(safe, tables=[table(WHOLE, 3)])
    told = bounds(found)
    assert told["region = s, job = cook"] == (1, 1)
    # fewer than three: the two smiths that are shown are all
    assert told["region = n, job = smith"] == (2, 2)
    assert told["region = n, job = cook"] == (1, 1)
    looser = bounds(sdc.joint_audit(safe, tables=[table(WHOLE, 4)]))
    assert looser["region = n, job = smith"] == (2, 3)
    assert looser["region = n, job = cook"] == (0, 1)
    assert bounds(sdc.joint_audit(safe, tables=[table(WHOLE, 4), ["job"]], original=WHOLE))[
        "region = n, job = cook"
    ] == (1, 1)


def test_a_table_without_suppressed_cells_has_none() -> None:
    assert sdc.joint_audit(WHOLE, WHOLE, tables=[["region", "job"]]).cells == ((),)


def fits(
    rows: list[tuple[str, str]], tables: list[dict[Any, tuple[int, int]]], at: list[tuple[int, ...]]
) -> bool:
    for counts, places in zip(tables, at, strict=True):
        seen: dict[Any, int] = {}
        for row in rows:
            cell = tuple(row[place] for place in places)
            seen[cell] = seen.get(cell, 0) + 1
        if any(cell not in counts for cell in seen):
            return False
        if any(not low <= seen.get(cell, 0) <= high for cell, (low, high) in counts.items()):
            return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_every_file_that_could_have_been(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(str(rng.choice(REGIONS)), str(rng.choice(JOBS))) for _ in range(9)]
    whole = pl.DataFrame(rows, schema=["region", "job"], orient="row")
    hidden = rng.random((9, 2)) < 0.25
    safe = whole.with_columns(
        pl.when(pl.Series(hidden[:, at])).then(None).otherwise(pl.col(name)).alias(name)
        for at, name in enumerate(whole.columns)
    )
    below = 3
    given = [table(whole, below), table(whole, below, ("job",))]
    stated, at = [], [(0, 1), (1,)]
    for one in given:
        names = one.counts.columns[:-1]
        stated.append({
            tuple(row[name] for name in names): (0, below - 1) if row["n"] is None else (row["n"], row["n"])
            for row in one.counts.rows(named=True)
        })  # fmt: skip
    places = [(i, j) for i in range(9) for j in range(2) if hidden[i, j]]
    seen: dict[str, set[int]] = {}
    for values in product(*((REGIONS, JOBS)[j] for _, j in places)):
        made = [list(row) for row in rows]
        for (i, j), value in zip(places, values, strict=True):
            made[i][j] = value
        if not fits([tuple(row) for row in made], stated, at):
            continue
        for region, job in stated[0]:
            count = sum(row == [region, job] for row in made)
            seen.setdefault(f"region = {region}, job = {job}", set()).add(count)
        for (job,) in stated[1]:
            seen.setdefault(f"job = {job}", set()).add(sum(row[1] == job for row in made))
    assert seen
    for cell, (low, high) in bounds(sdc.joint_audit(safe, tables=given)).items():
        assert (low, high) == (min(seen[cell]), max(seen[cell])), cell
