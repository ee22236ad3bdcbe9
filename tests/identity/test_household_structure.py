"""The figures and records of A8; that they are right is shown in laws/."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest

from sdckit import Scenario, as_cells, household_structure, household_variables
from sdckit.errors import ColumnError, ScenarioError, SdcWarning
from sdckit.identity import household_structure as module
from sdckit.identity.household_structure import NOTE, compositions
from sdckit.result import LetGo

FRAME = pl.DataFrame(
    {
        "hh": [1, 1, 2, 2, 3, 4, 4, 4],
        "sex": ["f", "m", "m", "f", "f", "f", "f", None],
        "w": [3.0, 5.0, 2.0, 2.0, 7.0, 1.0, 1.0, 4.0],
    }
)


def test_figures_and_records():
    result = household_structure(FRAME, household="hh", keys=["sex"], weight="w")
    assert (result.n_households, result.sizes) == (4, {1: 1, 2: 2, 3: 1})
    assert (result.unique_sizes, result.rare_sizes, result.unique_compositions) == (2, 3, 2)
    assert result.notes == {"household": NOTE}
    records = result.records.to_dict(as_series=False)
    assert records["household_size"] == [2, 2, 2, 2, 1, 3, 3, 3]
    assert records["size_frequency"] == [2, 2, 2, 2, 1, 1, 1, 1]
    assert records["composition_frequency"] == [2, 2, 2, 2, 1, 1, 1, 1]
    assert records["size_population_frequency"] == [6, 6, 6, 6, 7, 2, 2, 2]
    assert records["composition_population_frequency"] == records["size_population_frequency"]


def test_without_weights_there_is_no_population():
    records = household_structure(FRAME, household="hh", keys=["sex"]).records
    assert records.columns == ["household_size", "size_frequency", "composition_frequency"]


def test_the_order_of_members_and_households_does_not_matter():
    result = household_structure(FRAME, household="hh", keys=["sex"])
    order = np.random.default_rng(0).permutation(8)
    again = household_structure(FRAME[order], household="hh", keys=["sex"])
    assert again.records.equals(result.records[order])


def test_the_household_of_the_scenario_and_of_cells():
    scenario = Scenario(keys=["sex"], household="hh", missing="wildcard")
    direct = household_structure(FRAME, household="hh", keys=["sex"])
    assert household_structure(FRAME, scenario=scenario).records.equals(direct.records)
    assert household_structure(as_cells(FRAME, scenario=scenario)).records.equals(direct.records)
    with pytest.raises(ScenarioError, match="say which column tells households apart: household="):
        household_structure(FRAME, keys=["sex"])
    with pytest.raises(ColumnError, match="household: no column 'hhh'"):
        household_structure(FRAME, keys=["sex"], household="hhh")


def test_a_record_without_household_is_alone():
    frame = FRAME.with_columns(hh=pl.Series([1, 1, 2, 2, None, None, None, None]))
    with pytest.warns(SdcWarning, match="4 records have no household id"):
        result = household_structure(frame, household="hh", keys=["sex"], prefix="h_")
    assert result.sizes == {1: 4, 2: 2}
    assert result.records["h_composition_frequency"].to_list() == [2, 2, 2, 2, 3, 3, 3, 1]


def test_compositions_of_large_and_small_households():
    # 300 identical members beside 299: the same start, another composition
    household = np.repeat([0, 1, 2, 3], [300, 299, 300, 1]).astype(np.int32)
    size, kind = compositions(household, np.zeros(900, np.int32), 4)
    assert size.tolist() == [300, 299, 300, 1]
    assert kind[0] == kind[2]
    assert len(set(kind.tolist())) == 3


def by_counting(household, pattern, n):
    """Numbers that households of the same members share."""
    members = [[] for _ in range(n)]
    for home, one in zip(household.tolist(), pattern.tolist(), strict=True):
        members[home].append(one)
    number = {}
    return [number.setdefault(tuple(sorted(one)), len(number)) for one in members]


@pytest.mark.parametrize("collide", [False, True])
def test_compositions_of_many_households(monkeypatch, collide):
    if collide:  # as if every hash were the same: kinds are then told member by member
        monkeypatch.setattr(module, "_hash_members", lambda first, size, member, out: out.fill(7))
    rng = np.random.default_rng(5)
    household = rng.permutation(np.concatenate([np.arange(9000), rng.integers(0, 9000, 15_000), np.full(300, 7)]))
    pattern = rng.integers(0, 4, len(household)).astype(np.int32)
    size, kind = compositions(household.astype(np.int32), pattern, 9000)
    assert size.tolist() == np.bincount(household).tolist()
    expected = by_counting(household, pattern, 9000)
    assert len(set(zip(kind.tolist(), expected, strict=True))) == len(set(expected)) == len(set(kind.tolist()))


def test_a_pickled_result_lets_go_of_the_households():
    result = household_structure(FRAME, household="hh", keys=["sex"])
    again = pickle.loads(pickle.dumps(result))
    assert all(isinstance(gone, LetGo) for gone in (again.cells, again.size, again.composition))
    assert again.to_dict() == result.to_dict()


def test_keys_that_never_differ_within_a_household():
    frame = FRAME.with_columns(
        region=pl.Series([*"nnssnss", None]), alone=pl.Series([1, None, 2, None, 3, 4, None, None])
    )
    keys = ["sex", "region", "alone"]
    result = household_structure(frame, household="hh", keys=keys)
    assert result.household_variables == household_variables(frame, household="hh", among=keys) == ("region",)
    assert result.shared == {"region": 3}
    assert pickle.loads(pickle.dumps(result)).to_dict()["figures"]["household_variables"] == ["region"]
