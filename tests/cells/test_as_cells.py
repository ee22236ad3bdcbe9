"""The one door: frames are tabulated, cells handed back, arguments checked."""

from __future__ import annotations

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from draw import quiet
from plans import on_engines, opened
from sdckit import Cells, Scenario, as_cells, individual_risk, k_anonymity, key_frequencies, l_diversity
from sdckit.cells import as_cells as tabulating
from sdckit.cells.as_cells import (
    coded_in_memory,
    columns_in_memory,
    is_cells,
    tabulate_given,
    tabulate_lazy,
    tabulate_roles,
)
from sdckit.cells.pair import open_pair
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.cells_in_parts import PartedCells
from sdckit.cells.plans.lazy import LazyCells
from sdckit.data.frames import open_frame
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import ColumnError, DataError, ScenarioError

FRAME = pl.DataFrame({"a": [1, 1, 2, None], "b": ["x", "y", "x", "x"], "w": [5.0, 6.0, 7.0, 8.0]})


def test_a_frame_is_tabulated():
    cells = as_cells(FRAME, keys=["a", "b"], weight="w")
    assert isinstance(cells, Cells)
    assert is_cells(cells)
    assert not is_cells(FRAME)
    assert cells.columns["population_frequency"][cells.table.of_row].tolist() == [13, 6, 15, 20]
    assert as_cells(nw.from_native(FRAME), keys=["a"]).n == 4


def test_categories_without_an_order_come_as_text():
    frame = pl.DataFrame({"e": pl.Series(["c", "a", "b"], dtype=pl.Categorical)})
    frame = frame.with_columns(f=pl.col("e").cast(pl.Enum(["b", "c", "a"])))
    here, brought = columns_in_memory(frame.lazy(), {"keys": ["e", "f"]})
    assert brought
    assert [here[name].cast(nw.String).to_list() for name in ("e", "f")] == [["c", "a", "b"]] * 2
    pair = open_pair(frame.lazy(), frame.lazy(), categories={"keys": ["e", "f"]})
    assert [pair.codes(name).labels()[1:] for name in ("e", "f")] == [["a", "b", "c"], ["b", "c", "a"]]


def test_cells_are_handed_back():
    cells = as_cells(FRAME, keys=["a"])
    assert as_cells(cells) is cells
    assert tabulate_given(cells) is cells
    assert tabulate_roles(cells, resolve_roles(keys=["b"])) is cells


@pytest.mark.parametrize(
    "given", [{"keys": ["b"]}, {"weight": "w"}, {"missing": "category"}, {"alpha": 0.5}, {"id": "b"}]
)
def test_cells_fix_what_they_were_made_with(given):
    with pytest.raises(ScenarioError, match="fixed by the cells given; leave them out"):
        as_cells(as_cells(FRAME, keys=["a"]), **given)


def test_one_tabulation_serves_every_measure():
    cells = as_cells(FRAME, keys=["a", "b"], weight="w")
    assert key_frequencies(cells).records.equals(key_frequencies(FRAME, keys=["a", "b"], weight="w").records)
    assert individual_risk(cells).records.equals(individual_risk(FRAME, keys=["a", "b"], weight="w").records)
    assert k_anonymity(cells, k=2).violations == k_anonymity(FRAME, keys=["a", "b"], k=2).violations
    category = as_cells(FRAME, keys=["a"], missing="category")
    again = l_diversity(category, sensitive="b").records
    assert again.equals(l_diversity(FRAME, keys=["a"], sensitive="b").records)


def test_the_measure_s_own_rule_and_weights():
    cells = tabulate_given(FRAME, keys=["a"], weight="w", default_missing="category", weighted=False)
    assert cells.rules == ("category",)
    assert "population_frequency" not in cells.columns


def test_a_scenario_in_place_of_arguments():
    scenario = Scenario(keys=["a", "b"], weight="w", missing="category")
    cells = as_cells(FRAME, scenario=scenario)
    assert (cells.keys, cells.rules) == (("a", "b"), ("category", "category"))
    both = Scenario(intruders={"one": ["a"], "two": ["b"]})
    with pytest.raises(ScenarioError, match=r"one.*two"):
        as_cells(FRAME, scenario=both)


@pytest.mark.parametrize(
    ("data", "given", "error", "words"),
    [
        (FRAME, {}, ScenarioError, "say which variables an intruder knows"),
        (FRAME, {"keys": ["aa"]}, ColumnError, "keys: no column 'aa' in the data"),
        ([1, 2], {"keys": ["a"]}, DataError, "list is not a data frame"),
        (FRAME, {"keys": ["a"], "weight": "w", "sampling_fraction": 0.1}, ScenarioError, "not both"),
    ],
)
def test_what_cannot_be(data, given, error, words):
    with pytest.raises(error, match=words):
        as_cells(data, **given)


def test_the_data_is_never_modified():
    before = FRAME.clone()
    with quiet():
        records = individual_risk(FRAME, keys=["a", "b"], weight="w", household="b").records
    assert len(records) == len(FRAME)
    assert FRAME.equals(before)


# Where the cells of a plan go: into memory up to the limit, in parts beyond it.


@on_engines
@pytest.mark.parametrize(("most", "kind"), [(100, LazyCells), (12, LazyCells), (11, PartedCells)])
def test_by_how_many_fit(plan, monkeypatch, most, kind):
    frame = opened(plan, pl.DataFrame({"a": [i % 12 for i in range(40)], "b": ["x"] * 40}))
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    with quiet():
        found = tabulate_lazy(frame, resolve_roles(keys=["a", "b"]))
    assert (type(found), found.n, found.n_cells) == (kind, 40, 12)


def test_texts_come_as_codes_whatever_the_pieces_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts that later pieces have first, categories and declared ones, numbers, and what is missing."""
    rng = np.random.default_rng(1)
    texts = pl.Series("text", [*rng.choice(["b", "a", "", None], 300).tolist(), "new"])
    frame = pl.DataFrame({
        "text": texts, "free": texts.cast(pl.Categorical), "told": texts.cast(pl.Enum(["new", "a", "", "b"])),
        "n": rng.integers(0, 9, 301), "alone": [None] * 301,
    })  # fmt: skip
    monkeypatch.setattr(tabulating, "AT_ONCE", 64)
    here = coded_in_memory(open_frame(frame.lazy()), frame.columns)
    assert {name: here[name].to_list() for name in here.columns} == frame.to_dict(as_series=False)
    assert [str(kind).startswith("dictionary") for kind in here.to_arrow().schema.types] == [True] * 3 + [False] * 2
