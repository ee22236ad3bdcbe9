"""Nearest records with ties by the order of the file, beside a stable sort of all distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.attribute.prediction import first_neighbours as module
from sdckit.attribute.prediction.first_neighbours import first_neighbours
from sdckit.attribute.prediction.key_features import Features

POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=3, max_size=30)


def features(train, query, unit=2.0):
    one, other = np.array(train, float), np.array(query, float)
    codes = (one[:, 1].astype(np.int32), other[:, 1].astype(np.int32))
    return Features(((one[:, 0], other[:, 0]),), (codes,), (unit,))


@given(POINTS, POINTS, st.integers(1, 3), st.booleans())
def test_beside_a_stable_sort(train, query, k, scaled):
    found = first_neighbours(features(train, query), k, scaled=scaled)
    one, other = np.array(train, float), np.array(query, float)
    unit = 2.0 if scaled else 1.0
    away = ((other[:, None, 0] - one[None, :, 0]) / unit) ** 2 + (other[:, None, 1] != one[None, :, 1])
    assert found.tolist() == np.argsort(away, axis=1, kind="stable")[:, :k].tolist()


def test_block_by_block(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(1)
    pair = features(rng.integers(0, 5, (40, 2)), rng.integers(0, 5, (30, 2)))
    whole = first_neighbours(pair, 3, scaled=True)
    monkeypatch.setattr(module, "BLOCK", 90)
    assert first_neighbours(pair, 3, scaled=True).tolist() == whole.tolist()
