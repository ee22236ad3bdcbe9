"""Bands: which number falls where, and how the bands are called."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sdckit.errors import DataError
from sdckit.protect.recoding.recode import cut_bands, given_bands

NAN = math.nan
AGES = np.array([0.0, 14.0, 15.0, 64.0, 65.0, 99.0, NAN, -1.0, 100.0])


def between(edges, *, closed=None, labels=None, whole=True):
    return given_bands(edges, closed=closed, labels=labels, whole=whole)


def test_edges_belong_to_the_band_above_them_and_the_last_one_to_the_last():
    bands = between([0, 15, 65, 99])
    assert bands.codes(AGES).tolist() == [0, 0, 1, 1, 2, 2, -1, -1, -1]
    assert bands.labels == ("0-14", "15-64", "65-99")


def test_or_to_the_band_below_and_the_first_one_to_the_first():
    bands = between([0, 14, 64, 99], closed="right")
    assert bands.codes(AGES).tolist() == [0, 0, 1, 1, 2, 2, -1, -1, -1]
    assert bands.labels == ("0-14", "15-64", "65-99")


def test_open_ends():
    for edges in ([None, 15, 65, None], [-math.inf, 15, 65, math.inf]):
        bands = between(edges)
        assert bands.codes(AGES).tolist() == [0, 0, 1, 1, 2, 2, -1, 0, 2]
        assert bands.labels == ("up to 14", "15-64", "65+")
    assert between([None, 15, None], closed="right").labels == ("up to 15", "16+")
    assert between([None, None]).labels == ("any",)
    assert between([None, None], whole=False).labels == ("any",)


@pytest.mark.parametrize(
    ("edges", "closed", "labels"),
    [
        ([0, 0.5, 1], "left", ("[0, 0.5)", "[0.5, 1]")),
        ([0, 0.5, 1], "right", ("[0, 0.5]", "(0.5, 1]")),
        ([None, 0.5, None], "left", ("under 0.5", "0.5 and over")),
        ([None, 0.5, None], "right", ("up to 0.5", "over 0.5")),
        ([1e6, 33335265, 1e8], "left", ("[1000000, 33335265)", "[33335265, 100000000]")),
    ],
)
def test_labels_of_numbers_that_are_not_whole(edges, closed, labels):
    assert between(edges, closed=closed, whole=False).labels == labels


def test_labels_of_whole_numbers():
    assert between([-10, -5, 0, 1, 3]).labels == ("-10 to -6", "-5 to -1", "0", "1-3")
    assert between([0, 1.5, 3]).labels == ("[0, 1.5)", "[1.5, 3]")  # whole numbers, but not whole edges
    assert between([0, 15, 99], labels=["young", "old"]).labels == ("young", "old")


def test_named_ranges():
    bands = between({"adult": (15, 64), "child": (0, 14), "old": (65, None)})
    assert bands.labels == ("child", "adult", "old")
    assert bands.codes(AGES).tolist() == [0, 0, 1, 1, 2, 2, -1, -1, 2]
    gap = between({"a": (0, 10), "b": (20, 30)})
    assert gap.codes(np.array([0, 10, 10.5, 20, 30, 31.0])).tolist() == [0, 0, -1, 1, 1, -1]
    for closed, codes in (("left", [0, 1, -1]), ("right", [-1, 0, 1])):
        assert between({"a": (0, 10), "b": (10, 20)}, closed=closed).codes(
            np.array([0.0, 10, 20])
        ).tolist() == codes  # fmt: skip
    assert between({"zero": (0, 0), "more": (1, None)}).codes(np.array([0.0, 1, 0.5])).tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("bands", "options", "message"),
    [
        ([0], {}, "two edges or more"),
        ([0, 0], {}, "must ascend"),
        ([0, 2, 1], {}, "must ascend"),
        ([0, None, 1], {}, "must ascend"),
        ([0, NAN], {}, "not a number"),
        (["a", "b"], {}, "not a number"),
        ([0, True], {}, "not a number"),
        ([0, 1], {"closed": "up"}, "closed 'up' is unknown; there are: left, right, both"),
        ([0, 1], {"closed": "both"}, "share no end"),
        ([0, 1], {"labels": ["a", "b"]}, "needs 1 different texts"),
        ([0, 1, 2], {"labels": ["a", "a"]}, "needs 2 different texts"),
        ([0, 1], {"labels": "a"}, "labels are the names of the bands"),
        ([0, 1], {"labels": [1]}, "a list of texts"),
        ({}, {}, "is empty"),
        ({"a": (0, 1)}, {"labels": ["b"]}, "names the bands itself"),
        ({"a": (0, 1, 2)}, {}, "needs two ends"),
        ({"a": "01"}, {}, "needs two ends"),
        ({"a": (2, 1)}, {}, "ends before it starts"),
        ({"a": (1, 1)}, {"closed": "left"}, "holds no number"),
        ({1: (0, 1)}, {}, "a text that is not empty"),
        ({"a": (0, 10), "b": (10, 20)}, {}, "'a' and 'b' overlap; closed="),
        ({"a": (0, 10), "b": (5, 20)}, {"closed": "left"}, "'a' and 'b' overlap$"),
    ],
)
def test_bad_bands(bands, options, message):
    with pytest.raises(DataError, match=message):
        between(bands, **options)


def cut(values, n, how="equal_width", *, closed=None, labels=None, whole=True):
    return cut_bands(np.array(values, float), n, how=how, closed=closed, labels=labels, whole=whole)


def test_equal_steps_of_whole_numbers():
    bands = cut([0, 95, NAN], 5, closed="right")  # the edges are those of round(-1, 18.4, ..., 96)
    assert bands.labels == ("up to 18", "19-38", "39-57", "58-77", "78+")
    assert cut([0, 95], 5).labels == ("up to 17", "18-37", "38-56", "57-76", "77+")
    assert cut([1, 2], 2).labels == ("up to 1", "2+")


def test_equal_steps_of_other_numbers_are_rounded_to_a_hundredth_of_their_size():
    bands = cut([0.1234567, 0.9876543], 2, whole=False)
    assert bands.labels == ("under 0.556", "0.556 and over")
    assert cut([0, 1], 4).labels[0].startswith("under 0.25")  # too narrow for whole edges


def test_steps_of_logarithms():
    bands = cut([2898, 1e8], 4, "log", closed="right")
    middle = math.exp((math.log(2898) - 1 + math.log(1e8) + 1) / 2)
    assert bands.high[1] == round(middle)
    assert len(bands.labels) == 4


def test_quantiles():
    bands = cut(range(1, 101), 4, "equal_frequency")
    assert bands.low[1:].tolist() == [25.8, 50.5, 75.2]  # three digits of 25.75, 50.5, 75.25
    assert np.bincount(bands.codes(np.arange(1, 101.0))).tolist() == [25, 25, 25, 25]
    tied = cut([1, 1, 1, 1, 1, 2, 3], 4, "equal_frequency")
    assert len(tied.labels) == 2
    assert (np.bincount(tied.codes(np.array([1, 1, 1, 1, 1, 2, 3.0]))) > 0).all()


def test_every_value_is_in_a_band_however_they_are_cut():
    rng = np.random.default_rng(1)
    for drawn in (rng.normal(size=50), rng.lognormal(8, 2, 50), np.round(rng.uniform(1, 100, 50))):
        values = np.abs(drawn) + 0.001
        for method in ("equal_width", "log", "equal_frequency"):
            for closed in ("left", "right"):
                bands = cut(values, 7, method, closed=closed, whole=False)
                assert (bands.codes(values) >= 0).all()
                assert len(set(bands.labels)) == len(bands.labels)


@pytest.mark.parametrize(
    ("values", "n", "options", "message"),
    [
        ([1, 2], 1, {}, "from 2 to 10,000"),
        ([1, 2], True, {}, "from 2 to 10,000"),
        ([1, 2], 2, {"how": "jenks"}, "how 'jenks' is unknown; there are: equal_width"),
        ([1, 2], 2, {"closed": "both"}, "share no end"),
        ([NAN], 2, {}, "no value to cut"),
        ([1, math.inf], 2, {}, "infinite"),
        ([3, 3], 2, {}, "all values are the same"),
        ([0, 3], 2, {"how": "log"}, "zero or negative"),
        ([1, 9], 2, {"labels": ["a"]}, "needs 2 different texts"),
    ],
)
def test_what_cannot_be_cut(values, n, options, message):
    with pytest.raises(DataError, match=message):
        cut(values, n, **options)
