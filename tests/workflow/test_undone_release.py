"""The trial of a household survey: a release that gives itself back fails the gate, one that does not passes."""

from __future__ import annotations

import polars as pl
import pytest

from attacks.recovery.made import survey
from recipes import SECRET
from sdckit import Recipe, Scenario, check
from sdckit.errors import SdcWarning

KEYS = ["region", "size", "age", "sex", "tenure"]
SURVEY = survey(2500, seed=21).with_columns(
    weight=pl.col("weight").first().over("home"), tenure=pl.col("wage").first().over("home") % 3
)
SCENARIO = Scenario(keys=KEYS, weight="weight", household="home", sensitive=["edu"], thresholds={"k": 3})
BANDS = {"method": "recode", "column": "age", "bands": [0, 20, 40, 60, 80, None]}
TOP = {"method": "top_bottom_code", "column": "size", "top": 5}
NO_YEAR = {"method": "drop_identifiers", "columns": ["born"]}
OLD = [NO_YEAR, BANDS, TOP, {"method": "local_suppression", "k": 3, "household_variables": []}]
ADVISED = [
    NO_YEAR,
    BANDS,
    TOP,
    {"method": "coarsen_weights", "weight": "weight", "hide": ["region"], "household": "home", "k": 60},
    {"method": "local_suppression", "k": 3, "together": [["size", "home"]]},
    {"method": "limit_households", "household": "home", "largest": 5},
    {"method": "random_order", "household": "home"},
]


def undo(released: pl.DataFrame) -> pl.DataFrame:
    """What a script of a few lines puts back, with nothing but the release in its hands."""
    for clue in ("weight", "home"):
        known = pl.col("region").drop_nulls()
        told = pl.when(known.n_unique() == 1).then(known.first()).over(clue)
        released = released.with_columns(region=pl.col("region").fill_null(told))
    counted = pl.len().over("home")
    gone = pl.col("size").is_null() | (pl.col("size") == 5)
    return released.with_columns(size=pl.when(gone & pl.col("home").is_not_null()).then(counted).otherwise("size"))


def right(made: pl.DataFrame, truth: pl.DataFrame, released: pl.DataFrame, column: str) -> tuple[int, int]:
    """Changed values of a column, and those of them that are as they were."""
    changed = released[column].is_null() | (released[column] != truth[column])
    return int(changed.sum()), int((made[column] == truth[column]).filter(changed).sum())


@pytest.fixture(scope="module")
def old():
    with pytest.warns(SdcWarning, match="tell what is taken out"):
        return Recipe(OLD).apply(SURVEY, scenario=SCENARIO, seed=5, secret=SECRET)


@pytest.fixture(scope="module")
def advised():
    return Recipe(ADVISED).apply(SURVEY, scenario=SCENARIO, seed=5, secret=SECRET)


def test_the_old_recipe_is_undone_by_a_script_and_fails_the_gate(old):
    undone = undo(old.data)
    for column in ("region", "size"):
        touched, back = right(undone, SURVEY, old.data, column)
        assert back == touched > 0
    with pytest.warns(SdcWarning):
        result = check(SURVEY, old.data, scenario=SCENARIO, log=old.log, seed=1)
    verdicts = {one.name: one for one in result.verdicts}
    assert verdicts["k"].holds
    assert verdicts["k_undone"].holds is False
    for clue in ("weight", "the rows of a household counted (home)"):
        assert clue in verdicts["k_undone"].sentence
    assert not result.passed


def test_a_recipe_that_follows_the_advice_passes_and_a_script_finds_no_more_than_a_guess(advised):
    with pytest.warns(SdcWarning):
        result = check(SURVEY, advised.data, scenario=SCENARIO, log=advised.log, seed=1)
    assert result.passed, [one.sentence for one in result.verdicts]
    found = result.assessment["default"]["recoverable_values"]
    assert found.right == 0
    truth = SURVEY[advised.log.rows(SURVEY)]
    undone = undo(advised.data)
    for column in ("region", "size"):
        touched, back = right(undone, truth, advised.data, column)
        counts = advised.data[column].drop_nulls().value_counts()
        usual = counts["count"].max() / counts["count"].sum()
        assert touched > 0
        assert back <= usual * touched
