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
    result = tabular_utility(original(), release(), id="pid")
    worst = result.worst(2)
    assert worst["s_pmse"].to_list() == sorted(result.table["s_pmse"].to_list(), reverse=True)[:2]
    assert worst.columns[:2] == ["variable_1", "variable_2"]
    far = tabular_utility(original(), release(), ways=1, id="pid").worst(1, statistic="dbhatt")
    assert far["dbhatt"].to_list() == [max(tabular_utility(original(), release(), ways=1, id="pid").table["dbhatt"])]


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
    assert "w" in tabular_utility(original(), release(), ways=1, scenario=bare, id="pid").variables


def by_hand(original, released, names, by=()):
    """1,000 less the distances of all pairs with the group beside, and each group's own, by counting records."""
    scores, of_group = [], {}
    for pair in itertools.combinations(names, 2):
        rows = [frame.select(*by, *pair).rows() for frame in (original, released)]
        shares = [Counter({cell: n / len(file) for cell, n in Counter(file).items()}) for file in rows]
        cells = set(shares[0]) | set(shares[1])
        scores.append(1000 * (1 - sum(abs(shares[0][cell] - shares[1][cell]) for cell in cells) / 2))
        for group in {cell[: len(by)] for cell in shares[0]}:
            own = [cell for cell in cells if cell[: len(by)] == group]
            share = sum(shares[0][cell] for cell in own)
            apart = min(share, sum(abs(shares[0][cell] - shares[1][cell]) for cell in own))
            of_group.setdefault(group, []).append(1000 * (1 - apart / share))
    return np.mean(scores), {group: np.mean(each) for group, each in of_group.items()}


def test_the_score_and_that_of_groups():
    names = ["sex", "town", "ill"]
    files = [frame.with_columns(part=pl.Series(list("xyz") * 4)[: frame.height]) for frame in (SURVEY, RELEASE)]
    alone = tabular_utility(*files, variables=names)
    assert alone.k_marginal == pytest.approx(by_hand(*files, names)[0], rel=1e-12)
    assert alone.k_marginal == pytest.approx(1000 * (1 - alone.mean_specks), rel=1e-12)
    assert alone.groups == ()
    with pytest.raises(DataError, match="no groups were asked for"):
        _ = alone.by_group
    gone = files[1].filter(pl.col("part") != "z")  # a group that the release lacks is as far as can be
    for released in (files[1], gone):
        found = tabular_utility(files[0], released, variables=[*names, "part"], by="part")
        score, groups = by_hand(files[0], released, names, ["part"])
        assert found.variables == ("sex", "town", "ill")
        assert found.k_marginal == pytest.approx(score, rel=1e-12)
        assert {group.labels: group.k_marginal for group in found.groups} == pytest.approx(groups, abs=1e-9)
        assert found.by_group["k_marginal"].to_list() == pytest.approx(sorted(groups.values()), abs=1e-9)
        assert (
            found.statistics["specks"].tolist()
            == tabular_utility(files[0], released, variables=names).statistics["specks"].tolist()
        )
    assert found.by_group.row(0, named=True) == {"part": "z", "n": 4, "n_released": 0.0, "k_marginal": 0.0}
    with pytest.raises(DataError, match="pickled"):
        _ = pickle.loads(pickle.dumps(found)).by_group
    with pytest.raises(ColumnError, match="'n' is the name of a result column"):
        tabular_utility(*(frame.rename({"part": "n"}) for frame in files), by=["n"])
    with pytest.raises(ColumnError, match="no column 'prat'"):
        tabular_utility(*files, by=["prat"])


def test_a_missing_group_is_one():
    files = [frame.with_columns(part=pl.Series(["x", None] * 6)[: frame.height]) for frame in (SURVEY, RELEASE)]
    for drop_missing in (False, True):
        found = tabular_utility(*files, by="part", drop_missing=drop_missing)
        assert {group.labels for group in found.groups} == {("x",), ("(missing)",)}
    assert math.isnan(found.sample_equivalent)
    assert math.isnan(found.redraw_equivalent)
    assert "undefined" in found.notes["sample_equivalent"]


def test_copies_and_strangers():
    copy = tabular_utility(SURVEY, SURVEY)
    assert (copy.k_marginal, copy.sample_equivalent) == (1000.0, 1.0)
    apart = tabular_utility(SURVEY, SURVEY.select(pl.all() + "?"))
    assert (apart.k_marginal, apart.sample_equivalent) == (0.0, 1.0 / 12)  # no sample is as bad; one record is next
    several = tabular_utility(SURVEY, [SURVEY, SURVEY.select(pl.all() + "?")])
    assert several.k_marginal == 500.0
    assert several.sample_equivalent == pytest.approx((1 + 1 / 12) / 2)


@pytest.mark.parametrize("engine", [pl.DataFrame, pd.DataFrame, pa.table, pl.LazyFrame])
def test_engines(engine):
    files = [engine(frame.to_dict(as_series=False)) for frame in (SURVEY, RELEASE)]
    result = tabular_utility(*files)
    assert result.per_release == tabular_utility(SURVEY, RELEASE).per_release
    assert len(result.table) == 3
    assert len(tabular_utility(*files, by="town").by_group) == 4


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
