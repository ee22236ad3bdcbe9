"""The figure of each record before and after, as pairs and as a picture."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from sdckit.data.frames import rows_of
from sdckit.errors import DataError

KEYS = ["sex", "region"]


@pytest.fixture(scope="module")
def files():
    return releases.original(), releases.release()


def counted(result) -> Counter:
    return Counter({(row["original"], row["released"]): row["n"] for row in rows_of(result.pairs())})


def of_records(result, before: str, after: str, unit: float = 1.0) -> Counter:
    rows = result.records
    return Counter(zip((rows[before] / unit).to_list(), (rows[after] / unit).to_list(), strict=True))


def test_pairs_of_attribution_are_those_of_the_records(files):
    result = sdc.correct_attribution_probability(*files, keys=KEYS, target="ill")
    assert counted(result) == of_records(result, "cap_original", "cap")
    assert isinstance(result.pairs(), pl.DataFrame)


def test_pairs_of_prediction_are_in_the_unit_of_the_bars(files):
    numeric = sdc.prediction_risk(*files, keys=KEYS, target="income", numeric=["income"])
    unit = np.sqrt(numeric.baseline)
    found, expected = counted(numeric), of_records(numeric, "error_original", "error_released", unit)
    np.testing.assert_allclose(sorted(found), sorted(expected), rtol=1e-12)
    assert sum(found.values()) == numeric.n
    relative = sdc.prediction_risk(*files, keys=KEYS, target="income", numeric=["income"], loss="relative")
    assert counted(relative) == of_records(relative, "loss_original", "loss_released")
    levels = sdc.prediction_risk(*files, keys=KEYS, target="ill", numeric=[])
    assert counted(levels) == of_records(levels, "correct_original", "correct_released")


def test_records_without_a_target_are_in_no_pair(files):
    original = files[0].with_columns(
        income=pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("income")
    )
    result = sdc.prediction_risk(original, files[1], keys=KEYS, target="income", numeric=["income"])
    assert sum(row["n"] for row in rows_of(result.pairs())) == result.n == original.height - 7


def test_a_pickled_result_has_no_pairs(files):
    result = pickle.loads(pickle.dumps(sdc.cap(*files, keys=KEYS, target="ill")))
    with pytest.raises(DataError, match="let go of the data"):
        result.pairs()


def test_scatter_is_true_or_false(files):
    with pytest.raises(DataError, match="scatter is True or False") as caught:
        sdc.cap(*files, keys=KEYS, target="ill").plot(scatter="yes")
    assert caught.value.argument == "scatter"
