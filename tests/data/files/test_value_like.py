"""Texts that are values rather than names."""

from __future__ import annotations

import pytest

from sdckit.data.files.value_like import is_code, is_value


@pytest.mark.parametrize(
    "text",
    ["0", " 12 ", "-3.5", "1.234,5", "0012", "1e5", "15-29", "60+", "<5", "€ 1,200", "50%", "2020-01-31",
     "31.12.1990", "1/2/90", "2020-01-31T10:00:00Z", "12-Mar-1990", "3. Oktober 1971", "1st jan 2000",
     "anna@example.org", "٣"],
)  # fmt: skip
def test_values(text):
    assert is_value(text)


@pytest.mark.parametrize(
    "text",
    ["age", "v12", "q1_2", "1st_job", "income 2019", "w.x", "", " ", "größe", "e5", "a-b", "2019q1", "@"],
)
def test_names(text):
    assert not is_value(text)


def test_codes():
    assert all(map(is_code, ["", " ", "NA", " . ", "null"]))
    assert not any(map(is_code, ["na", "None", "0"]))
