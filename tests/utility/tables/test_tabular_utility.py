"""Every table of one, two and three variables against counting records, the worst first, and what is refused."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from releases import original, release, scenario
from sdckit import Scenario, tabular_utility
from sdckit.errors import ColumnError, DataError
from sdckit.utility.tables import tabular_utility as module
from sdckit.utility.tables.table_counts import table_statistics

SURVEY = pl.DataFrame({"sex": list("ffmm") * 3, "town": [*"aabbccaabb", None, None], "ill": list("yynnyn") * 2})
RELEASE = pl.DataFrame({"sex": list("fmmm") * 2, "town": [*"abccaabb"], "ill": list("yynn") * 2})
OTHER = SURVEY.with_columns(ill=SURVEY["ill"].reverse())


def by_counting(files, names, *, complete=False):
    rows = [[row for row in f.select(names).rows() if not complete or None not in row] for f in files]
    counts = [Counter(one) for one in rows]
    cells = list(set().union(*counts))
    return table_statistics(*(np.array([one[cell] for cell in cells]) for one in counts))


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("complete", [False, True])
def test_all_tables(ways, complete):
    result = tabular_utility(SURVEY, [RELEASE, OTHER], ways=ways, drop_missing=complete)
    assert result.tables == tuple(itertools.combinations(("sex", "town", "ill"), ways))
    assert result.n_tables == len(result.tables)
    for j, other in enumerate([RELEASE, OTHER]):
        for at, names in enumerate(result.tables):
            expected = by_counting([SURVEY, other], list(names), complete=complete)
            for name, value in expected.items():
                found = result.statistics[name][j, at]
                assert found == pytest.approx(value, rel=1e-12, abs=1e-15, nan_ok=True), (names, name)


def test_figures_are_means_and_maxima():
    result = tabular_utility(SURVEY, [RELEASE, OTHER])
    specks = result.statistics["specks"]
    assert [one["mean_specks"] for one in result.per_release] == pytest.approx(specks.mean(axis=1))
    assert result.mean_specks == pytest.approx(specks.mean())
    assert result.largest_specks == pytest.approx(specks.max(axis=1).mean())
    assert result.table["specks"].to_list() == pytest.approx(specks.mean(axis=0))
    assert result.of_release(2)["specks"].to_list() == specks[1].tolist()
    assert result.missing_rule == "a missing value is a level of its own"
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


def test_the_worst_first():
    result = tabular_utility(original(), release())
    worst = result.worst(2)
    assert worst["s_pmse"].to_list() == sorted(result.table["s_pmse"].to_list(), reverse=True)[:2]
    assert worst.columns[:2] == ["variable_1", "variable_2"]
    far = tabular_utility(original(), release(), ways=1).worst(1, statistic="dbhatt")
    assert far["dbhatt"].to_list() == [max(tabular_utility(original(), release(), ways=1).table["dbhatt"])]


def test_undefined_tables_are_not_the_worst():
    files = [frame.with_columns(one=pl.lit("x")) for frame in (SURVEY, RELEASE)]
    result = tabular_utility(*files, ways=1)
    assert result.worst().height == 3
    assert math.isnan(result.statistics["s_pmse"][0, -1])
    assert result.notes["constant"] == "a single level in all files: one"
    assert result.notes["standardised"].startswith("1 tables have one cell only")
    alone = tabular_utility(*files, variables=["one"], ways=1)
    assert math.isnan(alone.mean_s_pmse)
    assert alone.notes["mean_s_pmse"].startswith("undefined in every table")
    assert alone.mean_specks == 0.0


def test_matrix():
    pairs = tabular_utility(SURVEY, RELEASE)
    found = pairs.matrix(statistic="specks")
    assert np.isnan(np.diag(found)).all()
    assert found[0, 1] == found[1, 0] == pairs.statistics["specks"][0, 0]
    three = tabular_utility(original(), release(), ways=3, variables=["sex", "age", "region", "ill"])
    with_both = [i for i, names in enumerate(three.tables) if {"sex", "ill"} <= set(names)]
    assert three.matrix()[0, 3] == three.means["s_pmse"][with_both].max()
    with pytest.raises(DataError, match="have no pairs"):
        tabular_utility(SURVEY, RELEASE, ways=1).matrix()
    with pytest.raises(DataError, match="no statistic 'chi'; there are n_cells"):
        pairs.matrix(statistic="chi")
    with pytest.raises(DataError, match="release counts from 1 to 1"):
        pairs.of_release(2)


def test_numbers_in_classes():
    numbers = pl.DataFrame({"x": np.arange(40.0)})
    shifted = numbers + 8
    result = tabular_utility(numbers, shifted, ways=1, bins=4)
    # quartiles of both files pooled: 11.75, 23.5, 35.25
    assert result.statistics["specks"][0, 0] == pytest.approx(8 / 40)
    whole = tabular_utility(numbers, shifted, ways=1, numeric=[])
    assert whole.statistics["n_cells"].tolist() == [[48.0]]


def test_equal_files():
    result = tabular_utility(SURVEY, SURVEY, ways=3)
    assert result.largest_s_pmse == result.largest_dbhatt == 0.0
    assert "original's value in every row" in result.notes["released"]


def test_no_complete_record():
    gone = RELEASE.with_columns(town=pl.lit(None, pl.String))
    result = tabular_utility(SURVEY, gone, drop_missing=True)
    assert result.notes["tables"] == "2 tables have no complete record in one of the files: undefined"
    assert not math.isnan(result.mean_specks)
    assert "left out of the tables" in result.missing_rule
    level = tabular_utility(SURVEY, gone, ways=1, variables=["town"])
    assert level.largest_specks == pytest.approx(10 / 12)
    assert level.notes["levels"] == "no value in common between the original and any release: town"
    apart = tabular_utility(SURVEY, RELEASE.with_columns(town=pl.lit("z")), ways=1)
    assert apart.notes["g"] == "1 tables have no cell in common: g is undefined there"


def test_a_scenario_leaves_out_what_is_no_variable():
    found = tabular_utility(original(), release(), ways=1, scenario=scenario(weight="w"), id="pid")
    assert found.variables == ("sex", "age", "region", "income", "ill")
    assert found.statistics["n_cells"][0, 3] == 5  # income, which the scenario declares
    bare = Scenario(keys=["sex"])
    assert "w" in tabular_utility(original(), release(), ways=1, scenario=bare).variables


@pytest.mark.parametrize("engine", [pl.DataFrame, pd.DataFrame, pa.table, pl.LazyFrame])
def test_engines(engine):
    files = [engine(frame.to_dict(as_series=False)) for frame in (SURVEY, RELEASE)]
    result = tabular_utility(*files)
    assert result.per_release == tabular_utility(SURVEY, RELEASE).per_release
    assert len(result.table) == 3


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"ways": 4}, DataError, "ways is .* from 1 to 3"),
        ({"ways": True}, DataError, "ways is .* from 1 to 3"),
        ({"ways": [2]}, DataError, "ways is .* from 1 to 3"),
        ({"variables": ["sex"]}, ColumnError, "a table of 2 needs as many variables; the files have sex in"),
        ({"variables": ["sex", "twon"]}, ColumnError, "no column 'twon'"),
        ({"variables": "sex"}, ColumnError, "must be a list"),
        ({"numeric": ["age"]}, ColumnError, "'age' is not among the variables"),
        ({"bins": 1}, DataError, "bins is a number of classes"),
        ({"released": RELEASE.rename({"sex": "a", "town": "b", "ill": "c"})}, ColumnError, "in common"),
        ({"released": RELEASE.with_columns(sex=pl.lit(1))}, ColumnError, "'sex' holds text in the original"),
        ({"released": RELEASE.head(0)}, DataError, "the release: the data has no records"),
        ({"released": []}, DataError, "empty list"),
    ],
)
def test_what_cannot_be(given, error, words):
    with pytest.raises(error, match=words):
        tabular_utility(SURVEY, **{"released": RELEASE, **given})


def test_too_many_tables(monkeypatch):
    monkeypatch.setattr(module, "TABLES", 2)
    with pytest.raises(DataError, match="3 variables have 3 tables of 2, more than 2"):
        tabular_utility(SURVEY, RELEASE)
