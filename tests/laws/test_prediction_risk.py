"""C5: nearest neighbours as their definition says, record by record, and what must not matter."""

from __future__ import annotations

import math
import statistics
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import prediction_risk

FEW = settings(max_examples=20)
NUMBER = st.one_of(st.integers(0, 6), st.integers(0, 6), st.none())
LEVEL = st.one_of(st.sampled_from("abc"), st.sampled_from("abc"), st.none())


@st.composite
def tables(draw, max_rows=12):
    """Age (a number), place (a category), income and job (the targets), with values missing here and there."""
    n = draw(st.integers(1, max_rows))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731
    rows = {"age": column(NUMBER), "place": column(LEVEL), "income": column(NUMBER), "job": column(LEVEL)}
    for name, value in (("age", 3), ("income", 2), ("job", "b")):
        rows[name][0] = value  # a column needs a value somewhere
    return rows


def frame(rows):
    types = {"age": pl.Float64, "place": pl.String, "income": pl.Float64, "job": pl.String}
    return pl.DataFrame(rows, schema=types)


def neighbours(train, query, k, target):
    """Targets of the k nearest training records and of all tied with the last, for each record asked."""
    rows = [i for i, value in enumerate(train[target]) if value is not None]
    ages = [train["age"][i] for i in rows if train["age"][i] is not None]
    mean = statistics.fmean(ages) if ages else 0.0
    sd = statistics.stdev(ages) if len(ages) > 1 else 0.0
    out = []
    for age, place in zip(query["age"], query["place"], strict=True):
        distances = []
        for i in rows:
            mine, theirs = (mean if one is None else one for one in (age, train["age"][i]))
            apart = ((mine - theirs) / sd) ** 2 if sd > 0 else 0.0
            apart += (age is None) != (train["age"][i] is None)
            apart += place != train["place"][i]
            distances.append(math.sqrt(apart))
        limit = sorted(distances)[min(k, len(rows)) - 1] + 1e-9
        out.append([train[target][i] for i, d in zip(rows, distances, strict=True) if d <= limit])
    return out


def errors(train, query, k):
    near = neighbours(train, query, k, "income")
    return [
        math.nan if y is None else abs(statistics.fmean(found) - y)
        for found, y in zip(near, query["income"], strict=True)
    ]


def chances(train, query, k):
    out = []
    for found, truth in zip(neighbours(train, query, k, "job"), query["job"], strict=True):
        votes = Counter(found)
        best = [level for level, count in votes.items() if count == max(votes.values())]
        out.append(math.nan if truth is None else (truth in best) / len(best))
    return out


@FEW
@given(tables(), st.lists(tables(), min_size=1, max_size=2), st.integers(1, 4))
def test_numbers_are_the_mean_of_the_nearest(original, releases, k):
    result = prediction_risk(
        frame(original), [frame(one) for one in releases], keys=["age", "place"], target="income", n_neighbors=k
    )
    before = np.array(errors(original, original, k))
    after = np.array([errors(one, original, k) for one in releases])
    assert result.records["error_original"].to_numpy() == pytest.approx(before, nan_ok=True, abs=1e-9)
    assert result.records["error_released"].to_numpy() == pytest.approx(after.mean(axis=0), nan_ok=True, abs=1e-9)
    assert result.n == np.count_nonzero(~np.isnan(before))
    assert result.mse_original == pytest.approx(np.nanmean(before**2), abs=1e-9)
    assert result.mse_released == pytest.approx(np.nanmean(after**2), abs=1e-9)
    known = after[:, ~np.isnan(before)]
    worse = known > before[~np.isnan(before)] + 1e-9
    assert result.share_less_accurate == pytest.approx(worse.mean())
    assert result.before_after()["released"].sum() == result.n


@FEW
@given(tables(), st.lists(tables(), min_size=1, max_size=2), st.integers(1, 4))
def test_categories_are_the_most_frequent_of_the_nearest(original, releases, k):
    result = prediction_risk(
        frame(original), [frame(one) for one in releases], keys=["age", "place"], target="job", n_neighbors=k
    )
    before = np.array(chances(original, original, k))
    after = np.array([chances(one, original, k) for one in releases])
    assert result.records["correct_original"].to_numpy() == pytest.approx(before, nan_ok=True)
    assert result.records["correct_released"].to_numpy() == pytest.approx(after.mean(axis=0), nan_ok=True)
    assert result.accuracy_original == pytest.approx(np.nanmean(before))
    assert result.accuracy_released == pytest.approx(np.nanmean(after))
    known = [value for value in original["job"] if value is not None]
    assert result.baseline == Counter(known).most_common(1)[0][1] / len(known)


@FEW
@given(tables(), tables(), st.randoms(use_true_random=False), st.sampled_from(["knn", "tree"]), st.booleans())
def test_the_order_of_records_does_not_matter(original, released, random, model, cross):
    if sum(value is not None for value in original["income"]) < 5:
        cross = False
    one, two = list(range(len(original["age"]))), list(range(len(released["age"])))
    random.shuffle(one)
    random.shuffle(two)
    given_ = {"keys": ["place", "age"], "target": "income", "model": model, "cross_fit": cross, "seed": 1}
    straight = prediction_risk(frame(original), frame(released), **given_)
    shuffled = prediction_risk(frame(original)[one], frame(released)[two], **given_)
    for name, value in straight.per_release[0].items():
        assert shuffled.per_release[0][name] == pytest.approx(value, nan_ok=True, rel=1e-9, abs=1e-9), name


@FEW
@given(tables(), st.sampled_from(["income", "job"]), st.integers(1, 3))
def test_a_release_that_is_the_original_changes_nothing(original, target, k):
    result = prediction_risk(frame(original), frame(original), keys=["age", "place"], target=target, n_neighbors=k)
    records = result.records
    before, after = (records[name].to_numpy() for name in records.columns)
    assert before == pytest.approx(after, nan_ok=True)
    assert result.share_less_accurate == 0.0
    assert result.notes["released"].startswith("the release has")
