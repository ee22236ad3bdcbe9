"""A6 against counting the records of every table."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given, strategies as st

from draw import files, quiet
from sdckit import risky_cells


@given(files(max_keys=4), st.integers(1, 4), st.integers(1, 3), st.randoms())
def test_agrees_with_counting_records(file, max_dim, threshold, random):
    with quiet():
        result = risky_cells(file.frame(), keys=file.keys, max_dim=max_dim, threshold=threshold)
    tables = [c for d in range(1, min(max_dim, len(file.keys)) + 1) for c in combinations(range(len(file.keys)), d)]
    assert [row.variables for row in result.table] == [tuple(file.keys[j] for j in one) for one in tables]
    unsafe = [set() for _ in file.rows]
    for one, row in zip(tables, result.table, strict=True):
        cell = [tuple(record[j] for j in one) for record in file.rows]
        counts = Counter(cell)
        rare = [c for c in counts if counts[c] <= threshold]
        assert (row.n_cells, row.n_unsafe) == (len(counts), len(rare))
        assert row.records == sum(counts[c] for c in rare)
        for i, c in enumerate(cell):
            if counts[c] <= threshold:
                unsafe[i].add(one)
    records = result.records
    assert records["n_unsafe"].to_list() == [len(tables_of) for tables_of in unsafe]
    for j, key in enumerate(file.keys):
        assert records[f"n_unsafe_{key}"].to_list() == [sum(j in one for one in mine) for mine in unsafe]
    assert result.records_affected == sum(bool(mine) for mine in unsafe)
    order = list(range(len(file.rows)))
    random.shuffle(order)
    with quiet():
        again = risky_cells(file.frame()[order], keys=file.keys, max_dim=max_dim, threshold=threshold)
    assert again.table == result.table
    assert again.records["n_unsafe"].to_list() == records["n_unsafe"][order].to_list()
