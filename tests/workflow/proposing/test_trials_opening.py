"""From a file to the lattice: what is aimed at, what is refused, what is left out where there is too much."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from proposals import survey, trials
from sdckit.errors import ColumnError
from sdckit.workflow.proposing.trials import Limits, limits_of, open_lattice, thinned

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


@pytest.mark.parametrize(
    ("thresholds", "aim", "limits"),
    [
        ({"k": 3}, 1, Limits(3)),
        ({"k": 3}, 2, Limits(6)),
        ({"risk": 0.2}, 1, Limits(5, None, 0.2)),
        ({"l": 2}, 1, Limits(None, 2)),
        ({"l": 2}, 2, Limits(4, 2)),
    ],
)
def test_what_is_aimed_at(thresholds: dict[str, float], aim: int, limits: Limits) -> None:
    scenario = sdc.Scenario(keys=["age"], sensitive=["ill"], thresholds=thresholds)
    assert limits_of(scenario, aim) == limits


def test_each_intruder_sees_their_own_cells() -> None:
    one = trials("two")
    data = survey()
    for side, keys in zip(one.lattice.sides, one.scenario.intruders.values(), strict=True):
        assert len(side.size) == len(data.select(keys).unique())
        assert int(side.size.sum()) == len(data)


def test_weights_are_those_of_the_records_in_each_cell() -> None:
    data = survey().with_columns(w=pl.int_range(700) % 7 + 1.0)
    one = trials("two", data, weight="w")
    for side, keys in zip(one.lattice.sides, one.scenario.intruders.values(), strict=True):
        assert side.weight is not None
        assert sorted(side.weight.tolist()) == sorted(data.group_by(keys).agg(pl.col("w").sum())["w"].to_list())
    assert all(side.weight is None for side in trials("two").lattice.sides)


def test_what_stays_has_one_rung() -> None:
    scenario = sdc.Scenario(keys=["age", "sex"], thresholds={"k": 3})
    lattice = open_lattice(survey(), scenario, keep=["age"], prefer={}, weights={"sex": 0.5}, internal=False)
    assert lattice.shape == (1, 2)
    assert lattice.weights == (1.0, 0.5)


def test_a_large_lattice_is_thinned() -> None:
    lattice = trials("two").lattice
    found = thinned(lattice, 20)
    assert found.size <= 20 < lattice.size
    for before, after in zip(lattice.ladders, found.ladders, strict=True):
        assert [after.rungs[0], after.rungs[-1]] == [before.rungs[0], before.rungs[-1]]
    with pytest.raises(ColumnError, match="too many for a search"):
        thinned(lattice, 3)


def test_every_second_inner_rung_is_dropped() -> None:
    scenario = sdc.Scenario(keys=["age"], thresholds={"k": 3})
    lattice = open_lattice(survey(), scenario, keep=(), prefer={}, weights={}, internal=False)
    (ladder,) = lattice.ladders
    assert len(ladder.rungs) >= 5
    (thin,) = thinned(lattice, len(ladder.rungs) - 1).ladders
    assert thin.rungs == (ladder.rungs[0], *ladder.rungs[2:-1:2], ladder.rungs[-1])


def test_many_keys_fit() -> None:
    data = survey().with_columns(**{f"k{i}": pl.int_range(700) * 7919 % (i + 2) for i in range(12)})
    scenario = sdc.Scenario(keys=[f"k{i}" for i in range(12)], thresholds={"k": 3})
    lattice = open_lattice(data, scenario, keep=(), prefer={}, weights={}, internal=False)
    assert lattice.sides[0].size.sum() == 700
