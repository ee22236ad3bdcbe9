"""A release of a household survey, and somebody who holds nothing but it: what can they put back?"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from homes import people
from protect.suppression_files import frequencies
from recipes import SECRET

KEYS = ["region", "size", "age", "sex"]
SCENARIO = sdc.Scenario(
    keys=KEYS, weight="w", household="home", household_variables=["region", "size", "tenure", "w"], thresholds={"k": 3}
)
OLD = [
    {"method": "top_bottom_code", "column": "size", "top": 4},
    {"method": "local_suppression", "household_variables": []},
]
ADVISED = [
    {"method": "top_bottom_code", "column": "size", "top": 4},
    {"method": "coarsen_weights", "weight": "w", "hide": ["region"], "k": 10},
    {"method": "local_suppression", "together": [["size", "home"]], "importance": ["age", "sex", "size", "region"]},
    {"method": "limit_households", "household": "home", "largest": 4},
    {"method": "random_order"},
]


def put_back(released: pl.DataFrame, column: str) -> int:
    """Values that a weight with one value of the column, or a mate, gives back."""
    gone = released.filter(pl.col(column).is_null())
    known = released.drop_nulls(column)
    found = np.zeros(len(gone), bool)
    for by in ("w", "home"):
        one = known.drop_nulls(by).group_by(by).agg(pl.col(column).n_unique().alias("n")).filter(pl.col("n") == 1)
        found |= gone[by].is_in(one[by].implode()).fill_null(False).to_numpy()
    return int(found.sum())


def counted(released: pl.DataFrame) -> int:
    """Sizes that are had back by counting: suppressed ones, and top codes of more than four."""
    members = released.drop_nulls("home").group_by("home").agg(pl.len().alias("n"), pl.first("size"))
    return members.filter(pl.col("size").is_null() | (pl.col("n") > 4)).height


@pytest.mark.filterwarnings("ignore:w. many of its values")
@pytest.mark.parametrize("seed", range(4))
def test_the_old_recipe_is_undone_and_the_advised_one_is_not(seed):
    data = people(300, seed)
    old = sdc.Recipe(OLD).apply(data, scenario=SCENARIO, seed=seed, secret=SECRET, watch=False).data
    assert put_back(old, "region") == old["region"].null_count() > 0
    assert counted(old) > 0
    new = sdc.Recipe(ADVISED).apply(data, scenario=SCENARIO, seed=seed, secret=SECRET, watch=False).data
    assert new["region"].null_count() > 0
    assert put_back(new, "region") == 0
    assert counted(new) == 0
    assert sdc.k_anonymity(new, keys=KEYS, k=3).violations == {3: 0}
    assert new["w"].sum() == pytest.approx(data["w"].sum(), rel=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(2, 4), st.sampled_from([1.0, 0.5, 0.0]))
@settings(deadline=None, max_examples=60)
def test_whatever_the_households_k_holds_and_they_lose_values_as_a_whole(seed, homes, k, alpha):
    data = people(homes, seed)
    if len(data) < k:
        return
    safe, change = sdc.local_suppression(data, keys=["region", "age", "sex"], k=k, alpha=alpha, household="home")
    rows = list(safe.select("region", "age", "sex").iter_rows())
    assert min(frequencies(rows, alpha)) >= k - 1e-9
    if "region" in change.parameters.get("household_variables", ()):
        part = safe.group_by("home").agg(pl.col("region").is_null().mean())["region"]
        assert set(part) <= {0.0, 1.0}
    assert change.parameters["lower_bound"] <= change.n_changed
    for name in data.columns:  # nothing is made up
        assert (safe[name] == data[name]).fill_null(True).all()


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_divided_households_have_no_more_members_and_no_strangers(seed, homes, largest):
    data = people(homes, seed).with_columns(old="home")
    safe = sdc.limit_households(data, household="home", largest=largest, size="size", seed=seed).data
    parts = safe.group_by("home").agg(pl.len(), pl.col("old").n_unique().alias("of"), pl.first("size"))
    assert parts["len"].max() <= largest
    assert (parts["of"] == 1).all()
    assert (parts["len"] == parts["size"]).all()
