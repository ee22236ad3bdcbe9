"""Names of bands read as ranges, and ends that do not belong to them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from sdckit.data.band_labels import range_of_label, read_band

INF = math.inf


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("7", (7, 7)), ("-3.5", (-3.5, -3.5)), ("30-39", (30, 39)), ("30–39", (30, 39)), ("30 to 39", (30, 39)),
        (" 30 - 39 ", (30, 39)), ("5+", (5, INF)), ("65 or more", (65, INF)), ("at least 65", (65, INF)),
        (">=65", (65, INF)), ("≥ 65", (65, INF)), ("up to 17", (-INF, 17)), ("<= 17", (-INF, 17)),
        ("under 18", (-INF, 17)), ("< 18", (-INF, 17)), ("over 64", (65, INF)), ("[20, 30)", (20, 29)),
        ("(20, 30]", (21, 30)), ("(20.0, 30.0]", (21, 30)), ("-10--5", (-10, -5)), ("05-09", (5, 9)),
        ("0-0.5", (0, 0.5)),
        ("30-39 years", (30, 39)),
    ],
)  # fmt: skip
def test_spellings(label, expected):
    assert range_of_label(label) == expected


@pytest.mark.parametrize(
    "label",
    ["", "north", "30-", "-", "39-30", "(5, 5)", "3 of 4", "unknown", "1-2-3", "a1", "25-00703", "1-01"],
)
def test_what_is_no_range(label):
    assert range_of_label(label) is None


@given(st.integers(-500, 500), st.integers(1, 300), st.booleans(), st.booleans())
def test_numbers_within_and_beyond_an_interval(low, width, opened, closed):
    label = f"{'(' if opened else '['}{low}, {low + width}{']' if closed else ')'}"
    inside = range(low + opened, low + width + closed)
    found = range_of_label(label)
    assert found == ((min(inside), max(inside)) if inside else None)
    assert range_of_label(label, whole=False) == (low, low + width)


@given(st.text(max_size=30))
def test_no_text_is_too_odd(text):
    found = range_of_label(text)
    assert found is None or found[0] <= found[1]
    band = read_band(text)
    assert band is None or band.low <= band.high
