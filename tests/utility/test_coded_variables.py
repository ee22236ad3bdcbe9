"""Which variables are cut, which are taken value by value, and what is said of their levels."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.errors import ColumnError, DataError
from sdckit.utility.chosen_variables import chosen_variables
from sdckit.utility.coded_variables import bins_of, coded_variables

SURVEY = pl.DataFrame(
    {"age": list(range(20, 40)), "sex": [1, 2] * 10, "town": ["a", "b"] * 10, "one": [7.5] * 20}
)
RELEASE = SURVEY.with_columns(town=pl.Series(["c"] * 19 + [None]), sex=pl.lit(2))


def coded(numeric=None, bins=5, released=RELEASE):
    chosen = chosen_variables(SURVEY, released, numeric=numeric)
    found, numbers, notes = coded_variables(chosen, bins)
    return {one.name: one for one in found}, numbers, notes


def test_numbers_with_many_values_are_cut():
    found, numbers, notes = coded()
    assert [one.kind for one in found.values()] == ["classes", "numbers", "text", "numbers"]
    assert numbers == ("age",)
    assert notes["values"] == "taken value by value because they have so few: sex, one"
    assert found["age"].n_levels == 5
    assert found["age"].counts.tolist() == [[0, 4, 4, 4, 4, 4]] * 2
    assert found["age"].labels()[1] == "[20, 23.8)"
    assert found["sex"].counts.tolist() == [[0, 10, 10], [0, 0, 20]]
    assert found["town"].counts.tolist() == [[0, 10, 10, 0], [1, 0, 0, 19]]


def test_numbers_declared_stay_numbers():
    found, numbers, notes = coded(numeric=["sex", "age"], bins={"age": 10})
    assert found["age"].n_levels == 10
    # a code of 1 and 2 is not put into one class, whatever it is called
    assert (found["sex"].kind, found["sex"].n_levels) == ("numbers", 2)
    assert set(numbers) == {"sex", "age"}
    assert notes["values"].endswith("so few: sex")


def test_few_values_are_counted_over_all_files():
    more = RELEASE.with_columns(sex=pl.Series(range(20)))
    assert coded(released=more)[0]["sex"].kind == "classes"


def test_notes():
    notes = coded()[2]
    assert notes["constant"] == "a single level in all files: one"
    assert notes["levels"] == "no value in common between the original and any release: town"
    assert notes["missing"] == "missing values in some of the files only: town"


@pytest.mark.parametrize(
    ("bins", "error", "words"),
    [
        (1, DataError, "2 or more"),
        (2.5, DataError, "2 or more"),
        (True, DataError, "2 or more"),
        ({"age": 1}, DataError, "2 or more"),
        ({"sex": 3}, ColumnError, "bins: 'sex' is not among the numeric variables"),
    ],
)
def test_what_cannot_be(bins, error, words):
    with pytest.raises(error, match=words):
        bins_of(bins, ["age"])
