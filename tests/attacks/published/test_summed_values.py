"""What a release shows of a summed variable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sdckit import DataError, PublishedTable
from sdckit.attacks.published.audit_model import Axis
from sdckit.attacks.published.summed_tables import sum_table
from sdckit.attacks.published.summed_values import dense_sums, keep_apart, summed_values
from sdckit.attacks.recovery.recovery_files import recovery_files
from sdckit.data.frames import open_frame
from sdckit.data.scenarios.roles import Roles

ROLES = Roles((), None, None, None, None, (), (), 1.0, None)
WHOLE = pl.DataFrame({"sex": ["f", "m", "f"], "pay": [10, None, 30]})
TABLE = PublishedTable(variables=["sex"], sum="pay")


def found(safe, whole=WHOLE):
    (file,), _ = recovery_files(
        safe, whole, roles=ROLES, columns=None, log=None, id=None, aligned=True, named={}
    )
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
    codes, allowed = (
        np.array([[0, 0], [1, 0], [1, 0]]),
        [np.array([[1, 0], [1, 1]], bool), np.eye(2, dtype=bool)],
    )
    axes = [Axis(0, np.arange(2), 2), Axis(1, np.arange(2), 2)]
    values = np.array([[1.0], [2.0], [3.0]])
    summed, table = found(WHOLE), sum_table(TABLE, open_frame(WHOLE))
    by = [dense_sums(table, 0, 0, ((axis,), (3,), np.array([0, 1])), summed) for axis in (0, 1)]
    assert keep_apart(values, codes, allowed, axes, by[:1]).tolist() == [0, 1, 2]
    assert keep_apart(values, codes, allowed, axes, by[1:]).tolist() == [0, 0, 0]
    assert keep_apart(values, codes, allowed, axes, ()) is None
