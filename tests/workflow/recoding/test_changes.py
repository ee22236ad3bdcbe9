"""Each kind of recoding, done to a frame that stays as it was."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.errors import DataError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recoding.band_labels import read_bands
from sdckit.workflow.recoding.changes import Banded, Grouped, Repeated

FRAME = pl.DataFrame({"x": [5, 15, 99, None]})


def test_bands_with_and_without_what_lies_beyond() -> None:
    bands = read_bands(["0-9", "10-19"])
    assert bands is not None
    assert Banded("x", bands).apply(FRAME)["x"].to_list() == ["0-9", "10-19", None, None]
    assert Banded("x", bands, keep=True).apply(FRAME)["x"].to_list() == ["0-9", "10-19", "99", None]
    assert FRAME["x"].to_list() == [5, 15, 99, None]


def test_groups_with_and_without_what_is_in_none() -> None:
    assert Grouped("x", {5: 1, 15: 1}, keep=True).apply(FRAME)["x"].to_list() == [1, 1, 99, None]
    assert Grouped("x", {5: "a", 15: "a"}).apply(FRAME)["x"].to_list() == ["a", "a", None, None]


@pytest.mark.parametrize(
    ("method", "arguments", "words", "values"),
    [
        ("recode", {"bands": [0, 10, None]}, "numbers in bands", ["0-9", "10+", "10+", None]),
        ("recode", {"groups": {"1": [5, 15, 99]}}, "values in groups", ["1", "1", "1", None]),
        ("top_bottom_code", {"top": 20}, "the largest numbers brought to a limit", [5, 15, 20, None]),
        (
            "top_bottom_code",
            {"top": 20, "bottom": 9},
            "the largest and smallest numbers brought to a limit",
            [9, 15, 20, None],
        ),
        ("round_to", {"base": 10, "how": "down"}, "numbers rounded", [0, 10, 90, None]),
    ],
)
def test_a_step_is_repeated(
    method: str, arguments: dict[str, object], words: str, values: list[object]
) -> None:
    one = Repeated(1, StepLike(method, {"column": "x", **arguments}))
    assert one.kind == words
    assert one.apply(FRAME)["x"].to_list() == values
    assert one.elsewhere() is one


def test_edges_of_one_file_are_not_those_of_another() -> None:
    one = Repeated(2, StepLike("recode", {"column": "x", "bands": 3}), own_values="the edges of its bands")
    with pytest.raises(
        DataError, match=r"step 2 \(recode\) takes the edges of its bands from the file's own values"
    ):
        one.elsewhere()


def test_an_error_names_the_step() -> None:
    with pytest.raises(DataError, match=r"step 4 \(recode\): column 'x': 1 records have a value in no band"):
        Repeated(4, StepLike("recode", {"column": "x", "bands": [0, 50]})).apply(FRAME)
    assert np.array_equal(FRAME["x"].is_null(), [False, False, False, True])
