"""A8: sizes and compositions against multisets counted by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import DataError, household_structure


@given(files(max_rows=30, max_keys=3, levels=2), st.data())
def test_agrees_with_multisets(file, data):
    n = len(file.rows)
    ids = data.draw(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=n, max_size=n))
    frame = file.frame(hh=pl.Series(ids, dtype=pl.Int64))
    if ids.count(None) == n:
        with quiet(), pytest.raises(DataError, match="has no value in any record"):
            household_structure(frame, household="hh", keys=file.keys, weight="w")
        return
    with quiet():
        result = household_structure(frame, household="hh", keys=file.keys, weight="w")
    names, kind = brute.households(ids, file.rows)
    size = Counter(names)
    of_size, of_kind = Counter(size.values()), Counter(kind.values())
    records = result.records
    assert records["household_size"].to_list() == [size[name] for name in names]
    assert records["size_frequency"].to_list() == [of_size[size[name]] for name in names]
    assert records["composition_frequency"].to_list() == [of_kind[kind[name]] for name in names]
    assert result.n_households == len(size)
    assert result.sizes == of_size
    assert result.unique_sizes == sum(count == 1 for count in of_size.values())
    assert result.rare_sizes == sum(count < 3 for count in of_size.values())
    assert result.unique_compositions == sum(count == 1 for count in of_kind.values())
    own = {name: sum(w for w, m in zip(file.weights, names, strict=True) if m == name) / size[name] for name in size}
    by_size = {s: sum(w for name, w in own.items() if size[name] == s) for s in of_size}
    by_kind = {k: sum(w for name, w in own.items() if kind[name] == k) for k in of_kind}
    assert records["size_population_frequency"].to_list() == pytest.approx([by_size[size[m]] for m in names])
    assert records["composition_population_frequency"].to_list() == pytest.approx([by_kind[kind[m]] for m in names])
    assert (records["composition_frequency"] <= records["size_frequency"]).all()
