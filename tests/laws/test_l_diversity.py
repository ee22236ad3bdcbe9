"""C1: agreement with the definition under both rules for missing keys, and the order of the three kinds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import l_diversity


@st.composite
def sensitive_files(draw):
    file = draw(files(max_rows=30, max_keys=3, levels=2))
    n = len(file.rows)
    values = draw(st.lists(st.one_of(st.integers(0, 4), st.integers(0, 4), st.none()), min_size=n, max_size=n))
    return file, [0, *values[1:]] if all(value is None for value in values) else values


def measured(file, values, **options):
    frame = file.frame(s=pl.Series(values, dtype=pl.Int64))
    with quiet():
        return l_diversity(frame, **{"keys": file.keys, "sensitive": "s", "missing": file.missing, **options})


@given(sensitive_files(), st.sampled_from([0.5, 1.0, 2.0, 3.5]))
def test_agrees_with_the_definition(drawn, c):
    file, values = drawn
    expected = [brute.diversity(group, c) for group in brute.classes(file.rows, values, file.wild)]
    result = measured(file, values, c=c, levels=(2, 3, 4))
    distinct, entropy, recursive = (list(one) for one in zip(*expected, strict=True))
    records = result.records
    assert records["distinct_s"].to_list() == distinct
    assert records["entropy_s"].to_list() == pytest.approx(entropy, rel=1e-12)
    assert records["recursive_s"].to_list() == recursive
    assert result.level["s"]["distinct"] == min(distinct)
    assert result.level["s"]["recursive"] == min(recursive)
    for ell in (2, 3, 4):
        assert result.violations["s"]["distinct"][ell] == sum(one < ell for one in distinct)
        assert result.violations["s"]["entropy"][ell] == sum(one < ell - 1e-9 for one in entropy)
        assert result.violations["s"]["recursive"][ell] == sum(one < ell for one in recursive)
    assert result.quartiles["s"]["entropy"] == pytest.approx(tuple(np.quantile(entropy, [0.25, 0.5, 0.75])))


@given(sensitive_files())
def test_homogeneous_cells(drawn):
    file, values = drawn
    groups = dict(zip(file.rows, brute.classes(file.rows, values, file.wild), strict=True))
    single = sum(len(group) > 1 and len(set(group)) == 1 for group in groups.values())
    assert measured(file, values).homogeneous == {"s": single}


@given(sensitive_files(), st.sampled_from([1.0, 2.0]))
def test_the_effective_number_is_at_most_the_number(drawn, c):
    records = measured(*drawn, c=c).records
    assert (records["entropy_s"] <= records["distinct_s"] * (1 + 1e-12)).all()
    assert (records["recursive_s"] <= records["distinct_s"]).all()
    assert (records["entropy_s"] >= 1 - 1e-12).all()


@given(sensitive_files())
def test_a_larger_c_and_a_wildcard_never_look_worse(drawn):
    low, high = (measured(*drawn, c=c).records["recursive_s"] for c in (1.0, 3.0))
    assert (low <= high).all()
    category, wildcard = (measured(*drawn, missing=rule).records["distinct_s"] for rule in ("category", "wildcard"))
    assert (category <= wildcard).all()


@given(sensitive_files())
def test_the_smallest_constant_is_that_of_the_worst_class(drawn):
    file, values = drawn
    found = measured(file, values, levels=(2, 3)).smallest_c["s"]
    known = [[one for one in group if one is not None] for group in brute.classes(file.rows, values, file.wild)]
    for ell in (2, 3):
        worst = 0.0
        for group in known:  # of a class without any known value l is 1, as `violations` counts it
            counts = sorted((group.count(one) for one in set(group)), reverse=True)
            worst = max(worst, counts[0] / sum(counts[ell - 1 :]) if len(counts) >= ell else np.inf)
        assert found[ell] == pytest.approx(worst, rel=1e-12)
        if 0 < worst < np.inf:
            for c, holds in ((worst * 1.001, True), (worst, False)):
                of = measured(file, values, c=c).records["recursive_s"].to_list()
                assert (min(of) >= ell) is holds
