from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sdckit.data.scenarios.scenario import Scenario
from sdckit.report.gate.figures import Foreign, InternalOnly, Ledger
from sdckit.report.setting import Setting, notes_tree, release_sizes, setting_for, setting_of


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
def test_the_design_says_what_risk_follows_from(
    design: dict[str, Any], weights: str, known: float | None
) -> None:
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
    assert notes_tree(result, but=("c",), inside=("b",)) == {
        "a": Foreign("3 records"),
        "b": InternalOnly("searched"),
    }


def test_each_release_has_its_records() -> None:
    ledger = Ledger()
    assert [ledger.variables[one.name].true for one in release_sizes(ledger, [60, 70])] == [60, 70]
