"""A9: leaving keys out of the cells is tabulating anew without them, under every rule."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draw import ALPHAS, files, quiet
from sdckit import individual_risk, k_anonymity, key_contributions, key_frequencies


@given(files(min_keys=2), st.sampled_from(ALPHAS), st.sampled_from([{"weight": "w"}, {"sampling_fraction": 0.05}, {}]))
def test_agrees_with_tabulating_anew(file, alpha, known):
    frame = file.frame()
    with quiet():
        result = key_contributions(frame, keys=file.keys, missing=file.missing, alpha=alpha, **known)
        table = result.table

    def fresh(keys):
        same = {"keys": keys, "missing": {key: file.missing[key] for key in keys}, "alpha": alpha}
        with quiet():
            uniques = key_frequencies(frame, **same, **known).sample_uniques
            violations = k_anonymity(frame, **same, k=(2, 3, 5)).violations
            return uniques, violations, individual_risk(frame, **same, **known).global_risk

    uniques, violations, risk = fresh(file.keys)
    assert (result.uniques, result.violations) == (uniques, violations)
    assert result.risk == pytest.approx(risk, rel=1e-12)
    singles = [(key,) for key in file.keys]
    pairs = list(combinations(file.keys, 2)) if len(file.keys) > 2 else []
    assert {one.variables for one in table} == {*singles, *pairs}
    for one in table:
        uniques, violations, risk = fresh([key for key in file.keys if key not in one.variables])
        assert one.uniques_without == uniques
        assert one.uniques_saved == result.uniques - uniques >= 0
        assert one.violations_without == violations
        assert one.risk_without == pytest.approx(risk, rel=1e-12)
