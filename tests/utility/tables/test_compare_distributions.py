"""Tables and histograms side by side, by hand; figures per variable; what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from sdckit import compare_distributions
from sdckit.errors import ColumnError, DataError
from sdckit.utility.tables.compare_distributions import checked_edges, counts_between, round_edges

SURVEY = pl.DataFrame({"sex": ["f", "f", "m", None], "x": [1.0, 2.0, 8.0, 9.0]})
RELEASE = pl.DataFrame({"sex": ["m", "m", "q"], "x": [1.0, 9.0, 30.0]})
GIVEN = {"numeric": ["x"], "bins": 2}


def rows(frame, *names):
    return frame.select(names).rows() if names else frame.rows()


def test_one_variable():
    result = compare_distributions(SURVEY, RELEASE, **GIVEN)
    table = result.table("sex")
    assert rows(table, "level", "original", "released") == [
        ("f", 2, 0.0),
        ("m", 1, 2.0),
        ("q", 0, 1.0),
        ("(missing)", 1, 0.0),
    ]
    assert table["difference"].to_list() == pytest.approx([-0.5, 2 / 3 - 0.25, 1 / 3, -0.25])
    assert table["original_share"].sum() == pytest.approx(1)
    # expected released count at f: 3/7 of the two there
    assert table["standardised_difference"][0] == pytest.approx(-1.5 / math.sqrt(6 / 7))
    assert result.total_variation["sex"] == pytest.approx(0.75)
    assert (result.coverage["sex"], result.new_values["sex"]) == (0.5, 1 / 3)
    assert result.missing_difference == {"sex": -0.25, "x": 0.0}
    assert result.overview["variable"].to_list() == ["sex", "x"]
    assert result.mean_total_variation == pytest.approx(np.mean(list(result.total_variation.values())))
    assert result.notes["missing"] == "missing values in some of the files only: sex"


def test_two_variables():
    result = compare_distributions(SURVEY, RELEASE, **GIVEN)
    table = result.table("x", "sex")  # the pooled median is 8
    assert rows(table, "level_1", "level_2", "original", "released") == [
        ("[1, 8)", "f", 2, 0.0),
        ("[1, 8)", "m", 0, 1.0),
        ("[8, 30]", "m", 1, 1.0),
        ("[8, 30]", "q", 0, 1.0),
        ("[8, 30]", "(missing)", 1, 0.0),
    ]


def test_histogram():
    result = compare_distributions(SURVEY, RELEASE, **GIVEN)
    binned = result.histogram("x", edges=[0, 5, 9])
    assert rows(binned, "from", "to", "original", "released") == [
        (0.0, 5.0, 2, 1.0),
        (5.0, 9.0, 1, 0.0),
        (9.0, math.inf, 1, 2.0),
    ]
    assert binned["released_share"].to_list() == pytest.approx([1 / 3, 0, 2 / 3])
    whole = result.histogram("x")
    assert whole["original"].sum() == 4
    assert whole["released"].sum() == 3
    assert result.histogram("x", bins=2).height <= 4


def test_moments():
    moments = compare_distributions(SURVEY, RELEASE, **GIVEN).moments
    found = {row[1]: row[2:] for row in moments.rows()}
    assert found["mean"] == (5.0, pytest.approx(40 / 3))
    assert found["median"] == (5.0, 9.0)
    assert found["values"] == (4.0, 3.0)
    assert found["missing share"] == (0.0, 0.0)
    assert found["standard deviation"][0] == pytest.approx(SURVEY["x"].std())


def test_values_out_of_range_are_new_whatever_class_they_fall_into():
    rng = np.random.default_rng(3)
    ages = rng.integers(1, 51, 1000)
    released = np.concatenate([np.full(100, 99), np.full(100, -7), ages[200:]])
    result = compare_distributions(pl.DataFrame({"age": ages}), pl.DataFrame({"age": released}), numeric=["age"])
    assert result.new_values == {"age": 0.2}
    assert result.boundary_adherence == {"age": 0.8}
    assert result.range_coverage == {"age": 1.0}
    assert result.coverage["age"] == 1.0
    assert result.overview["boundary_adherence"].to_list() == [0.8]


NUMBERS = st.lists(st.one_of(st.integers(-3, 12), st.none()), min_size=1, max_size=25).filter(any)


@given(NUMBERS, NUMBERS, st.sampled_from([2, 5]))
def test_figures_of_numbers_from_their_words(before, after, bins):
    files = [pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)}) for values in (before, after)]
    result = compare_distributions(*files, numeric=["x"], bins=bins)
    known, there = ([one for one in values if one is not None] for values in (before, after))
    low, high = min(known), max(known)
    assert result.new_values["x"] == pytest.approx(sum(one not in known for one in there) / len(there))
    assert result.coverage["x"] == pytest.approx(len(set(known) & set(there)) / len(set(known)))
    assert result.boundary_adherence["x"] == pytest.approx(sum(low <= one <= high for one in there) / len(there))
    if low == high:
        assert math.isnan(result.range_coverage["x"])
        assert result.notes["range_coverage"] == "the original has a single value, and no range: x"
    else:
        gaps = max((min(there) - low) / (high - low), 0) + max((high - max(there)) / (high - low), 0)
        assert result.range_coverage["x"] == pytest.approx(max(1 - gaps, 0))


def test_categories_have_no_range():
    result = compare_distributions(SURVEY, [RELEASE, SURVEY], **GIVEN)
    assert set(result.range_coverage) == set(result.boundary_adherence) == {"x"}
    assert result.per_release[1]["boundary_adherence[x]"] == 1.0
    assert np.isnan(result.overview.filter(pl.col("variable") == "sex")["range_coverage"].item())


def test_several_releases():
    result = compare_distributions(SURVEY, [SURVEY, RELEASE], **GIVEN)
    assert [one["total_variation[sex]"] for one in result.per_release] == pytest.approx([0, 0.75])
    assert result.total_variation["sex"] == pytest.approx(0.375)
    assert result.table("sex")["released"].to_list() == [1.0, 1.5, 0.5, 0.5]
    second = compare_distributions(SURVEY, RELEASE, **GIVEN)
    assert result.table("sex", release=2).to_dicts() == second.table("sex").to_dicts()
    assert result.histogram("x", edges=[0, 50], release=1)["released"].to_list() == [4.0]
    with pytest.raises(DataError, match="from 1 to 2"):
        result.table("sex", release=3)


def test_a_constant_and_a_column_without_values():
    files = [frame.with_columns(one=pl.lit("a"), gone=pl.lit(None, pl.String)) for frame in (SURVEY, RELEASE)]
    result = compare_distributions(*files, variables=["one", "gone"])
    assert result.total_variation == {"one": 0.0, "gone": 0.0}
    assert math.isnan(result.s_pmse["one"])
    assert result.notes["s_pmse"] == "a single level, no degrees of freedom: one, gone"
    assert math.isnan(result.coverage["gone"])
    assert result.notes["coverage"] == "a file has no value at all: gone"


def test_pickled_it_keeps_figures_and_lets_go_of_data():
    again = pickle.loads(pickle.dumps(compare_distributions(SURVEY, RELEASE, **GIVEN)))
    assert again.total_variation["sex"] == pytest.approx(0.75)
    with pytest.raises(DataError, match="let go of the data"):
        again.table("sex")


@pytest.mark.parametrize("engine", [pl.DataFrame, pd.DataFrame, pa.table, pl.LazyFrame])
def test_engines(engine):
    files = [engine(frame.to_dict(as_series=False)) for frame in (SURVEY, RELEASE)]
    result = compare_distributions(*files, **GIVEN)
    assert result.per_release == compare_distributions(SURVEY, RELEASE, **GIVEN).per_release
    assert len(result.table("sex")) == 4
    assert len(result.histogram("x", edges=[0, 50])) == 1


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda one: one.table(), ColumnError, "one variable, or of two"),
        (lambda one: one.table("sex", "sex"), ColumnError, "two different"),
        (lambda one: one.table("sx"), ColumnError, "no variable 'sx' in this comparison"),
        (lambda one: one.histogram("sex"), ColumnError, "not one of the numeric variables"),
        (lambda one: one.histogram("x", edges=[3, 2]), DataError, "ascending"),
        (lambda one: one.histogram("x", bins=0), DataError, "1 or more"),
        (lambda one: compare_distributions(SURVEY, RELEASE.select(y="x")), ColumnError, "in common"),
        (lambda one: compare_distributions(SURVEY, RELEASE, bins=1), DataError, "2 or more"),
    ],
)
def test_what_cannot_be(call, error, words):
    with pytest.raises(error, match=words):
        call(compare_distributions(SURVEY, RELEASE, **GIVEN))


# Round edges: few, covering the bulk, and not taken from the data.


@pytest.mark.parametrize("scale", [1e-6, 0.3, 1.0, 47.0, 1e9])
@pytest.mark.parametrize("bins", [1, 5, 20])
def test_few_bins_that_cover_the_bulk(scale, bins):
    rng = np.random.default_rng(2)
    values = scale * rng.normal(0.2, 1, 300)
    edges = round_edges([values[:100], np.append(values[100:], np.nan)], bins)
    low, high = np.quantile(values, [0.01, 0.99])
    assert edges[0] <= low
    assert high < edges[-1]
    assert len(edges) - 1 <= max(2, bins)  # two where 0 lies within
    step = edges[1] - edges[0]
    assert edges / step == pytest.approx(np.round(edges / step), abs=1e-6)
    assert f"{step:.3e}"[0] in "125"


def test_whole_numbers_have_whole_edges():
    assert round_edges([np.array([1.0, 2.0, 3.0])]).tolist() == [1.0, 2.0, 3.0]
    assert round_edges([np.array([7.0, 7.0])]).tolist() == [7.0, 8.0]


def test_one_value_far_away_does_not_matter():
    values = np.append(np.linspace(0, 10, 999), 1e12)
    assert round_edges([values], 10)[-1] <= 12


def test_counts():
    values = np.array([-5.0, 0.0, 0.5, 1.0, 2.0, np.nan])
    assert counts_between(values, np.array([0.0, 1.0, 2.0])).tolist() == [1, 2, 1, 1]


@pytest.mark.parametrize("edges", [[1], [2, 1], [1, 1], [0, np.inf], "ab", 3, [[1, 2]]])
def test_edges_must_ascend(edges):
    with pytest.raises(DataError, match="edges must be"):
        checked_edges(edges)
