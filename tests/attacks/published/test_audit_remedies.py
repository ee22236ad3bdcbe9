"""Which table tells most and what to do instead: each remedy is carried out here and audited anew."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sdckit import DataError, PublishedTable, joint_audit, local_suppression

KEYS = ["area", "job", "age"]


def made(seed=3, n=120):
    rng = np.random.default_rng(seed)
    sizes = {"area": 5, "job": 4, "age": 6}
    whole = pl.DataFrame({name: [f"{name}{i}" for i in rng.integers(0, k, n)] for name, k in sizes.items()})
    return whole, local_suppression(whole, keys=KEYS, k=3).data


PAIRS = [list(pair) for pair in combinations(KEYS, 2)]
TABLES = [*PAIRS, KEYS]


@pytest.fixture(scope="module")
def found():
    whole, safe = made()
    return whole, safe, joint_audit(safe, whole, tables=TABLES, remedies=True)


def test_what_a_table_does_is_what_an_audit_of_it_finds(found):
    whole, safe, result = found
    (damage,) = result.damage
    assert result.certain > 0
    for number, one in enumerate(damage):
        others = [table for table in TABLES if table is not TABLES[number]]
        assert one.table == " × ".join(TABLES[number])
        assert one.alone == joint_audit(safe, whole, tables=[TABLES[number]]).right
        assert one.without == joint_audit(safe, whole, tables=others).right
    assert len({one.alone for one in damage}) > 1


def of(result, kind):
    (one,) = (one for one in result.remedies[0] if one.kind == kind)
    return one


def test_tables_left_out(found):
    whole, safe, result = found
    one = of(result, "leave out")
    kept = [table for table in TABLES if " × ".join(table) not in one.tables]
    assert (one.left, one.values, one.base) == (0, 0, None)
    assert not kept or joint_audit(safe, whole, tables=kept).right == 0
    for name in one.tables:  # none of them could be published, too
        more = [*kept, name.split(" × ")]
        assert joint_audit(safe, whole, tables=more).right > 0
    assert one.cells == sum(whole.select(name.split(" × ")).n_unique() for name in one.tables)


def test_tables_rounded(found):
    whole, safe, result = found
    one = of(result, "round")
    tables = [
        PublishedTable(variables=table, rounded=one.base if " × ".join(table) in one.tables else None)
        for table in TABLES
    ]
    audited = joint_audit(safe, whole, tables=tables)
    assert one.left == audited.right == 0
    counts = [whole.group_by(name.split(" × ")).len()["len"] for name in one.tables]
    assert one.cells == sum(int((count % one.base > 0).sum()) for count in counts)


def test_values_taken_out(found):
    whole, safe, result = found
    one = of(result, "take out")
    after = result.taken_out()
    audited = joint_audit(after, whole, tables=TABLES)
    assert one.left == audited.right == 0
    gone = sum(after[name].null_count() - safe[name].null_count() for name in KEYS)
    assert one.values == gone > 0
    for name in KEYS:  # nothing else is changed
        assert ((after[name] == safe[name]) | after[name].is_null()).fill_null(value=True).all()
    assert one.values <= 2 * len(KEYS) * result.right


def test_groups_that_are_shown_are_used_for_the_exchange():
    whole = pl.DataFrame({"age": [31, 35, 42, 44, 31, 35], "job": ["a", "b", "a", "b", "b", "b"]})
    safe = whole.with_columns(age=pl.Series(["30-39", "30-39", "40-49", "40-49", "30-39", "30-39"]))
    result = joint_audit(safe, whole, tables=[["age", "job"]], remedies=True)
    one = of(result, "take out")
    after = result.taken_out()
    assert result.right > 0
    assert one.left == 0 == joint_audit(after, whole, tables=[["age", "job"]]).right
    assert one.values == sum(after[name].null_count() for name in ("age", "job"))


def test_without_the_original_nothing_is_taken_out_and_all_tables_are_rounded():
    whole, safe = made()
    counts = [PublishedTable(counts=whole.group_by(KEYS, maintain_order=True).len(name="n"))]
    result = joint_audit(safe, tables=counts, remedies=True)
    assert [one.kind for one in result.remedies[0]] == ["leave out", "round"]
    assert of(result, "round").left <= result.certain
    with pytest.raises(DataError, match="remedies=True"):
        result.taken_out()


def test_nothing_given_back_needs_no_remedy():
    whole, _ = made()
    safe = whole.with_columns(age=pl.lit(None, pl.String))
    result = joint_audit(safe, whole, tables=[["area", "job"], ["age"]], remedies=True)
    assert (result.right, result.remedies) == (0, ((),))
    assert [(one.alone, one.without) for one in result.damage[0]] == [(0, 0), (0, 0)]
    with pytest.raises(DataError, match="none are needed"):
        result.taken_out()


def test_they_are_looked_for_where_they_are_asked_for():
    whole, safe = made()
    assert joint_audit(safe, whole, tables=TABLES).damage == ()
