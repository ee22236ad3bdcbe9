"""One step, run: its seed, its risk, its errors."""

from __future__ import annotations

import pytest

import sdckit as sdc
from recipes import scenario, survey
from sdckit.errors import DataError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recipes.recipe_running import run_step, seed_of


def test_seeds_differ_by_step_and_by_recipe() -> None:
    seeds = {seed_of(entropy, number) for entropy in range(20) for number in range(1, 20)}
    assert len(seeds) == 20 * 19
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_the_risk_is_measured_where_it_is_asked_for() -> None:
    step = StepLike("suppress_above", {"risk": "individual_risk", "threshold": 0.02, "columns": ["job"]})
    data, change = run_step(1, step, survey(), scenario=scenario(), folder=None, entropy=1)
    risk = sdc.individual_risk(survey(), scenario=scenario()).records["risk"]
    assert change.changed == {"job": int((risk > 0.02).sum())}
    assert data["job"].null_count() == change.changed["job"] > 0


def test_an_error_names_the_step() -> None:
    step = StepLike("microaggregate", {"columns": ["income"], "k": 1})
    with pytest.raises(DataError, match=r"^step 7 \(microaggregate\): "):
        run_step(7, step, survey(), scenario=None, folder=None, entropy=1)


def test_an_argument_is_called_as_in_the_recipe() -> None:
    step = StepLike("microaggregate", {"columns": ["income"], "how": "mdvv"})
    with pytest.raises(
        DataError, match=r"^step 1 \(microaggregate\): how 'mdvv' is unknown; did you mean 'mdav'"
    ) as caught:
        run_step(1, step, survey(), scenario=None, folder=None, entropy=1)
    assert caught.value.argument == "method"
