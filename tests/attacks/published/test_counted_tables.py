"""Published tables as cells with what each may hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sdckit import ColumnError, DataError, PublishedTable
from sdckit.attacks.published.audit_model import Axis
from sdckit.attacks.published.counted_tables import (
    ANY,
    MISSING,
    count_table,
    dense_sums,
    keep_apart,
    labelled,
    read_table,
    rounding_error,
    sum_table,
    summed_values,
)
from sdckit.attacks.recovery.recovery_files import recovery_files
from sdckit.data.frames import open_frame
from sdckit.data.scenarios.roles import Roles

PEOPLE = open_frame(pl.DataFrame({"sex": ["f", "f", "m", None], "age": [30.0, 30.0, 40.0, 40.0]}))


def cells(table):
    names = [[one.labels[code] for code in one.codes] for one in table.columns]
    return dict(
        zip(zip(*names, strict=True), zip(table.lower.tolist(), table.upper.tolist(), strict=True), strict=True)
    )


def test_counted_in_the_original():
    found = count_table(PublishedTable(variables=["sex", "age"]), PEOPLE)
    assert cells(found) == {("f", "30"): (2, 2), ("m", "40"): (1, 1), (MISSING, "40"): (1, 1)}
    assert found.most_unlisted == 0
    with pytest.raises(DataError, match="original="):
        count_table(PublishedTable(variables=["sex"]), None)
    with pytest.raises(ColumnError, match="did you mean 'sex'"):
        count_table(PublishedTable(variables=["sexx"]), PEOPLE)


@pytest.mark.parametrize(
    ("how", "expected", "unlisted"),
    [
        ({"rounded": 3}, [(1, 5), (0, 2), (0, 2)], 2),
        ({"rounded": 3, "rounding": "nearest"}, [(2, 4), (0, 1), (0, 1)], 1),
        ({"suppressed_below": 2}, [(2, 2), (1, 1), (1, 1)], 0),
        ({"suppressed_below": 4}, [(1, 3), (1, 3), (1, 3)], 0),
    ],
)
def test_as_they_are_published(how, expected, unlisted):
    found = count_table(PublishedTable(variables=["sex", "age"], **how), PEOPLE)
    assert sorted(cells(found).values(), reverse=True) == sorted(expected, reverse=True)
    assert found.most_unlisted == unlisted


def test_a_frame_with_totals_and_suppressed_cells():
    counts = pl.DataFrame({"sex": ["f", "m", "all", "all"], "age": ["30", "30", "30", "all"], "count": [2, None, 5, 5]})
    found = count_table(PublishedTable(counts=counts, count="count", total="all"), None)
    assert cells(found) == {("f", "30"): (2, 2), ("m", "30"): (0, ANY)}
    assert [[one.name for one in total.columns] for total in found.totals] == [["age"], []]
    assert [total.lower.tolist() for total in found.totals] == [[5], [5]]


def test_a_file(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("sex,n\nf,2\nm,\n", encoding="utf-8")
    found = count_table(PublishedTable(counts=path, suppressed_below=3), None)
    assert cells(found) == {("f",): (2, 2), ("m",): (0, 2)}
    assert found.called == "counts.csv"


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"sex": ["f", "f"], "n": [1, 2]}, "stands there twice"),
        ({"sex": ["f", "m"], "n": [1, -2]}, "no count"),
        ({"sex": ["f", "m"], "n": [1.0, 2.5]}, "no count"),
        ({"sex": ["f", "m"], "n": ["Zq7", "2"]}, "not all counts"),
        ({"n": [3]}, "no variables"),
        ({"sex": ["f"], "number": [3]}, "has no column 'n'"),
    ],
)
def test_what_is_no_table_is_refused_without_its_values(counts, says):
    with pytest.raises((DataError, ColumnError), match=says) as error:
        count_table(PublishedTable(counts=pl.DataFrame(counts)), None)
    assert "Zq7" not in str(error.value)


def test_whole_numbers_are_labelled_alike():
    assert labelled(PEOPLE["age"]).labels == ("30", "40")


# What a release shows of a summed variable.


ROLES = Roles((), None, None, None, None, (), (), 1.0, None)
WHOLE = pl.DataFrame({"sex": ["f", "m", "f"], "pay": [10, None, 30]})
TABLE = PublishedTable(variables=["sex"], sum="pay")


def found(safe, whole=WHOLE):
    (file,), _ = recovery_files(safe, whole, roles=ROLES, columns=None, log=None, id=None, aligned=True, named={})
    return summed_values(file, [sum_table(TABLE, open_frame(WHOLE))])


def test_values_in_units_and_what_is_not_known():
    both = found(WHOLE)
    assert both.values is not None
    assert (both.names, both.values.ravel().tolist(), both.notes) == (("pay",), [1, 0, 3], {})
    hidden = found(WHOLE.with_columns(pay=pl.Series([None, None, 30])))
    assert hidden.values is not None
    assert np.isnan(hidden.values.ravel()).tolist() == [True, False, False]
    alone = found(WHOLE, None)
    assert alone.values is not None
    assert np.isnan(alone.values.ravel()).tolist() == [False, True, False]
    assert all("not every value of pay" in "".join(one.notes.values()) for one in (hidden, alone))


@pytest.mark.parametrize(
    ("pay", "says"),
    [
        ([11, None, 30], "not the original's"), ([10, 5, 30], "not the original's"),
        (["10-19", None, "30-39"], "no numbers"), ([True, None, False], "no numbers"),
    ],
)  # fmt: skip
def test_what_is_not_used(pay, says):
    one = found(WHOLE.with_columns(pay=pl.Series(pay)))
    assert (one.names, one.values) == ((), None)
    assert says in "".join(one.notes.values())
    assert found(WHOLE.drop("pay")).names == ()


def test_sums_as_an_array_have_to_add_up():
    summed, table = found(WHOLE), sum_table(TABLE, open_frame(WHOLE))
    made = dense_sums(table, 4, 0, ((0,), (3,), np.array([0, 1])), summed)
    assert (made.number, made.lower.tolist(), made.upper.tolist()) == (4, [4, 0, 0], [4, 0, 0])
    other = replace(summed, values=np.array([[1.0], [0.0], [4.0]]))
    with pytest.raises(DataError, match="adds up to another sum"):
        dense_sums(table, 4, 0, ((0,), (3,), np.array([0, 1])), other)
    rounded = sum_table(PublishedTable(variables=["sex"], sum="pay", rounded=100), open_frame(WHOLE))
    wide = dense_sums(rounded, 0, 0, ((0,), (3,), np.array([0, 1])), summed)
    assert (wide.lower.tolist(), wide.upper.tolist()) == ([-9, -9, -9], [9, 9, 9])


def test_records_that_hide_what_is_summed_by_are_kept_apart():
    codes, allowed = (np.array([[0, 0], [1, 0], [1, 0]]), [np.array([[1, 0], [1, 1]], bool), np.eye(2, dtype=bool)])
    axes = [Axis(0, np.arange(2), 2), Axis(1, np.arange(2), 2)]
    values = np.array([[1.0], [2.0], [3.0]])
    summed, table = found(WHOLE), sum_table(TABLE, open_frame(WHOLE))
    by = [dense_sums(table, 0, 0, ((axis,), (3,), np.array([0, 1])), summed) for axis in (0, 1)]
    assert keep_apart(values, codes, allowed, axes, by[:1]).tolist() == [0, 1, 2]
    assert keep_apart(values, codes, allowed, axes, by[1:]).tolist() == [0, 0, 0]
    assert keep_apart(values, codes, allowed, axes, ()) is None


# Tables of sums as cells with the ends of what each adds up to.


TABLES_PEOPLE = open_frame(pl.DataFrame({"sex": ["f", "f", "m", None], "pay": [10.5, None, 7.0, -2.0]}))


def tables_cells(table):
    names = [[one.labels[code] for code in one.codes] for one in table.columns]
    ends = zip(table.lower.tolist(), table.upper.tolist(), strict=True)
    return dict(zip(zip(*names, strict=True), ends, strict=True))


def test_added_up_in_the_original():
    found = sum_table(PublishedTable(variables=["sex"], sum="pay"), TABLES_PEOPLE)
    assert tables_cells(found) == {("f",): (10.5, 10.5), ("m",): (7, 7), (MISSING,): (-2, -2)}
    assert found.called == "Σ pay: sex"
    with pytest.raises(DataError, match="original="):
        sum_table(PublishedTable(variables=["sex"], sum="pay"), None)
    with pytest.raises(ColumnError, match="no column 'pai'"):
        sum_table(PublishedTable(variables=["sex"], sum="pai"), TABLES_PEOPLE)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"rounded": 4}, [(8, 16), (4, 12), (-4, 4)]),
        ({"rounded": 4, "rounding": "nearest"}, [(10, 14), (6, 10), (-2, 2)]),
        ({"suppressed_below": 2}, [(10.5, 10.5), (-np.inf, np.inf), (-np.inf, np.inf)]),
    ],
)
def test_as_they_are_published_of_summed_tables(how, expected):
    found = sum_table(PublishedTable(variables=["sex"], sum="pay", **how), TABLES_PEOPLE)
    assert [tables_cells(found)[one] for one in (("f",), ("m",), (MISSING,))] == expected


def test_how_far_a_rounded_sum_may_be_off():
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay")) == 0
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay", rounded=5)) == 5
    assert rounding_error(PublishedTable(variables=["sex"], sum="pay", rounded=5, rounding="nearest")) == 2.5


def test_a_frame_with_totals_and_counts_beside_the_sums():
    frame = pl.DataFrame({"sex": ["f", "m", "all"], "n": [2, 1, 3], "pay": [10.5, None, 17.5]})
    found = sum_table(PublishedTable(counts=frame, sum="pay", total="all"), None)
    assert tables_cells(found) == {("f",): (10.5, 10.5), ("m",): (-np.inf, np.inf)}
    assert [total.lower.tolist() for total in found.totals] == [[17.5]]
    assert (found.called, found.suppressed.tolist()) == ("Σ pay: sex", [False, True])
    with pytest.raises(DataError, match="only a sum"):
        sum_table(PublishedTable(counts=frame.select("n", "pay"), sum="pay"), None)


def test_counts_and_sums_are_told_apart():
    assert read_table(PublishedTable(variables=["sex"]), TABLES_PEOPLE).lower.tolist() == [2, 1, 1]
    assert read_table(PublishedTable(variables=["sex"], sum="pay"), TABLES_PEOPLE).lower.sum() == 15.5
