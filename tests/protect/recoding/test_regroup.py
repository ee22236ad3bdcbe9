"""New values for old ones: by groups and hierarchies, of every type."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from sdckit.data.distinct import distinct_values
from sdckit.data.frames import open_frame
from sdckit.data.hierarchy import as_hierarchy
from sdckit.errors import DataError
from sdckit.protect.recoding.regroup import groups_map, hierarchy_map, regroup


def column(values, **options):
    return distinct_values(open_frame(pl.DataFrame({"x": pl.Series(values, **options)}))["x"])


def apply(values, new_of, outside="error", **options):
    found = regroup(column(values, **options), "x", new_of, outside=outside, what="no group")
    return [found.levels[code] if code >= 0 else None for code in found.codes], found


def test_groups_are_turned_around():
    assert groups_map({"s": ["a", "b"], "n": "c", "none": [None]}, "x", "text") == {
        "a": "s", "b": "s", "c": "n", None: "none"
    }  # fmt: skip
    assert groups_map({1: range(2), 2: np.array([5])}, "x", "number") == {0: 1, 1: 1, 5: 2}


@pytest.mark.parametrize(
    ("groups", "kind", "message"),
    [
        ({}, "text", "with one group or more"),
        (["a"], "text", "with one group or more"),
        ({"s": ["zq7"], "n": ["zq7"]}, "text", "one value stands in 's' and in 'n'"),
        ({"s": ["zq7"]}, "number", "'s' lists a text, column 'x' holds numbers"),
        ({"s": [987]}, "text", "'s' lists a number, column 'x' holds text"),
        ({"s": [True]}, "number", "'s' lists a boolean"),
        ({"s": [["zq7"]]}, "text", "lists a list"),
        ({"s": [1, 1.0]}, "number", "one value stands in"),
    ],
)
def test_bad_groups(groups, kind, message):
    with pytest.raises(DataError, match=message) as caught:
        groups_map(groups, "x", kind)
    assert "zq7" not in str(caught.value)


def test_texts_of_a_hierarchy_are_read_as_what_the_column_holds():
    codes = as_hierarchy({"01": ["0"], "2.5": ["few"], "unknown": ["?"]})
    assert hierarchy_map(codes, 1, "number") == {1: "0", 2.5: "few", "unknown": "?"}
    assert hierarchy_map(codes, 1, "text") == {"01": "0", "2.5": "few", "unknown": "?"}
    assert hierarchy_map(as_hierarchy({"True": "y", "false": "n"}), 1, "boolean") == {True: "y", False: "n"}
    with pytest.raises(DataError, match="two of its values are the same number"):
        hierarchy_map(as_hierarchy({"1": "a", "1.0": "b"}), 1, "number")


def test_records_take_the_new_values():
    new, found = apply(["a", "b", None, "a", "c"], {"a": "s", "b": "n", "c": "c"})
    assert new == ["s", "n", None, "s", "c"]
    assert (found.changed, found.outside, found.unused) == (3, {}, 0)
    assert apply([1, 2], {1: 10, 2: 10, 3: 10})[1].unused == 1
    assert apply([1.0, 2.0], {1: "1", 2: "2"})[1].changed == 2  # a text is another value than a number
    assert apply([1, 2], {1: 1.0, 2: 2.0})[1].changed == 0


def test_missing_values_stay_unless_a_group_takes_them():
    assert apply(["a", None], {"a": "s"})[0] == ["s", None]
    new, found = apply(["a", None, None], {"a": "s", None: "unknown"})
    assert (new, found.changed) == (["s", "unknown", "unknown"], 3)


def test_values_outside():
    with pytest.raises(DataError, match=r"2 of its values, in 3 records, are in no group\.") as caught:
        apply(["a", "zq7", "zq7", "zq8"], {"a": "s"})
    assert "zq" not in str(caught.value)
    kept, found = apply(["a", "d", "d", "c"], {"a": "s"}, "keep")
    assert (kept, found.levels, found.outside, found.changed) == (
        ["s", "d", "d", "c"], ["s", "c", "d"], {"d": 2, "c": 1}, 1
    )  # fmt: skip
    gone, found = apply(["a", "d", "d", "c"], {"a": "s"}, "missing")
    assert (gone, found.changed) == (["s", None, None, None], 4)


def test_new_values_are_of_one_type():
    with pytest.raises(DataError, match="of several types; values outside cannot be kept"):
        apply([1, 2], {1: "one"}, "keep")
    with pytest.raises(DataError, match=r"of several types$"):
        apply([1, 2], {1: "one", 2: 2})


def test_categories_keep_their_order():
    sizes = pl.Enum(["small", "middle", "large", "huge"])
    _, found = apply(["huge", "small", "middle"], {"huge": "big", "large": "big"}, "keep", dtype=sizes)
    assert found.levels == ["small", "middle", "big"]


def test_groups_may_name_days_as_a_csv_file_writes_them():
    assert groups_map({"early": ["2020-01-02"]}, "x", "date") == {"2020-01-02": "early"}
    for wrong in ("02.01.2020", "2020-02-30", "20200102"):
        with pytest.raises(DataError, match="lists a text, column 'x' holds dates"):
            groups_map({"early": [wrong]}, "x", "date")


def test_dates_go_by_their_text_too():
    day = dt.date(2020, 1, 2)
    assert apply([day, None], {day: "y2020"})[0] == ["y2020", None]
    assert apply([day, None], {"2020-01-02": "y2020"})[0] == ["y2020", None]


def test_a_column_without_values():
    new, found = apply([None, None], {"a": "s"}, dtype=pl.String)
    assert (new, found.changed, found.unused) == ([None, None], 0, 1)
