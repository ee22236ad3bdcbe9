"""Options are brought together before any distance is computed."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import Scenario
from sdckit.errors import DataError
from sdckit.identity.matching.linkage_options import encoders, linked_variables, options

FILE = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": [3, 4]})


def chosen(**given):
    return options(**{"method": "nearest", "distance": "gower", "n_best": 1, "weights": None, **given})


def found(options=None, **given):
    given = {"variables": None, "numeric": None, "scenario": None, "id": None, **given}
    return linked_variables(FILE, FILE, chosen=options or chosen(), **given)[1:]


def test_which_variables_are_numbers():
    assert found(variables=["a", "b", "c"]) == (("a", "c"), ("a", "b", "c"))
    assert found(variables=["a", "b", "c"], numeric=["a"]) == (("a",), ("a", "b", "c"))
    scenario = Scenario(keys=["b", "c"], numeric=["a"])
    assert found(scenario=scenario) == (("a",), ("b", "c", "a"))
    assert found(scenario=scenario, variables=["c"]) == ((), ("c",))
    ranks = chosen(method="rank")
    assert found(ranks, scenario=scenario, variables=["c"]) == (("c",), ("c",))


def test_weights_follow_their_variables():
    given = chosen(weights={"b": 2.0})
    pair, numbers, names = linked_variables(
        FILE, FILE, variables=["b", "a"], numeric=["a"], chosen=given, scenario=None, id=None
    )
    known, masked = encoders(pair, names, numbers, given)(0)
    assert known.metric.caps.tolist() == pytest.approx([1 / 3])
    assert masked.metric.weights.tolist() == pytest.approx([2 / 3])


@pytest.mark.parametrize("n_best", [True, 1.5, "1", -1])
def test_n_best_is_a_count(n_best):
    with pytest.raises(DataError, match="n_best counts candidates"):
        chosen(n_best=n_best)


@pytest.mark.parametrize("weights", ["ab", [1.0, True], [1.0, "2"], [float("inf"), 1.0]])
def test_weights_are_numbers(weights):
    with pytest.raises(DataError, match="weights"):
        found(chosen(weights=weights), variables=["a", "b"])
