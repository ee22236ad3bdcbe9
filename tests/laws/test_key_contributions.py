"""A9: leaving keys out of the cells is tabulating anew without them, under every rule."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, strategies as st

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
        kept = [key for key in file.keys if key not in one.variables]
        uniques, violations, risk = fresh(kept)
        rows = [[row[file.keys.index(key)] for key in kept] for row in file.rows]
        # where a record lacks all the keys left it counts for nobody: others may become unique
        may_lose = len(kept) > 1 and any(all(value is None for value in row) for row in rows)
        assert one.uniques_without == uniques
        assert one.uniques_saved == result.uniques - uniques
        assert one.uniques_saved >= 0 or may_lose
        assert one.violations_without == violations
        assert one.risk_without == pytest.approx(risk, rel=1e-12)


@given(
    files(min_keys=1, levels=7),
    st.sampled_from(ALPHAS),
    st.sampled_from([{"weight": "w"}, {"sampling_fraction": 0.05}, {}]),
    st.booleans(),
)
def test_a_step_coarser_is_recoding_the_records(file, alpha, known, as_text):
    frame = file.frame()
    same = {"keys": file.keys, "missing": file.missing, "alpha": alpha, **known}
    if as_text:
        frame = frame.with_columns(pl.col(file.keys).cast(pl.String))
    with quiet():
        result = key_contributions(frame, **same, ordered=() if as_text else file.keys)
        steps = result.coarsenings
    for key, step in steps.items():
        assert step.scale == ("codes" if as_text else "ordered")
        counts = frame[key].drop_nulls().value_counts().sort("count", key)
        if as_text:
            pooled = max(2, counts.filter(pl.col("count") < 5).height)
            while counts["count"][:pooled].sum() < 5:
                pooled += 1
            rare = counts[key][:pooled].to_list()
            coarse = frame.with_columns(
                pl.when(pl.col(key).is_in(rare)).then(pl.lit("other")).otherwise(key).alias(key)
            )
        else:
            coarse = frame.with_columns((pl.col(key).rank("dense").cast(pl.Int64) - 1) // 2)
        assert step.levels_before == counts.height
        assert step.levels_after == coarse[key].drop_nulls().n_unique() > 1
        with quiet():
            risk = individual_risk(coarse, **same)
            uniques = key_frequencies(risk.cells).sample_uniques
            assert step.violations_without == k_anonymity(risk.cells, k=(2, 3, 5)).violations
        assert step.uniques_without == uniques
        assert step.uniques_saved == result.uniques - uniques
        assert step.risk_without == pytest.approx(risk.global_risk, rel=1e-12)
        assert step.entropy_lost >= 0
