"""The figures and records of A1; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

from draw import quiet
from sdckit import Scenario, key_frequencies
from sdckit.identity.key_frequencies import SIZE_BANDS, frequency_columns
from sdckit.result import LetGo

FRAME = pl.DataFrame({"sex": ["f", "f", "m", None], "age": [1, 1, 2, 2], "w": [3.0, 4.0, 5.0, 6.0]})


def test_figures():
    result = key_frequencies(FRAME, keys=["sex", "age"], weight="w")
    assert (result.n, result.n_cells, result.sample_uniques) == (4, 3, 0)
    assert result.frequency_of_frequencies == {**dict.fromkeys(SIZE_BANDS, 0), "1": 2, "2": 1}
    assert result.missing_rule == "a missing key value may stand for any value"
    assert result.notes == {}
    assert result.resting_on_missing == 1
    assert set(result.to_dict()["figures"]) == {
        "n", "n_cells", "sample_uniques", "sample_unique_rate", "resting_on_missing",
        "frequency_of_frequencies",
    }  # fmt: skip


def test_blank_rows_no_longer_hide_uniques():
    """300 records, each alone, two without any key: they hid all uniques, and now hide none."""
    data = pl.DataFrame({"age": range(300), "job": [i % 7 for i in range(300)]})
    blank = pl.DataFrame({"age": [None, None], "job": [None, None]}, schema=data.schema)
    result = key_frequencies(pl.concat([data, blank]), keys=["age", "job"])
    assert (result.sample_uniques, result.resting_on_missing) == (300, 0)
    one_known = pl.DataFrame({"age": [None], "job": [3]}, schema=data.schema)
    result = key_frequencies(pl.concat([data, one_known]), keys=["age", "job"])
    hidden = sum(i % 7 == 3 for i in range(300))
    assert (result.sample_uniques, result.resting_on_missing) == (300 - hidden, hidden)


def test_records():
    records = key_frequencies(FRAME, keys=["sex", "age"], weight="w").records
    assert records.to_dict(as_series=False) == {
        "cell_size": [2, 2, 1, 1],
        "sample_frequency": [2, 2, 2, 2],
        "population_frequency": [7.0, 7.0, 11.0, 11.0],
        "sample_unique": [False] * 4,
    }


def test_without_weights_there_is_no_population():
    result = key_frequencies(FRAME, keys=["age"])
    assert frequency_columns(result.cells) == ["cell_size", "sample_frequency", "sample_unique"]
    assert result.records.columns == ["cell_size", "sample_frequency", "sample_unique"]
    fraction = key_frequencies(FRAME, keys=["age"], sampling_fraction=0.25)
    assert fraction.records["population_frequency"].to_list() == [8.0] * 4


def test_a_fraction_of_a_match():
    records = key_frequencies(FRAME, keys=["sex", "age"], alpha=0.5).records
    assert records["sample_frequency"].to_list() == [2, 2, 1.5, 2]
    assert records.schema["sample_frequency"] == pl.Float64
    whole = key_frequencies(FRAME, keys=["sex", "age"], alpha=1).records
    assert whole.schema["sample_frequency"] == pl.Int64


@pytest.mark.parametrize(
    ("sizes", "bands"),
    [
        ([1, 2, 3, 4, 5], {"1": 1, "2": 1, "3": 1, "4": 1, "5-9": 1}),
        ([9, 10, 24, 25, 49], {"5-9": 1, "10-24": 2, "25-49": 2}),
        ([50, 99, 100, 250], {"50-99": 2, "100+": 2}),
    ],
)
def test_cells_by_size(sizes, bands):
    column = [value for value, size in enumerate(sizes) for _ in range(size)]
    found = key_frequencies(pl.DataFrame({"k": column}), keys=["k"]).frequency_of_frequencies
    assert found == {**dict.fromkeys(SIZE_BANDS, 0), **bands}


def test_prefix_id_and_scenario():
    frame = FRAME.with_columns(row=pl.int_range(4))
    scenario = Scenario(keys=["sex", "age"], weight="w", missing={"sex": "category"})
    result = key_frequencies(frame, scenario=scenario, id="row", prefix="z_")
    assert result.records.columns == [
        "row", "z_cell_size", "z_sample_frequency", "z_population_frequency", "z_sample_unique",
    ]  # fmt: skip
    assert result.sample_uniques == 2


def test_a_single_record():
    with quiet():
        result = key_frequencies(FRAME[:1], keys=["sex", "age"], weight="w")
        assert (result.n, result.sample_uniques) == (1, 1)


def test_a_pickled_result_keeps_its_figures():
    result = key_frequencies(FRAME, keys=["sex", "age"], weight="w")
    again = pickle.loads(pickle.dumps(result))
    assert isinstance(again.cells, LetGo)
    assert again.to_dict() == result.to_dict()
