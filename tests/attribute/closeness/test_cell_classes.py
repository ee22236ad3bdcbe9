"""The door of the closeness measures: roles, spreads of a variable, limits, and what every result can do."""

from __future__ import annotations

import pickle

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import on_engines
from sdckit import Scenario, alpha_k, as_cells, beta_likeness, delta_disclosure, l_diversity, t_closeness
from sdckit.attribute.closeness.cell_classes import open_classes, spread_of
from sdckit.attribute.closeness.t_closeness import TCloseness
from sdckit.cells import table as table_module
from sdckit.errors import ColumnError, DataError, ScenarioError

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", None],
        "health": ["yes", "yes", "no", "yes", "yes", None],
        "debt": [1, 2, 3, 1, 2, 3],
    }
)
MEASURES = [t_closeness, beta_likeness, delta_disclosure, alpha_k]
every = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)


def classes(**options):
    without = ("sensitive", "missing", "by", "interval", "seed", "scenario", "id")
    given = {"keys": ["sex"], "limits": 1.0, "limit": "t", "prefix": "", **dict.fromkeys(without)}
    return open_classes(TCloseness, FRAME, **{**given, **options})


def test_the_spread_of_a_variable():
    found = classes(sensitive="health")
    spread = spread_of(found.cells, "health")
    assert spread.levels.labels() == ["yes", "no"]
    assert spread.share.tolist() == pytest.approx([4 / 6, 1 / 6, 1 / 6])
    assert spread.total.tolist() == found.cells.table.size.tolist()
    entries = [
        dict(zip(spread.level[a:b].tolist(), spread.count[a:b].tolist(), strict=True))
        for a, b in zip(spread.edges[:-1], spread.edges[1:], strict=True)
    ]
    assert [entries[cell] for cell in found.cells.table.of_row] == [{0: 2, 1: 1}] * 3 + [{0: 2}] * 2 + [{2: 1}]
    assert spread_of(found.cells, "health") is spread


def test_a_wildcard_makes_classes_grow_and_leaves_the_file_as_it_is():
    one, two = classes(sensitive="debt"), classes(sensitive="debt", missing="wildcard")
    assert spread_of(two.cells, "debt").share.tolist() == spread_of(one.cells, "debt").share.tolist()
    assert sorted(spread_of(two.cells, "debt").total.tolist()) == [3, 4, 6]


def test_all_measures_of_the_same_cells_count_once(monkeypatch):
    counted = []
    count = table_module.count_levels
    monkeypatch.setattr(table_module, "count_levels", lambda *given: counted.append(1) or count(*given))
    cells = as_cells(FRAME, keys=["sex"], missing="category")
    for measure in [*MEASURES, l_diversity]:
        measure(cells, sensitive=["debt", "health"])
    assert len(counted) == 2


@every
def test_the_result(measure):
    result = measure(FRAME, keys=["sex"], sensitive=["health", "debt"], prefix="x_")
    assert (result.n, result.variables) == (6, ("health", "debt"))
    assert result.missing_rule == "a missing key value is a category of its own"
    assert result.records.columns == ["x_" + name for name in result.columns]
    assert len(result.records) == 6
    assert result.records.equals(result.records)
    table = result.table
    assert table.columns == ["sex", "x_cell_size", *("x_" + name for name in result.columns)]
    assert table["x_cell_size"].sum() == 6
    assert sorted(table["sex"]) == ["(missing)", "f", "m"]
    first = table["x_" + result.columns[0]].to_list()
    assert first == sorted(first, reverse=True)
    assert set(result.to_dict()["figures"]) == set(result.figures)


@every
def test_pickled_results_keep_their_figures_only(measure):
    result = measure(FRAME, keys=["sex"], sensitive="debt")
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        _ = again.records


@every
def test_roles_come_from_the_scenario_or_the_cells(measure):
    scenario = Scenario(keys=["sex"], sensitive=["health"], missing="wildcard")
    asked = measure(FRAME, keys=["sex"], sensitive="health")
    assert measure(FRAME, scenario=scenario).to_dict() == asked.to_dict()  # its rule is that of frequencies
    cells = as_cells(FRAME, keys=["sex"], missing="category")
    assert measure(cells, sensitive="health").to_dict() == asked.to_dict()
    assert measure(cells, scenario=scenario).to_dict() == asked.to_dict()


@every
@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, ScenarioError, r"say what an intruder would learn: sensitive=\[...\]"),
        ({"sensitive": "sex"}, ColumnError, "'sex' is a key and sensitive"),
        ({"sensitive": "helth"}, ColumnError, "sensitive: no column 'helth'"),
        ({"sensitive": "none"}, DataError, "sensitive variable 'none' has no value in any record"),
        ({"sensitive": "health", "limits": 0}, DataError, "limits are values of .* above 0"),
        ({"sensitive": "health", "limits": ["0.1"]}, DataError, "limits are values of"),
    ],
)
def test_what_cannot_be(measure, given, error, words):
    frame = FRAME.with_columns(none=pl.lit(None, pl.Int64))
    with pytest.raises(error, match=words):
        measure(frame, keys=["sex"], **given)


def test_a_key_with_the_name_of_a_figure():
    frame = FRAME.rename({"sex": "cell_size"})
    result = t_closeness(frame, keys=["cell_size"], sensitive="debt")
    with pytest.raises(ColumnError, match="key 'cell_size' has the name of a column of the table; give prefix="):
        _ = result.table


@every
@on_engines
def test_the_records_of_a_plan_stay_there(measure, plan):
    frame = FRAME.with_columns(who=pl.Series(range(6)), other=1)
    expected = measure(frame, keys=["sex"], sensitive=["debt", "health"])
    found = measure(plan(frame), keys=["sex"], sensitive=["debt", "health"])
    assert found.to_dict()["figures"] == expected.to_dict()["figures"]
    records = nw.from_native(found.records)
    assert isinstance(records, nw.LazyFrame)
    mine = records.collect("polars").to_native().sort("who")
    assert mine.columns == [*frame.columns, *expected.columns]
    for name in expected.columns:
        assert mine[name].to_list() == pytest.approx(expected.records[name].to_list())
    assert found.table.num_rows == 3


@on_engines
@every
def test_a_bootstrap_of_a_plan_is_refused(measure, plan):
    with pytest.raises(DataError, match="interval='bootstrap' draws records"):
        measure(plan(FRAME), keys=["sex"], sensitive="debt", interval="bootstrap", seed=1)


@every
def test_one_record_and_one_key_of_one_value(measure):
    with quiet():
        one = measure(pl.DataFrame({"k": [1], "s": ["a"]}), keys=["k"], sensitive="s")
        flat = measure(pl.DataFrame({"k": [1, 1], "s": ["a", "b"]}), keys=["k"], sensitive="s")
    expected = {"t_closeness": (0, 0), "beta_likeness": (0, 0), "delta_disclosure": (0, 0), "alpha_k": (1, 0.5)}
    columns = [np.asarray(result.records[result.columns[0]]) for result in (one, flat)]
    assert [column[0] for column in columns] == pytest.approx(list(expected[measure.__name__]), abs=1e-15)
