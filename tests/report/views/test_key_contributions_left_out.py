"""The risk left without a key lies between what the fewest and the most cells could have."""

from __future__ import annotations

import itertools

import pytest

from sdckit.report.gate.figures import Ledger
from sdckit.report.gate.relations import risk_of_size
from sdckit.report.views.key_contributions import bound_risk_left, cells_between

N = 12


def test_the_cells_are_named_after_both_counts() -> None:
    assert cells_between("ones", "below 3") == "below 3 - ones: cells"


@pytest.mark.parametrize("fraction", [1.0, 0.25])
def test_every_file_lies_within_the_bounds(fraction: float) -> None:
    ledger = Ledger()
    bound_risk_left(ledger, "risk", {1: "ones", 2: "below 3"}, fraction)
    for ones, pairs in itertools.product(range(4), range(4)):
        left = N - ones - 2 * pairs
        if left and left < 3:
            continue
        sizes = [1] * ones + [2] * pairs + ([left] if left else [])
        at = {
            "risk": sum(size * risk_of_size(size, fraction) for size in sizes),
            "n": N,
            "ones": ones,
            "below 3": ones + 2 * pairs,
            "below 3 - ones: cells": pairs,
        }
        for relation in ledger.relations:
            value = sum(factor * at[name] for name, factor in relation.terms)
            assert relation.lower - 1e-9 <= value <= relation.upper + 1e-9
    assert len(ledger.relations) == 2
