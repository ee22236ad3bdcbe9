"""What was found, by value and by column."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sdckit as sdc
from sdckit import DataError, PublishedTable, joint_audit, local_suppression
from sdckit.attacks.published.audit_programme import walk

WHOLE = pl.DataFrame({"age": [31, 35, 42, 45, 45], "sex": ["f", "m", "f", "m", "m"]})
SAFE = WHOLE.with_columns(
    age=pl.Series(["30-39", "30-39", "42", "45", None]), sex=pl.Series(["f", "m", None, None, "m"])
)


def test_a_column_has_figures_by_how_its_values_are_hidden():
    found = joint_audit(SAFE, WHOLE, tables=[["age", "sex"]])
    (columns,) = found.columns
    shown = {(one.column, one.kind): (one.hidden, one.certain, one.right, one.narrowed) for one in columns}
    assert shown == {
        ("age", "suppressed"): (1, 1, 1, 0), ("age", "in groups"): (2, 2, 2, 0), ("sex", "suppressed"): (2, 2, 2, 0),
    }  # fmt: skip
    assert {one.share for one in columns} == {1.0}
    assert found.joint_recoverable == 1


def test_what_is_certain_and_wrong_is_not_given_back():
    """A table of other figures, that fits all the same: the audit says what it says, and the original that it errs."""
    wrong = pl.DataFrame({"age": [31, 35, 42, 45], "sex": ["f", "m", "m", "m"], "n": [1, 1, 1, 2]})
    found = joint_audit(SAFE, WHOLE, tables=[wrong])
    assert (found.certain, found.right) == (5, 4)
    assert found.undone()["sex"].to_list() == ["f", "m", None, "m", "m"]


def test_a_release_with_nothing_hidden():
    found = joint_audit(WHOLE, WHOLE, tables=[["age"]])
    assert (found.hidden, found.joint_recoverable, found.columns) == (0, 0, ((),))
    assert "no value" in found.notes["hidden"]
    assert len(found.records) == 0
    assert len(walk.signatures) <= 1  # compiled once, whatever is hidden


# Which table tells most and what to do instead: each remedy is carried out here and audited anew.


KEYS = ["area", "job", "age"]


def made(seed=3, n=120):
    rng = np.random.default_rng(seed)
    sizes = {"area": 5, "job": 4, "age": 6}
    whole = pl.DataFrame({name: [f"{name}{i}" for i in rng.integers(0, k, n)] for name, k in sizes.items()})
    return whole, local_suppression(whole, keys=KEYS, k=3).data


PAIRS = [list(pair) for pair in combinations(KEYS, 2)]
TABLES = [*PAIRS, KEYS]


@pytest.fixture(scope="module")
def found():
    whole, safe = made()
    return whole, safe, joint_audit(safe, whole, tables=TABLES, remedies=True)


def test_what_a_table_does_is_what_an_audit_of_it_finds(found):
    whole, safe, result = found
    (damage,) = result.damage
    assert result.certain > 0
    for number, one in enumerate(damage):
        others = [table for table in TABLES if table is not TABLES[number]]
        assert one.table == " × ".join(TABLES[number])
        assert one.alone == joint_audit(safe, whole, tables=[TABLES[number]]).right
        assert one.without == joint_audit(safe, whole, tables=others).right
    assert len({one.alone for one in damage}) > 1


def of(result, kind):
    (one,) = (one for one in result.remedies[0] if one.kind == kind)
    return one


def test_tables_left_out(found):
    whole, safe, result = found
    one = of(result, "leave out")
    kept = [table for table in TABLES if " × ".join(table) not in one.tables]
    assert (one.left, one.values, one.base) == (0, 0, None)
    assert not kept or joint_audit(safe, whole, tables=kept).right == 0
    for name in one.tables:  # none of them could be published, too
        more = [*kept, name.split(" × ")]
        assert joint_audit(safe, whole, tables=more).right > 0
    assert one.cells == sum(whole.select(name.split(" × ")).n_unique() for name in one.tables)


def test_tables_rounded(found):
    whole, safe, result = found
    one = of(result, "round")
    tables = [
        PublishedTable(variables=table, rounded=one.base if " × ".join(table) in one.tables else None)
        for table in TABLES
    ]
    audited = joint_audit(safe, whole, tables=tables)
    assert one.left == audited.right == 0
    counts = [whole.group_by(name.split(" × ")).len()["len"] for name in one.tables]
    assert one.cells == sum(int((count % one.base > 0).sum()) for count in counts)


def test_values_taken_out(found):
    whole, safe, result = found
    one = of(result, "take out")
    after = result.taken_out()
    audited = joint_audit(after, whole, tables=TABLES)
    assert one.left == audited.right == 0
    gone = sum(after[name].null_count() - safe[name].null_count() for name in KEYS)
    assert one.values == gone > 0
    for name in KEYS:  # nothing else is changed
        assert ((after[name] == safe[name]) | after[name].is_null()).fill_null(value=True).all()
    assert one.values <= 2 * len(KEYS) * result.right


def test_values_are_taken_out_of_the_release_that_is_named():
    whole, safe = made()
    other = safe.with_columns(job=pl.lit(None, pl.String))
    for place, files in ((1, [safe, other]), (2, [other, safe])):
        result = joint_audit(files, whole, tables=TABLES, remedies=True)
        after = result.taken_out(place)
        assert after.null_count().equals(
            joint_audit(safe, whole, tables=TABLES, remedies=True).taken_out().null_count()
        )
        assert sum(after.null_count().row(0)) > sum(safe.null_count().row(0))
    for release in (0, 3, 1.5, "1"):
        with pytest.raises(DataError, match="release is a number from 1 to 2"):
            result.taken_out(release)


def test_the_frame_without_those_values_is_of_the_callers_type():
    whole, safe = made()
    after = joint_audit(safe.to_pandas(), whole.to_pandas(), tables=TABLES, remedies=True).taken_out()
    assert isinstance(after, pd.DataFrame)
    polars = joint_audit(safe, whole, tables=TABLES, remedies=True).taken_out()
    assert {name: int(after[name].isna().sum()) for name in KEYS} == {name: polars[name].null_count() for name in KEYS}


def test_groups_that_are_shown_are_used_for_the_exchange():
    whole = pl.DataFrame({"age": [31, 35, 42, 44, 31, 35], "job": ["a", "b", "a", "b", "b", "b"]})
    safe = whole.with_columns(age=pl.Series(["30-39", "30-39", "40-49", "40-49", "30-39", "30-39"]))
    result = joint_audit(safe, whole, tables=[["age", "job"]], remedies=True)
    one = of(result, "take out")
    after = result.taken_out()
    assert result.right > 0
    assert one.left == 0 == joint_audit(after, whole, tables=[["age", "job"]]).right
    assert one.values == sum(after[name].null_count() for name in ("age", "job"))


def test_without_the_original_nothing_is_taken_out_and_all_tables_are_rounded():
    whole, safe = made()
    counts = [PublishedTable(counts=whole.group_by(KEYS, maintain_order=True).len(name="n"))]
    result = joint_audit(safe, tables=counts, remedies=True)
    assert [one.kind for one in result.remedies[0]] == ["leave out", "round"]
    assert of(result, "round").left <= result.certain
    with pytest.raises(DataError, match="remedies=True"):
        result.taken_out()


def test_nothing_given_back_needs_no_remedy():
    whole, _ = made()
    safe = whole.with_columns(age=pl.lit(None, pl.String))
    result = joint_audit(safe, whole, tables=[["area", "job"], ["age"]], remedies=True)
    assert (result.right, result.remedies) == (0, ((),))
    assert [(one.alone, one.without) for one in result.damage[0]] == [(0, 0), (0, 0)]
    with pytest.raises(DataError, match="none are needed"):
        result.taken_out()


def test_they_are_looked_for_where_they_are_asked_for():
    whole, safe = made()
    assert joint_audit(safe, whole, tables=TABLES).damage == ()


# Suppressed cells of tables beside a release: worked out by hand, and against every file that could have
# been.


REGIONS, JOBS = ("n", "s"), ("cook", "smith", "miner")
CELLS_WHOLE = pl.DataFrame({"region": ["n", "n", "n", "s", "s"], "job": ["cook", "smith", "smith", "cook", "miner"]})


def table(whole: pl.DataFrame, below: int, names: tuple[str, ...] = ("region", "job")) -> sdc.PublishedTable:
    """The counts of a file, those below a limit left empty, none of which is told."""
    counts = whole.group_by(list(names), maintain_order=True).len(name="n")
    shown = counts.with_columns(n=pl.when(pl.col("n") < below).then(None).otherwise("n"))
    return sdc.PublishedTable(counts=shown, suppressed_below=below)


def bounds(found: sdc.JointAudit) -> dict[str, tuple[float, float]]:
    cells = found.suppressed_cells
    return {row["cell"]: (row["low"], row["high"]) for row in cells.rows(named=True)}


def test_a_release_that_shows_everything_gives_every_cell_back() -> None:
    found = sdc.joint_audit(CELLS_WHOLE, tables=[table(CELLS_WHOLE, 3)])
    assert bounds(found) == {
        "region = n, job = cook": (1, 1), "region = n, job = smith": (2, 2), "region = s, job = cook": (1, 1),
        "region = s, job = miner": (1, 1),
    }  # fmt: skip
    (cells,) = found.cells[0]
    assert (cells.cells, cells.certain, cells.narrowed) == (4, 4, 0)


def test_a_hidden_value_leaves_an_interval() -> None:
    """The job of the first is hidden, and it is no miner: the north has none. A cook and a smith are left."""
    safe = CELLS_WHOLE.with_columns(job=pl.Series([None, "smith", "smith", "cook", "miner"]))
    found = sdc.joint_audit(safe, tables=[table(CELLS_WHOLE, 3)])
    told = bounds(found)
    assert told["region = s, job = cook"] == (1, 1)
    # fewer than three: the two smiths that are shown are all
    assert told["region = n, job = smith"] == (2, 2)
    assert told["region = n, job = cook"] == (1, 1)
    looser = bounds(sdc.joint_audit(safe, tables=[table(CELLS_WHOLE, 4)]))
    assert looser["region = n, job = smith"] == (2, 3)
    assert looser["region = n, job = cook"] == (0, 1)
    assert bounds(sdc.joint_audit(safe, tables=[table(CELLS_WHOLE, 4), ["job"]], original=CELLS_WHOLE))[
        "region = n, job = cook"
    ] == (1, 1)


def test_a_table_without_suppressed_cells_has_none() -> None:
    assert sdc.joint_audit(CELLS_WHOLE, CELLS_WHOLE, tables=[["region", "job"]]).cells == ((),)


def fits(rows: list[tuple[str, str]], tables: list[dict[Any, tuple[int, int]]], at: list[tuple[int, ...]]) -> bool:
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
