"""No message and no warning holds a value of a record, whatever goes wrong."""

from __future__ import annotations

import math
import traceback
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sdckit
from sdckit.errors import SdcError, SdcWarning

MARKS = ("zq7marker", "98765.4321", "987654321")
TEXT, NUMBER, WHOLE = "zq7marker", 98765.4321, 987654321
N = 12
GOOD = {
    "sex": [TEXT, *["f", "m"] * 5, "f"],
    "age": [WHOLE, *range(30, 30 + N - 1)],
    "w": [NUMBER, *[20.0] * (N - 1)],
    "hh": [WHOLE, *[1, 2] * 5, 3],
    "p": [WHOLE, *range(N - 1)],
    "s": [TEXT, *["yes", "no"] * 5, "no"],
    "gap": [TEXT, None, *["x"] * (N - 2)],
    "none": [None] * N,
    "same": [TEXT] * N,
}
BAD_WEIGHTS = [
    [-NUMBER, *[1.0] * (N - 1)],
    [0.0, NUMBER, *[1.0] * (N - 2)],
    [math.inf, NUMBER, *[1.0] * (N - 2)],
    [None, NUMBER, *[1.0] * (N - 2)],
    [TEXT, *["1"] * (N - 1)],
    [NUMBER / 1e7] * N,
]
CALLS = {
    "an odd weight": ({"keys": ["sex"], "weight": "w"}, True),
    "an absent key": ({"keys": ["seks"]}, False),
    "a key without values": ({"keys": ["sex", "none"]}, False),
    "missing as an error": ({"keys": ["sex", "gap"], "missing": "error"}, False),
    "a person with gaps in the key": ({"keys": ["gap"], "person": "p"}, False),
    "a constant and a unique key": ({"keys": ["same", "age"]}, False),
    "a household": ({"keys": ["sex"], "household": "gap"}, False),
    "an unknown threshold": ({"keys": ["sex"], "threshold": 7}, False),
    "a weight and a fraction": ({"keys": ["sex"], "weight": "w", "sampling_fraction": 0.1}, False),
    "a weight that varies within persons": ({"keys": ["sex"], "weight": "age", "person": "hh"}, False),
    "a text as weight": ({"keys": ["age"], "weight": "s"}, False),
    "an absent person": ({"keys": ["sex"], "person": "gap"}, False),
    "an absent id": ({"keys": ["sex"], "id": "row"}, False),
    "an id named as a result": ({"keys": ["sex"], "id": "Risk"}, False),
}
ENGINES = [lambda columns: pl.DataFrame(columns, strict=False), pd.DataFrame, pa.table]


def said(function, *args, **kwargs):
    """Everything a call says: its warnings and its error, with what is printed of both."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
            words = [repr(result), str(result.notes), str(len(result.details()) + len(result.records))]
            assert len(result.summary()) <= 20
        except SdcError as error:
            words = traceback.format_exception(error, chain=True)
            words = [line for line in words if not line.startswith("  ")]  # not the lines of the program
    return "\n".join([*(str(one.message) for one in caught), *words])


def clean(words):
    return not any(mark in words for mark in MARKS)


@pytest.mark.parametrize("engine", ENGINES, ids=["polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("name", CALLS)
def test_individual_risk_keeps_values_to_itself(name, engine):
    arguments, odd_weight = CALLS[name]
    columns = {**GOOD, "Risk": GOOD["age"]}
    for weight in BAD_WEIGHTS if odd_weight else [GOOD["w"]]:
        words = said(sdckit.individual_risk, engine({**columns, "w": weight}), **arguments)
        assert clean(words)


@pytest.mark.parametrize("engine", ENGINES, ids=["polars", "pandas", "pyarrow"])
def test_the_other_measures_keep_values_to_themselves(engine):
    frame = engine(GOOD)
    for keys, sensitive in product((["sex", "age"], ["same"], ["gap", "sex"]), ("s", "none", "gap", "sex")):
        assert clean(said(sdckit.l_diversity, frame, keys=keys, sensitive=sensitive))
    for measure in (sdckit.key_frequencies, sdckit.k_anonymity, sdckit.household_structure):
        more = {"household": "gap"} if measure is sdckit.household_structure else {}
        for keys in (["sex", "age"], ["same"], ["none"], ["absent"], []):
            assert clean(said(measure, frame, keys=keys, **more))


def test_columns_of_several_types():
    for first in (TEXT, NUMBER, WHOLE):
        for second in (TEXT, 1, 2.5, b"x", [1], {"a": 1}):
            frame = pd.DataFrame({"k": pd.Series([first, second], dtype=object), "w": [1.0, 2.0]})
            assert clean(said(sdckit.key_frequencies, frame, keys=["k"]).replace("n_cells", ""))
            assert clean(said(sdckit.key_frequencies, frame, keys=["w"], weight="k"))


def test_a_numeric_key_with_thousands_of_values():
    values = np.concatenate([[WHOLE], np.arange(2000)])
    words = said(sdckit.key_frequencies, pl.DataFrame({"age": values, "b": [1, 2, 2] * 667}), keys=["age", "b"])
    assert "2001 different values" in words or "different for every record" in words
    assert clean(words)


def test_the_checks_above_do_find_a_value():
    def leaky():
        warnings.warn(f"bad: {TEXT}", SdcWarning, stacklevel=2)
        raise sdckit.DataError("bad")

    assert not clean(said(leaky))
