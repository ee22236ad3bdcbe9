"""What is given in many forms, what comes out, and what is refused."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm, t

from plans import on_frames
from sdckit import combine
from sdckit.errors import ColumnError, DataError
from sdckit.utility.models.combine import limits, pool

Q, V = [1.0, 2.0, 3.0], [2.0, 2.0, 2.0]
SIZES = {"n": 100, "n_synthetic": 50}


def test_one_quantity_gives_numbers():
    found = combine(Q, V, kind="partial", level=0.9)
    assert (found.m, found.estimate, found.within, found.between) == (3, 2.0, 2.0, 1.0)
    assert found.variance == pytest.approx(1 / 3 + 2)
    assert found.low < 2 < found.high
    assert found.flags == {}
    assert found.notes == {}
    assert found.table.to_pydict()["quantity"] == ["estimate"]


def test_several_quantities_keep_their_names():
    named = [{"age": 1.0, "sex": 5.0}, {"sex": 7.0, "age": 3.0}]
    errors = [{"sex": 1.0, "age": 0.5}, {"age": 0.5, "sex": 2.0}]
    found = combine(named, errors, kind="partial")
    assert found.estimate == {"age": 2.0, "sex": 6.0}
    assert found.within == {"age": 0.5, "sex": 1.5}
    series = combine([pd.Series(one) for one in named], [pd.Series(one) for one in errors], kind="partial")
    assert series.to_dict() == found.to_dict()
    plain = combine([[1.0, 5.0], [3.0, 7.0]], np.array([[0.5, 1.0], [0.5, 2.0]]), kind="partial")
    assert plain.variance == {"1": found.variance["age"], "2": found.variance["sex"]}
    assert found.table.to_pydict()["low"] == [found.low["age"], found.low["sex"]]
    assert "estimate[age]" in found.details().to_pydict()["figure"]


@on_frames
def test_on_every_engine(make):
    estimates = pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    variances = pl.DataFrame({"b": [1.0, 1.0], "a": [0.5, 0.5]})
    found = combine(make(estimates), make(variances), kind="partial")
    assert found.estimate == {"a": 1.5, "b": 3.5}
    assert found.within == {"a": 0.5, "b": 1.0}


def test_a_variance_below_zero_is_replaced_and_flagged():
    found = combine(Q, [9.0, 9.0, 9.0], kind="full", **SIZES)
    assert (found.variance, found.df) == (0.5 * 9, 2.0)
    assert "k = 0.5" in found.flags["estimate"]
    assert found.notes["variance[estimate]"] == found.flags["estimate"]
    assert found.to_dict()["figures"]["flags"] == found.flags
    without = combine(Q, [9.0, 9.0, 9.0], kind="full")
    assert without.variance == 9.0
    assert "not given" in without.flags["estimate"]


def test_what_is_infinite_or_zero_is_said():
    found = combine(Q, V, kind="simple", **SIZES)
    assert found.df == math.inf
    assert found.notes["df"] == "infinite: normal quantiles are used"
    assert found.to_dict()["figures"]["df"] is None
    assert "equal estimates" in combine([1.0, 1.0], [1.0, 1.0], kind="partial").notes["df"]
    assert combine(Q, [0.0, 0.0, 0.0], kind="partial").notes["variances"].startswith("0 in a file")
    assert "no bound" in combine([0.0, 1.0], [0.7499, 0.7499], kind="full", level=0.9999).notes["low, high"]


def test_one_file():
    found = combine([1.0], [2.0], kind="proper", n=10, n_synthetic=10)
    assert found.variance == 6.0
    assert math.isnan(found.between)
    assert found.notes["between"] == "one file does not show how much files vary"


def test_a_pickle_and_a_notebook():
    found = combine(Q, V, kind="simple", **SIZES)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "words"),
    [
        (Q, V, {"kind": "both"}, "kind 'both' is unknown; there are: partial, full, simple, proper"),
        ([1.0], [1.0], {"kind": "partial"}, "needs at least two files.*kind='simple'"),
        ([1.0], [1.0], {"kind": "full"}, "needs at least two files.*kind='simple'"),
        (Q, V, {"kind": "simple", "n": 5}, "n_synthetic is missing"),
        (Q, V, {"kind": "proper", "n_synthetic": 5}, "n is missing"),
        (Q, V, {"kind": "partial", "n": 5, "n_synthetic": 6}, "has the records of the original"),
        (Q, V, {"kind": "simple", "n": 0, "n_synthetic": 6}, "n is a number of records"),
        (Q, V, {"kind": "simple", "n": True, "n_synthetic": 6}, "n is a number of records"),
        (Q, V, {"kind": "partial", "level": 95}, "level is the coverage"),
        (Q, [2.0, 2.0], {"kind": "partial"}, r"estimates have shape \(3,\) and variances \(2,\)"),
        (Q, [2.0, -1.0, 2.0], {"kind": "partial"}, "variances: file 2 has a negative one"),
        (Q, [2.0, math.nan, 2.0], {"kind": "partial"}, "variances: file 2 has a missing or infinite one"),
        ([1.0, math.inf, 2.0], V, {"kind": "partial"}, "estimates: file 2 has a missing or infinite"),
        ([1e308, 1e308, 1.0], V, {"kind": "partial"}, r"estimates: file 1 has .* one beyond 1e\+150"),
        ("abc", V, {"kind": "partial"}, "estimates must be numbers"),
        (2.0, 1.0, {"kind": "partial"}, r"estimates have shape \(\)"),
        ([], [], {"kind": "partial"}, r"estimates have shape \(0,\)"),
        ([{"a": "x"}], [{"a": 1.0}], {"kind": "partial"}, "estimates must be numbers, one per name"),
    ],
)
def test_what_is_refused(estimates, variances, options, words):
    with pytest.raises(DataError, match=words):
        combine(estimates, variances, **options)


def test_names_that_do_not_agree():
    with pytest.raises(ColumnError, match="file 2 does not name the same"):
        combine([{"a": 1.0}, {"b": 1.0}], [[1.0], [1.0]], kind="partial")
    with pytest.raises(ColumnError, match="same quantities as file 1, each once"):
        combine([{1: 1.0, "1": 2.0}] * 2, [{"1": 1.0}] * 2, kind="partial")
    with pytest.raises(ColumnError, match="variances: their names are not those"):
        combine([{"a": 1.0}, {"a": 1.0}], [{"b": 1.0}, {"b": 1.0}], kind="partial")


def test_each_variance_has_its_name():
    raw = combine([1.0, 1.1], [2.0, 2.0], kind="full", n=100, n_synthetic=50)
    assert raw.raw_variance < 0 < raw.variance == raw.adjusted_variance == 1.0
    assert "replaced by T*" in raw.flags["estimate"]
    zero = combine([1.0, 1.1], [2.0, 2.0], kind="full", n=100, n_synthetic=50, negative="zero")
    assert zero.variance == 0 == zero.high - zero.low
    assert zero.flags["estimate"].endswith("replaced by 0")
    assert zero.to_dict()["figures"]["adjusted_variance"] == 1.0


# The rules on arrays: figures by hand, and quantiles with few and with no degrees of freedom.


RULES_Q = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
RULES_V = np.array([[2.0, 1.0], [2.0, 2.0], [2.0, 3.0]])


def test_partial_by_hand():
    found = pool(RULES_Q, RULES_V, kind="partial", level=0.9)
    assert found.estimate.tolist() == [2.0, 10.0]
    assert found.between.tolist() == [1.0, 0.0]
    assert found.variance.tolist() == pytest.approx([1 / 3 + 2, 2.0])
    assert found.df.tolist() == [pytest.approx(2 * (1 + 2 / (1 / 3)) ** 2), np.inf]
    assert found.low[1] == pytest.approx(10 - norm.ppf(0.95) * np.sqrt(2))
    assert not found.adjusted.any()


def test_full_by_hand_and_where_the_variance_is_replaced():
    wide = np.array([[1.0, 10.0], [4.0, 10.0], [7.0, 10.0]])
    found = pool(wide, RULES_V, kind="full", level=0.95, ratio=0.5)
    spread = 4 / 3 * 9
    assert found.variance.tolist() == pytest.approx([spread - 2, 0.5 * 2])
    assert found.df.tolist() == pytest.approx([2 * (1 - 2 / spread) ** 2, 2.0])
    assert found.adjusted.tolist() == [False, True]
    assert found.high[0] == pytest.approx(4 + t.ppf(0.975, found.df[0]) * np.sqrt(spread - 2))


@pytest.mark.parametrize(("kind", "expected"), [("simple", 5 / 3), ("proper", 2.0)])
def test_the_figures_of_the_definition(kind, expected):
    found = pool(RULES_Q[:, :1], RULES_V[:, :1], kind=kind, level=0.95, ratio=0.5)
    assert found.variance[0] == pytest.approx(expected)
    assert found.df[0] == np.inf


def test_one_file_of_combining_rules():
    found = pool(RULES_Q[:1], RULES_V[:1], kind="simple", level=0.95)
    assert found.variance.tolist() == [4.0, 2.0]
    assert np.isnan(found.between).all()


def test_what_a_file_does_not_determine_stays_undefined():
    gap = np.array([[1.0, np.nan], [2.0, 1.0]])
    for kind in ("partial", "full", "simple", "proper"):
        found = pool(gap, np.ones((2, 2)), kind=kind, level=0.95)
        for values in (found.estimate, found.low, found.high):
            assert np.isnan(values).tolist() == [False, True]


def test_limits():
    ones = np.ones(4)
    low, high = limits(ones, np.array([1.0, 1.0, 0.0, 1.0]), np.array([5.0, np.inf, 0.0, np.nan]), 0.95)
    reach = high - ones
    assert reach[:3].tolist() == pytest.approx([t.ppf(0.975, 5), norm.ppf(0.975), 0.0])
    assert np.isnan(reach[3])
    assert (ones - low)[:3].tolist() == pytest.approx(reach[:3].tolist())
    assert limits(ones[:1], ones[:1], np.array([1e-4]), 0.95)[1][0] == np.inf


def test_imputed_by_hand():
    """Rubin's rule: the mean variance, and (1 + 1/m) times that between the files."""
    found = pool(np.array([[1.0], [2.0], [3.0]]), np.full((3, 1), 2.0), kind="imputed", level=0.95)
    assert found.variance[0] == pytest.approx(2 + 4 / 3)
    assert found.df[0] == pytest.approx(2 * (1 + 2 / (4 / 3)) ** 2)
    same = pool(np.ones((3, 1)), np.full((3, 1), 2.0), kind="imputed", level=0.95)
    assert np.isinf(same.df[0])
    assert same.variance[0] == 2


@pytest.mark.parametrize(("negative", "expected"), [("adjusted", 1.0), ("zero", 0.0)])
def test_what_stands_for_a_variance_below_zero(negative, expected):
    found = pool(np.array([[1.0], [1.1]]), np.full((2, 1), 2.0), kind="full", level=0.95, ratio=0.5, negative=negative)
    assert found.adjusted[0]
    assert found.raw_variance[0] == pytest.approx(1.5 * 0.005 - 2)
    assert (found.variance[0], found.adjusted_variance[0]) == (expected, 1.0)
    assert (found.high[0] - found.low[0] == 0) == (negative == "zero")
