"""Figures of several releases: their mean, their spread, and what is said where one is undefined."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import ClassVar

import polars as pl
import pytest

from sdckit.cells.pair import open_pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.errors import DataError


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Example(PairResult):
    """A result."""

    measure: ClassVar[str] = "example"
    figures: ClassVar[tuple[str, ...]] = ("rate",)
    rate: float


def example():
    pair = open_pair(pl.DataFrame({"a": [1]}), [pl.DataFrame({"a": [1]})] * 3, categories={"keys": ["a"]})
    each = ({"rate": 0.5}, {"rate": math.nan}, {"rate": 1.0})
    notes: dict[str, str] = {}
    return Example(pair=pair, per_release=each, notes=notes, missing_rule="a level", **mean_figures(each, notes))


def test_means_leave_out_what_is_undefined_and_say_so():
    found = example()
    assert found.rate == 0.75
    assert found.spread == {"rate": (0.5, 1.0)}
    assert found.notes == {"rate": "mean over the 2 of 3 releases where it is defined"}
    assert found.m == 3
    assert found.by_release["release"].to_list() == [1, 2, 3]


def test_a_figure_undefined_everywhere_stays_undefined():
    notes: dict[str, str] = {}
    assert math.isnan(mean_figures([{"rate": math.nan}], notes)["rate"])
    assert notes == {}


def test_documents_have_every_release():
    found = example().to_dict()
    assert found["m"] == 3
    assert found["by_release"] == [{"rate": 0.5}, {"rate": None}, {"rate": 1.0}]
    assert found["missing_rule"] == "a level"
    assert isinstance(example().summary(), pl.DataFrame)


def test_the_files_are_dropped_when_it_is_pickled():
    found = pickle.loads(pickle.dumps(example()))
    assert found.rate == 0.75
    assert found.summary().num_rows == 1
    with pytest.raises(DataError, match="let go of the data"):
        found.by_release  # noqa: B018
