"""A public census file: the proposed recipe beside random ones that keep the same limits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from needs import needs_reference
from sdckit.workflow.proposing.find_best import at_aim
from sdckit.workflow.proposing.trials import Trials, open_lattice

KEYS = ["Region", "Sex", "Age", "Marital Status", "Ethnic Group", "Occupation"]
SCENARIO = sdc.Scenario(
    intruders={"neighbour": KEYS[:5], "colleague": [*KEYS[:3], "Ethnic Group", "Occupation"]}, ordered=["Age"],
    sensitive=["Health"], thresholds={"k": 5, "l": 2},
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_no_random_recipe_loses_less() -> None:
    file = needs_reference() / "public" / "census2011.csv.gz"
    data = pl.read_csv(file, columns=[*KEYS, "Health"], n_rows=3_000)
    found = sdc.propose(data, scenario=SCENARIO, alternatives=0)
    assert found.passed
    lattice = open_lattice(data, SCENARIO, keep=(), prefer={}, weights={}, internal=False)
    assert found.nodes == lattice.size
    trials = at_aim(Trials(data, SCENARIO, lattice, 1.0, None), 1)
    rng, losses = np.random.default_rng(3), []
    while len(losses) < 3:
        node = tuple(int(rng.integers(size)) for size in lattice.shape)
        if trials.enough(node) and np.isfinite(loss := trials.real(node)) and trials.kept(node):
            losses.append(loss)
    assert found.loss <= min(losses)
    assert found.bound <= found.loss
