"""Names of bands are read as the numbers they stand for; what is no band, or not plain, is not read."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.data.hierarchy import read_band
from sdckit.workflow.recoding.band_labels import read_bands

OPEN = math.inf


@pytest.mark.parametrize(
    ("label", "band"),
    [
        ("30-39", (30, 39, True, True)),
        ("30 – 39", (30, 39, True, True)),
        ("30 to 39", (30, 39, True, True)),
        ("30 bis 39", (30, 39, True, True)),
        ("30..39", (30, 39, True, True)),
        ("05-09", (5, 9, True, True)),
        ("-5 to 3", (-5, 3, True, True)),
        ("30-39 years", (30, 39, True, True)),
        ("[30,40)", (30, 40, True, False)),
        ("(0.999, 18.0]", (0.999, 18, False, True)),
        ("[30; 40[", (30, 40, True, False)),
        ("]30, 40]", (30, 40, False, True)),
        ("[65, inf)", (65, OPEN, True, False)),
        ("(-inf, 18)", (-OPEN, 18, False, False)),
        ("65+", (65, OPEN, True, True)),
        ("65 and over", (65, OPEN, True, True)),
        ("65 or more", (65, OPEN, True, True)),
        ("65 und mehr", (65, OPEN, True, True)),
        (">=65", (65, OPEN, True, True)),
        ("≥ 65", (65, OPEN, True, True)),
        ("over 65", (65, OPEN, False, True)),
        (">65", (65, OPEN, False, True)),
        ("<18", (-OPEN, 18, True, False)),
        ("under 18", (-OPEN, 18, True, False)),
        ("up to 17", (-OPEN, 17, True, True)),
        ("≤17", (-OPEN, 17, True, True)),
        ("17 and younger", (-OPEN, 17, True, True)),
        ("42", (42, 42, True, True)),
        ("any", (-OPEN, OPEN, True, True)),
    ],
)
def test_the_usual_spellings(label: str, band: tuple[float, float, bool, bool]) -> None:
    found = read_band(label)
    assert found is not None
    assert found[:4] == band


@pytest.mark.parametrize(
    "label", ["", "unknown", "40-30", "2020-01-31", "30-", "a-b", "3 kids", "-", "1,5-2", "[3, 2]"]
)
def test_what_is_no_band(label: str) -> None:
    assert read_band(label) is None


@pytest.mark.parametrize(
    "labels",
    [
        [],
        ["0-14", "unknown"],
        ["1", "2", "3"],
        ["0-20", "10-30"],
        ["30-40", "40-50"],
        ["0-14", "14+"],
        ["5+", "3+"],
    ],
)
def test_names_that_do_not_fit_together(labels: list[str]) -> None:
    assert read_bands(labels) is None


def test_a_shared_edge_goes_where_it_is_told() -> None:
    labels = ["30-40", "40-50"]
    left, right = read_bands(labels, shared="left"), read_bands(labels, shared="right")
    assert left is not None
    assert right is not None
    assert left.codes(np.array([30.0, 40, 50])).tolist() == [0, 1, 1]
    assert right.codes(np.array([30.0, 40, 50])).tolist() == [0, 0, 1]


@given(
    edges=st.lists(st.integers(-50, 120), min_size=2, max_size=6, unique=True).map(sorted),
    low_open=st.booleans(), high_open=st.booleans(), closed=st.sampled_from(["left", "right"]), tenths=st.booleans(),
)  # fmt: skip
def test_every_name_that_recode_gives_is_read_back(edges, low_open, high_open, closed, tenths) -> None:
    """The law: the bands read from the names put every number where recode put it."""
    numbers = np.arange(edges[0], edges[-1] + 1, dtype=float)
    if tenths:
        numbers = np.append(numbers, edges[0] + 0.5)
    bands = [None if low_open else edges[0], *edges[1:-1], None if high_open else edges[-1]]
    made = (
        sdc.recode(pl.DataFrame({"x": numbers}), column="x", bands=bands, closed=closed).data["x"].to_list()
    )
    found = read_bands(sorted(set(made)))
    if all(label.lstrip("-").isdigit() for label in made):
        assert found is None
        return
    assert found is not None
    assert [found.labels[code] for code in found.codes(numbers).tolist()] == made
