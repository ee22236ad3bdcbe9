"""E2: recoding on every engine, its notes, and what it refuses."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from sdckit import read_hierarchy, recode
from sdckit.data.columns import distinct_values
from sdckit.data.frames import open_frame
from sdckit.data.hierarchy import as_hierarchy, hierarchy_map
from sdckit.errors import ColumnError, DataError, FileFormatError
from sdckit.protect.recoding.recode import groups_map, only_compared, regroup

DATA = {"age": [3, 31, None, 88], "place": ["Graz", "Linz", None, "Wels"], "w": [1.5, 2.0, 3.0, 4.0]}
FRAMES = {
    "polars": lambda: pl.DataFrame(DATA),
    "pandas": lambda: pd.DataFrame(DATA, index=[4, 4, 9, 1]),
    "pandas nullable": lambda: pd.DataFrame(DATA, index=[4, 4, 9, 1]).convert_dtypes(),
    "pandas arrow": lambda: pd.DataFrame(DATA).convert_dtypes(dtype_backend="pyarrow"),
    "pyarrow": lambda: pa.table(DATA),
}
TOWNS = {"south": ["Graz"], "north": ["Linz", "Wels"]}
UP = {"Graz": ["Styria", "Austria"], "Linz": ["Upper", "Austria"], "Wels": ["Upper", "Austria"]}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]()


def values(frame, name):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


def untouched(before, after, name):
    for other in DATA:
        assert name == other or values(before, other) == values(after, other)
    if isinstance(before, pa.Table):
        assert after.column_names == before.column_names
        assert after.drop([name]).schema == before.drop([name]).schema
    elif isinstance(before, pl.DataFrame):
        assert after.drop(name).schema == before.drop(name).schema
        assert after.columns == before.columns
    else:
        assert after.index.tolist() == before.index.tolist()
        assert after.columns.tolist() == before.columns.tolist()
        assert after.drop(columns=name).dtypes.equals(before.drop(columns=name).dtypes)


def test_bands(frame):
    safe, change = recode(frame, column="age", bands=[0, 15, 65, None])
    assert values(safe, "age") == ["0-14", "15-64", None, "65+"]
    untouched(frame, safe, "age")
    assert values(frame, "age") == DATA["age"]
    assert (change.method, change.n, change.changed, change.secret) == ("recode", 4, {"age": 3}, {})
    assert change.parameters["bands"] == ["0-14", "15-64", "65+"]


def test_groups(frame):
    safe, change = recode(frame, column="place", groups=TOWNS)
    assert values(safe, "place") == ["south", "north", None, "north"]
    untouched(frame, safe, "place")
    if not isinstance(frame, pa.Table):
        assert str(safe["place"].dtype) == str(frame["place"].dtype)
    assert (change.changed, change.parameters["groups"]) == ({"place": 3}, ["south", "north"])


@pytest.mark.parametrize("level", [1, 2])
def test_hierarchy(frame, level):
    safe, change = recode(frame, column="place", hierarchy=UP, level=level)
    assert values(safe, "place") == [UP[town][level - 1] if town else None for town in DATA["place"]]
    untouched(frame, safe, "place")
    assert change.parameters == {"column": "place", "level": level, "n_levels": 2, "outside": "error"}


def test_hierarchies_from_files(tmp_path):
    file = tmp_path / "place.csv"
    file.write_text("town;land;state\n" + "".join(f"{t};{a};{b}\n" for t, (a, b) in UP.items()), encoding="utf-8")
    tree = read_hierarchy(file, header=True)
    frame = pl.DataFrame(DATA)
    assert recode(frame, column="place", hierarchy=tree, level="land").data["place"].to_list() == [
        "Styria", "Upper", None, "Upper"
    ]  # fmt: skip
    codes = tmp_path / "codes.csv"
    codes.write_text("3,child\n31,adult\n88,old\n", encoding="utf-8")
    assert recode(frame, column="age", hierarchy=codes).data["age"].to_list() == ["child", "adult", None, "old"]
    with pytest.raises(FileFormatError, match=r"none\.csv: there is no such file"):
        recode(frame, column="age", hierarchy=tmp_path / "none.csv")


def test_a_hierarchy_that_misses_values_says_how_many_and_where_to_see_them():
    frame = pl.DataFrame({"place": ["Graz", "zq7", "zq7", "zq8", None]})
    with pytest.raises(DataError, match=r"2 of its values, in 3 records, are in no line of the hierarchy") as told:
        recode(frame, column="place", hierarchy=UP, level=1)
    assert "zq" not in str(told.value)
    assert 'secret["outside"]' in str(told.value)
    safe, change = recode(frame, column="place", hierarchy=UP, level=1, outside="missing")
    assert safe["place"].to_list() == ["Styria", None, None, None, None]
    assert change.secret == {"outside": {"zq7": 2, "zq8": 1}}
    assert "zq" not in str(change.to_dict()) + repr(change)
    assert "zq7" in str(change.to_dict(internal=True))
    kept, change = recode(frame, column="place", hierarchy=UP, level=1, outside="keep")
    assert kept["place"].to_list() == ["Styria", "zq7", "zq7", "zq8", None]
    assert change.changed == {"place": 1}


def test_all_others_are_one_group_that_is_not_named(frame):
    safe, change = recode(frame, column="place", groups={"Graz": ["Graz"]}, others="rest")
    assert values(safe, "place") == ["Graz", "rest", None, "rest"]
    untouched(frame, safe, "place")
    if not isinstance(frame, pa.Table):
        assert str(safe["place"].dtype) == str(frame["place"].dtype)
    assert change.changed == {"place": 2}
    assert change.parameters == {"column": "place", "groups": ["Graz"], "others": "rest"}
    assert change.secret == {"outside": {"Linz": 1, "Wels": 1}}
    assert "Linz" not in str(change.to_dict()) + repr(change)
    safe, _ = recode(frame, column="age", groups={"3": [3]}, others="rest")
    assert values(safe, "age") == ["3", "rest", None, "rest"]
    up = recode(frame, column="place", hierarchy={"Graz": ["Styria"]}, others="rest").data
    assert values(up, "place") == ["Styria", "rest", None, "rest"]


def test_a_single_value_is_never_all_others():
    frame = pl.DataFrame({"x": ["a", "b", "zq7", "zq7", None]})
    with pytest.raises(DataError, match="a single value is in no group, and 'rest' would stand for it alone") as told:
        recode(frame, column="x", groups={"a": ["a"], "b": ["b"]}, others="rest")
    assert "zq" not in str(told.value)
    assert told.value.argument == "others"
    with only_compared():  # another file than the one that goes out may have one of them only
        assert recode(frame, column="x", groups={"a": ["a"], "b": ["b"]}, others="rest").data["x"][2] == "rest"
    joined = recode(frame, column="x", groups={"a": ["a"], "rest": ["b"]}, others="rest").data
    assert joined["x"].to_list() == ["a", "rest", "rest", "rest", None]
    later = recode(frame, column="x", groups={"a": ["a"], "b": ["b"], "c": ["zq7"]}, others="rest").data
    assert later["x"].to_list() == ["a", "b", "c", "c", None]


def test_all_others_are_a_category_where_no_record_has_one():
    frame = pl.DataFrame({"x": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "c"]))})
    made = recode(frame, column="x", groups={"low": ["a"], "b": ["b"]}, others="rest").data
    assert made.schema["x"] == pl.Enum(["low", "b"])  # what goes out has those in use alone


def test_numbers_in_no_band():
    frame = pl.DataFrame({"x": [1.0, 5.0, 5.0, 98765.4321, None]})
    with pytest.raises(DataError, match="3 records have a value in no band") as told:
        recode(frame, column="x", bands=[0, 2])
    assert "98765" not in str(told.value)
    safe, change = recode(frame, column="x", bands=[0, 2], outside="missing")
    assert safe["x"].to_list() == ["[0, 2]", None, None, None, None]
    assert change.secret == {"outside": {5.0: 2, 98765.4321: 1}}
    assert "outside" in change.notes


def test_bands_are_ordered_categories():
    frame = {"age": [70, 9, 10]}
    labels = ["5-9", "10-69", "70+"]
    out = recode(pl.DataFrame(frame), column="age", bands=[5, 10, 70, None]).data
    assert out.schema["age"] == pl.Enum(labels)
    assert out.sort("age")["age"].to_list() == labels  # not by the alphabet
    out = recode(pd.DataFrame(frame), column="age", bands=[5, 10, 70, None]).data
    assert out["age"].cat.ordered
    assert list(out["age"].cat.categories) == labels
    kind = recode(pa.table(frame), column="age", bands=[5, 10, 70, None]).data.schema.field("age").type
    assert kind.ordered


def test_bands_cut_from_the_data():
    frame = pl.DataFrame({"x": [*range(1, 101), None]})
    for method in ("equal_width", "log", "equal_frequency"):
        safe, change = recode(frame, column="x", bands=4, how=method)
        assert safe["x"].drop_nulls().n_unique() == 4
        assert change.parameters["how"] == method
        assert "cut from the data" in change.notes["edges"]
    named = recode(frame, column="x", bands=2, labels=["low", "high"]).data
    assert named["x"].to_list() == ["low"] * 49 + ["high"] * 51 + [None]  # cut at 50, half of 0 to 101
    tied = pl.DataFrame({"x": [1] * 9 + [2]})
    assert "fewer bands" in recode(tied, column="x", bands=3, how="equal_frequency").change.notes["bands"]


def test_groups_of_numbers_may_be_numbers_of_the_same_type():
    frame = pl.DataFrame({"x": pl.Series([1, 2, None, 9], dtype=pl.Int8)})
    safe, change = recode(frame, column="x", groups={1: [1, 2], 9: [9]})
    assert (safe.schema, safe["x"].to_list(), change.changed) == (frame.schema, [1, 1, None, 9], {"x": 1})
    named = recode(frame, column="x", groups={"low": [1, 2], "high": [9], "unknown": [None]}).data
    assert named["x"].to_list() == ["low", "low", "unknown", "high"]


def test_categories_stay_categories():
    kind = pd.CategoricalDtype(["s", "m", "l"], ordered=True)
    frame = pd.DataFrame({"x": pd.Series(["l", "s", None, "m"], dtype=kind)})
    out = recode(frame, column="x", groups={"big": ["l", "m"]}, outside="keep").data["x"]
    assert (out.cat.ordered, list(out.cat.categories)) == (True, ["s", "big"])
    assert [None if pd.isna(v) else v for v in out] == ["big", "s", None, "big"]


def test_values_named_that_nobody_has():
    change = recode(pl.DataFrame(DATA), column="place", groups={**TOWNS, "west": ["Bregenz"]}).change
    assert change.notes == {"unused": "values named that no record has: 1"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, DataError, "give one of bands=, groups=, hierarchy= and period=; there are 0"),
        ({"bands": 3, "groups": TOWNS}, DataError, "there are 2"),
        ({"bands": [0, 9], "level": 1}, DataError, "level= goes with hierarchy="),
        ({"groups": TOWNS, "labels": ["a"]}, DataError, "closed= and labels= go with bands="),
        ({"bands": [0, 9], "how": "log"}, DataError, "how= says how a number of bands is cut"),
        ({"bands": [0, 9], "outside": "keep"}, DataError, "would leave numbers among the bands"),
        ({"bands": [0, 9], "others": "rest"}, DataError, "others= goes with groups= or hierarchy="),
        ({"groups": {"a": [1]}, "others": ""}, DataError, "others= is the name of the group"),
        ({"groups": {"a": [1]}, "others": 5}, DataError, "others= is the name of the group"),
        ({"groups": {1: [3]}, "others": "rest"}, DataError, "several types; others= is a text"),
        ({"groups": {"a": [3]}, "others": "rest", "outside": "keep"}, DataError, "give one of them"),
        ({"bands": [0, 9], "outside": "drop"}, DataError, "outside 'drop' is unknown; there are: error, keep, missing"),
        ({"bands": "0-9"}, DataError, "a number of bands, a list of edges"),
        ({"bands": 2.5}, DataError, "a number of bands, a list of edges"),
        ({"bands": [9, 0]}, DataError, "must ascend"),
        ({"bands": [0, 9], "column": "ages"}, ColumnError, "column: no column 'ages' .* did you mean 'age'"),
        ({"bands": [0, 9], "column": "place"}, DataError, "'place' is text, not numbers"),
        ({"hierarchy": UP, "column": "place"}, DataError, "the hierarchy has levels 1 to 2"),
        ({"hierarchy": UP, "level": 3}, DataError, "the hierarchy has levels 1 to 2"),
        ({"groups": {"a": ["x"]}}, DataError, "lists a text, column 'age' holds numbers"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        recode(pl.DataFrame(DATA), **{"column": "age", **options})


def test_plans_are_refused():
    with pytest.raises(DataError, match="a plan cannot be changed"):
        recode(pl.LazyFrame(DATA), column="age", bands=[0, 99])


def test_edges_as_an_array():
    out = recode(pl.DataFrame(DATA), column="age", bands=np.array([0.0, 50, 99])).data
    assert out["age"].to_list() == ["0-49", "0-49", None, "50-99"]


# New values for old ones: by groups and hierarchies, of every type.


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
        ({"s": {"zq7": 1}}, "text", "lists a list or a table"),
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


# Dates by period: the reference is the standard library's own calendar.

DAYS = st.lists(st.dates(dt.date(1582, 10, 15), dt.date(9000, 1, 1)) | st.none(), min_size=1, max_size=20)


def _period(day: dt.date, period: str) -> str:
    if period == "decade":
        return f"{day.year // 10}0-{day.year // 10}9"
    return day.strftime({"year": "%Y", "month": "%Y-%m"}.get(period, f"%Y-Q{(day.month + 2) // 3}"))


@settings(max_examples=20)
@given(days=DAYS, period=st.sampled_from(["month", "quarter", "year", "decade"]))
def test_a_date_goes_by_the_calendar(days: list[dt.date | None], period: str) -> None:
    expected = [None if day is None else _period(day, period) for day in days]
    for data in (
        pl.DataFrame({"day": days}),
        pa.table({"day": days}),
        pd.DataFrame({"day": pd.Series(days, dtype=object)}),
    ):
        safe, change = recode(data, column="day", period=period)
        got = open_frame(safe)["day"].to_list()
        plain = [None if value is None or value != value else value for value in got]  # noqa: PLR0124 - NaN
        assert [
            value if value is None else str(int(value)) if period == "year" else value for value in plain
        ] == expected
        assert change.changed == {"day": sum(day is not None for day in days)}


def test_times_go_by_their_own_clock_and_periods_stand_in_order() -> None:
    times = pl.Series([dt.datetime(2024, 4, 1, 0, 30), dt.datetime(2023, 12, 31, 23, 59)]).dt.replace_time_zone(
        "Europe/Vienna"
    )
    months = recode(pl.DataFrame({"at": times}), column="at", period="month").data["at"]
    assert months.to_list() == ["2024-04", "2023-12"]
    assert months.dtype == pl.Enum(["2023-12", "2024-04"])
    assert recode(pl.DataFrame({"at": times}), column="at", period="year").data["at"].to_list() == [2024, 2023]


@pytest.mark.parametrize(
    ("values", "more", "says"),
    [
        (["2024-01-31"], {}, "holds no dates"),
        ([20240131], {}, "holds no dates"),
        ([dt.time(10, 30)], {}, "holds no dates"),
        ([dt.date(2024, 1, 31)], {"period": "week"}, "there are: month, quarter, year, decade"),
        ([dt.date(2024, 1, 31)], {"outside": "missing"}, "every date is in a period"),
        ([dt.date(2024, 1, 31)], {"bands": 3}, "give one of"),
    ],
)
def test_what_has_no_period_is_refused(values: list[object], more: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        recode(pl.DataFrame({"day": values}), column="day", **{"period": "year", **more})


def test_times_of_a_zone_that_nobody_knows_are_refused() -> None:
    times = pa.table({"at": pa.array([dt.datetime(2024, 4, 1)], pa.timestamp("us", "Mars/Base"))})
    with pytest.raises(DataError, match="'at' holds times of a zone that this system does not know"):
        recode(times, column="at", period="year")
