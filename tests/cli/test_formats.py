"""Numbers for a terminal."""

from __future__ import annotations

import math

import pytest

from sdckit.cli.formats import count, number, percent


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (6366, "6,366"), (2.0, "2"), (1.25, "1.2"), (1234.56, "1,234.6")]
)
def test_a_count(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, "0 %"),
        (1, 0, "0 %"),
        (5, 5, "100 %"),
        (1, 3, "33 %"),
        (1, 15, "6.7 %"),
        (1, 100, "1.0 %"),
        (1, 1000, "0.10 %"),
        (996, 10_000, "10 %"),
        (9999, 10_000, ">99 %"),
        (1, 2000, "0.050 %"),
    ],
)
def test_a_share(part: float, whole: float, text: str) -> None:
    assert percent(part, whole) == text


def test_a_figure_that_is_undefined_is_a_dash() -> None:
    assert (number(math.nan), number(None), number(0.5)) == ("–", "–", "0.5")
