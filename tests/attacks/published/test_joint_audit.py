"""What a release and published tables give back together, against every file that could have been."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdckit as sdc


from sdckit import DataError, PublishedTable, joint_audit
from sdckit.data.files.readers import read_file

LEVELS = {"a": ["x", "y"], "b": ["u", "v", "w"], "c": ["p", "q"]}


def possible_files(shown, holds):
    """Every file that the release alone leaves open, as tuples of rows."""
    choices = [[holds(name, value) for name, value in row.items()] for row in shown]
    return product(*(list(product(*one)) for one in choices))


def brute(shown, tables, fits, holds=lambda name, value: LEVELS[name] if value is None else [value]):
    """The levels that each hidden value takes in some file that fits all tables."""
    names = list(shown[0])
    found = {}
    for rows in possible_files(shown, holds):
        records = [dict(zip(names, row, strict=True)) for row in rows]
        if all(fits(records, table) for table in tables):
            for i, record in enumerate(records):
                for name in names:
                    found.setdefault((i, name), set()).add(record[name])
    return found


def counts(records, variables):
    found = {}
    for record in records:
        cell = tuple(record[name] for name in variables)
        found[cell] = found.get(cell, 0) + 1
    return found


def released(rows, hidden):
    whole = pl.DataFrame(rows, schema=list(LEVELS), orient="row")
    gone = np.array(hidden).reshape(whole.height, len(LEVELS))
    safe = whole.with_columns(
        pl.when(pl.Series(gone[:, j])).then(None).otherwise(name).alias(name) for j, name in enumerate(LEVELS)
    )
    return whole, safe


@st.composite
def files(draw):
    n = draw(st.integers(3, 6))
    rows = draw(st.lists(st.tuples(*(st.sampled_from(one) for one in LEVELS.values())), min_size=n, max_size=n))
    hidden = [False] * (3 * n)
    for place in draw(st.lists(st.integers(0, 3 * n - 1), min_size=1, max_size=5, unique=True)):
        hidden[place] = True
    tables = draw(
        st.lists(
            st.sampled_from([one for size in (1, 2, 3) for one in combinations(LEVELS, size)]),
            min_size=1, max_size=3, unique=True,
        )
    )  # fmt: skip
    return (*released(rows, hidden), tables)


def left_by(result, safe, whole):
    rows = result.records
    return {
        (row - 1, column): left
        for row, column, left in zip(rows["row"], rows["column"], rows["left"], strict=True)
    }


@settings(max_examples=60)
@given(files(), st.sampled_from([None, 2, 3]), st.booleans())
def test_every_level_left_is_one_of_a_file_that_fits(made, rounded, known):
    """And no level is left out that some file has: exact and rounded tables, with and without the original."""
    whole, safe, variables = made
    truth = whole.to_dicts()

    def fits(records, table):
        own, true = counts(records, table), counts(truth, table)
        if rounded is None:
            return own == true
        for cell in product(*(LEVELS[name] for name in table)):
            shown = rounded * ((2 * true.get(cell, 0) + rounded) // (2 * rounded))
            if abs(own.get(cell, 0) - shown) > rounded - 1:
                return False
        return True

    levels = {name: set(whole[name]) | set(safe[name].drop_nulls()) for name in LEVELS}
    expected = brute(
        safe.to_dicts(), variables, fits,
        lambda name, value: sorted(levels[name]) if value is None else [value],
    )  # fmt: skip
    tables = [PublishedTable(variables=list(one), rounded=rounded) for one in variables]
    if not known:
        tables = [as_counts(whole, one, rounded, levels) for one in variables]
    found = joint_audit(safe, whole if known else None, tables=tables)
    left = left_by(found, safe, whole)
    if known or rounded is None:
        mine = {place: left[place] for place in left if known or all_known(whole, variables, safe, place)}
        assert mine == {place: len(expected[place]) for place in mine}
    if known:
        assert found.right == found.certain


def all_known(whole, variables, safe, place):
    """Whether the tables or the release show every level of a variable: nobody knows of others."""
    name = place[1]
    return any(name in one for one in variables)


def as_counts(whole, variables, rounded, levels):
    frame = whole.group_by(list(variables)).len(name="n").with_columns(pl.col("n").cast(pl.Int64))
    if rounded is not None:
        every = pl.DataFrame(list(product(*(sorted(levels[name]) for name in variables))), schema=list(variables), orient="row")
        frame = every.join(frame, on=list(variables), how="left").with_columns(pl.col("n").fill_null(0))
        frame = frame.with_columns(n=rounded * ((2 * pl.col("n") + rounded) // (2 * rounded)))
    return PublishedTable(counts=frame, rounded=rounded)
