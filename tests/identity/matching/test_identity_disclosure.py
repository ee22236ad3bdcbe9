"""The figures and records of B5; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import identity_disclosure
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError

SURVEY = pl.DataFrame({"age": [20, 30, 30, 40, None], "sex": list("fmmff")})
RELEASE = pl.DataFrame({"age": [20, 40, 40, None, 50, 50], "sex": list("ffffmf")})


def test_figures_and_records():
    result = identity_disclosure(SURVEY, RELEASE, keys=["age", "sex"], prefix="x_")
    assert (result.n, result.n_released) == (5, 6)
    assert (result.unique_in_original, result.unique_in_released) == (3 / 5, 4 / 6)
    assert (result.unique_in_original_in_released, result.replicated_uniques) == (3 / 5, 2 / 5)
    records = result.records
    assert records["x_unique_in_original"].to_list() == [True, False, False, True, True]
    assert records["x_unique_in_original_in_released"].to_list() == [1, 0, 0, 1, 1]
    assert records["x_replicated_unique"].to_list() == [1, 0, 0, 0, 1]


def test_the_original_as_its_own_release():
    result = identity_disclosure(SURVEY, SURVEY, keys=["age"])
    assert result.unique_in_original == result.unique_in_released == result.replicated_uniques == 0.6
    assert result.notes["released"] == "the release has the original's keys, row by row"


def test_files_that_share_no_key():
    result = identity_disclosure(SURVEY, pl.DataFrame({"age": [1, 2]}), keys=["age"])
    assert (result.unique_in_original_in_released, result.replicated_uniques) == (0, 0)
    assert result.unique_in_released == 1


def test_a_pair_opened_before_and_several_releases():
    pair = open_pair(SURVEY, [RELEASE, SURVEY], categories={"keys": ["age"]})
    result = identity_disclosure(pair, keys=["age"])
    assert result.replicated_uniques == pytest.approx((0.4 + 0.6) / 2)
    assert result.n_released == 5.5
    with pytest.raises(ColumnError, match="release 1 has no column 'b'"):
        identity_disclosure(pair, keys=["b"])
    with pytest.raises(DataError, match="fixed by the pair"):
        identity_disclosure(pair, RELEASE, keys=["age"])
