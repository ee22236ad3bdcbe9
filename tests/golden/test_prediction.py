"""Nearest-neighbour predictions on the affairs survey and three releases of it, against a full matrix of distances.

The published figure that this measure goes back to was made on a random draw that is not at hand; its model is
compared by its definition instead, and its baselines with the survey's own margins.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from golden.rebuild import rebuild
from sdckit import prediction_risk

CASE = json.loads((Path(__file__).parent / "portable" / "prediction_fair.json").read_text(encoding="utf-8"))
KEYS = [*CASE["numeric_keys"], *CASE["categorical_keys"]]
FIGURES = ("mse_original", "mse_released", "accuracy_original", "accuracy_released", "share_less_accurate")

file = cache(rebuild)


@pytest.mark.parametrize("case", CASE["models"], ids=lambda case: f"{case['target']}-{case['n_neighbors']}")
def test_nearest_neighbours(case):
    releases = [file(f"fair_syn{j}") for j in (1, 2, 3)]
    target, categorical = case["target"], case["categorical"]
    numeric = [*CASE["numeric_keys"], *([] if categorical else [target])]
    result = prediction_risk(
        file("fair"), releases, keys=KEYS, target=target, numeric=numeric, n_neighbors=case["n_neighbors"]
    )
    assert result.baseline == pytest.approx(case["baseline"], rel=1e-12)
    for name in FIGURES:
        if name in case:
            found = [one[name] for one in result.per_release]
            assert found == pytest.approx(np.broadcast_to(case[name], 3).tolist(), rel=1e-10), name
            assert getattr(result, name) == pytest.approx(np.mean(case[name]), rel=1e-10)
    records = result.records
    before = records["correct_original" if categorical else "error_original"].to_numpy()
    assert before @ np.arange(1, len(before) + 1) == pytest.approx(case["sum_original_by_row"], rel=1e-10)
