"""A5 by class sizes: models side by side, their edges, their notes."""

from __future__ import annotations

import math
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import as_cells, population_uniques
from sdckit.errors import DataError

TOWNS = pl.DataFrame({"town": [1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7, None], "w": [10.0] * 13})
MODELS = ("zayatz", "pitman", "snb", "snb3", "dankar")


def test_figures():
    result = population_uniques(TOWNS, keys=["town"], weight="w")
    assert (result.n, result.sample_uniques, result.population) == (13, 4, 130.0)
    assert set(result.status) == set(result.shares) == set(MODELS)
    assert result.shares["zayatz"] == pytest.approx(result.zayatz / 130)
    assert result.dankar == getattr(result, result.status["dankar"])
    assert "factor of 2 to 6" in result.notes["estimates"]
    figures = result.to_dict()["figures"]
    assert figures["parameters"].keys() <= set(MODELS)
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()
    cells = as_cells(TOWNS, keys=["town"], weight="w")
    plan = population_uniques(TOWNS.lazy(), keys=["town"], weight="w")
    assert population_uniques(cells).to_dict() == plan.to_dict() == result.to_dict()


def test_records_are_refused():
    with pytest.raises(DataError, match="population_risk gives figures per record"):
        population_uniques(TOWNS, keys=["town"], weight="w").records  # noqa: B018


def test_no_solution_is_not_a_number_with_its_reason():
    with quiet():
        result = population_uniques(TOWNS[[0, 3, 5]], keys=["town"], sampling_fraction=0.1)
    assert result.zayatz == pytest.approx(30)
    for name, status in (("pitman", "all_unique"), ("snb", "no_pairs"), ("snb3", "no_pairs")):
        assert math.isnan(getattr(result, name))
        assert result.status[name] == status
        assert result.notes[name]
    assert result.status["dankar"] == "zayatz"
    assert result.to_dict()["figures"]["pitman"] is None


def test_no_uniques_one_record_and_a_census():
    with quiet():
        none = population_uniques(pl.concat([TOWNS, TOWNS]), keys=["town"], sampling_fraction=0.1)
        one = population_uniques(TOWNS[:1], keys=["town"], sampling_fraction=0.1)
        census = population_uniques(TOWNS, keys=["town"], sampling_fraction=1.0)
    assert [getattr(none, name) for name in MODELS] == [0.0] * 5
    assert one.zayatz == pytest.approx(10)
    assert [getattr(census, name) for name in MODELS] == [4.0] * 5
    assert census.notes == {}


def test_the_population_must_be_known():
    with pytest.raises(DataError, match="say how large the population is"):
        population_uniques(TOWNS, keys=["town"])
    with pytest.raises(DataError, match="weights must count persons"):
        population_uniques(TOWNS.with_columns(w=pl.lit(0.5)), keys=["town"], weight="w")


@given(files(), st.sampled_from([0.05, 0.3, 1 / 3, 1.0]))
def test_estimates_are_numbers_of_people(file, fraction):
    with quiet():
        result = population_uniques(file.frame(), keys=file.keys, sampling_fraction=fraction)
    rows = file.rows
    uniques = sum(rows.count(row) == 1 for row in rows)
    assert result.sample_uniques == uniques
    for name in ("zayatz", "snb", "snb3"):
        found = getattr(result, name)
        assert math.isnan(found) or -1e-6 <= found <= uniques / fraction * (1 + 1e-6)
    if uniques and not math.isnan(result.pitman):
        assert 0 <= result.pitman <= result.population * (1 + 1e-9)


def test_the_model_closest_to_the_groups_is_named_where_the_file_is_large_enough():
    rng = np.random.default_rng(5)
    population = np.repeat(np.arange(6000), 1 + rng.negative_binomial(0.5, 0.1, 6000))
    people = pl.DataFrame({"key": population})
    named = {}
    for fraction in (0.05, 0.3):
        sample = people.sample(fraction=fraction, seed=1)
        with quiet():
            found = population_uniques(sample, keys=["key"], sampling_fraction=fraction)
        assert found.dissimilarity["snb3"] < 0.03 < found.dissimilarity["zayatz"]
        named[fraction] = found.recommended
    assert named[0.05] == ""
    assert named[0.3].startswith("snb")
    assert found.to_dict()["figures"]["recommended"] == named[0.3]
    true = (people["key"].value_counts()["count"] == 1).sum()
    assert getattr(found, named[0.3]) == pytest.approx(true, rel=0.1)
