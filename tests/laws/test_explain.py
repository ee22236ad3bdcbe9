"""Minimal key sets by brute force, and changes by making them."""

from __future__ import annotations

from itertools import combinations

import polars as pl
from hypothesis import given, strategies as st

import brute
from draw import files, quiet
from sdckit import explain, key_frequencies


def alone(file, row, columns):
    mine = file.rows[row]
    wild = [file.wild[j] for j in columns]
    part = lambda record: [record[j] for j in columns]  # noqa: E731
    heard = [other for other in file.rows if not columns or not brute.silent(other, mine)]
    return sum(brute.matches(part(mine), part(other), wild) for other in heard) == 1


@given(files(max_keys=4), st.data())
def test_agrees_with_all_subsets(file, data):
    row = data.draw(st.integers(0, len(file.rows) - 1))
    n_keys = len(file.keys)
    with quiet():
        result = explain(file.frame(), keys=file.keys, row=row + 1, missing=file.missing)
        frequency = key_frequencies(file.frame(), keys=file.keys, missing=file.missing).records["sample_frequency"]
    assert result.sharing == frequency[row]
    unique = [
        set(one) for size in range(n_keys + 1) for one in combinations(range(n_keys), size) if alone(file, row, one)
    ]
    minimal = [one for one in unique if not any(other < one for other in unique)]
    assert {frozenset(one) for one in result.key_sets} == {frozenset(file.keys[j] for j in one) for one in minimal}
    if result.sharing > 1:
        assert result.changes == ()
        return
    helps = {
        file.keys[j] for j in range(n_keys) if not alone(file, row, [i for i in range(n_keys) if i != j])
    } if n_keys > 1 or len(file.rows) > 1 else set()  # fmt: skip
    drops = {one.variable: one for one in result.changes if one.action == "drop"}
    assert set(drops) == helps
    for j, key in enumerate(file.keys):
        if key in drops:
            kept = [i for i in range(n_keys) if i != j]
            others = sum(
                brute.matches([file.rows[row][i] for i in kept], [r[i] for i in kept], [file.wild[i] for i in kept])
                for r in file.rows
                if not kept or not brute.silent(r, file.rows[row])
            )
            assert drops[key].sharing == others
    losses = [one.entropy_lost for one in result.changes]
    assert losses == sorted(losses)


@given(files(missing=False, min_keys=2, levels=6), st.data())
def test_bands_end_it_and_narrower_ones_do_not(file, data):
    row = data.draw(st.integers(0, len(file.rows) - 1))
    frame = file.frame()
    with quiet():
        result = explain(frame, keys=file.keys, row=row + 1, numeric=file.keys)  # not codes: they have an order
    for change in result.changes:
        if change.action != "coarsen":
            continue
        width = 2 if change.rule.endswith("pairs") else int(change.rule.rsplit(" ", 1)[1])
        rank = pl.col(change.variable).rank("dense").cast(pl.Int64) - 1
        with quiet():
            ended, before = (
                key_frequencies(frame.with_columns((rank // w).alias(change.variable)), keys=file.keys)
                for w in (width, width // 2)
            )
        assert ended.records["sample_frequency"][row] == change.sharing > 1
        assert before.records["sample_frequency"][row] == 1
