from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sdckit.cells.pair import open_pair
from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.common_blocks import value_leaf
from sdckit.report.gate.figures import Document, Foreign, Guarded, InternalOnly, Ledger
from sdckit.report.gate.protect import protect
from sdckit.report.setting import (
    PairSetting,
    Setting,
    guard_by_changes,
    n_moved,
    notes_tree,
    release_sizes,
    setting_for,
    setting_of,
    variables_of,
)


def made(**design: Any) -> Setting:
    ledger = Ledger()
    ledger.count("n", 100, "n")
    return setting_for(ledger, "i0", Scenario(keys=["a"], **design), {}, 100)


@pytest.mark.parametrize(
    ("design", "weights", "known"),
    [
        ({}, "census", 1.0),
        ({"sampling_fraction": 0.1}, "fraction", 0.1),
        ({"weight": "w"}, "weight", None),
        ({"person": "p", "missing": "category"}, "census", None),
    ],
)
def test_the_design_says_what_risk_follows_from(design: dict[str, Any], weights: str, known: float | None) -> None:
    setting = made(**design)
    assert (setting.weights, setting.fraction_known) == (weights, known)
    assert setting.declared(0.25) == (None if weights == "weight" else 0.25)


def test_a_variant_has_a_suffix_of_its_own() -> None:
    setting = made()
    assert setting.suffix == ""
    assert setting.at("k_anonymity:category").suffix == ".category"


def test_wildcards_hide_the_cells() -> None:
    result = SimpleNamespace(cells=SimpleNamespace(has_wildcards=True))
    assert not made().own_cells_known(result)
    assert made().own_cells_known(SimpleNamespace())
    ledger = Ledger()
    ledger.count("n", 100, "n")
    assert not setting_of(ledger, result, 100).cells_known


def test_notes_stay_inside_or_are_left_out() -> None:
    result = SimpleNamespace(notes={"a": "3 records", "b": "searched", "c": "said elsewhere"})
    assert notes_tree(result, but=("c",), inside=("b",)) == {"a": Foreign("3 records"), "b": InternalOnly("searched")}


def test_each_release_has_its_records() -> None:
    ledger = Ledger()
    assert [ledger.variables[one.name].true for one in release_sizes(ledger, [60, 70])] == [60, 70]


# Figures that few changed records carry are told by how many these are.


def pair(changed: int, *, n: int = 2000, swapped: int = 0):
    one = pl.DataFrame({"a": ["x", "y"] * (n // 2), "b": ["u"] * (n // 2) + ["v"] * (n // 2)})
    row = pl.int_range(pl.len())
    other = one.with_columns(a=pl.when(row < changed).then(pl.lit("z")).otherwise("a"))
    b = other["b"].to_list()
    b[:swapped], b[-swapped or n :] = b[-swapped or n :], b[:swapped]
    return open_pair(one, other.with_columns(b=pl.Series(b)), categories={"variables": ["a", "b"]})


@pytest.mark.parametrize("changed", [0, 1, 4, 60, 700])
def test_records_without_counterpart_are_counted(changed: int) -> None:
    assert n_moved(pair(changed), ["a"]) == changed
    assert n_moved(pair(changed), ["a", "b"]) == changed


def test_what_only_two_variables_together_show_counts() -> None:
    odd = pair(0, swapped=3)  # rows 0 to 2 and the last three: each b stays as frequent as it was
    assert n_moved(odd, ["b"]) == 0
    assert n_moved(odd, ["a", "b"]) in (1, 2)


@pytest.mark.parametrize(
    ("changed", "text"), [(0, "0.012"), (1, "withheld"), (4, "withheld"), (49, "0.01"), (60, "0.012"), (700, "0.012")]
)
def test_digits_follow_the_records_behind(changed: int, text: str) -> None:
    ledger = Ledger()
    ledger.count("n", 2000, "n")
    setting = PairSetting(ledger, "c0", "x", (2000,))
    leaf = guard_by_changes(value_leaf(ledger, "pmse", 0.0124), setting, pair(changed), ["a", "b"])
    assert isinstance(leaf, Guarded)
    plain = protect(Document({"x": leaf}, ledger.variables, tuple(ledger.relations), 2000))
    assert plain["x"]["text"] == text


def test_variables_are_those_of_the_result() -> None:
    class Result:
        variables = ("a", "b")

    assert variables_of(Result()) == ("a", "b")
    assert variables_of(object()) == ()
