"""`LazyCells`: what measures ask of a plan, against the same records one by one."""

from __future__ import annotations

import datetime as dt
import math

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from plans import FEW, collected, on_engines
from sdckit.cells.as_cells import as_cells, tabulate_lazy
from sdckit.cells.plans import lazy, lazy as lazy_groups
from sdckit.cells.plans.lazy import LazyCells, lazy_group_figures
from sdckit.cells.table import MAX_LEVELS
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, SdcWarning
from sdckit.result import FileFigure

GAPS = {
    "row": [0, 1, 2, 3, 4, 5],
    "a": ["x", "x", "y", None, "y", "x"],
    "b": [1, 1, 2, 2, None, 3],
    "w": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
    "h": [1, 1, 2, 2, None, None],
}
LOGS = {"before": lambda risk: np.log1p(-risk), "after": lambda logs: -np.expm1(logs)}
F = [2, 2, 3, 3, 3, 1]  # sample frequencies of GAPS by wildcards, worked by hand


def cells(plan, columns=None, **options):
    with quiet():
        return as_cells(plan(pl.DataFrame(GAPS if columns is None else columns)), **{"keys": ["a", "b"], **options})


def shown(made, *names):
    """Figures of the records in the order of the file."""
    return [collected(made.records(names))[name].to_list() for name in names]


# --- counts -----------------------------------------------------------------------------------------


@on_engines
def test_a_plan_becomes_lazy_cells(plan):
    found = cells(plan, weight="w", alpha=0.5, missing={"b": "category"})
    assert isinstance(found, LazyCells)
    assert (found.keys, found.n, found.alpha) == (("a", "b"), 6, 0.5)
    assert (found.rules, found.n_missing) == (("wildcard", "category"), (1, 1))
    assert found.source is None
    assert set(found.columns) == {
        "cell_size", "sample_frequency", "strict_frequency", "population_frequency",
    }  # fmt: skip
    frame = nw.from_native(plan(pl.DataFrame(GAPS)))
    assert tabulate_lazy(frame, resolve_roles(keys=["b"])).n_cells == 4


@on_engines
@FEW
@given(file=files())
def test_cells_by_size(plan, file):
    found = cells(plan, file.frame(), keys=file.keys, missing=file.missing)
    sizes = [file.rows.count(row) for row in set(file.rows)]
    assert found.n_cells == len(sizes)
    edges = [1, 2, 3, 5, 1 << 62]
    assert found.count_cells(edges) == np.histogram(sizes, edges)[0].tolist()


@on_engines
def test_the_rule_in_words(plan):
    found = cells(plan, alpha=0.5)
    assert found.has_wildcards
    assert found.missing_rule.startswith("a missing key value may stand for any value; a match")
    by_category = cells(plan, missing="category")
    assert not by_category.has_wildcards
    assert by_category.missing_rule == "a missing key value is a category of its own"
    complete = cells(plan, keys=["w"])
    assert not complete.has_wildcards
    assert complete.missing_rule == "no key value is missing"


@on_engines
def test_frequencies_by_hand(plan):
    found = cells(plan, weight="w")
    f, size, big_f, unique = shown(found, "sample_frequency", "cell_size", "population_frequency", "sample_unique")
    assert f == F
    assert size == [2, 2, 1, 1, 1, 1]
    assert big_f == [30, 30, 120, 120, 120, 60]
    assert unique == [False] * 5 + [True]
    assert found.values("sample_frequency").total() == sum(F)


# --- figures that are added -------------------------------------------------------------------------


@on_engines
def test_a_kernel_of_two_figures(plan):
    found = cells(plan, weight="w", missing="category").with_column(
        "rate", np.divide, "sample_frequency", "population_frequency"
    )
    expected = [2 / 30, 2 / 30, 1 / 30, 1 / 40, 1 / 50, 1 / 60]
    assert shown(found, "rate")[0] == pytest.approx(expected, rel=1e-12)
    assert found.values("rate").total() == pytest.approx(sum(expected), rel=1e-12)


@on_engines
@FEW
@given(
    members=st.lists(
        st.tuples(st.sampled_from([1, 2, 3, None]), st.one_of(st.floats(1e-12, 1), st.sampled_from([1.0, 0.5]))),
        min_size=1,
        max_size=12,
    ).filter(lambda members: any(home is not None for home, _ in members))
)
def test_households_are_products(plan, members):
    homes, risks = zip(*members, strict=True)
    columns = pl.DataFrame({"row": range(len(homes)), "h": pl.Series(homes, dtype=pl.Int64)})
    made = cells(plan, columns, keys=["row"])
    of_row = {str(row): risk for row, risk in enumerate(risks)}
    ours = [of_row[label] for label in made.here.levels[0].labels(made.here.table.codes[0])]
    made = made.with_cells({"risk": np.array(ours)})
    with quiet(), np.errstate(divide="ignore"):
        joint = made.with_household("joint", "risk", "h", **LOGS)
        total = joint.values("joint").total()
    found = shown(joint, "joint")[0]
    assert total == pytest.approx(sum(found), rel=1e-12)
    expected = [
        risk if home is None else -math.expm1(sum(math.log1p(-r) if r < 1 else -math.inf for r in group))
        for home, risk in members
        for group in [[r for h, r in members if h == home]]
    ]
    assert found == pytest.approx(expected, rel=1e-12)


@on_engines
@pytest.mark.parametrize("gap", [None, float("nan")])
def test_a_record_without_household_is_alone(plan, gap):
    columns = pl.DataFrame({**GAPS, "h": pl.Series([1.0, 1.0, gap, gap, 2.0, 2.0])})
    made = cells(plan, columns, missing="category").with_column("risk", np.reciprocal, "sample_frequency")
    with np.errstate(divide="ignore"):
        made = made.with_household("joint", "risk", "h", **LOGS)
    with pytest.warns(SdcWarning, match="2 records have no household id in 'h': each is a household of its own"):
        values, sizes = made.values("joint").distribution()
    assert shown(made, "joint")[0] == pytest.approx([0.75, 0.75, 1, 1, 1, 1])
    assert (values.tolist(), sizes.tolist()) == (pytest.approx([0.75, 1]), [2, 4])
    assert collected(made.records(["joint"])).columns == [*GAPS, "joint"]


@on_engines
@FEW
@given(file=files(max_rows=12), data=st.data())
def test_levels_within_each_cell(plan, file, data):
    n = len(file.rows)
    learnt = data.draw(st.lists(st.sampled_from(["p", "q", "", None]), min_size=n, max_size=n))
    if not any(value is not None for value in learnt):
        learnt[0] = "p"
    made = cells(plan, file.frame(s=learnt), keys=file.keys, missing=file.missing)
    found = made.count_levels("s")
    assert made.count_levels("s") is found
    size = made.here.table.size
    assert np.add.reduceat(found.count, found.edges[:-1]).tolist() == size.tolist()
    n_levels = sorted(np.diff(found.edges).tolist())
    pairs = {(row, value) for row, value in zip(file.rows, learnt, strict=True)}
    assert n_levels == sorted(sum(row == one for row, _ in pairs) for one in set(file.rows))
    assert sorted(found.count.tolist()) == sorted(
        sum(both == one for both in zip(file.rows, learnt, strict=True)) for one in pairs
    )
    assert (found.missing >= 0) == (None in learnt)


@on_engines
def test_a_variable_without_any_value(plan):
    nothing = pl.DataFrame({**GAPS, "s": pl.Series([None] * 6, dtype=pl.String)})
    with pytest.raises(DataError, match="sensitive variable 's' has no value in any record; leave it out"):
        cells(plan, nothing).count_levels("s")


@on_engines
def test_a_column_that_is_not_there(plan):
    made = cells(plan, keys=["a"], missing="category").with_column("risk", np.reciprocal, "sample_frequency")
    with pytest.raises(ColumnError, match="household: no column 'hh' in the data"):
        made.with_household("joint", "risk", "hh", **LOGS)
    with pytest.raises(ColumnError, match="sensitive: no column 'bb' in the data"):
        made.count_levels("bb")


@on_engines
def test_cells_whose_weights_fall_short(plan):
    columns = {"a": ["x", "x", "y", "y", "z"], "b": [1, 1, 2, 2, 3], "w": [0.5, 0.5, 3.0, 4.0, 0.9]}
    assert cells(plan, columns, weight="w").count_short() == 2
    assert cells(plan, {**columns, "w": [1.0] * 5}, weight="w").count_short() == 0
    assert cells(plan, {**columns, "w": [1 - 1e-12] * 5}, weight="w").count_short() == 0


@on_engines
def test_the_same_plan_by_category(plan):
    found = cells(plan, weight="w").with_column("risk", np.reciprocal, "sample_frequency").as_categories()
    assert found.rules == ("category", "category")
    assert not found.has_wildcards
    assert set(found.columns) == {"cell_size", "sample_frequency", "population_frequency"}
    assert shown(found, "sample_frequency", "population_frequency") == [[2, 2, 1, 1, 1, 1], [30, 30, 30, 40, 50, 60]]


# --- records ----------------------------------------------------------------------------------------


@on_engines
def test_records_keep_the_callers_columns(plan):
    found = cells(plan)
    records = found.records(["sample_frequency", "sample_unique"], prefix="r_")
    assert type(records) is type(plan(pl.DataFrame(GAPS)))
    shown = collected(records)
    assert shown.columns == [*GAPS, "r_sample_frequency", "r_sample_unique"]
    assert shown.select(*GAPS).equals(pl.DataFrame(GAPS))
    with pytest.raises(ColumnError, match="already has a column 'cell_size', the name of a result"):
        cells(plan, {**GAPS, "cell_size": [0] * 6}).records(["cell_size"])


@on_engines
def test_rows_beyond_a_limit(plan):
    made = cells(plan, weight="w").with_column("risk", np.reciprocal, "population_frequency")
    found = made.rows_where(3 - 1e-9, None, 10)
    assert [row["population_frequency"] for row in found] == [30, 30, 60]  # the riskiest first
    assert [row["keys"] for row in found] == [{"a": "x", "b": 1}] * 2 + [{"a": "x", "b": 3}]
    assert {row["row"] for row in found} == {None}
    assert all(row["risk"] == pytest.approx(1 / row["population_frequency"]) for row in found)
    assert made.count_where(3 - 1e-9, None) == 3
    assert {"a": None, "b": 2} in [row["keys"] for row in made.rows_where(9, None, 10)]
    assert len(made.rows_where(9, None, 2)) == 2
    assert made.rows_where(1, None, 10) == []
    above = made.rows_where(1, 1 / 61, 10)
    assert [row["population_frequency"] for row in above] == [30, 30, 60]
    assert (made.count_where(1, 1 / 61), made.count_where(2, 1 / 31), made.count_where(1, 0.5)) == (3, 3, 0)


@on_engines
def test_rows_where_nothing_is_missing(plan):
    complete = {"a": ["x", "x", "y"], "b": [1, 1, 2]}  # size and frequency are one column of the plan
    made = cells(plan, complete).with_column("risk", np.reciprocal, "sample_frequency")
    assert made.rows_where(2, None, 10) == [
        {"row": None, "keys": {"a": "y", "b": 2}, "cell_size": 1, "sample_frequency": 1, "risk": 1.0}
    ]


# --- keys -------------------------------------------------------------------------------------------


@on_engines
def test_levels_the_most_frequent_first(plan):
    columns = {"a": ["x"] * 6 + ["y"] * 5 + ["z", "", None], "b": [1] * 7 + [2] * 7}
    found = cells(plan, columns)
    assert found.level_counts("a") == ([("x", 6), ("y", 5), ("", 1), ("z", 1)], 4, 2)
    assert found.level_counts("b") == ([("1", 7), ("2", 7)], 2, 2)


@on_engines
def test_no_more_levels_than_are_listed(plan):
    listed, n_levels, large = cells(plan, {"a": list(range(MAX_LEVELS + 1)) * 2}, keys=["a"]).level_counts("a")
    assert (len(listed), n_levels, large) == (MAX_LEVELS, MAX_LEVELS + 1, 0)


@on_engines
def test_the_kind_of_a_key(plan):
    day = dt.date(2020, 1, 1)
    columns = {"t": ["x", "y"], "n": [1, 2], "f": [0.5, 1.5], "d": [day, day], "b": [True, False]}
    found = cells(plan, columns, keys=list(columns))
    assert [found.kind(key) for key in columns] == ["text", "integer", "number", "date", "boolean"]


# --- brought into memory ----------------------------------------------------------------------------


@on_engines
@FEW
@given(file=files(max_rows=12))
def test_counted_cells_give_the_same_figures(plan, file):
    here = cells(plan, file.frame(), keys=file.keys, missing=file.missing, weight="w").in_memory()
    f, big_f = brute.frequencies(file.rows, file.weights, file.wild, 1.0)
    assert here.n == len(file.rows)
    assert here.values("sample_frequency").total() == sum(f)
    assert here.values("population_frequency").total() == pytest.approx(sum(big_f), rel=1e-12)
    assert here.values("cell_size").n == len(file.rows)


@on_engines
def test_columns_that_a_measure_asks_for(plan):
    here = cells(plan, weight="w").in_memory("h")
    assert here.source.columns == ["a", "b", "h", "w"]
    assert sorted(here.values("sample_frequency").distribution()[0].tolist()) == [1, 2, 3]


@on_engines
def test_roles_whose_columns_stay_behind(plan):
    columns = {**GAPS, "s": list("pqpqpq"), "p": [1, 1, 2, 3, 4, 5]}
    scenario = Scenario(keys=["a", "b"], household="h", sensitive=["s"], person="p", missing="category")
    here = cells(plan, columns, keys=None, scenario=scenario).in_memory("h")
    assert here.source.columns == ["a", "b", "h", "p"]
    assert here.values("sample_frequency").total() == 6  # records 0 and 1 are one person
    assert here.values("cell_size").total() == 8


@on_engines
def test_what_is_too_large_for_memory(plan, monkeypatch):
    made = cells(plan)
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 18)
    assert made.in_memory("h").n == 6  # 6 records of 3 columns
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 17)
    with pytest.raises(DataError, match="this measure needs 6 records of 3 columns in memory"):
        made.in_memory("h")
    assert made.in_memory() is made.here


FRAME = pl.DataFrame(
    {"area": ["a", "a", None, "b"], "code": [1.0, 1.0, float("nan"), None], "sdckit__risk": [0.5, 1.0, 0.2, 0.1]}
)
FIGURES = (
    FileFigure("mean", "risk"), FileFigure("low", "risk", "sum", below=0.6), FileFigure("high", "risk", above=0.6),
    FileFigure("largest", "risk", "max"), FileFigure("smallest", "risk", "min"),
)  # fmt: skip


def figures(by, frame=FRAME):
    labels, told = lazy_group_figures(nw.from_native(frame.lazy()), {"risk": "sdckit__risk"}, by, FIGURES)
    return labels.to_arrow().to_pylist(), told


def test_an_engine_makes_every_figure():
    labels, told = figures(["area"])
    assert labels == [{"area": "a", "n": 2}, {"area": "b", "n": 1}, {"area": None, "n": 1}]
    assert told == [[0.75, 0.1, 0.2], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0], [1.0, 0.1, 0.2], [0.5, 0.1, 0.2]]


def test_what_is_no_number_is_missing_like_what_is_not_there():
    labels, _ = figures(["code"])
    assert [row["n"] for row in labels] == [2, 2]
    assert labels[1]["code"] is None


def test_too_many_groups_are_refused(monkeypatch):
    monkeypatch.setattr(lazy_groups, "MOST_GROUPS", 2)
    with pytest.raises(DataError, match="more than 2 groups") as caught:
        figures(["area"])
    assert caught.value.argument == "by"
