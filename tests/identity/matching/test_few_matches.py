"""Released records that match the true keys of each person: against a count of all pairs, in memory and on engines."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.errors import DataError, ScenarioError

LEVELS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(LEVELS, LEVELS, st.booleans(), st.booleans()), min_size=1, max_size=14)


def frames(rows: list[tuple[Any, ...]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A file, and a release of it that lacks further values."""
    original = pl.DataFrame({"id": range(len(rows)), **{f"x{j}": [row[j] for row in rows] for j in (0, 1)}},
                            schema_overrides={"x0": pl.String, "x1": pl.String})  # fmt: skip
    gone = {f"x{j}": [None if row[2 + j] else row[j] for row in rows] for j in (0, 1)}
    return original, original.with_columns(
        **{name: pl.Series(values, dtype=pl.String) for name, values in gone.items()}
    )


def counted(original: pl.DataFrame, released: pl.DataFrame) -> list[int]:
    """Of each record the released ones that differ from it in no key that both have; of those without keys its own."""
    columns = [(original[name].to_list(), released[name].to_list()) for name in ("x0", "x1")]
    blank = [all(shown[j] is None for _, shown in columns) for j in range(len(released))]
    return [
        sum(
            all(None in (true[i], shown[j]) or true[i] == shown[j] for true, shown in columns)
            for j in range(len(released))
            if blank[i] or not blank[j]
        )
        for i in range(len(original))
    ]


@given(ROWS)
def test_matches_are_those_of_all_pairs(rows):
    original, released = frames(rows)
    expected = counted(original, released)
    result = sdc.few_matches(original, released, keys=["x0", "x1"], k=3)
    assert result.records["match_count"].to_list() == expected
    assert result.few_matches == pytest.approx(sum(n < 3 for n in expected) / len(expected))
    assert result.unique_matches == pytest.approx(sum(n == 1 for n in expected) / len(expected))
    assert result.fewest_matches == min(expected)
    shuffled = released.sample(fraction=1, shuffle=True, seed=1)
    assert sdc.few_matches(original, shuffled, keys=["x0", "x1"], k=3, id="id").few_matches == result.few_matches


@pytest.mark.filterwarnings("ignore:key")  # the same in every record, or different in each
@given(ROWS, st.integers(2, 4))
def test_k_with_missing_values_as_a_category_leaves_nobody_with_fewer(rows, k):
    original, released = frames(rows)
    original = original.drop_nulls()
    released = released.join(original, on="id", how="semi")
    if not released["x0"].count() or not released["x1"].count():
        return
    rule = dict.fromkeys(["x0", "x1"], "category")
    held = sdc.k_anonymity(released, keys=["x0", "x1"], k=k, missing=rule).violations[k] == 0
    result = sdc.few_matches(original, released, keys=["x0", "x1"], k=k)
    assert not held or result.few_matches == 0


def test_a_few_records_without_keys_hide_nobody():
    """Four of 200 held a limit of 0 for all, while k-anonymity said that 196 are alone."""
    file = pl.DataFrame({"a": range(200), "b": [i % 7 for i in range(200)]})
    gone = pl.int_range(200) < 4
    released = file.with_columns(pl.when(~gone).then("a").alias("a"), pl.when(~gone).then("b").alias("b"))
    result = sdc.few_matches(file, released, keys=["a", "b"], k=3)
    assert (result.few_matches, result.unique_matches, result.fewest_matches) == (0.98, 0.98, 1)
    assert sdc.k_anonymity(released, keys=["a", "b"], k=3).violations[3] == 196
    assert result.records["match_count"].to_list()[:5] == [4, 4, 4, 4, 1]
    lazily = sdc.few_matches(file.with_row_index("id").lazy(), released.with_row_index("id").lazy(), keys=["a", "b"],
                             k=3, id="id")  # fmt: skip
    assert (lazily.few_matches, lazily.unique_matches, lazily.fewest_matches) == (0.98, 0.98, 1)
    by_one = sdc.few_matches(file, released, keys=["b"], k=3)  # as in frequencies, of a single key
    assert by_one.fewest_matches > 4


def test_whose_own_record_shows_another_value_is_not_counted():
    original = pl.DataFrame({"x": ["a", "b", "b"]})
    result = sdc.few_matches(original, pl.DataFrame({"x": ["b", "a", "b"]}), keys=["x"], k=3)
    assert result.records.to_dict(as_series=False) == {
        "match_count": [1, 2, 2], "own_match": [0, 0, 1], "few_matches": [0, 0, 1]
    }  # fmt: skip
    assert (result.few_matches, result.unique_matches, result.fewest_matches) == (pytest.approx(1 / 3), 0, 2)
    nobody = sdc.few_matches(original, pl.DataFrame({"x": ["c", "c", "c"]}), keys=["x"])
    assert nobody.few_matches == 0
    assert math.isnan(nobody.fewest_matches)


def survey(n: int = 3000) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(1)
    file = pl.DataFrame({
        "id": np.arange(n), "sex": rng.choice(["f", "m"], n), "age": rng.integers(0, 9, n), "job": rng.zipf(1.6, n) % 50
    })  # fmt: skip
    return file, sdc.local_suppression(file, keys=["sex", "age", "job"], k=3).data


def test_engines_and_several_releases_say_the_same():
    original, released = survey()
    asked = {"keys": ["sex", "age", "job"], "k": 3, "id": "id"}
    here = sdc.few_matches(original, [released, original], **asked)
    assert here.by_release["few_matches"].to_list()[0] > 0
    with duckdb.connect() as connection:
        connection.register("original", original.to_arrow())
        connection.register("released", released.to_arrow())
        tables = connection.table("original"), [connection.table("released"), connection.table("original")]
        for first, others in (tables, (original.lazy(), [released.lazy(), original.lazy()])):
            there = sdc.few_matches(first, others, **asked)
            for figures, expected in zip(there.per_release, here.per_release, strict=True):
                assert figures == pytest.approx(expected)


def test_k_is_that_of_the_scenario():
    original, released = survey(300)
    scenario = sdc.Scenario(keys=["sex", "age", "job"], thresholds={"k": 5})
    assert sdc.few_matches(original, released, scenario=scenario).k == 5
    assert sdc.few_matches(original, released, keys=["sex"]).k == 3
    with pytest.raises(DataError, match="k counts records; give a whole number of 2 or more"):
        sdc.few_matches(original, released, keys=["sex"], k=1)
    with pytest.raises(ScenarioError):
        sdc.few_matches(original, released)
    with pytest.raises(DataError, match="id"):
        sdc.few_matches(original, released[:10], keys=["sex"])
