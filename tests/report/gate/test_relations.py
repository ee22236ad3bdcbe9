from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st
from scipy.special import hyp2f1

from sdckit.report.gate.figures import Ledger
from sdckit.report.gate.relations import SIZE_CLASSES, largest_size, make_sizes, risk_of_size


@given(st.integers(1, 40), st.floats(0.01, 0.99))
def test_the_risk_of_a_size_is_the_mean_of_one_over_f(size: int, fraction: float) -> None:
    expected = fraction / size * hyp2f1(1, 1, size + 1, 1 - fraction)
    assert risk_of_size(size, fraction) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("method", ["exact", "approx", "worst_case"])
def test_risk_falls_as_cells_grow(method: str) -> None:
    risks = [risk_of_size(size, 0.1, method) for size in range(1, 60)]
    assert risks == sorted(risks, reverse=True)
    assert all(0 < risk <= 1 for risk in risks)


@given(st.floats(0.001, 1), st.sampled_from([0.05, 0.5, 1.0]), st.booleans())
def test_the_largest_size_is_where_risk_passes_the_edge(risk: float, fraction: float, strictly: bool) -> None:
    size = largest_size(risk, fraction, "exact", strictly=strictly)

    def reaches(one: float) -> bool:
        found = risk_of_size(one, fraction)
        return found > risk if strictly else found >= risk

    assert size == 0 or reaches(size)
    assert not reaches(size + 1)


def test_no_risk_is_reached_by_all() -> None:
    assert largest_size(0.0, 0.1, "exact") == math.inf


def test_sizes_cover_every_size_once() -> None:
    sizes = make_sizes(Ledger(), "i0", [5, 9, 10, 200, math.inf])
    ends = [0.0] + [part[1] for part in sizes.parts]
    assert [part[0] for part in sizes.parts] == [end + 1 for end in ends[:-1]]
    assert sizes.parts[-1][1] == math.inf
    for low, high in SIZE_CLASSES.values():
        inside = sizes.within(low, high)
        assert inside[0][0] == low
        assert inside[-1][1] == high
