"""What all measures of a plan share: members of households brought once, levels counted with the cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from plans import FEW, collected, on_engines, opened
from sdckit.cells.as_cells import as_cells, tabulate_roles
from sdckit.cells.plans import count_cells, lazy
from sdckit.cells.plans.count_cells import count_by
from sdckit.cells.plans.lazy import LazyCells
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError

GAPS = {
    "row": [0, 1, 2, 3, 4, 5],
    "a": ["x", "x", "y", None, "y", "x"],
    "b": [1, 1, 2, 2, None, 3],
    "w": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
    "h": [1, 1, 2, 2, None, None],
}
LOGS = {"before": lambda risk: np.log1p(-risk), "after": lambda logs: -np.expm1(logs)}


def cells(plan, columns=None, **options):
    with quiet():
        return as_cells(plan(pl.DataFrame(GAPS if columns is None else columns)), **{"keys": ["a", "b"], **options})


def shown(made, *names):
    """Figures of the records in the order of the file."""
    return [collected(made.records(names))[name].to_list() for name in names]


@on_engines
@FEW
@given(file=files(max_rows=12), every=st.booleans())
def test_members_lie_in_the_cells_that_were_counted(plan, file, every):
    frame = file.frame(h=pl.Series([i % 3 for i in range(len(file.rows))]))
    made = cells(plan, frame, keys=file.keys, missing=file.missing, weight="w")
    if not every:  # as where the codes of records cannot be told to be those of cells
        made = replace(made, here=replace(made.here, table=replace(made.here.table, layout=None)))
    found = made.with_members("h")
    f, _ = brute.frequencies(file.rows, file.weights, file.wild, 1.0)
    place = {weight: at for at, weight in enumerate(file.weights)}
    rows = [place[weight] for weight in found.weight_of_row().tolist()]
    if len(place) == len(file.rows):
        assert found.columns["sample_frequency"][found.table.of_row].tolist() == [f[row] for row in rows]
        assert found.source["h"].to_list() == [row % 3 for row in rows]
    assert sorted(np.bincount(found.table.of_row)) == sorted(found.table.size)


@on_engines
def test_members_are_brought_once_and_summed_here(plan, monkeypatch):
    made = cells(plan, weight="w", missing="category").with_column("risk", lambda f: 1 / f / 2, "sample_frequency")
    with quiet():
        engine = made.with_household("r", "risk", "h", **LOGS).values("r").distribution()
        again = cells(plan, weight="w", missing="category")
        again.keep_members("h")
        monkeypatch.setattr(lazy, "collect", None)  # nothing more is brought
        monkeypatch.setattr(LazyCells, "_joined", None)
        risk = again.with_column("risk", lambda f: 1 / f / 2, "sample_frequency")
        home = risk.with_household("r", "risk", "h", **LOGS)
        here, members = home.values("r").distribution(), again.with_members("h")
    assert here[0] == pytest.approx(engine[0], rel=1e-14)
    assert here[1].tolist() == engine[1].tolist()
    assert members.table.of_row is again.as_categories().with_members("h").table.of_row


@on_engines
def test_members_that_are_too_many_are_summed_on_the_engine(plan, monkeypatch):
    made = cells(plan)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 17)
    made.keep_members("h")
    with pytest.raises(DataError, match="this measure needs 6 records of 3 columns in memory"):
        made.with_members("h")
    with quiet():
        home = made.with_column("risk", lambda f: 1 / f / 2, "sample_frequency")
        found = home.with_household("r", "risk", "h", **LOGS)
        assert found.values("r").n == 6


def test_records_that_have_changed_since_they_were_counted():
    frame = pl.DataFrame({**GAPS, "b": [1, 1, 2, 2, 3, 3]})
    made = cells(lambda one: one.lazy(), frame)
    changed = replace(made, frame=nw.from_native(frame.with_columns(b=pl.Series([1, 2, 1, 2, 3, 3])).lazy()))
    with pytest.raises(DataError, match="no longer those that were measured"):
        changed.with_members("h")
    other = replace(made, frame=nw.from_native(frame.with_columns(b=pl.Series([1, 1, 2, 2, 9, 3])).lazy()))
    with pytest.raises(DataError, match="no longer those that were measured"):
        other.with_members("h")


# --- counted by what is learnt, too -----------------------------------------------------------------


@on_engines
@FEW
@given(file=files(max_rows=12), data=st.data())
def test_levels_counted_with_the_cells(plan, file, data):
    values = data.draw(st.lists(st.sampled_from(["p", "q", None]), min_size=len(file.rows), max_size=len(file.rows)))
    values[0] = "p"
    frame = plan(file.frame(s=pl.Series(values, dtype=pl.String), row=pl.int_range(len(values), eager=True)))
    given_roles = {"keys": file.keys, "missing": file.missing, "sensitive": ["s"], "weight": "w"}
    with quiet():
        roles = resolve_roles(**given_roles)
        finer, plain = (tabulate_roles(frame, roles, by_levels=one) for one in (True, False))
    assert (finer.counted.learnt, plain.counted.learnt) == (("s",), ())
    for name in ("cell_size", "sample_frequency", "population_frequency"):
        assert shown(finer, name)[0] == pytest.approx(shown(plain, name)[0], rel=1e-12)
    totals = [(found.n_cells, found.n_missing, sorted(found.here.table.size)) for found in (finer, plain)]
    assert totals[0] == totals[1]
    both = [found.count_levels("s") for found in (finer, plain)]
    entries = [sorted(np.diff(one.edges)) for one in both]
    assert entries[0] == entries[1]
    counts = [sorted(zip(one.coded.labels(one.level), one.count, strict=True)) for one in both]
    assert counts[0] == counts[1]


@on_engines
def test_levels_that_are_not_counted_with_the_cells(plan, monkeypatch):
    frame = plan(pl.DataFrame({**GAPS, "s": [[1]] * 6, "t": list("pqpqpq"), "u": [1, 2, 3] * 2}))

    def learnt(by_levels=True, **given_roles):
        with quiet():
            roles = resolve_roles(keys=["a", "b"], **given_roles)
            return tabulate_roles(frame, roles, by_levels=by_levels).counted.learnt

    assert learnt(sensitive=["t", "u"]) == ("t", "u")
    assert learnt(sensitive=["t"], by_levels=False) == ()
    assert learnt(sensitive=["s", "t"]) == ("t",)  # lists: told by the measure that asks for them
    assert learnt(sensitive=["t"], person="row", missing="category") == ()
    assert learnt() == ()
    monkeypatch.setattr(count_cells, "most_cells", lambda n, *_: 5 if n == 2 else 4)
    assert learnt(sensitive=["t"]) == ()  # of three columns there are more than fit


@on_engines
def test_levels_of_all_sensitive_variables_are_counted_in_one_pass(plan, monkeypatch):
    """Where they fit; else each by itself. One without a value is refused by itself."""
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 2], "s": ["x", None, "y", "y", "x"], "t": [0.5, 0.5, 0.5, 1.5, 1.5]})
    frame = frame.with_columns(none=pl.lit(None, pl.String))
    scenario = Scenario(keys=["a"], sensitive=["s", "t", "none"])
    asked = []
    monkeypatch.setattr(lazy, "count_by", lambda *given: asked.append(given[1]) or count_by(*given))
    together = ["a", "s", "t", "none"]
    for most, passes in ((100, [together]), (4, [together, ["a", "s"], ["a", "t"]])):
        asked.clear()
        with quiet(), pytest.MonkeyPatch.context() as patch:
            whole, cells = (as_cells(file, scenario=scenario) for file in (frame, opened(plan, frame)))
            patch.setattr(count_cells, "MOST_CELLS", most)
            for name in ("s", "t"):
                here, there = (file.count_levels(name) for file in (whole, cells))
                assert [here.count[a:b].sum() for a, b in pairwise(here.edges)] == [2, 3]
                assert sorted(zip(here.coded.labels(here.level), here.count.tolist(), strict=True)) == sorted(
                    zip(there.coded.labels(there.level), there.count.tolist(), strict=True)
                )
        assert asked == passes
        with pytest.raises(DataError, match="'none' has no value in any record"):
            cells.count_levels("none")
