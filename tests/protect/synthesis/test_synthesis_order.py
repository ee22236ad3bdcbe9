"""The order of drawing, what predicts each variable, and joint variables together."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_order import general_predictors, in_order, targets_in_order
from sdckit.protect.synthesis.synthesis_variables import read_variable

FRAME = pl.DataFrame(
    {name: np.random.default_rng(at).integers(0, 9, 40) for at, name in enumerate("abcxy")}
).with_columns(flat=pl.lit(1))
VARIABLES = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}


def ordered(given=None, *, targets=("a", "b", "c"), joint=(), helpers=("x",), fixed=False):
    order, predicting, formulas = in_order(
        targets, given, VARIABLES, joint=joint, helpers=helpers, fixed=fixed
    )
    return order, predicting, set(formulas)


def test_without_predictors_all_before_predict():
    assert ordered() == (("a", "b", "c"), {"a": ("x",), "b": ("x", "a"), "c": ("x", "a", "b")}, set())


def test_named_predictors_alone_predict_and_come_first():
    order, predicting, formulas = ordered({"a": ["c"], "b": "~ y * a"})
    assert order == ("c", "a", "b")
    assert predicting == {"c": ("x",), "a": ("c",), "b": ("y", "a")}
    assert formulas == {"b"}


def test_joint_variables_stand_together_and_share_what_predicts():
    assert ordered(joint=("a", "c"))[:2] == (
        ("a", "c", "b"),
        {"a": ("x",), "c": ("x", "a"), "b": ("x", "a", "c")},
    )
    order, predicting, _ = ordered({"a": ["b", "y"], "c": ["b", "y"]}, joint=("a", "c"))
    assert order == ("b", "a", "c")
    assert predicting == {"b": ("x",), "a": ("b", "y"), "c": ("b", "y", "a")}
    assert ordered({"a": "~ b*y", "c": "~ b*y"}, joint=("a", "c"))[1]["c"] == ("b", "y", "a")


@pytest.mark.parametrize(
    ("given", "options", "error", "says"),
    [
        ({"a": ["b"], "b": ["a"]}, {}, DataError, "predict each other in a circle"),
        ({"a": ["b"]}, {"fixed": True}, DataError, "'b' is drawn after it"),
        ({"a": ["flat"]}, {}, DataError, "'flat' does not vary"),
        ({"d": ["a"]}, {}, ColumnError, "'d' is not among the columns to synthesise"),
        ({"a": ["x"]}, {"joint": ("a", "c")}, DataError, "name the same for each of them"),
        ({"a": ["x"], "c": ["y"]}, {"joint": ("a", "c")}, DataError, "name the same for each of them"),
        ({"a": ["c"], "c": ["c"]}, {"joint": ("a", "c")}, ColumnError, "predict itself"),
        (None, {"joint": ("a", "c"), "fixed": True}, DataError, "name them one after the other"),
    ],
)
def test_what_is_refused(given, options, error, says):
    with pytest.raises(error, match=says):
        ordered(given, **options)


def test_targets_are_what_varies_or_what_is_named():
    assert targets_in_order(None, None, {"x"}, VARIABLES, 40) == (
        ("a", "b", "c", "y"),
        {"left": "flat hold one value or none, and stay"},
    )
    assert targets_in_order(("a", "b"), ["b", "a"], set(), VARIABLES, 40)[0] == ("b", "a")
    with pytest.raises(ColumnError, match="order= names exactly"):
        targets_in_order(("a", "b"), ["b"], set(), VARIABLES, 40)


def test_all_others_predict_but_those_of_no_use():
    assert general_predictors(None, ("a",), {"b"}, VARIABLES, 40) == (
        ("c", "x", "y"),
        {"predictors": "flat predict nothing: one value, or a list of names"},
    )
    assert general_predictors(["x"], ("a",), set(), VARIABLES, 40) == (("x",), {})
    with pytest.raises(DataError, match="'flat' does not vary"):
        general_predictors(["flat"], ("a",), set(), VARIABLES, 40)
