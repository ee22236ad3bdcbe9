"""Numbers in steps."""

from __future__ import annotations

import math

import pytest

from sdckit.utility.models.steps import in_steps, rounded_up


@pytest.mark.parametrize(
    ("step", "up"),
    [(0.2, 0.2), (0.21, 0.5), (5.1, 10), (1e-7, 1e-7), (0.0, 0.0), (math.nan, 0.0), (math.inf, 0.0)],
)
def test_a_step_is_a_round_number_and_never_smaller(step, up):
    assert rounded_up(step) == pytest.approx(up)


def test_the_nearest_multiple():
    assert [in_steps(value, 0.2) for value in (0.09, 0.11, -0.31, 1.0)] == [0.0, 0.2, -0.4, 1.0]
    assert math.isnan(in_steps(math.nan, 0.2))
    assert str(in_steps(-0.01, 0.2)) == "0.0"
