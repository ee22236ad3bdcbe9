"""The rows of the room `attribute` stand in its own part of the catalogue, each once."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.catalogue import CATALOGUE, Context, measure
from sdckit.catalogue.attribute import ATTRIBUTE
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m"], "ill": ["y", "n", "y", "n"], "void": [None, None, None, None]})


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "attribute") == ATTRIBUTE
    assert len({row.name for row in ATTRIBUTE}) == len(ATTRIBUTE)


def test_variables_that_cannot_be_compared_are_refused_one_by_one() -> None:
    frame = FRAME.with_columns(pl.col("void").cast(pl.String))
    context = Context(scenario=Scenario(keys=["sex"], sensitive=["void", "ill"], thresholds={"l": 4}), data=frame)
    (first, refused), (second, found) = measure("l_diversity").run(context)
    assert (first, second) == ("", "")
    with pytest.raises(DataError, match="'void' has no value"):
        refused()
    assert found().variables == ("ill",)
    assert sorted(found().violations["ill"]["distinct"]) == [2, 3, 4]


def test_numbers_are_compared_as_numbers() -> None:
    one = Scenario(keys=["sex", "age"], sensitive=["ill", "income"], numeric=["age", "income"])
    context = Context(scenario=one, n=10)
    assert measure("t_closeness").arguments(context)["distance"] == {"ill": "equal", "income": "numeric"}
    about = context.about("income")
    assert measure("correct_attribution_probability").arguments(about)["width"] == 0.1
    assert measure("correct_attribution_probability").arguments(context.about("ill"))["width"] is None
    assert measure("attribute_disclosure").arguments(about)["numeric"] == ["age", "income"]
