"""Searches that are made once, ratios of distances, and samples of files of other sizes."""

from __future__ import annotations

import numpy as np

from sdckit.attacks.distances.nearest_searches import Searches, distance_ratio, same_size
from sdckit.numerics.coding import differences


def files(**values):
    encoded = differences([tuple(np.array(one, float) for one in values.values())], power=1)
    return Searches(dict(zip(values, encoded, strict=True)))


def test_a_search_is_done_once_and_within_a_file_leaves_the_record_out():
    made = files(a=[0.0, 1.0, 5.0], b=[1.0])
    assert made.nearest("a", "b") is made.nearest("a", "b")
    assert made.distance("a", "b").tolist() == [1.0, 0.0, 4.0]
    assert made.distance("a", "a").tolist() == [1.0, 1.0, 4.0]
    assert np.isnan(made.distance("b", "b")).all()
    assert np.isnan(made.ratio("a", "b")).all()
    assert made.ratio("b", "a").tolist() == [0.0]


def test_a_second_record_is_searched_for_where_it_is_asked_for():
    made = files(a=[0.0, 1.0, 5.0], b=[2.0, 4.0])
    assert made.distance("a", "b").tolist() == [2.0, 1.0, 1.0]
    assert made.nearest("a", "b").tolist() == [[2.0, 4.0], [1.0, 3.0], [1.0, 3.0]]
    assert made.distance("a", "b").tolist() == [2.0, 1.0, 1.0]
    assert distance_ratio(made.nearest("a", "b"), made.tolerance).tolist() == made.ratio("a", "b").tolist()


def test_the_larger_file_is_sampled():
    made = files(a=np.arange(10), b=[3.0, 4.0])
    even = same_size(made, ["a", "b"], np.random.default_rng(1))
    assert [even.files[name].n for name in ("a", "b")] == [2, 2]
    assert same_size(even, ["a", "b"], np.random.default_rng(1)) is even


def test_what_is_known_of_a_file_that_is_not_sampled_stays_known():
    made = files(a=np.arange(10), b=[3.0, 4.5])
    within, across = made.nearest("b", "b"), made.nearest("a", "b")
    even = same_size(made, ["a", "b"], np.random.default_rng(1))
    assert even.nearest("b", "b") is within
    assert even.nearest("a", "b") is not across
    assert len(even.nearest("a", "b")) == 2
