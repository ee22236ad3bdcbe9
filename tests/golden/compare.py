"""How a figure per record is compared with a golden case: its sum, its sum by row number, its first values."""

from __future__ import annotations

import numpy as np
import pytest

from draw import quiet
from sdckit import individual_risk, key_frequencies


def agree(found, expected, tolerance):
    """Compare a vector with what is known of it."""
    found = np.asarray(found, float)
    rows = np.arange(1, len(found) + 1)
    for figure, value in (("sum", found.sum()), ("sum_by_row", rows @ found), ("min", found.min())):
        if figure in expected:
            assert value == pytest.approx(expected[figure], rel=tolerance), figure
    first = expected.get("first", [])
    assert found[: len(first)].tolist() == pytest.approx(first, rel=tolerance)


def approximation_applies(f):
    """Where sdcMicro's closed forms are defined: f of 1, 2, or 3 and more."""
    f = np.asarray(f, float)
    return (f >= 3) | (f == np.floor(f))


def agree_where(mask, found, expected, tolerance):
    """Compare the entries of two vectors where they are comparable."""
    expected = np.array([np.nan if value is None else value for value in expected], float)
    mask = np.asarray(mask)[: len(expected)] & ~np.isnan(expected)
    np.testing.assert_allclose(np.asarray(found)[: len(expected)][mask], expected[mask], rtol=tolerance)


def risks(frame, *, keys, alpha=1.0, **options):
    """Individual risk, warnings about small files set aside."""
    with quiet():
        return individual_risk(frame, keys=keys, alpha=alpha, **options)


def columns(result):
    """The record columns as arrays."""
    records = result.records
    return {name: np.asarray(records[name]) for name in records.columns}


def frequencies(frame, *, keys, **options):
    """Key frequencies, warnings about small files set aside."""
    with quiet():
        return key_frequencies(frame, keys=keys, **options)
