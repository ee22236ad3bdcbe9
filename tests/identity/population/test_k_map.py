"""k-map with a population and without one."""

from __future__ import annotations

import math
import pickle

import polars as pl
import pytest
from hypothesis import given

from draw import files, quiet
from sdckit import Scenario, as_cells, k_map
from sdckit.errors import ColumnError, DataError, ScenarioError

PEOPLE = pl.DataFrame({"age": [30, 30, 40, 40, 40, 50, None], "sex": list("ffmmmff")})
KEYS = ["age", "sex"]


@given(files())
def test_against_records_one_by_one(file):
    if any(all(row[j] is None for row in file.rows[::2]) for j in range(len(file.keys))):
        return  # a key needs a value in the part, too
    frame = file.frame()
    part = frame[::2]
    rows = file.rows
    with quiet():
        result = k_map(part, frame, keys=file.keys, k=(2, 4))
        records = result.records["population_frequency"].to_list()
    expected = [rows.count(row) for row in rows[::2]]
    assert records == expected
    assert result.level == min(expected)
    assert result.violations == {k: sum(one < k for one in expected) for k in (2, 4)}
    assert result.violation_rates == {k: count / len(part) for k, count in result.violations.items()}
    assert result.notes == {}


def test_cells_plans_and_identifiers():
    part = PEOPLE[[0, 2, 5]].with_columns(id=pl.Series(["x", "y", "z"]))
    with quiet():
        result = k_map(part, PEOPLE.lazy(), keys=KEYS, id="id", prefix="p_", k=3)
        assert result.records.columns == ["id", "p_population_frequency"]
        again = k_map(as_cells(part, keys=KEYS), as_cells(PEOPLE, keys=KEYS), k=3)
        plan = k_map(part.lazy(), PEOPLE, keys=KEYS, k=3)
    assert result.to_dict() == again.to_dict() == plan.to_dict()
    assert result.to_dict()["figures"] == {
        "n": 3, "level": 1, "violations": {"3": 2}, "violation_rates": {"3": 2 / 3}
    }  # fmt: skip
    with pytest.raises(DataError, match="collect it first for figures per record"):
        plan.records  # noqa: B018
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    with pytest.raises(DataError, match="let go of the data"):
        again.records  # noqa: B018


def test_without_a_population():
    """F of a unique cell is 1 + Poisson((1 - pi) mu / pi)."""
    frame = pl.DataFrame({"a": [1, 1, 1, 2], "b": [1, 1, 2, 2]})
    result = k_map(frame, keys=["a", "b"], sampling_fraction=0.25, k=(2, 3))
    x = 3 * 4 * (3 / 4) * (2 / 4)
    first = result.records
    assert first["p_below_2"].to_list()[2] == pytest.approx(math.exp(-x))
    assert first["p_below_3"].to_list()[2] == pytest.approx(math.exp(-x) * (1 + x))
    assert first["p_below_3"].to_list()[0] == pytest.approx(math.exp(-x))
    assert first["p_below_2"].to_list()[0] == 0
    assert result.violations[2] == pytest.approx(sum(first["p_below_2"]))
    assert math.isnan(result.level)
    assert "no population file" in result.notes["level"]
    census = k_map(frame, keys=["a", "b"], sampling_fraction=1.0, k=2)
    assert census.violations == {2: 2.0}


@pytest.mark.parametrize("k", [1, 0, True, 2.5, (2, 1), ("3",)])
def test_k_that_is_none(k):
    with pytest.raises(DataError, match="k counts people of the population"):
        k_map(PEOPLE, PEOPLE, keys=KEYS, k=k)


def test_bad_input():
    with quiet():
        with pytest.raises(DataError, match="in 1 cell the population has fewer records than the data"):
            k_map(PEOPLE, PEOPLE[1:], keys=KEYS)
        with pytest.raises(DataError, match="a part of the population"):
            k_map(PEOPLE.with_columns(age=pl.lit(7)), PEOPLE, keys=KEYS)
        with pytest.raises(ColumnError, match="population: keys: no column 'sex'"):
            k_map(PEOPLE, PEOPLE.drop("sex"), keys=KEYS)
        with pytest.raises(DataError, match="population: the data has no records"):
            k_map(PEOPLE, PEOPLE[:0], keys=KEYS)
        with pytest.raises(ColumnError, match="column 'age' holds numbers in one file and text in the other"):
            k_map(PEOPLE, PEOPLE.cast(pl.String), keys=KEYS)
        with pytest.raises(ColumnError, match="other keys, or in another order"):
            k_map(PEOPLE, as_cells(PEOPLE, keys=KEYS[::-1]), keys=KEYS)
        with pytest.raises(DataError, match="say how large the population is"):
            k_map(PEOPLE, keys=KEYS)
        with pytest.raises(ScenarioError, match="which variables"):
            k_map(PEOPLE, PEOPLE)
        with pytest.raises(DataError, match="one row per person"):
            k_map(PEOPLE, PEOPLE, scenario=Scenario(keys=["age"], person="sex"))
