"""What every result can do: figures as frame, dict and text; no data once pickled."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from functools import cached_property
from typing import ClassVar

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from draw import quiet
from sdckit.errors import DataError
from sdckit.result import SCHEMA_VERSION, LetGo, Result, json_ready

FRAME = pl.DataFrame(
    {"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "w": [30.0, 40.0, 50.0, 60.0], "hh": [1, 1, 2, 3],
     "health": ["y", "n", "y", "y"]}
)  # fmt: skip
KEYS = ["sex", "age"]


def every_result(frame):
    with quiet():
        return [
            sdckit.key_frequencies(frame, keys=KEYS, weight="w"),
            sdckit.k_anonymity(frame, keys=KEYS),
            sdckit.individual_risk(frame, keys=KEYS, weight="w", household="hh", threshold="mad"),
            sdckit.household_structure(frame, keys=KEYS, household="hh"),
            sdckit.key_contributions(frame, keys=KEYS, weight="w"),
            sdckit.l_diversity(frame, keys=KEYS, sensitive="health"),
        ]


RESULTS = every_result(FRAME)
by_measure = pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.measure)


@by_measure
def test_as_a_dict(result):
    found = result.to_dict()
    assert found["schema_version"] == SCHEMA_VERSION
    assert found["measure"] == result.measure
    assert set(found["figures"]) == set(result.figures)
    assert found["notes"] == result.notes
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@by_measure
def test_as_a_small_frame(result):
    summary = result.summary()
    assert isinstance(summary, pl.DataFrame)
    assert summary.columns == ["figure", "value"]
    assert summary["figure"].n_unique() == summary.height > 0
    assert summary.height <= 20
    details = result.details()
    assert set(summary.rows()) <= set(details.rows()) or summary["value"].is_nan().any()
    assert details["figure"].to_list() == [name for name, _ in result._flat()]


@by_measure
def test_as_text(result):
    text = repr(result)
    assert text.startswith(f"{type(result).__name__}(")
    assert "cells" not in text.replace("n_cells", "")


@by_measure
def test_is_frozen(result):
    with pytest.raises(FrozenInstanceError):
        result.prefix = "x"


@by_measure
def test_lets_go_of_the_data_when_pickled(result):
    text = pickle.dumps(result)
    again = pickle.loads(text)
    assert isinstance(again.cells, LetGo)
    assert again.to_dict() == result.to_dict()
    assert repr(again) == repr(result)
    assert isinstance(again.summary(), pa.Table)
    assert pickle.loads(pickle.dumps(again)).to_dict() == result.to_dict()
    assert copy.copy(result) is result
    with pytest.raises(DataError):
        again.records  # noqa: B018


def test_what_was_let_go_says_so():
    again = pickle.loads(pickle.dumps(RESULTS[2]))
    for asked in (lambda: again.records, lambda: again.threshold_for(0.1), lambda: again.histogram([0, 1])):
        with pytest.raises(DataError, match=r"this result has let go of the data \(it was pickled\); measure again"):
            asked()


@pytest.mark.parametrize(("native", "kind"), [(FRAME.to_pandas(), pd.DataFrame), (FRAME.to_arrow(), pa.Table)])
def test_the_summary_is_of_the_caller_s_engine(native, kind):
    for result, polars in zip(every_result(native), RESULTS, strict=True):
        assert isinstance(result.summary(), kind)
        assert result.to_dict() == polars.to_dict()


@dataclass(frozen=True, eq=False, repr=False)
class Small(Result):
    measure: ClassVar[str] = "small"
    figures: ClassVar[tuple[str, ...]] = ("value", "nested", "nothing")
    dropped: ClassVar[tuple[str, ...]] = ("data",)
    data: list[int]
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def value(self):
        return sum(self.data)

    @cached_property
    def nested(self):
        return {"a": {2: 1.5, 3: math.nan}, "b": (1, 2)}

    @property
    def nothing(self):
        return None


def test_nested_figures_are_spread_out():
    small = Small([1, 2], {"nested": "a reason"})
    summary = dict(small.summary().to_pylist()[i].values() for i in range(5))
    assert list(summary) == ["value", "nested[a][2]", "nested[a][3]", "nested[b][1]", "nested[b][2]"]
    assert small.to_dict()["figures"] == {
        "value": 3,
        "nested": {"a": {"2": 1.5, "3": None}, "b": [1, 2]},
        "nothing": None,
    }
    assert small.to_dict()["notes"] == {"nested": "a reason"}
    assert repr(small) == "Small(value=3, nested[a][2]=1.5, nested[a][3]=nan, nested[b][1]=1, nested[b][2]=2)"


def test_what_has_many_values_is_left_out_as_a_whole():
    @dataclass(frozen=True, eq=False, repr=False)
    class Long(Small):
        figures: ClassVar[tuple[str, ...]] = ("nested", "levels", "value")

        @cached_property
        def levels(self):
            return dict.fromkeys(range(60), 1.0)

    long = Long([1, 2])
    assert long.summary()["figure"].to_pylist() == [*[name for name, _ in Small([1, 2])._flat()][1:], "value"]
    assert long.details().num_rows == 65


def test_figures_are_computed_before_the_data_go():
    again = pickle.loads(pickle.dumps(Small([1, 2])))
    assert isinstance(again.data, LetGo)
    assert again.value == 3


@pytest.mark.parametrize(
    ("value", "expected"),
    [(math.inf, None), (-math.inf, None), (math.nan, None), (1, 1), (True, True), ("x", "x"), (None, None),
     ((1, [2.5, math.nan]), [1, [2.5, None]]), ({1: {None: math.inf}}, {"1": {"None": None}})],
)  # fmt: skip
def test_plain_json(value, expected):
    assert json_ready(value) == expected
