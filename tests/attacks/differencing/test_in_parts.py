"""Differencing of releases on an engine that do not fit here: the figures of memory where no column joins the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from engines.conftest import duckdb_relation, polars_plan
from plans import new_connection
from sdckit.attacks.differencing import release_ledger
from sdckit.cells.plans import count_cells, lazy
from sdckit.errors import ColumnError, DataError
from sdckit.workflow.verdicts import judge_linked

KEYS, SENSITIVE = ["a", "b", "c"], ["ill", "debt"]
FIGURES = ("n", "people", "certain_together", "told_by_difference", "given_back", "unprotected", "certain", "keys")
OF_ENTRY = (
    "name", "linked", "alike", "otherwise", "counted", "differing", "new_uniques", "vanished_uniques", "kept_uniques",
    "relation", "added", "removed", "told_by_difference", "given_back", "unprotected", "compared", "notes",
)  # fmt: skip


@st.composite
def releases(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """An earlier release, and one with other values missing and some records more, fewer, or both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(90, 140))
    people = pl.DataFrame({
        "a": rng.integers(-3, 4, n), "b": rng.choice(["x", "y", "naïve", ""], n), "c": rng.choice([0.0, 1.5, 2.5], n),
        "ill": rng.choice(["yes", "no", "so"], n), "debt": rng.choice([0.0, 2.5, 40.0], n),
    })  # fmt: skip
    gaps = draw(st.sampled_from([0.0, 0.02, 0.1]))

    def holed(frame: pl.DataFrame) -> pl.DataFrame:
        gone = {name: pl.Series(rng.random(len(frame)) < gaps) for name in frame.columns}
        return frame.with_columns(
            pl.when(hole).then(None).otherwise(pl.col(name)).alias(name) for name, hole in gone.items()
        )

    first, last = draw(st.sampled_from([(0, n - 3), (3, n), (0, n - 2)]))
    earlier = people[: n - 2] if draw(st.booleans()) else people[2:]
    release = holed(people[first:last])
    if draw(st.booleans()):  # a column coded otherwise
        release = release.with_columns(pl.col("debt") + 1000)
    return holed(earlier).sample(fraction=1, shuffle=True, seed=1), release


@pytest.mark.parametrize("make", [polars_plan, duckdb_relation])
@settings(max_examples=6, deadline=None)
@given(releases(), st.sampled_from([SENSITIVE, []]))
def test_figures_are_those_of_memory(make: Any, files: Any, sensitive: list[str]) -> None:
    earlier, release = files
    with pytest.MonkeyPatch.context() as patch:  # links by several columns are not looked for in parts
        patch.setattr(release_ledger, "MOST_SEARCHED", 0)
        expected = sdc.differencing(release, earlier=earlier, keys=KEYS, sensitive=sensitive)
    connection = new_connection()
    plans = [make(file) if make is polars_plan else make(file, connection) for file in (earlier, release)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count_cells, "MOST_CELLS", 60)
        patch.setattr(lazy, "COLLECT_LIMIT", 100)
        counted = sdc.differencing(plans[1], earlier=plans[0], keys=KEYS, sensitive=sensitive)
    for name in FIGURES:
        assert getattr(counted, name) == getattr(expected, name), name
    for name in OF_ENTRY:
        assert getattr(counted.entries[0], name) == getattr(expected.entries[0], name), name
    assert counted.not_compared == expected.not_compared
    assert counted.singly  # no column joins the rows, and several together were not tried
    assert "linked" in counted.notes
    with pytest.raises(DataError, match="nothing of single records"):
        _ = counted.records


def test_what_joins_the_rows_is_said_not_to_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    people = pl.DataFrame({"id": range(100), "a": [0, 1] * 50, "b": [0, 1, 2, 3] * 25})
    plans = [people.lazy(), people[5:].lazy()]
    monkeypatch.setattr(count_cells, "MOST_CELLS", 60)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    counted = sdc.differencing(plans[1], earlier={"2024": plans[0]}, keys=["a", "b"], id="id", aligned=True)
    assert "could be joined by id, the order of the rows" in counted.not_compared[0]
    assert counted.not_compared == counted.entries[0].notes == (counted.notes["certain_together"],)
    (linked,) = judge_linked(sdc.Scenario(keys=["a"], thresholds={"k": 3}).limits, "default", counted)
    assert (linked.name, linked.holds, linked.reason) == ("k_linked", None, counted.unjoined)
    assert (counted.entries[0].relation, counted.entries[0].removed, counted.linked) == ("subset", 5, 0)
    both = sdc.differencing(plans[1], earlier=plans, keys=["a", "b"])
    assert "counts once for each" in both.notes["people"]
    with pytest.raises(ColumnError, match="has none of the columns"):
        sdc.differencing(plans[1], earlier=people.select("id").lazy(), keys=["a", "b"])
    with pytest.raises(DataError, match="one key alone"):
        sdc.differencing(plans[1], earlier=plans[0], keys=["a"])


def test_whoever_joins_a_single_person_is_told_in_parts_as_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A combination of one person, and of two in the next release: what is new is the second one's."""
    earlier = pl.DataFrame({"a": [*range(80), *range(80)], "b": ["x"] * 160, "ill": ["no"] * 160})
    earlier = pl.concat([earlier, pl.DataFrame({"a": [99], "b": ["y"], "ill": ["no"]})])
    release = pl.concat([earlier, pl.DataFrame({"a": [99], "b": ["y"], "ill": ["yes"]})])
    how = {"keys": ["a", "b"], "sensitive": ["ill"]}
    expected = sdc.differencing(release, earlier=earlier, **how)
    monkeypatch.setattr(count_cells, "MOST_CELLS", 60)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 100)
    counted = sdc.differencing(release.lazy(), earlier=earlier.lazy(), **how)
    assert counted.told_by_difference == expected.told_by_difference == 1
