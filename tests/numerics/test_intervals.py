"""Wilson's interval against statsmodels, and what a share exceeds another by."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from sdckit.numerics.intervals import excess, wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (3, 10), (0, 500), (500, 500), (77, 200)])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_as_statsmodels(successes, n, level):
    found = wilson(successes, n, level)
    low, high = proportion_confint(successes, n, 1 - level, "wilson")
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-12)
    assert 0 <= found.low < found.centre < found.high <= 1


def test_excess_by_simulated_propagation():
    attack, control = wilson(800, 1000), wilson(400, 1000)
    value, low, high = excess(attack, control)
    rng = np.random.default_rng(1)
    a, c = (rng.normal(one.centre, one.half, 200_000) for one in (attack, control))
    drawn = (a - c) / (1 - c)
    assert value == pytest.approx((attack.centre - control.centre) / (1 - control.centre))
    assert (high - low) / 2 == pytest.approx(drawn.std(), rel=0.02)
    assert value == pytest.approx((high + low) / 2)


def test_nothing_is_cut_off():
    value, low, _ = excess(wilson(0, 50), wilson(40, 50))
    assert low < value < -1
    assert excess(wilson(7, 50), wilson(7, 50))[0] == 0
