"""The model of the population that `assess` takes: searched for where that is quick, main effects otherwise."""

from __future__ import annotations

import pytest

import sdckit as sdc
from draw import quiet
from further import DESIGN, assessed, entangled
from sdckit.identity.population import searched_risk as module


def test_the_model_of_the_population_is_searched() -> None:
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    with quiet():
        plain = sdc.population_risk(entangled(), **DESIGN)
    assert "age:job" in found.model
    assert abs(found.z2) < abs(plain.z2)
    assert "added 1 pair of keys to main effects: z2 went from" in found.notes["path"]
    assert "z2" not in found.notes


def test_a_model_that_fits_is_left_alone() -> None:
    found = assessed(measures="population_risk")["default"]["population_risk"]
    assert found.model == ("sex", "age", "job")
    assert "added no pair of keys" in found.notes["path"]


def test_a_large_grid_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUICK_MODEL", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert found.model == tuple(DESIGN["keys"])
    assert found.notes["path"].endswith("would take long; population_risk(select=True) does it")
    assert "try select=True" in found.notes["z2"]
    monkeypatch.setattr(module, "MAX_GRID", 1000)
    found = assessed(entangled(), "population_risk", **DESIGN)["default"]["population_risk"]
    assert "2,592 possible cells would take long; recode keys" in found.notes["path"]


def test_a_census_is_not_modelled() -> None:
    census = DESIGN | {"sampling_fraction": 1.0}
    found = assessed(entangled(), "population_risk", **census)["default"]["population_risk"]
    assert found.tau1 == found.sample_uniques
    assert "nothing to select" in found.notes["path"]
