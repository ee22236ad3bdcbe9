"""A release beside its original: every fault at once, one coding, rows in one order."""

from __future__ import annotations

import datetime as dt
from dataclasses import FrozenInstanceError

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit.cells.pair import Pair, Recoded, open_files, open_pair, released_files
from sdckit.errors import ColumnError, DataError
from sdckit.protect.change import Change, Protected

ORIGINAL = {"id": [1, 2, 3], "a": ["x", "y", None], "v": [1.0, 2.5, 4.0]}
RELEASED = {"id": [3, 1, 2], "a": ["z", "x", "y"], "v": [4.0, 1.0, None]}


def pair(original=ORIGINAL, released=RELEASED, **options):
    given = {"categories": {"keys": ["a"]}, "numeric": {"numeric": ["v"]}, **options}
    return open_pair(pl.DataFrame(original), pl.DataFrame(released), **given)


def test_codes_are_shared_and_ascending():
    found = pair().codes("a")
    assert [codes.tolist() for codes in found.codes] == [[1, 2, 0], [3, 1, 2]]
    assert (found.n_levels, found.kind, found.labels()) == (3, "text", ["(missing)", "x", "y", "z"])


def test_numbers_and_sizes():
    found = pair(released={**RELEASED, "id": [9, 8, 7]})
    assert found.numbers("v")[0].tolist() == [1.0, 2.5, 4.0]
    assert np.isnan(found.numbers("v")[1]).tolist() == [False, False, True]
    assert (found.n, found.m, found.sizes, found.names) == (3, 1, (3,), ("the original", "the release"))


def test_rows_are_brought_into_order_by_the_id():
    found = pair(aligned=True, id="id")
    assert found.codes("a").codes[1].tolist() == [1, 2, 3]
    assert found.numbers("v")[1][[0, 2]].tolist() == [1.0, 4.0]
    assert found.records({"risk": np.array([0.1, 0.2, 0.3])}).to_dict(as_series=False) == {
        "id": [1, 2, 3], "risk": [0.1, 0.2, 0.3]
    }  # fmt: skip


def test_groups_count_every_file():
    many = open_pair(
        pl.DataFrame({"a": [1, 1, None], "b": [0, 0, 0]}),
        [pl.DataFrame({"a": [1.0, None], "b": [0, 0]}), pa.table({"a": [2], "b": [0]})],
        categories={"keys": ["a", "b"]},
    )
    groups = many.groups(["a", "b"])
    at = groups.of_row[0]
    assert [size[at[0]] for size in groups.size] == [2, 1, 0]
    assert [size[at[2]] for size in groups.size] == [1, 1, 0]
    assert groups.n_groups == 3
    assert many.names == ("the original", "release 1", "release 2")
    assert many.groups([]).n_groups == 1


def test_an_identical_release_is_seen():
    assert pair(released=ORIGINAL).identical(["a", "v"]) == (True,)
    assert pair().identical(["a"]) == (False,)
    assert pair(released={**ORIGINAL, "v": [1.0, 2.5, 4.5]}).identical(["a", "v"]) == (False,)


def test_every_absent_column_is_named_at_once():
    with pytest.raises(ColumnError) as caught:
        open_pair(
            pl.DataFrame({"a": [1]}), [pl.DataFrame({"b": [1]}), pl.DataFrame({"a": [1], "b": [1]})],
            categories={"keys": ["a"], "target": ["b"]},
        )  # fmt: skip
    message = str(caught.value)
    assert "the original has no column 'b' (target)" in message
    assert "release 1 has no column 'a' (keys)" in message
    assert "release 2" not in message


def test_every_clash_of_types_is_named_at_once():
    left, right = (pl.DataFrame({"a": ["1"], "b": [1], "v": [1.0]}), pl.DataFrame({"a": [1], "b": ["1"], "v": ["u"]}))
    with pytest.raises(ColumnError) as caught:
        open_pair(left, right, categories={"keys": ["a", "b"]}, numeric={"numeric": ["v"]})
    message = str(caught.value)
    assert "column 'a' holds text in the original and numbers in the release" in message
    assert "column 'b' holds numbers in the original and text in the release" in message
    assert "the release: numeric 'v' is" in message


REFUSED = {
    "nothing released": (lambda: open_pair(pl.DataFrame(ORIGINAL), categories={}), "released= is missing"),
    "no release": (lambda: open_pair(pl.DataFrame(ORIGINAL), [], categories={}), "released= is an empty list"),
    "lengths": (
        lambda: pair(released={"a": ["x"], "v": [1.0]}, aligned=True),
        "the release has 1 rows, the original 3: rows must belong together",
    ),
    "id missing": (
        lambda: pair(released={**RELEASED, "id": [None, 1, 2]}, aligned=True, id="id"),
        "the release: id 'id' is missing in 1 row;",
    ),
    "id repeated": (
        lambda: pair(released={**RELEASED, "id": [1, 1, 2]}, aligned=True, id="id"),
        "1 value of id 'id' more than once",
    ),
    "other ids": (
        lambda: pair(released={**RELEASED, "id": [7, 1, 2]}, aligned=True, id="id"),
        "the original: without 1 value of id 'id' that another file has; the release: without 1 value of",
    ),
    "all missing": (
        lambda: pair(released={**RELEASED, "v": [None, None, None]}),
        "the release: numeric 'v' has no value at all",
    ),
    "infinite": (
        lambda: pair(released={**RELEASED, "v": [1.0, float("inf"), 2.0]}),
        "the release: numeric 'v' is infinite in row 2",
    ),
    "empty": (lambda: pair(released={"a": [], "v": []}), "the release: the data has no records"),
    "plan": (
        lambda: open_pair(pl.LazyFrame(ORIGINAL), pl.LazyFrame(RELEASED), categories={"keys": ["a"]}, aligned=True),
        "rows of a plan have no order: give id=",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case):
    call, words = REFUSED[case]
    with pytest.raises(DataError, match=words):
        call()


def test_plans_are_brought_here_and_ordered_by_id():
    connection = duckdb.connect()
    table = pa.table(ORIGINAL)
    connection.register("original", table)
    found = open_pair(
        connection.table("original"), pl.LazyFrame(RELEASED), categories={"keys": ["a"]}, aligned=True, id="id"
    )
    released = dict(zip(found.original["id"].to_list(), found.codes("a").codes[1].tolist(), strict=True))
    assert released == {1: 1, 2: 2, 3: 3}
    assert found.brought
    assert set(found.records({"r": np.zeros(3)}).column_names) == {"id", "r"}


def test_a_pair_is_opened_once():
    first = pair(id="id")
    again = open_pair(first, categories={"keys": ["a"]})
    assert again is first
    aligned = open_pair(first, categories={"keys": ["a"]}, aligned=True)
    assert aligned.aligned
    assert aligned.codes("a").codes[1].tolist() == [1, 2, 3]
    with pytest.raises(ColumnError, match="the original has no column 'q'"):
        open_pair(first, categories={"keys": ["q"]})
    with pytest.raises(DataError, match="fixed by the pair given"):
        open_pair(first, pl.DataFrame(RELEASED), categories={"keys": ["a"]})


def test_records_of_some_rows_keep_the_index():
    frame = pd.DataFrame(ORIGINAL, index=[10, 20, 30])
    found = open_pair(frame, frame, categories={"keys": ["a"]})
    out = found.records({"r": np.array([1.0, 2.0])}, rows=np.array([0, 2]))
    assert out.index.tolist() == [10, 30]
    assert isinstance(found, Pair)


def test_a_result_column_may_not_hide_the_id():
    with pytest.raises(ColumnError, match="id 'id' has the name of a result column; give prefix="):
        pair(id="id").records({"ID": np.zeros(3)})


A = pl.DataFrame({"x": [1, 2, None], "s": ["a", "b", "b"], "id": [7, 8, 9]})
B = pl.DataFrame({"x": [2.0, 5.0], "s": ["c", "a"]})
C = pl.DataFrame({"x": [9, 9, 9, 1], "s": ["a", "a", "d", None]})
ROLES = {"variables": ["x", "s"]}


def attacked(released, control, original=A, **given):
    return open_pair(original, released, control, categories=ROLES, attack=True, **given)


def test_the_control_file_is_coded_behind_the_releases():
    found = attacked(B, C)
    assert (found.m, found.sizes, found.names) == (1, (2,), ("the original", "the release"))
    assert [codes.tolist() for codes in found.codes("s", control=True).codes] == [[1, 2, 2], [3, 1], [1, 1, 4, 0]]
    assert found.codes("s", control=True).labels() == ["(missing)", "a", "b", "c", "d"]
    assert [codes.tolist() for codes in found.codes("s").codes] == [[1, 2, 2], [3, 1]]
    assert [codes.tolist() for codes in found.codes("x", control=True).codes] == [[1, 2, 0], [2, 3], [4, 4, 4, 1]]
    assert found.groups(["s"], control=True).size[-1].sum() == 4
    assert len(found.groups(["s"]).size) == 2
    assert [values.tolist() for values in found.days("x")[1:]] == [[2, 5], [9, 9, 9, 1]]
    assert np.isnan(found.days("x")[0]).tolist() == [False, False, True]


def test_a_value_of_the_control_file_among_the_others_moves_their_codes():
    found = attacked(B, C.with_columns(s=pl.Series(["a", "aa", "b", "b"])))
    assert [codes.tolist() for codes in found.codes("s", control=True).codes] == [[1, 3, 3], [4, 1], [1, 2, 3, 3]]
    assert [codes.tolist() for codes in found.codes("s").codes] == [[1, 2, 2], [3, 1]]


def test_a_control_file_that_adds_no_value_shares_the_codes():
    found = attacked(B, C.head(2).with_columns(x=pl.Series([1, 5])))
    alone, behind = found.codes("s").codes, found.codes("s", control=True).codes
    assert all(one is other for one, other in zip(alone, behind[:2], strict=True))


def test_a_pair_opened_before_takes_a_control_file():
    first = open_pair(A, B, categories=ROLES)
    assert open_pair(first, categories=ROLES, attack=True) is first
    found = open_pair(first, control=C, categories=ROLES, attack=True)
    assert first.control is None
    assert found.codes("x") is first.codes("x")  # coded once for both
    again = open_pair(found, categories={"variables": ["x"]}, attack=True)
    assert again.codes("x", control=True) is found.codes("x", control=True)
    for given in ({"released": B}, {"control": C}, {"population": A}, {"id": "id"}):
        with pytest.raises(DataError, match="fixed by the pair given"):
            open_pair(found, categories=ROLES, **given)


def test_a_control_file_changed_in_place_is_read_anew():
    first, control = open_pair(A, B, categories=ROLES), C.to_pandas()
    assert open_pair(first, control=control, categories=ROLES).codes("x", control=True).n_levels == 4
    control["x"] = [5, 5, 5, 5]
    assert open_pair(first, control=control, categories=ROLES).codes("x", control=True).n_levels == 3


def test_a_control_file_that_is_a_plan_brings_what_is_asked_for():
    first, plan = open_pair(A, B, categories=ROLES), C.lazy()
    for name in ("x", "s"):
        found = open_pair(first, control=plan, categories={"variables": [name]}, attack=True)
        assert found.codes(name, control=True).n_levels == 4


def test_an_attack_asks_the_original_alone_for_the_id():
    found = attacked(B, C, id="id")
    assert found.records({"y": [1, 2, 3]})["id"].to_list() == [7, 8, 9]
    with pytest.raises(ColumnError, match=r"the original has no column 'ID' \(id\)"):
        attacked(B, C, id="ID")
    with pytest.raises(ColumnError, match=r"^the release has no column 'id' \(id\)"):
        attacked(B, C, id="id", aligned=True)
    plans = [frame.lazy() for frame in (A, A.reverse(), C)]
    ordered = attacked(*plans[1:], original=plans[0], id="id", aligned=True)
    assert ordered.codes("s", control=True).codes[1].tolist() == ordered.codes("s").codes[0].tolist()


def test_an_attack_sees_rows_in_the_order_of_the_id():
    found = pair(aligned=True, id="id")
    assert np.nan_to_num(found.days("v")[1], nan=-1).tolist() == [1.0, -1.0, 4.0]
    assert found.codes("a", control=True).codes[1].tolist() == [1, 2, 3]


def test_only_attacks_look_at_the_control_file():
    text = C.with_columns(x=pl.lit("u"))
    found = open_pair(A, B, text, categories=ROLES)
    assert found.codes("x").kind == "numbers"
    with pytest.raises(ColumnError, match="numbers in the original and text in the control file"):
        open_pair(found, categories=ROLES, attack=True)
    with pytest.raises(ColumnError, match=r"^the control file has no column 's' \(variables\)"):
        open_pair(A, B, C.drop("s"), categories=ROLES)
    with pytest.raises(ColumnError, match=r"^release 1 has no column 's'"):
        attacked([B.drop("s"), B], C)
    with pytest.raises(DataError, match=r"^the control file: the data has no records"):
        attacked(B, C.head(0))
    infinite = pl.DataFrame({"x": [1.0, float("inf")], "s": ["a", "b"]})
    with pytest.raises(DataError, match="the control file: 'x' is infinite in row 2"):
        attacked(B, infinite).days("x")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_dates_and_times_in_days(make):
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None]
    frame = make({"t": [None if day is None else dt.datetime(day.year, day.month, day.day, 12) for day in days]})
    found = open_pair(frame, frame, categories={"variables": ["t"]}).days("t")[0]
    assert np.diff(found)[0] == pytest.approx(2)
    assert np.isnan(found[2])


def test_dates_of_both_widths_and_dictionaries():
    days = pa.array([0, 10], pa.date32())
    frame = pa.table({"d": days, "n": pa.array([3, 4]).dictionary_encode()})
    wide = pa.table({"d": days.cast(pa.date64()), "n": [3, 5]})
    found = open_pair(frame, wide, categories={"variables": ["d", "n"]})
    assert [one.tolist() for one in found.days("d")] == [[0, 10], [0, 10]]
    assert [one.tolist() for one in found.days("n")] == [[3, 4], [3, 5]]


def test_which_columns_are_shared():
    assert open_files(A, [B, B], C).shared_columns() == (["x", "s"], ["id"])
    assert open_files(A.drop("s"), B).shared_columns(["id"]) == (["x"], ["s"])
    assert open_files(A, A, id="id").shared_columns() == (["x", "s"], [])
    with pytest.raises(DataError, match="released= is missing"):
        open_files(A, None)
    with pytest.raises(ColumnError, match="id is the name of one column, not int"):
        open_files(A, B, id=3)


# What was done to a column is a plain statement that cannot be changed.


def test_it_is_a_statement() -> None:
    one = Recoded("age", "numbers in bands", "log")
    assert one == Recoded("age", "numbers in bands", "log")
    with pytest.raises(FrozenInstanceError):
        one.kind = "values in groups"  # type: ignore[misc]


def test_files_opened_as_they_are_were_not_recoded() -> None:
    frame = pl.DataFrame({"x": ["a", "b"]})
    pair = open_pair(frame, frame, categories={"keys": ["x"]})
    assert pair.raw is None
    assert pair.recoded == ()


def test_what_a_method_returned_is_its_files():
    first, second = pl.DataFrame({"x": [1]}), pl.DataFrame({"data": [2], "change": [3], "is_protected": [True]})
    change = Change("synthesize", 1, {})
    assert released_files(second)[0] is second
    assert [file["x"].item() for file in released_files(Protected(first, change))] == [1]
    several = [first, Protected([first, first], change), (second)]
    assert [file.shape for file in released_files(several)] == [(1, 1), (1, 1), (1, 1), (1, 3)]
    assert released_files(second.to_pandas())[0].shape == (1, 3)
    with pytest.raises(DataError, match=r"give \.data of what was returned"):
        open_files(first, (first, change))
    with pytest.raises(DataError, match=r"give its \.data"):
        open_files(Protected(first, change), first)
