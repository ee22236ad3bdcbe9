"""Rules: what they mean, and what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.frames import open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.protect.synthesis.synthesis_rules import read_rules
from sdckit.protect.synthesis.synthesis_variables import NEW, read_variable

FRAME = pl.DataFrame(
    {"age": [10, 30, None, 50], "marital": ["s", "m", "s", None], "income": [0.0, 10.5, 20.0, 30.0],
     "born": pl.Series([1, 2, 3, 4]).cast(pl.Date)}
)  # fmt: skip
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}
BEFORE = {"marital": {"age", "born"}, "income": {"age", "marital", "born"}}


def holds(column, when, value=None):
    (rule,) = read_rules({column: {"when": when, "value": value}}, V, BEFORE)[column]
    return rule.holds({name: one.held for name, one in V.items()}, 4).tolist()


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({"age": {"below": 30}}, [1, 0, 0, 0]),
        ({"age": {"at_most": 30}}, [1, 1, 0, 0]),
        ({"age": {"above": 30}}, [0, 0, 0, 1]),
        ({"age": {"at_least": 30, "below": 50}}, [0, 1, 0, 0]),
        ({"age": 30}, [0, 1, 0, 0]),
        ({"age": [10, 50, 99]}, [1, 0, 0, 1]),
        ({"age": {"missing": True}}, [0, 0, 1, 0]),
        ({"marital": {"missing": False}}, [1, 1, 1, 0]),
        ({"marital": "s", "age": {"below": 99}}, [1, 0, 0, 0]),
    ],
)
def test_conditions(when, expected):
    assert holds("income", when) == [bool(one) for one in expected]


def test_values():
    def value(column, given):
        rule = {"when": {"age": 10}, "value": given}
        return read_rules({column: [rule]}, V, BEFORE)[column][0].value

    assert value("marital", "s").level.tolist() == [1]
    assert value("marital", None).level.tolist() == [-1]
    assert value("income", 10.5).level.tolist() == [1]
    assert (value("income", 7.0).level.tolist(), value("income", 7.0).number.tolist()) == ([NEW], [7])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([], DataError, "given by column"),
        (
            {"age": {"when": {"income": 1}, "value": 1}},
            ColumnError,
            "'age' is not among the columns to synthesise",
        ),
        ({"marital": {"when": {"income": 1}, "value": "s"}}, ColumnError, "'income' is not known when"),
        ({"marital": {"when": {"age": 1}}}, DataError, "a rule is"),
        ({"marital": {"when": {}, "value": "s"}}, DataError, "no condition"),
        ({"marital": {"when": {"age": {"under": 3}}, "value": "s"}}, DataError, "a condition is"),
        ({"marital": {"when": {"born": {"below": 3}}, "value": "s"}}, DataError, "is no number"),
        ({"marital": {"when": {"born": 3}, "value": "s"}}, DataError, "holds dates"),
        ({"marital": {"when": {"age": "old"}, "value": "s"}}, DataError, "'age' holds numbers"),
        ({"marital": {"when": {"age": 1}, "value": "divorced"}}, DataError, "no record holds the value"),
    ],
)
def test_bad_rules(given, error, message):
    with pytest.raises(error, match=message):
        read_rules(given, V, BEFORE)
