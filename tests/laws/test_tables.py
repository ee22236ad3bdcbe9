"""F3, F4, F9 and associations: the identities between statistics, order, sizes, and files that are the same."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit import compare_associations, compare_distributions, ecdf_utility, tabular_utility
from sdckit.utility.tables.table_counts import table_statistics

COUNTS = st.integers(1, 12).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 40), min_size=k, max_size=k)] * 2)
).map(lambda pair: tuple(np.array(one) for one in pair))  # fmt: skip


def close(value, scale=1.0):
    return pytest.approx(value, rel=1e-11, abs=1e-12 * scale, nan_ok=True)


@st.composite
def frames(draw, least=1):
    n = draw(st.integers(least, 14))
    seed, gaps = draw(st.integers(0, 10**6)), draw(st.sampled_from([0.0, 0.2, 0.6]))
    rng = np.random.default_rng(seed)
    columns = {}
    for name in "abcxy":
        column = (rng.integers(0, 4, n) if name in "abc" else rng.integers(-6, 7, n) / 2).tolist()
        missing = rng.random(n) < gaps
        missing[0] = False  # a number needs a value
        columns[name] = [None if gone else value for value, gone in zip(column, missing, strict=True)]
    types = {**dict.fromkeys("abc", pl.Int64), **dict.fromkeys("xy", pl.Float64)}
    return pl.DataFrame({name: columns[name] for name in types}, schema=types)


def shuffled(frame, seed=0):
    return frame.sample(fraction=1, shuffle=True, seed=seed)


# --- one table ----------------------------------------------------------------------------------------


@given(COUNTS)
def test_identities(counts):
    o, s = counts
    if not o.sum() or not s.sum():
        return
    found = table_statistics(o, s)
    n, n_s = o.sum(), s.sum()
    assert found["s_pmse"] == close(found["s_vw"])
    assert found["mabsdd"] == close(2 * found["specks"])
    assert found["ft"] == close(8 * n_s * found["dbhatt"] ** 2)
    if n == n_s:
        assert found["po50"] == close(found["specks"] / 2)
    assert found["specks"] - 1e-12 <= 2 * found["auc"] - 1 <= 1 - (1 - found["specks"]) ** 2 + 1e-12
    assert 0 <= found["jsd"] <= found["specks"] + 1e-12 <= 1 + 2e-12
    hellinger = found["dbhatt"]
    assert hellinger**2 <= found["specks"] + 1e-12
    assert found["specks"] <= hellinger * math.sqrt(2 - hellinger**2) + 1e-12
    c = n_s / (n + n_s)
    assert 0 <= found["pmse"] <= c * (1 - c) + 1e-12


@given(COUNTS, st.permutations(range(12)))
def test_the_order_of_the_cells_does_not_matter(counts, order):
    o, s = counts
    if not o.sum() or not s.sum():
        return
    moved = [j for j in order if j < len(o)]
    first, second = table_statistics(o, s), table_statistics(o[moved], s[moved])
    assert list(first.values()) == [close(value, 1e3) for value in second.values()]


@given(COUNTS, st.integers(2, 5))
def test_distances_do_not_depend_on_the_sizes(counts, times):
    o, s = counts
    if not o.sum() or not s.sum():
        return
    once, more = table_statistics(o, s), table_statistics(o, times * s)
    for name in ("jsd", "specks", "dbhatt", "auc", "df"):
        assert more[name] == close(once[name])
    assert more["s_jsd"] == close(times * once["s_jsd"], 1e3)
    assert more["ft"] == close(times * once["ft"], 1e3)


# --- whole files --------------------------------------------------------------------------------------


@given(frames())
def test_the_same_file_in_another_order(frame):
    other = shuffled(frame)
    for ways in (1, 2, 3):
        assert tabular_utility(frame, other, ways=ways, bins=3).largest_dbhatt == 0.0
    ecdf = ecdf_utility(frame, other, variables=["x", "y"])
    assert ecdf.max_difference == {"x": 0.0, "y": 0.0}
    assert ecdf.joint_max_difference == 0.0 or math.isnan(ecdf.joint_max_difference)
    assert compare_distributions(frame, other).largest_total_variation == 0.0
    found = compare_associations(frame, other, numeric=["x", "y"])
    assert found.contingency_similarity == 1.0
    assert found.largest_difference == close(0.0) or math.isnan(found.largest_difference)


@given(frames(), frames())
def test_more_variables_are_never_nearer(first, second):
    """A table tells at least as much as its margins."""
    one, two = (tabular_utility(first, second, ways=ways, numeric=[]) for ways in (1, 2))
    margin = dict(zip((names[0] for names in one.tables), one.statistics["specks"][0], strict=True))
    for names, value in zip(two.tables, two.statistics["specks"][0], strict=True):
        assert value >= max(margin[name] for name in names) - 1e-12
    ecdf = (
        ecdf_utility(first.drop_nulls(), second.drop_nulls(), variables=["x", "y"])
        if (first.drop_nulls().height and second.drop_nulls().height)
        else None
    )
    if ecdf is not None:
        assert 0 <= ecdf.joint_mean_squared_difference <= ecdf.joint_max_difference**2 + 1e-12 <= 1 + 1e-9


@given(frames(), frames())
def test_distribution_functions_do_not_depend_on_the_unit(first, second):
    def moved(frame):
        return frame.with_columns(x=pl.col("x") ** 3 + 7, y=pl.col("y") * 100)

    before = ecdf_utility(first, second, variables=["x", "y"])
    after = ecdf_utility(moved(first), moved(second), variables=["x", "y"])
    assert before.to_dict()["figures"] == after.to_dict()["figures"]


@given(frames(), frames())
def test_who_is_the_original_does_not_matter_to_distances(first, second):
    there, back = (
        tabular_utility(*files, ways=2, numeric=["x", "y"], bins=3) for files in ((first, second), (second, first))
    )
    for name in ("jsd", "specks", "dbhatt", "df"):
        assert there.statistics[name][0].tolist() == close(back.statistics[name][0].tolist())
    one, other = (ecdf_utility(*files, variables=["x"]) for files in ((first, second), (second, first)))
    assert one.max_difference == other.max_difference


@given(frames(), frames(), frames())
def test_several_releases_are_those_one_by_one(original, first, second):
    both = tabular_utility(original, [first, second], numeric=[])
    for j, release in enumerate((first, second)):
        alone = tabular_utility(original, release, numeric=[])
        assert both.statistics["specks"][j].tolist() == close(alone.statistics["specks"][0].tolist())


@given(frames(), frames())
def test_distributions_are_tables_of_one_variable(first, second):
    tables = tabular_utility(first, second, ways=1)
    distributions = compare_distributions(first, second)
    for name, theirs in (("specks", distributions.total_variation), ("s_pmse", distributions.s_pmse)):
        assert tables.statistics[name][0].tolist() == close(list(theirs.values()))
    whole = distributions.table("a", "b")
    assert (whole["original"].sum(), whole["released"].sum()) == (first.height, second.height)


@given(frames(least=3), frames(least=3))
def test_associations_stay_in_their_range(first, second):
    result = compare_associations(first, second, numeric=["x", "y"], bins=2)
    for kind, low in (("association", -1), ("pearson", -1), ("spearman", -1), ("contingency", 0)):
        values = result.matrices[kind]
        values = values[~np.isnan(values)]
        assert ((values >= low) & (values <= 1)).all()
    for name in ("pearson_similarity", "spearman_similarity", "contingency_similarity"):
        assert math.isnan(value := getattr(result, name)) or 0 <= value <= 1
